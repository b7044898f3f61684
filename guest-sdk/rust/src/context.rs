use crate::json::{add_json, Document, Json, Value};
use crate::run::Outcome;
use crate::{host, Error};

/// What the model is about to see, every message in full. With a long history its messages are megabytes that are copied and read
/// for each model call: prefer [`Table`].
pub struct Messages {
    document: Document,
}

impl Messages {
    /// The number of messages.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The messages, in order.
    pub fn iter(&self) -> impl Iterator<Item = Value> {
        self.document.get("messages").items()
    }

    /// Where it happens: see [`Event::context`](crate::Event::context).
    pub fn context(&self) -> Value {
        self.document.get("context")
    }

    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn new(document: Document) -> Messages {
        Messages { document }
    }
}

/// What the model is about to see as a table: what is needed to choose messages, without their bodies.
pub struct Table<'a> {
    bytes: &'a [u8],
    names: Vec<&'a str>,
    len: usize,
    context: Document,
}

const HEADER: usize = 32;
const RECORD: usize = 32;
const NO_PAIR: u32 = 0xffff_ffff;

impl<'a> Table<'a> {
    /// Reads a table; nothing of it lies outside the bytes.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Table<'a>, String> {
        if bytes.len() < HEADER || !bytes.starts_with(b"WMT1") {
            return Err("the context is not a table".to_string());
        }
        let len = u32_at(bytes, 4) as usize;
        if len > (bytes.len() - HEADER) / RECORD {
            return Err("the table is shorter than it says".to_string());
        }
        let context = Document::from_bytes(part(bytes, 8)?.to_vec()).map_err(|e| e.to_string())?;
        let names = names(part(bytes, 16)?).ok_or("the table's names are cut off")?;
        Ok(Table { bytes, names, len, context })
    }

    /// The number of messages.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The row of a message. Panics when there is none.
    pub fn row(&self, index: usize) -> Row {
        assert!(index < self.len, "there is no message {}; there are {}", index, self.len);
        let at = HEADER + index * RECORD;
        Row { index, record: &self.bytes[at..at + RECORD], names: &self.names }
    }

    /// The rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = Row> {
        (0..self.len).map(move |i| self.row(i))
    }

    /// A message in full, from the host. Panics when there is none.
    pub fn message(&self, index: usize) -> Result<Document, Error> {
        assert!(index < self.len, "there is no message {}; there are {}", index, self.len);
        let mut d = Document::default();
        d.read(|b, offset| host::message_read(index, b, offset))?;
        Ok(d)
    }

    /// Where it happens: see [`Event::context`](crate::Event::context).
    pub fn context(&self) -> Value {
        self.context.value()
    }
}

fn u32_at(b: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]])
}

fn u64_at(b: &[u8], at: usize) -> u64 {
    u64::from(u32_at(b, at)) | u64::from(u32_at(b, at + 4)) << 32
}

fn u16_at(b: &[u8], at: usize) -> Option<usize> {
    Some(usize::from(*b.get(at)?) | usize::from(*b.get(at + 1)?) << 8)
}

/// The part whose offset and length stand at a place of the header.
fn part(bytes: &[u8], at: usize) -> Result<&[u8], String> {
    let (offset, n) = (u32_at(bytes, at) as usize, u32_at(bytes, at + 4) as usize);
    let end = offset.checked_add(n).ok_or("a part of the table lies outside of it")?;
    bytes.get(offset..end).ok_or_else(|| "a part of the table lies outside of it".to_string())
}

fn names(b: &[u8]) -> Option<Vec<&str>> {
    let count = u16_at(b, 0)?;
    let mut at = 2;
    let mut list = Vec::with_capacity(count);
    for _ in 0..count {
        let n = u16_at(b, at)?;
        list.push(std::str::from_utf8(b.get(at + 2..at + 2 + n)?).ok()?);
        at += 2 + n;
    }
    Some(list)
}

/// Whose message it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The person's.
    User,
    /// The model's.
    Assistant,
    /// What a tool returned.
    ToolResult,
    /// An extension's or program's.
    Custom,
    /// A command that the person ran.
    BashExecution,
    /// What became of a branch.
    BranchSummary,
    /// What stands for compacted messages.
    CompactionSummary,
    /// One that this version does not know.
    Other,
}

impl Role {
    /// The name on the wire, such as "toolResult".
    pub fn name(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::ToolResult => "toolResult",
            Role::Custom => "custom",
            Role::BashExecution => "bashExecution",
            Role::BranchSummary => "branchSummary",
            Role::CompactionSummary => "compactionSummary",
            Role::Other => "other",
        }
    }
}

/// A message of a [`Table`].
#[derive(Clone, Copy)]
pub struct Row<'a> {
    index: usize,
    record: &'a [u8],
    names: &'a [&'a str],
}

impl<'a> Row<'a> {
    /// Its index, for [`Edits`].
    pub fn index(&self) -> usize {
        self.index
    }

    /// Whose message it is.
    pub fn role(&self) -> Role {
        match self.record[0] {
            1 => Role::User,
            2 => Role::Assistant,
            3 => Role::ToolResult,
            4 => Role::Custom,
            5 => Role::BashExecution,
            6 => Role::BranchSummary,
            7 => Role::CompactionSummary,
            _ => Role::Other,
        }
    }

    /// A tool result that is an error.
    pub fn is_error(&self) -> bool {
        self.record[1] & 1 != 0
    }

    /// An image is among the content.
    pub fn has_image(&self) -> bool {
        self.record[1] & 2 != 0
    }

    /// A tool call is among the content.
    pub fn has_tool_call(&self) -> bool {
        self.record[1] & 4 != 0
    }

    /// Thinking is among the content.
    pub fn has_thinking(&self) -> bool {
        self.record[1] & 8 != 0
    }

    /// A custom message that is shown to the person.
    pub fn display(&self) -> bool {
        self.record[1] & 16 != 0
    }

    /// The tool's name of a tool result, the type of a custom message, otherwise "".
    pub fn name(&self) -> &'a str {
        let i = u16_at(self.record, 2).unwrap_or(0);
        self.names.get(i).copied().unwrap_or("")
    }

    /// The length of all its text blocks.
    pub fn text_bytes(&self) -> usize {
        u32_at(self.record, 4) as usize
    }

    /// The length of the message as JSON.
    pub fn encoded_bytes(&self) -> usize {
        u32_at(self.record, 8) as usize
    }

    /// For a tool result, the index of the message with its call.
    pub fn pair(&self) -> Option<usize> {
        match u32_at(self.record, 12) {
            NO_PAIR => None,
            i => Some(i as usize),
        }
    }

    /// The message's number in the session, which a replacement keeps; 0 if an extension inserted it.
    pub fn id(&self) -> u64 {
        u64_at(self.record, 16)
    }

    /// Its time in milliseconds since 1970.
    pub fn unix_millis(&self) -> i64 {
        u64_at(self.record, 24) as i64
    }
}

/// What a context handler changes. Indexes are those of the messages as received, whatever was changed before. Edits that make no
/// sense to the host (an index out of range, a message dropped or replaced twice, a tool call without its result) are a fault.
/// Without edits the messages stay as they are.
#[derive(Debug, Default)]
pub struct Edits {
    drop: Vec<Json>,
    replace: Vec<Json>,
    insert: Vec<Json>,
}

impl Edits {
    /// Leaves a message out of what the model sees.
    pub fn drop(&mut self, index: usize) {
        self.drop.push(index.into());
    }

    /// Puts a message of the same role in the place of another.
    pub fn replace(&mut self, index: usize, message: Json) {
        self.replace.push(at(index, message));
    }

    /// Puts a message before the one at an index; the number of messages appends. Several at one index keep the order of the calls.
    pub fn insert(&mut self, index: usize, message: Json) {
        self.insert.push(at(index, message));
    }

    /// Whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        self.drop.is_empty() && self.replace.is_empty() && self.insert.is_empty()
    }

    /// The answer as JSON.
    pub fn json(&self) -> Json {
        let parts = [("drop", &self.drop), ("replace", &self.replace), ("insert", &self.insert)];
        Json::object(parts.into_iter().filter(|(_, list)| !list.is_empty()).map(|(k, list)| (k, Json::array(list.iter().cloned()))))
    }

    pub(crate) fn write(&self, out: &mut String) -> Result<(), String> {
        add_json(out, &self.json());
        Ok(())
    }
}

fn at(index: usize, message: Json) -> Json {
    Json::object([("at", Json::from(index)), ("message", message)])
}

/// A handler of `context`; its type says which view it wants.
pub trait ContextHandler<View> {
    /// Whether that is the table.
    const TABLE: bool;
    /// Runs it on what is read for its view.
    fn run(&self, table: &[u8], document: Document) -> Result<Edits, String>;
}

/// The view of handlers of a [`Table`].
pub struct TableView<O>(std::marker::PhantomData<O>);

/// The view of handlers of [`Messages`].
pub struct FullView<O>(std::marker::PhantomData<O>);

impl<F: Fn(&Table, &mut Edits) -> O, O: Outcome<()>> ContextHandler<TableView<O>> for F {
    const TABLE: bool = true;
    fn run(&self, table: &[u8], _: Document) -> Result<Edits, String> {
        let mut edits = Edits::default();
        self(&Table::read(table)?, &mut edits).outcome()?;
        Ok(edits)
    }
}

impl<F: Fn(&Messages, &mut Edits) -> O, O: Outcome<()>> ContextHandler<FullView<O>> for F {
    const TABLE: bool = false;
    fn run(&self, _: &[u8], document: Document) -> Result<Edits, String> {
        let mut edits = Edits::default();
        self(&Messages { document }, &mut edits).outcome()?;
        Ok(edits)
    }
}

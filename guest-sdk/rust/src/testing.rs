//! For `cargo test`: the arguments of handlers, and a stand-in for the host. Each thread, and so each test, has a host of its own.

use crate::context::ContextHandler;
use crate::{CommandRun, Document, Event, Json, Kind, Level, Messages, ToolCall, ToolResult, ToolRun, Value};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Answers a request of a capability: its name and the request in, the response or the text of a refusal out.
type Answering = Box<dyn FnMut(&str, &Document) -> Result<Json, String>>;

#[derive(Default)]
struct Host {
    config: String,
    messages: Vec<String>,
    response: Vec<u8>,
    answering: Option<Answering>,
    log: Vec<(Level, String)>,
    updates: Vec<String>,
    variables: BTreeMap<Vec<u8>, Vec<u8>>,
}

thread_local! {
    static HOST: RefCell<Host> = RefCell::new(Host::default());
}

fn host<T>(f: impl FnOnce(&mut Host) -> T) -> T {
    HOST.with(|h| f(&mut h.borrow_mut()))
}

/// The place that the events below happen at.
const CONTEXT: &str = r#"{"sessionId":"test","extension":"test","cwd":"/work","mode":"text","hasUI":false,"thinkingLevel":"off","turnIndex":0,"callIndex":0}"#;

fn document(text: &str) -> Document {
    Document::parse(text).unwrap_or_else(|e| panic!("{}: {}", text, e))
}

fn parsed(json: &str) -> Json {
    Json::from(document(json).value())
}

/// A call of a tool with the arguments `input`, JSON.
pub fn tool_call(tool: &str, input: &str) -> ToolCall {
    let event = Json::object([
        ("type", Json::from("tool_call")),
        ("toolName", tool.into()),
        ("toolCallId", "call_1".into()),
        ("input", parsed(input)),
        ("context", parsed(CONTEXT)),
    ]);
    ToolCall::new(document(event.as_str()))
}

/// The result of a tool, one block of text.
pub fn tool_result(tool: &str, input: &str, text: &str) -> ToolResult {
    let event = Json::object([
        ("type", Json::from("tool_result")),
        ("toolName", tool.into()),
        ("toolCallId", "call_1".into()),
        ("input", parsed(input)),
        ("content", Json::text_content(text)),
        ("isError", false.into()),
        ("context", parsed(CONTEXT)),
    ]);
    ToolResult::new(document(event.as_str()))
}

/// An event by its payload, JSON. `context` is added when it is missing.
pub fn event(payload: &str) -> Event {
    let d = document(payload);
    match d.get("context").exists() {
        true => Event::new(d),
        false => Event::new(document(d.value().with("context", parsed(CONTEXT)).as_str())),
    }
}

/// An execution of a tool of the extension, with arguments in JSON.
pub fn tool_run(tool: &str, args: &str) -> ToolRun {
    let input = Json::object([("toolCallId", Json::from("call_1")), ("toolName", tool.into()), ("args", parsed(args)), ("context", parsed(CONTEXT))]);
    ToolRun::new(document(input.as_str()))
}

/// An execution of a command of the extension.
pub fn command_run(name: &str, args: &str) -> CommandRun {
    let input = Json::object([("name", Json::from(name)), ("args", args.into()), ("context", parsed(CONTEXT))]);
    CommandRun::new(document(input.as_str()))
}

/// Every message in full, of a JSON array of messages.
pub fn messages(list: &str) -> Messages {
    Messages::new(document(Json::object([("messages", parsed(list)), ("context", parsed(CONTEXT))]).as_str()))
}

/// Runs a handler of `context`, of either view, on a JSON array of messages: its edits as JSON, or the fault.
pub fn context<View, F: ContextHandler<View>>(handler: F, list: &str) -> Result<Json, String> {
    let d = document(list);
    host(|h| h.messages = d.value().items().map(|m| m.raw().to_string()).collect());
    let edits = if F::TABLE {
        handler.run(&table(d.value()), Document::default())
    } else {
        handler.run(&[], document(Json::object([("messages", Json::from(d.value())), ("context", parsed(CONTEXT))]).as_str()))
    };
    Ok(edits?.json())
}

/// What [`config`](crate::config) gives from now on, a JSON object.
pub fn set_config(json: &str) {
    let config = parsed(json).as_str().to_string();
    host(|h| h.config = config);
}

/// What answers the requests of capabilities from now on: it gets the capability's name and the request. Without one they are
/// refused.
pub fn answer(f: impl FnMut(&str, &Document) -> Result<Json, String> + 'static) {
    host(|h| h.answering = Some(Box::new(f)));
}

/// What was logged since it was asked last.
pub fn take_log() -> Vec<(Level, String)> {
    host(|h| std::mem::take(&mut h.log))
}

/// The partial results that a tool reported since it was asked last, JSON.
pub fn take_updates() -> Vec<String> {
    host(|h| std::mem::take(&mut h.updates))
}

/// The table of messages, as the host makes it (section 7 of the ABI); ids are 0.
fn table(list: Value) -> Vec<u8> {
    let mut names = vec![String::new()];
    let mut records = Vec::new();
    let mut count = 0u32;
    for m in list.items() {
        let role = match &*m.get("role").text() {
            "user" => 1,
            "assistant" => 2,
            "toolResult" => 3,
            "custom" => 4,
            "bashExecution" => 5,
            "branchSummary" => 6,
            "compactionSummary" => 7,
            _ => 255,
        };
        let has = |kind: &str| m.get("content").items().any(|b| b.get("type").is(kind));
        let set = |key: &str| m.get(key).as_bool() == Some(true);
        let flags = [set("isError"), has("image"), has("toolCall"), has("thinking"), role == 4 && set("display")];
        let name = match role {
            3 => m.get("toolName").text(),
            4 => m.get("customType").text(),
            _ => "".into(),
        };
        let at = names.iter().position(|n| *n == name).unwrap_or(names.len());
        if at == names.len() {
            names.push(name.into_owned());
        }
        records.push(role);
        records.push(flags.iter().enumerate().map(|(i, &f)| u8::from(f) << i).sum());
        records.extend_from_slice(&(at as u16).to_le_bytes());
        records.extend_from_slice(&(text_bytes(m) as u32).to_le_bytes());
        records.extend_from_slice(&(m.raw().len() as u32).to_le_bytes());
        records.extend_from_slice(&pair(list, m, count as usize).map_or(u32::MAX, |i| i as u32).to_le_bytes());
        records.extend_from_slice(&0u64.to_le_bytes());
        records.extend_from_slice(&m.get("timestamp").as_i64().unwrap_or(0).to_le_bytes());
        count += 1;
    }
    let mut strings = (names.len() as u16).to_le_bytes().to_vec();
    for n in &names {
        strings.extend_from_slice(&(n.len() as u16).to_le_bytes());
        strings.extend_from_slice(n.as_bytes());
    }
    let context_at = 32 + records.len() as u32;
    let mut b = b"WMT1".to_vec();
    for n in [count, context_at, CONTEXT.len() as u32, context_at + CONTEXT.len() as u32, strings.len() as u32, 0, 0] {
        b.extend_from_slice(&n.to_le_bytes());
    }
    b.extend_from_slice(&records);
    b.extend_from_slice(CONTEXT.as_bytes());
    b.extend_from_slice(&strings);
    b
}

fn text_bytes(m: Value) -> usize {
    for key in ["output", "summary"] {
        if m.get(key).exists() {
            return m.get(key).text().len();
        }
    }
    let content = m.get("content");
    match content.kind() {
        Kind::String => content.text().len(),
        _ => content.items().filter(|b| b.get("type").is("text")).map(|b| b.get("text").text().len()).sum(),
    }
}

/// The nearest message before a tool result that holds its call.
fn pair(list: Value, m: Value, index: usize) -> Option<usize> {
    let id = m.get("toolCallId").as_str()?;
    let calls = |v: Value| v.get("content").items().any(|b| b.get("type").is("toolCall") && b.get("id").is(&id));
    list.items().take(index).enumerate().filter(|(_, v)| calls(*v)).map(|(i, _)| i).last()
}

/// What the rest of the crate calls in place of the imports.
pub(crate) mod calls {
    use super::{host, Document};
    use crate::Level;

    fn copy(from: &[u8], b: &mut [u8], offset: usize) -> usize {
        if b.is_empty() {
            return from.len();
        }
        let rest = from.get(offset..).unwrap_or(&[]);
        let n = rest.len().min(b.len());
        b[..n].copy_from_slice(&rest[..n]);
        n
    }

    /// Events come from the functions of `testing`, not from here.
    pub fn input_read(_: &mut [u8], _: usize) -> usize {
        0
    }
    pub fn config_read(b: &mut [u8], offset: usize) -> usize {
        host(|h| copy(h.config.as_bytes(), b, offset))
    }
    pub fn response_read(b: &mut [u8], offset: usize) -> usize {
        host(|h| copy(&h.response, b, offset))
    }
    pub fn message_read(index: usize, b: &mut [u8], offset: usize) -> usize {
        host(|h| copy(h.messages[index].as_bytes(), b, offset))
    }
    pub fn output(_: &[u8]) {}
    pub fn error(_: &[u8]) {}
    pub fn log(level: i32, b: &[u8]) {
        let level = [Level::Debug, Level::Info, Level::Warn, Level::Error][level as usize];
        host(|h| h.log.push((level, String::from_utf8_lossy(b).into_owned())));
    }
    pub fn tool_update(b: &[u8]) {
        host(|h| h.updates.push(String::from_utf8_lossy(b).into_owned()));
    }

    fn capability(name: &str, request: &[u8]) -> i32 {
        // Taken out, so that what answers may use the host itself.
        let answering = host(|h| h.answering.take());
        let request = Document::from_bytes(request.to_vec()).expect("requests are made of Json");
        let (answer, back) = match answering {
            None => (Err("not granted: weir::testing::answer says what is answered".to_string()), None),
            Some(mut f) => (f(name, &request), Some(f)),
        };
        host(|h| {
            h.answering = back;
            let (text, code) = match &answer {
                Ok(json) => (json.as_str(), json.as_str().len() as i32),
                Err(text) => (text.as_str(), -1),
            };
            h.response = text.as_bytes().to_vec();
            code
        })
    }
    pub fn kv(b: &[u8]) -> i32 {
        capability("kv", b)
    }
    pub fn http(b: &[u8]) -> i32 {
        capability("http", b)
    }
    pub fn file(b: &[u8]) -> i32 {
        capability("file", b)
    }
    pub fn ui(b: &[u8]) -> i32 {
        capability("ui", b)
    }
    pub fn session(b: &[u8]) -> i32 {
        capability("session", b)
    }
    pub fn journal(b: &[u8]) -> i32 {
        capability("journal", b)
    }
    pub fn variable(key: &[u8]) -> Option<Vec<u8>> {
        host(|h| h.variables.get(key).cloned())
    }
    pub fn set_variable(key: &[u8], value: &[u8]) {
        host(|h| h.variables.insert(key.to_vec(), value.to_vec()));
    }
}

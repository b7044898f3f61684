use super::value::{Kind, Value};
use std::fmt;

/// The deepest nesting of arrays and objects that is read; the host's own bound for answers.
const MAX_DEPTH: usize = 64;

/// A part of a text: a value, or a key of an object (a string before its value).
#[derive(Clone, Copy)]
pub(super) struct Node {
    pub start: u32,
    pub end: u32,
    /// How many nodes it consists of: the next sibling is this far away.
    pub skip: u32,
    pub kind: Kind,
    /// A string without escapes.
    pub plain: bool,
}

/// What is wrong with a text that is no JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// The byte at which it shows.
    pub at: usize,
    /// What it is, in words.
    pub problem: &'static str,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("byte ")?;
        f.write_str(&self.at.to_string())?;
        f.write_str(": ")?;
        f.write_str(self.problem)
    }
}

impl std::error::Error for Error {}

/// A JSON text that was checked. Refused is what Go's encoding/json refuses, and text that is not UTF-8, half a surrogate pair, and
/// nesting over 64. Of a key that stands twice in an object the last one counts.
#[derive(Default)]
pub struct Document {
    /// The first `len` bytes are the text, and are UTF-8: only `index` sets `len` to anything but 0.
    text: Vec<u8>,
    len: usize,
    nodes: Vec<Node>,
}

impl Document {
    /// Checks a text.
    pub fn parse(text: &str) -> Result<Document, Error> {
        Document::from_bytes(text.as_bytes().to_vec())
    }

    /// Checks bytes, which may be anything.
    pub fn from_bytes(text: Vec<u8>) -> Result<Document, Error> {
        let mut d = Document { text, len: 0, nodes: Vec::new() };
        let len = d.text.len();
        d.index(len)?;
        Ok(d)
    }

    /// The document's value.
    pub fn value(&self) -> Value {
        match self.nodes.is_empty() {
            true => Value::ABSENT,
            false => Value::new(&self.nodes, self.text()),
        }
    }

    /// A member of the document, if that is an object: see [`Value::get`].
    pub fn get(&self, key: &str) -> Value {
        self.value().get(key)
    }

    /// The text that was checked.
    pub fn text(&self) -> &str {
        // Safety: index checked these bytes, and nothing can change them without setting len to 0.
        unsafe { std::str::from_utf8_unchecked(&self.text[..self.len]) }
    }

    /// Reads an event from the host: an object.
    pub(crate) fn read_event(&mut self) -> Result<(), String> {
        self.read(crate::host::input_read).map_err(|e| e.to_string())?;
        match self.value().kind() {
            Kind::Object => Ok(()),
            _ => Err("the event is not a JSON object".to_string()),
        }
    }

    /// Reads a text from the host into the document's buffers, and checks it.
    pub(crate) fn read(&mut self, read: impl Fn(&mut [u8], usize) -> usize) -> Result<(), Error> {
        self.len = 0;
        self.nodes.clear();
        let n = crate::host::read_all(&mut self.text, read);
        self.index(n)
    }

    /// Checks and indexes the first n bytes of the buffer.
    fn index(&mut self, n: usize) -> Result<(), Error> {
        self.len = 0;
        self.nodes.clear();
        let text = &self.text[..n];
        let mut p = Parser { text, nodes: &mut self.nodes, high: 0 };
        let result = p.document();
        let ascii = p.high & HIGH == 0;
        if !ascii || result.is_err() {
            // What the parser says of text that is not UTF-8 means nothing.
            if let Err(e) = std::str::from_utf8(text) {
                self.nodes.clear();
                return Err(Error { at: e.valid_up_to(), problem: "not UTF-8" });
            }
        }
        match result {
            Ok(()) => self.len = n,
            Err(_) => self.nodes.clear(),
        }
        result
    }
}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.text())
    }
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// The place in the text is handed from step to step, rather than kept here, so that it stays in a register.
struct Parser<'a> {
    text: &'a [u8],
    nodes: &'a mut Vec<Node>,
    /// All bytes of strings, one over the other: tells whether they are ASCII.
    high: u64,
}

/// Where a step ends.
type Step = Result<usize, Error>;

#[cold]
fn fail<T>(at: usize, problem: &'static str) -> Result<T, Error> {
    Err(Error { at, problem })
}

impl<'a> Parser<'a> {
    /// A byte; 0, which is none of JSON, behind the end.
    #[inline(always)]
    fn byte(&self, at: usize) -> u8 {
        match self.text.get(at) {
            Some(&c) => c,
            None => 0,
        }
    }

    #[inline(always)]
    fn space(&self, mut at: usize) -> usize {
        while matches!(self.byte(at), b' ' | b'\n' | b'\r' | b'\t') {
            at += 1;
        }
        at
    }

    /// What is wrong where something else was to stand.
    #[cold]
    fn unexpected<T>(&self, at: usize, problem: &'static str) -> Result<T, Error> {
        fail(at, if at >= self.text.len() { "the text ends early" } else { problem })
    }

    #[inline(always)]
    fn push(&mut self, start: usize, end: usize, kind: Kind, plain: bool) {
        self.nodes.push(Node { start: start as u32, end: end as u32, skip: 1, kind, plain });
    }

    /// A document, without recursion: `path` are the nodes of the arrays and objects that are open.
    fn document(&mut self) -> Result<(), Error> {
        if self.text.len() >= u32::MAX as usize {
            return fail(0, "the text is too long");
        }
        let mut path = [0u32; MAX_DEPTH];
        let mut depth = 0;
        let mut object = false; // what is open is one
        let mut at = 0;
        'value: loop {
            at = self.space(at);
            let c = self.byte(at);
            match c {
                b'"' => at = self.string(at)?,
                b'{' | b'[' => {
                    if depth == MAX_DEPTH {
                        return fail(at, "nested too deeply");
                    }
                    object = c == b'{';
                    path[depth] = self.nodes.len() as u32;
                    depth += 1;
                    self.push(at, 0, if object { Kind::Object } else { Kind::Array }, true);
                    at = self.space(at + 1);
                    if self.byte(at) != if object { b'}' } else { b']' } {
                        if object {
                            at = self.key(at)?;
                        }
                        continue 'value;
                    }
                }
                b'-' | b'0'..=b'9' => at = self.number(at)?,
                b't' => at = self.word(at, b"true", Kind::Bool)?,
                b'f' => at = self.word(at, b"false", Kind::Bool)?,
                b'n' => at = self.word(at, b"null", Kind::Null)?,
                _ => return self.unexpected(at, "not the start of a value"),
            }
            // After a value, or at the end of an empty array or object.
            loop {
                at = self.space(at);
                if depth == 0 {
                    return if at == self.text.len() { Ok(()) } else { fail(at, "text behind the value") };
                }
                let c = self.byte(at);
                at += 1;
                if c == b',' {
                    if object {
                        at = self.space(at);
                        at = self.key(at)?;
                    }
                    continue 'value;
                }
                if c != if object { b'}' } else { b']' } {
                    return self.unexpected(at - 1, "neither a comma nor the end of the array or object");
                }
                depth -= 1;
                let open = path[depth] as usize;
                let skip = (self.nodes.len() - open) as u32;
                let n = &mut self.nodes[open];
                n.end = at as u32;
                n.skip = skip;
                object = depth > 0 && self.nodes[path[depth - 1] as usize].kind == Kind::Object;
            }
        }
    }

    /// A key and its colon.
    #[inline(always)]
    fn key(&mut self, at: usize) -> Step {
        if self.byte(at) != b'"' {
            return self.unexpected(at, "a key is missing");
        }
        let at = self.string(at)?;
        let at = self.space(at);
        if self.byte(at) != b':' {
            return self.unexpected(at, "a colon is missing");
        }
        Ok(at + 1)
    }

    fn word(&mut self, at: usize, word: &[u8], kind: Kind) -> Step {
        if !self.text[at..].starts_with(word) {
            return fail(at, "not the start of a value");
        }
        self.push(at, at + word.len(), kind, true);
        Ok(at + word.len())
    }

    fn digits(&self, mut at: usize) -> Step {
        if !self.byte(at).is_ascii_digit() {
            return self.unexpected(at, "a digit is missing");
        }
        while self.byte(at).is_ascii_digit() {
            at += 1;
        }
        Ok(at)
    }

    fn number(&mut self, start: usize) -> Step {
        let mut at = start;
        if self.byte(at) == b'-' {
            at += 1;
        }
        at = if self.byte(at) == b'0' { at + 1 } else { self.digits(at)? };
        if self.byte(at) == b'.' {
            at = self.digits(at + 1)?;
        }
        if matches!(self.byte(at), b'e' | b'E') {
            at += 1;
            if matches!(self.byte(at), b'+' | b'-') {
                at += 1;
            }
            at = self.digits(at)?;
        }
        self.push(start, at, Kind::Number, true);
        Ok(at)
    }

    #[inline(always)]
    fn string(&mut self, start: usize) -> Step {
        let mut plain = true;
        let mut at = self.plain_run(start + 1);
        while self.byte(at) != b'"' {
            plain = false;
            at = self.escape(at)?;
            at = self.plain_run(at);
        }
        self.push(start, at + 1, Kind::String, plain);
        Ok(at + 1)
    }

    /// Skips what needs no attention inside a string, eight bytes at a time.
    #[inline(always)]
    fn plain_run(&mut self, mut at: usize) -> usize {
        while let Some(word) = self.text.get(at..at + 8) {
            let mut eight = [0; 8];
            eight.copy_from_slice(word);
            let x = u64::from_le_bytes(eight);
            let quote = x ^ (ONES * b'"' as u64);
            let slash = x ^ (ONES * b'\\' as u64);
            // Below 0x20, a quote or a backslash. A byte above 0x7f is never marked, and a borrow marks only bytes above a true
            // mark: the lowest one is exact.
            let marked = (x.wrapping_sub(ONES * 0x20) | quote.wrapping_sub(ONES) | slash.wrapping_sub(ONES)) & !x & HIGH;
            self.high |= x;
            if marked != 0 {
                return at + (marked.trailing_zeros() / 8) as usize;
            }
            at += 8;
        }
        while let Some(&c) = self.text.get(at) {
            if matches!(c, b'"' | b'\\' | 0..=0x1f) {
                break;
            }
            self.high |= u64::from(c);
            at += 1;
        }
        at
    }

    /// What ends a plain run and is no quote.
    fn escape(&self, at: usize) -> Step {
        match self.byte(at) {
            b'\\' => {}
            _ if at >= self.text.len() => return fail(at, "a string does not end"),
            _ => return fail(at, "a control character in a string"),
        }
        match self.byte(at + 1) {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(at + 2),
            b'u' => match self.four(at + 2)? {
                0xd800..=0xdbff if self.text.get(at + 6..at + 8) == Some(b"\\u") && (0xdc00..=0xdfff).contains(&self.four(at + 8)?) => Ok(at + 12),
                0xd800..=0xdfff => fail(at, "half a surrogate pair"),
                _ => Ok(at + 6),
            },
            _ => self.unexpected(at + 1, "an unknown escape in a string"),
        }
    }

    fn four(&self, at: usize) -> Result<u32, Error> {
        match self.text.get(at..at + 4).and_then(hex4) {
            Some(unit) => Ok(unit),
            None => fail(at, "not four hexadecimal digits"),
        }
    }
}

/// The number that four hexadecimal digits write.
pub(super) fn hex4(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |v, &c| Some(v << 4 | (c as char).to_digit(16)?))
}

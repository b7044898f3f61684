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
        if let Err(e) = std::str::from_utf8(text) {
            return Err(Error { at: e.valid_up_to(), problem: "not UTF-8" });
        }
        let mut p = Parser { text, at: 0, nodes: &mut self.nodes };
        match p.document() {
            Ok(()) => {
                self.len = n;
                Ok(())
            }
            Err(problem) => {
                let at = p.at;
                self.nodes.clear();
                Err(Error { at, problem })
            }
        }
    }
}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.text())
    }
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    nodes: &'a mut Vec<Node>,
}

type Step = Result<(), &'static str>;

const EARLY: &str = "the text ends early";

impl<'a> Parser<'a> {
    #[inline]
    fn peek(&self) -> u8 {
        // 0 is no byte of JSON outside of strings, and none that a string may hold.
        if self.at < self.text.len() {
            self.text[self.at]
        } else {
            0
        }
    }

    #[inline]
    fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }

    #[inline]
    fn open(&mut self, kind: Kind) -> usize {
        self.nodes.push(Node { start: self.at as u32, end: 0, skip: 1, kind, plain: true });
        self.nodes.len() - 1
    }

    /// A document, without recursion: `path` are the nodes of the arrays and objects that are open.
    fn document(&mut self) -> Step {
        if self.text.len() >= u32::MAX as usize {
            return Err("the text is too long");
        }
        let mut path = [0u32; MAX_DEPTH];
        let mut depth = 0;
        'value: loop {
            self.space();
            let c = self.peek();
            if c == b'{' || c == b'[' {
                if depth == MAX_DEPTH {
                    return Err("nested too deeply");
                }
                let kind = if c == b'{' { Kind::Object } else { Kind::Array };
                path[depth] = self.open(kind) as u32;
                depth += 1;
                self.at += 1;
                self.space();
                let end = if kind == Kind::Object { b'}' } else { b']' };
                if self.peek() != end {
                    if kind == Kind::Object {
                        self.key()?;
                    }
                    continue 'value;
                }
            } else {
                self.scalar(c)?;
                self.space();
            }
            // After a value, or before the end of an empty array or object.
            loop {
                if depth == 0 {
                    return if self.at == self.text.len() { Ok(()) } else { Err("text behind the value") };
                }
                let open = path[depth - 1] as usize;
                let object = self.nodes[open].kind == Kind::Object;
                match self.peek() {
                    b',' => {
                        self.at += 1;
                        if object {
                            self.space();
                            self.key()?;
                        }
                        continue 'value;
                    }
                    b'}' if object => {}
                    b']' if !object => {}
                    0 if self.at >= self.text.len() => return Err(EARLY),
                    _ => return Err("neither a comma nor the end of the array or object"),
                }
                self.at += 1;
                depth -= 1;
                let skip = (self.nodes.len() - open) as u32;
                let n = &mut self.nodes[open];
                n.end = self.at as u32;
                n.skip = skip;
                self.space();
            }
        }
    }

    /// A key and its colon.
    fn key(&mut self) -> Step {
        if self.peek() != b'"' {
            return Err(if self.at < self.text.len() { "a key is missing" } else { EARLY });
        }
        self.string()?;
        self.space();
        if self.peek() != b':' {
            return Err(if self.at < self.text.len() { "a colon is missing" } else { EARLY });
        }
        self.at += 1;
        Ok(())
    }

    #[inline]
    fn scalar(&mut self, c: u8) -> Step {
        match c {
            b'"' => self.string(),
            b't' => self.word(b"true", Kind::Bool),
            b'f' => self.word(b"false", Kind::Bool),
            b'n' => self.word(b"null", Kind::Null),
            b'-' | b'0'..=b'9' => self.number(),
            _ if self.at >= self.text.len() => Err(EARLY),
            _ => Err("not the start of a value"),
        }
    }

    fn word(&mut self, word: &[u8], kind: Kind) -> Step {
        if !self.text[self.at..].starts_with(word) {
            return Err("not the start of a value");
        }
        let n = self.open(kind);
        self.at += word.len();
        self.nodes[n].end = self.at as u32;
        Ok(())
    }

    fn digits(&mut self) -> Step {
        if !self.peek().is_ascii_digit() {
            return Err("a digit is missing");
        }
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Step {
        let n = self.open(Kind::Number);
        if self.peek() == b'-' {
            self.at += 1;
        }
        if self.peek() == b'0' {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == b'.' {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.at += 1;
            }
            self.digits()?;
        }
        self.nodes[n].end = self.at as u32;
        Ok(())
    }

    fn string(&mut self) -> Step {
        let n = self.open(Kind::String);
        self.at += 1;
        let mut plain = true;
        loop {
            self.plain_run();
            match self.peek() {
                b'"' => break,
                b'\\' => {
                    plain = false;
                    self.escape()?;
                }
                _ if self.at >= self.text.len() => return Err("a string does not end"),
                _ => return Err("a control character in a string"),
            }
        }
        self.at += 1;
        let node = &mut self.nodes[n];
        node.end = self.at as u32;
        node.plain = plain;
        Ok(())
    }

    /// Skips what needs no attention inside a string, eight bytes at a time.
    #[inline]
    fn plain_run(&mut self) {
        const ONES: u64 = 0x0101_0101_0101_0101;
        const HIGH: u64 = 0x8080_8080_8080_8080;
        while let Some(word) = self.text.get(self.at..self.at + 8) {
            let mut eight = [0; 8];
            eight.copy_from_slice(word);
            let x = u64::from_le_bytes(eight);
            let quote = x ^ (ONES * b'"' as u64);
            let slash = x ^ (ONES * b'\\' as u64);
            // Below 0x20, a quote or a backslash. A byte above 0x7f is never marked, and a borrow marks only bytes above a true
            // mark: the lowest one is exact.
            let marked = (x.wrapping_sub(ONES * 0x20) | quote.wrapping_sub(ONES) | slash.wrapping_sub(ONES)) & !x & HIGH;
            if marked != 0 {
                self.at += (marked.trailing_zeros() / 8) as usize;
                return;
            }
            self.at += 8;
        }
        while self.at < self.text.len() && !matches!(self.text[self.at], b'"' | b'\\' | 0..=0x1f) {
            self.at += 1;
        }
    }

    fn escape(&mut self) -> Step {
        self.at += 1;
        match self.peek() {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 1,
            b'u' => match self.four(self.at + 1)? {
                0xd800..=0xdbff => {
                    let second = self.at + 5;
                    if self.text.get(second..second + 2) != Some(b"\\u") || !(0xdc00..=0xdfff).contains(&self.four(second + 2)?) {
                        return Err("half a surrogate pair");
                    }
                    self.at += 11;
                }
                0xdc00..=0xdfff => return Err("half a surrogate pair"),
                _ => self.at += 5,
            },
            _ if self.at >= self.text.len() => return Err("a string does not end"),
            _ => return Err("an unknown escape in a string"),
        }
        Ok(())
    }

    fn four(&self, at: usize) -> Result<u32, &'static str> {
        self.text.get(at..at + 4).and_then(hex4).ok_or("not four hexadecimal digits")
    }
}

/// The number that four hexadecimal digits write.
pub(super) fn hex4(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |v, &c| Some(v << 4 | (c as char).to_digit(16)?))
}

use super::parse::{hex4, Node};
use super::write::Json;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// The kind of a [`Value`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What [`Value::get`] returns for what is not there.
    Absent,
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number
    Number,
    /// A string
    String,
    /// An array
    Array,
    /// An object
    Object,
}

/// A value inside a [`Document`](super::Document). A copy is two words; it lives as long as the document is borrowed.
///
/// What is asked of a value of another kind gives `None`, an absent value or nothing to go through, never an error.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    /// The value's node and those behind it; empty when it is absent.
    nodes: &'a [Node],
    text: &'a str,
}

impl<'a> Value<'a> {
    /// The value that is not there.
    pub const ABSENT: Value<'static> = Value { nodes: &[], text: "" };

    pub(super) fn new(nodes: &'a [Node], text: &'a str) -> Value<'a> {
        Value { nodes, text }
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        self.nodes.first().map_or(Kind::Absent, |n| n.kind)
    }

    /// Whether there is a value; `null` is one.
    pub fn exists(&self) -> bool {
        !self.nodes.is_empty()
    }

    /// Its text as it stands in the document; "" when it is absent.
    pub fn raw(&self) -> &'a str {
        self.nodes.first().map_or("", |n| &self.text[n.start as usize..n.end as usize])
    }

    /// A member of an object. Keys are compared exactly; of one that stands twice the last counts.
    pub fn get(&self, key: &str) -> Value<'a> {
        let mut found = Value::ABSENT;
        for (k, v) in self.members() {
            if k.is(key) {
                found = v;
            }
        }
        found
    }

    /// An element of an array. It walks there: to see all use [`Value::items`].
    pub fn at(&self, index: usize) -> Value<'a> {
        self.items().nth(index).unwrap_or(Value::ABSENT)
    }

    /// The elements of an array.
    pub fn items(&self) -> impl Iterator<Item = Value<'a>> {
        let inside = if self.kind() == Kind::Array { self.inside() } else { &[] };
        Siblings { nodes: inside, text: self.text }
    }

    /// The members of an object in their order. Of a key that stands twice only the last is there.
    pub fn entries(&self) -> impl Iterator<Item = (Cow<'a, str>, Value<'a>)> {
        let mut list: Vec<Option<(Cow<str>, Value)>> = Vec::new();
        let mut seen: BTreeMap<Cow<str>, usize> = BTreeMap::new();
        for (k, v) in self.members() {
            let key = k.text();
            if let Some(earlier) = seen.insert(key.clone(), list.len()) {
                list[earlier] = None;
            }
            list.push(Some((key, v)));
        }
        list.into_iter().flatten()
    }

    /// The text of a string; borrowed when it holds no escape.
    pub fn as_str(&self) -> Option<Cow<'a, str>> {
        let n = self.nodes.first()?;
        if n.kind != Kind::String {
            return None;
        }
        let inside = &self.text[n.start as usize + 1..n.end as usize - 1];
        Some(if n.plain { Cow::Borrowed(inside) } else { Cow::Owned(unescaped(inside)) })
    }

    /// The text of a string, "" for anything else.
    pub fn text(&self) -> Cow<'a, str> {
        self.as_str().unwrap_or(Cow::Borrowed(""))
    }

    /// Whether it is the string `text`.
    pub fn is(&self, text: &str) -> bool {
        match self.nodes.first() {
            Some(n) if n.kind == Kind::String && n.plain => {
                // Most strings differ in length.
                (n.end - n.start) as usize == text.len() + 2 && self.text.as_bytes()[n.start as usize + 1..n.end as usize - 1] == *text.as_bytes()
            }
            Some(n) if n.kind == Kind::String => self.text() == text,
            _ => false,
        }
    }

    /// `true` or `false`.
    pub fn as_bool(&self) -> Option<bool> {
        match self.kind() {
            Kind::Bool => Some(self.raw() == "true"),
            _ => None,
        }
    }

    /// A whole number that is written without point and exponent and fits.
    pub fn as_i64(&self) -> Option<i64> {
        match self.kind() {
            Kind::Number => self.raw().parse().ok(),
            _ => None,
        }
    }

    /// The double that is nearest to a number; `None` also for one that is out of range.
    pub fn as_f64(&self) -> Option<f64> {
        match self.kind() {
            Kind::Number => self.raw().parse().ok().filter(|f: &f64| f.is_finite()),
            _ => None,
        }
    }

    /// The object with one member set: the others keep their order and their text, the new one stands last. On anything but an
    /// object it starts from an empty one.
    pub fn with(&self, key: &str, value: impl Into<Json>) -> Json {
        let others = self.entries().filter(|(k, _)| k != key).map(|(k, v)| (k, Json::from(v)));
        Json::object(others.chain(std::iter::once((Cow::Borrowed(key), value.into()))))
    }

    /// What an array or object holds.
    fn inside(&self) -> &'a [Node] {
        &self.nodes[1..self.nodes[0].skip as usize]
    }

    /// Keys and values of an object, all of them.
    fn members(&self) -> impl Iterator<Item = (Value<'a>, Value<'a>)> {
        let inside = if self.kind() == Kind::Object { self.inside() } else { &[] };
        let mut all = Siblings { nodes: inside, text: self.text };
        std::iter::from_fn(move || Some((all.next()?, all.next()?)))
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(if self.exists() { self.raw() } else { "(absent)" })
    }
}

struct Siblings<'a> {
    nodes: &'a [Node],
    text: &'a str,
}

impl<'a> Iterator for Siblings<'a> {
    type Item = Value<'a>;

    #[inline]
    fn next(&mut self) -> Option<Value<'a>> {
        let skip = self.nodes.first()?.skip as usize;
        let (this, rest) = self.nodes.split_at(skip);
        self.nodes = rest;
        Some(Value { nodes: this, text: self.text })
    }
}

/// The text of the inside of a string that was checked.
fn unescaped(s: &str) -> String {
    let mut out = String::with_capacity(s.len());
    let mut rest = s;
    while let Some(i) = rest.find('\\') {
        out.push_str(&rest[..i]);
        let escape = &rest.as_bytes()[i + 1..];
        let mut used = 2;
        out.push(match escape[0] {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                used = 6;
                let mut unit = hex4(&escape[1..5]).unwrap_or(0);
                if (0xd800..0xdc00).contains(&unit) {
                    used = 12;
                    let low = hex4(&escape[7..11]).unwrap_or(0);
                    unit = 0x10000 + ((unit & 0x3ff) << 10 | low & 0x3ff);
                }
                char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            c => c as char,
        });
        rest = &rest[i + used..];
    }
    out.push_str(rest);
    out
}

use super::{Document, Error, Value};

/// JSON text that is valid: what answers are made of.
///
/// ```ignore
/// Json::object([("command", Json::from("ls")), ("timeout", Json::from(10))])
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Json(String);

impl Json {
    /// `null`
    pub fn null() -> Json {
        Json("null".to_string())
    }

    /// Checks a text and takes it as it is.
    pub fn parse(text: &str) -> Result<Json, Error> {
        Document::parse(text)?;
        Ok(Json(text.to_string()))
    }

    /// An array.
    pub fn array<V: Into<Json>>(elements: impl IntoIterator<Item = V>) -> Json {
        let mut out = String::from("[");
        for e in elements {
            comma(&mut out);
            out.push_str(&e.into().0);
        }
        out.push(']');
        Json(out)
    }

    /// An object with the members in their order. The keys must differ: the host refuses an answer in which one stands twice.
    pub fn object<K: AsRef<str>, V: Into<Json>>(members: impl IntoIterator<Item = (K, V)>) -> Json {
        let mut out = String::from("{");
        for (k, v) in members {
            comma(&mut out);
            add_quoted(&mut out, k.as_ref());
            out.push(':');
            out.push_str(&v.into().0);
        }
        out.push('}');
        Json(out)
    }

    /// A number; `None` for infinities and NaN, which JSON does not have.
    pub fn float(f: f64) -> Option<Json> {
        // Display of a double gives the shortest digits that read back as it, which are JSON.
        if f.is_finite() { Some(Json(f.to_string())) } else { None }
    }

    /// Content that consists of one block of text: what tool results and messages hold.
    pub fn text_content(text: &str) -> Json {
        Json::array([Json::object([("type", Json::from("text")), ("text", Json::from(text))])])
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn comma(out: &mut String) {
    if out.len() > 1 {
        out.push(',');
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        let mut out = String::with_capacity(text.len() + 2);
        add_quoted(&mut out, text);
        Json(out)
    }
}

impl From<String> for Json {
    fn from(text: String) -> Json {
        Json::from(text.as_str())
    }
}

impl From<bool> for Json {
    fn from(b: bool) -> Json {
        Json(b.to_string())
    }
}

macro_rules! from_integer {
    ($($t:ty)*) => {$(
        impl From<$t> for Json {
            fn from(n: $t) -> Json {
                Json(n.to_string())
            }
        }
    )*};
}
from_integer!(i32 u32 i64 u64 usize);

/// The value's text; `null` for an absent one.
impl From<Value<'_>> for Json {
    fn from(v: Value) -> Json {
        Json(if v.exists() { v.raw() } else { "null" }.to_string())
    }
}

/// Appends a value's text.
pub(crate) fn add_json(out: &mut String, json: &Json) {
    out.push_str(&json.0);
}

/// Appends text as a JSON string.
pub(crate) fn add_quoted(out: &mut String, text: &str) {
    out.push('"');
    let mut start = 0;
    for (i, c) in text.bytes().enumerate() {
        if c >= 0x20 && c != b'"' && c != b'\\' {
            continue;
        }
        out.push_str(&text[start..i]);
        start = i + 1;
        match c {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            _ => {
                out.push_str("\\u00");
                for digit in [c >> 4, c & 15] {
                    out.push(char::from(b"0123456789abcdef"[digit as usize]));
                }
            }
        }
    }
    out.push_str(&text[start..]);
    out.push('"');
}

/// Appends words that people or the model read: a NUL, which no answer may hold, becomes U+FFFD.
pub(crate) fn add_words(out: &mut String, text: &str) {
    if text.contains('\0') {
        add_quoted(out, &text.replace('\0', "\u{fffd}"));
    } else {
        add_quoted(out, text);
    }
}

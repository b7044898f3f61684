//! The capabilities: each needs its grant in the set, and is imported only by an extension that calls it.

use crate::host;
use crate::json::{Document, Json};
use std::fmt;

/// A request that the host refused or that did not work. A handler may return it as its error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostError {
    /// What was asked: kv, http, file, ui, session or journal.
    pub capability: &'static str,
    /// Why, in the host's words.
    pub text: String,
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.capability)?;
        f.write_str(": ")?;
        f.write_str(&self.text)
    }
}

impl std::error::Error for HostError {}

pub(crate) type Answer<T> = Result<T, HostError>;

/// Makes a request of an operation and its members.
pub(crate) fn request(capability: &'static str, call: host::Capability, op: &str, members: &[(&str, Json)]) -> Answer<Document> {
    let op = [("op", Json::from(op))];
    let text = Json::object(op.iter().chain(members).map(|(k, v)| (k, v.clone())));
    let code = call(text.as_str().as_bytes());
    let mut response = Vec::new();
    let n = host::read_all(&mut response, host::response_read);
    response.truncate(n);
    if code < 0 {
        return Err(HostError { capability, text: String::from_utf8_lossy(&response).into_owned() });
    }
    Document::from_bytes(response).map_err(|e| HostError { capability, text: ["the response: ", &e.to_string()].concat() })
}

/// Values that are kept with the session: 64 KiB each, 1 MiB in all. Needs the grant `kv`.
pub mod kv {
    use super::{request, Answer};
    use crate::host;

    /// A value; `None` when there is none.
    pub fn get(key: &str) -> Answer<Option<String>> {
        let d = request("kv", host::kv, "get", &[("key", key.into())])?;
        let value = d.get("value").as_str().map(|s| s.into_owned());
        Ok(value)
    }

    /// Makes or replaces a value.
    pub fn set(key: &str, value: &str) -> Answer<()> {
        request("kv", host::kv, "set", &[("key", key.into()), ("value", value.into())]).map(drop)
    }

    /// Removes a value; one that is not there is no error.
    pub fn delete(key: &str) -> Answer<()> {
        request("kv", host::kv, "delete", &[("key", key.into())]).map(drop)
    }

    /// The keys that start with a prefix, sorted.
    pub fn list(prefix: &str) -> Answer<Vec<String>> {
        let d = request("kv", host::kv, "list", &[("prefix", prefix.into())])?;
        let keys = d.get("keys").items().map(|k| k.text().into_owned()).collect();
        Ok(keys)
    }
}

/// Requests to the origins of the grant `http`.
pub mod http {
    use super::{request, Answer, HostError};
    use crate::host;
    use crate::json::Json;

    /// A request. The rest may be left to `Request::default()`.
    #[derive(Clone, Debug, Default)]
    pub struct Request<'a> {
        /// "" is GET.
        pub method: &'a str,
        /// Where to.
        pub url: &'a str,
        /// Names and values; a name at most once.
        pub headers: &'a [(&'a str, &'a str)],
        /// What is sent.
        pub body: &'a [u8],
    }

    /// A response of any status.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Response {
        /// Such as 200.
        pub status: i64,
        /// Names in lower case, and values.
        pub headers: Vec<(String, String)>,
        /// What came.
        pub body: Vec<u8>,
    }

    impl Response {
        /// A header's value; the name in lower case.
        pub fn header(&self, name: &str) -> Option<&str> {
            self.headers.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
        }
    }

    impl Request<'_> {
        /// Makes the request. What the host's limits cut off is an error.
        pub fn send(&self) -> Answer<Response> {
            let method = if self.method.is_empty() { "GET" } else { self.method };
            let headers = Json::object(self.headers.iter().copied());
            let body = super::base64::encode(self.body);
            let d = request("http", host::http, "request", &[("method", method.into()), ("url", self.url.into()), ("headers", headers), ("body", body.into())])?;
            let body = super::base64::decode(&d.get("body").text());
            Ok(Response {
                status: d.get("status").as_i64().unwrap_or(0),
                headers: d.get("headers").entries().map(|(k, v)| (k.into_owned(), v.text().into_owned())).collect(),
                body: body.ok_or_else(|| HostError { capability: "http", text: "the body of the response is not base64".to_string() })?,
            })
        }
    }

    /// Makes a GET request.
    pub fn get(url: &str) -> Answer<Response> {
        Request { url, ..Request::default() }.send()
    }
}

/// Files below the folders of the grant `read`.
pub mod file {
    use super::{request, Answer};
    use crate::host;
    use crate::json::Value;

    /// What is said of a file.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Info {
        /// Its name, without the folder.
        pub name: String,
        /// Whether it is a folder.
        pub dir: bool,
        /// In bytes.
        pub size: i64,
    }

    fn info(v: Value) -> Info {
        Info { name: v.get("name").text().into_owned(), dir: v.get("dir").as_bool() == Some(true), size: v.get("size").as_i64().unwrap_or(0) }
    }

    /// The text of a file.
    pub fn read(path: &str) -> Answer<String> {
        let d = request("file", host::file, "read", &[("path", path.into())])?;
        let text = d.get("text").text().into_owned();
        Ok(text)
    }

    /// Describes a file.
    pub fn stat(path: &str) -> Answer<Info> {
        Ok(info(request("file", host::file, "stat", &[("path", path.into())])?.value()))
    }

    /// Describes what a folder holds, sorted.
    pub fn list(path: &str) -> Answer<Vec<Info>> {
        let d = request("file", host::file, "list", &[("path", path.into())])?;
        let list = d.get("entries").items().map(info).collect();
        Ok(list)
    }
}

/// Questions to the person; the time of an answer does not count against the deadline. Needs the grant `ui`.
pub mod ui {
    use super::{request, Answer};
    use crate::json::Json;
    use crate::{host, Level};

    /// Asks yes or no.
    pub fn confirm(title: &str, message: &str) -> Answer<bool> {
        let d = request("ui", host::ui, "confirm", &[("title", title.into()), ("message", message.into())])?;
        Ok(d.get("answer").as_bool() == Some(true))
    }

    /// Asks to choose; `None` when nothing was chosen.
    pub fn select(title: &str, options: &[&str]) -> Answer<Option<String>> {
        answer("select", &[("title", title.into()), ("options", Json::array(options.iter().copied()))])
    }

    /// Asks for a line; `None` when none was given.
    pub fn input(title: &str, placeholder: &str) -> Answer<Option<String>> {
        answer("input", &[("title", title.into()), ("placeholder", placeholder.into())])
    }

    fn answer(op: &str, members: &[(&str, Json)]) -> Answer<Option<String>> {
        let d = request("ui", host::ui, op, members)?;
        let answer = d.get("answer").as_str().map(|s| s.into_owned());
        Ok(answer)
    }

    /// Shows a message. [`Level::Debug`] counts as [`Level::Info`].
    pub fn notify(level: Level, message: &str) -> Answer<()> {
        let level = match level {
            Level::Warn => "warning",
            Level::Error => "error",
            Level::Debug | Level::Info => "info",
        };
        request("ui", host::ui, "notify", &[("message", message.into()), ("level", level.into())]).map(drop)
    }

    /// Shows a text in the status line; "" removes it.
    pub fn status(text: &str) -> Answer<()> {
        request("ui", host::ui, "status", &[("text", text.into())]).map(drop)
    }
}

/// Records in the journal that the set names. Needs the grant `journal`.
pub mod journal {
    use super::{request, Answer};
    use crate::host;
    use crate::json::Json;

    /// An entry of a journal.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Entry {
        /// Its number.
        pub seq: i64,
        /// The hash of its line.
        pub hash: String,
    }

    /// Adds a record, an object of up to 64 KiB, and returns when it is on the disk.
    pub fn append(record: Json) -> Answer<Entry> {
        let d = request("journal", host::journal, "append", &[("record", record)])?;
        Ok(Entry { seq: d.get("seq").as_i64().unwrap_or(0), hash: d.get("hash").text().into_owned() })
    }
}

/// Extism's variables: bytes that outlive a call, though not a fault. They need no grant, and bring Extism's kernel into the
/// instance; a `thread_local!` is cheaper.
pub mod var {
    use crate::host;

    /// A variable; `None` when it was not set.
    pub fn get(key: &str) -> Option<Vec<u8>> {
        host::variable(key.as_bytes())
    }

    /// Sets a variable.
    pub fn set(key: &str, value: &[u8]) {
        host::set_variable(key.as_bytes(), value);
    }
}

mod base64 {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    pub fn encode(bytes: &[u8]) -> String {
        let mut out = String::with_capacity((bytes.len() + 2) / 3 * 4);
        for three in bytes.chunks(3) {
            let byte = |i: usize| u32::from(three.get(i).copied().unwrap_or(0));
            let v = byte(0) << 16 | byte(1) << 8 | byte(2);
            for i in 0..4 {
                out.push(if i <= three.len() { char::from(DIGITS[(v >> (18 - 6 * i) & 63) as usize]) } else { '=' });
            }
        }
        out
    }

    /// `None` for what is not base64 with its padding.
    pub fn decode(text: &str) -> Option<Vec<u8>> {
        let text = text.as_bytes();
        if text.len() % 4 != 0 {
            return None;
        }
        let digits = match text {
            [rest @ .., b'=', b'='] | [rest @ .., b'='] => rest,
            all => all,
        };
        let mut out = Vec::with_capacity(digits.len() * 3 / 4);
        for four in digits.chunks(4) {
            let mut v = 0;
            for &c in four {
                v = v << 6 | DIGITS.iter().position(|&d| d == c)? as u32;
            }
            v <<= 6 * (4 - four.len());
            out.extend_from_slice(&v.to_be_bytes()[1..four.len()]);
        }
        Some(out)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn there_and_back() {
            for (bytes, text) in [(&b""[..], ""), (b"f", "Zg=="), (b"fo", "Zm8="), (b"foo", "Zm9v"), (b"\0\xff\xfe\x80", "AP/+gA==")] {
                assert_eq!(encode(bytes), text);
                assert_eq!(decode(text).as_deref(), Some(bytes));
            }
            for bad in ["Z", "Zg=", "Zg", "Z===", "Zg==Zg==", "Z g=", "Zm9_"] {
                assert_eq!(decode(bad), None, "{}", bad);
            }
        }
    }
}

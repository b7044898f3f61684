use crate::json::{add_json, Document, Json, Value};
use std::borrow::Cow;

/// The input of a hook without a type of its own: an object with the payload of the event.
pub struct Event {
    document: Document,
}

impl Event {
    pub(crate) fn new(document: Document) -> Event {
        Event { document }
    }

    pub(crate) fn into_document(self) -> Document {
        self.document
    }

    /// A member of the event.
    pub fn get(&self, key: &str) -> Value {
        self.document.get(key)
    }

    /// A member that is a string, otherwise "".
    pub fn text(&self, key: &str) -> Cow<str> {
        self.get(key).text()
    }

    /// Where it happened: `sessionId`, `extension`, `cwd`, `mode`, `hasUI`, `model`, `thinkingLevel`, `turnIndex`, `callIndex`.
    pub fn context(&self) -> Value {
        self.get("context")
    }

    /// The whole event.
    pub fn value(&self) -> Value {
        self.document.value()
    }
}

/// The answer to an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply(Option<Json>);

impl Reply {
    /// No opinion.
    pub fn none() -> Reply {
        Reply(None)
    }

    /// The result keys of the event, which `docs/abi.md` lists; an object.
    pub fn object<K: AsRef<str>, V: Into<Json>>(members: impl IntoIterator<Item = (K, V)>) -> Reply {
        Reply(Some(Json::object(members)))
    }

    /// For a `session_before_…` event: what was about to happen does not.
    pub fn cancel() -> Reply {
        Reply::object([("cancel", true)])
    }

    /// For `input`: another text.
    pub fn transform(text: &str) -> Reply {
        Reply::object([("action", "transform"), ("text", text)])
    }

    /// For `input`: the extension dealt with it, and no model is asked.
    pub fn handled() -> Reply {
        Reply::object([("action", "handled")])
    }

    pub(crate) fn write(&self, out: &mut String) -> Result<(), String> {
        match &self.0 {
            None => out.push_str("{}"),
            Some(json) => add_json(out, json),
        }
        Ok(())
    }
}

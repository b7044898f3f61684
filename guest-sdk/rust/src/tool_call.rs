use crate::facts::Facts;
use crate::json::{add_json, add_words, Document, Json, Value};
use std::borrow::Cow;

/// A tool call that is about to run.
pub struct ToolCall {
    document: Document,
}

impl ToolCall {
    pub(crate) fn new(document: Document) -> ToolCall {
        ToolCall { document }
    }

    pub(crate) fn into_document(self) -> Document {
        self.document
    }

    /// The tool's name: bash, read, write, edit, grep, find, ls, an extension's own, or `mcp__server__tool`.
    pub fn tool(&self) -> Cow<str> {
        self.document.get("toolName").text()
    }

    /// The model's id of the call.
    pub fn id(&self) -> Cow<str> {
        self.document.get("toolCallId").text()
    }

    /// The arguments, an object, as rewritten so far.
    pub fn input(&self) -> Value {
        self.document.get("input")
    }

    /// An argument.
    pub fn get(&self, key: &str) -> Value {
        self.input().get(key)
    }

    /// An argument that is a string, otherwise "".
    pub fn text(&self, key: &str) -> Cow<str> {
        self.get(key).text()
    }

    /// Whether the arguments were rewritten after this extension saw them. It is the same call once more: do not count it.
    pub fn recheck(&self) -> bool {
        self.document.get("recheck").as_bool() == Some(true)
    }

    /// What the host worked out about it, as far as [`Extension::facts`](crate::Extension::facts) asks for it.
    pub fn facts(&self) -> Facts {
        Facts::new(self.document.get("facts"))
    }

    /// Where it happens: see [`Event::context`](crate::Event::context).
    pub fn context(&self) -> Value {
        self.document.get("context")
    }

    /// The whole event.
    pub fn value(&self) -> Value {
        self.document.value()
    }
}

/// The answer to a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The call passes, as far as this extension is concerned.
    Allow,
    /// The call does not run. The model is told the reason; "" leaves it to the host. `terminate` ends the run after this batch of
    /// calls.
    Block {
        /// Why.
        reason: String,
        /// Whether the run ends.
        terminate: bool,
    },
    /// A person decides; where there is none the call is blocked.
    Ask {
        /// The question; not "".
        title: String,
        /// More words; "" for none.
        message: String,
        /// Other arguments, if they agree.
        input: Option<Json>,
    },
    /// The call passes with other arguments: an object that replaces them all. Start from the present ones to change a part:
    /// `Decision::Rewrite(call.input().with("timeout", 10))`.
    Rewrite(Json),
}

impl Decision {
    /// [`Decision::Block`] of this call only.
    pub fn block(reason: impl Into<String>) -> Decision {
        Decision::Block { reason: reason.into(), terminate: false }
    }

    /// [`Decision::Ask`] by a title alone.
    pub fn ask(title: impl Into<String>) -> Decision {
        Decision::Ask { title: title.into(), message: String::new(), input: None }
    }

    pub(crate) fn write(&self, out: &mut String) -> Result<(), String> {
        match self {
            Decision::Allow => out.push_str("{\"block\":false}"),
            Decision::Block { reason, terminate } => {
                out.push_str("{\"block\":true");
                if !reason.is_empty() {
                    out.push_str(",\"reason\":");
                    add_words(out, reason);
                }
                out.push_str(if *terminate { ",\"terminate\":true}" } else { "}" });
            }
            Decision::Ask { title, .. } if title.is_empty() => return Err("Ask without a title: say what the person is asked".to_string()),
            Decision::Ask { title, message, input } => {
                out.push_str("{\"ask\":{\"title\":");
                add_words(out, title);
                if !message.is_empty() {
                    out.push_str(",\"message\":");
                    add_words(out, message);
                }
                out.push('}');
                if let Some(input) = input {
                    out.push_str(",\"input\":");
                    add_json(out, input);
                }
                out.push('}');
            }
            Decision::Rewrite(input) => {
                out.push_str("{\"input\":");
                add_json(out, input);
                out.push('}');
            }
        }
        Ok(())
    }
}

use crate::json::{add_json, add_words, Document, Json, Value};
use std::borrow::Cow;

/// One execution of a tool of the extension.
pub struct ToolRun {
    document: Document,
}

impl ToolRun {
    pub(crate) fn new(document: Document) -> ToolRun {
        ToolRun { document }
    }

    pub(crate) fn into_document(self) -> Document {
        self.document
    }

    /// The tool's name.
    pub fn tool(&self) -> Cow<str> {
        self.document.get("toolName").text()
    }

    /// The model's id of the call.
    pub fn id(&self) -> Cow<str> {
        self.document.get("toolCallId").text()
    }

    /// The arguments, checked against the tool's schema by the host.
    pub fn args(&self) -> Value {
        self.document.get("args")
    }

    /// Where it happens: see [`Event::context`](crate::Event::context).
    pub fn context(&self) -> Value {
        self.document.get("context")
    }
}

/// Reports a partial result, an object with `content` and perhaps `details`; only while `tool_execute` runs.
pub fn tool_update(partial: &Json) {
    crate::host::tool_update(partial.as_str().as_bytes());
}

/// The result of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutput {
    /// An array of blocks: see [`Json::text_content`].
    pub content: Json,
    /// For programs; `None` for nothing.
    pub details: Option<Json>,
    /// Tells the model that the tool failed.
    pub is_error: bool,
    /// Ends the run after this batch of calls.
    pub terminate: bool,
}

impl ToolOutput {
    /// One block of text.
    pub fn text(text: &str) -> ToolOutput {
        ToolOutput { content: Json::text_content(text), details: None, is_error: false, terminate: false }
    }

    /// One block of text that says why the tool failed.
    pub fn error(text: &str) -> ToolOutput {
        ToolOutput { is_error: true, ..ToolOutput::text(text) }
    }

    pub(crate) fn write(&self, out: &mut String) -> Result<(), String> {
        out.push_str("{\"content\":");
        add_json(out, &self.content);
        if let Some(details) = &self.details {
            out.push_str(",\"details\":");
            add_json(out, details);
        }
        if self.is_error {
            out.push_str(",\"isError\":true");
        }
        if self.terminate {
            out.push_str(",\"terminate\":true");
        }
        out.push('}');
        Ok(())
    }
}

/// One execution of a command of the extension.
pub struct CommandRun {
    document: Document,
}

impl CommandRun {
    pub(crate) fn new(document: Document) -> CommandRun {
        CommandRun { document }
    }

    pub(crate) fn into_document(self) -> Document {
        self.document
    }

    /// The command's name.
    pub fn name(&self) -> Cow<str> {
        self.document.get("name").text()
    }

    /// What was written after the command.
    pub fn args(&self) -> Cow<str> {
        self.document.get("args").text()
    }

    /// Where it happens: see [`Event::context`](crate::Event::context).
    pub fn context(&self) -> Value {
        self.document.get("context")
    }
}

/// What a command has to say to the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message(String);

impl Message {
    /// Nothing.
    pub fn none() -> Message {
        Message(String::new())
    }

    /// A text; "" is nothing.
    pub fn text(text: impl Into<String>) -> Message {
        Message(text.into())
    }

    pub(crate) fn write(&self, out: &mut String) -> Result<(), String> {
        if self.0.is_empty() {
            out.push_str("{}");
            return Ok(());
        }
        out.push_str("{\"message\":");
        add_words(out, &self.0);
        out.push('}');
        Ok(())
    }
}

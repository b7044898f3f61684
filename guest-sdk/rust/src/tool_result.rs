use crate::facts::Facts;
use crate::json::{add_json, Document, Json, Value};
use std::borrow::Cow;

/// What a tool returned, before anyone else sees it.
pub struct ToolResult {
    document: Document,
}

impl ToolResult {
    pub(crate) fn new(document: Document) -> ToolResult {
        ToolResult { document }
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

    /// The arguments that the tool ran with.
    pub fn input(&self) -> Value {
        self.document.get("input")
    }

    /// The array of text and image blocks.
    pub fn content(&self) -> Value {
        self.document.get("content")
    }

    /// What the tool adds for programs; it may be absent.
    pub fn details(&self) -> Value {
        self.document.get("details")
    }

    /// What the tool's own model calls took; it may be absent.
    pub fn usage(&self) -> Value {
        self.document.get("usage")
    }

    /// Whether the tool failed.
    pub fn is_error(&self) -> bool {
        self.document.get("isError").as_bool() == Some(true)
    }

    /// What the host worked out about it, as far as [`Extension::facts`](crate::Extension::facts) asks for it.
    pub fn facts(&self) -> Facts {
        Facts::new(self.document.get("facts"))
    }

    /// Where it happened: see [`Event::context`](crate::Event::context).
    pub fn context(&self) -> Value {
        self.document.get("context")
    }

    /// The text of all text blocks, a newline between two.
    pub fn text(&self) -> String {
        let texts: Vec<Cow<str>> = self.content().items().filter(is_text).map(|b| b.get("text").text()).collect();
        texts.join("\n")
    }

    /// The content with the text of each text block replaced by what `change` makes of it; other blocks stay as they are.
    pub fn map_text(&self, change: impl Fn(&str) -> String) -> Json {
        Json::array(self.content().items().map(|block| match is_text(&block) {
            true => block.with("text", change(&block.get("text").text())),
            false => Json::from(block),
        }))
    }
}

fn is_text(block: &Value) -> bool {
    block.get("type").is("text")
}

/// The answer to a tool result: what is replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Change(Vec<(&'static str, Json)>);

impl Change {
    /// The result stays as it is. The methods below add to it.
    pub fn none() -> Change {
        Change(Vec::new())
    }

    /// Also replaces the content, an array of blocks: see [`Json::text_content`].
    pub fn content(self, content: Json) -> Change {
        self.set("content", content)
    }

    /// Also replaces the details.
    pub fn details(self, details: impl Into<Json>) -> Change {
        self.set("details", details.into())
    }

    /// Also says whether the tool failed.
    pub fn is_error(self, failed: bool) -> Change {
        self.set("isError", failed.into())
    }

    /// Also replaces the usage.
    pub fn usage(self, usage: impl Into<Json>) -> Change {
        self.set("usage", usage.into())
    }

    /// The last one of a key counts.
    fn set(mut self, key: &'static str, value: Json) -> Change {
        self.0.retain(|(k, _)| *k != key);
        self.0.push((key, value));
        self
    }

    pub(crate) fn write(&self, out: &mut String) -> Result<(), String> {
        add_json(out, &Json::object(self.0.iter().map(|(k, v)| (k, v.clone()))));
        Ok(())
    }
}

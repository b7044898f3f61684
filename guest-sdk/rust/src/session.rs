//! The session that the extension is part of. Each request needs the grant `session` with the right that its documentation names;
//! what is not granted, and a place without a session, is an error. Texts are "" where an operation needs none.

use crate::capability::{request as ask, Answer};
use crate::host;
use crate::json::{Document, Json, Value};

/// Makes a request: the operation and its members.
pub fn request(op: &str, members: &[(&str, Json)]) -> Answer<Document> {
    ask("session", host::session, op, members)
}

/// What the session is and does. Texts are "" for what there is none of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// Its folder.
    pub cwd: String,
    /// Its file.
    pub file: String,
    /// The id of the last entry.
    pub leaf: String,
    /// How many entries the file has.
    pub entries: i64,
    /// How many messages the model works with.
    pub messages: i64,
    /// No run is under way.
    pub idle: bool,
    /// The model answers.
    pub streaming: bool,
    /// The conversation is being compacted.
    pub compacting: bool,
    /// A request is tried again.
    pub retrying: bool,
    /// What runs is aborted.
    pub aborted: bool,
    /// How many messages wait.
    pub queued: i64,
    /// The model's provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// How much the model thinks.
    pub thinking_level: String,
    /// What the model is told first.
    pub system_prompt: String,
    /// `{tokens, contextWindow, percent}`, or null.
    pub context_usage: Json,
}

/// The state of the session. Right: `read`.
pub fn state() -> Answer<State> {
    let d = request("state", &[])?;
    let text = |key: &str| d.get(key).text().into_owned();
    let number = |key: &str| d.get(key).as_i64().unwrap_or(0);
    let is = |key: &str| d.get(key).as_bool() == Some(true);
    let model = |key: &str| d.get("model").get(key).text().into_owned();
    Ok(State {
        id: text("id"),
        name: text("name"),
        cwd: text("cwd"),
        file: text("file"),
        leaf: text("leaf"),
        entries: number("entries"),
        messages: number("messages"),
        idle: is("idle"),
        streaming: is("streaming"),
        compacting: is("compacting"),
        retrying: is("retrying"),
        aborted: is("aborted"),
        queued: number("queued"),
        provider: model("provider"),
        model: model("id"),
        thinking_level: text("thinkingLevel"),
        system_prompt: text("systemPrompt"),
        context_usage: d.get("contextUsage").into(),
    })
}

/// A part of a list that the host keeps.
#[derive(Debug)]
pub struct Page {
    response: Document,
    list: &'static str,
}

impl Page {
    /// What is in it.
    pub fn items(&self) -> impl Iterator<Item = Value> {
        self.response.get(self.list).items()
    }

    /// Of [`entries`]: further ones follow.
    pub fn more(&self) -> bool {
        self.response.get("more").as_bool() == Some(true)
    }

    /// Of [`messages`]: how many there are in all.
    pub fn total(&self) -> i64 {
        self.response.get("total").as_i64().unwrap_or(0)
    }
}

/// Up to `limit` entries of the session's file, those after the one of the id `after`, or from the first. `limit` is 1 to 1000; 0
/// means 100. Right: `read`.
pub fn entries(after: &str, limit: u32) -> Answer<Page> {
    let members = given([text("after", after), number("limit", limit)]);
    Ok(Page { response: request("entries", &members)?, list: "entries" })
}

/// An entry by its id; the response holds it as `entry`. Right: `read`.
pub fn entry(id: &str) -> Answer<Document> {
    request("entry", &[("id", id.into())])
}

/// Up to `limit` of the messages that the model works with, from the index `from` on. `limit` is as for [`entries`]. Right: `read`.
pub fn messages(from: u32, limit: u32) -> Answer<Page> {
    let members = given([Some(("from", from.into())), number("limit", limit)]);
    Ok(Page { response: request("messages", &members)?, list: "messages" })
}

/// A tool of the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// What it is called.
    pub name: String,
    /// What the model is told of it.
    pub description: String,
    /// It is offered to the model.
    pub active: bool,
}

/// The session's tools. Right: `read`.
pub fn tools() -> Answer<Vec<Tool>> {
    let d = request("tools", &[])?;
    let tool = |t: Value| Tool {
        name: t.get("name").text().into_owned(),
        description: t.get("description").text().into_owned(),
        active: t.get("active").as_bool() == Some(true),
    };
    let list = d.get("tools").items().map(tool).collect();
    Ok(list)
}

/// Keeps data in the session's file and out of the conversation; returns the entry's id. Right: `append`.
pub fn append(custom_type: &str, data: Option<Json>) -> Answer<String> {
    let d = request("append", &given([Some(("customType", custom_type.into())), data.map(|d| ("data", d))]))?;
    let id = d.get("id").text().into_owned();
    Ok(id)
}

/// Labels an entry; "" takes the label away. Right: `append`.
pub fn label(entry: &str, label: &str) -> Answer<()> {
    request("label", &[("entryId", entry.into()), ("label", label.into())]).map(drop)
}

/// Names the session; "" takes the name away. Right: `append`.
pub fn name(name: &str) -> Answer<()> {
    request("name", &[("name", name.into())]).map(drop)
}

/// A message for the model.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    /// What the extension calls messages of its kind.
    pub custom_type: &'a str,
    /// A text, or an array of blocks.
    pub content: Json,
    /// A person sees it too.
    pub display: bool,
    /// What the model does not see.
    pub details: Option<Json>,
    /// It starts a run when none is under way.
    pub trigger: bool,
    /// steer, followUp, nextTurn, or "" for before the next turn.
    pub deliver: &'a str,
}

impl<'a> Message<'a> {
    /// A message that only the model sees; the fields say what else there is.
    pub fn new(custom_type: &'a str, content: impl Into<Json>) -> Message<'a> {
        Message { custom_type, content: content.into(), display: false, details: None, trigger: false, deliver: "" }
    }

    /// Gives it to the model and does not wait for a run that it starts. Right: `send`.
    pub fn send(&self) -> Answer<()> {
        let members = given([
            Some(("customType", self.custom_type.into())),
            Some(("content", self.content.clone())),
            flag("display", self.display),
            self.details.clone().map(|d| ("details", d)),
            flag("trigger", self.trigger),
            text("deliver", self.deliver),
        ]);
        request("send", &members).map(drop)
    }
}

/// Says a text, or an array of blocks, as if the user had. `deliver`, steer or followUp, is needed during a run and otherwise "".
/// Right: `send`.
pub fn prompt(content: impl Into<Json>, deliver: &str) -> Answer<()> {
    request("prompt", &given([Some(("content", content.into())), text("deliver", deliver)])).map(drop)
}

/// Sets the tools that the model is offered from the next turn on, and returns them; unknown names are left out. Right: `control`.
pub fn set_tools(names: &[&str]) -> Answer<Vec<String>> {
    let d = request("set_tools", &[("tools", Json::array(names.iter().copied()))])?;
    let set = d.get("tools").items().map(|n| n.text().into_owned()).collect();
    Ok(set)
}

/// Sets the model. Right: `control`.
pub fn set_model(provider: &str, id: &str) -> Answer<()> {
    request("set_model", &[("provider", provider.into()), ("id", id.into())]).map(drop)
}

/// Sets the level as far as the model allows, and returns it. Right: `control`.
pub fn set_thinking_level(level: &str) -> Answer<String> {
    let d = request("set_thinking_level", &[("level", level.into())])?;
    let set = d.get("level").text().into_owned();
    Ok(set)
}

/// Ends the run, a retry, a compaction, when the handler has returned, as the functions below begin then. Right: `control`.
pub fn abort() -> Answer<()> {
    request("abort", &[]).map(drop)
}

/// Compacts the conversation; the instructions may be "". Right: `control`.
pub fn compact(instructions: &str) -> Answer<()> {
    request("compact", &given([text("instructions", instructions)])).map(drop)
}

/// Puts a new session in the place of this one. Right: `control`.
pub fn new() -> Answer<()> {
    request("new", &[]).map(drop)
}

/// Continues in a new session from before an entry, or `at` it. Right: `control`.
pub fn fork(entry: &str, at: bool) -> Answer<()> {
    let position = if at { "at" } else { "before" };
    request("fork", &[("entryId", entry.into()), ("position", position.into())]).map(drop)
}

/// How a branch is left.
#[derive(Clone, Debug, Default)]
pub struct Navigation<'a> {
    /// The model sums it up.
    pub summarize: bool,
    /// For the summary.
    pub instructions: &'a str,
    /// The instructions are all that the model is told.
    pub replace: bool,
    /// A label for it.
    pub label: &'a str,
}

/// Moves to another entry, when no run is under way. Right: `control`.
pub fn navigate(entry: &str, how: &Navigation) -> Answer<()> {
    let members = given([
        Some(("entryId", entry.into())),
        flag("summarize", how.summarize),
        text("instructions", how.instructions),
        flag("replace", how.replace),
        text("label", how.label),
    ]);
    request("navigate", &members).map(drop)
}

type Member = (&'static str, Json);

/// The members that there are.
fn given<const N: usize>(members: [Option<Member>; N]) -> Vec<Member> {
    members.into_iter().flatten().collect()
}

fn text(key: &'static str, text: &str) -> Option<Member> {
    if text.is_empty() {
        return None;
    }
    Some((key, text.into()))
}

fn flag(key: &'static str, set: bool) -> Option<Member> {
    if set {
        return Some((key, true.into()));
    }
    None
}

fn number(key: &'static str, n: u32) -> Option<Member> {
    if n == 0 {
        return None;
    }
    Some((key, n.into()))
}

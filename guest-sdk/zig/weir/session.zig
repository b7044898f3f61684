//! The session that the extension is part of: the grant session. Each function needs the right that it names; what is not granted, and
//! a place without a session, is a refusal. Content, data and details are JSON.

const host = @import("host.zig");
const json = @import("json.zig");
const capability = @import("capability.zig");
const Reply = capability.Reply;
const Writer = json.Writer;

pub const Member = struct { key: []const u8, json: []const u8 };

/// Any request: op names the operation, members are its further members. docs/abi.md lists the operations.
pub fn request(op: []const u8, members: []const Member) !Reply {
    var w = capability.begin(op);
    for (members) |m| w.setRaw(m.key, m.json);
    return ask(&w);
}

/// What the session is and does: id, name, cwd, file, leaf, entries, messages, idle, streaming, compacting, retrying, aborted, queued,
/// model, thinkingLevel, systemPrompt, contextUsage. Right: read.
pub fn state() !Reply {
    return request("state", &.{});
}

/// How much of a list is asked for: limit is 1 to 1000, and a page has 8 MiB at most.
pub const EntryPage = struct { after: []const u8 = "", limit: u16 = 100 };

/// entries, those of the session's file that follow the one of the id after, or from the first for "", and more: further ones follow.
/// Right: read.
pub fn entries(page: EntryPage) !Reply {
    var w = capability.begin("entries");
    optional(&w, "after", page.after);
    w.key("limit");
    w.int(page.limit);
    return ask(&w);
}

/// An entry by its id. Right: read.
pub fn entry(id: []const u8) !Reply {
    var w = capability.begin("entry");
    w.set("id", id);
    return (try ask(&w)).part("entry");
}

/// As of entries; from is an index.
pub const MessagePage = struct { from: u31 = 0, limit: u16 = 100 };

/// messages, those that the model works with, and total, how many there are. Right: read.
pub fn messages(page: MessagePage) !Reply {
    var w = capability.begin("messages");
    w.key("from");
    w.int(page.from);
    w.key("limit");
    w.int(page.limit);
    return ask(&w);
}

/// An array of name, description, active (offered to the model). Right: read.
pub fn tools() !Reply {
    return (try request("tools", &.{})).part("tools");
}

/// Keeps data, which may be null, in the session's file and out of the conversation. Answers the entry's id. Right: append.
pub fn append(custom_type: []const u8, data: ?[]const u8) !Reply {
    var w = capability.begin("append");
    w.set("customType", custom_type);
    if (data) |d| w.setRaw("data", d);
    return (try ask(&w)).part("id");
}

/// Labels an entry; "" takes the label away. Right: append.
pub fn label(entry_id: []const u8, text: []const u8) !Reply {
    var w = capability.begin("label");
    w.set("entryId", entry_id);
    w.set("label", text);
    return ask(&w);
}

/// Names the session; "" takes the name away. Right: append.
pub fn name(text: []const u8) !Reply {
    var w = capability.begin("name");
    w.set("name", text);
    return ask(&w);
}

/// A message for the model.
pub const Message = struct {
    custom_type: []const u8,
    /// A text (`weir.quote`) or an array of blocks (`weir.textContent`).
    content: []const u8,
    /// A person sees it too.
    display: bool = false,
    /// The model does not see them.
    details: ?[]const u8 = null,
    /// Whether it starts a run when none is under way; null leaves that to the session.
    trigger: ?bool = null,
    /// steer, followUp, nextTurn, or "" for before the next turn.
    deliver: []const u8 = "",
};

/// Gives the model a message and does not wait for a run that it starts. Right: send.
pub fn send(m: Message) !Reply {
    var w = capability.begin("send");
    w.set("customType", m.custom_type);
    w.setRaw("content", m.content);
    flag(&w, "display", m.display);
    if (m.details) |d| w.setRaw("details", d);
    if (m.trigger) |t| {
        w.key("trigger");
        w.boolean(t);
    }
    optional(&w, "deliver", m.deliver);
    return ask(&w);
}

/// Says content, a text or an array of blocks, as if the person had. deliver, steer or followUp, is needed during a run and otherwise "".
/// Right: send.
pub fn prompt(content: []const u8, deliver: []const u8) !Reply {
    var w = capability.begin("prompt");
    w.setRaw("content", content);
    optional(&w, "deliver", deliver);
    return ask(&w);
}

/// Sets the tools that the model is offered from the next turn on. Answers them, an array; unknown names are left out. Right: control.
pub fn setTools(names: []const []const u8) !Reply {
    var w = capability.begin("set_tools");
    w.key("tools");
    w.open("[");
    for (names) |n| w.string(n);
    w.close("]");
    return (try ask(&w)).part("tools");
}

/// Sets the model. Right: control.
pub fn setModel(provider: []const u8, id: []const u8) !Reply {
    var w = capability.begin("set_model");
    w.set("provider", provider);
    w.set("id", id);
    return ask(&w);
}

/// Sets the level as far as the model allows, and answers it. Right: control.
pub fn setThinkingLevel(level: []const u8) !Reply {
    var w = capability.begin("set_thinking_level");
    w.set("level", level);
    return (try ask(&w)).part("level");
}

/// Ends the run, a retry, a compaction: when the handler has returned, as the functions below begin then. Right: control.
pub fn abort() !Reply {
    return request("abort", &.{});
}

/// Compacts the conversation; instructions may be "". Right: control.
pub fn compact(instructions: []const u8) !Reply {
    var w = capability.begin("compact");
    optional(&w, "instructions", instructions);
    return ask(&w);
}

/// Puts a new session in the place of this one. Right: control.
pub fn new() !Reply {
    return request("new", &.{});
}

/// Continues in a new session from before an entry, or at it. Right: control.
pub fn fork(entry_id: []const u8, position: enum { before, at }) !Reply {
    var w = capability.begin("fork");
    w.set("entryId", entry_id);
    w.set("position", @tagName(position));
    return ask(&w);
}

/// How a branch is left.
pub const Navigation = struct {
    summarize: bool = false,
    /// For the summary.
    instructions: []const u8 = "",
    /// The instructions are all that the model is told.
    replace: bool = false,
    label: []const u8 = "",
};

/// Moves to another entry, when no run is under way. Right: control.
pub fn navigate(entry_id: []const u8, how: Navigation) !Reply {
    var w = capability.begin("navigate");
    w.set("entryId", entry_id);
    flag(&w, "summarize", how.summarize);
    optional(&w, "instructions", how.instructions);
    flag(&w, "replace", how.replace);
    optional(&w, "label", how.label);
    return ask(&w);
}

fn ask(w: *Writer) !Reply {
    return capability.call("session", host.weir_session, w);
}

fn optional(w: *Writer, key: []const u8, text: []const u8) void {
    if (text.len > 0) w.set(key, text);
}

fn flag(w: *Writer, key: []const u8, is: bool) void {
    if (is) w.setRaw(key, "true");
}

//! Extensions for weir in Zig. README.md shows a policy and how it is built.
//!
//!   1. The policy calls `extension` in a comptime block, which makes the exports and the description.
//!   2. The host asks for the description, once per module.
//!   3. Each event runs a handler: it gets the event, read in place, and returns an answer. An error or a panic is a fault, for which the
//!      host blocks a tool call. What the handler allocates from `allocator()` is taken back at the next event.

const std = @import("std");
const host = @import("host.zig");
pub const json = @import("json.zig");
pub const kv = @import("capability.zig").kv;
pub const http = @import("capability.zig").http;
pub const file = @import("capability.zig").file;
pub const ui = @import("capability.zig").ui;
pub const session = @import("session.zig");
pub const journal = @import("capability.zig").journal;
pub const vars = @import("capability.zig").vars;
pub const fact = @import("facts.zig");
pub const Facts = fact.Facts;
const history = @import("context.zig");
pub const Table = history.Table;
pub const Context = history.Context;
pub const Edits = history.Edits;
pub const Role = history.Role;
pub const Row = history.Row;

const Value = json.Value;
const Writer = json.Writer;

// ---- memory ----

/// For what must outlive a call.
const lasting = std.heap.wasm_allocator;
var arena = std.heap.ArenaAllocator.init(lasting);

/// Memory for one call: nothing has to be freed.
pub fn allocator() std.mem.Allocator {
    return arena.allocator();
}

/// A text being made, in memory for one call.
pub fn writer() Writer {
    return .{ .allocator = allocator() };
}

/// A text as JSON.
pub fn quote(text: []const u8) []const u8 {
    return json.quoted(allocator(), text);
}

/// What is longer than this is given back after a call.
const kept = 1 << 20;

/// All that a reader of the host has. The length is asked for first: memory that is taken is filled in the safe mode, so a generous
/// buffer costs more than a second call.
pub fn readAll(a: std.mem.Allocator, comptime reader: anytype, index: anytype) error{OutOfMemory}![]u8 {
    const none_yet: [*]u8 = &empty;
    const all: u32 = @call(.auto, reader, index ++ .{ none_yet, @as(u32, 0), @as(u32, 0) });
    const buffer = try a.alloc(u8, all);
    if (all == 0) return buffer;
    const n: u32 = @call(.auto, reader, index ++ .{ buffer.ptr, @as(u32, 0), all });
    return buffer[0..n];
}

var empty: [1]u8 = .{0};

// ---- faults ----

var why: []const u8 = "";

/// The handler cannot decide: `return weir.fail("why")` is a fault with this text.
pub fn fail(text: []const u8) error{Failed} {
    why = text;
    return error.Failed;
}

fn failed(e: anyerror) i32 {
    const text = if (e == error.Failed) why else @errorName(e);
    host.weir_error(text.ptr, text.len);
    return 1;
}

/// For `pub const panic = weir.panic;` in the policy: a panic is a fault with its text.
pub fn panic(reason: []const u8, _: ?*std.builtin.StackTrace, _: ?usize) noreturn {
    host.weir_error(reason.ptr, reason.len);
    @trap();
}

// ---- events ----

/// An event: a JSON object. docs/events.md lists the members of each.
pub const Event = struct {
    value: Value,

    pub fn get(e: Event, key: []const u8) Value {
        return e.value.get(key);
    }
    /// sessionId, extension, cwd, mode, hasUI, model, thinkingLevel, turnIndex, callIndex.
    pub fn context(e: Event) Value {
        return e.value.get("context");
    }
};

/// A tool call that is about to run.
pub const ToolCall = struct {
    value: Value,

    pub fn toolName(c: ToolCall) []const u8 {
        return c.value.get("toolName").text();
    }
    pub fn id(c: ToolCall) []const u8 {
        return c.value.get("toolCallId").text();
    }
    /// The arguments, an object.
    pub fn input(c: ToolCall) Value {
        return c.value.get("input");
    }
    /// One argument.
    pub fn arg(c: ToolCall, name: []const u8) Value {
        return c.input().get(name);
    }
    /// An argument that is a text, otherwise "".
    pub fn text(c: ToolCall, name: []const u8) []const u8 {
        return c.arg(name).text();
    }
    /// The extension was asked before, with other arguments. Do not count such a call again.
    pub fn recheck(c: ToolCall) bool {
        return c.value.get("recheck").boolean(false);
    }
    /// What the host worked out about it: the kinds that the option `facts` of the hook names.
    pub fn facts(c: ToolCall) Facts {
        return .{ .value = c.value.get("facts") };
    }
    pub fn context(c: ToolCall) Value {
        return c.value.get("context");
    }
};

/// What a tool returned.
pub const ToolResult = struct {
    value: Value,

    pub fn toolName(r: ToolResult) []const u8 {
        return r.value.get("toolName").text();
    }
    pub fn input(r: ToolResult) Value {
        return r.value.get("input");
    }
    /// An array of blocks.
    pub fn content(r: ToolResult) Value {
        return r.value.get("content");
    }
    pub fn details(r: ToolResult) Value {
        return r.value.get("details");
    }
    pub fn isError(r: ToolResult) bool {
        return r.value.get("isError").boolean(false);
    }
    /// What the host worked out about it: the kinds that the option `facts` of the hook names.
    pub fn facts(r: ToolResult) Facts {
        return .{ .value = r.value.get("facts") };
    }
    pub fn context(r: ToolResult) Value {
        return r.value.get("context");
    }
    /// The content, as JSON, with the text of each text block changed by f. Other blocks, and what else is in a block, stay.
    pub fn mapText(r: ToolResult, f: *const fn ([]const u8) []const u8) []const u8 {
        var w = writer();
        w.open("[");
        var blocks = r.content().elements();
        while (blocks.next()) |b| {
            w.raw(if (b.get("type").is("text")) json.with(b, "text", quote(f(b.get("text").text()))) else b.json());
        }
        w.close("]");
        return w.written();
    }
};

/// A run of one of the extension's tools.
pub const ToolRun = struct {
    value: Value,

    pub fn toolName(r: ToolRun) []const u8 {
        return r.value.get("toolName").text();
    }
    pub fn id(r: ToolRun) []const u8 {
        return r.value.get("toolCallId").text();
    }
    pub fn args(r: ToolRun) Value {
        return r.value.get("args");
    }
    /// Reports a partial result, `{"content":[…]}`.
    pub fn update(_: ToolRun, partial: []const u8) void {
        host.weir_tool_update(partial.ptr, partial.len);
    }
};

/// A run of one of the extension's commands.
pub const CommandRun = struct {
    value: Value,

    /// What stands behind the command's name.
    pub fn args(r: CommandRun) []const u8 {
        return r.value.get("args").text();
    }
};

// ---- answers ----

/// What a tool_call handler answers.
pub const Decision = struct { answer: []const u8 };

/// Lets the call run, as far as this extension is concerned.
pub const allow = Decision{ .answer = "{}" };

/// The call does not run; the model is shown the reason.
pub fn block(reason: []const u8) Decision {
    var w = writer();
    w.open("{");
    w.setRaw("block", "true");
    w.setWords("reason", reason);
    w.close("}");
    return .{ .answer = w.written() };
}
/// Like block, and the run ends.
pub fn terminate(reason: []const u8) Decision {
    var w = writer();
    w.open("{");
    w.setRaw("block", "true");
    w.setRaw("terminate", "true");
    w.setWords("reason", reason);
    w.close("}");
    return .{ .answer = w.written() };
}
/// The call runs when a person agrees; where there is none it is blocked. message may be "".
pub fn ask(title: []const u8, message: []const u8) Decision {
    var w = writer();
    w.open("{");
    w.key("ask");
    w.open("{");
    w.setWords("title", title);
    if (message.len > 0) w.setWords("message", message);
    w.close("}");
    w.close("}");
    return .{ .answer = w.written() };
}
/// The call runs with other arguments, a JSON object: `weir.rewrite(weir.json.with(call.input(), "command", weir.quote("ls")))`.
pub fn rewrite(input: []const u8) Decision {
    var w = writer();
    w.open("{");
    w.setRaw("input", input);
    w.close("}");
    return .{ .answer = w.written() };
}

/// What a tool_result handler answers: members that are JSON (isError: a boolean) replace what the tool returned.
pub const ResultEdit = struct {
    content: ?[]const u8 = null,
    details: ?[]const u8 = null,
    is_error: ?bool = null,
    usage: ?[]const u8 = null,
};
/// Leaves a result as it is.
pub const keep = ResultEdit{};

/// What a tool returns; content is JSON, an array of blocks.
pub const ToolOutput = struct {
    content: []const u8,
    details: ?[]const u8 = null,
    is_error: bool = false,
    terminate: bool = false,
};

/// What the handler of another event answers: JSON, an object of the keys that docs/events.md lists.
pub const Result = struct { answer: []const u8 };

/// No opinion. Observers answer this.
pub const none = Result{ .answer = "{}" };
/// input: it is dealt with, and the model does not see it.
pub const handled = Result{ .answer = "{\"action\":\"handled\"}" };
/// session_before_*: it does not happen.
pub const cancel = Result{ .answer = "{\"cancel\":true}" };

/// input: the text becomes another.
pub fn transform(text: []const u8) Result {
    var w = writer();
    w.open("{");
    w.set("action", "transform");
    w.set("text", text);
    w.close("}");
    return .{ .answer = w.written() };
}
/// command_execute: what the person is shown.
pub fn say(text: []const u8) Result {
    var w = writer();
    w.open("{");
    w.setWords("message", text);
    w.close("}");
    return .{ .answer = w.written() };
}
/// The content of a message or a result: one block of text, as JSON.
pub fn textContent(text: []const u8) []const u8 {
    var w = writer();
    w.open("[");
    w.open("{");
    w.set("type", "text");
    w.setWords("text", text);
    w.close("}");
    w.close("]");
    return w.written();
}

// ---- settings and log ----

var settings: ?Value = null;

/// The settings, checked by the host against the schema of `config`; not there when the set gives none. Valid as long as the instance.
pub fn config() Value {
    if (settings == null) {
        const text = readAll(lasting, host.weir_config_read, .{}) catch @panic("out of memory");
        settings = if (text.len == 0) Value{ .nodes = &.{}, .allocator = lasting } else json.parse(lasting, text) catch @panic("the settings cannot be read");
    }
    return .{ .nodes = settings.?.nodes, .allocator = allocator() };
}

pub const Level = enum(i32) { debug, info, warn, err };

/// A line for the host's log, 256 and 64 KiB a call at most.
pub fn log(level: Level, text: []const u8) void {
    host.weir_log(@intFromEnum(level), text.ptr, text.len);
}

// ---- entry points ----

/// Takes back what the last call allocated.
pub fn reset() void {
    _ = arena.reset(.{ .retain_with_limit = kept });
}

fn begin() ![]u8 {
    reset();
    return readAll(allocator(), host.weir_input_read, .{});
}

fn beginEvent() !Value {
    const v = json.parse(allocator(), try begin()) catch |e| {
        return fail(try std.mem.concat(allocator(), u8, &.{ "the event cannot be read: ", @errorName(e) }));
    };
    if (v.kind() != .object) return fail("the event is no JSON object");
    return v;
}

fn write(answer: []const u8) i32 {
    host.weir_output_write(answer.ptr, answer.len);
    return 0;
}

fn runToolCall(comptime handler: anytype) !i32 {
    const d: Decision = try @as(anyerror!Decision, handler(ToolCall{ .value = try beginEvent() }));
    return write(d.answer);
}

fn runToolResult(comptime handler: anytype) !i32 {
    const r: ResultEdit = try @as(anyerror!ResultEdit, handler(ToolResult{ .value = try beginEvent() }));
    var w = writer();
    w.open("{");
    if (r.content) |c| w.setRaw("content", c);
    if (r.details) |d| w.setRaw("details", d);
    if (r.is_error) |e| w.setRaw("isError", if (e) "true" else "false");
    if (r.usage) |u| w.setRaw("usage", u);
    w.close("}");
    return write(w.written());
}

fn runTable(comptime handler: anytype) !i32 {
    var t = try Table.open(allocator(), try begin());
    try @as(anyerror!void, handler(&t));
    return write(t.edits.answer());
}

fn runContext(comptime handler: anytype) !i32 {
    var c = try Context.open(allocator(), try beginEvent());
    try @as(anyerror!void, handler(&c));
    return write(c.edits.answer());
}

fn runEvent(comptime handler: anytype) !i32 {
    const r: Result = try @as(anyerror!Result, handler(Event{ .value = try beginEvent() }));
    return write(r.answer);
}

fn runTool(comptime tools: anytype) !i32 {
    const run = ToolRun{ .value = try beginEvent() };
    inline for (tools) |t| {
        if (run.value.get("toolName").is(t.name)) {
            const out: ToolOutput = try @as(anyerror!ToolOutput, t.handler(run));
            var w = writer();
            w.open("{");
            w.setRaw("content", out.content);
            if (out.details) |d| w.setRaw("details", d);
            if (out.is_error) w.setRaw("isError", "true");
            if (out.terminate) w.setRaw("terminate", "true");
            w.close("}");
            return write(w.written());
        }
    }
    return fail("there is no such tool");
}

fn runCommand(comptime commands: anytype) !i32 {
    const run = CommandRun{ .value = try beginEvent() };
    inline for (commands) |c| {
        if (run.value.get("name").is(c.name)) {
            const r: Result = try @as(anyerror!Result, c.handler(run));
            return write(r.answer);
        }
    }
    return fail("there is no such command");
}

/// A function for an export, whose errors are faults.
fn Entry(comptime run: anytype, comptime argument: anytype) type {
    return struct {
        fn call() callconv(.C) i32 {
            return run(argument) catch |e| failed(e);
        }
    };
}

fn Description(comptime text: []const u8) type {
    return struct {
        fn call() callconv(.C) i32 {
            return write(text);
        }
    };
}

/// Says what the extension is and exports its hooks. For a comptime block of the policy:
///
///     comptime {
///         weir.extension(.{
///             .name = "guard", .version = "1.0.0", .description = "…",
///             .config = "{…}",                           // the JSON Schema of the settings
///             .capabilities = .{ .kv = "why it is wanted" },
///             .tool_call = .{ .handler = decide, .tools = .{"bash"} },       // fn (ToolCall) !Decision
///             .tool_result = .{ .handler = edit, .on_error = .block },       // fn (ToolResult) !ResultEdit
///             .context = .{ .handler = prune, .view = .table },              // fn (*Table) !void; without view fn (*Context) !void
///             .turn_end = .{ .handler = told },          // any other event: fn (Event) !Result
///             .decision = .{ .handler = decided },       // what the whole set decided
///             .add_tools = .{ .{ .name = "upper", .description = "…", .parameters = "{…}", .handler = upper } },   // fn (ToolRun) !ToolOutput
///             .add_commands = .{ .{ .name = "guard", .description = "…", .handler = command } },                   // fn (CommandRun) !Result
///         });
///     }
///
/// Options of a hook: tools (tool_call and tool_result), view, on_error, facts. Of a tool: label, execution_mode.
pub fn extension(comptime e: anytype) void {
    if (!@hasDecl(@import("root"), "panic")) @compileError("the policy needs the line: pub const panic = weir.panic;");
    @setEvalBranchQuota(1_000_000);
    inline for (std.meta.fields(@TypeOf(e))) |f| {
        const value = @field(e, f.name);
        if (is(f.name, "add_tools")) {
            const entry = Entry(runTool, value);
            @export(entry.call, .{ .name = "tool_execute" });
        } else if (is(f.name, "add_commands")) {
            const entry = Entry(runCommand, value);
            @export(entry.call, .{ .name = "command_execute" });
        } else if (isEvent(f.name) or is(f.name, "decision")) {
            const run = if (is(f.name, "tool_call")) runToolCall else if (is(f.name, "tool_result")) runToolResult else if (!is(f.name, "context")) runEvent else if (@hasField(@TypeOf(value), "view")) runTable else runContext;
            const entry = Entry(run, value.handler);
            @export(entry.call, .{ .name = f.name });
        }
    }
    const described = Description(description(e));
    @export(described.call, .{ .name = "weir_describe" });
}

fn is(comptime a: []const u8, comptime b: []const u8) bool {
    return std.mem.eql(u8, a, b);
}

const events = [_][]const u8{
    "project_trust", "resources_discover", "session_start", "session_info_changed", "session_before_switch",
    "session_before_fork", "session_before_compact", "session_compact", "session_compact_failed", "session_shutdown",
    "session_before_tree", "session_tree", "context", "before_provider_headers", "before_provider_request",
    "after_provider_response", "before_agent_start", "agent_start", "agent_end", "agent_settled", "turn_start",
    "turn_end", "message_start", "message_update", "message_end", "tool_execution_start", "tool_execution_update",
    "tool_execution_end", "model_select", "thinking_level_select", "ui_prompt_start", "ui_prompt_end", "user_bash",
    "input", "tool_call", "tool_result",
};

fn isEvent(comptime name: []const u8) bool {
    for (events) |e| if (is(e, name)) return true;
    return false;
}

fn description(comptime e: anytype) []const u8 {
    comptime var hooks: []const u8 = "";
    comptime var out: []const u8 = "{\"abi\":1";
    inline for (std.meta.fields(@TypeOf(e))) |f| {
        const value = @field(e, f.name);
        if (is(f.name, "name") or is(f.name, "version") or is(f.name, "description")) {
            out = out ++ ",\"" ++ f.name ++ "\":" ++ literal(value);
        } else if (is(f.name, "config")) {
            out = out ++ ",\"config\":" ++ value;
        } else if (is(f.name, "capabilities")) {
            comptime var list: []const u8 = "";
            inline for (std.meta.fields(@TypeOf(value))) |c| list = list ++ ",\"" ++ c.name ++ "\":" ++ literal(@field(value, c.name));
            out = out ++ ",\"capabilities\":{" ++ list[@min(1, list.len)..] ++ "}";
        } else if (is(f.name, "add_tools") or is(f.name, "add_commands")) {
            comptime var list: []const u8 = "";
            inline for (value) |t| list = list ++ ",{" ++ members(t)[1..] ++ "}";
            out = out ++ ",\"" ++ f.name[4..] ++ "\":[" ++ list[1..] ++ "]";
        } else if (is(f.name, "decision")) {
            const options = members(value);
            out = out ++ ",\"decisions\":{" ++ options[@min(1, options.len)..] ++ "}";
        } else if (isEvent(f.name)) {
            const options = members(value);
            hooks = hooks ++ ",\"" ++ f.name ++ "\":{" ++ options[@min(1, options.len)..] ++ "}";
        } else {
            @compileError("\"" ++ f.name ++ "\" is no event, and nothing else that an extension has");
        }
    }
    return out ++ ",\"hooks\":{" ++ hooks[@min(1, hooks.len)..] ++ "}}";
}

/// The options of a hook, a tool or a command, each behind a comma.
fn members(comptime options: anytype) []const u8 {
    comptime var out: []const u8 = "";
    inline for (std.meta.fields(@TypeOf(options))) |f| {
        const value = @field(options, f.name);
        if (is(f.name, "handler")) continue;
        const name = if (is(f.name, "on_error")) "onError" else if (is(f.name, "execution_mode")) "executionMode" else f.name;
        out = out ++ ",\"" ++ name ++ "\":";
        if (is(f.name, "tools") or is(f.name, "facts")) {
            comptime var list: []const u8 = "";
            inline for (value) |v| list = list ++ "," ++ literal(v);
            out = out ++ "[" ++ list[1..] ++ "]";
        } else if (is(f.name, "on_error") or is(f.name, "view") or is(f.name, "execution_mode")) {
            out = out ++ "\"" ++ @tagName(value) ++ "\"";
        } else if (is(f.name, "parameters")) {
            out = out ++ value;
        } else if (is(f.name, "name") or is(f.name, "description") or is(f.name, "label")) {
            out = out ++ literal(value);
        } else {
            @compileError("\"" ++ f.name ++ "\" is no option of a hook, a tool or a command");
        }
    }
    return out;
}

/// A text as JSON, while compiling.
fn literal(comptime text: []const u8) []const u8 {
    comptime var out: []const u8 = "\"";
    inline for (text) |c| {
        if (c < 0x20) @compileError("a control character in: " ++ text);
        out = out ++ (if (c == '"' or c == '\\') "\\" else "") ++ [1]u8{c};
    }
    return out ++ "\"";
}

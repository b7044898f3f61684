//! The history: what the model is about to see, and edits of it.

const std = @import("std");
const host = @import("host.zig");
const json = @import("json.zig");
const weir = @import("weir.zig");
const Allocator = std.mem.Allocator;
const Value = json.Value;

/// Edits of the history. Indexes are those of the messages as received; an index may be dropped or replaced once. The host refuses edits
/// that part a tool call from its result or leave nothing.
pub const Edits = struct {
    drops: json.Writer,
    replaces: json.Writer,
    inserts: json.Writer,

    fn init(a: Allocator) Edits {
        const empty = json.Writer{ .allocator = a };
        return .{ .drops = empty, .replaces = empty, .inserts = empty };
    }
    pub fn drop(e: *Edits, index: usize) void {
        e.drops.int(@intCast(index));
    }
    /// Puts a message (JSON, of the same role) in place of one.
    pub fn replace(e: *Edits, index: usize, message: []const u8) void {
        edit(&e.replaces, index, message);
    }
    /// Puts a message before one; at the number of messages it is appended.
    pub fn insert(e: *Edits, index: usize, message: []const u8) void {
        edit(&e.inserts, index, message);
    }
    fn edit(w: *json.Writer, at: usize, message: []const u8) void {
        w.open("{");
        w.key("at");
        w.int(@intCast(at));
        w.setRaw("message", message);
        w.close("}");
    }
    /// The JSON of all edits.
    pub fn answer(e: *Edits) []const u8 {
        var w = json.Writer{ .allocator = e.drops.allocator };
        w.open("{");
        inline for (.{ "drop", "replace", "insert" }) |name| {
            const list = @field(e, name ++ "s");
            if (list.len > 0) {
                w.key(name);
                w.open("[");
                w.raw(list.written());
                w.close("]");
            }
        }
        w.close("}");
        return w.written();
    }
};

/// The history in full. Each call copies and reads all of it; a long one is better seen as a Table.
pub const Context = struct {
    event: Value,
    /// As a session's file has them.
    messages: []const Value,
    edits: Edits,

    pub fn open(a: Allocator, event: Value) !Context {
        var n: usize = 0;
        var all = event.get("messages").elements();
        while (all.next()) |_| n += 1;
        const list = try a.alloc(Value, n);
        all = event.get("messages").elements();
        for (list) |*m| m.* = all.next().?;
        return .{ .event = event, .messages = list, .edits = Edits.init(a) };
    }
};

/// Who a message is from.
pub const Role = enum(u8) {
    user = 1,
    assistant,
    tool_result,
    custom,
    bash_execution,
    branch_summary,
    compaction_summary,
    other = 255,

    /// As messages have it.
    pub fn name(r: Role) []const u8 {
        return switch (r) {
            .user => "user",
            .assistant => "assistant",
            .tool_result => "toolResult",
            .custom => "custom",
            .bash_execution => "bashExecution",
            .branch_summary => "branchSummary",
            .compaction_summary => "compactionSummary",
            .other => "other",
        };
    }
};

/// The header of a message.
pub const Row = struct {
    role: Role,
    is_error: bool,
    has_image: bool,
    has_tool_call: bool,
    has_thinking: bool,
    display: bool,
    /// The tool's name or the customType; "" when it has none.
    name: []const u8,
    /// Bytes of all its text blocks.
    text_bytes: u32,
    /// Bytes of its JSON.
    encoded_bytes: u32,
    /// Of a tool result: the index of the message with its call.
    pair: ?u32,
    /// Its number in the session, which stays when it is replaced; 0 when an extension inserted it.
    id: u64,
    /// Milliseconds since 1970.
    time: i64,
};

/// The history as a table (docs/abi.md, section 7): 32 bytes a message, and a body only when it is asked for.
pub const Table = struct {
    input: []const u8,
    /// How many messages there are.
    len: usize,
    /// cwd, model and so on, as in every event.
    context: Value,
    names: []const []const u8,
    edits: Edits,

    pub fn open(a: Allocator, in: []const u8) !Table {
        if (in.len < 32 or !std.mem.eql(u8, in[0..4], "WMT1")) return weir.fail("the context is no table: describe it with .view = .table");
        const n: usize = read(u32, in, 4);
        if (n > (in.len - 32) / 32) return weir.fail("the table of the context is damaged");
        const object = try part(in, 8);
        const strings = try part(in, 16);
        if (strings.len < 2) return weir.fail("the table of the context is damaged");
        const names = try a.alloc([]const u8, read(u16, strings, 0));
        var rest = strings[2..];
        for (names) |*name| {
            if (rest.len < 2 or rest.len - 2 < read(u16, rest, 0)) return weir.fail("the table of the context is damaged");
            const end = 2 + @as(usize, read(u16, rest, 0));
            name.* = rest[2..end];
            rest = rest[end..];
        }
        return .{ .input = in, .len = n, .context = try json.parse(a, object), .names = names, .edits = Edits.init(a) };
    }
    /// The header of a message.
    pub fn row(t: *const Table, index: usize) Row {
        if (index >= t.len) @panic("there is no such message");
        const r = t.input[32 + index * 32 ..][0..32];
        const pair = read(u32, r, 12);
        return .{
            .role = if (r[0] >= 1 and r[0] <= 7) @enumFromInt(r[0]) else .other,
            .is_error = r[1] & 1 != 0,
            .has_image = r[1] & 2 != 0,
            .has_tool_call = r[1] & 4 != 0,
            .has_thinking = r[1] & 8 != 0,
            .display = r[1] & 16 != 0,
            .name = t.names[read(u16, r, 2)],
            .text_bytes = read(u32, r, 4),
            .encoded_bytes = read(u32, r, 8),
            .pair = if (pair == 0xffffffff) null else pair,
            .id = read(u64, r, 16),
            .time = @bitCast(read(u64, r, 24)),
        };
    }
    /// The body of a message, read from the host.
    pub fn message(t: *const Table, index: usize) !Value {
        if (index >= t.len) @panic("there is no such message");
        const a = t.edits.drops.allocator;
        return json.parse(a, try weir.readAll(a, host.weir_message_read, .{@as(u32, @intCast(index))}));
    }
};

/// A number of the host, the lowest byte first.
fn read(comptime T: type, b: []const u8, at: usize) T {
    return @bitCast(b[at..][0..@sizeOf(T)].*);
}

fn part(in: []const u8, at: usize) ![]const u8 {
    const from: usize = read(u32, in, at);
    const len: usize = read(u32, in, at + 4);
    if (from > in.len or len > in.len - from) return weir.fail("the table of the context is damaged");
    return in[from..][0..len];
}

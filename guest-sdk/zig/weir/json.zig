//! JSON, read in place and written as text.
//!
//! The reader checks and indexes a document in one pass over its UTF-8; strings are decoded when they are asked for. It is strict: valid
//! JSON, valid UTF-8, whole surrogate pairs, nothing behind the document, 64 levels at most. Of a key that stands twice in an object the
//! last one counts, as for the tool that will read the arguments.

const std = @import("std");
const Allocator = std.mem.Allocator;

/// What a value is.
pub const Kind = enum { absent, null, bool, number, string, array, object };

/// The deepest nesting that is read, the same as the host's.
pub const max_depth = 64;

/// A value, or the key of one, in the order of the text. A member of an object is two nodes: its key, and its value.
const Node = struct {
    text: []const u8,
    /// How many nodes it takes up, itself included.
    span: u32,
    kind: Kind,
    /// Of a string: it has escapes.
    escaped: bool,
};

/// A JSON value. It is valid until the handler returns. What is asked of a value of another kind, or of one that is not there, is
/// answered with the default.
pub const Value = struct {
    /// This value's nodes; none when it is not there.
    nodes: []const Node,
    /// Where decoded strings are put.
    allocator: Allocator,

    pub fn kind(v: Value) Kind {
        return if (v.nodes.len == 0) .absent else v.nodes[0].kind;
    }
    /// Whether it is there; null is.
    pub fn exists(v: Value) bool {
        return v.nodes.len > 0;
    }
    /// The JSON text, as it was received; "" when it is not there.
    pub fn json(v: Value) []const u8 {
        return if (v.nodes.len == 0) "" else v.nodes[0].text;
    }
    /// The decoded text of a string, null otherwise.
    pub fn string(v: Value) ?[]const u8 {
        if (v.kind() != .string) return null;
        return decode(v.allocator, v.nodes[0]);
    }
    /// The decoded text of a string, otherwise "".
    pub fn text(v: Value) []const u8 {
        return v.string() orelse "";
    }
    /// Whether it is the string s.
    pub fn is(v: Value, s: []const u8) bool {
        return v.kind() == .string and same(v.allocator, v.nodes[0], s);
    }
    /// The value of a boolean.
    pub fn boolean(v: Value, otherwise: bool) bool {
        return if (v.kind() == .bool) v.json().len == 4 else otherwise;
    }
    /// The value of a number that is written as a whole one and fits 64 bits.
    pub fn int(v: Value) ?i64 {
        if (v.kind() != .number) return null;
        return std.fmt.parseInt(i64, v.json(), 10) catch null;
    }
    /// The value of a number; infinite when it is too large for a double.
    pub fn number(v: Value) ?f64 {
        if (v.kind() != .number) return null;
        return std.fmt.parseFloat(f64, v.json()) catch null;
    }
    /// A member of an object.
    pub fn get(v: Value, key: []const u8) Value {
        var hit = v.none();
        var members = v.fields();
        while (members.next()) |m| {
            if (m.is(key)) hit = m.value;
        }
        return hit;
    }
    /// The members of an object in their order; a key that stands twice comes twice.
    pub fn fields(v: Value) Fields {
        return .{ .rest = if (v.kind() == .object) v.nodes[1..] else &.{}, .allocator = v.allocator };
    }
    /// The elements of an array.
    pub fn elements(v: Value) Elements {
        return .{ .rest = if (v.kind() == .array) v.nodes[1..] else &.{}, .allocator = v.allocator };
    }

    fn none(v: Value) Value {
        return .{ .nodes = &.{}, .allocator = v.allocator };
    }
};

pub const Elements = struct {
    rest: []const Node,
    allocator: Allocator,

    pub fn next(e: *Elements) ?Value {
        if (e.rest.len == 0) return null;
        const span = e.rest[0].span;
        const v = Value{ .nodes = e.rest[0..span], .allocator = e.allocator };
        e.rest = e.rest[span..];
        return v;
    }
};

pub const Field = struct {
    name: Node,
    value: Value,

    /// The decoded key.
    pub fn key(f: Field) []const u8 {
        return decode(f.value.allocator, f.name);
    }
    /// Whether the key is s.
    pub fn is(f: Field, s: []const u8) bool {
        return same(f.value.allocator, f.name, s);
    }
};

pub const Fields = struct {
    rest: []const Node,
    allocator: Allocator,

    pub fn next(f: *Fields) ?Field {
        if (f.rest.len == 0) return null;
        const span = f.rest[1].span;
        const field = Field{ .name = f.rest[0], .value = .{ .nodes = f.rest[1 .. 1 + span], .allocator = f.allocator } };
        f.rest = f.rest[1 + span ..];
        return field;
    }
};

/// Why a document is refused.
pub const Error = error{ EndsEarly, NotJson, InvalidUtf8, HalfSurrogatePair, NestedTooDeeply, TextBehindTheDocument, OutOfMemory };

const Parser = struct {
    text: []const u8,
    at: usize = 0,
    nodes: []Node,
    count: usize = 0,
    allocator: Allocator,

    fn white(p: *Parser) void {
        while (p.at < p.text.len) : (p.at += 1) {
            switch (p.text[p.at]) {
                ' ', '\n', '\r', '\t' => {},
                else => return,
            }
        }
    }
    /// The next byte, or what no document has in that place.
    fn peek(p: *Parser) u8 {
        return if (p.at < p.text.len) p.text[p.at] else 0;
    }
    fn add(p: *Parser, kind: Kind) Error!usize {
        if (p.count == p.nodes.len) {
            const more = try p.allocator.alloc(Node, p.nodes.len * 2);
            @memcpy(more[0..p.nodes.len], p.nodes);
            p.nodes = more;
        }
        p.nodes[p.count] = .{ .text = p.text[p.at..], .span = 1, .kind = kind, .escaped = false };
        p.count += 1;
        return p.count - 1;
    }
    /// Sets where the text of a node ends.
    fn end(p: *Parser, node: usize) void {
        const start = @intFromPtr(p.nodes[node].text.ptr) - @intFromPtr(p.text.ptr);
        p.nodes[node].text = p.text[start..p.at];
        p.nodes[node].span = @intCast(p.count - node);
    }
    fn word(p: *Parser, comptime w: []const u8) Error!void {
        if (!std.mem.startsWith(u8, p.text[p.at..], w)) return error.NotJson;
        p.at += w.len;
    }
    fn digits(p: *Parser) Error!void {
        if (p.peek() < '0' or p.peek() > '9') return error.NotJson;
        while (p.peek() >= '0' and p.peek() <= '9') p.at += 1;
    }
    fn number(p: *Parser) Error!void {
        if (p.peek() == '-') p.at += 1;
        if (p.peek() == '0') p.at += 1 else try p.digits();
        if (p.peek() == '.') {
            p.at += 1;
            try p.digits();
        }
        if (p.peek() == 'e' or p.peek() == 'E') {
            p.at += 1;
            if (p.peek() == '+' or p.peek() == '-') p.at += 1;
            try p.digits();
        }
    }
    fn hex4(p: *Parser) Error!u32 {
        if (p.text.len - p.at < 4) return error.EndsEarly;
        const v = hex(p.text[p.at..][0..4]) orelse return error.NotJson;
        p.at += 4;
        return v;
    }
    fn string(p: *Parser, node: usize) Error!void {
        p.at += 1;
        while (true) {
            p.at += plainRun(p.text[p.at..]);
            if (p.at >= p.text.len) return error.EndsEarly;
            const c = p.text[p.at];
            if (c == '"') break;
            if (c < 0x20) return error.NotJson;
            if (c >= 0x80) {
                const n = sequence(p.text[p.at..]);
                if (n == 0) return error.InvalidUtf8;
                p.at += n;
                continue;
            }
            p.nodes[node].escaped = true;
            p.at += 2;
            if (p.at > p.text.len) return error.EndsEarly;
            switch (p.text[p.at - 1]) {
                '"', '\\', '/', 'b', 'f', 'n', 'r', 't' => {},
                'u' => {
                    const high = try p.hex4();
                    if (high < 0xd800 or high > 0xdfff) continue;
                    if (high > 0xdbff or !std.mem.startsWith(u8, p.text[p.at..], "\\u")) return error.HalfSurrogatePair;
                    p.at += 2;
                    const low = try p.hex4();
                    if (low < 0xdc00 or low > 0xdfff) return error.HalfSurrogatePair;
                },
                else => return error.NotJson,
            }
        }
        p.at += 1;
        p.end(node);
    }
};

/// Reads one document. The text must stay as it is for as long as values are used.
pub fn parse(allocator: Allocator, text: []const u8) Error!Value {
    var p = Parser{ .text = text, .nodes = try allocator.alloc(Node, 64), .allocator = allocator };
    var open: [max_depth]usize = undefined;
    var depth: usize = 0;
    var key = false;
    while (true) {
        // A value, or the key of one.
        p.white();
        if (p.at >= text.len) return error.EndsEarly;
        const c = text[p.at];
        if (key) {
            if (c != '"') return error.NotJson;
            try p.string(try p.add(.string));
            p.white();
            try p.word(":");
            key = false;
            continue;
        }
        if (c == '{' or c == '[') {
            if (depth == max_depth) return error.NestedTooDeeply;
            open[depth] = try p.add(if (c == '{') .object else .array);
            depth += 1;
            p.at += 1;
            p.white();
            if (p.peek() != closing(c)) {
                key = c == '{';
                continue;
            }
        } else {
            const node = try p.add(switch (c) {
                '"' => .string,
                't', 'f' => .bool,
                'n' => .null,
                else => .number,
            });
            switch (c) {
                '"' => try p.string(node),
                't' => try p.word("true"),
                'f' => try p.word("false"),
                'n' => try p.word("null"),
                else => try p.number(),
            }
            p.end(node);
        }
        // What follows it: closing brackets, then a comma or the end.
        while (true) {
            p.white();
            if (depth == 0) {
                if (p.at < text.len) return error.TextBehindTheDocument;
                return .{ .nodes = p.nodes[0..p.count], .allocator = allocator };
            }
            if (p.at >= text.len) return error.EndsEarly;
            const container = open[depth - 1];
            const object = p.nodes[container].kind == .object;
            const f = text[p.at];
            p.at += 1;
            if (f == ',') {
                key = object;
                break;
            }
            if (f != closing(if (object) '{' else '[')) return error.NotJson;
            p.end(container);
            depth -= 1;
        }
    }
}

fn closing(bracket: u8) u8 {
    return if (bracket == '{') '}' else ']';
}

fn hex(four: *const [4]u8) ?u32 {
    var v: u32 = 0;
    for (four) |c| {
        const d = switch (c) {
            '0'...'9' => c - '0',
            'a'...'f' => c - 'a' + 10,
            'A'...'F' => c - 'A' + 10,
            else => return null,
        };
        v = v << 4 | d;
    }
    return v;
}

/// How many bytes need no attention in a string: not '"', '\', below 0x20 or above 0x7f.
fn plainRun(s: []const u8) usize {
    const ones: u64 = 0x0101010101010101;
    const high: u64 = 0x8080808080808080;
    var i: usize = 0;
    while (s.len - i >= 8) : (i += 8) {
        const x: u64 = @bitCast(s[i..][0..8].*);
        // A borrow can only mark bytes above a true hit, and a byte above 0x7f is a hit itself: the lowest mark is exact.
        const hit = ((x -% ones *% 0x20) | ((x ^ (ones *% '"')) -% ones) | ((x ^ (ones *% '\\')) -% ones) | x) & high;
        if (hit != 0) return i + (@ctz(hit) >> 3);
    }
    while (i < s.len and s[i] != '"' and s[i] != '\\' and s[i] >= 0x20 and s[i] < 0x80) i += 1;
    return i;
}

/// The length of the well-formed UTF-8 sequence that s begins with, or 0: overlong, a surrogate, too large, cut off.
fn sequence(s: []const u8) usize {
    const n: usize = switch (s[0]) {
        0...0x7f => return 1,
        0xc2...0xdf => 2,
        0xe0...0xef => 3,
        0xf0...0xf4 => 4,
        else => return 0,
    };
    if (s.len < n) return 0;
    for (s[1..n]) |c| if (c & 0xc0 != 0x80) return 0;
    const bad = switch (s[0]) {
        0xe0 => s[1] < 0xa0,
        0xed => s[1] > 0x9f,
        0xf0 => s[1] < 0x90,
        0xf4 => s[1] > 0x8f,
        else => false,
    };
    return if (bad) 0 else n;
}

fn same(allocator: Allocator, node: Node, s: []const u8) bool {
    if (!node.escaped) return std.mem.eql(u8, node.text[1 .. node.text.len - 1], s);
    return std.mem.eql(u8, decode(allocator, node), s);
}

/// The text of a checked string; without a copy when it has no escapes.
fn decode(allocator: Allocator, node: Node) []const u8 {
    const s = node.text[1 .. node.text.len - 1];
    if (!node.escaped) return s;
    // An escape is never shorter than what it stands for.
    const out = allocator.alloc(u8, s.len) catch @panic("out of memory");
    var n: usize = 0;
    var i: usize = 0;
    while (i < s.len) {
        if (s[i] != '\\') {
            out[n] = s[i];
            n += 1;
            i += 1;
            continue;
        }
        const c = s[i + 1];
        i += 2;
        if (c == 'u') {
            var u = hex(s[i..][0..4]).?;
            i += 4;
            if (u >= 0xd800 and u < 0xdc00) {
                u = 0x10000 + ((u & 0x3ff) << 10 | (hex(s[i + 2 ..][0..4]).? & 0x3ff));
                i += 6;
            }
            n += encode(u, out[n..]);
            continue;
        }
        out[n] = switch (c) {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => 8,
            'f' => 12,
            else => c,
        };
        n += 1;
    }
    return out[0..n];
}

fn encode(u: u32, out: []u8) usize {
    if (u < 0x80) {
        out[0] = @intCast(u);
        return 1;
    }
    const n: usize = if (u < 0x800) 2 else if (u < 0x10000) 3 else 4;
    var left = u;
    var i = n - 1;
    while (i > 0) : (i -= 1) {
        out[i] = 0x80 | @as(u8, @intCast(left & 63));
        left >>= 6;
    }
    const lead = [_]u8{ 0, 0, 0xc0, 0xe0, 0xf0 };
    out[0] = lead[n] | @as(u8, @intCast(left));
    return n;
}

/// A growing text. As a writer of JSON it sets the commas; keys, brackets and values must come in order. Memory that cannot be had is
/// a panic, and so a fault.
pub const Writer = struct {
    allocator: Allocator,
    buffer: []u8 = &.{},
    len: usize = 0,
    comma: bool = false,

    /// What has been written so far.
    pub fn written(w: *const Writer) []const u8 {
        return w.buffer[0..w.len];
    }
    /// Appends bytes as they are.
    pub fn add(w: *Writer, bytes: []const u8) void {
        if (w.buffer.len - w.len < bytes.len) {
            const more = w.allocator.alloc(u8, @max(w.buffer.len * 2, w.len + bytes.len + 64)) catch @panic("out of memory");
            @memcpy(more[0..w.len], w.written());
            w.buffer = more;
        }
        @memcpy(w.buffer[w.len..][0..bytes.len], bytes);
        w.len += bytes.len;
    }
    /// Appends a whole number in decimal.
    pub fn addInt(w: *Writer, value: i64) void {
        var digits: [20]u8 = undefined;
        var i = digits.len;
        var left: u64 = if (value < 0) 0 -% @as(u64, @bitCast(value)) else @intCast(value);
        while (true) {
            i -= 1;
            digits[i] = '0' + @as(u8, @intCast(left % 10));
            left /= 10;
            if (left == 0) break;
        }
        if (value < 0) w.add("-");
        w.add(digits[i..]);
    }
    fn separate(w: *Writer) void {
        if (w.comma) w.add(",");
        w.comma = true;
    }
    pub fn open(w: *Writer, comptime bracket: []const u8) void {
        w.separate();
        w.add(bracket);
        w.comma = false;
    }
    pub fn close(w: *Writer, comptime bracket: []const u8) void {
        w.add(bracket);
        w.comma = true;
    }
    pub fn key(w: *Writer, name: []const u8) void {
        w.separate();
        w.quote(name);
        w.add(":");
        w.comma = false;
    }
    /// A value that is JSON already; the caller vouches for it.
    pub fn raw(w: *Writer, json: []const u8) void {
        w.separate();
        w.add(json);
    }
    pub fn string(w: *Writer, text: []const u8) void {
        w.separate();
        w.quote(text);
    }
    /// A text for people and models: without NUL, which the host would refuse.
    pub fn words(w: *Writer, text: []const u8) void {
        w.separate();
        w.quoteWith(text, "\u{fffd}");
    }
    pub fn boolean(w: *Writer, value: bool) void {
        w.raw(if (value) "true" else "false");
    }
    pub fn int(w: *Writer, value: i64) void {
        w.separate();
        w.addInt(value);
    }
    /// Members of an object.
    pub fn setRaw(w: *Writer, name: []const u8, json: []const u8) void {
        w.key(name);
        w.raw(json);
    }
    pub fn set(w: *Writer, name: []const u8, text: []const u8) void {
        w.key(name);
        w.string(text);
    }
    pub fn setWords(w: *Writer, name: []const u8, text: []const u8) void {
        w.key(name);
        w.words(text);
    }

    fn quote(w: *Writer, text: []const u8) void {
        w.quoteWith(text, "\\u0000");
    }
    /// What is no UTF-8 becomes U+FFFD, so that the text is always valid.
    fn quoteWith(w: *Writer, text: []const u8, nul: []const u8) void {
        var s = text;
        w.add("\"");
        while (s.len > 0) {
            const n = plainRun(s);
            w.add(s[0..n]);
            s = s[n..];
            if (s.len == 0) break;
            const c = s[0];
            if (c >= 0x80) {
                const length = sequence(s);
                w.add(if (length == 0) "\u{fffd}" else s[0..length]);
                s = s[@max(length, 1)..];
                continue;
            }
            s = s[1..];
            switch (c) {
                '"' => w.add("\\\""),
                '\\' => w.add("\\\\"),
                '\n' => w.add("\\n"),
                '\r' => w.add("\\r"),
                '\t' => w.add("\\t"),
                0 => w.add(nul),
                else => {
                    w.add(if (c < 16) "\\u000" else "\\u001");
                    w.add("0123456789abcdef"[c & 15 ..][0..1]);
                },
            }
        }
        w.add("\"");
    }
};

/// A text as JSON.
pub fn quoted(allocator: Allocator, text: []const u8) []const u8 {
    var w = Writer{ .allocator = allocator };
    w.quote(text);
    return w.written();
}

/// The JSON text of an object with one member set to `json`: in its place, or appended. The others keep their text.
pub fn with(object: Value, name: []const u8, json: []const u8) []const u8 {
    var w = Writer{ .allocator = object.allocator };
    var set = false;
    w.open("{");
    var members = object.fields();
    while (members.next()) |m| {
        const hit = m.is(name);
        if (hit and set) continue;
        w.raw(m.name.text);
        w.add(":");
        w.add(if (hit) json else m.value.json());
        set = set or hit;
    }
    if (!set) w.setRaw(name, json);
    w.close("}");
    return w.written();
}

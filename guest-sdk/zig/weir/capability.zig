//! What needs a grant in the set. A call that the host refuses is a reply with a refusal, not a fault.

const std = @import("std");
const host = @import("host.zig");
const json = @import("json.zig");
const weir = @import("weir.zig");
const Value = json.Value;

/// What the host answers.
pub const Reply = struct {
    /// The response, or the part of it that was asked for.
    value: Value,
    /// Why the host refused, null when it did not.
    refusal: ?[]const u8 = null,

    /// A member of the value in its place.
    pub fn part(r: Reply, key: []const u8) Reply {
        return .{ .value = r.value.get(key), .refusal = r.refusal };
    }
};

/// Makes a request that begin began and whose members are written.
pub fn call(comptime name: []const u8, comptime function: anytype, request: *json.Writer) !Reply {
    request.close("}");
    const text = request.written();
    const code = function(text.ptr, text.len);
    const a = weir.allocator();
    const response = try weir.readAll(a, host.weir_response_read, .{});
    if (code >= 0) return .{ .value = try json.parse(a, response) };
    return .{ .value = .{ .nodes = &.{}, .allocator = a }, .refusal = try std.mem.concat(a, u8, &.{ name ++ ": ", response }) };
}

pub fn begin(op: []const u8) json.Writer {
    var w = weir.writer();
    w.open("{");
    w.set("op", op);
    return w;
}

/// Texts kept with the session, 64 KiB each: the grant kv.
pub const kv = struct {
    /// The value; `value.string()` is null when there is none.
    pub fn get(key: []const u8) !Reply {
        var w = begin("get");
        w.set("key", key);
        return (try call("kv", host.weir_kv, &w)).part("value");
    }
    pub fn set(key: []const u8, value: []const u8) !Reply {
        var w = begin("set");
        w.set("key", key);
        w.set("value", value);
        return call("kv", host.weir_kv, &w);
    }
    pub fn delete(key: []const u8) !Reply {
        var w = begin("delete");
        w.set("key", key);
        return call("kv", host.weir_kv, &w);
    }
    /// The keys that start with prefix, sorted: an array.
    pub fn list(prefix: []const u8) !Reply {
        var w = begin("list");
        w.set("prefix", prefix);
        return (try call("kv", host.weir_kv, &w)).part("keys");
    }
};

/// Files below the folders of the grant read.
pub const file = struct {
    fn ask(op: []const u8, path: []const u8) !Reply {
        var w = begin(op);
        w.set("path", path);
        return call("file", host.weir_file, &w);
    }
    /// The text of a file.
    pub fn read(path: []const u8) !Reply {
        return (try ask("read", path)).part("text");
    }
    /// name, dir, size.
    pub fn stat(path: []const u8) !Reply {
        return ask("stat", path);
    }
    /// An array of what stat says of each.
    pub fn list(path: []const u8) !Reply {
        return (try ask("list", path)).part("entries");
    }
};

/// Questions to the person: the grant ui. The time of an answer does not count against the deadline.
pub const ui = struct {
    /// `value.boolean(false)`.
    pub fn confirm(title: []const u8, message: []const u8) !Reply {
        var w = begin("confirm");
        w.setWords("title", title);
        w.setWords("message", message);
        return (try call("ui", host.weir_ui, &w)).part("answer");
    }
    /// The choice; `value.string()` is null when there was none.
    pub fn select(title: []const u8, options: []const []const u8) !Reply {
        var w = begin("select");
        w.setWords("title", title);
        w.key("options");
        w.open("[");
        for (options) |o| w.string(o);
        w.close("]");
        return (try call("ui", host.weir_ui, &w)).part("answer");
    }
    /// The line; `value.string()` is null when there was none.
    pub fn input(title: []const u8, placeholder: []const u8) !Reply {
        var w = begin("input");
        w.setWords("title", title);
        w.setWords("placeholder", placeholder);
        return (try call("ui", host.weir_ui, &w)).part("answer");
    }
    /// level: info, warning, error.
    pub fn notify(message: []const u8, level: []const u8) !Reply {
        var w = begin("notify");
        w.setWords("message", message);
        w.set("level", level);
        return call("ui", host.weir_ui, &w);
    }
    /// Shows a text of this extension in the status line; "" removes it.
    pub fn status(text: []const u8) !Reply {
        var w = begin("status");
        w.setWords("text", text);
        return call("ui", host.weir_ui, &w);
    }
};

/// A file of records that nobody can change unseen: the grant journal.
pub const journal = struct {
    /// record is a JSON object. Answers seq and hash once it is on the disk.
    pub fn append(record: []const u8) !Reply {
        var w = begin("append");
        w.setRaw("record", record);
        return call("journal", host.weir_journal, &w);
    }
};

/// Requests to what the grant http names.
pub const http = struct {
    pub const Request = struct {
        method: []const u8 = "GET",
        url: []const u8,
        headers: []const Header = &.{},
        body: []const u8 = "",
    };
    pub const Header = struct { name: []const u8, value: []const u8 };

    /// A response of any status.
    pub const Response = struct {
        refusal: ?[]const u8 = null,
        status: i64 = 0,
        /// An object; names are in lower case.
        headers: Value,
        body: []const u8 = "",
    };

    pub fn send(r: Request) !Response {
        const base64 = std.base64.standard;
        const a = weir.allocator();
        var w = begin("request");
        w.set("method", r.method);
        w.set("url", r.url);
        w.key("headers");
        w.open("{");
        for (r.headers) |h| w.set(h.name, h.value);
        w.close("}");
        w.set("body", base64.Encoder.encode(try a.alloc(u8, base64.Encoder.calcSize(r.body.len)), r.body));
        const reply = try call("http", host.weir_http, &w);
        if (reply.refusal) |why| return .{ .refusal = why, .headers = reply.value };
        const encoded = reply.value.get("body").text();
        const body = try a.alloc(u8, try base64.Decoder.calcSizeForSlice(encoded));
        try base64.Decoder.decode(body, encoded);
        return .{ .status = reply.value.get("status").int() orelse 0, .headers = reply.value.get("headers"), .body = body };
    }
};

/// Extism's variables: texts that live as long as the instance. They need no grant.
pub const vars = struct {
    const env = host.env;

    fn put(text: []const u8) u64 {
        const at = env.alloc(text.len);
        for (text, 0..) |c, i| env.store_u8(at + i, c);
        return at;
    }
    /// null when there is none.
    pub fn get(key: []const u8) !?[]const u8 {
        const name = put(key);
        defer env.free(name);
        const at = env.var_get(name);
        if (at == 0) return null;
        defer env.free(at);
        const text = try weir.allocator().alloc(u8, @intCast(env.length(at)));
        for (text, 0..) |*c, i| c.* = @truncate(env.load_u8(at + i));
        return text;
    }
    pub fn set(key: []const u8, value: []const u8) void {
        const name = put(key);
        defer env.free(name);
        const at = put(value);
        defer env.free(at);
        env.var_set(name, at);
    }
};

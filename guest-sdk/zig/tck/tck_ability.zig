//! What the guest of the tck asks the host.
const std = @import("std");
const weir = @import("weir/weir.zig");
const Reply = @import("weir/capability.zig").Reply;

fn eql(a: []const u8, b: []const u8) bool {
    return std.mem.eql(u8, a, b);
}

fn concat(parts: []const []const u8) ![]const u8 {
    return std.mem.concat(weir.allocator(), u8, parts);
}

/// The texts of an array.
pub fn join(v: weir.json.Value, separator: []const u8) ![]const u8 {
    var w = weir.writer();
    var elements = v.elements();
    var some = false;
    while (elements.next()) |e| {
        if (some) w.add(separator);
        w.add(e.text());
        some = true;
    }
    return w.written();
}

/// null when nothing is asked.
pub fn ask(what: []const u8, call: weir.ToolCall) !?[]const u8 {
    const op = call.text("op");
    if (eql(what, "kv")) {
        const key = call.text("key");
        if (eql(op, "get")) return try chosen(try weir.kv.get(key));
        if (eql(op, "set")) return try ok(try weir.kv.set(key, call.text("value")));
        if (eql(op, "delete")) return try ok(try weir.kv.delete(key));
        const r = try weir.kv.list(call.text("prefix"));
        return if (r.refusal) |why| try refused(why) else try join(r.value, ",");
    }
    if (eql(what, "http")) {
        const r = try weir.http.send(.{
            .method = call.text("method"),
            .url = call.text("url"),
            .headers = &.{.{ .name = "x-tck", .value = call.text("header") }},
            .body = call.text("body"),
        });
        if (r.refusal) |why| return try refused(why);
        var w = weir.writer();
        w.addInt(r.status);
        for ([_][]const u8{ " ", r.headers.get("x-tck").text(), " ", r.body }) |part| w.add(part);
        return w.written();
    }
    if (eql(what, "file")) return try look(op, call.text("path"));
    if (eql(what, "ui")) return try person(op, call);
    if (eql(what, "session")) {
        const r = try weir.session.request(op, &.{.{ .key = call.text("key"), .json = weir.quote(call.text("value")) }});
        return if (r.refusal) |why| try refused(why) else r.value.json();
    }
    if (eql(what, "journal")) {
        const r = try weir.journal.append(call.arg("record").json());
        if (r.refusal) |why| return try refused(why);
        return try concat(&.{ r.value.get("seq").json(), " ", r.value.get("hash").text() });
    }
    if (eql(what, "var")) {
        if (eql(op, "get")) return try weir.vars.get(call.text("key")) orelse "none";
        weir.vars.set(call.text("key"), call.text("value"));
        return "ok";
    }
    return null;
}

fn look(op: []const u8, path: []const u8) ![]const u8 {
    const r = try if (eql(op, "read")) weir.file.read(path) else if (eql(op, "stat")) weir.file.stat(path) else weir.file.list(path);
    if (r.refusal) |why| return refused(why);
    if (eql(op, "read")) return r.value.text();
    if (eql(op, "stat")) {
        const what = if (r.value.get("dir").boolean(false)) " dir " else " file ";
        return concat(&.{ r.value.get("name").text(), what, r.value.get("size").json() });
    }
    var w = weir.writer();
    var entries = r.value.elements();
    while (entries.next()) |e| {
        if (w.len > 0) w.add(",");
        w.add(e.get("name").text());
    }
    return w.written();
}

fn person(op: []const u8, call: weir.ToolCall) ![]const u8 {
    const title = call.text("title");
    if (eql(op, "confirm")) {
        const r = try weir.ui.confirm(title, call.text("message"));
        if (r.refusal) |why| return refused(why);
        return if (r.value.boolean(false)) "true" else "false";
    }
    if (eql(op, "select")) {
        var options: [10][]const u8 = undefined;
        var n: usize = 0;
        var list = call.arg("options").elements();
        while (list.next()) |o| : (n += 1) options[n] = o.text();
        return chosen(try weir.ui.select(title, options[0..n]));
    }
    if (eql(op, "input")) return chosen(try weir.ui.input(title, call.text("placeholder")));
    if (eql(op, "notify")) return ok(try weir.ui.notify(call.text("message"), call.text("level")));
    return ok(try weir.ui.status(call.text("text")));
}

fn refused(why: []const u8) ![]const u8 {
    return concat(&.{ "refused: ", why });
}
fn ok(r: Reply) ![]const u8 {
    return if (r.refusal) |why| refused(why) else "ok";
}
fn chosen(r: Reply) ![]const u8 {
    return if (r.refusal) |why| refused(why) else r.value.string() orelse "none";
}

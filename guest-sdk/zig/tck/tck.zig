//! The guest that shows that the SDK does what an SDK must: guest-sdk/tck/SPEC.md says what each name in it does.
const std = @import("std");
const weir = @import("weir/weir.zig");
const ability = @import("tck_ability.zig");
const facts = @import("tck_facts.zig");
const Value = weir.json.Value;

pub const panic = weir.panic;

comptime {
    weir.extension(.{
        .name = "tck",
        .version = "1.0.0",
        .description = "Does what it is told, to show what the SDK can do.",
        .config = "{\"type\":\"object\",\"properties\":{\"greeting\":{\"type\":\"string\"},\"limit\":{\"type\":\"integer\"}}}",
        .capabilities = .{
            .kv = "to keep a value",
            .http = "to ask a server",
            .read = "to read a file",
            .ui = "to ask a person",
            .session = "to ask the session",
            .journal = "to keep a record",
        },
        .tool_call = .{ .handler = decide, .tools = .{ "tck_*", "bash" }, .facts = .{ "shell", "paths", "net" } },
        .tool_result = .{ .handler = edit, .on_error = .block, .facts = .{"secrets"} },
        .context = .{ .handler = prune, .view = .table },
        .input = .{ .handler = typed },
        .before_provider_headers = .{ .handler = headers },
        .agent_start = .{ .handler = started },
        .turn_end = .{ .handler = turned },
        .decision = .{ .handler = decided },
        .add_tools = .{.{
            .name = "tck_upper",
            .label = "Upper",
            .description = "Returns the text in capitals.",
            .execution_mode = .parallel,
            .parameters = "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"},\"do\":{\"type\":\"string\"}},\"required\":[\"text\"]}",
            .handler = upper,
        }},
        .add_commands = .{.{ .name = "tck", .description = "Says what it was given.", .handler = command }},
    });
}

var counted: i64 = 0;
var taken: usize = 0;

fn eql(a: []const u8, b: []const u8) bool {
    return std.mem.eql(u8, a, b);
}

fn decide(call: weir.ToolCall) !weir.Decision {
    const what = call.text("do");
    const text = call.text("text");
    if (eql(what, "block")) return weir.block(text);
    if (eql(what, "terminate")) return weir.terminate(text);
    if (eql(what, "ask")) return weir.ask(text, call.text("message"));
    if (eql(what, "rewrite")) return weir.rewrite(weir.json.with(call.input(), "text", weir.quote(call.text("to"))));
    if (eql(what, "fail")) return weir.fail(text);
    if (eql(what, "panic")) @panic(text);
    if (eql(what, "loop")) while (true) {
        @as(*volatile i64, &counted).* += 1;
    };
    if (eql(what, "memory")) while (true) {
        taken += (try weir.allocator().alloc(u8, 1 << 20)).len;
    };
    if (eql(what, "log")) {
        for ([_]weir.Level{ .debug, .info, .warn, .err }) |level| weir.log(level, text);
        return weir.allow;
    }
    if (try value(what, call)) |answer| return weir.block(answer);
    if (try ability.ask(what, call)) |answer| return weir.block(answer);
    return weir.allow;
}

/// What reads an argument or the event; null when nothing is asked.
fn value(what: []const u8, call: weir.ToolCall) !?[]const u8 {
    const v = call.arg("value");
    var w = weir.writer();
    if (eql(what, "hex")) {
        for (call.text("text")) |c| w.add(&std.fmt.bytesToHex([1]u8{c}, .lower));
    } else if (eql(what, "kind")) {
        w.add(@tagName(v.kind()));
    } else if (eql(what, "join")) {
        return try ability.join(v, ",");
    } else if (eql(what, "keys")) {
        var members = v.fields();
        var i: usize = 0;
        while (members.next()) |m| : (i += 1) {
            if (known(v, m.key(), i)) continue;
            if (w.len > 0) w.add(",");
            w.add(m.key());
        }
    } else if (eql(what, "depth")) {
        w.addInt(depth(v));
    } else if (eql(what, "integer")) {
        if (v.int()) |n| w.addInt(n) else w.add("none");
    } else if (eql(what, "number")) {
        const bits: u64 = @bitCast(v.number() orelse std.math.nan(f64));
        w.add(&std.fmt.bytesToHex(std.mem.toBytes(@byteSwap(bits)), .lower));
    } else if (eql(what, "config")) {
        w.add(weir.config().get("greeting").string() orelse "none");
    } else if (eql(what, "settings")) {
        w.add(weir.config().json());
    } else if (eql(what, "count")) {
        counted += 1;
        w.addInt(counted);
    } else if (eql(what, "where")) {
        const c = call.context();
        const has = if (c.get("hasUI").boolean(false)) "true" else "false";
        for ([_][]const u8{ c.get("cwd").text(), " ", c.get("mode").text(), " ", has, " ", c.get("model").get("id").text(), " " }) |part| w.add(part);
        w.addInt(c.get("turnIndex").int() orelse -1);
    } else if (eql(what, "call")) {
        for ([_][]const u8{ call.toolName(), " ", call.id() }) |part| w.add(part);
    } else if (eql(what, "recheck")) {
        w.add(if (call.recheck()) "yes" else "no");
    } else if (eql(what, "facts")) {
        return facts.answer(call.facts(), call.text("of"));
    } else if (eql(what, "large")) {
        var left = call.arg("count").int() orelse 0;
        while (left > 0) : (left -= 1) w.add(call.text("text"));
    } else {
        return null;
    }
    return w.written();
}

/// Whether one of the first members of an object has this key.
fn known(v: Value, key: []const u8, first: usize) bool {
    var members = v.fields();
    for (0..first) |_| if (members.next().?.is(key)) return true;
    return false;
}

fn depth(v: Value) i64 {
    var deepest: i64 = 0;
    var elements = v.elements();
    while (elements.next()) |e| deepest = @max(deepest, depth(e));
    var members = v.fields();
    while (members.next()) |m| deepest = @max(deepest, depth(m.value));
    return if (v.kind() == .array or v.kind() == .object) deepest + 1 else 0;
}

fn masked(text: []const u8) []const u8 {
    return std.mem.replaceOwned(u8, weir.allocator(), text, "secret", "******") catch @panic("out of memory");
}

fn edit(r: weir.ToolResult) !weir.ResultEdit {
    const what = r.input().get("do").text();
    const text = r.input().get("text").text();
    if (eql(what, "content")) return .{ .content = weir.textContent(text) };
    if (eql(what, "mask")) return .{ .content = r.mapText(masked) };
    if (eql(what, "facts")) return .{ .content = weir.textContent(facts.answer(r.facts(), "secrets")) };
    if (eql(what, "error")) return .{ .is_error = true };
    if (eql(what, "replace")) {
        var details = weir.writer();
        details.open("{");
        details.setRaw("was", if (r.details().exists()) r.details().json() else "null");
        details.close("}");
        return .{ .content = weir.textContent(text), .details = details.written(), .is_error = !r.isError(), .usage = r.input().get("usage").json() };
    }
    if (eql(what, "fail")) return weir.fail(text);
    if (eql(what, "panic")) @panic(text);
    return weir.keep;
}

fn typed(e: weir.Event) !weir.Result {
    const text = e.get("text").text();
    const prefix = "transform: ";
    if (std.mem.startsWith(u8, text, prefix)) return weir.transform(text[prefix.len..]);
    if (eql(text, "handled")) return weir.handled;
    if (eql(text, "fail")) return weir.fail("as told");
    return weir.none;
}

fn headers(e: weir.Event) weir.Result {
    if (!e.get("headers").get("x-drop").exists()) return weir.none;
    return .{ .answer = "{\"headers\":{\"x-tck\":\"yes\",\"x-drop\":null}}" };
}

fn started(_: weir.Event) weir.Result {
    weir.log(.info, "agent_start");
    return weir.none;
}

fn turned(e: weir.Event) weir.Result {
    if (e.get("message").get("do").is("panic")) @panic("as told");
    var w = weir.writer();
    w.add("turn ");
    w.addInt(e.get("turnIndex").int() orelse -1);
    weir.log(.info, w.written());
    return weir.none;
}

fn decided(e: weir.Event) !weir.Result {
    var w = weir.writer();
    const by = try ability.join(e.get("by"), ",");
    for ([_][]const u8{ "decision of ", e.get("event").text(), ": ", e.get("decision").text(), " by ", by }) |part| w.add(part);
    weir.log(.info, w.written());
    return weir.none;
}

fn prune(t: *weir.Table) !void {
    for (0..t.len) |i| {
        const m = t.row(i);
        if (m.role != .custom) continue;
        if (eql(m.name, "drop") or eql(m.name, "twice")) t.edits.drop(i);
        if (eql(m.name, "twice")) t.edits.drop(i);
        if (eql(m.name, "replace")) t.edits.replace(i, try content(t, i, "replaced"));
        if (eql(m.name, "roles")) t.edits.replace(i, try content(t, i, lines(t, false)));
        if (eql(m.name, "headers")) t.edits.replace(i, try content(t, i, lines(t, true)));
        if (eql(m.name, "insert")) t.edits.insert(i, "{\"role\":\"user\",\"content\":\"inserted\",\"timestamp\":0}");
        if (eql(m.name, "append")) t.edits.insert(t.len, "{\"role\":\"user\",\"content\":\"appended\",\"timestamp\":0}");
        if (eql(m.name, "fail")) return weir.fail("as told");
        if (eql(m.name, "panic")) @panic("as told");
    }
}

/// A message with another content.
fn content(t: *weir.Table, index: usize, text: []const u8) ![]const u8 {
    return weir.json.with(try t.message(index), "content", weir.quote(text));
}

/// The roles of all messages, or a line of headers each.
fn lines(t: *weir.Table, all: bool) []const u8 {
    var w = weir.writer();
    for (0..t.len) |i| {
        const m = t.row(i);
        if (i > 0) w.add(if (all) "\n" else ",");
        w.add(m.role.name());
        if (!all) continue;
        w.add(" ");
        const before = w.len;
        if (m.is_error) w.add("e");
        if (m.has_image) w.add("i");
        if (m.has_tool_call) w.add("c");
        if (m.has_thinking) w.add("t");
        if (m.display) w.add("d");
        if (w.len == before) w.add("-");
        w.add(" ");
        w.add(if (m.name.len > 0) m.name else "-");
        for ([_]i64{ m.text_bytes, m.encoded_bytes }) |n| {
            w.add(" ");
            w.addInt(n);
        }
        w.add(" ");
        if (m.pair) |p| w.addInt(p) else w.add("-");
        for ([_]i64{ @intCast(m.id), m.time }) |n| {
            w.add(" ");
            w.addInt(n);
        }
    }
    return w.written();
}

fn upper(run: weir.ToolRun) !weir.ToolOutput {
    const what = run.args().get("do").text();
    const text = run.args().get("text").text();
    const capitals = try std.ascii.allocUpperString(weir.allocator(), text);
    var out = weir.ToolOutput{ .content = weir.textContent(if (eql(what, "error")) text else capitals) };
    if (eql(what, "update")) run.update("{\"content\":[{\"type\":\"text\",\"text\":\"half\"}]}");
    if (eql(what, "details")) {
        var w = weir.writer();
        w.open("{");
        w.set("tool", run.toolName());
        w.set("id", run.id());
        w.close("}");
        out.details = w.written();
    }
    out.is_error = eql(what, "error");
    out.terminate = eql(what, "terminate");
    if (eql(what, "panic")) @panic("as told");
    return out;
}

fn command(run: weir.CommandRun) !weir.Result {
    if (eql(run.args(), "fail")) return weir.fail("as told");
    if (run.args().len == 0) return weir.none;
    return weir.say(try std.mem.concat(weir.allocator(), u8, &.{ "tck: ", run.args() }));
}

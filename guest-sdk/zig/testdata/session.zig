//! Makes every request of the session and answers what came of it, a line each.
const weir = @import("weir/weir.zig");
const Reply = @import("weir/capability.zig").Reply;
const session = weir.session;

pub const panic = weir.panic;

comptime {
    weir.extension(.{ .name = "session", .version = "1.0.0", .capabilities = .{ .session = "all of it" }, .tool_call = .{ .handler = decide } });
}

fn decide(_: weir.ToolCall) !weir.Decision {
    const note = session.Message{ .custom_type = "note", .content = weir.quote("hi"), .display = true, .details = "[1]", .trigger = true, .deliver = "nextTurn" };
    const how = session.Navigation{ .summarize = true, .instructions = "i", .replace = true, .label = "l" };
    var w = weir.writer();
    for ([_]anyerror!Reply{
        session.state(),
        session.entries(.{}),
        session.entries(.{ .after = "e1", .limit = 5 }),
        session.entry("e1"),
        session.messages(.{}),
        session.messages(.{ .from = 2, .limit = 3 }),
        session.tools(),
        session.append("todo", null),
        session.append("todo", "{\"a\":1}"),
        session.label("e1", ""),
        session.name("a \"walk\""),
        session.send(.{ .custom_type = "note", .content = "[]", .trigger = true }),
        session.send(note),
        session.prompt(weir.quote("go"), ""),
        session.prompt(weir.quote("go"), "steer"),
        session.setTools(&.{}),
        session.setTools(&.{ "read", "x" }),
        session.setModel("p", "m"),
        session.setThinkingLevel("max"),
        session.abort(),
        session.compact(""),
        session.compact("short"),
        session.new(),
        session.fork("e1", .before),
        session.fork("e1", .at),
        session.navigate("e1", .{}),
        session.navigate("e1", .{ .replace = true }),
        session.navigate("e1", how),
    }) |result| {
        const r = try result;
        if (w.len > 0) w.add("\n");
        w.add(r.refusal orelse r.value.json());
    }
    return weir.block(w.written());
}

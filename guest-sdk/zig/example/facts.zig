const weir = @import("weir/weir.zig");

pub const panic = weir.panic;

comptime {
    weir.extension(.{
        .name = "no-push",
        .version = "1.0.0",
        .description = "Leaves git push to people.",
        .tool_call = .{ .handler = decide, .tools = .{"bash"}, .facts = .{"shell"} },
    });
}

fn decide(call: weir.ToolCall) !weir.Decision {
    const shell = call.facts().shell() orelse return weir.ask("Run a command of which nothing is known?", "");
    if (!shell.understood) return weir.ask("Run a command that cannot be read?", shell.reason);
    for (shell.commands) |command| {
        if (command.dynamic) return weir.ask("Run a command that is not known before it runs?", "");
        if (command.is(0, "git") and command.is(1, "push")) return weir.block("pushing is for people");
    }
    return weir.allow;
}

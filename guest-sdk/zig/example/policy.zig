const std = @import("std");
const weir = @import("weir/weir.zig");

pub const panic = weir.panic;

comptime {
    weir.extension(.{
        .name = "no-push",
        .version = "1.0.0",
        .description = "Stops git push.",
        .tool_call = .{ .handler = decide, .tools = .{"bash"} },
    });
}

fn decide(call: weir.ToolCall) !weir.Decision {
    if (std.mem.indexOf(u8, call.text("command"), "git push") != null) return weir.block("push by hand, please");
    return weir.allow;
}

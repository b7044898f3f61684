//! The guest of guest-sdk/tck/SPEC.md that has context in full.
const std = @import("std");
const weir = @import("weir/weir.zig");

pub const panic = weir.panic;

comptime {
    weir.extension(.{ .name = "tck-json", .version = "1.0.0", .context = .{ .handler = prune } });
}

fn prune(c: *weir.Context) !void {
    for (c.messages, 0..) |m, i| {
        if (!m.get("role").is("custom")) continue;
        const name = m.get("customType");
        if (name.is("drop") or name.is("twice")) c.edits.drop(i);
        if (name.is("twice")) c.edits.drop(i);
        if (name.is("replace")) c.edits.replace(i, weir.json.with(m, "content", weir.quote("replaced")));
        if (name.is("roles")) c.edits.replace(i, weir.json.with(m, "content", weir.quote(roles(c))));
        if (name.is("insert")) c.edits.insert(i, "{\"role\":\"user\",\"content\":\"inserted\",\"timestamp\":0}");
        if (name.is("append")) c.edits.insert(c.messages.len, "{\"role\":\"user\",\"content\":\"appended\",\"timestamp\":0}");
        if (name.is("fail")) return weir.fail("as told");
        if (name.is("panic")) @panic("as told");
    }
}

fn roles(c: *weir.Context) []const u8 {
    var w = weir.writer();
    for (c.messages, 0..) |m, i| {
        if (i > 0) w.add(",");
        w.add(m.get("role").text());
    }
    return w.written();
}

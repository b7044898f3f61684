//! The reader under test: shows every value of its input as the SDK reads it. And a hook that ends in different ways.
const std = @import("std");
const weir = @import("weir/weir.zig");
const json = weir.json;

pub const panic = weir.panic;

comptime {
    weir.extension(.{
        .name = "driver",
        .version = "1.0.0",
        .tool_call = .{ .handler = decide },
    });
}

fn decide(call: weir.ToolCall) !weir.Decision {
    const list = [_]u8{ 1, 2, 3 };
    if (call.arg("do").is("panic")) @panic("it is broken: é");
    if (call.arg("do").is("index")) return weir.block(list[0..@intCast(call.arg("index").int().?)]);
    if (call.arg("do").is("overflow")) return weir.block(list[0..@intCast(@mod(call.arg("index").int().? * 2, 3))]);
    if (call.arg("do").is("error")) return error.NoRules;
    if (call.arg("do").is("fail")) return weir.fail("cannot decide");
    return weir.allow;
}

/// Strings decoded and written anew, numbers as text, integer and bits, keys once.
fn show(w: *json.Writer, v: json.Value) void {
    switch (v.kind()) {
        .string => w.string(v.text()),
        .number => {
            w.open("{");
            w.set("raw", v.json());
            w.key("int");
            if (v.int()) |n| w.int(n) else w.raw("null");
            const bits: u64 = @bitCast(v.number().?);
            w.set("bits", &std.fmt.bytesToHex(std.mem.toBytes(@byteSwap(bits)), .lower));
            w.close("}");
        },
        .array => {
            w.open("[");
            var elements = v.elements();
            while (elements.next()) |e| show(w, e);
            w.close("]");
        },
        .object => {
            w.open("[");
            w.string("object");
            var members = v.fields();
            while (members.next()) |m| {
                const last = v.get(m.key());
                if (last.nodes.ptr != m.value.nodes.ptr) continue;
                w.open("[");
                w.string(m.key());
                show(w, last);
                w.close("]");
            }
            w.close("]");
        },
        else => w.raw(v.json()),
    }
}

fn read() ![]const u8 {
    const host = @import("weir/host.zig");
    weir.reset();
    const a = weir.allocator();
    var w = weir.writer();
    show(&w, try json.parse(a, try weir.readAll(a, host.weir_input_read, .{})));
    return w.written();
}

/// Exported besides the hook.
export fn read_json() i32 {
    const host = @import("weir/host.zig");
    const text = read() catch |e| {
        host.weir_error(@errorName(e).ptr, @errorName(e).len);
        return 1;
    };
    host.weir_output_write(text.ptr, text.len);
    return 0;
}

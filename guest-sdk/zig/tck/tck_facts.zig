//! What the guest of the tck says about facts.
const std = @import("std");
const weir = @import("weir/weir.zig");
const fact = weir.fact;
const Writer = weir.json.Writer;

pub fn answer(facts: weir.Facts, of: []const u8) []const u8 {
    var w = weir.writer();
    if (std.mem.eql(u8, of, "shell")) {
        const shell = facts.shell() orelse return "none";
        line(&w, &.{if (shell.understood) "understood" else shell.reason});
        for (shell.commands) |c| command(&w, c);
    } else if (std.mem.eql(u8, of, "paths")) {
        const paths = facts.paths() orelse return "none";
        line(&w, &.{dash(paths.workspace)});
        for (paths.paths) |p| {
            line(&w, &.{ p.op, " ", dash(p.kind), " ", letters("ioegd", .{ p.inside, p.own, p.exists, p.glob, p.dynamic }), " ", dash(p.real) });
        }
        if (paths.truncated) line(&w, &.{"truncated"});
    } else if (std.mem.eql(u8, of, "net")) {
        const net = facts.net() orelse return "none";
        for (net.hosts) |h| {
            line(&w, &.{ dash(h.scheme), " ", dash(h.host), " ", decimal(h.port), " ", letters("uaod", .{ h.userinfo, h.ip, h.odd, h.dynamic }), " ", dash(h.scope) });
        }
        if (net.truncated) line(&w, &.{"truncated"});
    } else {
        const secrets = facts.secrets() orelse return "none";
        for (secrets.spans) |s| span(&w, s, s.kind);
        for (secrets.base64) |s| span(&w, s, "base64");
        if (secrets.truncated) line(&w, &.{"truncated"});
    }
    return dash(w.written());
}

fn command(w: *Writer, c: fact.Command) void {
    var words = weir.writer();
    for (c.argv, 0..) |_, i| separated(&words, " ", &.{c.word(i) orelse "?"});
    var redirects = weir.writer();
    for (c.redirects) |r| separated(&redirects, ",", &.{ r.op, " ", r.target });
    var in = weir.writer();
    for (c.in) |i| separated(&in, "/", &.{i});
    const end = if (c.dynamic) " | dynamic" else "";
    line(w, &.{ dash(words.written()), " | ", dash(redirects.written()), " | ", dash(in.written()), " | ", dash(c.code), end });
}

fn span(w: *Writer, s: fact.Span, kind: []const u8) void {
    line(w, &.{ decimal(s.block), " ", decimal(s.start), " ", decimal(s.end), " ", kind });
}

fn line(w: *Writer, parts: []const []const u8) void {
    separated(w, "\n", parts);
}

fn separated(w: *Writer, separator: []const u8, parts: []const []const u8) void {
    if (w.len > 0) w.add(separator);
    for (parts) |p| w.add(p);
}

fn decimal(n: usize) []const u8 {
    var w = weir.writer();
    w.addInt(@intCast(n));
    return w.written();
}

/// Those of all that are set.
fn letters(all: []const u8, set: anytype) []const u8 {
    var w = weir.writer();
    inline for (set, 0..) |is, i| if (is) w.add(all[i .. i + 1]);
    return dash(w.written());
}

fn dash(text: []const u8) []const u8 {
    return if (text.len == 0) "-" else text;
}

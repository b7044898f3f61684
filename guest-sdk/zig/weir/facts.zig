//! What the host works out about a call before it asks. A hook is given the kinds that its option `facts` names; of the others, and
//! where the host sent none, the answer is null: treat that as a call of which nothing is known. All of it is valid until the next
//! event, and read anew at each question.

const std = @import("std");
const json = @import("json.zig");
const Value = json.Value;

/// The facts of an event.
pub const Facts = struct {
    value: Value,

    /// The commands that the text of a call would run.
    pub fn shell(f: Facts) ?Shell {
        return f.about(Shell, "shell");
    }
    /// The paths that a call names.
    pub fn paths(f: Facts) ?Paths {
        return f.about(Paths, "paths");
    }
    /// The hosts that a call names.
    pub fn net(f: Facts) ?Net {
        return f.about(Net, "net");
    }
    /// What looks like a credential in a result; a call has none.
    pub fn secrets(f: Facts) ?Secrets {
        return f.about(Secrets, "secrets");
    }
    fn about(f: Facts, comptime T: type, key: []const u8) ?T {
        const v = f.value.get(key);
        return if (v.kind() == .object) read(T, v) else null;
    }
};

pub const Shell = struct {
    /// The text was followed to its end. Otherwise `commands` are those found until then.
    understood: bool,
    /// Why it was not, otherwise "".
    reason: []const u8,
    /// Every simple command, at any depth.
    commands: []const Command,
};

/// A simple command.
pub const Command = struct {
    /// Its words as the shell would resolve them; none for a redirection or an assignment that stands alone. Those that are not known
    /// before it runs stand there as the text has them: see `word`.
    argv: []const []const u8,
    /// A word, an assignment or a target is not known.
    dynamic: bool,
    /// Indexes of the words that are not known.
    unknown: []const usize,
    /// Indexes of the words that stand for names of files.
    globs: []const usize,
    assigns: []const Assign,
    redirects: []const Redirect,
    /// The way in, outermost first: subshell, loop, sudo, "bash -c" …
    in: []const []const u8,
    /// What else runs with it: "known" (text that was read), "unknown", "file", "other" (another language), or "".
    code: []const u8,
    /// The folder it runs in where cd changed it, otherwise "".
    cwd: []const u8,
    /// That folder cannot be known.
    cwd_unknown: bool,
    /// Its pipeline, from 1; 0 outside of one.
    pipeline: usize,
    /// Its place there, from 0.
    stage: usize,
    /// Where its input comes from: pipe, file, heredoc, herestring, or "".
    stdin: []const u8,

    /// A word; null when there is none, or when it is not known before the command runs.
    pub fn word(c: Command, index: usize) ?[]const u8 {
        if (index >= c.argv.len or std.mem.indexOfScalar(usize, c.unknown, index) != null) return null;
        return c.argv[index];
    }
    /// Whether a word is known and this text. Of a command that is `dynamic`, false may only mean that nobody knows.
    pub fn is(c: Command, index: usize, text: []const u8) bool {
        return if (c.word(index)) |w| std.mem.eql(u8, w, text) else false;
    }
};

/// NAME=VALUE before a command, or alone.
pub const Assign = struct { name: []const u8, value: []const u8, dynamic: bool };

pub const Redirect = struct {
    /// As the text has it: `>`, `>>`, `<` …
    op: []const u8,
    /// null when the text names none, -1 when it is a variable.
    fd: ?i64,
    target: []const u8,
    /// The target is not known before it runs.
    dynamic: bool,
};

pub const Paths = struct {
    /// With symbolic links resolved.
    workspace: []const u8,
    paths: []const Path,
    /// There are more.
    truncated: bool,
};

/// A path. A `dynamic` one is not known before the call runs: only `raw`, `arg`, `command`, `op` and `glob` say something.
pub const Path = struct {
    /// As the argument has it.
    raw: []const u8,
    abs: []const u8,
    /// With symbolic links resolved; as far as that went, when it is `unresolved`.
    real: []const u8,
    unresolved: bool,
    /// In the workspace.
    inside: bool,
    /// A file of weir itself.
    own: bool,
    /// A folder with one.
    holds_own: bool,
    exists: bool,
    /// file, dir, symlink, fifo, socket, device, missing.
    kind: []const u8,
    /// Hard links where a file has more than one, otherwise 0.
    links: usize,
    /// read, write, list, search, delete, execute, use.
    op: []const u8,
    /// The argument it comes from.
    arg: []const u8,
    /// For the argument command, its index in `Shell.commands`.
    command: ?usize,
    /// It holds a wildcard; `abs` and `real` are of the part before.
    glob: bool,
    dynamic: bool,
};

pub const Net = struct {
    hosts: []const Host,
    /// There are more.
    truncated: bool,
};

pub const Host = struct {
    /// The text that it was found in.
    raw: []const u8,
    /// "" when there was none.
    scheme: []const u8,
    /// Lower case, punycode; an address in its usual form.
    host: []const u8,
    /// 0 when it is not known.
    port: usize,
    /// A user or a password stands before it.
    userinfo: bool,
    /// It is an address.
    ip: bool,
    /// It is one in an unusual form.
    odd: bool,
    /// public, loopback, private, linklocal, unspecified, multicast; "" for most names.
    scope: []const u8,
    /// A part is not known before the call runs.
    dynamic: bool,
};

pub const Secrets = struct {
    spans: []const Span,
    /// Encoded blocks in which no secret was looked for.
    base64: []const Span,
    /// There are more.
    truncated: bool,
};

/// The bytes from `start` to before `end` of the text of a content block.
pub const Span = struct {
    block: usize,
    start: usize,
    end: usize,
    /// What it looks like; "" in `Secrets.base64`.
    kind: []const u8,
};

/// A value as a type: of a struct each field by its name in camelCase. What is not there is false, 0, "", null or empty.
fn read(comptime T: type, v: Value) T {
    switch (T) {
        bool => return v.boolean(false),
        usize, ?usize => {
            const number = if (v.int()) |n| std.math.cast(usize, n) else null;
            return if (T == usize) number orelse 0 else number;
        },
        ?i64 => return v.int(),
        []const u8 => return v.text(),
        []const []const u8, []const usize, []const Command, []const Assign, []const Redirect, []const Path, []const Host, []const Span => {
            return list(std.meta.Elem(T), v);
        },
        else => {
            var out: T = undefined;
            inline for (std.meta.fields(T)) |f| @field(out, f.name) = read(f.type, v.get(comptime camel(f.name)));
            return out;
        },
    }
}

fn list(comptime T: type, v: Value) []const T {
    var n: usize = 0;
    var elements = v.elements();
    while (elements.next()) |_| n += 1;
    const out = v.allocator.alloc(T, n) catch @panic("out of memory");
    elements = v.elements();
    for (out) |*e| e.* = read(T, elements.next().?);
    return out;
}

/// cwd_unknown as cwdUnknown.
fn camel(comptime name: []const u8) []const u8 {
    comptime var out: []const u8 = "";
    comptime var upper = false;
    inline for (name) |c| {
        if (c != '_') out = out ++ [1]u8{if (upper) std.ascii.toUpper(c) else c};
        upper = c == '_';
    }
    return out;
}

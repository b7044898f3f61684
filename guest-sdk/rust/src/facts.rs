//! What the host works out about a call before it asks: see [`Extension::facts`](crate::Extension::facts).

use crate::json::{Kind, Value};

/// The facts of an event: the kinds that the hook asked for. A kind that it did not ask for, or that the host did not send, is
/// `None`: treat that as a call of which nothing is known. Each method reads the facts anew.
#[derive(Clone, Copy)]
pub struct Facts<'a>(Value<'a>);

/// The commands that the text of a call would run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellFacts {
    /// Whether the text was followed to its end. If not, `commands` are those found until then.
    pub understood: bool,
    /// Why it was not; "" if it was.
    pub reason: String,
    /// Every simple command, at any depth.
    pub commands: Vec<ShellCommand>,
}

/// A simple command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellCommand {
    /// Its words as the shell would resolve them, `None` for one that is not known before it runs. There are none for a redirection
    /// or an assignment that stands alone.
    pub argv: Vec<Option<String>>,
    /// A word, an assignment or a target is not known.
    pub dynamic: bool,
    /// Indexes of the words that stand for names of files.
    pub globs: Vec<usize>,
    /// NAME=VALUE before it, or alone: name, value, and whether the value is known.
    pub assigns: Vec<(String, String, bool)>,
    /// Its redirections.
    pub redirects: Vec<Redirect>,
    /// The way in, outermost first: subshell, loop, sudo, "bash -c" …
    pub within: Vec<String>,
    /// What else runs with it: "known" (text that was read), "unknown", "file", "other" (another language), or "".
    pub code: String,
    /// The folder it runs in where cd changed it, otherwise "".
    pub cwd: String,
    /// Whether that folder cannot be known.
    pub cwd_unknown: bool,
    /// Its pipeline, from 1, and its place there, from 0; 0 and 0 outside of one.
    pub pipeline: (i64, i64),
    /// Where its input comes from: pipe, file, heredoc, herestring or "".
    pub stdin: String,
}

/// A redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// As the text has it: `>`, `>>`, `<` …
    pub op: String,
    /// The descriptor; `None` when the text names none, -1 when it is a variable.
    pub fd: Option<i64>,
    /// What stands behind it.
    pub target: String,
    /// The target is not known before it runs.
    pub dynamic: bool,
}

/// The paths that a call names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathFacts {
    /// The workspace, with symbolic links resolved.
    pub workspace: String,
    /// The paths.
    pub paths: Vec<PathFact>,
    /// There are more.
    pub truncated: bool,
}

/// A path. A `dynamic` one is not known before the call runs: only `raw`, `arg`, `command`, `op` and `glob` say something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathFact {
    /// As the argument has it.
    pub raw: String,
    /// Absolute.
    pub abs: String,
    /// With symbolic links resolved.
    pub real: String,
    /// As far as that went.
    pub unresolved: bool,
    /// In the workspace.
    pub inside: bool,
    /// A file of weir itself.
    pub own: bool,
    /// A folder that holds one.
    pub holds_own: bool,
    /// Something is there.
    pub exists: bool,
    /// file, dir, symlink, fifo, socket, device or missing.
    pub kind: String,
    /// Hard links, where a file has more than one; otherwise 0.
    pub links: i64,
    /// read, write, list, search, delete, execute or use.
    pub op: String,
    /// The argument it comes from.
    pub arg: String,
    /// For the argument command, its index in [`ShellFacts::commands`].
    pub command: Option<usize>,
    /// It holds a wildcard; `abs` and `real` are of the part before it.
    pub glob: bool,
    /// It is not known before the call runs.
    pub dynamic: bool,
}

/// The hosts that a call names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetFacts {
    /// The hosts.
    pub hosts: Vec<HostFact>,
    /// There are more.
    pub truncated: bool,
}

/// A host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostFact {
    /// The text that it was found in.
    pub raw: String,
    /// "" when there was none.
    pub scheme: String,
    /// In lower case and punycode; an address in its usual form.
    pub host: String,
    /// 0 when it is not known.
    pub port: i64,
    /// A user or a password stands before it.
    pub userinfo: bool,
    /// It is an address.
    pub ip: bool,
    /// It is one in an unusual form.
    pub odd: bool,
    /// public, loopback, private, linklocal, unspecified, multicast; "" for most names.
    pub scope: String,
    /// A part is not known before the call runs.
    pub dynamic: bool,
}

/// Places in a result that look like credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretFacts {
    /// The places.
    pub spans: Vec<Span>,
    /// Encoded blocks in which no secret was looked for.
    pub base64: Vec<Span>,
    /// There are more.
    pub truncated: bool,
}

/// The bytes from `start` to before `end` of the text of a content block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The index of the block.
    pub block: i64,
    /// The first byte.
    pub start: i64,
    /// The one behind the last.
    pub end: i64,
    /// What it looks like; "" in [`SecretFacts::base64`].
    pub kind: String,
}

impl<'a> Facts<'a> {
    pub(crate) fn new(facts: Value<'a>) -> Facts<'a> {
        Facts(facts)
    }

    fn kind(&self, key: &str) -> Option<Value<'a>> {
        Some(self.0.get(key)).filter(|v| v.kind() == Kind::Object)
    }

    /// The commands of a shell text.
    pub fn shell(&self) -> Option<ShellFacts> {
        let v = self.kind("shell")?;
        let commands = v.get("commands").items().map(command).collect();
        Some(ShellFacts { understood: is(&v, "understood"), reason: text(&v, "reason"), commands })
    }

    /// The paths.
    pub fn paths(&self) -> Option<PathFacts> {
        let v = self.kind("paths")?;
        let paths = v.get("paths").items().map(|p| PathFact {
            raw: text(&p, "raw"),
            abs: text(&p, "abs"),
            real: text(&p, "real"),
            unresolved: is(&p, "unresolved"),
            inside: is(&p, "inside"),
            own: is(&p, "own"),
            holds_own: is(&p, "holdsOwn"),
            exists: is(&p, "exists"),
            kind: text(&p, "kind"),
            links: number(&p, "links"),
            op: text(&p, "op"),
            arg: text(&p, "arg"),
            command: p.get("command").as_i64().map(|n| n as usize),
            glob: is(&p, "glob"),
            dynamic: is(&p, "dynamic"),
        });
        Some(PathFacts { workspace: text(&v, "workspace"), paths: paths.collect(), truncated: is(&v, "truncated") })
    }

    /// The hosts.
    pub fn net(&self) -> Option<NetFacts> {
        let v = self.kind("net")?;
        let hosts = v.get("hosts").items().map(|h| HostFact {
            raw: text(&h, "raw"),
            scheme: text(&h, "scheme"),
            host: text(&h, "host"),
            port: number(&h, "port"),
            userinfo: is(&h, "userinfo"),
            ip: is(&h, "ip"),
            odd: is(&h, "odd"),
            scope: text(&h, "scope"),
            dynamic: is(&h, "dynamic"),
        });
        Some(NetFacts { hosts: hosts.collect(), truncated: is(&v, "truncated") })
    }

    /// What looks like a secret in a result; a call has none.
    pub fn secrets(&self) -> Option<SecretFacts> {
        let v = self.kind("secrets")?;
        Some(SecretFacts { spans: spans(&v, "spans"), base64: spans(&v, "base64"), truncated: is(&v, "truncated") })
    }
}

fn command(c: Value) -> ShellCommand {
    let unknown: Vec<i64> = c.get("unknown").items().filter_map(|i| i.as_i64()).collect();
    let word = |(i, w): (usize, Value)| if unknown.contains(&(i as i64)) { None } else { Some(w.text().into_owned()) };
    let assign = |a: Value| (text(&a, "name"), text(&a, "value"), !is(&a, "dynamic"));
    let redirect = |r: Value| Redirect { op: text(&r, "op"), fd: r.get("fd").as_i64(), target: text(&r, "target"), dynamic: is(&r, "dynamic") };
    ShellCommand {
        argv: c.get("argv").items().enumerate().map(word).collect(),
        dynamic: is(&c, "dynamic"),
        globs: c.get("globs").items().filter_map(|i| i.as_i64()).map(|i| i as usize).collect(),
        assigns: c.get("assigns").items().map(assign).collect(),
        redirects: c.get("redirects").items().map(redirect).collect(),
        within: c.get("in").items().map(|w| w.text().into_owned()).collect(),
        code: text(&c, "code"),
        cwd: text(&c, "cwd"),
        cwd_unknown: is(&c, "cwdUnknown"),
        pipeline: (number(&c, "pipeline"), number(&c, "stage")),
        stdin: text(&c, "stdin"),
    }
}

fn spans(v: &Value, key: &str) -> Vec<Span> {
    let span = |s: Value| Span { block: number(&s, "block"), start: number(&s, "start"), end: number(&s, "end"), kind: text(&s, "kind") };
    v.get(key).items().map(span).collect()
}

fn text(v: &Value, key: &str) -> String {
    v.get(key).text().into_owned()
}

fn is(v: &Value, key: &str) -> bool {
    v.get(key).as_bool() == Some(true)
}

fn number(v: &Value, key: &str) -> i64 {
    v.get(key).as_i64().unwrap_or(0)
}

// What the host works out about a call before it asks. A hook is given the kinds that it named with `facts`; of the others, and where
// the host sent none, the answer is null: treat that as a call of which nothing is known.

import { Kind } from "./scan";
import { Value } from "./value";

/** The facts of an event, valid until the handler returns. What its getters return may be kept; each of them reads anew. */
@unmanaged
export class Facts extends Value {
  /** The commands that the text of a call would run. */
  get shell(): ShellFacts | null {
    const v = this.get("shell");
    return v.kind == Kind.Object ? new ShellFacts(v) : null;
  }
  /** The paths that a call names. */
  get paths(): PathFacts | null {
    const v = this.get("paths");
    return v.kind == Kind.Object ? new PathFacts(v) : null;
  }
  /** The hosts that a call names. */
  get net(): NetFacts | null {
    const v = this.get("net");
    return v.kind == Kind.Object ? new NetFacts(v) : null;
  }
  /** What looks like a credential in a result; a call has none. */
  get secrets(): SecretFacts | null {
    const v = this.get("secrets");
    return v.kind == Kind.Object ? new SecretFacts(v) : null;
  }
}

export class ShellFacts {
  /** The text was followed to its end. Otherwise `commands` are those found until then. */
  readonly understood: bool;
  /** Why it was not, otherwise "". */
  readonly reason: string;
  /** Every simple command, at any depth. */
  readonly commands: ShellCommand[];

  constructor(v: Value) {
    this.understood = v.get("understood").bool();
    this.reason = v.get("reason").text;
    this.commands = v.get("commands").elements().map<ShellCommand>((c) => new ShellCommand(c));
  }
}

/** A simple command. */
export class ShellCommand {
  /**
   * Its words as the shell would resolve them; none for a redirection or an assignment that stands alone. Those that are not known
   * before it runs stand there as the text has them: see `word`.
   */
  readonly argv: string[];
  /** A word, an assignment or a target is not known. */
  readonly dynamic: bool;
  /** Indexes of the words that are not known. */
  readonly unknown: i32[];
  /** Indexes of the words that stand for names of files. */
  readonly globs: i32[];
  readonly assigns: ShellAssign[];
  readonly redirects: ShellRedirect[];
  /** The way in, outermost first: subshell, loop, sudo, "bash -c" … */
  readonly within: string[];
  /** What else runs with it: "known" (text that was read), "unknown", "file", "other" (another language), or "". */
  readonly code: string;
  /** The folder it runs in where cd changed it, otherwise "". */
  readonly cwd: string;
  /** That folder cannot be known. */
  readonly cwdUnknown: bool;
  /** Its pipeline, from 1; 0 outside of one. */
  readonly pipeline: i32;
  /** Its place there, from 0. */
  readonly stage: i32;
  /** Where its input comes from: pipe, file, heredoc, herestring, or "". */
  readonly stdin: string;

  constructor(v: Value) {
    this.argv = v.get("argv").texts();
    this.dynamic = v.get("dynamic").bool();
    this.unknown = v.get("unknown").elements().map<i32>((i) => <i32>i.int(-1));
    this.globs = v.get("globs").elements().map<i32>((i) => <i32>i.int(-1));
    this.assigns = v.get("assigns").elements().map<ShellAssign>((a) => new ShellAssign(a));
    this.redirects = v.get("redirects").elements().map<ShellRedirect>((r) => new ShellRedirect(r));
    this.within = v.get("in").texts();
    this.code = v.get("code").text;
    this.cwd = v.get("cwd").text;
    this.cwdUnknown = v.get("cwdUnknown").bool();
    this.pipeline = <i32>v.get("pipeline").int();
    this.stage = <i32>v.get("stage").int();
    this.stdin = v.get("stdin").text;
  }
  /** A word; null when there is none, or when it is not known before the command runs. */
  word(index: i32): string | null {
    return index < 0 || index >= this.argv.length || this.unknown.includes(index) ? null : this.argv[index];
  }
  /** Whether a word is known and this text. Of a command that is `dynamic`, false may only mean that nobody knows. */
  is(index: i32, text: string): bool {
    return this.word(index) == text;
  }
}

/** NAME=VALUE before a command, or alone. */
export class ShellAssign {
  readonly name: string;
  readonly value: string;
  readonly dynamic: bool;

  constructor(v: Value) {
    this.name = v.get("name").text;
    this.value = v.get("value").text;
    this.dynamic = v.get("dynamic").bool();
  }
}

export class ShellRedirect {
  /** As the text has it: `>`, `>>`, `<` … */
  readonly op: string;
  /** -1 when the text names none, or a variable. */
  readonly fd: i32;
  readonly target: string;
  /** The target is not known before it runs. */
  readonly dynamic: bool;

  constructor(v: Value) {
    this.op = v.get("op").text;
    this.fd = <i32>v.get("fd").int(-1);
    this.target = v.get("target").text;
    this.dynamic = v.get("dynamic").bool();
  }
}

export class PathFacts {
  /** With symbolic links resolved. */
  readonly workspace: string;
  readonly paths: PathFact[];
  /** There are more. */
  readonly truncated: bool;

  constructor(v: Value) {
    this.workspace = v.get("workspace").text;
    this.paths = v.get("paths").elements().map<PathFact>((p) => new PathFact(p));
    this.truncated = v.get("truncated").bool();
  }
}

/** A path. A `dynamic` one is not known before the call runs: only `raw`, `arg`, `command`, `op` and `glob` say something. */
export class PathFact {
  /** As the argument has it. */
  readonly raw: string;
  readonly abs: string;
  /** With symbolic links resolved; as far as that went, when it is `unresolved`. */
  readonly real: string;
  readonly unresolved: bool;
  /** In the workspace. */
  readonly inside: bool;
  /** A file of weir itself. */
  readonly own: bool;
  /** A folder with one. */
  readonly holdsOwn: bool;
  readonly exists: bool;
  /** file, dir, symlink, fifo, socket, device, missing. */
  readonly kind: string;
  /** Hard links where a file has more than one, otherwise 0. */
  readonly links: i64;
  /** read, write, list, search, delete, execute, use. */
  readonly op: string;
  /** The argument it comes from. */
  readonly arg: string;
  /** For the argument command, its index in `ShellFacts.commands`; otherwise -1. */
  readonly command: i32;
  /** It holds a wildcard; `abs` and `real` are of the part before. */
  readonly glob: bool;
  readonly dynamic: bool;

  constructor(v: Value) {
    this.raw = v.get("raw").text;
    this.abs = v.get("abs").text;
    this.real = v.get("real").text;
    this.unresolved = v.get("unresolved").bool();
    this.inside = v.get("inside").bool();
    this.own = v.get("own").bool();
    this.holdsOwn = v.get("holdsOwn").bool();
    this.exists = v.get("exists").bool();
    this.kind = v.get("kind").text;
    this.links = v.get("links").int();
    this.op = v.get("op").text;
    this.arg = v.get("arg").text;
    this.command = <i32>v.get("command").int(-1);
    this.glob = v.get("glob").bool();
    this.dynamic = v.get("dynamic").bool();
  }
}

export class NetFacts {
  readonly hosts: HostFact[];
  /** There are more. */
  readonly truncated: bool;

  constructor(v: Value) {
    this.hosts = v.get("hosts").elements().map<HostFact>((h) => new HostFact(h));
    this.truncated = v.get("truncated").bool();
  }
}

export class HostFact {
  /** The text that it was found in. */
  readonly raw: string;
  /** "" when there was none. */
  readonly scheme: string;
  /** Lower case, punycode; an address in its usual form. */
  readonly host: string;
  /** 0 when it is not known. */
  readonly port: i32;
  /** A user or a password stands before it. */
  readonly userinfo: bool;
  /** It is an address. */
  readonly ip: bool;
  /** It is one in an unusual form. */
  readonly odd: bool;
  /** public, loopback, private, linklocal, unspecified, multicast; "" for most names. */
  readonly scope: string;
  /** A part is not known before the call runs. */
  readonly dynamic: bool;

  constructor(v: Value) {
    this.raw = v.get("raw").text;
    this.scheme = v.get("scheme").text;
    this.host = v.get("host").text;
    this.port = <i32>v.get("port").int();
    this.userinfo = v.get("userinfo").bool();
    this.ip = v.get("ip").bool();
    this.odd = v.get("odd").bool();
    this.scope = v.get("scope").text;
    this.dynamic = v.get("dynamic").bool();
  }
}

export class SecretFacts {
  readonly spans: Span[];
  /** Encoded blocks in which no secret was looked for. */
  readonly base64: Span[];
  /** There are more. */
  readonly truncated: bool;

  constructor(v: Value) {
    this.spans = v.get("spans").elements().map<Span>((s) => new Span(s));
    this.base64 = v.get("base64").elements().map<Span>((s) => new Span(s));
    this.truncated = v.get("truncated").bool();
  }
}

/** The bytes (of UTF-8, not characters of a string) from `start` to before `end` of the text of a content block. */
export class Span {
  readonly block: i32;
  readonly start: i32;
  readonly end: i32;
  /** What it looks like; "" in `SecretFacts.base64`. */
  readonly kind: string;

  constructor(v: Value) {
    this.block = <i32>v.get("block").int(-1);
    this.start = <i32>v.get("start").int(-1);
    this.end = <i32>v.get("end").int(-1);
    this.kind = v.get("kind").text;
  }
}

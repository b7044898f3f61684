// What the guest of the tck says about facts.
import { Facts, ShellCommand, Span } from "./weir";

export function factLines(facts: Facts, about: string): string {
  const lines: string[] = [];
  let truncated = false;
  if (about == "shell") {
    const shell = facts.shell;
    if (shell == null) return "none";
    lines.push(shell.understood ? "understood" : shell.reason);
    for (let i = 0; i < shell.commands.length; i++) lines.push(command(shell.commands[i]));
  } else if (about == "paths") {
    const paths = facts.paths;
    if (paths == null) return "none";
    lines.push(dash(paths.workspace));
    for (let i = 0; i < paths.paths.length; i++) {
      const p = paths.paths[i];
      lines.push([p.op, dash(p.kind), letters("ioegd", [p.inside, p.own, p.exists, p.glob, p.dynamic]), dash(p.real)].join(" "));
    }
    truncated = paths.truncated;
  } else if (about == "net") {
    const net = facts.net;
    if (net == null) return "none";
    for (let i = 0; i < net.hosts.length; i++) {
      const h = net.hosts[i];
      lines.push([dash(h.scheme), dash(h.host), h.port.toString(), letters("uaod", [h.userinfo, h.ip, h.odd, h.dynamic]), dash(h.scope)].join(" "));
    }
    truncated = net.truncated;
  } else {
    const secrets = facts.secrets;
    if (secrets == null) return "none";
    for (let i = 0; i < secrets.spans.length; i++) lines.push(span(secrets.spans[i], secrets.spans[i].kind));
    for (let i = 0; i < secrets.base64.length; i++) lines.push(span(secrets.base64[i], "base64"));
    truncated = secrets.truncated;
  }
  if (truncated) lines.push("truncated");
  return dash(lines.join("\n"));
}

function command(c: ShellCommand): string {
  const words: string[] = [];
  for (let i = 0; i < c.argv.length; i++) {
    const word = c.word(i);
    words.push(word != null ? word : "?");
  }
  const redirects: string[] = [];
  for (let i = 0; i < c.redirects.length; i++) redirects.push(c.redirects[i].op + " " + c.redirects[i].target);
  const parts = [dash(words.join(" ")), dash(redirects.join(",")), dash(c.within.join("/")), dash(c.code)];
  if (c.dynamic) parts.push("dynamic");
  return parts.join(" | ");
}

function span(s: Span, kind: string): string {
  return [s.block.toString(), s.start.toString(), s.end.toString(), kind].join(" ");
}

/** Those of all that are set. */
function letters(all: string, set: bool[]): string {
  let out = "";
  for (let i = 0; i < set.length; i++) if (set[i]) out += all.charAt(i);
  return dash(out);
}

function dash(text: string): string {
  return text.length > 0 ? text : "-";
}

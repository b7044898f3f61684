//! What the host found out about a call.

use weir::{Facts, ShellCommand};

pub fn answer(facts: Facts, of: &str) -> String {
    let lines = match of {
        "shell" => shell(facts),
        "paths" => paths(facts),
        "net" => net(facts),
        _ => secrets(facts),
    };
    lines.map_or("none".to_string(), |l| dash(&l.join("\n")))
}

fn shell(facts: Facts) -> Option<Vec<String>> {
    let shell = facts.shell()?;
    let mut lines = vec![if shell.understood { "understood".to_string() } else { shell.reason }];
    lines.extend(shell.commands.iter().map(command));
    Some(lines)
}

fn command(c: &ShellCommand) -> String {
    let words: Vec<&str> = c.argv.iter().map(|w| w.as_deref().unwrap_or("?")).collect();
    let redirects: Vec<String> = c.redirects.iter().map(|r| format!("{} {}", r.op, r.target)).collect();
    let end = if c.dynamic { " | dynamic" } else { "" };
    format!("{} | {} | {} | {}{}", dash(&words.join(" ")), dash(&redirects.join(",")), dash(&c.within.join("/")), dash(&c.code), end)
}

fn paths(facts: Facts) -> Option<Vec<String>> {
    let paths = facts.paths()?;
    let mut lines = vec![dash(&paths.workspace)];
    for p in &paths.paths {
        let set = letters(&[("i", p.inside), ("o", p.own), ("e", p.exists), ("g", p.glob), ("d", p.dynamic)]);
        lines.push(format!("{} {} {} {}", p.op, dash(&p.kind), set, dash(&p.real)));
    }
    Some(cut(lines, paths.truncated))
}

fn net(facts: Facts) -> Option<Vec<String>> {
    let net = facts.net()?;
    let line = |h: &weir::HostFact| {
        let set = letters(&[("u", h.userinfo), ("a", h.ip), ("o", h.odd), ("d", h.dynamic)]);
        format!("{} {} {} {} {}", dash(&h.scheme), dash(&h.host), h.port, set, dash(&h.scope))
    };
    Some(cut(net.hosts.iter().map(line).collect(), net.truncated))
}

fn secrets(facts: Facts) -> Option<Vec<String>> {
    let found = facts.secrets()?;
    let spans = found.spans.iter().map(|s| format!("{} {} {} {}", s.block, s.start, s.end, s.kind));
    let encoded = found.base64.iter().map(|s| format!("{} {} {} base64", s.block, s.start, s.end));
    Some(cut(spans.chain(encoded).collect(), found.truncated))
}

fn cut(mut lines: Vec<String>, truncated: bool) -> Vec<String> {
    if truncated {
        lines.push("truncated".to_string());
    }
    lines
}

fn letters(all: &[(&str, bool)]) -> String {
    dash(&all.iter().filter(|l| l.1).map(|l| l.0).collect::<String>())
}

fn dash(text: &str) -> String {
    if text.is_empty() { "-" } else { text }.to_string()
}

// The guest that shows that the SDK does what an SDK must: guest-sdk/tck/SPEC.md says what each name in it does.
import {
  CommandRun, Decision, Event, HTTPReply, Kind, ObjectWriter, Reply, Result, ResultEdit, Role, Table, ToolCall, ToolOutput, ToolResult, ToolRun, Value,
  addCommand, addTool, allow, ask, block, capability, config, describe, fail, failEvent, failResult, file, handled, http, journal, keep, kv, log, message,
  none, observe, on, onContextTable, onDecision, onToolCall, onToolResult, output, quote, replaceContent, reply, rewrite, roleName, session, settings,
  terminate, textContent, transform, ui, vars,
} from "./weir";
import { factLines } from "./tck-facts";
export {
  agent_start, before_provider_headers, command_execute, context, decision, input, tool_call, tool_execute, tool_result, turn_end, weir_describe,
} from "./weir";

let counted = 0;
let kept: ArrayBuffer[] = [];

describe("tck", "1.0.0", "Does what it is told, to show what the SDK can do.");
settings('{"type":"object","properties":{"greeting":{"type":"string"},"limit":{"type":"integer"}}}');
capability("kv", "to keep a value");
capability("http", "to ask a server");
capability("read", "to read a file");
capability("ui", "to ask a person");
capability("session", "to ask the session");
capability("journal", "to keep a record");
onToolCall(decide).tools(["tck_*", "bash"]).facts(["shell", "paths", "net"]);
onToolResult(edit).blockOnError().facts(["secrets"]);
onContextTable(prune);
on("input", typed);
on("before_provider_headers", headers);
observe("agent_start", (_e: Event) => log.info("agent_start"));
observe("turn_end", turned);
onDecision(decided);
addTool(
  "tck_upper",
  "Returns the text in capitals.",
  '{"type":"object","properties":{"text":{"type":"string"},"do":{"type":"string"}},"required":["text"]}',
  upper,
  new ObjectWriter().text("label", "Upper").text("executionMode", "parallel"),
);
addCommand("tck", "Says what it was given.", command);

function decide(call: ToolCall): Decision {
  const what = call.arg("do").text;
  const text = call.arg("text").text;
  if (what == "block") return block(text);
  if (what == "terminate") return terminate(text);
  if (what == "ask") return ask(text, call.arg("message").text);
  if (what == "rewrite") return rewrite(call.input.with("text", quote(call.arg("to").text)));
  if (what == "fail") return fail(text);
  if (what == "panic") throw new Error(text);
  if (what == "loop") while (true) counted++;
  if (what == "memory") while (true) kept.push(new ArrayBuffer(1 << 20));
  if (what == "log") {
    log.debug(text);
    log.info(text);
    log.warn(text);
    log.error(text);
    return allow();
  }
  const answer = value(what, call);
  if (answer != null) return block(answer);
  const asked = ability(what, call);
  return asked != null ? block(asked) : allow();
}

/** What reads an argument or the event; null when nothing is asked. */
function value(what: string, call: ToolCall): string | null {
  const v = call.arg("value");
  if (what == "hex") return hex(call.arg("text").text);
  if (what == "kind") return kind(v);
  if (what == "join") return v.texts().join(",");
  if (what == "keys") return v.keys().join(",");
  if (what == "depth") return depth(v).toString();
  if (what == "integer") return v.int(1) == v.int(2) ? v.int().toString() : "none";
  if (what == "number") {
    const bits = reinterpret<u64>(v.number());
    return bits.toString(16).padStart(16, "0");
  }
  if (what == "config") return config().get("greeting").isString ? config().get("greeting").text : "none";
  if (what == "settings") return config().json;
  if (what == "count") return (++counted).toString();
  if (what == "where") {
    const c = call.context;
    const where = [c.get("cwd").text, c.get("mode").text, c.get("hasUI").bool().toString(), c.get("model").get("id").text, c.get("turnIndex").int().toString()];
    return where.join(" ");
  }
  if (what == "call") return call.toolName + " " + call.id;
  if (what == "recheck") return call.recheck ? "yes" : "no";
  if (what == "facts") return factLines(call.facts, call.arg("of").text);
  if (what == "large") return call.arg("text").text.repeat(<i32>call.arg("count").int());
  return null;
}

function hex(text: string): string {
  const bytes = Uint8Array.wrap(String.UTF8.encode(text));
  let out = "";
  for (let i = 0; i < bytes.length; i++) out += bytes[i].toString(16).padStart(2, "0");
  return out;
}

function kind(v: Value): string {
  switch (v.kind) {
    case Kind.Null: return "null";
    case Kind.Bool: return "bool";
    case Kind.Number: return "number";
    case Kind.String: return "string";
    case Kind.Array: return "array";
    case Kind.Object: return "object";
  }
  return "absent";
}

function depth(v: Value): i32 {
  let deepest = 0;
  if (v.kind == Kind.Array) {
    const all = v.elements();
    for (let i = 0; i < all.length; i++) deepest = max(deepest, depth(all[i]));
  } else if (v.kind == Kind.Object) {
    const keys = v.keys();
    for (let i = 0; i < keys.length; i++) deepest = max(deepest, depth(v.get(keys[i])));
  } else {
    return 0;
  }
  return deepest + 1;
}

/** What asks the host; null when nothing is asked. */
function ability(what: string, call: ToolCall): string | null {
  const op = call.arg("op").text;
  const key = call.arg("key").text;
  if (what == "kv") {
    if (op == "get") return chosen(kv.get(key));
    if (op == "set") return ok(kv.set(key, call.arg("value").text));
    if (op == "delete") return ok(kv.remove(key));
    const r = kv.list(call.arg("prefix").text);
    return r.ok ? r.value.texts().sort().join(",") : refused(r);
  }
  if (what == "http") {
    const headers = new ObjectWriter().text("x-tck", call.arg("header").text).json;
    const r: HTTPReply = http.send(call.arg("method").text, call.arg("url").text, headers, call.arg("body").text);
    return r.ok ? r.status.toString() + " " + r.header("x-tck") + " " + r.body : refused(r);
  }
  if (what == "file") return look(op, call.arg("path").text);
  if (what == "ui") return person(op, call);
  if (what == "session") {
    const r = session.call(op, new ObjectWriter().text(key, call.arg("value").text));
    return r.ok ? r.value.json : refused(r);
  }
  if (what == "journal") {
    const r = journal.append(call.arg("record").json);
    return r.ok ? r.value.get("seq").json + " " + r.value.get("hash").text : refused(r);
  }
  if (what == "var") {
    if (op == "set") {
      vars.set(key, call.arg("value").text);
      return "ok";
    }
    const value = vars.get(key);
    return value != null ? value : "none";
  }
  return null;
}

function look(op: string, path: string): string {
  if (op == "read") {
    const r = file.readText(path);
    return r.ok ? r.text : refused(r);
  }
  if (op == "stat") {
    const r = file.stat(path);
    if (!r.ok) return refused(r);
    return r.value.get("name").text + (r.value.get("dir").bool() ? " dir " : " file ") + r.value.get("size").json;
  }
  const r = file.list(path);
  if (!r.ok) return refused(r);
  const names: string[] = [];
  const entries = r.value.elements();
  for (let i = 0; i < entries.length; i++) names.push(entries[i].get("name").text);
  return names.join(",");
}

function person(op: string, call: ToolCall): string {
  const title = call.arg("title").text;
  if (op == "confirm") {
    const r = ui.confirm(title, call.arg("message").text);
    return r.ok ? r.value.bool().toString() : refused(r);
  }
  if (op == "select") return chosen(ui.select(title, call.arg("options").texts()));
  if (op == "input") return chosen(ui.input(title, call.arg("placeholder").text));
  if (op == "notify") return ok(ui.notify(call.arg("message").text, call.arg("level").text));
  return ok(ui.status(call.arg("text").text));
}

function refused(r: Reply): string {
  return "refused: " + r.error;
}
function ok(r: Reply): string {
  return r.ok ? "ok" : refused(r);
}
function chosen(r: Reply): string {
  if (!r.ok) return refused(r);
  return r.value.isString ? r.text : "none";
}

function edit(r: ToolResult): ResultEdit {
  const what = r.arg("do").text;
  const text = r.arg("text").text;
  if (what == "content") return replaceContent(textContent(text));
  if (what == "mask") return replaceContent(r.mapText((text: string) => text.replaceAll("secret", "******")));
  if (what == "facts") return replaceContent(textContent(factLines(r.facts, "secrets")));
  if (what == "error") return keep().isError(true);
  if (what == "replace") {
    const was = r.details.exists ? r.details.json : "null";
    return replaceContent(textContent(text))
      .details(new ObjectWriter().set("was", was).json)
      .isError(!r.isError)
      .usage(r.arg("usage").json);
  }
  if (what == "fail") return failResult(text);
  if (what == "panic") throw new Error(text);
  return keep();
}

function typed(e: Event): Result {
  const text = e.get("text").text;
  if (text.startsWith("transform: ")) return transform(text.slice(11));
  if (text == "handled") return handled();
  if (text == "fail") return failEvent("as told");
  return none();
}

function headers(e: Event): Result {
  return e.get("headers").get("x-drop").exists ? reply('{"headers":{"x-tck":"yes","x-drop":null}}') : none();
}

function turned(e: Event): void {
  if (e.get("message").get("do").is("panic")) throw new Error("as told");
  log.info("turn " + e.get("turnIndex").int().toString());
}

function decided(e: Event): void {
  log.info("decision of " + e.get("event").text + ": " + e.get("decision").text + " by " + e.get("by").texts().join(","));
}

function prune(t: Table): Result {
  for (let i = 0; i < t.length; i++) {
    if (t.row(i).role != Role.Custom) continue;
    const name = t.name(i);
    if (name == "drop" || name == "twice") t.drop(i);
    if (name == "twice") t.drop(i);
    if (name == "replace") t.replace(i, t.message(i).with("content", quote("replaced")));
    if (name == "roles") t.replace(i, t.message(i).with("content", quote(lines(t, false))));
    if (name == "headers") t.replace(i, t.message(i).with("content", quote(lines(t, true))));
    if (name == "insert") t.insert(i, '{"role":"user","content":"inserted","timestamp":0}');
    if (name == "append") t.insert(t.length, '{"role":"user","content":"appended","timestamp":0}');
    if (name == "fail") return failEvent("as told");
    if (name == "panic") throw new Error("as told");
  }
  return t.edits;
}

/** The roles of all messages, or a line of headers each. */
function lines(t: Table, all: bool): string {
  const out: string[] = [];
  for (let i = 0; i < t.length; i++) {
    const m = t.row(i);
    let line = roleName(m.role);
    if (all) {
      const flags = (m.isError ? "e" : "") + (m.hasImage ? "i" : "") + (m.hasToolCall ? "c" : "") + (m.hasThinking ? "t" : "") + (m.display ? "d" : "");
      line += " " + (flags.length > 0 ? flags : "-") + " " + (t.name(i).length > 0 ? t.name(i) : "-");
      line += " " + m.textBytes.toString() + " " + m.encodedBytes.toString() + " " + (m.pair >= 0 ? m.pair.toString() : "-");
      line += " " + m.id.toString() + " " + m.time.toString();
    }
    out.push(line);
  }
  return out.join(all ? "\n" : ",");
}

function upper(run: ToolRun): ToolOutput {
  const what = run.args.get("do").text;
  const text = run.args.get("text").text;
  const out = output(textContent(what == "error" ? text : capitals(text)));
  if (what == "update") run.update('{"content":' + textContent("half") + "}");
  if (what == "details") return out.details(new ObjectWriter().text("tool", run.toolName).text("id", run.id).json);
  if (what == "error") return out.isError();
  if (what == "terminate") return out.terminate();
  if (what == "panic") throw new Error("as told");
  return out;
}

function capitals(text: string): string {
  const out = new Array<i32>(text.length);
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    out[i] = c >= 0x61 && c <= 0x7a ? c - 32 : c;
  }
  return String.fromCharCodes(out);
}

function command(run: CommandRun): Result {
  if (run.args == "fail") return failEvent("as told");
  return run.args.length > 0 ? message("tck: " + run.args) : none();
}

// The guest that shows that the SDK does what an SDK must: guest-sdk/tck/SPEC.md says what each name in it does.
import { config, file, http, journal, kv, session, toolUpdate, ui } from "weir";
import type { CommandExecute, ContextResult, ContextTable, Decision, Describe, Facts, Hook, Row, SecretFacts, ToolCall, ToolCallResult, ToolExecute, ToolExecuteResult } from "weir";

export const describe: Describe = {
  name: "tck",
  version: "1.0.0",
  description: "Does what it is told, to show what the SDK can do.",
  hooks: {
    tool_call: { tools: ["tck_*", "bash"], facts: ["shell", "paths", "net"] },
    tool_result: { onError: "block", facts: ["secrets"] },
    context: { view: "table" },
  },
  tools: [
    {
      name: "tck_upper",
      label: "Upper",
      description: "Returns the text in capitals.",
      parameters: { type: "object", properties: { text: { type: "string" }, do: { type: "string" } }, required: ["text"] },
      executionMode: "parallel",
    },
  ],
  commands: [{ name: "tck", description: "Says what it was given." }],
  config: { type: "object", properties: { greeting: { type: "string" }, limit: { type: "integer" } } },
  capabilities: {
    kv: "to keep a value",
    http: "to ask a server",
    read: "to read a file",
    ui: "to ask a person",
    session: "to ask the session",
    journal: "to keep a record",
  },
};

let counted = 0;
const kept: Uint8Array[] = [];

export function tool_call(event: ToolCall): ToolCallResult | undefined {
  const input = event.input as Record<string, any>;
  const { text } = input;
  switch (input.do) {
    case "block":
      return { block: true, reason: text };
    case "terminate":
      return { block: true, reason: text, terminate: true };
    case "ask":
      return { ask: "message" in input ? { title: text, message: input.message } : { title: text } };
    case "rewrite":
      return { input: { ...input, text: input.to } };
    case "fail":
    case "panic":
      throw new Error(text);
    case "loop":
      for (;;) counted++;
    case "memory":
      for (;;) kept.push(new Uint8Array(1 << 20).fill(1));
    case "log":
      console.debug(text);
      console.info(text);
      console.warn(text);
      console.error(text);
      return undefined;
  }
  const answer = value(event, input) ?? capability(input);
  return answer === undefined ? undefined : { block: true, reason: answer };
}

/** What reads an argument or the event. */
function value(event: ToolCall, input: Record<string, any>): string | undefined {
  const v = input.value;
  switch (input.do) {
    case "hex":
      return hex(input.text);
    case "kind":
      return kind(v);
    case "join":
      return v.join(",");
    case "keys":
      return Object.keys(v).join(",");
    case "depth":
      return String(depth(v));
    case "integer":
      return Number.isSafeInteger(v) ? String(v + 0) : "none";
    case "number": {
      const view = new DataView(new ArrayBuffer(8));
      view.setFloat64(0, v);
      return view.getBigUint64(0).toString(16).padStart(16, "0");
    }
    case "config":
      return typeof config.greeting === "string" ? config.greeting : "none";
    case "settings":
      return JSON.stringify(config);
    case "count":
      return String(++counted);
    case "where": {
      const { cwd, mode, hasUI, model, turnIndex } = event.context;
      return [cwd, mode, hasUI, model?.id, turnIndex].join(" ");
    }
    case "call":
      return `${event.toolName} ${event.toolCallId}`;
    case "recheck":
      return event.recheck ? "yes" : "no";
    case "facts":
      return facts(event.facts, input.of);
    case "large":
      return input.text.repeat(input.count);
  }
}

function facts({ shell, paths, net }: Facts = {}, of: string): string {
  const letters = (...all: (string | false | undefined)[]) => all.filter(Boolean).join("") || "-";
  if (of === "shell" && shell) {
    const lines = shell.commands.map((c) => {
      const words = c.argv.map((word, i) => (c.unknown?.includes(i) ? "?" : word)).join(" ");
      const redirects = (c.redirects ?? []).map((r) => `${r.op} ${r.target}`).join(",");
      return [words || "-", redirects || "-", c.in?.join("/") ?? "-", c.code ?? "-", ...(c.dynamic ? ["dynamic"] : [])].join(" | ");
    });
    return [shell.understood ? "understood" : shell.reason, ...lines].join("\n");
  }
  if (of === "paths" && paths) {
    const lines = paths.paths.map((p) =>
      [p.op, p.kind ?? "-", letters(p.inside && "i", p.own && "o", p.exists && "e", p.glob && "g", p.dynamic && "d"), p.real ?? "-"].join(" "),
    );
    return [paths.workspace || "-", ...lines, ...(paths.truncated ? ["truncated"] : [])].join("\n");
  }
  if (of === "net" && net) {
    const lines = net.hosts.map((h) =>
      [h.scheme || "-", h.host || "-", h.port, letters(h.userinfo && "u", h.ip && "a", h.odd && "o", h.dynamic && "d"), h.scope || "-"].join(" "),
    );
    return [...lines, ...(net.truncated ? ["truncated"] : [])].join("\n") || "-";
  }
  return "none";
}

function secrets(found: SecretFacts | undefined): string {
  if (!found) return "none";
  const spans = found.spans.map((s) => `${s.block} ${s.start} ${s.end} ${s.kind}`);
  const encoded = found.base64.map((s) => `${s.block} ${s.start} ${s.end} base64`);
  return [...spans, ...encoded, ...(found.truncated ? ["truncated"] : [])].join("\n") || "-";
}

function hex(text: string): string {
  // encodeURIComponent refuses half a surrogate pair.
  return encodeURIComponent(text).replace(/%(..)|[^]/g, (one, escaped) => escaped?.toLowerCase() ?? one.charCodeAt(0).toString(16).padStart(2, "0"));
}

function kind(v: unknown): string {
  if (v === undefined) return "absent";
  if (v === null) return "null";
  if (Array.isArray(v)) return "array";
  return typeof v === "boolean" ? "bool" : typeof v;
}

function depth(v: unknown): number {
  if (typeof v !== "object" || v === null) return 0;
  return 1 + Object.values(v).reduce((deepest, e) => Math.max(deepest, depth(e)), 0);
}

export const tool_result: Hook<"tool_result"> = (event) => {
  const { do: what, text, usage } = event.input as Record<string, any>;
  switch (what) {
    case "content":
      return { content: [{ type: "text", text }] };
    case "mask":
      return { content: event.content.map((b) => (b.type === "text" ? { ...b, text: b.text.replaceAll("secret", "******") } : b)) };
    case "facts":
      return { content: [{ type: "text", text: secrets(event.facts?.secrets) }] };
    case "error":
      return { isError: true };
    case "replace":
      return { content: [{ type: "text", text }], details: { was: event.details ?? null }, isError: !event.isError, usage };
    case "fail":
    case "panic":
      throw new Error(text);
  }
};

export const input: Hook<"input"> = ({ text }) => {
  if (text.startsWith("transform: ")) return { action: "transform", text: text.slice("transform: ".length) };
  if (text === "handled") return { action: "handled" };
  if (text === "fail") throw new Error("as told");
};

export const before_provider_headers: Hook<"before_provider_headers"> = ({ headers }) => {
  if ("x-drop" in headers) return { headers: { "x-tck": "yes", "x-drop": null } };
};

export const agent_start: Hook<"agent_start"> = () => {
  console.info("agent_start");
};

export const turn_end: Hook<"turn_end"> = (event) => {
  if ((event.message as any).do === "panic") throw new Error("as told");
  console.info(`turn ${event.turnIndex}`);
};

export function decision(d: Decision): void {
  console.info(`decision of ${d.event}: ${d.decision} by ${(d.by ?? []).join(",")}`);
}

export function context(table: ContextTable): ContextResult {
  const drop: number[] = [];
  const replace: { at: number; message: any }[] = [];
  const insert: { at: number; message: any }[] = [];
  const say = (at: number, content: string) => insert.push({ at, message: { role: "user", content, timestamp: 0 } });
  const become = (at: number, content: string) => replace.push({ at, message: { ...table.message(at), content } });
  for (const row of table) {
    if (row.role !== "custom") continue;
    switch (row.name) {
      case "drop":
        drop.push(row.index);
        break;
      case "twice":
        drop.push(row.index, row.index);
        break;
      case "replace":
        become(row.index, "replaced");
        break;
      case "roles":
        become(row.index, [...table].map((r) => r.role).join(","));
        break;
      case "headers":
        become(row.index, [...table].map(header).join("\n"));
        break;
      case "insert":
        say(row.index, "inserted");
        break;
      case "append":
        say(table.length, "appended");
        break;
      case "fail":
      case "panic":
        throw new Error("as told");
    }
  }
  return drop.length + replace.length + insert.length > 0 ? { drop, replace, insert } : {};
}

function header(r: Row): string {
  const flags = [r.isError && "e", r.hasImage && "i", r.hasToolCall && "c", r.hasThinking && "t", r.display && "d"].filter(Boolean).join("");
  return [r.role, flags || "-", r.name || "-", r.textBytes, r.bytes, r.pair < 0 ? "-" : r.pair, r.id, r.time].join(" ");
}

function capability(input: Record<string, any>): string | undefined {
  try {
    switch (input.do) {
      case "kv":
        return askKV(input);
      case "http": {
        const r = http.request({ method: input.method, url: input.url, headers: { "x-tck": input.header }, body: input.body });
        return `${r.status} ${r.headers["x-tck"]} ${r.body}`;
      }
      case "file":
        return askFile(input);
      case "ui":
        return askPerson(input);
      case "session":
        return JSON.stringify(session.request(input.op, { [input.key]: input.value }));
      case "journal": {
        const { seq, hash } = journal.append(input.record);
        return `${seq} ${hash}`;
      }
    }
  } catch (e) {
    return `refused: ${(e as Error).message}`;
  }
}

function askKV({ op, key, value, prefix }: Record<string, any>): string {
  switch (op) {
    case "get":
      return kv.get(key) ?? "none";
    case "set":
      kv.set(key, value);
      return "ok";
    case "delete":
      kv.delete(key);
      return "ok";
  }
  return kv.list(prefix).sort().join(",");
}

function askFile({ op, path }: Record<string, any>): string {
  switch (op) {
    case "read":
      return file.read(path);
    case "stat": {
      const { name, dir, size } = file.stat(path);
      return `${name} ${dir ? "dir" : "file"} ${size}`;
    }
  }
  return file.list(path).map((f) => f.name).join(",");
}

function askPerson({ op, title, message, options, placeholder, level, text }: Record<string, any>): string {
  switch (op) {
    case "confirm":
      return String(ui.confirm(title, message));
    case "select":
      return ui.select(title, options) ?? "none";
    case "input":
      return ui.input(title, placeholder) ?? "none";
    case "notify":
      ui.notify(message, level);
      return "ok";
  }
  ui.status(text);
  return "ok";
}

export function tool_execute({ toolName, toolCallId, args }: ToolExecute): ToolExecuteResult {
  const says = (text: string): ToolExecuteResult => ({ content: [{ type: "text", text }] });
  const text = args.text as string;
  const upper = says(text.replace(/[a-z]/g, (c) => c.toUpperCase()));
  switch (args.do) {
    case "update":
      toolUpdate(says("half"));
      return upper;
    case "details":
      return { ...upper, details: { tool: toolName, id: toolCallId } };
    case "error":
      return { ...says(text), isError: true };
    case "terminate":
      return { ...upper, terminate: true };
    case "panic":
      throw new Error("as told");
  }
  return upper;
}

export function command_execute({ args }: CommandExecute): { message?: string } {
  if (args === "fail") throw new Error("as told");
  return args === "" ? {} : { message: `tck: ${args}` };
}

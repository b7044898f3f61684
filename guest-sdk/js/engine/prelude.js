// Runs in every instance before the policy: between glue.c, which moves bytes, and the functions that the policy exports.
//
// It gets host(op, value), the one native function, and gives dispatch(what, value), which glue.c calls. dispatch returns
// the JSON to hand out, or '!' and an error text. Nothing that a policy returns may turn into "no opinion" by accident:
// what JSON.stringify would drop or rewrite is an error.
(host) => {
  "use strict";
  // The entry points by number; glue.c has the same list.
  const entries = ("project_trust resources_discover session_start session_info_changed session_before_switch session_before_fork " +
    "session_before_compact session_compact session_compact_failed session_shutdown session_before_tree session_tree context " +
    "before_provider_headers before_provider_request after_provider_response before_agent_start agent_start agent_end agent_settled " +
    "turn_start turn_end message_start message_update message_end tool_execution_start tool_execution_update tool_execution_end " +
    "model_select thinking_level_select ui_prompt_start ui_prompt_end user_bash input tool_call tool_result " +
    "weir_describe tool_execute command_execute decision").split(" ");
  const EVENTS = 36, DESCRIBE = 36, TOOL = 37, COMMAND = 38, DECISION = 39, META = 40, START = 41, EXCEPTION = 42, PENDING = 43;
  const OP_CONFIG = 4, OP_MESSAGE = 5, OP_UPDATE = 6;
  const capabilities = { kv: 7, http: 8, file: 9, ui: 10, session: 11, journal: 12 };
  const { parse, stringify } = JSON;
  const { getPrototypeOf, defineProperty, keys } = Object;
  const plain = Object.prototype;

  // What the source's first line says: name of the policy, files and mappings of the source map (version 3).
  let meta = { name: "policy", sources: [], mappings: "" };
  let policy = {};
  const handlers = [];

  // ---- errors, with the author's own positions ----

  class Refusal extends Error {}
  const refuse = (text, fn) => {
    throw new Refusal((fn && place(fn) ? place(fn) + ": " : "") + text);
  };

  // Where a function of the policy was written.
  const place = (fn) => {
    const at = fn.lineNumber ? locate(fn.lineNumber, fn.columnNumber || 1) : "";
    return at;
  };

  let lines; // the source map, decoded when the first error needs it: per line [column, source, line, column]…
  const decode = () => {
    const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let source = 0, line = 0, column = 0;
    return meta.mappings.split(";").map((text) => {
      let generated = 0, i = 0;
      const next = () => {
        let value = 0, shift = 0, d;
        do {
          d = digits.indexOf(text[i++]);
          value |= (d & 31) << shift;
          shift += 5;
        } while (d & 32);
        return value & 1 ? -(value >> 1) : value >> 1;
      };
      const segments = [];
      while (i < text.length) {
        if (text[i] === ",") { i++; continue; }
        generated += next();
        if (i >= text.length || text[i] === ",") continue;
        source += next(); line += next(); column += next();
        if (i < text.length && text[i] !== ",") next(); // a name
        segments.push([generated, source, line, column]);
      }
      return segments;
    });
  };
  const locate = (line, column) => {
    lines ??= decode();
    let found;
    for (const s of lines[line - 1] ?? []) {
      if (s[0] > column - 1) break;
      found = s;
    }
    return found && meta.sources[found[1]] ? `${meta.sources[found[1]]}:${found[2] + 1}:${found[3] + 1}` : "";
  };
  // The positions in the policy that a stack names, innermost first. "p" is the file name that glue.c evaluates it under.
  const positions = (stack) => {
    const list = [];
    for (const m of String(stack).slice(0, 4096).matchAll(/(?:\(|at )p:(\d+):(\d+)\)?/g)) {
      const at = locate(+m[1], +m[2]);
      if (at && at !== list.at(-1) && list.length < 4) list.push(at);
    }
    return list;
  };
  const explain = (e) => {
    try {
      if (e instanceof Refusal) return e.message;
      if (!(e instanceof Error)) return "the policy threw " + show(e);
      const [at, ...callers] = positions(e.stack);
      return (at ? at + ": " : "") + `${e.name}: ${e.message}` + (callers.length ? ` (called from ${callers.join(", ")})` : "");
    } catch {
      return "the policy threw an error that cannot be shown";
    }
  };

  // A value in an error or a log line.
  const show = (v) => {
    if (typeof v === "function") return "a function";
    if (v instanceof Error) return explain(v);
    let text;
    try { text = stringify(v); } catch { /* a cycle, a BigInt */ }
    return text ?? String(v);
  };
  const shorten = (s) => (s.length > 80 ? s.slice(0, 80) + "…" : s);

  // ---- what policies find around them ----

  const log = (level) => (...args) => void host(level, args.map((a) => (typeof a === "string" ? a : show(a))).join(" "));
  const hidden = (name, value) => defineProperty(globalThis, name, { value, writable: true, configurable: true });
  hidden("console", { debug: log(0), trace: log(0), log: log(1), info: log(1), warn: log(2), error: log(3) });
  hidden("__weir", {
    get config() { return parse(host(OP_CONFIG)); },
    update(partial) { host(OP_UPDATE, encode(partial, "toolUpdate's argument")); },
    // What lib/*.js make their requests with. Without the import that the capability needs, it has nothing to call.
    request(capability, op, fields) {
      const answer = host(capabilities[capability], stringify({ op, ...fields }));
      if (answer[0] !== "+") throw new Error(`${capability}.${op}: ${answer.slice(1)}`);
      if (answer.length === 1) throw new Error(`${capability}.${op}: there is no answer: the module was built without this capability`);
      return parse(answer.slice(1));
    },
  });

  // ---- the table view of context ----

  const utf8 = (bytes) => {
    let s = "";
    for (let i = 0; i < bytes.length; i += 4096) s += String.fromCharCode.apply(null, bytes.subarray(i, i + 4096));
    if (!/[^\0-\x7f]/.test(s)) return s;
    s = "";
    for (let i = 0; i < bytes.length;) {
      const b = bytes[i++];
      if (b < 0x80) { s += String.fromCharCode(b); continue; }
      let n = b < 0xe0 ? 1 : b < 0xf0 ? 2 : 3, c = b & (0x3f >> n);
      while (n--) c = (c << 6) | (bytes[i++] & 0x3f);
      s += String.fromCodePoint(c);
    }
    return s;
  };
  const roles = ["", "user", "assistant", "toolResult", "custom", "bashExecution", "branchSummary", "compactionSummary"];

  // The strings of a table, of which 0 is empty.
  const strings = (buffer, at) => {
    const view = new DataView(buffer, at), list = [];
    for (let n = view.getUint16(0, true), p = 2; n > 0; n--) {
      const size = view.getUint16(p, true);
      list.push(utf8(new Uint8Array(buffer, at + p + 2, size)));
      p += 2 + size;
    }
    return list;
  };

  // What the rows of one table inherit. To make an object of a dozen values costs the interpreter ten times what a policy costs
  // that looks at two of them, so a row has its index alone and each value is read from the records when it is asked for.
  const rowsOf = (words, names) => ({
    get role() { return roles[words[this.index * 8] & 0xff] ?? "other"; },
    get name() { return names[words[this.index * 8] >>> 16]; },
    get isError() { return (words[this.index * 8] & 0x100) !== 0; },
    get hasImage() { return (words[this.index * 8] & 0x200) !== 0; },
    get hasToolCall() { return (words[this.index * 8] & 0x400) !== 0; },
    get hasThinking() { return (words[this.index * 8] & 0x800) !== 0; },
    get display() { return (words[this.index * 8] & 0x1000) !== 0; },
    get textBytes() { return words[this.index * 8 + 1]; },
    get bytes() { return words[this.index * 8 + 2]; },
    get pair() { const pair = words[this.index * 8 + 3]; return pair === 0xffffffff ? -1 : pair; },
    get id() { return words[this.index * 8 + 4] + words[this.index * 8 + 5] * 0x100000000; },
    get time() { return words[this.index * 8 + 6] + (words[this.index * 8 + 7] | 0) * 0x100000000; },
    toJSON() {
      const all = { index: this.index };
      for (const key in getPrototypeOf(this)) if (key !== "toJSON") all[key] = this[key];
      return all;
    },
  });

  class Table {
    #row; #said; #context;
    constructor(buffer) {
      const header = new Uint32Array(buffer, 0, 8);
      this.type = "context";
      this.length = header[1];
      this.#said = new Uint8Array(buffer, header[2], header[3]);
      this.#row = rowsOf(new Uint32Array(buffer, 32, this.length * 8), strings(buffer, header[4]));
    }
    get context() { return (this.#context ??= parse(utf8(this.#said))); }
    at(i) {
      if (i >>> 0 !== i || i >= this.length) throw new RangeError(`there is no message ${i}; there are ${this.length}`);
      return { __proto__: this.#row, index: i };
    }
    message(i) {
      this.at(i);
      return parse(host(OP_MESSAGE, i));
    }
    *[Symbol.iterator]() {
      const row = this.#row, n = this.length;
      for (let i = 0; i < n; i++) yield { __proto__: row, index: i };
    }
  }

  // ---- results ----

  // JSON of a plain object, complete or not at all. what names the value, or is the number of the entry that returned it.
  const encode = (r, what) => {
    if (typeof r !== "object" || r === null || getPrototypeOf(r) !== plain && getPrototypeOf(r) !== null || typeof r.then === "function") {
      unfit(r, what);
    }
    const names = keys(r);
    for (let i = 0; i < names.length; i++) {
      const v = r[names[i]];
      if (v === undefined || typeof v === "function" || typeof v === "symbol") unfit(r, what, names[i]);
    }
    return stringify(r);
  };
  const unfit = (r, what, key) => {
    const name = typeof what === "number" ? `what ${entries[what]} returned` : what;
    const is = typeof r !== "object" || r === null ? `is ${shorten(show(r))}; it must be an object`
      : typeof r.then === "function" ? "is a promise; hooks are synchronous"
      : Array.isArray(r) ? "is an array; it must be an object"
      : key === undefined ? `is a ${r.constructor?.name || "special object"}; it must be a plain object`
      : `has a key ${key} that is ${r[key] === undefined ? "undefined" : "a " + typeof r[key]}; leave the key out`;
    refuse(`${name} ${is}`, handlers[what]);
  };

  // ---- starting and describing ----

  const kinds = new Map([
    [getPrototypeOf(async () => {}), "an async function"],
    [getPrototypeOf(function* () {}), "a generator"],
    [getPrototypeOf(async function* () {}), "an async generator"],
  ]);
  const distance = (a, b) => {
    let row = Array.from({ length: b.length + 1 }, (_, i) => i);
    for (let i = 1; i <= a.length; i++) {
      const next = [i];
      for (let j = 1; j <= b.length; j++) next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
      row = next;
    }
    return row[b.length];
  };
  // The entry point that a name was probably meant for.
  const meant = (name) => {
    const bare = (s) => s.toLowerCase().replace(/^on_?(?=[a-z])|_/g, "");
    const near = entries.filter((e, i) => i !== DESCRIBE && e !== name && (bare(e) === bare(name) || distance(e, name) <= (e.length > 6 ? 2 : 0)));
    return near[0];
  };
  const start = (exported) => {
    policy = exported ?? {};
    const names = keys(policy);
    for (const name of names) {
      const i = entries.indexOf(name), f = policy[name];
      if (i < 0) {
        const e = typeof f === "function" && meant(name);
        if (e) refuse(`the policy exports ${name}, which is no event; did you mean ${e}? (a helper needs another name)`, f);
        continue;
      }
      if (i === DESCRIBE) refuse("the policy exports weir_describe; what it says of itself goes into `export const describe = {…}`");
      if (typeof f !== "function") refuse(`the export ${name} is ${shorten(show(f))}; it must be a function`);
      const kind = kinds.get(getPrototypeOf(f));
      if (kind) refuse(`${name} is ${kind}; hooks are synchronous`, f);
      handlers[i] = f;
    }
    if (handlers.length === 0) {
      refuse("the policy exports no function named like an event, such as `export function tool_call(event)`; it exports " + (names.join(", ") || "nothing"));
    }
    described();
    return "{}";
  };
  const described = () => {
    const d = policy.describe ?? {};
    if (typeof d !== "object" || getPrototypeOf(d) !== plain) refuse(`the export describe is ${shorten(show(d))}; it must be an object`);
    const { name = meta.name, version = "0.0.0", hooks: options = {}, abi, ...rest } = d;
    if (abi !== undefined) refuse("describe.abi is filled in by weir; leave it out");
    if (typeof options !== "object" || options === null) refuse(`describe.hooks is ${shorten(show(options))}; it must be an object`);
    for (const name in options) {
      const i = entries.indexOf(name);
      if (i >= 0 && handlers[i] && i < EVENTS) continue;
      const e = meant(name);
      refuse(`describe.hooks names ${name}, but the policy exports no hook of that name` + (e ? `; did you mean ${e}?` : ""));
    }
    for (const [list, at] of [["tools", TOOL], ["commands", COMMAND]]) {
      if (!rest[list] !== !handlers[at]) {
        refuse(handlers[at] ? `the policy exports ${entries[at]}, but describe.${list} does not say for what`
          : `describe.${list} is there, but the policy exports no function ${entries[at]}`);
      }
    }
    if (rest.decisions && !handlers[DECISION]) refuse("describe.decisions is there, but the policy exports no function decision");
    if (handlers[DECISION]) rest.decisions ??= {};
    const hooks = {};
    for (let i = 0; i < EVENTS; i++) {
      if (handlers[i]) hooks[entries[i]] = options[entries[i]] ?? {};
    }
    return encode({ abi: 1, name, version, ...rest, hooks }, "describe");
  };

  // An event from its JSON. context comes apart from the rest and is parsed when somebody looks at it.
  const event = (input, context) => {
    if (typeof input !== "string") return new Table(input);
    const ev = parse(input);
    if (context !== undefined) {
      let parsed;
      defineProperty(ev, "context", {
        get: () => (parsed ??= parse(context)),
        set: (v) => void defineProperty(ev, "context", { value: v, enumerable: true, configurable: true, writable: true }),
        enumerable: true,
        configurable: true,
      });
    }
    return ev;
  };

  const call = (what, input, context) => {
    if (what === DESCRIBE) return described();
    const f = handlers[what];
    if (!f) refuse(`the policy exports no function ${entries[what]}`);
    const r = f(event(input, context));
    if (r === undefined && (what < EVENTS || what === DECISION)) return "{}";
    return encode(r, what);
  };

  return (what, value, context) => {
    try {
      if (what < META) return call(what, value, context);
      switch (what) {
        case META:
          if (value === "") refuse("the module holds no policy; `weir ext pack` puts one in");
          meta = parse(value);
          return "{}";
        case START: return start(value);
        case EXCEPTION: return "!" + explain(value);
        case PENDING:
          return refuse((value === undefined ? "the policy" : entries[value]) + " started a promise job, which would never run; hooks are synchronous", handlers[value]);
      }
    } catch (e) {
      return "!" + explain(e);
    }
  };
}

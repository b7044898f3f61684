// What an extension registers, and how its hooks are run.
//
//   1. The file of the policy runs when the module is instantiated: it says what it is and registers handlers.
//   2. weir_describe tells the host.
//   3. Each event runs a hook: the garbage of earlier calls is collected, the event is read, its handler answers.

import { Decision, Result, ResultEdit, ToolOutput } from "./answer";
import { reset } from "./arena";
import { encode, encoded, encodedSize, read, readAll, readSize } from "./bytes";
import { Context, Table } from "./context";
import { CommandRun, Event, ToolCall, ToolResult, ToolRun, eventAt } from "./events";
import { configRead, errorWrite, inputRead, logWrite, outputWrite } from "./host";
import { Kind, parse, why, whyAt } from "./scan";
import { ObjectWriter, Text, quoteAll } from "./text";
import { Value, nodeBytes, valueAt } from "./value";

/** Options of a hook, for the host. */
export class Hook {
  private options: ObjectWriter = new ObjectWriter();

  /** Which tools it wants to hear of, names or patterns with `*`: tool_call and tool_result. */
  tools(names: string[]): Hook {
    this.options.set("tools", quoteAll(names));
    return this;
  }
  /** A fault of the hook stops what the event is about, where it would be passed over. */
  blockOnError(): Hook {
    this.options.text("onError", "block");
    return this;
  }
  /** What the host shall work out before it asks: shell, paths, net, secrets. The event then has `facts`. */
  facts(names: string[]): Hook {
    this.options.set("facts", quoteAll(names));
    return this;
  }
  /** Sets an option to JSON. */
  option(key: string, json: string): Hook {
    this.options.set(key, json);
    return this;
  }
  get json(): string {
    return this.options.json;
  }
}

class Handler {
  hook: Hook = new Hook();
  constructor(
    readonly event: string,
    readonly answer: ((e: Event) => Result) | null,
    readonly observe: ((e: Event) => void) | null,
  ) {}
}

class Tool {
  constructor(
    readonly name: string,
    readonly json: string,
    readonly execute: (run: ToolRun) => ToolOutput,
  ) {}
}

class Command {
  constructor(
    readonly name: string,
    readonly json: string,
    readonly run: (run: CommandRun) => Result,
  ) {}
}

const extension = new ObjectWriter();
const hooks = new ObjectWriter();
const capabilities = new ObjectWriter();
let handlers: Handler[] = [];
let tools: Tool[] = [];
let commands: Command[] = [];
let toolCallHandler: ((call: ToolCall) => Decision) | null = null;
let toolResultHandler: ((result: ToolResult) => ResultEdit) | null = null;
let contextHandler: ((context: Context) => Result) | null = null;
let tableHandler: ((table: Table) => Result) | null = null;
let toolCallHook: Hook | null = null;
let toolResultHook: Hook | null = null;
let contextHook: Hook | null = null;

/** Says what the extension is. name: a letter and up to 63 of a-z, 0-9, - and _; version: x.y.z. */
export function describe(name: string, version: string, description: string = ""): void {
  extension.set("abi", "1").text("name", name).text("version", version);
  if (description.length > 0) extension.text("description", description);
}
/** The JSON Schema of the settings, which the host checks when a set is loaded. */
export function settings(schema: string): void {
  extension.set("config", schema);
}
/** Why the extension wants a capability, for the person who grants it: kv, http, read, ui, session, journal, clock, random. */
export function capability(name: string, reason: string): void {
  capabilities.text(name, reason);
}

/** Asked before a tool runs. */
export function onToolCall(handler: (call: ToolCall) => Decision): Hook {
  toolCallHandler = handler;
  const hook = new Hook();
  toolCallHook = hook;
  return hook;
}
/** Asked before the model sees what a tool returned. */
export function onToolResult(handler: (result: ToolResult) => ResultEdit): Hook {
  toolResultHandler = handler;
  const hook = new Hook();
  toolResultHook = hook;
  return hook;
}
/** Asked before each request to the model, with all messages. */
export function onContext(handler: (context: Context) => Result): Hook {
  contextHandler = handler;
  const hook = new Hook();
  contextHook = hook;
  return hook;
}
/** Asked before each request to the model, with 32 bytes a message. */
export function onContextTable(handler: (table: Table) => Result): Hook {
  tableHandler = handler;
  const hook = new Hook().option("view", '"table"');
  contextHook = hook;
  return hook;
}
/** Asked at another event; its handler answers with what docs/events.md lists for it. */
export function on(event: string, handler: (e: Event) => Result): Hook {
  const h = new Handler(event, handler, null);
  handlers.push(h);
  return h.hook;
}
/** Told of an event, without an answer. */
export function observe(event: string, handler: (e: Event) => void): Hook {
  const h = new Handler(event, null, handler);
  handlers.push(h);
  return h.hook;
}
/** Told what the whole set decided. */
export function onDecision(handler: (e: Event) => void): Hook {
  return observe("decision", handler);
}

/** Adds a tool for the model. parameters is a JSON Schema; more may be `new ObjectWriter().text("label", "…").text("executionMode", "parallel")`. */
export function addTool(
  name: string,
  description: string,
  parameters: string,
  execute: (run: ToolRun) => ToolOutput,
  more: ObjectWriter = new ObjectWriter(),
): void {
  tools.push(new Tool(name, more.text("name", name).text("description", description).set("parameters", parameters).json, execute));
}
/** Adds a command for the person; its handler answers with `message(text)`, `none()` or `failEvent(why)`. */
export function addCommand(name: string, description: string, run: (run: CommandRun) => Result): void {
  commands.push(new Command(name, new ObjectWriter().text("name", name).text("description", description).json, run));
}

let described: string = "";

export function describeAll(): i32 {
  if (described.length == 0) described = description();
  return write(described);
}

function description(): string {
  if (toolCallHook) hooks.set("tool_call", toolCallHook!.json);
  if (toolResultHook) hooks.set("tool_result", toolResultHook!.json);
  if (contextHook) hooks.set("context", contextHook!.json);
  for (let i = 0; i < handlers.length; i++) {
    if (handlers[i].event == "decision") extension.set("decisions", handlers[i].hook.json);
    else hooks.set(handlers[i].event, handlers[i].hook.json);
  }
  extension.set("hooks", hooks.json);
  if (tools.length > 0) {
    const list = new Text();
    for (let i = 0; i < tools.length; i++) list.comma().add(tools[i].json);
    extension.set("tools", "[" + list.toString() + "]");
  }
  if (commands.length > 0) {
    const list = new Text();
    for (let i = 0; i < commands.length; i++) list.comma().add(commands[i].json);
    extension.set("commands", "[" + list.toString() + "]");
  }
  if (!capabilities.empty) extension.set("capabilities", capabilities.json);
  return extension.json;
}

function write(json: string): i32 {
  encode(json);
  outputWrite(encoded, encodedSize);
  return 0;
}

function failed(text: string): i32 {
  encode(text);
  errorWrite(encoded, encodedSize);
  return 1;
}

function answer(r: Result): i32 {
  const error = r.error;
  return error ? failed(error) : write(r.json);
}

/** Begins a call. No object is on the stack yet, so that all garbage can go: the runtime "minimal" never collects by itself. */
function begin(): void {
  __collect();
  reset();
  readAll((_i, to, offset, size) => inputRead(to, offset, size), 0);
}

/** Begins a call with an event; 0 when it cannot be read. */
function beginEvent(): usize {
  begin();
  const node = parse(read, readSize);
  if (node == 0) failed("the event cannot be read: " + why + ", behind " + whyAt.toString() + " bytes");
  else if (valueAt(node).kind == Kind.Object) return node;
  else failed("the event is no JSON object");
  return 0;
}

function unhandled(hook: string): i32 {
  return failed("nothing handles " + hook);
}

export function runToolCall(): i32 {
  const node = beginEvent();
  if (node == 0) return 1;
  const handler = toolCallHandler;
  return handler ? answer(handler(eventAt<ToolCall>(node))) : unhandled("tool_call");
}

export function runToolResult(): i32 {
  const node = beginEvent();
  if (node == 0) return 1;
  const handler = toolResultHandler;
  return handler ? answer(handler(eventAt<ToolResult>(node))) : unhandled("tool_result");
}

export function runContext(): i32 {
  const table = tableHandler;
  if (table) {
    begin();
    return answer(table(new Table(read, readSize)));
  }
  const node = beginEvent();
  if (node == 0) return 1;
  const handler = contextHandler;
  return handler ? answer(handler(new Context(valueAt(node)))) : unhandled("context");
}

export function runEvent(event: string): i32 {
  const node = beginEvent();
  if (node == 0) return 1;
  for (let i = 0; i < handlers.length; i++) {
    const h = handlers[i];
    if (h.event != event) continue;
    const handler = h.answer;
    if (handler) return answer(handler(eventAt<Event>(node)));
    const observer = h.observe;
    if (observer) observer(eventAt<Event>(node));
    return write("{}");
  }
  return unhandled(event);
}

export function runTool(): i32 {
  const node = beginEvent();
  if (node == 0) return 1;
  const run = eventAt<ToolRun>(node);
  for (let i = 0; i < tools.length; i++) {
    if (!run.get("toolName").is(tools[i].name)) continue;
    const execute = tools[i].execute;
    return answer(execute(run));
  }
  return failed("there is no tool " + run.get("toolName").json);
}

export function runCommand(): i32 {
  const node = beginEvent();
  if (node == 0) return 1;
  const command = eventAt<CommandRun>(node);
  for (let i = 0; i < commands.length; i++) {
    if (!command.get("name").is(commands[i].name)) continue;
    const run = commands[i].run;
    return answer(run(command));
  }
  return failed("there is no command " + command.get("name").json);
}

let configNode: usize = 0;

/** The settings, checked by the host against the schema; not there when the set gives none. Valid as long as the instance. */
export function config(): Value {
  if (configNode == 0) {
    const size = <usize>configRead(0, 0, 0);
    if (size == 0) return valueAt(0);
    const text = heap.alloc(size + 8);
    configRead(text, 0, <u32>size);
    const node = parse(text, size);
    if (node == 0) throw new Error("the settings cannot be read: " + why);
    const bytes = nodeBytes(node);
    configNode = heap.alloc(bytes);
    memory.copy(configNode, node, bytes);
  }
  return valueAt(configNode);
}

/** Lines for the host's log, 256 and 64 KiB a call at most. */
export namespace log {
  function line(level: i32, text: string): void {
    encode(text);
    logWrite(level, encoded, encodedSize);
  }
  export function debug(text: string): void {
    line(0, text);
  }
  export function info(text: string): void {
    line(1, text);
  }
  export function warn(text: string): void {
    line(2, text);
  }
  export function error(text: string): void {
    line(3, text);
  }
}

/** What a throw, a failed cast, an index out of range end in: a fault that says what and where. */
export function end(message: string | null, file: string | null, line: u32, column: u32): void {
  failed((message ? message : "aborted") + " at " + (file ? file : "?") + ":" + line.toString() + ":" + column.toString());
  unreachable();
}

// A plain Extism module on the real development kit. Its exports are those of the other languages beside it.
import { Config, Host, LogLevel, Memory, Var } from "@extism/as-pdk";
import { error_set } from "@extism/as-pdk/lib/env";

function abort(message: string | null, file: string | null, line: u32, column: u32): void {
  unreachable();
}

function text(s: string): Uint8Array {
  return Uint8Array.wrap(String.UTF8.encode(s));
}

// say gives text as the output. Host.outputString counts UTF-16 units and so cuts off what is not ASCII.
function say(s: string): void {
  Host.output(text(s));
}

export function echo(): i32 {
  const m = Memory.allocateBytes(Host.input());
  Host.outputMemory(Memory.allocateBytes(m.toUint8Array()));
  m.free();
  return 0;
}

export function settings(): i32 {
  const keys = Host.inputString().split("\n");
  let out = "";
  for (let i = 0; i < keys.length; i++) {
    const value = Config.get(keys[i]);
    out += keys[i] + "=" + (value === null ? "null" : value) + "\n";
  }
  say(out);
  return 0;
}

export function counter(): i32 {
  const before = Var.get("n");
  const n: i32 = (before === null ? 0 : I32.parseInt(String.UTF8.decode(before.buffer))) + 1;
  Var.set("n", text(n.toString()));
  const last = Var.getString("last");
  Var.set("last", Host.input());
  say(n.toString() + " " + (last === null ? "null" : last));
  return 0;
}

export function forget(): i32 {
  Var.remove("n");
  Var.remove("never set");
  say((Var.get("n") === null).toString());
  return 0;
}

export function logs(): i32 {
  Host.log(LogLevel.Debug, "debug " + Host.inputString());
  Host.log(LogLevel.Info, "info");
  Host.log(LogLevel.Warn, "warn é😀");
  Host.log(LogLevel.Error, "error");
  say("logged");
  return 0;
}

export function fails(): i32 {
  const said = Host.input();
  if (said.length == 0) return 3;
  say("an output that must not count");
  error_set(Memory.allocateBytes(said).offset);
  return 0;
}

export function bytes(): i32 {
  const turned = Host.input();
  turned.reverse();
  const m = Memory.allocate(turned.length + 1);
  const out = new Uint8Array(turned.length + 1);
  out.set(turned);
  out[turned.length] = 33;
  m.store(out);
  const back = new Uint8Array(out.length);
  m.load(back);
  Host.output(back);
  return 0;
}

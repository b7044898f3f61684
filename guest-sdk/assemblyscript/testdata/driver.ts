// The reader under test: shows every value of its input as the SDK reads it. And a hook that ends in different ways.
import { Decision, Kind, ObjectWriter, Text, ToolCall, Value, allow, describe, fail, onToolCall, quote } from "./weir";
import { encode, encoded, encodedSize, read, readAll, readSize } from "./weir/bytes";
import { inputRead, errorWrite, outputWrite } from "./weir/host";
import { reset } from "./weir/arena";
import { parse, why } from "./weir/scan";
import { valueAt } from "./weir/value";
export { tool_call, weir_describe } from "./weir";
export { show_value as read_json };

describe("driver", "1.0.0");
onToolCall(decide);

function decide(call: ToolCall): Decision {
  const what = call.arg("do").text;
  const list = [1, 2, 3];
  if (what == "throw") throw new Error("it is broken: é");
  if (what == "index") return fail(list[<i32>call.arg("index").int()].toString());
  if (what == "fail") return fail("cannot decide");
  return allow();
}

/** Strings decoded and written anew, numbers as text, integer and bits, keys once. */
function show(v: Value): string {
  if (v.kind == Kind.String) return quote(v.text);
  if (v.kind == Kind.Number) {
    const integer = v.int(1) == v.int(2) ? v.int(1).toString() : "null";
    return new ObjectWriter().set("raw", quote(v.json)).set("int", integer).text("bits", reinterpret<u64>(v.number()).toString(16)).json;
  }
  const out = new Text();
  if (v.kind == Kind.Array) {
    const all = v.elements();
    for (let i = 0; i < all.length; i++) out.comma().add(show(all[i]));
    return "[" + out.toString() + "]";
  }
  if (v.kind == Kind.Object) {
    const keys = v.keys();
    for (let i = 0; i < keys.length; i++) out.add(",[").add(quote(keys[i])).add(",").add(show(v.get(keys[i]))).add("]");
    return '["object"' + out.toString() + "]";
  }
  return v.json;
}

/** Exported besides the hooks. */
export function show_value(): i32 {
  __collect();
  reset();
  readAll((_i, to, offset, size) => inputRead(to, offset, size), 0);
  const node = parse(read, readSize);
  encode(node == 0 ? why : show(valueAt(node)));
  if (node == 0) {
    errorWrite(encoded, encodedSize);
    return 1;
  }
  outputWrite(encoded, encodedSize);
  return 0;
}

// The guest of guest-sdk/tck/SPEC.md that has context in full.
import { Context, Result, describe, failEvent, onContext, quote } from "./weir";
export { context, weir_describe } from "./weir";

describe("tck-json", "1.0.0");
onContext(prune);

function prune(c: Context): Result {
  const all = c.messages;
  for (let i = 0; i < all.length; i++) {
    const m = all[i];
    if (!m.get("role").is("custom")) continue;
    const name = m.get("customType").text;
    if (name == "drop" || name == "twice") c.drop(i);
    if (name == "twice") c.drop(i);
    if (name == "replace") c.replace(i, m.with("content", quote("replaced")));
    if (name == "roles") c.replace(i, m.with("content", quote(roles(c))));
    if (name == "insert") c.insert(i, '{"role":"user","content":"inserted","timestamp":0}');
    if (name == "append") c.insert(all.length, '{"role":"user","content":"appended","timestamp":0}');
    if (name == "fail") return failEvent("as told");
    if (name == "panic") throw new Error("as told");
  }
  return c.edits;
}

function roles(c: Context): string {
  const out: string[] = [];
  for (let i = 0; i < c.messages.length; i++) out.push(c.messages[i].get("role").text);
  return out.join(",");
}

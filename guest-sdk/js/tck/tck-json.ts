// The guest of guest-sdk/tck/SPEC.md that has context in full.
import type { ContextEvent, ContextResult, Describe } from "weir";

export const describe: Describe = { name: "tck-json", version: "1.0.0", hooks: { context: { view: "full" } } };

export function context({ messages }: ContextEvent): ContextResult {
  const drop: number[] = [];
  const replace: { at: number; message: any }[] = [];
  const insert: { at: number; message: any }[] = [];
  const say = (at: number, content: string) => insert.push({ at, message: { role: "user", content, timestamp: 0 } });
  messages.forEach((message, at) => {
    if (message.role !== "custom") return;
    switch (message.customType) {
      case "drop":
        drop.push(at);
        break;
      case "twice":
        drop.push(at, at);
        break;
      case "replace":
        replace.push({ at, message: { ...message, content: "replaced" } });
        break;
      case "roles":
        replace.push({ at, message: { ...message, content: messages.map((m) => m.role).join(",") } });
        break;
      case "insert":
        say(at, "inserted");
        break;
      case "append":
        say(messages.length, "appended");
        break;
      case "fail":
      case "panic":
        throw new Error("as told");
    }
  });
  return drop.length + replace.length + insert.length > 0 ? { drop, replace, insert } : {};
}

// What handlers get. All of it is valid until the handler returns.

import { encode, encoded, encodedSize } from "./bytes";
import { Facts } from "./facts";
import { toolUpdate } from "./host";
import { Value, valueAt } from "./value";
import { Text, quote } from "./text";

/** An event: a JSON object. `get` reads its members, which docs/events.md lists. */
@unmanaged
export class Event extends Value {
  /** sessionId, extension, cwd, mode, hasUI, model, thinkingLevel, turnIndex, callIndex. */
  get context(): Value {
    return this.get("context");
  }
}

/** A tool call that is about to run. */
@unmanaged
export class ToolCall extends Event {
  get toolName(): string {
    return this.get("toolName").text;
  }
  get id(): string {
    return this.get("toolCallId").text;
  }
  /** The arguments, an object. */
  get input(): Value {
    return this.get("input");
  }
  /** One argument. */
  arg(name: string): Value {
    return this.get("input").get(name);
  }
  /** What the host worked out about it: the kinds that the hook named with `facts`. */
  get facts(): Facts {
    return changetype<Facts>(changetype<usize>(this.get("facts")));
  }
  /** The extension was asked before, with other arguments. Do not count such a call again. */
  get recheck(): bool {
    return this.get("recheck").bool();
  }
}

/** What a tool returned. */
@unmanaged
export class ToolResult extends ToolCall {
  /** An array of blocks. */
  get content(): Value {
    return this.get("content");
  }
  get details(): Value {
    return this.get("details");
  }
  get isError(): bool {
    return this.get("isError").bool();
  }
  /** The texts of all text blocks, one after the other. */
  get contentText(): string {
    const out = new Text();
    const blocks = this.content.elements();
    for (let i = 0; i < blocks.length; i++) if (blocks[i].get("type").is("text")) out.add(blocks[i].get("text").text);
    return out.toString();
  }
  /** The content, as JSON, with the text of each text block changed by f. Other blocks, and what else is in a block, stay. */
  mapText(f: (text: string) => string): string {
    const out = new Text();
    const blocks = this.content.elements();
    for (let i = 0; i < blocks.length; i++) {
      const b = blocks[i];
      out.comma().add(b.get("type").is("text") ? b.with("text", quote(f(b.get("text").text))) : b.json);
    }
    return "[" + out.toString() + "]";
  }
}

/** A run of one of the extension's tools. */
@unmanaged
export class ToolRun extends Event {
  get toolName(): string {
    return this.get("toolName").text;
  }
  get id(): string {
    return this.get("toolCallId").text;
  }
  get args(): Value {
    return this.get("args");
  }
  /** Reports a partial result, `{"content":[…]}`. */
  update(json: string): void {
    encode(json);
    toolUpdate(encoded, encodedSize);
  }
}

/** A run of one of the extension's commands. */
@unmanaged
export class CommandRun extends Event {
  get name(): string {
    return this.get("name").text;
  }
  /** What stands behind the command's name. */
  get args(): string {
    return this.get("args").text;
  }
}

export function eventAt<T>(node: usize): T {
  return changetype<T>(changetype<usize>(valueAt(node)));
}

// The history: what the model is about to see, and edits of it.

import { Result } from "./answer";
import { read, readAll, readSize } from "./bytes";
import { messageRead } from "./host";
import { parse, why } from "./scan";
import { ObjectWriter, Text } from "./text";
import { Value, valueAt } from "./value";

/**
 * Edits of the history. Indexes are those of the messages as received; an index may be dropped or replaced once. The host refuses
 * edits that part a tool call from its result or leave nothing.
 */
export class Edits {
  private drops: Text = new Text();
  private replaces: Text = new Text();
  private inserts: Text = new Text();

  drop(index: i32): void {
    this.drops.comma().add(index.toString());
  }
  /** Puts a message (JSON, of the same role) in place of one. */
  replace(index: i32, message: string): void {
    edit(this.replaces, index, message);
  }
  /** Puts a message before one; at the number of messages it is appended. */
  insert(index: i32, message: string): void {
    edit(this.inserts, index, message);
  }
  /** The answer of the handler: all edits made so far. */
  get edits(): Result {
    const out = new ObjectWriter();
    if (this.drops.length > 0) out.set("drop", "[" + this.drops.toString() + "]");
    if (this.replaces.length > 0) out.set("replace", "[" + this.replaces.toString() + "]");
    if (this.inserts.length > 0) out.set("insert", "[" + this.inserts.toString() + "]");
    return new Result(out.json);
  }
}

function edit(list: Text, at: i32, message: string): void {
  list.comma().add('{"at":').add(at.toString()).add(',"message":').add(message).add("}");
}

/** The history in full, for `onContext`. Each call copies and reads all of it; a long one is better seen as a Table. */
export class Context extends Edits {
  /** All messages, as a session's file has them. */
  readonly messages: Value[];

  constructor(
    /** The event. */
    readonly event: Value,
  ) {
    super();
    this.messages = event.get("messages").elements();
  }
}

/** Who a message is from. */
export const enum Role {
  User = 1,
  Assistant,
  ToolResult,
  Custom,
  BashExecution,
  BranchSummary,
  CompactionSummary,
  Other = 255,
}

/** The name of a role, as messages have it. */
export function roleName(role: Role): string {
  switch (role) {
    case Role.User: return "user";
    case Role.Assistant: return "assistant";
    case Role.ToolResult: return "toolResult";
    case Role.Custom: return "custom";
    case Role.BashExecution: return "bashExecution";
    case Role.BranchSummary: return "branchSummary";
    case Role.CompactionSummary: return "compactionSummary";
  }
  return "other";
}

/** One message of a Table, 32 bytes as the host lays them out (docs/abi.md, section 7). */
@unmanaged
export class Row {
  private tag: u8;
  private flags: u8;
  private nameIndex: u16;
  /** Bytes of all its text blocks. */
  readonly textBytes: u32;
  /** Bytes of its JSON. */
  readonly encodedBytes: u32;
  private pairIndex: u32;
  /** Its number in the session, which stays when it is replaced; 0 when an extension inserted it. */
  readonly id: u64;
  /** Milliseconds since 1970. */
  readonly time: i64;

  get role(): Role {
    return <Role>this.tag;
  }
  get isError(): bool {
    return (this.flags & 1) != 0;
  }
  get hasImage(): bool {
    return (this.flags & 2) != 0;
  }
  get hasToolCall(): bool {
    return (this.flags & 4) != 0;
  }
  get hasThinking(): bool {
    return (this.flags & 8) != 0;
  }
  get display(): bool {
    return (this.flags & 16) != 0;
  }
  /** Of a tool result: the index of the message with its call. Otherwise -1. */
  get pair(): i32 {
    return <i32>this.pairIndex;
  }
  /** The number of its name in the table's list of names. */
  get nameNumber(): i32 {
    return this.nameIndex;
  }
}

/** The history as a table, for `onContextTable`: 32 bytes a message, and a body only when it is asked for. */
export class Table extends Edits {
  /** How many messages there are. */
  readonly length: i32;
  /** cwd, model and so on, as in every event. */
  readonly context: Value;
  private names: string[];

  constructor(
    private at: usize,
    size: usize,
  ) {
    super();
    this.length = 0;
    this.context = valueAt(0);
    this.names = [];
    if (size < 32 || load<u32>(at) != 0x31544d57) throw new Error('the context is no table: describe it with "view":"table"');
    const n = <usize>load<u32>(at, 4);
    const from = <usize>load<u32>(at, 8), bytes = <usize>load<u32>(at, 12);
    const strings = <usize>load<u32>(at, 16), stringBytes = <usize>load<u32>(at, 20);
    if (n > (size - 32) / 32 || from > size || bytes > size - from || strings > size || stringBytes > size - strings || stringBytes < 2) {
      throw new Error("the table of the context is damaged");
    }
    // The strings stand behind the object and serve as the readable bytes that parse asks for; the input has 8 more.
    const object = parse(at + from, bytes);
    if (object == 0) throw new Error("the table of the context is damaged: " + why);
    this.length = <i32>n;
    this.context = valueAt(object);
    let s = at + strings + 2;
    const e = at + strings + stringBytes;
    for (let left = load<u16>(at + strings); left > 0; left--) {
      if (e - s < 2 || e - s - 2 < <usize>load<u16>(s)) throw new Error("the table of the context is damaged");
      const length = <usize>load<u16>(s);
      this.names.push(String.UTF8.decodeUnsafe(s + 2, length));
      s += 2 + length;
    }
  }

  /** The header of a message. */
  row(index: i32): Row {
    if (<u32>index >= <u32>this.length) throw new RangeError("there is no such message");
    return changetype<Row>(this.at + 32 + (<usize>index << 5));
  }
  /** The tool's name or the customType of a message; "" when it has none. */
  name(index: i32): string {
    return this.names[this.row(index).nameNumber];
  }
  /** The body of a message, read from the host. */
  message(index: i32): Value {
    this.row(index);
    readAll((i, to, offset, size) => messageRead(i, to, offset, size), <u32>index);
    const node = parse(read, readSize);
    if (node == 0) throw new Error("message " + index.toString() + ": " + why);
    return valueAt(node);
  }
}

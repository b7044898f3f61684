// The session that the extension is part of.

import { encode, encoded, encodedSize } from "./bytes";
import { Reply, part, response } from "./capability";
import { sessionCall } from "./host";
import { ObjectWriter, quoteAll } from "./text";

/** A message for the model: `session.send({ customType: "note", content: quote("…"), display: true })`. */
export class SessionMessage {
  customType: string;
  /** JSON: a text (`quote`) or an array of blocks (`textContent`). */
  content: string;
  /** A person sees it too. */
  display: bool = false;
  /** JSON that the model does not see; "" for none. */
  details: string = "";
  /** It starts a run when none is under way; false leaves that to the session. */
  trigger: bool = false;
  /** steer, followUp, nextTurn, or "" for before the next turn. */
  deliver: string = "";
}

/** How a branch is left: `{ summarize: true }`. */
export class SessionNavigation {
  summarize: bool = false;
  /** For the summary. */
  instructions: string = "";
  /** The instructions are all that the model is told. */
  replace: bool = false;
  label: string = "";
}

/**
 * The session that the extension is part of: the grant `session`. Each function needs the right that it names; what is not granted, and
 * a place without a session, is a reply that is not `ok`.
 */
export namespace session {
  /** Any request: op names the operation, members are its further members. docs/abi.md lists the operations. */
  export function call(op: string, members: ObjectWriter = new ObjectWriter()): Reply {
    encode(members.text("op", op).json);
    return response("session", sessionCall(encoded, encodedSize));
  }

  /**
   * What the session is and does: id, name, cwd, file, leaf, entries, messages, idle, streaming, compacting, retrying, aborted, queued,
   * model, thinkingLevel, systemPrompt, contextUsage. Right: read.
   */
  export function state(): Reply {
    return call("state");
  }
  /**
   * `entries`, those of the session's file that follow the one of the id after, or from the first for "", and `more`: further ones
   * follow. limit is 1 to 1000; a page has 8 MiB at most. Right: read.
   */
  export function entries(after: string = "", limit: i32 = 100): Reply {
    return call("entries", optional(new ObjectWriter().set("limit", limit.toString()), "after", after));
  }
  /** An entry by its id. Right: read. */
  export function entry(id: string): Reply {
    return part(call("entry", new ObjectWriter().text("id", id)), "entry");
  }
  /** `messages`, those that the model works with, from the index from on, and `total`, how many there are. limit as of entries. Right: read. */
  export function messages(from: i32 = 0, limit: i32 = 100): Reply {
    return call("messages", new ObjectWriter().set("from", from.toString()).set("limit", limit.toString()));
  }
  /** An array of name, description, active (offered to the model). Right: read. */
  export function tools(): Reply {
    return part(call("tools"), "tools");
  }
  /** Keeps data (JSON, or "" for none) in the session's file and out of the conversation. Answers the entry's id. Right: append. */
  export function append(customType: string, data: string = ""): Reply {
    const members = new ObjectWriter().text("customType", customType);
    if (data.length > 0) members.set("data", data);
    return part(call("append", members), "id");
  }
  /** Labels an entry; "" takes the label away. Right: append. */
  export function label(entryId: string, text: string): Reply {
    return call("label", new ObjectWriter().text("entryId", entryId).text("label", text));
  }
  /** Names the session; "" takes the name away. Right: append. */
  export function name(text: string): Reply {
    return call("name", new ObjectWriter().text("name", text));
  }
  /** Gives the model a message and does not wait for a run that it starts. Right: send. */
  export function send(m: SessionMessage): Reply {
    const members = new ObjectWriter().text("customType", m.customType).set("content", m.content);
    if (m.details.length > 0) members.set("details", m.details);
    return call("send", optional(flag(flag(members, "display", m.display), "trigger", m.trigger), "deliver", m.deliver));
  }
  /**
   * Says content, JSON of a text or an array of blocks, as if the person had. deliver, steer or followUp, is needed during a run and
   * otherwise "". Right: send.
   */
  export function prompt(content: string, deliver: string = ""): Reply {
    return call("prompt", optional(new ObjectWriter().set("content", content), "deliver", deliver));
  }
  /** Sets the tools that the model is offered from the next turn on. Answers them; unknown names are left out. Right: control. */
  export function setTools(names: string[]): Reply {
    return part(call("set_tools", new ObjectWriter().set("tools", quoteAll(names))), "tools");
  }
  /** Sets the model. Right: control. */
  export function setModel(provider: string, id: string): Reply {
    return call("set_model", new ObjectWriter().text("provider", provider).text("id", id));
  }
  /** Sets the level as far as the model allows, and answers it. Right: control. */
  export function setThinkingLevel(level: string): Reply {
    return part(call("set_thinking_level", new ObjectWriter().text("level", level)), "level");
  }
  /** Ends the run, a retry, a compaction: when the handler has returned, as the functions below begin then. Right: control. */
  export function abort(): Reply {
    return call("abort");
  }
  /** Compacts the conversation. Right: control. */
  export function compact(instructions: string = ""): Reply {
    return call("compact", optional(new ObjectWriter(), "instructions", instructions));
  }
  /** Puts a new session in the place of this one. Right: control. */
  export function newSession(): Reply {
    return call("new");
  }
  /** Continues in a new session from before an entry, or at it. Right: control. */
  export function fork(entryId: string, at: bool = false): Reply {
    return call("fork", new ObjectWriter().text("entryId", entryId).text("position", at ? "at" : "before"));
  }
  /** Moves to another entry, when no run is under way. Right: control. */
  export function navigate(entryId: string, how: SessionNavigation = {}): Reply {
    const members = flag(flag(new ObjectWriter().text("entryId", entryId), "summarize", how.summarize), "replace", how.replace);
    return call("navigate", optional(optional(members, "instructions", how.instructions), "label", how.label));
  }
}

function optional(members: ObjectWriter, key: string, text: string): ObjectWriter {
  return text.length > 0 ? members.text(key, text) : members;
}

function flag(members: ObjectWriter, key: string, is: bool): ObjectWriter {
  return is ? members.set(key, "true") : members;
}

// What handlers answer.

import { quote, words } from "./text";

/** What any handler answers: JSON, or the reason why it could not decide. */
export class Result {
  constructor(
    /** What the host is given. */
    public json: string,
    /** Not null: the hook fails with this text. */
    public error: string | null = null,
  ) {}
}

/** What a tool_call handler answers. */
export class Decision extends Result {}

/** Lets the call run, as far as this extension is concerned. */
export function allow(): Decision {
  return new Decision("{}");
}
/** The call does not run; the model is shown the reason. */
export function block(reason: string): Decision {
  return new Decision('{"block":true,"reason":' + words(reason) + "}");
}
/** Like block, and the run ends. */
export function terminate(reason: string): Decision {
  return new Decision('{"block":true,"terminate":true,"reason":' + words(reason) + "}");
}
/** The call runs when a person agrees; where there is none it is blocked. */
export function ask(title: string, message: string = ""): Decision {
  return new Decision('{"ask":{"title":' + words(title) + (message.length > 0 ? ',"message":' + words(message) : "") + "}}");
}
/** The call runs with other arguments, a JSON object: `rewrite(call.input.with("command", quote("ls")))`. */
export function rewrite(input: string): Decision {
  return new Decision('{"input":' + input + "}");
}
/** No decision: a fault, for which the host blocks the call. */
export function fail(why: string): Decision {
  return new Decision("", why);
}

/** What a tool_result handler answers: members replace what the tool returned. */
export class ResultEdit extends Result {
  private add(key: string, json: string): ResultEdit {
    this.json = (this.json.length > 2 ? this.json.slice(0, -1) + "," : "{") + '"' + key + '":' + json + "}";
    return this;
  }
  /** Replaces the content: JSON, an array of blocks. See `textContent`. */
  content(json: string): ResultEdit {
    return this.add("content", json);
  }
  details(json: string): ResultEdit {
    return this.add("details", json);
  }
  isError(is: bool): ResultEdit {
    return this.add("isError", is ? "true" : "false");
  }
  usage(json: string): ResultEdit {
    return this.add("usage", json);
  }
}

/** Leaves a result as it is; `keep().isError(true)` changes one part of it. */
export function keep(): ResultEdit {
  return new ResultEdit("{}");
}
/** Replaces the content by JSON, an array of blocks. */
export function replaceContent(json: string): ResultEdit {
  return keep().content(json);
}
/** tool_result cannot be decided: a fault. */
export function failResult(why: string): ResultEdit {
  return new ResultEdit("", why);
}

/** What tool_execute returns. */
export class ToolOutput extends Result {
  private add(key: string, json: string): ToolOutput {
    this.json = this.json.slice(0, -1) + ',"' + key + '":' + json + "}";
    return this;
  }
  details(json: string): ToolOutput {
    return this.add("details", json);
  }
  /** Says that the tool failed; the model is told. */
  isError(): ToolOutput {
    return this.add("isError", "true");
  }
  /** Ends the run. */
  terminate(): ToolOutput {
    return this.add("terminate", "true");
  }
}

/** The content that a tool returns: JSON, an array of blocks. See `textContent`. */
export function output(content: string): ToolOutput {
  return new ToolOutput('{"content":' + content + "}");
}

/** No opinion about an event. */
export function none(): Result {
  return new Result("{}");
}
/** Answers an event with JSON, an object of the keys that docs/events.md lists. */
export function reply(json: string): Result {
  return new Result(json);
}
/** The event cannot be decided: a fault. */
export function failEvent(why: string): Result {
  return new Result("", why);
}
/** input: the text becomes another. */
export function transform(text: string): Result {
  return new Result('{"action":"transform","text":' + quote(text) + "}");
}
/** input: it is dealt with, and the model does not see it. */
export function handled(): Result {
  return new Result('{"action":"handled"}');
}
/** session_before_*: it does not happen. */
export function cancel(): Result {
  return new Result('{"cancel":true}');
}
/** command_execute: what the person is shown. */
export function message(text: string): Result {
  return new Result('{"message":' + words(text) + "}");
}

// A policy with every kind of answer, for the tests of test files.
import type { ContextEvent, ContextResult, Describe, ToolCall, ToolCallResult, ToolResult, ToolResultResult } from "weir";
import { config } from "weir";

export const describe: Describe = {
  name: "every-answer",
  version: "1.0.0",
  hooks: { tool_call: { tools: ["bash", "edit"] } },
  config: { type: "object", properties: { limit: { type: "integer" }, word: { type: "string" } }, additionalProperties: false },
};

let calls = 0;

export function tool_call(event: ToolCall): ToolCallResult | undefined {
  const { command } = event.input;
  calls++;
  const { limit } = config;
  if (limit !== undefined && calls > limit) return { block: true, reason: `call ${calls} is one too many` };
  if (command === "ask") return { ask: { title: "Really?", message: "It is " + command } };
  if (command === "rewrite") return { input: { command: "echo <b>", n: 1 } };
  if (command === "throw") throw new Error("thrown on purpose");
}

export function tool_result(event: ToolResult): ToolResultResult | undefined {
  const first = event.content[0];
  if (first && first.type === "text" && first.text.includes("secret")) return { content: [{ type: "text", text: "gone" }] };
}

export function context(event: ContextEvent): ContextResult | undefined {
  if (event.messages.length < 3) return;
  return { drop: [1], replace: [{ at: 2, message: { role: "user", content: "replaced", timestamp: 3 } }] };
}

export function input(event: { text: string }) {
  if (event.text === "never asked by the tests") return { action: "handled" };
}

// A policy that blocks rm -rf.
import type { Describe, ToolCall, ToolCallResult } from "weir";

export const describe: Describe = { name: "no-rm-rf", version: "1.0.0", description: "Blocks rm -rf." };

export function tool_call(event: ToolCall): ToolCallResult | undefined {
  const { command } = event.input;
  if (event.toolName === "bash" && typeof command === "string" && /\brm\s+-rf\b/.test(command)) {
    return { block: true, reason: "rm -rf is not allowed" };
  }
}

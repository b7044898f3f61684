import { denied } from "./rules";

interface ToolCall {
  toolName: string;
  input: Record<string, unknown>;
}

export const describe = { name: "bench", version: "1.0.0" };

export function tool_call(event: ToolCall) {
  const command = event.input.command;
  if (event.toolName === "bash" && typeof command === "string" && denied(command)) {
    return { block: true, reason: "rm -rf is not allowed" };
  }
}

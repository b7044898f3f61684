import { Decision, ToolCall, allow, block, describe, onToolCall } from "./weir";
export { tool_call, weir_describe } from "./weir";

describe("no-push", "1.0.0", "Stops git push.");
onToolCall(decide).tools(["bash"]);

function decide(call: ToolCall): Decision {
  if (call.arg("command").text.includes("git push")) return block("push by hand, please");
  return allow();
}

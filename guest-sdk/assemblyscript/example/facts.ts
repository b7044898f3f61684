import { Decision, ToolCall, allow, ask, block, describe, onToolCall } from "./weir";
export { tool_call, weir_describe } from "./weir";

describe("no-push", "1.0.0", "Leaves git push to people.");
onToolCall(decide).tools(["bash"]).facts(["shell"]);

function decide(call: ToolCall): Decision {
  const shell = call.facts.shell;
  if (shell == null) return ask("Run a command of which nothing is known?");
  if (!shell.understood) return ask("Run a command that cannot be read?", shell.reason);
  for (let i = 0; i < shell.commands.length; i++) {
    const command = shell.commands[i];
    if (command.dynamic) return ask("Run a command that is not known before it runs?");
    if (command.is(0, "git") && command.is(1, "push")) return block("pushing is for people");
  }
  return allow();
}

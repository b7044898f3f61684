// Makes every request of the session and answers what came of it, a line each.
import { Decision, Reply, ToolCall, block, capability, describe, onToolCall, quote, session } from "./weir";
export { tool_call, weir_describe } from "./weir";

describe("session", "1.0.0");
capability("session", "all of it");
onToolCall(decide);

function decide(_call: ToolCall): Decision {
  const replies: Reply[] = [
    session.state(),
    session.entries(),
    session.entries("e1", 5),
    session.entry("e1"),
    session.messages(),
    session.messages(2, 3),
    session.tools(),
    session.append("todo"),
    session.append("todo", '{"a":1}'),
    session.label("e1", ""),
    session.name('a "walk"'),
    session.send({ customType: "note", content: "[]", trigger: true }),
    session.send({ customType: "note", content: quote("hi"), display: true, details: "[1]", trigger: true, deliver: "nextTurn" }),
    session.prompt(quote("go")),
    session.prompt(quote("go"), "steer"),
    session.setTools([]),
    session.setTools(["read", "x"]),
    session.setModel("p", "m"),
    session.setThinkingLevel("max"),
    session.abort(),
    session.compact(),
    session.compact("short"),
    session.newSession(),
    session.fork("e1"),
    session.fork("e1", true),
    session.navigate("e1"),
    session.navigate("e1", { replace: true }),
    session.navigate("e1", { summarize: true, instructions: "i", replace: true, label: "l" }),
  ];
  return block(replies.map<string>((r) => (r.ok ? r.value.json : r.error)).join("\n"));
}

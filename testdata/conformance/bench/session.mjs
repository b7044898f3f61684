#!/usr/bin/env node
// The reference's side of the tests of shared session files, on the published package.
// Usage: PI_MODULES=<folder @earendil-works> node session.mjs read FILE | append FILE | create FOLDER
// Prints one JSON object: what the reference makes of the file after that.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const PI = process.env.PI_MODULES ?? "node_modules/@earendil-works";
const { SessionManager } = await import(pathToFileURL(join(PI, "pi-coding-agent/dist/core/session-manager.js")).href);

const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, totalTokens: 10, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.5 } };
const user = (text) => ({ role: "user", content: text, timestamp: 1700000000000 });
const assistant = (content) => ({ role: "assistant", content, api: "a", provider: "p", model: "m", usage, stopReason: "stop", timestamp: 1700000001000 });

const [what, where] = process.argv.slice(2);
let m;
if (what === "create") {
  m = SessionManager.create("/home/dev/project", where);
  m.appendModelChange("p", "m");
  m.appendThinkingLevelChange("high");
  m.appendMessage(user("first \u2028 <é> \ud83d\ude00"));
  const fork = m.appendMessage(assistant([{ type: "thinking", thinking: "hm", thinkingSignature: "sig" }, { type: "text", text: "answer" }, { type: "toolCall", id: "c1", name: "bash", arguments: { command: "ls", n: 1e21 } }]));
  m.appendMessage({ role: "toolResult", toolCallId: "c1", toolName: "bash", content: [{ type: "text", text: "a\nb" }, { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" }], isError: false, details: { exit: 0 }, timestamp: 1700000002000 });
  const kept = m.appendMessage(user("second"));
  m.appendMessage(assistant([{ type: "text", text: "more" }]));
  m.appendCustomEntry("state", { a: [1, null, "x"] });
  m.appendCustomMessageEntry("note", "shown to the model", true, { d: 1 });
  m.appendLabelChange(fork, "here");
  m.appendSessionInfo("A shared talk");
  m.appendCompaction("what was said", kept, 1234, { files: [] });
  m.appendMessage(user("third"));
  m.appendMessage(assistant([{ type: "text", text: "on the first branch" }]));
  m.branchWithSummary(fork, "left the first branch");
  m.appendMessage(user("fourth"));
  m.appendMessage(assistant([{ type: "text", text: "on the second branch" }]));
} else {
  m = SessionManager.open(where);
  if (what === "append") {
    m.appendMessage(user("from the reference"));
    m.appendMessage(assistant([{ type: "text", text: "heard" }]));
  }
}
const context = m.buildSessionContext();
console.log(JSON.stringify({
  file: m.getSessionFile(), id: m.getSessionId(), cwd: m.getCwd(), name: m.getSessionName() ?? "", leaf: m.getLeafId(),
  entries: m.getEntries().map((e) => ({ id: e.id, parentId: e.parentId, type: e.type, label: m.getLabel(e.id) ?? "" })),
  messages: context.messages, thinkingLevel: context.thinkingLevel, model: context.model,
}));

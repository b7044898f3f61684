#!/usr/bin/env node
// The reference's side of the benchmarks of agentcore: the same scripts, on the published packages.
// Usage: PI_MODULES=<folder @earendil-works> node loop.mjs [rounds]
// Prints one JSON object: nanoseconds per streamed delta and per tool call, the median of the rounds.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const DELTAS = 10_000, CALLS = 1_000;
const PI = process.env.PI_MODULES ?? "node_modules/@earendil-works";
const { Agent } = await import(pathToFileURL(join(PI, "pi-agent-core/dist/index.js")).href);

const model = { id: "m1", name: "M1", api: "fake-api", provider: "fake", baseUrl: "", reasoning: false, input: ["text"], cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 100000, maxTokens: 8000 };
const usage = () => ({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } });
const message = (content, stopReason) => ({ role: "assistant", content, api: "fake-api", provider: "fake", model: "m1", usage: usage(), stopReason, timestamp: Date.now() });
const response = (generator, final) => ({ [Symbol.asyncIterator]: generator, result: async () => final });

// one text of n deltas
function streamer(n) {
  return () => {
    const out = message([], "pending");
    const block = { type: "text", text: "" };
    return response(async function* () {
      yield { type: "start", partial: out };
      out.content.push(block);
      yield { type: "text_start", contentIndex: 0, partial: out };
      for (let i = 0; i < n; i++) {
        block.text += "delta ";
        yield { type: "text_delta", contentIndex: 0, delta: "delta ", partial: out };
      }
      yield { type: "text_end", contentIndex: 0, content: block.text, partial: out };
      out.stopReason = "stop";
      yield { type: "done", reason: "stop", message: out };
    }, out);
  };
}
const whole = (final) => response(async function* () { yield { type: "done", reason: final.stopReason, message: final }; }, final);
const call = (i) => ({ type: "toolCall", id: `c${i}`, name: "noop", arguments: { path: "a/b" } });
const answer = () => whole(message([{ type: "text", text: "done" }], "stop"));

// n calls, one a turn
function caller(n) {
  let turn = 0;
  return () => (turn < n ? whole(message([call(turn++)], "toolUse")) : answer());
}
// n calls in one message
function batcher(n) {
  let first = true;
  return () => {
    if (!first) return answer();
    first = false;
    return whole(message(Array.from({ length: n }, (_, i) => call(i)), "toolUse"));
  };
}

const noop = { name: "noop", label: "noop", description: "noop", parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] }, execute: async () => ({ content: [{ type: "text", text: "ok" }], details: {} }) };

async function measure(streamFn, units, { listeners = 0, toolExecution } = {}) {
  const agent = new Agent({ initialState: { systemPrompt: "", model, tools: [noop], messages: [] }, streamFn, toolExecution });
  let seen = 0;
  for (let i = 0; i < listeners; i++) agent.subscribe((e) => { if (e.type === "message_update") seen += e.assistantMessageEvent.delta?.length ?? 0; });
  const t = process.hrtime.bigint();
  await agent.prompt("go");
  return Number(process.hrtime.bigint() - t) / units;
}

const shapes = {
  "delta/listeners=0": () => measure(streamer(DELTAS), DELTAS),
  "delta/listeners=5": () => measure(streamer(DELTAS), DELTAS, { listeners: 5 }),
  "call/one-a-turn": () => measure(caller(CALLS), CALLS),
  "call/sequential": () => measure(batcher(CALLS), CALLS, { toolExecution: "sequential" }),
  "call/parallel": () => measure(batcher(CALLS), CALLS),
};
const rounds = Number(process.argv[2] ?? 15);
const out = {};
for (const [name, run] of Object.entries(shapes)) {
  await run(); // warm up
  const all = [];
  for (let i = 0; i < rounds; i++) all.push(await run());
  out[name] = all.sort((a, b) => a - b)[Math.floor(rounds / 2)];
}
console.log(JSON.stringify(out));

#!/usr/bin/env node
// The reference's side of the benchmarks of hooks: its own ExtensionRunner, with handlers that decide what the guests beside it decide.
// Usage: PI_MODULES=<folder @earendil-works> node hooks.mjs HISTORY.json
// Reads requests, one JSON object a line, and answers each with one line, the nanoseconds of each round:
//   {"hook":"tool_call"|"context","extensions":1,"rounds":40,"calls":1000,"flush":false}
// A round is so many calls, and its time is divided by them. With flush 64 MiB are written before each round.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const PI = process.env.PI_MODULES ?? "node_modules/@earendil-works";
const { ExtensionRunner } = await import(pathToFileURL(join(PI, "pi-coding-agent/dist/core/extensions/runner.js")).href);
const history = JSON.parse(readFileSync(process.argv[2], "utf8"));
const junk = new Uint8Array(64 << 20);

const event = () => ({
  type: "tool_call", toolName: "bash", toolCallId: "toolu_017qEkVzzPb7b7o4FkgJLF23",
  input: { command: 'find packages/coding-agent/src -name "*selector.ts" -type f | head -20', timeout: 30 },
});

// as policy.c
async function policy(e) {
  if (typeof e.input.command === "string" && e.input.command.includes("rm -rf /")) return { block: true, reason: "that removes everything" };
}

// as prune-context with its defaults: tool results of 2,000 bytes and more become notes once three turns and 40,000 bytes are newer, in whole steps
// of 100,000 bytes
async function prune(e) {
  const messages = e.messages;
  let turns = 0, bytes = 0, edge = messages.length;
  while (edge > 0 && (turns < 3 || bytes < 40000)) {
    const m = messages[--edge];
    if (m.role === "user") turns++;
    for (const b of Array.isArray(m.content) ? m.content : [{ text: m.content }]) bytes += b.text?.length ?? 0;
  }
  const old = [];
  let size = 0;
  for (let i = 0; i < edge; i++) {
    const m = messages[i];
    if (m.role !== "toolResult") continue;
    let n = 0;
    for (const b of m.content) n += b.text?.length ?? 0;
    if (n < 2000) continue;
    size += n;
    old.push(i);
  }
  if (size < 100000) return;
  const out = messages.slice();
  for (const i of old) out[i] = { ...messages[i], content: [{ type: "text", text: "[an old result was left out]" }] };
  return { messages: out };
}

const runtime = { assertActive() {}, getThinkingLevel: () => "off", flagValues: new Map(), pendingProviderRegistrations: [], pendingNativeProviderRegistrations: [] };
const runner = (hook, count, handler) => new ExtensionRunner(
  Array.from({ length: count }, (_, i) => ({ path: `x${i}`, handlers: new Map([[hook, [handler]]]), tools: new Map(), flags: new Map(), shortcuts: new Map(), commands: new Map() })),
  runtime, "/home/dev/project", {}, {},
);

for await (const line of createInterface({ input: process.stdin })) {
  const r = JSON.parse(line);
  const x = runner(r.hook, r.extensions, r.hook === "context" ? prune : policy);
  const one = r.hook === "context" ? () => x.emitContext(history) : () => x.emitToolCall(event());
  for (let i = 0; i < (r.hook === "context" ? 3 : 20000); i++) await one();
  const took = [];
  for (let i = 0; i < r.rounds; i++) {
    if (r.flush) for (let at = 0; at < junk.length; at += 64) junk[at]++;
    const start = process.hrtime.bigint();
    for (let n = 0; n < r.calls; n++) await one();
    took.push(Number(process.hrtime.bigint() - start) / r.calls);
  }
  console.log(JSON.stringify(took));
}

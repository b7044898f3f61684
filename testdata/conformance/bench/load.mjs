#!/usr/bin/env node
// The reference's side of the test of loading: opens a session file and makes the model's context of it, on the published package.
// Usage: PI_MODULES=<folder @earendil-works> node load.mjs FILE ROUNDS
// Prints {"messages":N,"ms":[…]}: the messages of the context, and how long each round took.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const PI = process.env.PI_MODULES ?? "node_modules/@earendil-works";
// The one module that is needed, and not the package's index, which takes a second to load.
const { SessionManager } = await import(pathToFileURL(join(PI, "pi-coding-agent/dist/core/session-manager.js")).href);

const [file, rounds] = process.argv.slice(2);
const ms = [];
let messages = 0;
for (let i = 0; i < Number(rounds); i++) {
  const start = performance.now();
  messages = SessionManager.open(file).buildSessionContext().messages.length;
  ms.push(performance.now() - start);
}
console.log(JSON.stringify({ messages, ms }));

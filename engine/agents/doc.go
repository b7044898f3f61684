// Package agents holds the hook contracts of coding agents that are not ours: what each sends to a hook, and which answer it
// honours. `weir hook` stands on it.
//
// The life of an answer:
//
//  1. [Run] reads the agent's event, which is foreign text: exact keys, no key twice, valid UTF-8, a bounded size.
//  2. The agent's mapping turns it into an [Event] in weir's terms: an event of the ABI, canonical tool names and arguments.
//  3. The extension set decides (an [Engine]).
//  4. The agent's mapping turns the [Decision] into an [Answer]: bytes for standard output and standard error and an exit code.
//
// Step 2 and step 4 are pure functions, one of each per agent. Everything that goes wrong on the way, a panic and a lost
// deadline included, becomes the agent's blocking answer where the event is a gate. What an agent cannot do is mapped to
// the strict side and said in its [Row] table, from which `weir hook --explain` and the pages in docs/agents come.
//
// Nothing here is shared between calls; every function may be called concurrently.
package agents

// Package engine joins the agent loop (agentcore) and the sandbox (wasmhost): it loads an extension set and has every
// event of a run pass through it.
//
// The life of an engine:
//
//  1. [Open] loads the extensions of a set, in order: module, description, settings, grants, limits. One that does not
//     load fails the whole set.
//  2. [Engine.Hooks] and [Engine.Listener] plug into an agentcore.Agent. A Go agent that is not ours calls
//     [Engine.ToolCall], [Engine.ToolResult] and [Engine.Context] directly.
//  3. For each event the one dispatcher asks the extensions that hook it, one after the other in set order, merges what
//     they answer by the rule of the event's kind ([Kinds]), and applies the rule for faults. What was asked, answered and done
//     goes to Config.Record.
//  4. [Engine.Close] ends the guests.
//
// History is immutable: messages cross to a guest as copies, and what comes back is a decision that the engine applies to
// slices of its own. A gate that fails, fails closed. An Engine is safe for concurrent use.
package engine

// Package session is a conversation that is kept, and what a product does around the agent loop: it tries again what failed in
// passing, compacts a context that has grown too large, queues what is said during a run, keeps the tree of everything that was
// said, and tells extensions, subscribers and the store about it, in this order. Its events, fields and texts are those that
// testdata/conformance records.
//
// # The life of a session
//
//  1. [NewStore], [OpenStore] or [ReadStore] gives a [Store]: a tree of entries and the leaf at which it grows.
//  2. [New] restores from it what the model works with, and makes a [Session].
//  3. [Session.Subscribe] adds whoever shows it; then [Session.Begin] tells the extensions (session_start).
//  4. [Session.Prompt] asks the extensions (input, before_agent_start) and runs the agent. After each run the session goes
//     on by itself while it must: with another attempt, with what is left after a compaction, with queued messages. Then it
//     settles (agent_settled), and Prompt returns.
//  5. [Session.Close] aborts what is under way and closes the store.
//
// A program that changes between sessions has a [Runtime], which does 2 to 5 for each.
//
// # The way of an event
//
// An event of a run reaches, one after the other: the session's own record of its queues, the extensions, the
// subscribers, the store (a message at message_end, nothing else), the count of attempts, and at the end of a turn the
// messages that waited for it. An error on the way keeps the event from those who come after, and ends the run as failed.
// Hence a subscriber never sees a message that an extension has yet to change, and what is in the store was seen by all.
//
// # Concurrency
//
// All types are safe for concurrent use unless they say otherwise. One run is active at a time: a prompt that comes
// during it is queued if it says how, and refused otherwise; a compaction by hand aborts the run and keeps new ones away. What
// waits for the session to be idle (Prompt, Compact, Abort, WaitForIdle) must not be called from what the session itself waits
// for, such as a subscriber, a tool or an extension: those have a [Control], none of whose methods waits. Subscribers are called by the
// goroutine in which the event happens, and no lock is held meanwhile.
//
// # Files
//
// A session file has a header line and a line of JSON for each entry, which names its parent. It only grows. Each entry is one
// write and one fsync before [Store.Append] returns; a process that dies in the middle of a write leaves a torn last
// line, which the next one cuts off and reports. Lines that make no sense stay in the file and are reported ([Report]); kinds
// of entries that are not known are carried along.
//
// # Pure parts
//
// [Retryable], [Overflow], [ConvertToLLM], [EstimateTokens], [EstimateContext], [ShouldCompact] and [FindCut] decide without I/O,
// clock or state; testdata/conformance/tables records what they must answer.
package session

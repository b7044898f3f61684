// Package agentcore is the core of an agent: messages, the loop that asks a model and runs the tools it calls, and the
// ten events that tell what happens. It does no I/O, reads no files and knows no product: providers, tools, hooks and
// listeners are given to it. What it does is that of the reference, Pi 0.85.0, held to recorded traces (see
// testdata/conformance); where it differs on purpose, DEVIATIONS.md says so.
//
// # Life cycle
//
//  1. [New] makes an [Agent] from a [Config]. Invalid tools are refused here and in [Agent.SetTools].
//  2. [Agent.Subscribe] adds listeners, at any time.
//  3. [Agent.Prompt] or [Agent.Continue] starts a run: agent_start, then turns, then agent_end. The call returns when the
//     run is over. There is one run at a time.
//  4. A turn is turn_start, the prompts or queued messages, one response of the model, the tool calls it asks for with
//     their results, turn_end. The run goes on while there are results for the model to see or messages in a queue.
//  5. [Agent.Steer] adds to the next turn, [Agent.FollowUp] to the end of the run, [Agent.Abort] cancels the run's
//     context, [Agent.WaitForIdle] waits for its end.
//  6. A run works on a snapshot of model, prompt, tools and transcript. Setters count from the next run on;
//     [Hooks.PrepareNextTurn] changes the present one.
//
// # Events
//
//	agent_start
//	├─ turn_start
//	│  ├─ message_start, message_end                    a prompt or queued message
//	│  ├─ message_start, message_update …, message_end  the response
//	│  ├─ tool_execution_start, _update …, _end         each call
//	│  ├─ message_start, message_end                    each result, in the order of the calls
//	│  └─ turn_end
//	└─ agent_end
//
// # Guarantees
//
//   - State before delivery: a listener finds the change that an event is about in [Agent.State]; at message_end the
//     message is the last of the transcript.
//   - Order: listeners are called in the order of their subscription, each awaited before the next. A listener that is
//     added during a delivery still gets that event; one that is removed before its turn does not.
//   - Settle points: the loop waits for the listeners of an event before it goes on. So all have seen a response's
//     message_end before the first tool is looked up, a call's start before its arguments are validated, and its end
//     before its result message starts. Prompt returns after the listeners of agent_end.
//   - Pairs: within a run every message_start has its message_end, every tool_execution_start its end and every turn_start
//     its turn_end, except where the failure path cuts in. agent_end comes exactly once, and once more in the failure
//     sequence if a listener of the first one failed.
//   - Tool results are appended in the order of the calls, whatever the order in which the calls end.
//   - Immutable: an event, a message and a snapshot may be kept and read from any goroutine. Snapshots of a growing message
//     share its text: a message of n deltas costs O(n).
//   - Numbers: all events of a message carry the same [Message.ID]; a message that replaces another takes its number.
//
// # Tools
//
// A call is prepared (looked up, adapted by Prepare, validated, shown to [Hooks.BeforeToolCall]) and then run. In a
// parallel batch all calls are prepared first, in order; those that cannot run end then. In a sequential one each call is
// finished, result message included, before the next. Arguments are validated against the tool's JSON Schema; where
// they do not fit they are coerced as the reference does: optional nulls are dropped, numeric text becomes a number, and
// so on (NOTES section 4). What the model gave stays in events and history.
//
// Updates of a running tool are delivered beside it: update waits for its delivery a moment ([Config].UpdateGrace) and then
// lets the tool go on. All deliveries are awaited before the result is processed. What a tool reports after Execute has
// returned is dropped.
//
// # Errors, panics, cancellation
//
// What goes wrong in the model ends the run with an assistant message of stop reason "error" or "aborted". What goes wrong
// in a tool, in preparing it or in the hooks around it becomes an error result that the model reads. What goes wrong in a
// listener, in another hook or in the provider's code takes the failure path: message_start, message_end, turn_end and
// agent_end about an assistant message with the error's text; Prompt returns nil. If a listener fails in these too,
// the rest of them is not told and Prompt returns that error. The agent is idle and usable afterwards. Panics count as errors
// ([PanicError]).
//
// A provider that breaks the rules of its stream ([ProtocolError]) gives a message of stop reason "error" with what was
// received up to then.
//
// Abort cancels the context that listeners, hooks, tools and the provider were given. Calls of a parallel batch that have
// not started yet end as aborted, or are not told of at all if they were not even looked at. After tools the model is asked
// once more, with the cancelled context.
//
// # Goroutines
//
// The loop runs in the goroutine that called Prompt. Each tool call runs in one of its own, each delivery of an update
// too; all have ended when Prompt returns. The exception is a tool that ignores its cancelled context: the run waits for
// it for Config.ToolGrace, then goes on, reports it ([OrphanError]) and drops what it still does. When a run takes the
// failure path its other tools are cancelled and waited for in the same way.
package agentcore

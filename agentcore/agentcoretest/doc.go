// Package agentcoretest replays declarative scenarios against an agent and records what everybody saw. It is the test
// kit of agentcore, and of any layer above it: a scenario says what the model answers, what tools, listeners and hooks
// do, and what the driver asks for; the outcome is a trace. SCHEMA.md beside the recorded scenarios of the project
// specifies the format.
//
// # Life cycle
//
//  1. [Load] or [LoadLayer] reads scenarios.
//  2. [Play] opens a bubble of testing/synctest, makes a [Kit] and lets the [Layer] build its [World]: [Core] puts an
//     [agentcore.Agent] under test; other layers bring their own.
//  3. The driver's actions run, then whatever runs in the background is waited for.
//  4. [Scenario.Compare] tells how the outcome differs from what was expected, as a diff of traces.
//
// # What makes it exact
//
// Nothing sleeps in real time. Gates order what runs in parallel. A tick lets virtual time pass, which happens only when
// every goroutine of the scenario waits: then all that could proceed has proceeded. The scripted model is in lock-step, as
// a [agentcore.Provider] must be. The clock advances by a millisecond with every read. A scenario in which everything waits
// for ever fails as a deadlock, at once; a goroutine that is left behind makes the bubble panic.
//
// Calls with "as" are started and not awaited. In JavaScript such a call runs up to its first wait and goes on when its
// starter waits; [Kit.Hold] gives runs the same shape.
//
// # A layer of one's own
//
// A layer is a function that builds a World: the actions that it adds (they may override the common ones), the
// expressions, how declared listeners are subscribed, the records of the action "state", and the field "final" of the
// outcome. It makes the model with [Kit.NewModel], tools with [Kit.NewTool] and listeners with [Kit.Observer], and records
// through [Kit.Trace] with values that went through [Kit.Norm]. Actions perform asynchronous calls with [Scope.Call] and
// synchronous ones with [Scope.CallNow], which record the outcome in the form of the format.
package agentcoretest

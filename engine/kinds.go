package engine

import (
	"weir/engine/wire"
)

// Merge says how the answers of several extensions to one event become one.
type Merge uint8

// The merge rules. The zero value means unset.
const (
	// MergeObserve: there is nothing to merge.
	MergeObserve Merge = iota + 1
	// MergeGate: the first block ends the chain; questions are collected; rewrites are passed on.
	MergeGate
	// MergeChain: each sees what the one before it made of the event.
	MergeChain
	// MergeLast: the last answer counts, and one that cancels ends the chain.
	MergeLast
	// MergeFirst: the first answer with an opinion ends the chain.
	MergeFirst
	// MergeConcat: lists are joined in order.
	MergeConcat
)

// String is the rule in a word.
func (m Merge) String() string {
	switch m {
	case MergeObserve:
		return "observe"
	case MergeGate:
		return "gate"
	case MergeChain:
		return "chain"
	case MergeLast:
		return "last"
	case MergeFirst:
		return "first"
	case MergeConcat:
		return "concat"
	default:
		return "unset"
	}
}

// OnFault says what a fault of a hook does (ABI section 8).
type OnFault uint8

// What a fault does. The zero value means unset.
const (
	// FaultIsolate: the fault is recorded and the run goes on as if the extension had no opinion.
	FaultIsolate OnFault = iota + 1
	// FaultBlock: the call does not happen. It cannot be loosened.
	FaultBlock
	// FaultTighten: isolated, unless the set or the extension says onError = "block"; then Kind.Strict happens.
	FaultTighten
)

// String is the rule in a word.
func (f OnFault) String() string {
	switch f {
	case FaultIsolate:
		return "isolate"
	case FaultBlock:
		return "block"
	case FaultTighten:
		return "isolate or block"
	default:
		return "unset"
	}
}

// Kind is one row of the table of events: what an event's hooks may do.
type Kind struct {
	Event wire.Event
	// Blocks says that an answer may stop what the event is about.
	Blocks bool
	// Changes names what an answer may change; "" is nothing.
	Changes string
	Merge   Merge
	OnFault OnFault
	// Strict is what on_error = "block" makes of a fault; "" where it changes nothing.
	Strict string
	// Result is the Go type of an answer, by name; "" for observers.
	Result string

	parse func(out []byte) (any, error)
}

// Kinds returns the table of all 36 events, in the order of wire.Event. The caller owns the slice.
func Kinds() []Kind {
	kinds := make([]Kind, 0, wire.EventCount)
	for e := wire.Event(1); int(e) <= wire.EventCount; e++ {
		kinds = append(kinds, kindOf(e))
	}
	return kinds
}

// parsed adapts a typed parser to the table.
func parsed[T any](parse func([]byte) (T, error)) func([]byte) (any, error) {
	return func(out []byte) (any, error) {
		v, err := parse(out)
		if err != nil {
			return nil, err
		}
		return &v, nil
	}
}

func parseObserver(out []byte) (any, error) { return nil, wire.ParseObserver(out) }

// sessionBefore is the row of the four session_before_* events.
func sessionBefore(e wire.Event, changes string) Kind {
	return Kind{
		Event: e, Blocks: true, Changes: changes, Merge: MergeLast, OnFault: FaultTighten, Strict: "cancelled with a reason",
		Result: "*wire.SessionBeforeResult", parse: parsed(func(out []byte) (wire.SessionBeforeResult, error) { return wire.ParseSessionBefore(e, out) }),
	}
}

// kindOf is the table.
func kindOf(e wire.Event) Kind {
	switch e {
	case wire.EventToolCall:
		return Kind{
			Event: e, Blocks: true, Changes: "the arguments", Merge: MergeGate, OnFault: FaultBlock, Strict: "blocked",
			Result: "*wire.ToolCallResult", parse: parsed(wire.ParseToolCall),
		}
	case wire.EventToolResult:
		return Kind{
			Event: e, Changes: "content, details, isError, usage", Merge: MergeChain, OnFault: FaultTighten, Strict: "the result is withheld",
			Result: "*wire.ToolResultResult", parse: parsed(wire.ParseToolResult),
		}
	case wire.EventContext:
		return Kind{
			Event: e, Changes: "the messages that the model sees", Merge: MergeChain, OnFault: FaultTighten, Strict: "the run ends with an error",
			Result: "*wire.ContextResult", parse: func(out []byte) (any, error) { return wire.ParseContext(out) },
		}
	case wire.EventMessageEnd:
		return Kind{
			Event: e, Changes: "the message (same role)", Merge: MergeChain, OnFault: FaultTighten, Strict: "the run ends with an error",
			Result: "*agentcore.Message",
		} // parsed with the message at hand
	case wire.EventInput:
		return Kind{
			Event: e, Blocks: true, Changes: "text and images", Merge: MergeChain, OnFault: FaultTighten, Strict: "refused with a reason",
			Result: "*wire.InputResult", parse: parsed(wire.ParseInput),
		}
	case wire.EventBeforeAgentStart:
		return Kind{
			Event: e, Changes: "the system prompt; adds a message", Merge: MergeChain, OnFault: FaultTighten, Strict: "refused with a reason",
			Result: "*wire.BeforeAgentStartResult", parse: parsed(wire.ParseBeforeAgentStart),
		}
	case wire.EventBeforeProviderRequest:
		return Kind{
			Event: e, Changes: "the payload", Merge: MergeChain, OnFault: FaultTighten, Strict: "the run ends with an error",
			Result: "*json.RawMessage", parse: parsed(wire.ParseBeforeProviderRequest),
		}
	case wire.EventBeforeProviderHeaders:
		return Kind{
			Event: e, Changes: "the headers", Merge: MergeChain, OnFault: FaultTighten, Strict: "the run ends with an error",
			Result: "*[]wire.HeaderEdit", parse: parsed(wire.ParseBeforeProviderHeaders),
		}
	case wire.EventUserBash:
		return Kind{
			Event: e, Changes: "the command, or gives its result", Merge: MergeFirst, OnFault: FaultTighten, Strict: "refused with a reason",
			Result: "*wire.UserBashResult", parse: parsed(wire.ParseUserBash),
		}
	case wire.EventSessionBeforeSwitch:
		return sessionBefore(e, "")
	case wire.EventSessionBeforeFork:
		return sessionBefore(e, "whether the conversation is restored")
	case wire.EventSessionBeforeCompact:
		return sessionBefore(e, "the compaction")
	case wire.EventSessionBeforeTree:
		return sessionBefore(e, "summary, instructions, label")
	case wire.EventProjectTrust:
		return Kind{
			Event: e, Changes: "whether the project is trusted", Merge: MergeFirst, OnFault: FaultIsolate,
			Result: "*wire.ProjectTrustResult", parse: parsed(wire.ParseProjectTrust),
		}
	case wire.EventResourcesDiscover:
		return Kind{
			Event: e, Changes: "adds paths", Merge: MergeConcat, OnFault: FaultIsolate,
			Result: "*wire.ResourcesDiscoverResult", parse: parsed(wire.ParseResourcesDiscover),
		}
	default:
		return Kind{Event: e, Merge: MergeObserve, OnFault: FaultIsolate, parse: parseObserver}
	}
}

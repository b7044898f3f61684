package engine

import (
	"context"
	"time"

	"weir/agentcore"
	"weir/engine/wire"
)

// Extension is something that handles events: a guest, or Go code in this process.
type Extension interface {
	// Name is unique in an engine.
	Name() string
	// Hook gives the options of the hook for an event, nil when the extension does not handle it. The answer must not change.
	Hook(event wire.Event) *wire.Hook
	// Handle answers one event. The result has the type that [Kind.Result] names for the event's kind; nil means no
	// opinion. ev.Check, when it is not nil, may be asked whether the result will do; the engine asks if Handle has not. It must not
	// keep ev, nor change what it points to.
	Handle(ctx context.Context, ev *Event) (any, Usage, error)
	// Close frees the extension.
	Close(ctx context.Context) error
}

// Event is one event on its way to one extension.
type Event struct {
	Kind wire.Event
	// Payload is *wire.ToolCallEvent, *wire.ToolResultEvent, *ContextEvent, an agentcore.Event for the ten events of a
	// run (message_end as *agentcore.MessageEnd), and for all other kinds a json.RawMessage: the payload as an object.
	Payload any
	// At is the moment of the run.
	At wire.Moment
	// Time is when a turn started, in milliseconds since 1970; 0 for other events.
	Time int64
	// Before is the partial result that was reported before the one of a tool_execution_update; nil for the first.
	Before  *agentcore.ToolResult
	account *account // of what is decided about the event; nil when nobody wants to know
	// Check refuses a result that the event's circumstances do not allow, such as arguments that do not fit the tool's
	// schema. nil: nothing to check.
	Check func(result any) error
	// later, for an event that is only observed, is told what came of it when the extension hears of it after a call of its own.
	later func(usage Usage, err error)
}

// Usage is what handling an event took.
type Usage struct {
	Duration time.Duration
	Fuel     uint64 // 0 for Go code
	Memory   uint64 // bytes of linear memory that the extension had after a call of [Probe.Call]; 0 elsewhere
	// Fresh says that the extension had lost its state: a fault had ended the instance before.
	Fresh bool
}

// Outcome says what an extension's answer amounted to. The zero value means unset; String gives the word used in
// output.
type Outcome uint8

// The outcomes.
const (
	OutcomeNone    Outcome = iota + 1 // no opinion
	OutcomeBlock                      // blocked, cancelled, refused
	OutcomeAsk                        // put to a person
	OutcomeRewrite                    // changed what it was asked about
	OutcomeFault                      // failed
)

// String is the word used in output.
func (o Outcome) String() string {
	switch o {
	case OutcomeNone:
		return "allow"
	case OutcomeBlock:
		return "block"
	case OutcomeAsk:
		return "ask"
	case OutcomeRewrite:
		return "rewrite"
	case OutcomeFault:
		return "fault"
	default:
		return "unset"
	}
}

// Record says what one extension answered to one event and what came of it.
type Record struct {
	Extension  string
	Event      wire.Event
	Tool       string // for tool_call and tool_result
	ToolCallID string
	Outcome    Outcome
	// Reason is the block's reason, the question, the fault's text, or a summary of what was changed.
	Reason string
	Usage  Usage
	// Monitor says that the answer was recorded and changed nothing.
	Monitor bool
	// Round is 0 for the first time that the extension was asked, then the number of the recheck.
	Round int
	Err   error // for OutcomeFault
	// Strict says, for OutcomeFault, that the fault was turned into a decision: blocked, withheld, or the end of the run.
	Strict bool
}

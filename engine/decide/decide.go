// Package decide puts single events to an extension set, outside any run of an agent: one JSON event in, one decision out.
// `weir decide`, `weir explain` and `make quality` stand on it, and so can an agent that is not ours.
//
// The life of a decision:
//
//  1. [Parse] reads the event: a tool call, a tool result, or the messages that a model is about to see.
//  2. [Decider.Decide] runs the whole set on it, rechecks and the pair gate included, exactly as in a run.
//  3. The [Decision] says what became of it. Nobody is asked: "ask" is a decision.
//
// A Decider serves one goroutine at a time.
package decide

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"weir/agentcore"
	"weir/engine"
	"weir/engine/wire"
	"weir/wasmhost"
)

// Verdict is what was decided; its text is the word in the JSON.
type Verdict string

// The verdicts.
const (
	// Allow: nothing changes.
	Allow Verdict = "allow"
	// Ask: a person is to decide. Only for a tool call.
	Ask Verdict = "ask"
	// Block: the call does not happen, the result is withheld, or the request is not sent.
	Block Verdict = "block"
	// Rewrite: it goes on with what the decision holds in place of what was given.
	Rewrite Verdict = "rewrite"
)

// Decision is what a set decided about one event.
type Decision struct {
	Decision Verdict `json:"decision"`
	// Reason says why: the block's reason, or the questions, one a line. Absent for allow and rewrite.
	Reason string `json:"reason,omitempty"`
	// By names the extensions that the decision comes from, in their order: the one that blocked, those that ask, those
	// that rewrote. Empty for allow, and where no single extension is to blame.
	By []string `json:"by"`
	// Terminate: the extension that blocked wants the run to stop.
	Terminate bool `json:"terminate,omitempty"`
	// Input is what would run, for a tool call that was rewritten; with ask, what would run after a yes.
	Input json.RawMessage `json:"input,omitempty"`
	// Content, Details, IsError and Usage are the tool's result as the model gets it, for a result that was rewritten or withheld.
	Content json.RawMessage  `json:"content,omitempty"`
	Details json.RawMessage  `json:"details,omitempty"`
	IsError *bool            `json:"isError,omitempty"`
	Usage   *agentcore.Usage `json:"usage,omitempty"`
	// Messages are what the model sees, for a context that was rewritten.
	Messages json.RawMessage `json:"messages,omitempty"`
	// Faults are the extensions that failed, in order. One that blocks shows in Decision as well.
	Faults []Fault `json:"faults,omitempty"`
}

// Fault is an extension that failed.
type Fault struct {
	Extension string `json:"extension"`
	Hook      string `json:"hook"`
	Kind      string `json:"kind"`    // of the ABI's section 9; "error" for an extension in Go
	Message   string `json:"message"` // NAME: HOOK: KIND: text
	// Decided says that the fault was turned into a decision. One that was not leaves the event as it was.
	Decided bool `json:"decided"`
}

// Undecided says whether an extension failed without the fault having been turned into a decision.
func (d *Decision) Undecided() bool {
	return slices.ContainsFunc(d.Faults, func(f Fault) bool { return !f.Decided })
}

// Decider is a loaded set.
type Decider struct {
	engine  *engine.Engine
	records []engine.Record // of the event at hand
}

// Open loads the set. Of cfg it replaces Ask; Record is called as ever. The errors are those of engine.Open.
func Open(ctx context.Context, cfg engine.Config) (*Decider, error) {
	d := &Decider{}
	cfg.Ask = nil
	record := cfg.Record
	cfg.Record = func(r engine.Record) {
		d.records = append(d.records, r)
		if record != nil {
			record(r)
		}
	}
	var err error
	if d.engine, err = engine.Open(ctx, cfg); err != nil {
		return nil, err
	}
	return d, nil
}

// Engine is the engine that decides.
func (d *Decider) Engine() *engine.Engine { return d.engine }

// Close ends the extensions.
func (d *Decider) Close(ctx context.Context) error { return d.engine.Close(ctx) }

// Decide runs the set on an event. The error says what of a result could not be encoded; a fault of an extension is none.
func (d *Decider) Decide(ctx context.Context, ev *Event) (*Decision, error) {
	d.records = d.records[:0]
	var out *Decision
	var err error
	switch ev.Kind {
	case wire.EventToolCall:
		out = d.toolCall(ctx, ev)
	case wire.EventToolResult:
		out, err = d.toolResult(ctx, ev)
	default:
		out, err = d.context(ctx, ev)
	}
	if err != nil {
		return nil, err
	}
	if out.By == nil {
		out.By = []string{}
	}
	for i := range d.records {
		if r := &d.records[i]; r.Outcome == engine.OutcomeFault {
			out.Faults = append(out.Faults, fault(r))
		}
	}
	return out, nil
}

func fault(r *engine.Record) Fault {
	f := Fault{Extension: r.Extension, Hook: r.Event.String(), Kind: "error", Message: r.Reason, Decided: r.Strict}
	var w *wasmhost.Fault
	if errors.As(r.Err, &w) {
		f.Kind = w.Kind.String()
	}
	return f
}

func (d *Decider) toolCall(ctx context.Context, ev *Event) *Decision {
	got := d.engine.ToolCall(ctx, ev.ToolCall, nil)
	out := &Decision{Decision: Allow}
	if len(got.Rewritten) > 0 {
		out.Decision, out.By, out.Input = Rewrite, unique(got.Rewritten), got.Input
	}
	switch {
	case len(got.Asked) > 0:
		out.Decision, out.By = Ask, nil
		for i, q := range got.Asked {
			if i > 0 {
				out.Reason += "\n"
			}
			out.Reason += q.Title
			if q.Message != "" {
				out.Reason += ": " + q.Message
			}
			out.By = append(out.By, q.Extension)
		}
	case got.Block:
		out.Decision, out.Reason, out.Terminate, out.Input = Block, got.Reason, got.Terminate, nil
		if got.By != "" {
			out.By = []string{got.By}
		}
	}
	return out
}

func (d *Decider) toolResult(ctx context.Context, ev *Event) (*Decision, error) {
	got, changed := d.engine.ToolResult(ctx, ev.ToolResult)
	out := &Decision{Decision: Allow}
	if !changed {
		return out, nil
	}
	out.Decision, out.By = Rewrite, d.rewriters()
	if last := d.records[len(d.records)-1]; last.Outcome == engine.OutcomeFault && last.Strict {
		out.Decision, out.Reason, out.By = Block, last.Reason, []string{last.Extension}
	}
	blocks := make([]json.RawMessage, len(got.Content))
	for i, b := range got.Content {
		var err error
		if blocks[i], err = agentcore.MarshalBlock(b); err != nil {
			return nil, err
		}
	}
	var err error
	if out.Content, err = encode(blocks); err != nil {
		return nil, err
	}
	out.Details, out.IsError, out.Usage = got.Details, &got.IsError, got.Usage
	return out, nil
}

func (d *Decider) context(ctx context.Context, ev *Event) (*Decision, error) {
	got, err := d.engine.Context(ctx, ev.Messages)
	out := &Decision{Decision: Allow}
	switch {
	case err != nil:
		out.Decision, out.Reason = Block, err.Error()
		if len(d.records) > 0 {
			out.By = []string{d.records[len(d.records)-1].Extension}
		}
	case !slices.Equal(got, ev.Messages):
		out.Decision, out.By = Rewrite, d.rewriters()
		raw := make([]json.RawMessage, len(got))
		for i, m := range got {
			if raw[i], err = m.JSON(); err != nil {
				return nil, err
			}
		}
		if out.Messages, err = encode(raw); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// rewriters are the extensions whose answers changed the event.
func (d *Decider) rewriters() []string {
	var names []string
	for i := range d.records {
		if r := &d.records[i]; r.Outcome == engine.OutcomeRewrite && !r.Monitor {
			names = append(names, r.Extension)
		}
	}
	return unique(names)
}

// unique drops repetitions and keeps the order.
func unique(names []string) []string {
	var out []string
	for _, n := range names {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

package engine

import (
	"context"
	"fmt"
	"slices"

	"weir/engine/set"
	"weir/engine/wire"
	"weir/wasmhost"
)

// witness is an extension that hears what was decided.
type witness struct {
	ext *guestExtension
	// strict: a tool call whose decision it could not be told is blocked.
	strict bool
}

func newWitnesses(members []*member) []witness {
	var list []witness
	for _, m := range members {
		if x, ok := m.ext.(*guestExtension); ok && x.decisions != nil {
			list = append(list, witness{ext: x, strict: !m.monitor && (x.decisions.Block || m.onError == set.OnErrorBlock)})
		}
	}
	return list
}

// account is what the extensions answered to one event. nil takes nothing down: nobody wants to know.
type account struct {
	answers   []wire.DecisionAnswer
	witnesses []witness
}

func (l *lineup) newAccount() *account {
	if len(l.witnesses) == 0 {
		return nil
	}
	return &account{witnesses: l.witnesses}
}

func (a *account) add(rec *Record) {
	if a == nil {
		return
	}
	a.answers = append(a.answers, wire.DecisionAnswer{
		Extension: rec.Extension, Outcome: rec.Outcome.String(), Reason: rec.Reason, Monitor: rec.Monitor, Round: rec.Round,
	})
	if rec.Strict { // a fault that became a decision
		a.answers[len(a.answers)-1].Outcome = OutcomeBlock.String()
	}
}

// settle tells the witnesses what came of an event other than tool_call, if anybody had anything to say. The event cannot be taken
// back, so a fault of a witness is recorded and isolated.
func (e *Engine) settle(ctx context.Context, a *account, about wire.DecisionEvent) {
	if a == nil || !slices.ContainsFunc(a.answers, func(x wire.DecisionAnswer) bool { return x.Outcome != OutcomeNone.String() }) {
		return
	}
	d := about // by value until here: an event that nobody has anything to say about allocates nothing
	d.Decision = OutcomeNone.String()
	for _, x := range a.answers {
		switch {
		case x.Monitor:
		case x.Outcome == OutcomeBlock.String():
			d.Decision, d.Reason, d.By = x.Outcome, x.Reason, []string{x.Extension}
		case x.Outcome == OutcomeRewrite.String() && d.Decision != OutcomeBlock.String():
			d.Decision, d.By = x.Outcome, append(d.By, x.Extension)
		}
	}
	d.Answers = a.answers
	_, _ = e.tell(ctx, a.witnesses, &d) // recorded there
}

// settleCall tells the witnesses what was decided about a tool call, before the tool runs. When one that is strict cannot be told,
// the call is blocked.
func (e *Engine) settleCall(ctx context.Context, a *account, ev *wire.ToolCallEvent, d Decision) Decision {
	if a == nil {
		return d
	}
	told := &wire.DecisionEvent{
		Event: wire.EventToolCall, Decision: OutcomeNone.String(), Reason: d.Reason, ToolName: ev.ToolName, ToolCallID: ev.ToolCallID,
		Input: d.Input, Asked: len(d.Asked) > 0, Answers: a.answers,
	}
	if told.Answers == nil {
		told.Answers = []wire.DecisionAnswer{}
	}
	switch {
	case d.Block:
		told.Decision = OutcomeBlock.String()
		if d.By != "" {
			told.By = []string{d.By}
		}
	case len(d.Rewritten) > 0:
		told.Decision, told.By = OutcomeRewrite.String(), d.Rewritten
	}
	if by, err := e.tell(ctx, a.witnesses, told); err != nil && !d.Block {
		d.Block, d.By, d.Fault, d.Reason = true, by, err, err.Error()+"; the call was blocked"
	}
	return d
}

// tell hands a decision to all witnesses and returns the first strict one that failed, and its fault. That a run is cancelled is no reason not to
// write down what happened: only the guests' own limits end it.
func (e *Engine) tell(ctx context.Context, witnesses []witness, d *wire.DecisionEvent) (by string, strict error) {
	ctx = context.WithoutCancel(ctx)
	at := e.moment()
	for i := range witnesses {
		w := &witnesses[i]
		usage, err := w.ext.decided(ctx, at, d)
		if err == nil {
			continue
		}
		e.logger.Error("a decision could not be handed over", "extension", w.ext.name, "event", d.Event.String(), "error", err)
		e.report(Record{
			Extension: w.ext.name, Event: d.Event, Tool: d.ToolName, ToolCallID: d.ToolCallID, Outcome: OutcomeFault, Reason: err.Error(),
			Usage: usage, Err: err, Strict: w.strict && d.Event == wire.EventToolCall,
		}, &Event{Kind: d.Event, At: at}, nil)
		if w.strict && strict == nil {
			by, strict = w.ext.name, err
		}
	}
	return by, strict
}

// decided calls the guest's export decision.
func (x *guestExtension) decided(ctx context.Context, at wire.Moment, d *wire.DecisionEvent) (Usage, error) {
	w := x.pool.Get().(*encoding)
	defer x.pool.Put(w)
	b, err := w.enc.AppendDecision(w.buf[:0], at, d)
	if err != nil {
		return Usage{}, &wasmhost.Fault{Extension: x.name, Export: wire.ExportDecision, Kind: wasmhost.KindHost, Err: fmt.Errorf("the decision could not be encoded: %w", err)}
	}
	w.buf = b
	stats, err := x.guest.Call(ctx, wire.ExportDecision, wasmhost.Input{Bytes: b}, wire.ParseObserver)
	return Usage{Duration: stats.Duration, Fuel: stats.Fuel, Fresh: stats.Fresh}, err
}

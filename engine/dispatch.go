package engine

import (
	"context"
	"errors"
	"time"

	"weir/engine/facts"
	"weir/engine/set"
	"weir/engine/wire"
	"weir/wasmhost"
)

// member is an extension in its place in the engine.
type member struct {
	ext     Extension
	monitor bool
	onError set.OnError
	source  *set.Extension // nil for Go code
}

// handler is a member's hook for one event.
type handler struct {
	*member
	hook *wire.Hook
	// strict says that a fault has the consequence of on_error = "block": the set or the extension asked for it, or the
	// event's kind leaves no choice. Never for a monitoring member, which changes nothing.
	strict bool
	// facts are those that the hook asked for, for tool_call and tool_result.
	facts facts.Kind
}

// table lists, for each event, its handlers in order: which hooks exist is settled when the engine opens.
type table [wire.EventCount + 1][]handler

func newTable(members []*member) table {
	var t table
	for _, m := range members {
		for e := wire.Event(1); int(e) <= wire.EventCount; e++ {
			hook := m.ext.Hook(e)
			if hook == nil {
				continue
			}
			kind := kindOf(e)
			strict := kind.OnFault == FaultBlock || kind.OnFault == FaultTighten && (hook.Block || m.onError == set.OnErrorBlock)
			h := handler{member: m, hook: hook, strict: strict && !m.monitor}
			if e == wire.EventToolCall || e == wire.EventToolResult {
				h.facts = facts.ParseKinds(hook.Facts)
			}
			t[e] = append(t[e], h)
		}
	}
	return t
}

// wants says whether the handler is asked about a tool; tool is "" for events without one.
func (h *handler) wants(tool string) bool { return tool == "" || h.hook.Wants(tool) }

// deliver hands one event to one handler, and records what came of it: the one place where extensions are called. judge turns
// the result into an outcome and its text; it is not called for a fault.
func (e *Engine) deliver(ctx context.Context, h *handler, ev *Event, rec Record, judge func(result any) (Outcome, string)) (any, error) {
	rec.Extension, rec.Event, rec.Monitor = h.ext.Name(), ev.Kind, h.monitor
	result, usage, err := handle(ctx, h.ext, ev)
	if errors.Is(err, wasmhost.ErrQueued) {
		return nil, nil // ev.later will be told
	}
	rec.Usage = usage
	if err != nil {
		rec.Outcome, rec.Reason, rec.Err, rec.Strict = OutcomeFault, err.Error(), err, h.strict
		ev.account.add(&rec)
		e.report(rec, ev, nil)
		return result, err // what goes with an error counts for headers only: see askHeaders
	}
	rec.Outcome, rec.Reason = judge(result)
	ev.account.add(&rec)
	e.report(rec, ev, result)
	if h.monitor {
		return nil, nil
	}
	return result, nil
}

// report hands a record to Config.Record and Config.Trace, one at a time.
func (e *Engine) report(rec Record, ev *Event, result any) {
	if e.cfg.Record == nil && e.cfg.Trace == nil {
		return
	}
	e.recording.Lock()
	defer e.recording.Unlock()
	if e.cfg.Record != nil {
		e.cfg.Record(rec)
	}
	if e.cfg.Trace != nil {
		e.cfg.Trace(rec, ev, result)
	}
}

// observe delivers an event to those who only watch it. Faults are recorded and isolated. All hear it, also of a run that was
// cancelled.
func (e *Engine) observe(ctx context.Context, ev *Event) {
	l := e.enter()
	defer e.leave(ctx, l)
	ev.account = l.newAccount()
	defer func() { e.settle(ctx, ev.account, wire.DecisionEvent{Event: ev.Kind}) }()
	for i := range l.handlers[ev.Kind] {
		h := &l.handlers[ev.Kind][i]
		ev.later = e.heardLater(h, *ev)
		_, _ = e.deliver(ctx, h, ev, Record{}, func(any) (Outcome, string) { return OutcomeNone, "" })
	}
}

// heardLater records what came of an event that an extension caused by a host call of its own, and heard of when its call was over.
func (e *Engine) heardLater(h *handler, ev Event) func(Usage, error) {
	return func(usage Usage, err error) {
		rec := Record{Extension: h.ext.Name(), Event: ev.Kind, Monitor: h.monitor, Usage: usage, Outcome: OutcomeNone}
		if err != nil {
			rec.Outcome, rec.Reason, rec.Err = OutcomeFault, err.Error(), err
		}
		e.report(rec, &ev, nil)
	}
}

// now reads the engine's clock.
func (e *Engine) now() time.Time {
	if e.cfg.Clock != nil {
		return e.cfg.Clock()
	}
	return time.Now()
}

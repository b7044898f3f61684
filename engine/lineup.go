package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"sync/atomic"

	"weir/engine/facts"
	"weir/engine/set"
	"weir/engine/wire"
	"weir/wasmhost"
)

// lineup is the extensions of an engine as they were loaded together. It does not change: a reload puts another in its place, and
// each event goes through one from beginning to end.
type lineup struct {
	set      *set.Set // nil for none
	own      []string // of [Reload.Own]
	recheck  bool
	pairs    bool
	members  []*member
	handlers table
	// witnesses are the extensions that hear what was decided.
	witnesses []witness
	facts     *facts.Computer // nil when nobody asks for facts
	// users counts the events under way, and one more for the engine, which hands it to new ones.
	users atomic.Int64
}

// enter gives what an event is to go through. leave must follow.
func (e *Engine) enter() *lineup {
	for {
		l := e.lineup.Load()
		// With no users left it was replaced since it was loaded, and its guests may be closed.
		if n := l.users.Load(); n > 0 && l.users.CompareAndSwap(n, n+1) {
			return l
		}
	}
}

// leave closes what nobody needs any more, when the last event has gone through a lineup that was replaced.
func (e *Engine) leave(ctx context.Context, l *lineup) {
	if l.users.Add(-1) > 0 {
		return
	}
	if err := l.drop(context.WithoutCancel(ctx)); err != nil {
		e.logger.Error("closing what was reloaded", "error", err)
	}
	e.mu.Lock()
	delete(e.replaced, l)
	e.mu.Unlock()
}

// drop closes the guests that are in no other lineup, and gives their modules back.
func (l *lineup) drop(ctx context.Context) error {
	var errs []error
	for _, m := range l.members {
		if x, ok := m.ext.(*guestExtension); ok && x.lineups.Add(-1) == 0 {
			errs = append(errs, x.Close(ctx), x.module.Release(ctx))
		}
	}
	return errors.Join(errs...)
}

// guest finds an extension that is a guest, does more than monitor, and has what is asked for.
func (l *lineup) guest(name string, has func(*guestExtension) bool) *guestExtension {
	for _, m := range l.members {
		if x, ok := m.ext.(*guestExtension); ok && !m.monitor && x.name == name && has(x) {
			return x
		}
	}
	return nil
}

// find is the member of that name; nil if there is none.
func (l *lineup) find(name string) *member {
	for _, m := range l.members {
		if m.ext.Name() == name {
			return m
		}
	}
	return nil
}

// assemble loads a set. What runs in the lineup of before and is unchanged is taken over; fresh are the others. When it fails, only
// what was open before stays open.
func (e *Engine) assemble(ctx context.Context, s *set.Set, own []string, before *lineup) (l *lineup, fresh []*member, err error) {
	l = &lineup{set: s, own: own, recheck: true, pairs: true}
	l.users.Store(1)
	var errs []error
	if s != nil {
		l.recheck, l.pairs = s.Recheck, s.Pairs
		for i := range s.Extensions {
			x := &s.Extensions[i]
			running := before.find(x.Name)
			ext, err := e.load(ctx, x, running)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			ext.lineups.Add(1)
			m := &member{ext: ext, monitor: x.Mode == set.ModeMonitor, onError: x.OnError, source: x}
			l.members = append(l.members, m)
			if running == nil || running.ext != Extension(ext) {
				fresh = append(fresh, m)
			}
		}
	}
	for _, n := range e.cfg.Native {
		l.members = append(l.members, &member{ext: n})
	}
	if len(errs) == 0 {
		if err := checkTools(s, l.members, e.cfg.ToolNames); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return nil, nil, errors.Join(append(errs, l.drop(ctx))...)
	}
	l.handlers, l.witnesses = newTable(l.members), newWitnesses(l.members)
	if asksFacts(l.handlers) {
		l.facts = facts.New(factsConfig(&e.cfg, s, own))
	}
	return l, fresh, nil
}

func asksFacts(t table) bool {
	for _, event := range [...]wire.Event{wire.EventToolCall, wire.EventToolResult} {
		for i := range t[event] {
			if t[event][i].facts != 0 {
				return true
			}
		}
	}
	return false
}

// same gives the extension that is running if it was made of the same module with the same limits, settings and grants as x asks
// for; nil otherwise, and for a nil member.
func (m *member) same(x *set.Extension, module *wasmhost.Module) *guestExtension {
	if m == nil || m.source == nil {
		return nil
	}
	ext, ok := m.ext.(*guestExtension)
	if !ok || ext.module.Digest() != module.Digest() || m.source.Runtime != x.Runtime || m.source.Limits != x.Limits ||
		!bytes.Equal(m.source.Config, x.Config) || !reflect.DeepEqual(m.source.Grant, x.Grant) {
		return nil
	}
	return ext
}

// say tells one extension of an event, if it hooks it. Faults are recorded and isolated.
func (e *Engine) say(ctx context.Context, l *lineup, ext Extension, p wire.Payload) {
	for i := range l.handlers[p.Kind()] {
		h := &l.handlers[p.Kind()][i]
		if h.ext != ext {
			continue
		}
		raw, err := json.Marshal(p)
		if err != nil {
			e.logger.Error("an event could not be encoded", "event", p.Kind().String(), "error", err)
			return
		}
		ev := &Event{Kind: p.Kind(), Payload: json.RawMessage(raw), At: e.moment()}
		_, _ = e.deliver(ctx, h, ev, Record{}, func(any) (Outcome, string) { return OutcomeNone, "" }) // recorded there
	}
}

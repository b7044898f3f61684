package engine_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"weir/engine"
	"weir/engine/wire"
)

// fake is an extension made of functions.
type fake struct {
	name  string
	hooks map[wire.Event]*wire.Hook
	do    func(ev *engine.Event) (any, error)

	mu   sync.Mutex
	seen []*engine.Event
}

func (f *fake) Name() string                 { return f.name }
func (f *fake) Hook(e wire.Event) *wire.Hook { return f.hooks[e] }
func (f *fake) Close(context.Context) error  { return nil }
func (f *fake) Handle(_ context.Context, ev *engine.Event) (any, engine.Usage, error) {
	f.mu.Lock()
	f.seen = append(f.seen, ev)
	f.mu.Unlock()
	r, err := f.do(ev)
	if err == nil && ev.Check != nil && r != nil {
		err = ev.Check(r)
	}
	if err != nil {
		return nil, engine.Usage{}, err
	}
	return r, engine.Usage{}, nil
}

// inputs are the arguments that a fake was asked about, with an "R" before a recheck.
func (f *fake) inputs() []string {
	var list []string
	for _, ev := range f.seen {
		p := ev.Payload.(*wire.ToolCallEvent)
		s := string(p.Input)
		if p.Recheck {
			s = "R" + s
		}
		list = append(list, s)
	}
	return list
}

func gate(name string, answer func(input string) (*wire.ToolCallResult, error)) *fake {
	f := &fake{name: name, hooks: map[wire.Event]*wire.Hook{wire.EventToolCall: {Event: wire.EventToolCall}}}
	f.do = func(ev *engine.Event) (any, error) {
		r, err := answer(string(ev.Payload.(*wire.ToolCallEvent).Input))
		if r == nil || err != nil {
			return nil, err
		}
		return r, nil
	}
	return f
}

func allow(name string) *fake {
	return gate(name, func(string) (*wire.ToolCallResult, error) { return &wire.ToolCallResult{}, nil })
}

// rewriter replaces one text of arguments by another.
func rewriter(name, from, to string) *fake {
	return gate(name, func(input string) (*wire.ToolCallResult, error) {
		if input == from {
			return &wire.ToolCallResult{Input: json.RawMessage(to)}, nil
		}
		return nil, nil
	})
}

func open(t *testing.T, cfg engine.Config, fakes ...*fake) *engine.Engine {
	t.Helper()
	for _, f := range fakes {
		cfg.Native = append(cfg.Native, f)
	}
	e, err := engine.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e
}

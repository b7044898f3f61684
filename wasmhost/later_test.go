package wasmhost_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/wasmhost"
)

// observed is a guest whose kv requests are events that it observes itself: they are queued by the given numbers.
type observed struct {
	*probe
	t    *testing.T
	said []string
	at   []error // what Call answered when the event came
	// each is asked for each kv request what the events are to be.
	each func(request string) []string
}

func newObserved(t *testing.T, each func(string) []string) *observed {
	o := &observed{t: t, each: each}
	caps := grants()
	caps["kv"] = wasmhost.Capability{Handle: func(ctx context.Context, request []byte) ([]byte, error) {
		o.said = append(o.said, "request "+string(request))
		for _, event := range o.each(string(request)) {
			o.event(ctx, event)
		}
		return nil, nil
	}}
	o.probe = newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Capabilities: caps, Limits: wasmhost.Limits{Quarantine: 1000}})
	return o
}

// event tells the guest of an event: a script, or the name of one.
func (o *observed) event(ctx context.Context, name string) {
	script := o.script(o.t, op("count", 1))
	if name, again := strings.CutPrefix(name, "again "); again {
		script = o.script(o.t, poke(64, name), op("weir_kv", 64, uint64(len(name))))
	}
	if name == "trap" {
		script = o.script(o.t, op("trap"))
	}
	_, err := o.Call(ctx, "call", wasmhost.Input{Bytes: script, Later: func(s wasmhost.Stats, err error) {
		o.said = append(o.said, fmt.Sprintf("heard %s: %v", name, err))
		if err == nil && s.Fuel == 0 {
			o.t.Errorf("%s: it was not called", name)
		}
	}}, ignore)
	o.at = append(o.at, err)
	clear(script) // it was copied
}

// ask has the guest make one kv request.
func (o *observed) ask(request string, more ...any) error {
	_, _, err := o.try(o.t, append([]any{poke(64, request), op("weir_kv", 64, uint64(len(request)))}, more...)...)
	return err
}

// TestQueuedEvents: an observer of what happens during its own host call hears of it after the call, in order, and each is a call of its
// own.
func TestQueuedEvents(t *testing.T) {
	o := newObserved(t, func(request string) []string {
		if request == "inner" {
			return []string{"third"}
		}
		return []string{"first", "again inner", "trap", "second"}
	})
	if err := o.ask("outer"); err != nil {
		t.Fatal(err)
	}
	o.said = append(o.said, "returned")
	want := []string{
		"request outer", "heard first: <nil>", "request inner", "heard third: <nil>", "heard again inner: <nil>",
		"heard trap: probe: call: trap: unreachable", "heard second: <nil>", "returned",
	}
	if d := cmp.Diff(want, o.said); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for _, err := range o.at {
		if !errors.Is(err, wasmhost.ErrQueued) {
			t.Errorf("an event during the call: %v, want it to be queued", err)
		}
	}
}

// TestQueuedEventsDropped: they are dropped, and that is told, when the call fails.
func TestQueuedEventsDropped(t *testing.T) {
	o := newObserved(t, func(string) []string { return []string{"one", "two"} })
	wantFault(t, o.ask("outer", op("trap")), wasmhost.KindTrap)
	if len(o.said) != 3 {
		t.Fatalf("%q", o.said)
	}
	for _, s := range o.said[1:] {
		if !strings.Contains(s, "host: dropped: the call during which it was queued failed: ") || !strings.Contains(s, "trap") {
			t.Error(s)
		}
	}
}

// TestQueuedEventsBounded: an observer that causes what it observes comes to an end, and so does a flood of events.
func TestQueuedEventsBounded(t *testing.T) {
	for name, each := range map[string]func(string) []string{
		"endless":  func(string) []string { return []string{"again x"} },
		"doubling": func(string) []string { return []string{"again x", "again x"} },
		"flood":    func(string) []string { return make([]string, 1000) },
	} {
		o := newObserved(t, each)
		if err := o.ask("start"); err != nil {
			t.Fatal(err)
		}
		heard, queued, dropped := 0, 0, 0
		for _, s := range o.said {
			if strings.HasPrefix(s, "heard ") {
				heard++
			}
		}
		for _, err := range o.at {
			if errors.Is(err, wasmhost.ErrQueued) {
				queued++
			} else if wantFault(t, err, wasmhost.KindHost); errors.Is(err, wasmhost.ErrDropped) {
				dropped++
			}
		}
		if heard != 64 || queued != 64 || dropped == 0 || dropped+queued != len(o.at) {
			t.Errorf("%s: %d heard, %d queued, %d dropped, %d in all", name, heard, queued, dropped, len(o.at))
		}
		// The next call has its queue to itself.
		before := len(o.said)
		if err := o.ask("next"); err != nil || len(o.said) < before+60 {
			t.Errorf("%s: the next call: %v, %d more", name, err, len(o.said)-before)
		}
	}
	// By size: of three events of 4 MB two fit.
	var at []error
	var p *probe
	caps := grants()
	caps["kv"] = wasmhost.Capability{Handle: func(ctx context.Context, _ []byte) ([]byte, error) {
		large := append(p.script(t, op("return", 0)), make([]byte, 4<<20-1000)...)
		for range 3 {
			_, err := p.Call(ctx, "call", wasmhost.Input{Bytes: large, Later: func(wasmhost.Stats, error) {}}, ignore)
			at = append(at, err)
		}
		return nil, nil
	}}
	p = newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Capabilities: caps})
	p.do(t, op("weir_kv", 0, 0))
	if len(at) != 3 || !errors.Is(at[1], wasmhost.ErrQueued) || !errors.Is(at[2], wasmhost.ErrDropped) {
		t.Errorf("by size: %v", at)
	}
}

// TestQueueThroughOther: a guest that is called by another one's host call hears of that after its own call, not after the other's.
func TestQueueThroughOther(t *testing.T) {
	var order []string
	inner := newObserved(t, func(string) []string { return []string{"event"} })
	caps := grants()
	caps["kv"] = wasmhost.Capability{Handle: func(ctx context.Context, _ []byte) ([]byte, error) {
		_, err := inner.Call(ctx, "call", wasmhost.Input{Bytes: inner.script(t, op("weir_kv", 0, 0))}, ignore)
		order = append(append(order, inner.said...), "the inner call is over")
		return nil, err
	}}
	outer := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Capabilities: caps})
	outer.do(t, op("weir_kv", 0, 0))
	if d := cmp.Diff([]string{"request ", "heard event: <nil>", "the inner call is over"}, order); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestLaterAtOnce: from elsewhere a call with Later is an ordinary one, and from a host call that is over it is refused.
func TestLaterAtOnce(t *testing.T) {
	var stale context.Context
	var p *probe
	caps := grants()
	caps["kv"] = wasmhost.Capability{Handle: func(ctx context.Context, _ []byte) ([]byte, error) { stale = ctx; return nil, nil }}
	p = newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Capabilities: caps})
	later := func(wasmhost.Stats, error) { t.Error("Later was used") }
	if _, _, err := p.tryWith(t, wasmhost.Input{Later: later}, op("weir_kv", 0, 0)); err != nil {
		t.Error(err)
	}
	_, err := p.Call(stale, "call", wasmhost.Input{Later: later}, ignore)
	if wantFault(t, err, wasmhost.KindHost); !errors.Is(err, wasmhost.ErrReentrant) {
		t.Error(err)
	}
}

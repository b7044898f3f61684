package agentcoretest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"weir/agentcore"
)

// Kit runs one scenario. Everything in it may be used from any goroutine of the scenario.
type Kit struct {
	Input *Input
	Norm  *Norm
	Gates *Gates
	// World is the thing under test; the layer makes it.
	World World

	ctx     context.Context
	control map[string]ActionFunc
	mu      sync.Mutex
	trace   []any
	runs    []*toolRun
	jobs    map[string]*job
	kept    map[string]any
	holds   []chan struct{}
	ticks   map[time.Time]bool
	clock   time.Time
	err     error
	closed  chan struct{}
	over    bool

	background sync.WaitGroup
}

// World is what a layer puts under test.
type World struct {
	// Actions are the layer's own actions, by name.
	Actions map[string]ActionFunc
	// Expressions are the layer's own expressions, by name ("$entry").
	Expressions map[string]func(arg any, s *Scope) (any, error)
	// Subscribe and Unsubscribe act on a declared listener.
	Subscribe   func(name string) error
	Unsubscribe func(name string)
	// State is the record of the action "state".
	State func(full bool) Object
	// Signal is the context of the active run, or nil.
	Signal func() context.Context
	// Start begins when the listeners have subscribed; nil: nothing.
	Start func() error
	// Final is the field "final" of the outcome.
	Final func() any
	// Close frees what the world holds, after the outcome was taken; nil: nothing.
	Close func() error
}

// Layer builds the world of a scenario. It is called inside the scenario's bubble, with Input, Norm and Gates set.
type Layer func(k *Kit) (World, error)

// deadlock is how much virtual time a scenario may take. Virtual time passes only while everything waits, so this is a
// deadlock however fast the machine is; it is longer than any delay a scenario asks for.
const deadlock = time.Hour

// Play runs a scenario in a bubble of testing/synctest, where time stands still while anything can proceed: that makes
// ticks and gates exact. The bubble also proves that no goroutine is left behind.
func Play(t *testing.T, s *Scenario, layer Layer) (Outcome, error) {
	t.Helper()
	var outcome Outcome
	var err error
	synctest.Test(t, func(t *testing.T) {
		outcome, err = play(t.Context(), s, layer)
	})
	return outcome, err
}

func play(ctx context.Context, s *Scenario, layer Layer) (Outcome, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	k := &Kit{
		Input: s.Input, Norm: &Norm{KeepUsage: s.Input.KeepUsage}, ctx: ctx, jobs: map[string]*job{}, kept: map[string]any{},
		control: controlActions(), ticks: map[time.Time]bool{}, clock: time.UnixMilli(1767225600000), closed: make(chan struct{}),
	}
	k.Gates = &Gates{closed: k.closed}
	watchdog := time.AfterFunc(deadlock, func() {
		k.Fail(errors.New("deadlock: everything waits"))
		k.close()
		cancel()
	})
	defer watchdog.Stop()
	defer k.close()
	world, err := layer(k)
	if err != nil {
		return Outcome{}, err
	}
	k.World = world
	for _, l := range s.Input.Listeners {
		if l.Subscribed == nil || *l.Subscribed {
			if err := world.Subscribe(l.Name); err != nil {
				return Outcome{}, err
			}
		}
	}
	if world.Start != nil {
		if err := world.Start(); err != nil {
			return Outcome{}, err
		}
	}
	driver := &Scope{Kit: k, Who: "driver", Event: Object{}, Context: nil}
	if _, err := driver.Run(s.Input.Driver); err != nil {
		k.Fail(fmt.Errorf("driver: %w", err))
	}
	k.Yield()
	k.background.Wait()
	outcome := k.outcome()
	k.close()
	if world.Close != nil {
		if err := world.Close(); err != nil {
			k.Fail(err)
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return outcome, k.err
}

// close ends everything that still waits for a gate. Nothing is recorded any more.
func (k *Kit) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.over {
		k.over = true
		close(k.closed)
	}
}

func (k *Kit) outcome() Outcome {
	final := k.World.Final()
	k.mu.Lock()
	defer k.mu.Unlock()
	runs := slices.Clone(k.runs)
	slices.SortStableFunc(runs, func(a, b *toolRun) int {
		switch {
		case a.ToolCallID < b.ToolCallID:
			return -1
		case a.ToolCallID > b.ToolCallID:
			return 1
		default:
			return 0
		}
	})
	values := make([]any, len(runs))
	for i, run := range runs {
		values[i] = Value(run)
	}
	trace := slices.Clone(k.trace)
	if trace == nil {
		trace = []any{}
	}
	return Outcome{Trace: trace, ToolRuns: values, Final: final}
}

// Context is the scenario's: it ends with the scenario.
func (k *Kit) Context() context.Context { return k.ctx }

// Fail makes the scenario fail with err, whatever its trace. The first error stays.
func (k *Kit) Fail(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil {
		k.err = err
	}
}

// Trace appends a record: the observer's name and the given fields.
func (k *Kit) Trace(observer string, record Object) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over {
		return
	}
	out := Object{"obs": observer}
	for key, v := range record {
		if _, ok := v.(Undefined); !ok {
			out[key] = v
		}
	}
	k.trace = append(k.trace, out)
}

// Now is the logical clock: every read is a millisecond after the one before.
func (k *Kit) Now() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.clock = k.clock.Add(time.Millisecond)
	return k.clock
}

// Listener finds a declared listener.
func (k *Kit) Listener(name string) (*ListenerDef, error) {
	for _, l := range k.Input.Listeners {
		if l.Name == name {
			return l, nil
		}
	}
	return nil, fmt.Errorf("no listener is named %q", name)
}

// Tick waits until all that can proceed has proceeded, and then for ms milliseconds of virtual time. Ticks that end at
// the same time end one after the other, in the order in which they began.
func (k *Kit) Tick(ms float64) {
	const tick = 50 * time.Microsecond // less than any delay that a scenario asks for, more than the kit's own
	k.sleep(tick + time.Duration(ms*float64(time.Millisecond)))
}

// settle waits until everything else waits, and takes less virtual time than any tick.
func (k *Kit) settle() { k.sleep(time.Microsecond) }

func (k *Kit) sleep(d time.Duration) {
	k.mu.Lock()
	at := time.Now().Add(d)
	for k.ticks[at] {
		at = at.Add(time.Nanosecond)
	}
	k.ticks[at] = true
	k.mu.Unlock()
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-k.closed:
	}
}

// Go runs f in the background: the scenario does not end before it.
func (k *Kit) Go(f func()) { k.background.Go(f) }

// UpdateGrace is for Config.UpdateGrace: so short that it ends exactly when nothing else can proceed.
const UpdateGrace = time.Nanosecond

// Aborted says whether ctx was cancelled by an abort, and not by the failure or the end of its run.
func Aborted(ctx context.Context) bool {
	if ctx.Err() == nil {
		return false
	}
	cause := context.Cause(ctx)
	return !errors.Is(cause, agentcore.ErrRunFailed) && !errors.Is(cause, agentcore.ErrRunOver)
}

// Gates are named one-shot latches.
type Gates struct {
	mu     sync.Mutex
	gates  map[string]chan struct{}
	opened map[string]bool
	closed chan struct{}
}

func (g *Gates) gate(name string) chan struct{} {
	if g.gates == nil {
		g.gates, g.opened = make(map[string]chan struct{}), make(map[string]bool)
	}
	if g.gates[name] == nil {
		g.gates[name] = make(chan struct{})
	}
	return g.gates[name]
}

// Open opens a gate for good.
func (g *Gates) Open(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	gate := g.gate(name)
	if !g.opened[name] {
		g.opened[name] = true
		close(gate)
	}
}

// IsOpen says whether the gate is open.
func (g *Gates) IsOpen(name string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opened[name]
}

// Wait waits until the gate is open. The error says that the scenario is over.
func (g *Gates) Wait(name string) error {
	g.mu.Lock()
	gate := g.gate(name)
	g.mu.Unlock()
	select {
	case <-gate:
		return nil
	case <-g.closed:
		return errOver
	}
}

var errOver = errors.New("the scenario is over")

package workbench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"weir/engine"
	"weir/engine/facts"
	"weir/engine/set"
	"weir/engine/wire"
	"weir/wasmhost"
)

// Bench measures one extension.
type Bench struct {
	// Extension is the module with its settings, grants and limits.
	Extension *set.Extension
	// Bundled gives the bytes of a module named bundled:NAME; nil knows none.
	Bundled func(name string) ([]byte, bool)
	// Host runs the calls. Cold starts are measured on hosts of their own.
	Host *wasmhost.Host
	// Events are measured, by hook; a hook without any takes the built-in samples.
	Events map[wire.Event][]json.RawMessage
	// Time is how long each hook is called; 0 means 300 ms.
	Time time.Duration

	probe *engine.Probe
	calls map[wire.Event][]json.RawMessage
}

// defaultBenchTime gives a C policy some hundred thousand calls, a TypeScript one ten thousand.
const defaultBenchTime = 300 * time.Millisecond

// warmup is how often a hook is called before it is measured.
const warmup = 20

// StartFigures say how long it takes until an extension can be called.
type StartFigures struct {
	// Cold is compiling without a cache, instantiating and describing; Warm is the same with everything compiled.
	Cold, Warm time.Duration
}

// HookFigures are those of one hook. Durations are in the guest and its host calls, as a record of the engine has them: neither
// encoding the event nor reading the answer is in them.
type HookFigures struct {
	Hook          wire.Event
	Calls         int
	Mean          time.Duration
	P50, P90, P99 time.Duration
	Fuel          uint64 // of a call, mean
	MaxFuel       uint64
	Memory        uint64 // bytes after the last call, linear memory and kernel
}

func (b *Bench) config(host *wasmhost.Host) engine.Config {
	return engine.Config{Host: host, Bundled: b.Bundled, CWD: DefaultCWD, SessionID: "bench", Mode: wire.ModeText}
}

// Open loads the extension and gets the events ready. It must come first; Close ends it.
func (b *Bench) Open(ctx context.Context) error {
	probe, err := engine.OpenProbe(ctx, b.config(b.Host), b.Extension)
	if err != nil {
		return err
	}
	b.probe, b.calls = probe, map[wire.Event][]json.RawMessage{}
	if err := b.prepare(); err != nil {
		return errors.Join(err, b.Close(ctx))
	}
	return nil
}

func (b *Bench) prepare() error {
	computer := facts.New(facts.Config{Workspace: DefaultCWD, Home: DefaultHome})
	for _, hook := range b.Hooks() {
		events, given := b.Events[hook], true
		if len(events) == 0 {
			events, given = samples(hook), false
		}
		h := b.probe.Describe().Hook(hook)
		for i, event := range events {
			event, err := completeEvent(hook, event)
			if err == nil {
				event, err = withFacts(computer, h, event)
			}
			if err != nil {
				return fmt.Errorf("event %d of %s: %w", i+1, hook, err)
			}
			if tool := toolOf(hook, event); tool == "" || h.Wants(tool) {
				b.calls[hook] = append(b.calls[hook], event)
			}
		}
		switch {
		case len(b.calls[hook]) > 0:
		case given:
			return fmt.Errorf("%s: the hook wants none of the events given: it is for the tools %v", hook, h.Tools)
		default:
			return fmt.Errorf("%s: no sample has a tool that the hook wants, %v; give events with --events", hook, h.Tools)
		}
	}
	return nil
}

// Close ends the extension.
func (b *Bench) Close(ctx context.Context) error { return b.probe.Close(ctx) }

// Name is what the module calls itself.
func (b *Bench) Name() string { return b.probe.Describe().Name }

// Hooks are those of the module that are measured: all, or those that events are given for.
func (b *Bench) Hooks() []wire.Event {
	var list []wire.Event
	for _, h := range b.probe.Describe().Hooks {
		if len(b.Events) == 0 || len(b.Events[h.Event]) > 0 {
			list = append(list, h.Event)
		}
	}
	return list
}

// Start measures one start from nothing and several with the module compiled.
func (b *Bench) Start(ctx context.Context) (f StartFigures, err error) {
	host, err := wasmhost.New(ctx, wasmhost.Config{})
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, host.Close(ctx)) }()
	open := func() (time.Duration, error) {
		start := time.Now()
		probe, err := engine.OpenProbe(ctx, b.config(host), b.Extension)
		took := time.Since(start)
		if err != nil {
			return 0, err
		}
		return took, probe.Close(ctx)
	}
	if f.Cold, err = open(); err != nil {
		return f, err
	}
	const repeats = 9
	var warm []time.Duration
	for range repeats {
		took, err := open()
		if err != nil {
			return f, err
		}
		warm = append(warm, took)
	}
	slices.Sort(warm)
	f.Warm = warm[len(warm)/2]
	return f, nil
}

// Hook measures calls of one hook with its events in turn. A fault ends it: a call that fails says nothing about the time
// that one takes.
func (b *Bench) Hook(ctx context.Context, hook wire.Event) (*HookFigures, error) {
	limit := b.Time
	if limit == 0 {
		limit = defaultBenchTime
	}
	events := b.calls[hook]
	f := &HookFigures{Hook: hook}
	var took []time.Duration
	var total time.Duration
	var fuel uint64
	call := func(i int) (engine.Usage, error) {
		_, usage, err := b.probe.Call(ctx, hook, events[i%len(events)])
		if err != nil {
			return usage, fmt.Errorf("event %d of %s: %w", i%len(events)+1, hook, err)
		}
		return usage, nil
	}
	for i := range max(warmup, len(events)) {
		if _, err := call(i); err != nil {
			return nil, err
		}
	}
	// Whole rounds only, so that every event counts alike.
	for start := time.Now(); len(took) == 0 || time.Since(start) < limit; {
		for i := range events {
			u, err := call(i)
			if err != nil {
				return nil, err
			}
			took = append(took, u.Duration)
			total += u.Duration
			fuel += u.Fuel
			f.MaxFuel = max(f.MaxFuel, u.Fuel)
			f.Memory = u.Memory
		}
	}
	slices.Sort(took)
	n := len(took)
	f.Calls, f.Mean, f.Fuel = n, total/time.Duration(n), fuel/uint64(n)
	f.P50, f.P90, f.P99 = percentile(took, 50), percentile(took, 90), percentile(took, 99)
	return f, nil
}

// percentile is the smallest value that p percent of the sorted ones do not exceed.
func percentile(sorted []time.Duration, p int) time.Duration {
	return sorted[max((len(sorted)*p+99)/100-1, 0)]
}

// ParseEvents reads events for a bench, a JSON object a line; empty lines do not count. type names the hook; without it an event
// counts for tool_call when it has a toolName, for tool_result when it also has content, for context when it has messages.
func ParseEvents(text []byte) (map[wire.Event][]json.RawMessage, error) {
	events := map[wire.Event][]json.RawMessage{}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(line, &fields); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		hook, err := hookOf(fields)
		if err == nil {
			_, err = completeEvent(hook, line)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		events[hook] = append(events[hook], bytes.Clone(line))
	}
	if len(events) == 0 {
		return nil, errors.New("there is no event in it")
	}
	return events, nil
}

func hookOf(fields map[string]json.RawMessage) (wire.Event, error) {
	has := func(key string) bool { return fields[key] != nil }
	switch {
	case has("type"):
		var name string
		if err := json.Unmarshal(fields["type"], &name); err != nil {
			return 0, fmt.Errorf("type: %w", err)
		}
		hook, ok := wire.ParseEvent(name)
		if !ok {
			return 0, fmt.Errorf("there is no event %q", name)
		}
		return hook, nil
	case has("toolName") && has("content"):
		return wire.EventToolResult, nil
	case has("toolName"):
		return wire.EventToolCall, nil
	case has("messages"):
		return wire.EventContext, nil
	}
	return 0, errors.New(`it has no type; write {"type":"tool_call", …}`)
}

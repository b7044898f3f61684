package sessiontest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"weir/agentcore/agentcoretest"
	"weir/engine"
	"weir/engine/session"
	"weir/engine/set"
	"weir/engine/wire"
	"weir/wasmhost"
)

// Guests opens the declared handlers and commands of scenarios as guests, one each, that interpret them. The tools that a
// scenario's extensions declare stay in Go.
type Guests struct {
	// Host runs them. It may be of outside the scenario's bubble.
	Host *wasmhost.Host
	// Module is the file of the guest in the folder wasmlane.
	Module string
}

// ErrNoGuest says that a scenario has extensions, but none with a handler or command: there is nothing for a guest to do.
var ErrNoGuest = errors.New("no declared extension has a handler or a command")

// Open is an [Extensions].
func (g *Guests) Open(w *World) (*engine.Engine, error) {
	cfg := w.EngineConfig()
	fail := func(err error) (*engine.Engine, error) {
		for _, opened := range cfg.Native {
			err = errors.Join(err, opened.Close(w.Kit.Context()))
		}
		return nil, err
	}
	commands := map[string]commandFunc{}
	for _, def := range w.Declared {
		for _, h := range def.On {
			x, err := g.open(w, def, h)
			if err != nil {
				return fail(err)
			}
			cfg.Native = append(cfg.Native, x)
		}
		for _, c := range def.Commands {
			run, err := g.command(w, def, c)
			if err != nil {
				return fail(err)
			}
			commands[def.Name+"/"+c.Name] = run
		}
	}
	if len(cfg.Native)+len(commands) == 0 {
		return nil, ErrNoGuest
	}
	w.commands = commands
	return engine.Open(w.Kit.Context(), cfg)
}

// Prepare compiles the guest. Called before the first scenario it keeps the compilation out of all of them.
func (g *Guests) Prepare(ctx context.Context) error {
	_, err := engine.Inspect(ctx, engine.Config{Host: g.Host}, &set.Extension{Name: "scenario", Module: g.Module})
	return err
}

// guestHandler is one declared handler as a guest. The guest handles all events; only the declared one reaches it.
type guestHandler struct {
	engine.Extension
	store *reports
	name  string
	event wire.Event
}

// Limits of the guests. In a scenario time is virtual: a guest that waits for a gate would seem to exceed any short
// deadline, and what bounds one that does not end is its fuel.
const (
	guestTimeout    = 24 * time.Hour
	guestQuarantine = 1000
)

func (g *Guests) open(w *World, x *ExtensionDef, def *HandlerDef) (*guestHandler, error) {
	native, err := w.newHandler(x, def)
	if err != nil {
		return nil, err
	}
	rules := def.Rules
	if rules == nil {
		rules = []agentcoretest.Rule{{Match: def.Match, Do: def.Do}}
	}
	settings := Object{"event": def.Event, "rules": rules, "silent": def.Record == "none"}
	store := &reports{world: w, who: native.label, def: def, kept: wasmhost.NewMemoryStore()}
	cfg, declared := g.declared(w, native.name, settings, store)
	probe, err := engine.OpenProbe(w.Kit.Context(), cfg, declared)
	if err != nil {
		return nil, fmt.Errorf("extension %s: %w", x.Name, err)
	}
	return &guestHandler{Extension: probe.Extension(), store: store, name: native.name, event: native.event}, nil
}

// declared is a guest as an extension of a set.
func (g *Guests) declared(w *World, name string, settings Object, store *reports) (engine.Config, *set.Extension) {
	return engine.Config{Host: g.Host, CWD: w.cwd(), Store: func(string) wasmhost.Store { return store }}, &set.Extension{
		Name: name, Module: g.Module, Config: agentcoretest.Encode(settings), Grant: set.Grant{KV: true},
		Limits: set.Limits{Timeout: guestTimeout, ToolTimeout: guestTimeout, LoadTimeout: guestTimeout, Quarantine: guestQuarantine},
	}
}

// commandFunc runs a command.
type commandFunc func(ctx context.Context, args string) error

// command opens a command as a guest: an engine of its own, of which nothing but the command is used.
func (g *Guests) command(w *World, x *ExtensionDef, def CommandDef) (commandFunc, error) {
	store := &reports{world: w, who: commandLabel(x, def), kept: wasmhost.NewMemoryStore()}
	cfg, declared := g.declared(w, x.Name+"/"+def.Name, Object{"do": def.Do}, store)
	cfg.Set = &set.Set{Extensions: []set.Extension{*declared}}
	e, err := engine.Open(w.Kit.Context(), cfg)
	if err != nil {
		return nil, fmt.Errorf("command %s: %w", def.Name, err)
	}
	w.engines = append(w.engines, e)
	run := e.Commands()[0].Run
	return func(ctx context.Context, args string) error {
		done := store.begin()
		_, err := run(ctx, args)
		done()
		return thrownBy(err, 0, "")
	}, nil
}

// helps is the event that tells what the deltas of another one add to; 0 for most.
func helps(event wire.Event) wire.Event {
	switch event {
	case wire.EventMessageUpdate:
		return wire.EventMessageStart
	case wire.EventToolExecutionUpdate:
		return wire.EventToolExecutionStart
	}
	return 0
}

// Name implements [engine.Extension].
func (h *guestHandler) Name() string { return h.name }

// Hook implements [engine.Extension].
func (h *guestHandler) Hook(event wire.Event) *wire.Hook {
	if event != h.event && event != helps(h.event) {
		return nil
	}
	return h.Extension.Hook(event)
}

// Handle implements [engine.Extension].
func (h *guestHandler) Handle(ctx context.Context, ev *engine.Event) (any, engine.Usage, error) {
	done := h.store.begin()
	result, usage, err := h.Extension.Handle(ctx, ev)
	done()
	return result, usage, thrownBy(err, ev.Kind, h.name)
}

// thrownBy is what a guest threw, as the error that it is where handlers are in Go: the reference's texts do not say where
// an error is from.
func thrownBy(err error, kind wire.Event, name string) error {
	var fault *wasmhost.Fault
	if !errors.As(err, &fault) || fault.Kind != wasmhost.KindError {
		return err
	}
	if value, ok := strings.CutPrefix(fault.Err.Error(), "panic: "); ok {
		return &engine.PanicError{Extension: name, Event: kind, Value: value}
	}
	return fault.Err
}

// reports is the store of a guest, through which it reports and waits: see the package of the guest. All else that the
// guest keeps there is kept.
type reports struct {
	world *World
	who   string      // the observer
	def   *HandlerDef // nil for a command
	kept  wasmhost.Store

	mu      sync.Mutex
	control *session.Control
	aborts  []agentcoretest.Action
}

// begin is called before a call of the guest, done after it. The guest holds the session of now, also when there is
// another one before it is done.
func (r *reports) begin() (done func()) {
	control := r.world.session().Control()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.control = control
	return func() {
		r.mu.Lock()
		aborts := r.aborts
		r.aborts = nil
		r.mu.Unlock()
		for _, a := range aborts {
			if err := r.act(map[string]any{"control": control}, a); err != nil {
				r.world.Kit.Fail(err)
			}
		}
	}
}

// Get implements [wasmhost.Store].
func (r *reports) Get(key string) (string, bool, error) {
	switch what, arg, _ := strings.Cut(key, "/"); what {
	case "wait":
		return "", false, r.act(nil, agentcoretest.Action{"do": "wait", "gate": arg})
	case "tick":
		ms, err := strconv.ParseFloat(arg, 64)
		if err != nil {
			return "", false, err
		}
		return "", false, r.act(nil, agentcoretest.Action{"do": "tick", "ms": ms})
	}
	return r.kept.Get(key)
}

// Set implements [wasmhost.Store].
func (r *reports) Set(key, value string) error {
	switch key {
	case "record":
		return r.record(json.RawMessage(value))
	case "note":
		return r.act(nil, agentcoretest.Action{"do": "note", "text": value})
	case "open":
		return r.act(nil, agentcoretest.Action{"do": "open", "gate": value})
	case "session":
		return r.session(json.RawMessage(value))
	}
	return r.kept.Set(key, value)
}

func (r *reports) record(value json.RawMessage) error {
	event, ok := agentcoretest.Decode(value).(Object)
	if !ok || r.def == nil {
		return errors.New("only a handler records an event, which is an object")
	}
	var extra Object
	if r.def.State {
		extra = Object{"state": r.world.state()}
	}
	r.world.Kit.RecordEvent(&agentcoretest.ListenerDef{Name: r.who, Record: r.def.Record}, scrubbed(event), extra)
	return nil
}

// session does what an extension may do to its session. It stands in for the capability session. What aborts waits until the
// guest's call is over: with what it is for the call would end too, and what the guest decides count for nothing.
func (r *reports) session(value json.RawMessage) error {
	call, _ := agentcoretest.Decode(value).(Object)
	a, _ := call["action"].(Object)
	r.mu.Lock()
	values := map[string]any{"control": r.control}
	if do := a["do"]; do == "ctx.abort" || do == "abortCompaction" {
		r.aborts = append(r.aborts, a)
		r.mu.Unlock()
		return nil
	}
	r.mu.Unlock()
	if prompt, ok := call["systemPrompt"].(string); ok {
		values["systemPrompt"] = prompt
	}
	return r.act(values, agentcoretest.Action(a))
}

// act performs one action for the guest.
func (r *reports) act(values map[string]any, a agentcoretest.Action) error {
	sc := &agentcoretest.Scope{Kit: r.world.Kit, Who: r.who, Event: Object{}, Values: values}
	_, err := sc.Run([]agentcoretest.Action{a})
	return err
}

// Delete implements [wasmhost.Store].
func (r *reports) Delete(key string) error { return r.kept.Delete(key) }

// Keys implements [wasmhost.Store].
func (r *reports) Keys() ([]string, error) { return r.kept.Keys() }

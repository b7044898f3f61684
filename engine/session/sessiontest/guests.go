package sessiontest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"weir/agentcore/agentcoretest"
	"weir/engine"
	"weir/engine/set"
	"weir/engine/wire"
	"weir/wasmhost"
)

// Guests opens the declared handlers of scenarios as guests, one each, that interpret them. The tools and commands that a
// scenario's extensions declare stay in Go.
type Guests struct {
	// Host runs them. It may be of outside the scenario's bubble.
	Host *wasmhost.Host
	// Module is the file of the guest in the folder wasmlane.
	Module string
}

// ErrNoHandler says that a scenario has extensions, but none with a handler: there is nothing for a guest to do.
var ErrNoHandler = errors.New("no declared extension has a handler")

// Open is an [Extensions].
func (g *Guests) Open(w *World) (*engine.Engine, error) {
	cfg := w.EngineConfig()
	for _, def := range w.Declared {
		for _, h := range def.On {
			x, err := g.open(w, def, h)
			if err != nil {
				for _, opened := range cfg.Native {
					err = errors.Join(err, opened.Close(w.Kit.Context()))
				}
				return nil, err
			}
			cfg.Native = append(cfg.Native, x)
		}
	}
	if len(cfg.Native) == 0 {
		return nil, ErrNoHandler
	}
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
	settings := agentcoretest.Encode(Object{"rules": rules, "silent": def.Record == "none"})
	store := &reports{world: w, handler: native, kept: wasmhost.NewMemoryStore()}
	probe, err := engine.OpenProbe(w.Kit.Context(), engine.Config{
		Host: g.Host, CWD: w.cwd(), Store: func(string) wasmhost.Store { return store },
	}, &set.Extension{
		Name: native.name, Module: g.Module, Config: settings, Grant: set.Grant{KV: true},
		Limits: set.Limits{Timeout: guestTimeout, LoadTimeout: guestTimeout, Quarantine: guestQuarantine},
	})
	if err != nil {
		return nil, fmt.Errorf("extension %s: %w", x.Name, err)
	}
	return &guestHandler{Extension: probe.Extension(), name: native.name, event: native.event}, nil
}

// Name implements [engine.Extension].
func (h *guestHandler) Name() string { return h.name }

// Hook implements [engine.Extension].
func (h *guestHandler) Hook(event wire.Event) *wire.Hook {
	if event != h.event {
		return nil
	}
	return h.Extension.Hook(event)
}

// Handle implements [engine.Extension]. What the guest threw is the whole error, as it is where handlers are in Go: the
// reference's texts do not say where an error is from.
func (h *guestHandler) Handle(ctx context.Context, ev *engine.Event) (any, engine.Usage, error) {
	result, usage, err := h.Extension.Handle(ctx, ev)
	var fault *wasmhost.Fault
	if errors.As(err, &fault) && fault.Kind == wasmhost.KindError {
		err = fault.Err
	}
	return result, usage, err
}

// reports is the store of a guest, through which it reports and waits: see the package of the guest. All else that the
// guest keeps there is kept.
type reports struct {
	world   *World
	handler *handler
	kept    wasmhost.Store
}

// Get implements [wasmhost.Store].
func (r *reports) Get(key string) (string, bool, error) {
	k := r.world.Kit
	switch what, arg, _ := strings.Cut(key, "/"); what {
	case "wait":
		return "", false, r.act("wait", "gate", arg)
	case "tick":
		ms, err := strconv.ParseFloat(arg, 64)
		if err != nil {
			return "", false, err
		}
		k.Yield()
		k.Tick(ms)
		return "", false, nil
	}
	return r.kept.Get(key)
}

// Set implements [wasmhost.Store].
func (r *reports) Set(key, value string) error {
	switch key {
	case "record":
		event, ok := agentcoretest.Decode(json.RawMessage(value)).(Object)
		if !ok {
			return errors.New("an event is an object")
		}
		var extra Object
		if r.handler.def.State {
			extra = Object{"state": r.world.state()}
		}
		r.world.Kit.RecordEvent(&agentcoretest.ListenerDef{Name: r.handler.label, Record: r.handler.def.Record}, scrubbed(event), extra)
		return nil
	case "note":
		return r.act("note", "text", value)
	case "open":
		return r.act("open", "gate", value)
	}
	return r.kept.Set(key, value)
}

// act performs one of the kit's own actions.
func (r *reports) act(do, key, value string) error {
	sc := &agentcoretest.Scope{Kit: r.world.Kit, Who: r.handler.label, Event: Object{}}
	_, err := sc.Run([]agentcoretest.Action{{"do": do, key: value}})
	return err
}

// Delete implements [wasmhost.Store].
func (r *reports) Delete(key string) error { return r.kept.Delete(key) }

// Keys implements [wasmhost.Store].
func (r *reports) Keys() ([]string, error) { return r.kept.Keys() }

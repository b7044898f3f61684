package sessiontest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"weir/agentcore"
	"weir/agentcore/agentcoretest"
	"weir/engine"
	"weir/engine/set"
	"weir/engine/wire"
	"weir/wasmhost"
)

// Guests opens the declared handlers, commands and tools of scenarios' extensions as guests, one each, that interpret them.
type Guests struct {
	// Host runs them. It may be of outside the scenario's bubble.
	Host *wasmhost.Host
	// Module is the file of the guest in the folder wasmlane.
	Module string
}

// ErrNoGuest says that a scenario has extensions, but none that does anything: there is nothing for a guest.
var ErrNoGuest = errors.New("no declared extension has a handler, a command or a tool with steps")

// Open is an [Extensions].
func (g *Guests) Open(w *World) (*engine.Engine, error) {
	cfg := w.EngineConfig()
	fail := func(err error) (*engine.Engine, error) {
		for _, opened := range cfg.Native {
			err = errors.Join(err, opened.Close(w.Kit.Context()))
		}
		return nil, err
	}
	commands, tools := map[string]commandFunc{}, map[string]toolFunc{}
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
		for _, t := range def.Tools {
			if t.Steps == nil {
				continue
			}
			run, err := g.tool(w, def, t)
			if err != nil {
				return fail(err)
			}
			tools[t.Name] = run
		}
	}
	if len(cfg.Native)+len(commands)+len(tools) == 0 {
		return nil, ErrNoGuest
	}
	w.commands, w.tools = commands, tools
	return engine.Open(w.Kit.Context(), cfg)
}

// Prepare compiles the guest. Called before the first scenario it keeps the compilation out of all of them.
func (g *Guests) Prepare(ctx context.Context) error {
	_, err := engine.Inspect(ctx, engine.Config{Host: g.Host}, &set.Extension{Name: "scenario", Module: g.Module})
	return err
}

// guestHandler is one declared handler as a guest. The guest handles all events; only the declared one reaches it, and the one that helps
// to understand it.
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
	settings := Object{"event": def.Event, "rules": rules, "silent": def.Record == "none"}
	store := &reports{world: w, who: native.label, def: def, kept: wasmhost.NewMemoryStore()}
	cfg, declared := g.declared(w, native.name, settings, store)
	probe, err := engine.OpenProbe(w.Kit.Context(), cfg, declared)
	if err != nil {
		return nil, fmt.Errorf("extension %s: %w", x.Name, err)
	}
	return &guestHandler{Extension: probe.Extension(), name: native.name, event: native.event}, nil
}

// declared is a guest as an extension of a set.
func (g *Guests) declared(w *World, name string, settings Object, store *reports) (engine.Config, *set.Extension) {
	cfg := engine.Config{
		Host: g.Host, CWD: w.cwd(), Mode: wire.ModeText, Store: func(string) wasmhost.Store { return store },
		Session: func() wasmhost.Session { return w.session().ForGuests() },
	}
	if w.in.UI != nil {
		cfg.UI = person{w}
	}
	return cfg, &set.Extension{
		Name: name, Module: g.Module, Config: agentcoretest.Encode(settings),
		Grant:  set.Grant{KV: true, UI: true, Session: []string{"read", "append", "send", "control"}},
		Limits: set.Limits{Timeout: guestTimeout, ToolTimeout: guestTimeout, LoadTimeout: guestTimeout, Quarantine: guestQuarantine},
	}
}

// person is the scripted person whom guests ask.
type person struct{ world *World }

func (p person) Confirm(ctx context.Context, _, title, message string) (bool, error) {
	answer, err := p.world.dialog(ctx, "confirm", []any{title, message})
	return answer == true, err
}

func (p person) Select(ctx context.Context, _, title string, options []string) (string, bool, error) {
	return p.text(ctx, "select", title, list(options))
}

func (p person) Input(ctx context.Context, _, title, placeholder string) (string, bool, error) {
	if placeholder == "" {
		return p.text(ctx, "input", title)
	}
	return p.text(ctx, "input", title, placeholder)
}

func (p person) text(ctx context.Context, method string, args ...any) (string, bool, error) {
	answer, err := p.world.dialog(ctx, method, args)
	text, ok := answer.(string)
	return text, ok, err
}

func (person) Notify(context.Context, string, string, string) error {
	return errors.New("no scenario in which a guest can notify")
}

func (person) Status(context.Context, string, string) error {
	return errors.New("no scenario in which a guest shows a status")
}

// alone opens a guest in an engine of its own, of which nothing but a command or a tool is used.
func (g *Guests) alone(w *World, name string, settings Object, store *reports) (*engine.Engine, error) {
	cfg, declared := g.declared(w, name, settings, store)
	cfg.Set = &set.Set{Extensions: []set.Extension{*declared}}
	e, err := engine.Open(w.Kit.Context(), cfg)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	w.engines = append(w.engines, e)
	return e, nil
}

// commandFunc runs a command.
type commandFunc func(ctx context.Context, args string) error

func (g *Guests) command(w *World, x *ExtensionDef, def CommandDef) (commandFunc, error) {
	store := &reports{world: w, who: commandLabel(x, def), kept: wasmhost.NewMemoryStore()}
	e, err := g.alone(w, x.Name+"/"+def.Name, Object{"do": def.Do}, store)
	if err != nil {
		return nil, err
	}
	run := e.Commands()[0].Run
	return func(ctx context.Context, args string) error {
		_, err := run(ctx, args)
		return thrownBy(err, 0, "")
	}, nil
}

// toolFunc executes a tool, in the scope of an execution.
type toolFunc func(sc *agentcoretest.Scope) (any, error)

func (g *Guests) tool(w *World, x *ExtensionDef, def *agentcoretest.ToolDef) (toolFunc, error) {
	store := &reports{world: w, who: "tool:" + def.Name, kept: wasmhost.NewMemoryStore()}
	e, err := g.alone(w, x.Name+"/"+def.Name, Object{"do": def.Steps}, store)
	if err != nil {
		return nil, err
	}
	execute := e.Tools()[0].Execute
	return func(sc *agentcoretest.Scope) (any, error) {
		call, _ := sc.Event.(Object)
		id, _ := call["toolCallId"].(string)
		var failed error
		update := func(partial *agentcore.ToolResult) {
			failed = errors.Join(failed, sc.Update(agentcoretest.Value(partial)))
		}
		result, err := execute(sc.Context, id, agentcoretest.Encode(call["args"]), update)
		if err = errors.Join(thrownBy(err, 0, ""), failed); err != nil {
			return nil, err
		}
		return agentcoretest.Value(result), nil
	}, nil
}

// guestExpression is the result of a tool in a guest: the argument names the tool.
func (w *World) guestExpression(arg any, sc *agentcoretest.Scope) (any, error) {
	name, _ := arg.(string)
	run := w.tools[name]
	if run == nil {
		return nil, fmt.Errorf("no guest has the tool %q", name)
	}
	return run(sc)
}

// inGuest is a declared tool whose steps a guest interprets, if one does.
func (w *World) inGuest(def *agentcoretest.ToolDef) *agentcoretest.ToolDef {
	if w.tools[def.Name] == nil {
		return def
	}
	guest := *def
	guest.Steps = []agentcoretest.Action{{"do": "return", "value": Object{"$guest": def.Name}}}
	return &guest
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
	result, usage, err := h.Extension.Handle(ctx, ev)
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

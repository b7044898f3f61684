package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"weir/agentcore"
	"weir/engine/facts"
	"weir/engine/set"
	"weir/engine/wire"
	"weir/wasmhost"
)

// ModuleInfo is what can be said of a module without running anything of it but weir_describe.
type ModuleInfo struct {
	Name         string           `json:"name"`
	Version      string           `json:"version"`
	Description  string           `json:"description,omitempty"`
	Described    bool             `json:"described"` // false for a plain Extism module
	Runtimes     []string         `json:"runtimes"`  // what a set may name as its runtime
	Size         int              `json:"size"`
	Digest       string           `json:"sha256"`
	Functions    int              `json:"functions"`
	Memory       string           `json:"memory"`
	Hooks        []HookInfo       `json:"hooks"`
	Tools        []string         `json:"tools,omitempty"`
	Commands     []string         `json:"commands,omitempty"`
	Capabilities []CapabilityInfo `json:"capabilities"`
	Imports      []string         `json:"imports"`
	Config       json.RawMessage  `json:"config,omitempty"`
	Limits       wasmhost.Limits  `json:"limits"`
}

// HookInfo is one hook of a module.
type HookInfo struct {
	Event   string   `json:"event"`
	Tools   []string `json:"tools,omitempty"`
	View    string   `json:"view,omitempty"` // of context
	OnError string   `json:"onError,omitempty"`
}

// CapabilityInfo is a capability that the module imports.
type CapabilityInfo struct {
	Name   string `json:"name"`
	Reason string `json:"reason,omitempty"` // as the module gives it
	Grant  string `json:"grant"`            // the line of a set that grants it
}

// Inspect compiles and describes a module. Of cfg it uses Host and Bundled.
func Inspect(ctx context.Context, cfg Config, x *set.Extension) (*ModuleInfo, error) {
	e := &Engine{cfg: cfg}
	module, err := e.compile(ctx, x, hostLimits(x.Limits))
	if err != nil {
		return nil, e.explained(x, err)
	}
	d, err := Describe(ctx, x.Name, module)
	if err != nil {
		return nil, e.explained(x, err)
	}
	if _, err := entries(d, module.CheckEntry); err != nil {
		return nil, e.explained(x, &wasmhost.Fault{Extension: x.Name, Export: "load", Kind: wasmhost.KindLoad, Err: err})
	}
	s := module.Summary()
	info := &ModuleInfo{
		Name: d.Name, Version: d.Version, Description: d.Description, Described: module.Exports(wasmhost.DescribeExport), Size: module.Size(),
		Digest: module.Digest(), Functions: s.Functions, Memory: "none", Config: d.Config, Limits: wasmhost.DefaultLimits(),
		Capabilities: []CapabilityInfo{}, Imports: []string{}, Hooks: []HookInfo{},
	}
	if info.Runtimes = []string{set.RuntimeWeir.String()}; module.PlainExtism() == nil {
		info.Runtimes = append(info.Runtimes, set.RuntimeExtism.String())
	}
	if s.HasMemory {
		info.Memory = fmt.Sprintf("%s pages of 64 KiB", s.Memory)
	}
	for _, h := range d.Hooks {
		hi := HookInfo{Event: h.Event.String(), Tools: h.Tools}
		if h.Event == wire.EventContext {
			hi.View = h.View.String()
		}
		if h.Block {
			hi.OnError = "block"
		}
		info.Hooks = append(info.Hooks, hi)
	}
	for _, t := range d.Tools {
		info.Tools = append(info.Tools, t.Name)
	}
	for _, c := range d.Commands {
		info.Commands = append(info.Commands, c.Name)
	}
	for _, name := range module.Capabilities() {
		c := CapabilityInfo{Name: name, Grant: wasmhost.GrantLine(name)}
		for _, r := range d.Capabilities {
			if r.Name == wire.Capability(name) || r.Name == wire.CapabilityRead && name == "file" {
				c.Reason = r.Reason
			}
		}
		info.Capabilities = append(info.Capabilities, c)
	}
	for _, i := range s.Imports {
		info.Imports = append(info.Imports, i.Module+"."+i.Name)
	}
	return info, nil
}

// Probe is one extension outside any run, for trying it out: events in, the guest's own words out.
type Probe struct {
	ext   *guestExtension
	facts *facts.Computer
}

// OpenProbe loads an extension as [Open] would.
func OpenProbe(ctx context.Context, cfg Config, x *set.Extension) (*Probe, error) {
	e, err := Open(ctx, Config{Host: cfg.Host, Bundled: cfg.Bundled, SessionID: cfg.SessionID, CWD: cfg.CWD, Mode: cfg.Mode, Logger: cfg.Logger, Facts: cfg.Facts, Store: cfg.Store, Session: cfg.Session, UI: cfg.UI})
	if err != nil {
		return nil, err
	}
	ext, err := e.load(ctx, x, nil)
	if err != nil {
		return nil, err
	}
	return &Probe{ext: ext, facts: facts.New(e.FactsConfig())}, nil
}

// Describe is what the module says of itself.
func (p *Probe) Describe() *wire.Describe { return p.ext.describe }

// Hooks says whether the extension hooks an event.
func (p *Probe) Hooks(event wire.Event) bool { return p.ext.Hook(event) != nil }

// Extension is the extension itself, for an engine that is to have it among Config.Native. It lives as long as the probe.
func (p *Probe) Extension() Extension { return p.ext }

// Close ends the guest.
func (p *Probe) Close(ctx context.Context) error { return p.ext.Close(ctx) }

// Call hands the guest an event as JSON: an object with the payload. A type or context that is missing is filled in, and so
// are the facts that the hook asked for. It
// returns the guest's output as it is, after it was checked as strictly as in a run; an observer that gave none has
// said {}. The error is a *wasmhost.Fault, or says what is wrong with event.
func (p *Probe) Call(ctx context.Context, kind wire.Event, event []byte) (json.RawMessage, Usage, error) {
	ev := &Event{Kind: kind}
	w := p.ext.pool.Get().(*encoding)
	defer p.ext.pool.Put(w)
	input, err := p.input(w, ev, event)
	if err != nil {
		return nil, Usage{}, err
	}
	var out json.RawMessage
	stats, err := p.ext.guest.Call(ctx, kind.String(), input, func(b []byte) error {
		result, err := parseResult(ev, b)
		if err != nil {
			return err
		}
		if ev.Check != nil && result != nil {
			if err := ev.Check(result); err != nil {
				return err
			}
		}
		out = append(json.RawMessage(nil), b...)
		if len(b) == 0 {
			out = json.RawMessage("{}")
		}
		return nil
	})
	return out, Usage{Duration: stats.Duration, Fuel: stats.Fuel, Memory: stats.Memory, Fresh: stats.Fresh}, err
}

// input turns the caller's object into the guest's input.
func (p *Probe) input(w *encoding, ev *Event, event []byte) (wasmhost.Input, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(event, &fields); err != nil {
		return wasmhost.Input{}, err
	}
	if fields == nil {
		return wasmhost.Input{}, errors.New("it is not an object")
	}
	if t, ok := fields["type"]; ok && string(t) != `"`+ev.Kind.String()+`"` {
		return wasmhost.Input{}, fmt.Errorf("its type is %s, the hook is %s", t, ev.Kind)
	}
	switch ev.Kind {
	case wire.EventContext:
		messages, err := decodeMessages(fields["messages"])
		if err != nil {
			return wasmhost.Input{}, err
		}
		ev.Payload = &ContextEvent{Messages: messages}
		ev.Check = func(result any) error {
			r := result.(*wire.ContextResult)
			after, err := r.Apply(messages)
			if err != nil {
				return err
			}
			return r.Gate(messages, after)
		}
		return p.ext.contextInput(w, ev, &ContextEvent{Messages: messages})
	case wire.EventMessageEnd:
		m, err := agentcore.DecodeMessage(fields["message"])
		if err != nil {
			return wasmhost.Input{}, fmt.Errorf("message: %w", err)
		}
		ev.Payload = &agentcore.MessageEnd{Message: m}
	}
	filled := p.fillFacts(ev.Kind, fields)
	if _, ok := fields["context"]; ok && fields["type"] != nil && !filled {
		return wasmhost.Input{Bytes: event}, nil
	}
	given, hasContext := fields["context"]
	delete(fields, "type")
	delete(fields, "context")
	payload, err := json.Marshal(fields)
	if err != nil {
		return wasmhost.Input{}, err
	}
	if hasContext {
		body := append([]byte(`{"type":"`+ev.Kind.String()+`","context":`), given...)
		if len(fields) > 0 {
			body = append(append(body, ','), payload[1:]...)
			return wasmhost.Input{Bytes: body}, nil
		}
		return wasmhost.Input{Bytes: append(body, '}')}, nil
	}
	b, err := w.enc.AppendPayload(w.buf[:0], ev.At, ev.Kind, payload)
	if err != nil {
		return wasmhost.Input{}, err
	}
	w.buf = b
	return wasmhost.Input{Bytes: b}, nil
}

// fillFacts adds the facts that the hook asked for, where the event has none. It says whether it did.
func (p *Probe) fillFacts(kind wire.Event, fields map[string]json.RawMessage) bool {
	hook := p.ext.Hook(kind)
	kinds := facts.ParseKinds(hook.Facts)
	if _, ok := fields["facts"]; ok || kinds == 0 || kind != wire.EventToolCall && kind != wire.EventToolResult {
		return false
	}
	var tool string
	if json.Unmarshal(fields["toolName"], &tool) != nil {
		return false // the guest will say what is wrong with its event
	}
	known := p.facts.ToolCall(tool, fields["input"])
	if kind == wire.EventToolResult {
		content, err := agentcore.DecodeBlocks(fields["content"])
		if err != nil {
			content = nil // as above
		}
		known = p.facts.ToolResult(tool, fields["input"], content)
	}
	fields["facts"] = known.JSON(kinds)
	return true
}

func decodeMessages(raw json.RawMessage) ([]*agentcore.Message, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("messages: %w", err)
	}
	messages := make([]*agentcore.Message, len(list))
	for i, m := range list {
		var err error
		if messages[i], err = agentcore.DecodeMessage(m); err != nil {
			return nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	return messages, nil
}

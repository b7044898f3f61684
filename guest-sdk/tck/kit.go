package tck

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"weir/engine/wire"
	"weir/wasmhost"
)

// The names of the two modules of an SDK.
const (
	nameTable = "tck"
	nameFull  = "tck-json"
)

// Check runs the cases that concern a module. It fails only when the kit itself does not work, or ctx ends: what is wrong with the
// module, that it does not load included, is in the report. host runs the module; name is for messages.
func Check(ctx context.Context, host *wasmhost.Host, name string, wasm []byte) (*Report, error) {
	list, err := chapters()
	if err != nil {
		return nil, err
	}
	r := &Report{Module: name}
	module, err := host.Compile(ctx, name, wasm, wasmhost.Limits{})
	if err != nil {
		r.add(chapterDescribe, "it loads", "it does not load", "a module that loads", err.Error())
		return r, ctx.Err()
	}
	d := r.describe(ctx, name, module)
	if d == nil {
		return r, ctx.Err()
	}
	for _, c := range list {
		view := wire.ViewTable
		if r.Name == nameFull {
			view = wire.ViewFull
		}
		if view == wire.ViewFull && !c.JSON {
			continue
		}
		if err := r.chapter(ctx, c, &subject{name: name, module: module, describe: d, view: view}); err != nil {
			return nil, fmt.Errorf("chapter %s: %w", c.Chapter, err)
		}
	}
	return r, ctx.Err()
}

// chapterDescribe is the chapter that is no file.
const chapterDescribe = "describe"

// describe checks what the module says of itself; nil means that nothing more can be checked.
func (r *Report) describe(ctx context.Context, name string, module *wasmhost.Module) *wire.Describe {
	const right = "the description of SPEC.md, section 1"
	out, err := module.Describe(ctx, name)
	var d *wire.Describe
	if err == nil {
		d, err = wire.ParseDescribe(out)
	}
	if err != nil {
		r.add(chapterDescribe, "it is read", "it cannot be read", right, err.Error())
		return nil
	}
	var got, want map[string]any
	if err := errors.Join(json.Unmarshal(out, &got), json.Unmarshal(wantDescribe, &want)); err != nil {
		r.add(chapterDescribe, "it is read", "it cannot be read", right, err.Error())
		return nil
	}
	r.Name = d.Name
	if d.Name == nameFull {
		want = map[string]any{"abi": 1.0, "name": nameFull, "version": "1.0.0", "hooks": map[string]any{"context": map[string]any{}}}
		if hooks, ok := got["hooks"].(map[string]any); ok && hooks["context"] != nil {
			delete(hooks["context"].(map[string]any), "view") // full is the default; the parsed description knows
		}
		if len(d.Hooks) != 1 || d.Hooks[0].View != wire.ViewFull {
			r.add(chapterDescribe, "it hooks context with the view full", "it does not, or hooks more", right, string(out))
			return nil
		}
		delete(got, "description")
	}
	problems := compareDescribe(got, want, module.Capabilities())
	r.add(chapterDescribe, "it says what the specification asks for", strings.Join(problems, "; "), right, string(out))
	for _, h := range d.Hooks {
		if err := module.CheckEntry(h.Event.String()); err != nil {
			r.add(chapterDescribe, "it exports "+h.Event.String(), "it does not", "an export", err.Error())
			return nil
		}
	}
	return d
}

// compareDescribe lists what differs. Texts that are the author's own must be there.
func compareDescribe(got, want map[string]any, imports []string) (problems []string) {
	const own = "…"
	for _, optional := range []string{"session", "journal"} {
		if c, ok := want["capabilities"].(map[string]any); ok && slices.Contains(imports, optional) {
			c[optional] = own
		}
	}
	askForFacts(got, want)
	var walk func(path string, g, w any)
	walk = func(path string, g, w any) {
		switch w := w.(type) {
		case map[string]any:
			g, ok := g.(map[string]any)
			if !ok {
				problems = append(problems, path+" is no object")
				return
			}
			for k, v := range w {
				if _, ok := g[k]; !ok {
					problems = append(problems, strings.TrimPrefix(path+"."+k, ".")+" is missing")
					continue
				}
				walk(path+"."+k, g[k], v)
			}
			for k, v := range g {
				if _, ok := w[k]; !ok && (k != "view" || v != "full") {
					problems = append(problems, strings.TrimPrefix(path+"."+k, ".")+" is not asked for")
				}
			}
		case []any:
			g, ok := g.([]any)
			if !ok || len(g) != len(w) {
				problems = append(problems, fmt.Sprintf("%s is not an array of %d", strings.TrimPrefix(path, "."), len(w)))
				return
			}
			for i := range w {
				walk(fmt.Sprintf("%s[%d]", path, i), g[i], w[i])
			}
		default:
			if text, ok := g.(string); w == own && ok && text != "" {
				return
			}
			if g != w {
				problems = append(problems, fmt.Sprintf("%s is %v, not %v", strings.TrimPrefix(path, "."), g, w))
			}
		}
	}
	walk("", got, want)
	slices.Sort(problems)
	return problems
}

// askForFacts adds to what is wanted the facts that a description may ask for, if it asks for any.
func askForFacts(got, want map[string]any) {
	hooks, _ := got["hooks"].(map[string]any)
	wanted, _ := want["hooks"].(map[string]any)
	for hook, names := range map[string][]any{"tool_call": {"shell", "paths", "net"}, "tool_result": {"secrets"}} {
		options, _ := hooks[hook].(map[string]any)
		if w, ok := wanted[hook].(map[string]any); ok && options["facts"] != nil {
			w["facts"] = names
		}
	}
}

// chapter runs the cases of one chapter in order on a guest of its own.
func (r *Report) chapter(ctx context.Context, c *chapter, s *subject) (err error) {
	title := c.Chapter
	if c.JSON {
		title += " (" + s.view.String() + ")"
	}
	if c.Import != "" && !s.imports(c.Import) {
		r.Results = append(r.Results, Result{Chapter: title, Case: c.About, Status: Skipped, Got: "the module does not import " + c.Import})
		return nil
	}
	if c.Facts && !s.asksForFacts() {
		r.Results = append(r.Results, Result{Chapter: title, Case: c.About, Status: Skipped, Got: "the module asks for no facts"})
		return nil
	}
	w, err := newWorld(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close(ctx)) }()
	guest, err := s.guest(ctx, w)
	if err != nil {
		r.add(title, "it is instantiated", "it is not", "a running guest", err.Error())
		return nil
	}
	defer func() { err = errors.Join(err, guest.Close(ctx)) }()
	for _, t := range c.Cases {
		if t.View != "" && t.View != s.view.String() {
			continue
		}
		got, err := s.run(ctx, guest, w, t)
		if err != nil {
			return fmt.Errorf("case %q: %w", t.Name, err)
		}
		problem, err := t.judge(got)
		if err != nil {
			return fmt.Errorf("case %q: %w", t.Name, err)
		}
		r.add(title, t.Name, problem, t.wants(), got.String())
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// subject is the module being checked.
type subject struct {
	name     string
	module   *wasmhost.Module
	describe *wire.Describe
	view     wire.View
}

func (s *subject) asksForFacts() bool {
	return slices.ContainsFunc(s.describe.Hooks, func(h wire.Hook) bool { return len(h.Facts) > 0 })
}

func (s *subject) imports(name string) bool {
	for _, i := range s.module.Summary().Imports {
		if i.Name == name {
			return true
		}
	}
	return false
}

// settings are those of the chapters; `settings` of the specification answers them.
const settings = `{"greeting":"héllo \"w\" 😀\n","limit":12,"nested":{"a":[1,2.5,null,{"b":true}]}}`

func (s *subject) guest(ctx context.Context, w *world) (*wasmhost.Guest, error) {
	entries := s.describe.HookNames()
	if s.describe.Decisions != nil {
		entries = append(entries, wire.ExportDecision)
	}
	if len(s.describe.Tools) > 0 {
		entries = append(entries, wire.ExportToolExecute)
	}
	if len(s.describe.Commands) > 0 {
		entries = append(entries, wire.ExportCommandExecute)
	}
	// A case must not fail because the machine is slow: what never returns runs out of fuel. Nor is a guest left alone because it
	// faults as it is told.
	limits := wasmhost.Limits{Timeout: slow, Quarantine: 1 << 20}
	return s.module.NewGuest(ctx, wasmhost.GuestConfig{
		Name: s.name, Entries: entries, Limits: limits, Config: json.RawMessage(settings), Capabilities: w.capabilities, Logger: w.log.logger(),
	})
}

// outcome is what came of a case.
type outcome struct {
	output   []byte
	result   any // as the strict reader gave it
	messages []byte
	fault    *wasmhost.Fault
	log      []string
	updates  []string
	table    bool // the view of context
	reads    []int
}

func (o *outcome) faulted() bool { return o.fault != nil }

// String shows an outcome in a line.
func (o *outcome) String() string {
	if o.fault != nil {
		return fmt.Sprintf("fault %s: %v", o.fault.Kind, o.fault.Err)
	}
	text := string(o.output)
	if text == "" {
		text = "(no output)"
	}
	return text
}

func (s *subject) run(ctx context.Context, guest *wasmhost.Guest, w *world, t *testCase) (*outcome, error) {
	o := &outcome{table: s.view == wire.ViewTable}
	in, before, err := s.input(t, w)
	if err != nil {
		return nil, err
	}
	if t.Messages != "" {
		messages, err := encoded(before)
		if err != nil {
			return nil, err
		}
		in.Messages = len(messages)
		in.Message = func(i int) []byte {
			o.reads = append(o.reads, i)
			return messages[i]
		}
	}
	if t.Hook == wire.ExportToolExecute {
		in.Update = func(_ context.Context, partial []byte) { o.updates = append(o.updates, string(partial)) }
	}
	parse, err := parserOf(t.Hook)
	if err != nil {
		return nil, err
	}
	w.log.take()
	_, err = guest.Call(ctx, t.Hook, in, func(out []byte) error {
		o.output = bytes.Clone(out)
		var err error
		if o.result, err = parse(out); err != nil || t.Messages == "" {
			return err
		}
		o.messages, err = applied(o.result.(*wire.ContextResult), before)
		return err
	})
	if err != nil && !errors.As(err, &o.fault) {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	o.log = w.log.take()
	slices.Sort(o.reads)
	o.reads = slices.Compact(o.reads)
	return o, nil
}

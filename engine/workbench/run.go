package workbench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"weir/agentcore"
	"weir/engine"
	"weir/engine/facts"
	"weir/engine/set"
	"weir/engine/wire"
	"weir/wasmhost"
)

// Runner runs test files. The zero value lacks a host.
type Runner struct {
	// Host runs the modules; the runner does not close it.
	Host *wasmhost.Host
	// Bundled gives the bytes of a module named bundled:NAME; nil knows none.
	Bundled func(name string) ([]byte, bool)
	// Only selects cases by name; nil selects all.
	Only *regexp.Regexp
	// Update rewrites expected outputs that differ, where they stand in a file or in a string: see [FileReport.Updated].
	Update bool

	coverage coverage
}

// Answer is what an extension said to the event of a step.
type Answer struct {
	// Output is nil for a fault.
	Output json.RawMessage `json:"output,omitempty"`
	// Decision is allow, block, ask or rewrite; "" for a fault.
	Decision string `json:"decision,omitempty"`
	// Reason is a block's reason, the question of an ask (title, and message after a colon), or the fault's text.
	Reason string `json:"reason,omitempty"`
	// Fault is the kind of fault; "" for an answer.
	Fault string `json:"fault,omitempty"`
	// NotAsked says that the hook does not want calls of the tool, so that nobody was asked.
	NotAsked bool `json:"notAsked,omitempty"`
	// For context: which messages the model does not get, and which it gets unchanged. What is replaced is
	// neither.
	Dropped []int `json:"dropped,omitempty"`
	Kept    []int `json:"kept,omitempty"`
}

// Run runs the cases of a file. The error says that nothing could be run: the module does not load, though no case expects that.
func (r *Runner) Run(ctx context.Context, f *File) (*FileReport, error) {
	start := time.Now()
	rep := &FileReport{Path: f.Path, Module: f.Module, Cases: []CaseReport{}}
	loads := false // whether the module loaded once
	var update updater
	for i := range f.Cases {
		c := &f.Cases[i]
		if r.Only != nil && !r.Only.MatchString(c.Name) {
			rep.Skipped++
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		began := time.Now()
		cr := CaseReport{Name: c.Name, Position: c.Pos.String(), Steps: []StepReport{}}
		loaded, err := r.runCase(ctx, f, c, &cr, &update)
		if err != nil && !loads && !loaded {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		if err != nil {
			cr.Failures = append(cr.Failures, err.Error())
		}
		loads = loads || loaded
		cr.Passed = len(cr.Failures) == 0
		cr.Seconds = time.Since(began).Seconds()
		rep.Cases = append(rep.Cases, cr)
	}
	if err := update.write(f); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	rep.Updated = update.done
	rep.Seconds = time.Since(start).Seconds()
	return rep, nil
}

// Coverage says of each module of the files that were run what their cases exercised.
func (r *Runner) Coverage() []Coverage { return r.coverage.list() }

// runCase says whether the extension was loaded, which a case may expect not to happen.
func (r *Runner) runCase(ctx context.Context, f *File, c *Case, rep *CaseReport, update *updater) (loaded bool, err error) {
	probe, err := r.open(ctx, f, c)
	if err != nil {
		first := &c.Steps[0]
		if first.Expect.Fault != wasmhost.KindLoad.String() {
			return false, err
		}
		answer := Answer{Fault: wasmhost.KindLoad.String(), Reason: err.Error()}
		rep.Steps = append(rep.Steps, StepReport{Hook: first.Hook.String(), Answer: answer})
		rep.Failures = append(rep.Failures, compare(&first.Expect, &answer)...)
		return true, nil
	}
	defer func() { err = errors.Join(err, probe.Close(ctx)) }()
	r.coverage.module(f.Module, probe.Describe())
	r.coverage.config(f.Module, c.Config)
	computer := facts.New(facts.Config{Workspace: f.CWD, Home: f.Home})
	for i := range c.Steps {
		s := &c.Steps[i]
		began := time.Now()
		answer, err := r.ask(ctx, f, probe, computer, s)
		if err != nil {
			return true, fmt.Errorf("%s: %w", s.Pos, err)
		}
		rep.Steps = append(rep.Steps, StepReport{Hook: s.Hook.String(), Answer: *answer, Seconds: time.Since(began).Seconds()})
		failures := compare(&s.Expect, answer)
		if r.Update && len(failures) > 0 && answer.Output != nil && s.Expect.Output != nil {
			without := s.Expect
			without.Output = nil
			if len(compare(&without, answer)) == 0 && update.take(f, &s.Expect, answer.Output) {
				failures = nil
			}
		}
		for _, text := range failures {
			if len(c.Steps) > 1 {
				text = fmt.Sprintf("step %d (%s): %s", i+1, s.Pos, text)
			}
			rep.Failures = append(rep.Failures, text)
		}
	}
	return true, nil
}

// open loads the extension of a case.
func (r *Runner) open(ctx context.Context, f *File, c *Case) (*engine.Probe, error) {
	s, err := set.Modules([]string{f.Module}, f.Limits, f.Grant)
	if err != nil {
		var bad set.Errors
		if errors.As(err, &bad) {
			pos := f.doc.At("module")
			return nil, pos.Error("module", bad[0].Message, bad[0].Hint)
		}
		return nil, err
	}
	x := &s.Extensions[0]
	x.Config, x.Pos = c.Config, c.Pos
	return engine.OpenProbe(ctx, engine.Config{Host: r.Host, Bundled: r.Bundled, CWD: f.CWD, SessionID: "test", Mode: wire.ModeText}, x)
}

// ask puts the event of a step to the extension.
func (r *Runner) ask(ctx context.Context, f *File, probe *engine.Probe, computer *facts.Computer, s *Step) (*Answer, error) {
	hook := probe.Describe().Hook(s.Hook)
	if hook == nil {
		return nil, fmt.Errorf("the module does not hook %s; it hooks %v", s.Hook, probe.Describe().HookNames())
	}
	r.coverage.hook(f.Module, s.Hook)
	if tool := toolOf(s.Hook, s.Event); tool != "" && !hook.Wants(tool) {
		return &Answer{Output: json.RawMessage("{}"), Decision: "allow", NotAsked: true}, nil
	}
	event, err := withFacts(computer, hook, s.Event)
	if err != nil {
		return nil, err
	}
	out, _, err := probe.Call(ctx, s.Hook, event)
	var fault *wasmhost.Fault
	switch {
	case errors.As(err, &fault):
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return &Answer{Fault: fault.Kind.String(), Reason: fault.Error()}, nil
	case err != nil:
		return nil, fmt.Errorf("the event: %w", err)
	}
	return read(s.Hook, event, out)
}

// read says what an output amounts to. The probe has checked it.
func read(hook wire.Event, event, out json.RawMessage) (*Answer, error) {
	a := &Answer{Output: out}
	switch hook {
	case wire.EventToolCall:
		res, err := wire.ParseToolCall(out)
		if err != nil {
			return nil, err
		}
		a.toolCall(&res)
		return a, nil
	case wire.EventContext:
		return a, a.context(event)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(out, &fields); err != nil {
		return nil, err
	}
	says := func(key, value string) bool { return string(fields[key]) == value }
	switch {
	case len(fields) == 0, says("action", `"continue"`), says("trusted", `"yes"`), says("trusted", `"undecided"`), len(fields) == 1 && says("cancel", "false"):
		a.Decision = "allow"
	case says("cancel", "true"), says("action", `"handled"`), says("trusted", `"no"`):
		a.Decision = "block"
	default:
		a.Decision = "rewrite"
	}
	return a, nil
}

func (a *Answer) toolCall(r *wire.ToolCallResult) {
	switch {
	case r.Block:
		a.Decision, a.Reason = "block", r.Reason
	case r.Ask != nil:
		a.Decision, a.Reason = "ask", r.Ask.Title
		if r.Ask.Message != "" {
			a.Reason += ": " + r.Ask.Message
		}
	case r.Input != nil:
		a.Decision = "rewrite"
	default:
		a.Decision = "allow"
	}
}

// context applies the edits, as the engine would.
func (a *Answer) context(event json.RawMessage) error {
	var fields struct {
		Messages json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(event, &fields); err != nil {
		return err
	}
	before, err := decodeMessages(fields.Messages)
	if err != nil {
		return err
	}
	for i := range before {
		before[i] = before[i].WithID(uint64(i) + 1)
	}
	res, err := wire.ParseContext(a.Output)
	if err != nil {
		return err
	}
	after, err := res.Apply(before)
	if err != nil {
		return err
	}
	a.Decision = "rewrite"
	if res.NoOpinion() {
		a.Decision = "allow"
	}
	// Apply keeps the pointer of what is not replaced, and the id of what is; what the guest inserted has none.
	now := map[uint64]*agentcore.Message{}
	for _, m := range after {
		now[m.ID()] = m
	}
	a.Dropped, a.Kept = []int{}, []int{}
	for i, m := range before {
		switch now[m.ID()] {
		case m:
			a.Kept = append(a.Kept, i)
		case nil:
			a.Dropped = append(a.Dropped, i)
		}
	}
	return nil
}

package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"weir/agentcore"
	"weir/engine"
	"weir/engine/wire"
)

// Engine is what decides: an *engine.Engine whose Config.Ask agrees to everything, so that a question reaches the agent's
// person instead of being answered here.
type Engine interface {
	ToolCall(ctx context.Context, ev wire.ToolCallEvent, validate func(json.RawMessage) (json.RawMessage, error)) engine.Decision
	ToolResult(ctx context.Context, ev wire.ToolResultEvent) (wire.ToolResultEvent, bool)
	Ask(ctx context.Context, p wire.Payload) (any, error)
	Observe(ctx context.Context, p wire.Payload)
}

// Config is what [Run] works with.
type Config struct {
	// Agent is whose event it is.
	Agent *Agent
	// Open loads the set for an event. close may be nil.
	Open func(ctx context.Context, ev *Event) (e Engine, close func(context.Context) error, err error)
	// Timeout is how long reading, loading and deciding may take together; 0 is [DefaultTimeout]. What has not decided by then
	// denies: agents go on when their own time is up.
	Timeout time.Duration
}

// DefaultTimeout is below the time that the configurations in docs/agents give a hook (30 s).
const DefaultTimeout = 20 * time.Second

// MaxEvent is the most that an event may be long, in bytes.
const MaxEvent = 64 << 20

// Run answers the event on in. It never fails: what goes wrong is a blocking answer, as far as the agent has one for the
// event. When ctx ends or the time is up it returns without waiting for what is under way.
func Run(ctx context.Context, cfg Config, in io.Reader) Answer {
	timeout := cfg.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	read := make(chan *Event, 1) // the event, as soon as it is known
	done := make(chan Answer, 1)
	go func() { // ends with the process at the latest: a reader or a compiler cannot always be interrupted
		ev := &Event{Gate: true}
		defer func() {
			if v := recover(); v != nil {
				done <- cfg.Agent.failed(ev, fmt.Errorf("internal error: %v", v))
			}
		}()
		parsed, err := cfg.Agent.Parse(in)
		if parsed != nil {
			ev = parsed
		}
		read <- ev
		if err != nil {
			done <- cfg.Agent.failed(ev, err)
			return
		}
		done <- cfg.decide(limited, ev)
	}()
	select {
	case a := <-done:
		return a
	case <-limited.Done():
	}
	why := fmt.Errorf("no decision within %v", timeout)
	if ctx.Err() != nil {
		why = errors.New("interrupted before there was a decision")
	}
	select {
	case ev := <-read:
		return cfg.Agent.failed(ev, why)
	default:
		return cfg.Agent.failed(nil, why)
	}
}

// Fail is the blocking answer to an event that was not even read.
func (a *Agent) Fail(err error) Answer { return a.failed(nil, err) }

// failed is the answer when weir cannot decide. A mapping that panics has no say in it.
func (a *Agent) failed(ev *Event, err error) (out Answer) {
	if ev == nil {
		ev = &Event{Gate: true}
	}
	reason := clean("weir could not decide, so this is blocked: " + err.Error())
	if !ev.Gate {
		return answer(exitBroken, nil, clean("weir: "+err.Error()))
	}
	defer func() {
		if recover() != nil {
			out = answer(exitBlock, nil, reason)
		}
	}()
	return a.answer(ev, Decision{Reason: reason, Failed: true})
}

// Parse reads an event. With an error the event, where it is not nil, says what is known of it.
func (a *Agent) Parse(in io.Reader) (*Event, error) {
	raw, err := io.ReadAll(io.LimitReader(in, MaxEvent+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the event: %w", err)
	case len(raw) > MaxEvent:
		return nil, fmt.Errorf("the event is longer than %d MiB", MaxEvent>>20)
	}
	fields, err := parseObject(raw)
	if err != nil {
		return nil, fmt.Errorf("the event on standard input: %w", err)
	}
	ev, err := a.parse(fields)
	if err != nil {
		name := "the event"
		if ev != nil && ev.Name != "" {
			name = ev.Name
		}
		return ev, fmt.Errorf("%s: %w", name, err)
	}
	return ev, nil
}

// Answer maps a decision. It completes the reason.
func (a *Agent) Answer(ev *Event, d Decision) Answer {
	d.Reason = clean(d.Reason)
	if d.Reason == "" && d.Verdict != Pass {
		d.Reason = "denied by weir" // an empty reason undoes a denial in some agents
	}
	return a.answer(ev, d)
}

func (cfg *Config) decide(ctx context.Context, ev *Event) Answer {
	if ev.Kind == 0 {
		return Answer{}
	}
	e, closing, err := cfg.Open(ctx, ev)
	if err != nil {
		return cfg.Agent.failed(ev, err)
	}
	var d Decision
	switch ev.Kind {
	case wire.EventToolCall:
		d = toolCall(ctx, e, ev, cfg.Agent)
	case wire.EventToolResult:
		d = toolResult(ctx, e, ev)
	case wire.EventInput:
		d = input(ctx, e, ev, cfg.Agent)
	case wire.EventSessionBeforeCompact:
		d = beforeCompact(ctx, e, ev)
	case wire.EventSessionStart:
		e.Observe(ctx, wire.SessionStartEvent{Reason: ev.Reason})
		d = Decision{Verdict: Pass}
	default:
		return cfg.Agent.failed(ev, fmt.Errorf("the event %s has no decision", ev.Kind))
	}
	out := cfg.Agent.Answer(ev, d)
	if closing != nil {
		if err := closing(ctx); err != nil {
			return cfg.Agent.failed(ev, fmt.Errorf("closing the set: %w", err))
		}
	}
	return out
}

// toolCall puts the calls to the set, one after the other: the first that is blocked ends it.
func toolCall(ctx context.Context, e Engine, ev *Event, agent *Agent) Decision {
	var asked []engine.Question
	var rewritten []string
	var rewrittenInput []byte
	for _, c := range ev.Calls {
		got := e.ToolCall(ctx, wire.ToolCallEvent{ToolName: c.Tool, ToolCallID: ev.CallID, Input: c.Input}, nil)
		if got.Block {
			return Decision{Reason: got.Reason, Stop: got.Terminate}
		}
		asked = append(asked, got.Asked...)
		if len(got.Rewritten) > 0 {
			for _, by := range got.Rewritten {
				if !slices.Contains(rewritten, by) {
					rewritten = append(rewritten, by)
				}
			}
			rewrittenInput = got.Input
		}
	}
	if reason := peek(ctx, e, ev); reason != "" {
		return Decision{Reason: reason}
	}
	d := Decision{Verdict: Pass}
	if len(rewritten) > 0 {
		native, err := ev.nativeInput(rewrittenInput)
		if err != nil {
			return Decision{Reason: fmt.Sprintf("%s rewrote the arguments, which does not fit %s (%v), so the call is blocked", strings.Join(rewritten, ", "), agent.Title, err)}
		}
		d.Verdict, d.Input, d.Reason = Rewrite, native, strings.Join(rewritten, ", ")+" rewrote the arguments"
	}
	if len(asked) == 0 {
		return d
	}
	var says []string
	for _, q := range asked {
		text := q.Extension + " asks: " + q.Title
		if q.Message != "" {
			text += ": " + q.Message
		}
		says = append(says, text)
	}
	d.Verdict, d.Reason = Ask, strings.Join(says, "\n")
	if !ev.canAsk {
		return Decision{Reason: d.Reason + "; a hook cannot ask a person here, so the call is blocked"}
	}
	return d
}

// nativeInput gives rewritten arguments in the agent's terms.
func (ev *Event) nativeInput(rewritten []byte) ([]byte, error) {
	switch {
	case !ev.rewrites:
		return nil, errors.New("it takes no rewritten arguments here")
	case len(ev.Calls) != 1 || ev.Calls[0].back == nil:
		return nil, errors.New("the call stands for several")
	}
	native, err := ev.Calls[0].back(rewritten)
	if err != nil {
		return nil, err
	}
	now, err := parseObject(native)
	if err != nil {
		return nil, err
	}
	if ev.merges {
		before, err := parseObject(ev.input)
		if err != nil {
			return nil, err
		}
		for key := range before {
			if _, ok := now[key]; !ok {
				return nil, fmt.Errorf("%q cannot be taken away", short(key))
			}
		}
	}
	return native, nil
}

// peek has the set look at what a call is about to return, where the agent tells. A result that would be changed must not
// be returned.
func peek(ctx context.Context, e Engine, ev *Event) string {
	if ev.Content == nil {
		return ""
	}
	for _, c := range ev.Calls {
		got, changed := e.ToolResult(ctx, wire.ToolResultEvent{ToolName: c.Tool, ToolCallID: ev.CallID, Input: c.Input, Content: ev.Content})
		if changed && !sameTexts(ev.Content, got.Content) {
			return "the set would rewrite what this returns, which the agent does not let it do, so the call is blocked"
		}
	}
	return ""
}

// toolResult shows the result to the set, once for each call that it is of.
func toolResult(ctx context.Context, e Engine, ev *Event) Decision {
	content, isError := ev.Content, ev.IsError
	for _, c := range ev.Calls {
		got, changed := e.ToolResult(ctx, wire.ToolResultEvent{ToolName: c.Tool, ToolCallID: ev.CallID, Input: c.Input, Content: content, IsError: isError})
		if changed {
			content, isError = got.Content, got.IsError
		}
	}
	if sameTexts(ev.Content, content) {
		return Decision{Verdict: Pass}
	}
	return Decision{Verdict: Rewrite, Content: content, Reason: "the result was rewritten by the extension set"}
}

func sameTexts(a, b []agentcore.Block) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, ok := a[i].(*agentcore.TextBlock)
		y, also := b[i].(*agentcore.TextBlock)
		if !ok || !also || x.Text != y.Text {
			return false
		}
	}
	return true
}

func input(ctx context.Context, e Engine, ev *Event, agent *Agent) Decision {
	got, err := e.Ask(ctx, wire.InputEvent{Text: ev.Text, Source: "interactive"})
	if err != nil {
		return Decision{Reason: err.Error()}
	}
	out, ok := got.(*wire.InputOutcome)
	switch {
	case !ok || out == nil:
		return Decision{Reason: "weir could not decide about the prompt", Failed: true}
	case out.Handled:
		return Decision{Reason: "the extension " + out.By + " took the prompt"}
	case out.Text != ev.Text || len(out.Images) > 0:
		return Decision{Reason: fmt.Sprintf("%s rewrote the prompt, which %s does not let a hook do, so it is blocked", strings.Join(out.TransformedBy, ", "), agent.Title)}
	}
	return Decision{Verdict: Pass}
}

func beforeCompact(ctx context.Context, e Engine, ev *Event) Decision {
	empty := []*agentcore.Message{}
	got, err := e.Ask(ctx, wire.SessionBeforeCompactEvent{
		Preparation: wire.CompactionPreparation{
			MessagesToSummarize: empty, TurnPrefixMessages: empty, Settings: struct{}{},
			FileOps: wire.FileOps{Read: []string{}, Written: []string{}, Edited: []string{}},
		},
		BranchEntries: []json.RawMessage{}, CustomInstructions: ev.Text, Reason: ev.Reason,
	})
	if err != nil {
		return Decision{Reason: err.Error()}
	}
	out, ok := got.(*wire.SessionBeforeOutcome)
	switch {
	case !ok || out == nil:
		return Decision{Reason: "weir could not decide about the compaction", Failed: true}
	case out.Result.Cancel:
		return Decision{Reason: "the extension " + out.By + " does not let the session be compacted"}
	}
	return Decision{Verdict: Pass}
}

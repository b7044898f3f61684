package agentcore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"weir/agentcore"
)

// dice reads choices from the fuzzer's bytes; when they run out every choice is 0. Safe for concurrent use.
type dice struct {
	mu   sync.Mutex
	data []byte
}

func (d *dice) roll(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.data) == 0 {
		return 0
	}
	b := d.data[0]
	d.data = d.data[1:]
	return int(b) % n
}

// FuzzRun plays random scripts: provider chunks legal and illegal, tools that update, fail, panic or linger, aborts,
// steering and failing listeners at random moments. It holds the invariants of the package documentation.
func FuzzRun(f *testing.F) {
	f.Add([]byte{})
	for seed := range 24 {
		data := make([]byte, 160)
		x := uint32(seed*2654435761 + 1)
		for i := range data {
			x = x*1664525 + 1013904223
			data[i] = byte(x >> 24)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		synctest.Test(t, func(t *testing.T) { playRandom(t, &dice{data: data}) })
	})
}

func playRandom(t *testing.T, d *dice) {
	v := &invariants{t: t}
	cfg := agentcore.Config{
		Provider: randomProvider(d, v), UpdateGrace: time.Microsecond, ToolGrace: time.Second, Logger: slog.New(slog.DiscardHandler),
	}
	for i := range 3 {
		cfg.Tools = append(cfg.Tools, randomTool(d, fmt.Sprint("t", i)))
	}
	if d.roll(2) == 1 {
		cfg.ToolExecution = agentcore.ExecutionSequential
	}
	if d.roll(2) == 1 {
		cfg.SteeringMode, cfg.FollowUpMode = agentcore.QueueAll, agentcore.QueueAll
	}
	if d.roll(4) == 1 {
		cfg.Hooks.AfterToolCall = func(context.Context, *agentcore.ToolResultContext) (*agentcore.AfterToolCallResult, error) {
			time.Sleep(time.Duration(d.roll(5)) * time.Millisecond)
			return nil, errorOnRoll(d, 5)
		}
	}
	if d.roll(4) == 1 {
		cfg.Hooks.TransformContext = func(_ context.Context, m []*agentcore.Message) ([]*agentcore.Message, error) {
			return m, v.failing(errorOnRoll(d, 9))
		}
	}
	a, err := agentcore.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	v.agent = a
	a.Subscribe(v.check)
	failures := d.roll(3)
	a.Subscribe(func(context.Context, agentcore.Event) error {
		randomMove(d, a)
		if failures == 0 {
			return nil
		}
		return v.failing(errorOnRoll(d, 40))
	})
	for range 1 + d.roll(3) {
		v.begin()
		ctx, cancel := context.WithCancel(t.Context())
		if d.roll(6) == 1 {
			time.AfterFunc(time.Duration(d.roll(20))*time.Millisecond, cancel)
		}
		err := a.PromptText(ctx, "go")
		cancel()
		v.end(err)
	}
	time.Sleep(10 * time.Second) // deaf tools end by then
}

func errorOnRoll(d *dice, n int) error {
	if d.roll(n) == 1 {
		return errors.New("rolled a failure")
	}
	return nil
}

func randomMove(d *dice, a *agentcore.Agent) {
	switch d.roll(24) {
	case 1:
		a.Abort()
	case 2:
		a.Steer(a.UserMessage("steer"))
	case 3:
		if d.roll(2) == 1 {
			a.FollowUp(a.UserMessage("follow"))
		}
	case 4:
		time.Sleep(time.Duration(d.roll(3)) * time.Millisecond)
	case 5:
		remove := a.Subscribe(func(context.Context, agentcore.Event) error { return nil })
		defer remove()
	case 6:
		a.ClearSteering()
	}
}

func randomProvider(d *dice, v *invariants) agentcore.Provider {
	requests := 0
	return agentcore.ProviderFunc(func(
		ctx context.Context, _ *agentcore.Request, emit func(agentcore.AssistantEvent) error,
	) (*agentcore.AssistantMessage, error) {
		requests++
		if requests > 12 { // scripts end
			return &agentcore.AssistantMessage{StopReason: agentcore.StopError, ErrorMessage: "enough"}, nil
		}
		blocks := 0
		legal := d.roll(5) != 1
		if legal {
			if err := emit(agentcore.AssistantEvent{Type: agentcore.StreamStart}); err != nil {
				return nil, err
			}
		}
		for range d.roll(8) {
			ev := agentcore.AssistantEvent{ContentIndex: blocks, Delta: "{}", ToolCall: randomCall(d)}
			if legal {
				ev.Type = agentcore.StreamTextStart + agentcore.AssistantEventType(3*d.roll(3))
				if err := emitBlock(emit, ev); err != nil {
					return nil, err
				}
				blocks++
			} else {
				ev.Type = agentcore.AssistantEventType(d.roll(15))
				ev.ContentIndex = d.roll(4) - 1
				if err := emit(ev); err != nil && d.roll(2) == 1 {
					return nil, err
				}
			}
			time.Sleep(time.Duration(d.roll(2)) * time.Millisecond)
			if ctx.Err() != nil && d.roll(2) == 1 {
				return &agentcore.AssistantMessage{StopReason: agentcore.StopAborted}, nil
			}
		}
		switch d.roll(8) {
		case 1:
			return nil, v.failing(errors.New("provider failed"))
		case 2:
			return nil, nil
		case 3:
			return nil, emit(agentcore.AssistantEvent{Type: agentcore.StreamError, Reason: agentcore.StopError})
		case 4:
			return nil, emit(agentcore.AssistantEvent{Type: agentcore.StreamDone, Reason: agentcore.StopLength})
		case 5:
			m := &agentcore.AssistantMessage{}
			for range d.roll(5) {
				m.Content = append(m.Content, randomCall(d))
			}
			return m, nil
		default:
			return nil, emit(agentcore.AssistantEvent{Type: agentcore.StreamDone})
		}
	})
}

func emitBlock(emit func(agentcore.AssistantEvent) error, ev agentcore.AssistantEvent) error {
	for step := range 3 {
		next := ev
		next.Type += agentcore.AssistantEventType(step)
		if err := emit(next); err != nil {
			return err
		}
	}
	return nil
}

func randomCall(d *dice) *agentcore.ToolCall {
	return &agentcore.ToolCall{
		ID: fmt.Sprint("c", d.roll(250)), Name: fmt.Sprint("t", d.roll(4)), Arguments: json.RawMessage(`{}`),
	}
}

func randomTool(d *dice, name string) *agentcore.Tool {
	tool := tool(name, func(ctx context.Context, id string, _ json.RawMessage, update func(*agentcore.ToolResult)) (*agentcore.ToolResult, error) {
		for range d.roll(4) {
			update(textResult("…"))
			time.Sleep(time.Duration(d.roll(3)) * time.Millisecond)
		}
		switch d.roll(8) {
		case 1:
			return nil, errors.New("tool failed")
		case 2:
			panic("tool panicked")
		case 3:
			select {
			case <-ctx.Done():
			case <-time.After(time.Hour):
			}
			return nil, ctx.Err()
		case 4:
			// Deaf: outlives the grace if the run is aborted meanwhile.
			time.Sleep(5 * time.Second)
			update(textResult("late"))
			return textResult("late"), nil
		case 5:
			return &agentcore.ToolResult{Terminate: true}, nil
		default:
			return textResult("ok"), nil
		}
	})
	if d.roll(6) == 1 {
		tool.ExecutionMode = agentcore.ExecutionSequential
	}
	return tool
}

// invariants is a listener that checks what the package documentation promises of a run.
type invariants struct {
	t     *testing.T
	agent *agentcore.Agent

	mu       sync.Mutex
	failures int // things that take the failure path
	ends     int
	depth    []string // open pairs of agent, turn and message
	running  map[string]int
	calls    []string // of the last assistant message
	results  []string // since then
	last     agentcore.EventType
}

func (v *invariants) begin() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.failures, v.ends, v.depth, v.running, v.calls, v.results, v.last = 0, 0, nil, map[string]int{}, nil, nil, 0
}

// failing notes that the run is about to take the failure path.
func (v *invariants) failing(err error) error {
	if err != nil {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.failures++
	}
	return err
}

func (v *invariants) end(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.failures == 0 && err != nil:
		v.t.Errorf("Prompt returned %v although nothing failed", err)
	case v.failures < 2 && err != nil:
		v.t.Errorf("Prompt returned %v after one failure only", err)
	case err == nil && v.last != agentcore.EventAgentEnd:
		v.t.Errorf("the run ended with %s", v.last)
	case v.failures == 0 && v.ends != 1, v.ends > 2:
		v.t.Errorf("%d agent_end in a run with %d failures", v.ends, v.failures)
	}
	if v.failures == 0 && (len(v.depth) > 0 || len(v.running) > 0) {
		v.t.Errorf("left open: %q, tools %v", v.depth, v.running)
	}
	if s := v.agent.State(); s.Running || s.StreamingMessage != nil || len(s.PendingToolCalls) > 0 {
		v.t.Errorf("the agent is not idle after Prompt: %+v", s)
	}
}

func (v *invariants) check(_ context.Context, ev agentcore.Event) error {
	state := v.agent.State()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last = ev.Type()
	if !state.Running {
		v.t.Errorf("%s: the state is idle", ev.Type())
	}
	switch e := ev.(type) {
	case *agentcore.AgentStart:
		v.open("agent")
	case *agentcore.TurnStart:
		v.open("turn")
	case *agentcore.MessageStart:
		v.open("message")
		if state.StreamingMessage != e.Message {
			v.t.Error("message_start: the streaming message is another")
		}
	case *agentcore.MessageUpdate:
		if n := len(v.depth); v.failures == 0 && (n == 0 || v.depth[n-1] != "message") {
			v.t.Error("message_update outside a message")
		}
	case *agentcore.MessageEnd:
		v.close("message")
		v.messageEnd(state, e.Message)
	case *agentcore.ToolExecutionStart:
		v.running[e.ToolCallID]++
		if !slices.Contains(state.PendingToolCalls, e.ToolCallID) {
			v.t.Errorf("tool_execution_start: %s is not pending", e.ToolCallID)
		}
	case *agentcore.ToolExecutionUpdate:
		if v.running[e.ToolCallID] == 0 {
			v.t.Errorf("update of %s, which does not run", e.ToolCallID)
		}
	case *agentcore.ToolExecutionEnd:
		if v.running[e.ToolCallID]--; v.running[e.ToolCallID] < 0 {
			v.t.Errorf("end of %s without start", e.ToolCallID)
		} else if v.running[e.ToolCallID] == 0 {
			delete(v.running, e.ToolCallID)
		}
	case *agentcore.TurnEnd:
		v.turnEnd(e)
	case *agentcore.AgentEnd:
		v.ends++
		if v.failures == 0 {
			v.close("agent")
		}
	}
	return nil
}

func (v *invariants) open(what string) {
	if v.failures == 0 {
		v.depth = append(v.depth, what)
	}
}

func (v *invariants) close(what string) {
	if v.failures > 0 {
		return
	}
	n := len(v.depth)
	if n == 0 || v.depth[n-1] != what {
		v.t.Errorf("end of %s while %q are open", what, v.depth)
		return
	}
	v.depth = v.depth[:n-1]
}

func (v *invariants) messageEnd(state agentcore.State, m *agentcore.Message) {
	if n := len(state.Messages); n == 0 || state.Messages[n-1] != m {
		v.t.Error("message_end: the message is not the last of the transcript")
	}
	if state.StreamingMessage != nil {
		v.t.Error("message_end: a message is still streaming")
	}
	if a := m.Assistant(); a != nil {
		v.calls, v.results = nil, nil
		for _, b := range a.Content {
			if call, ok := b.(*agentcore.ToolCall); ok {
				v.calls = append(v.calls, call.ID)
			}
		}
	}
	if r := m.ToolResult(); r != nil {
		v.results = append(v.results, r.ToolCallID)
		if n := len(v.results); n > len(v.calls) || v.calls[n-1] != r.ToolCallID {
			v.t.Errorf("results %q of calls %q", v.results, v.calls)
		}
	}
}

func (v *invariants) turnEnd(e *agentcore.TurnEnd) {
	v.close("turn")
	if v.failures > 0 {
		return
	}
	if len(v.running) > 0 {
		v.t.Errorf("turn_end while tools run: %v", v.running)
	}
	var ids []string
	for _, m := range e.ToolResults {
		ids = append(ids, m.ToolResult().ToolCallID)
	}
	if !slices.Equal(ids, v.results) {
		v.t.Errorf("turn_end with results %q, told were %q", ids, v.results)
	}
}

// FuzzDecodeMessage holds that a message that can be read keeps its bytes, and that its typed body can be written.
func FuzzDecodeMessage(f *testing.F) {
	for _, seed := range []string{
		`{"role":"user","content":"x","timestamp":1}`, `{"role":"user","content":[{"type":"image","data":"","mimeType":""}]}`,
		`{"role":"assistant","content":[{"type":"toolCall","arguments":{"a":[1]}},{"type":"thinking","redacted":true}],"usage":{},"x":1}`,
		`{"role":"toolResult","content":[],"details":null,"usage":null,"addedToolNames":["a"]}`, `{"role":"custom"}`, `[]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := agentcore.DecodeMessage(data)
		if err != nil {
			return
		}
		if raw, err := m.JSON(); err != nil || string(raw) != string(data) {
			t.Errorf("got %q, %v, want the given bytes", raw, err)
		}
		raw, err := agentcore.NewMessage(m.Body()).JSON()
		if err != nil || !json.Valid(raw) {
			t.Errorf("the body of %q gives %q, %v", data, raw, err)
		}
	})
}

// FuzzValidate holds that any schema and any arguments give arguments or an error, and that what validation returns is
// valid for the same schema as it is.
func FuzzValidate(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"x":{"type":["integer","null"]}},"required":["x"]}`), []byte(`{"x":"1","y":null}`))
	f.Add([]byte(`{"anyOf":[{"type":"array","items":{"type":"number"}},{"type":"object","additionalProperties":{"type":"string"}}]}`), []byte(`{"x":1}`))
	f.Add([]byte(`{"$defs":{"a":{"const":1}},"properties":{"x":{"$ref":"#/$defs/a"}},"items":[{}]}`), []byte(`{"x":1e400}`))
	f.Add([]byte(`{"not":{},"if":true,"then":false,"propertyNames":{"pattern":"^a"},"uniqueItems":true}`), []byte(`[1,1]`))
	f.Add([]byte(`{"anyOf":[{"$ref":"#"},{"$ref":"#"}],"properties":{"x":{"$ref":"#"}}}`), []byte(`{"x":{"x":1}}`))
	f.Fuzz(func(t *testing.T, schema, args []byte) {
		s, err := agentcore.CompileSchema(schema)
		if err != nil {
			return
		}
		out, err := s.Validate("t", args)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without words")
			}
			return
		}
		if !json.Valid(out) && json.Valid(args) {
			t.Errorf("%q with %q gives %q", schema, args, out)
		}
		if again, err := s.Validate("t", out); err != nil || string(again) != string(out) {
			t.Errorf("%q with %q gives %q, which gives %q, %v", schema, args, out, again, err)
		}
	})
}

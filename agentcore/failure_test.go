package agentcore_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
)

// TestProviderBreaksProtocol holds that every breach gives a complete run with a defined last message.
func TestProviderBreaksProtocol(t *testing.T) {
	type ev = agentcore.AssistantEvent
	start, text := ev{Type: agentcore.StreamStart}, ev{Type: agentcore.StreamTextStart}
	delta := ev{Type: agentcore.StreamTextDelta, Delta: "ab"}
	done := ev{Type: agentcore.StreamDone, Reason: agentcore.StopStop}
	for _, c := range []struct {
		name   string
		events []ev
		stop   agentcore.StopReason
		text   string // of the message's first block
		err    string // part of its error message
	}{
		{"nothing", nil, "error", "", "neither done nor error"},
		{"no terminal", []ev{start, text, delta}, "error", "ab", "neither done nor error"},
		{"no start", []ev{text, delta, done}, "stop", "ab", ""},
		{"only done", []ev{done}, "stop", "", ""},
		{"two terminals", []ev{start, done, {Type: agentcore.StreamError, Reason: agentcore.StopError}}, "stop", "", ""},
		{"event after terminal", []ev{start, text, done, delta}, "stop", "", ""},
		{"two starts", []ev{start, text, delta, start, done}, "error", "ab", "a second start"},
		{"delta without block", []ev{start, delta, done}, "error", "", "0 blocks were started"},
		{"negative index", []ev{start, text, {Type: agentcore.StreamTextDelta, ContentIndex: -1}}, "error", "", "content index -1"},
		{"index skipped", []ev{start, {Type: agentcore.StreamTextStart, ContentIndex: 3}}, "error", "", "content index 3, expected 0"},
		{"block opened twice", []ev{start, text, text}, "error", "", "content index 0, expected 1"},
		{"other kind", []ev{start, text, {Type: agentcore.StreamThinkingDelta}}, "error", "", "opened by text_start"},
		{"unset event", []ev{start, {}}, "error", "", "no such event"},
		{"unknown event", []ev{start, {Type: 99}}, "error", "", "no such event"},
		{"call without call", []ev{start, {Type: agentcore.StreamToolCallStart}, {Type: agentcore.StreamToolCallEnd}}, "error", "", "no tool call"},
		{"call of broken JSON", []ev{
			start,
			{Type: agentcore.StreamToolCallStart, ToolCall: &agentcore.ToolCall{ID: "1", Name: "x"}},
			{Type: agentcore.StreamToolCallDelta, Delta: "{"},
			{Type: agentcore.StreamToolCallEnd},
		}, "error", "", "not valid JSON"},
		{"error without reason", []ev{start, {Type: agentcore.StreamError}}, "error", "", ""},
		{"error that says stop", []ev{start, {Type: agentcore.StreamError, Reason: agentcore.StopStop}}, "error", "", ""},
		{"done that says pending", []ev{start, {Type: agentcore.StreamDone, Reason: agentcore.StopPending}}, "stop", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := newAgent(t, agentcore.Config{Provider: stream(c.events)})
			lines := log(a)
			if err := a.PromptText(t.Context(), "go"); err != nil {
				t.Fatal(err)
			}
			messages := a.State().Messages
			m := messages[len(messages)-1].Assistant()
			if m == nil || m.StopReason != c.stop || !strings.Contains(m.ErrorMessage, c.err) || (c.err == "") != (m.ErrorMessage == "") {
				t.Errorf("got %+v, want stop reason %s and an error with %q", m, c.stop, c.err)
			}
			if c.text != "" {
				if text, ok := m.Content[0].(*agentcore.TextBlock); !ok || text.Text != c.text {
					t.Errorf("content %v, want %q", m.Content, c.text)
				}
			}
			got := only(lines(), "message_start assistant", "message_end assistant", "turn", "agent")
			if len(got) != 6 {
				t.Errorf("events %q, want one start and end of run, turn and message", got)
			}
		})
	}
}

func TestProviderIgnoresErrorOfListener(t *testing.T) {
	provider := agentcore.ProviderFunc(func(
		_ context.Context, _ *agentcore.Request, emit func(agentcore.AssistantEvent) error,
	) (*agentcore.AssistantMessage, error) {
		for _, ev := range says("x") {
			_ = emit(ev) // this provider does not care
		}
		return &agentcore.AssistantMessage{}, nil
	})
	a := newAgent(t, agentcore.Config{Provider: provider})
	a.Subscribe(func(_ context.Context, ev agentcore.Event) error {
		if ev.Type() == agentcore.EventMessageUpdate {
			return errors.New("no more")
		}
		return nil
	})
	if err := a.PromptText(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	if got := a.State().ErrorMessage; got != "no more" {
		t.Errorf("error message %q", got)
	}
}

// TestPanics holds that a panic anywhere becomes what an error in the same place becomes.
func TestPanics(t *testing.T) {
	boom := func() { panic("boom") }
	fine := tool("t", func(context.Context, string, json.RawMessage, func(*agentcore.ToolResult)) (*agentcore.ToolResult, error) {
		return textResult("ok"), nil
	})
	for _, c := range []struct {
		name string
		cfg  agentcore.Config
		want string // the line that tells of the panic
	}{
		{"tool", agentcore.Config{Tools: []*agentcore.Tool{tool("t", func(context.Context, string, json.RawMessage, func(*agentcore.ToolResult)) (*agentcore.ToolResult, error) {
			boom()
			return nil, nil
		})}}, "tool_execution_end 1 true tool panicked: boom"},
		{"prepare", agentcore.Config{Tools: []*agentcore.Tool{{
			Name: "t", Execute: fine.Execute, Prepare: func(json.RawMessage) (json.RawMessage, error) { boom(); return nil, nil },
		}}}, "tool_execution_end 1 true tool panicked: boom"},
		{"before", agentcore.Config{Tools: []*agentcore.Tool{fine}, Hooks: agentcore.Hooks{
			BeforeToolCall: func(context.Context, *agentcore.ToolCallContext) (*agentcore.BeforeToolCallResult, error) {
				boom()
				return nil, nil
			},
		}}, "tool_execution_end 1 true hook panicked: boom"},
		{"after", agentcore.Config{Tools: []*agentcore.Tool{fine}, Hooks: agentcore.Hooks{
			AfterToolCall: func(context.Context, *agentcore.ToolResultContext) (*agentcore.AfterToolCallResult, error) {
				boom()
				return nil, nil
			},
		}}, "tool_execution_end 1 true hook panicked: boom"},
		{"transform", agentcore.Config{Hooks: agentcore.Hooks{
			TransformContext: func(context.Context, []*agentcore.Message) ([]*agentcore.Message, error) { boom(); return nil, nil },
		}}, "message_end assistant:error hook panicked: boom"},
		{"stop", agentcore.Config{Hooks: agentcore.Hooks{
			ShouldStopAfterTurn: func(context.Context, *agentcore.TurnContext) (bool, error) { boom(); return false, nil },
		}}, "message_end assistant:error hook panicked: boom"},
		{"key", agentcore.Config{Hooks: agentcore.Hooks{
			APIKey: func(context.Context, string) (string, error) { boom(); return "", nil },
		}}, "message_end assistant:error hook panicked: boom"},
		{"provider", agentcore.Config{Provider: agentcore.ProviderFunc(func(
			context.Context, *agentcore.Request, func(agentcore.AssistantEvent) error,
		) (*agentcore.AssistantMessage, error) {
			boom()
			return nil, nil
		})}, "message_end assistant:error provider panicked: boom"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.cfg.Provider == nil {
				c.cfg.Provider = stream(calls("t"), says("done"))
			}
			a := newAgent(t, c.cfg)
			lines := log(a)
			if err := a.PromptText(t.Context(), "go"); err != nil {
				t.Fatal(err)
			}
			if len(only(lines(), c.want)) != 1 {
				t.Errorf("no line %q in:\n%s", c.want, strings.Join(lines(), "\n"))
			}
		})
	}
}

func TestListenerPanicTakesFailurePath(t *testing.T) {
	a := newAgent(t, agentcore.Config{Provider: stream(says("x"), says("y"))})
	lines := log(a)
	remove := a.Subscribe(func(_ context.Context, ev agentcore.Event) error {
		if ev.Type() == agentcore.EventMessageEnd {
			panic(errors.New("boom"))
		}
		return nil
	})
	err := a.PromptText(t.Context(), "go")
	var p *agentcore.PanicError
	if !errors.As(err, &p) || p.What != "listener" || len(p.Stack) == 0 {
		t.Fatalf("got %v, want the panic of the failure sequence", err)
	}
	want := []string{
		"agent_start", "turn_start", "message_start user", "message_end user",
		"message_start assistant:error listener panicked: boom", "message_end assistant:error listener panicked: boom",
	}
	if diff := cmp.Diff(want, lines()); diff != "" {
		t.Error(diff)
	}
	remove()
	if err := a.PromptText(t.Context(), "again"); err != nil {
		t.Errorf("the agent is not usable after a failed run: %v", err)
	}
}

func TestToolLeavesItsGoroutine(t *testing.T) {
	exits := tool("t", func(context.Context, string, json.RawMessage, func(*agentcore.ToolResult)) (*agentcore.ToolResult, error) {
		runtime.Goexit()
		return nil, nil
	})
	a := newAgent(t, agentcore.Config{Provider: stream(calls("t")), Tools: []*agentcore.Tool{exits}})
	if err := a.PromptText(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	if a.State().ErrorMessage == "" {
		t.Error("a tool that never returned left no error")
	}
}

// TestToolIgnoresCancellation holds the bound: the run goes on after ToolGrace, tells of the orphan, and tells nothing
// that the orphan does afterwards, not even in the next run.
func TestToolIgnoresCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, finished := make(chan struct{}), make(chan struct{})
		deaf := tool("deaf", func(_ context.Context, _ string, _ json.RawMessage, update func(*agentcore.ToolResult)) (*agentcore.ToolResult, error) {
			defer close(finished)
			<-release
			update(textResult("too late"))
			return textResult("far too late"), nil
		})
		var orphans []*agentcore.OrphanError
		a := newAgent(t, agentcore.Config{
			Provider: stream(calls("deaf"), says("x"), says("y")), Tools: []*agentcore.Tool{deaf}, ToolGrace: 3 * time.Second,
			OnOrphan: func(o *agentcore.OrphanError) { orphans = append(orphans, o) },
		})
		lines := log(a)
		time.AfterFunc(time.Second, a.Abort)
		began := time.Now()
		if err := a.PromptText(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 4*time.Second {
			t.Errorf("the run took %s of virtual time, want the second before the abort and the grace of 3s", took)
		}
		if len(orphans) != 1 || orphans[0].ToolCallID != "1" || orphans[0].Waited != 3*time.Second {
			t.Errorf("orphans %v", orphans)
		}
		want := []string{
			"tool_execution_start 1",
			"tool_execution_end 1 true tool deaf (call 1) did not stop within 3s after it was cancelled",
		}
		if diff := cmp.Diff(want, only(lines(), "tool")); diff != "" {
			t.Error(diff)
		}
		a.Subscribe(func(_ context.Context, ev agentcore.Event) error {
			if ev.Type() == agentcore.EventTurnEnd {
				close(release)
				<-finished
				synctest.Wait()
			}
			return nil
		})
		if err := a.PromptText(t.Context(), "next"); err != nil {
			t.Fatal(err)
		}
		if got := only(lines(), "tool"); len(got) != 2 {
			t.Errorf("the orphan was heard of in the next run: %q", got)
		}
	})
}

// TestOrphanIsJoinedWithItsUpdates holds that deliveries that an orphan began are done before its end is told, and that a
// panic of OnOrphan harms nobody.
func TestOrphanIsJoinedWithItsUpdates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deaf := tool("deaf", func(_ context.Context, _ string, _ json.RawMessage, update func(*agentcore.ToolResult)) (*agentcore.ToolResult, error) {
			update(textResult("1"))
			time.Sleep(time.Hour)
			return nil, nil
		})
		a := newAgent(t, agentcore.Config{
			Provider: stream(calls("deaf"), says("x")), Tools: []*agentcore.Tool{deaf},
			OnOrphan: func(*agentcore.OrphanError) { panic("boom") }, Logger: slog.New(slog.DiscardHandler),
		})
		delivered := false
		a.Subscribe(func(_ context.Context, ev agentcore.Event) error {
			switch ev.Type() {
			case agentcore.EventToolExecutionUpdate:
				time.Sleep(time.Minute)
				delivered = true
			case agentcore.EventToolExecutionEnd:
				if !delivered {
					t.Error("the end was told before the update was delivered")
				}
			}
			return nil
		})
		time.AfterFunc(time.Second, a.Abort)
		if err := a.PromptText(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		if !delivered {
			t.Error("the update was not delivered")
		}
		time.Sleep(time.Hour)
	})
}

// TestFailureCancelsSiblings holds that a run that fails cancels its other tools and does not leave them running.
func TestFailureCancelsSiblings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cause error
		waits := tool("waits", func(ctx context.Context, _ string, _ json.RawMessage, _ func(*agentcore.ToolResult)) (*agentcore.ToolResult, error) {
			<-ctx.Done()
			cause = context.Cause(ctx)
			return nil, ctx.Err()
		})
		quick := tool("quick", func(context.Context, string, json.RawMessage, func(*agentcore.ToolResult)) (*agentcore.ToolResult, error) {
			return textResult("ok"), nil
		})
		a := newAgent(t, agentcore.Config{Provider: stream(calls("waits", "quick")), Tools: []*agentcore.Tool{waits, quick}})
		a.Subscribe(func(ctx context.Context, ev agentcore.Event) error {
			if ev.Type() == agentcore.EventToolExecutionEnd {
				return errors.New("no")
			}
			if ev.Type() == agentcore.EventAgentEnd && ctx.Err() != nil {
				t.Error("the run's own context was cancelled by the failure")
			}
			return nil
		})
		if err := a.PromptText(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		if !errors.Is(cause, agentcore.ErrRunFailed) {
			t.Errorf("the sibling's context ended with %v, want %v", cause, agentcore.ErrRunFailed)
		}
	})
}

func TestNewRefusesBadConfig(t *testing.T) {
	execute := func(context.Context, string, json.RawMessage, func(*agentcore.ToolResult)) (*agentcore.ToolResult, error) {
		return nil, nil
	}
	with := func(tools ...*agentcore.Tool) agentcore.Config {
		return agentcore.Config{Provider: stream(), Tools: tools}
	}
	schema := func(s string) *agentcore.Tool {
		return &agentcore.Tool{Name: "t", Execute: execute, Parameters: json.RawMessage(s)}
	}
	for _, c := range []struct {
		name string
		cfg  agentcore.Config
		want string
	}{
		{"no provider", agentcore.Config{}, "without a provider"},
		{"mode", agentcore.Config{Provider: stream(), ToolExecution: "fast"}, `unknown tool execution mode "fast"`},
		{"queue", agentcore.Config{Provider: stream(), SteeringMode: "some"}, `unknown queue mode "some"`},
		{"nil tool", with(nil), "tool 0 is nil"},
		{"no name", with(&agentcore.Tool{Execute: execute}), "tool 0 has no name"},
		{"twice", with(tool("t", execute), tool("t", execute)), `two tools are named "t"`},
		{"no execute", with(&agentcore.Tool{Name: "t"}), `tool "t" has no Execute`},
		{"tool mode", with(&agentcore.Tool{Name: "t", Execute: execute, ExecutionMode: "x"}), `tool "t"`},
		{"not JSON", with(schema(`{`)), `tool "t": parameters: not valid JSON`},
		{"not an object", with(schema(`[]`)), "a schema must be an object"},
		{"bad type", with(schema(`{"type":"text"}`)), `tool "t": parameters`},
		{"bad pattern", with(schema(`{"properties":{"x":{"pattern":"("}}}`)), `tool "t": parameters`},
		{"foreign reference", with(schema(`{"$ref":"file:///etc/passwd"}`)), "must be complete in itself"},
		{"dead reference", with(schema(`{"$ref":"#/nowhere"}`)), `tool "t": parameters`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := agentcore.New(c.cfg)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
	a := newAgent(t, with(tool("good", execute)))
	if err := a.SetTools([]*agentcore.Tool{schema(`{"type":1}`)}); err == nil || a.State().Tools[0].Name != "good" {
		t.Errorf("SetTools: %v, tools %v", err, a.State().Tools)
	}
}

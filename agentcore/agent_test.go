package agentcore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
)

// keepUpdates keeps the message of every text_start and text_delta.
func keepUpdates(kept *[]*agentcore.Message) agentcore.Listener {
	return func(_ context.Context, ev agentcore.Event) error {
		if u, ok := ev.(*agentcore.MessageUpdate); ok && u.AssistantEvent.Type != agentcore.StreamTextEnd {
			*kept = append(*kept, u.Message)
		}
		return nil
	}
}

// TestInterleavedBlocks holds that blocks may grow out of turn and that earlier snapshots stay as they were.
func TestInterleavedBlocks(t *testing.T) {
	type ev = agentcore.AssistantEvent
	var got []string
	a := newAgent(t, agentcore.Config{Provider: stream([]ev{
		{Type: agentcore.StreamStart},
		{Type: agentcore.StreamTextStart},
		{Type: agentcore.StreamTextDelta, Delta: "a"},
		{Type: agentcore.StreamThinkingStart, ContentIndex: 1},
		{Type: agentcore.StreamTextDelta, Delta: "b"},
		{Type: agentcore.StreamThinkingDelta, ContentIndex: 1, Delta: "t"},
		{Type: agentcore.StreamTextEnd, Content: "abc", Signature: "sig"},
		{Type: agentcore.StreamThinkingEnd, ContentIndex: 1},
		{Type: agentcore.StreamDone},
	})})
	var messages []*agentcore.Message
	a.Subscribe(func(_ context.Context, ev agentcore.Event) error {
		if u, ok := ev.(*agentcore.MessageUpdate); ok {
			messages = append(messages, u.Message)
		}
		return nil
	})
	if err := a.PromptText(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		var parts []string
		for _, b := range m.Assistant().Content {
			switch b := b.(type) {
			case *agentcore.TextBlock:
				parts = append(parts, b.Text+b.TextSignature)
			case *agentcore.ThinkingBlock:
				parts = append(parts, "("+b.Thinking+")")
			}
		}
		got = append(got, strings.Join(parts, " "))
	}
	want := []string{"", "a", "a ()", "ab ()", "ab (t)", "abcsig (t)", "abcsig (t)"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNumbersOfMessages(t *testing.T) {
	seen := map[uint64][]string{}
	a := newAgent(t, agentcore.Config{Provider: stream(says("x"), says("y")), Hooks: agentcore.Hooks{
		MessageEnd: func(_ context.Context, m *agentcore.Message) (*agentcore.Message, error) {
			if m.User() == nil {
				return nil, nil
			}
			return agentcore.NewMessage(&agentcore.UserMessage{Content: agentcore.Content{Text: "changed"}}), nil
		},
	}})
	a.Subscribe(func(_ context.Context, ev agentcore.Event) error {
		switch e := ev.(type) {
		case *agentcore.MessageStart:
			seen[e.Message.ID()] = append(seen[e.Message.ID()], "start "+string(e.Message.Role()))
		case *agentcore.MessageUpdate:
			seen[e.Message.ID()] = append(seen[e.Message.ID()], "update")
		case *agentcore.MessageEnd:
			seen[e.Message.ID()] = append(seen[e.Message.ID()], "end")
			messages := a.State().Messages
			if messages[len(messages)-1] != e.Message {
				t.Error("the state does not hold the message of message_end")
			}
		}
		return nil
	})
	before := a.State()
	if err := a.PromptText(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	between := a.State()
	if err := a.Reset(); err != nil {
		t.Fatal(err)
	}
	if err := a.PromptText(t.Context(), "again"); err != nil {
		t.Fatal(err)
	}
	want := map[uint64][]string{
		1: {"start user", "end"}, 2: {"start assistant", "update", "update", "update", "end"},
		3: {"start user", "end"}, 4: {"start assistant", "update", "update", "update", "end"},
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}
	if len(before.Messages) != 0 || len(between.Messages) != 2 || between.Messages[0].User().Content.Text != "changed" {
		t.Errorf("snapshots changed: %v, %v", before.Messages, between.Messages)
	}
}

func TestMessageEndHook(t *testing.T) {
	t.Run("drops tool calls", func(t *testing.T) {
		a := newAgent(t, agentcore.Config{Provider: stream(calls("x")), Hooks: agentcore.Hooks{
			MessageEnd: func(_ context.Context, m *agentcore.Message) (*agentcore.Message, error) {
				if m.Assistant() == nil {
					return m, nil
				}
				return agentcore.NewMessage(&agentcore.AssistantMessage{StopReason: agentcore.StopStop}), nil
			},
		}})
		lines := log(a)
		if err := a.PromptText(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		if got := only(lines(), "tool"); len(got) > 0 {
			t.Errorf("tools ran: %q", got)
		}
	})
	t.Run("other role", func(t *testing.T) {
		a := newAgent(t, agentcore.Config{Provider: stream(says("x")), Hooks: agentcore.Hooks{
			MessageEnd: func(_ context.Context, m *agentcore.Message) (*agentcore.Message, error) {
				if m.User() == nil {
					return nil, nil
				}
				return agentcore.NewMessage(&agentcore.AssistantMessage{}), nil
			},
		}})
		if err := a.PromptText(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		if got := a.State().ErrorMessage; !strings.Contains(got, "assistant message for a user message") {
			t.Errorf("error %q", got)
		}
	})
}

func TestBeforeToolCallReplacesArguments(t *testing.T) {
	const given, replacement = `{"q": "x"}`, `{"q":  42}`
	var got, checked string
	echo := &agentcore.Tool{
		Name:       "echo",
		Parameters: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"}}}`),
		Execute: func(_ context.Context, _ string, args json.RawMessage, _ func(*agentcore.ToolResult)) (*agentcore.ToolResult, error) {
			got = string(args)
			return textResult("ok"), nil
		},
	}
	m := &agentcore.AssistantMessage{Content: []agentcore.Block{&agentcore.ToolCall{ID: "1", Name: "echo", Arguments: json.RawMessage(given)}}}
	a := newAgent(t, agentcore.Config{
		Provider: stream([]agentcore.AssistantEvent{{Type: agentcore.StreamDone, Message: m}}, says("x")), Tools: []*agentcore.Tool{echo},
		Hooks: agentcore.Hooks{
			BeforeToolCall: func(_ context.Context, call *agentcore.ToolCallContext) (*agentcore.BeforeToolCallResult, error) {
				if string(call.Args) != given {
					t.Errorf("valid arguments were changed: %s", call.Args)
				}
				coerced, err := call.Validate(json.RawMessage(replacement))
				if err != nil {
					return nil, err
				}
				checked = string(coerced)
				if _, err := call.Validate(json.RawMessage(`{"q":{}}`)); err == nil {
					t.Error("invalid arguments were accepted")
				}
				return &agentcore.BeforeToolCallResult{Args: json.RawMessage(replacement)}, nil
			},
		},
	})
	if err := a.PromptText(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	if got != replacement || checked != `{"q":"42"}` {
		t.Errorf("the tool got %s, Validate gave %s", got, checked)
	}
}

// TestToolUpdateHook holds that what the hook replaces or withholds is seen by nobody.
func TestToolUpdateHook(t *testing.T) {
	loud := tool("loud", func(_ context.Context, _ string, _ json.RawMessage, update func(*agentcore.ToolResult)) (*agentcore.ToolResult, error) {
		update(textResult("secret"))
		update(textResult("gone"))
		update(nil)
		return textResult("ok"), nil
	})
	a := newAgent(t, agentcore.Config{Provider: stream(calls("loud"), says("x")), Tools: []*agentcore.Tool{loud}, Hooks: agentcore.Hooks{
		ToolUpdate: func(_ context.Context, call *agentcore.ToolCallContext, partial *agentcore.ToolResult) *agentcore.ToolResult {
			if resultText(partial) == "gone" {
				return nil
			}
			return textResult(call.ToolCall.Name + " redacted")
		},
	}})
	lines := log(a)
	if err := a.PromptText(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"tool_execution_update 1 loud redacted"}, only(lines(), "tool_execution_update")); diff != "" {
		t.Error(diff)
	}
}

// TestUpdatesOverlap holds that a slow listener does not hold the tool up, that updates may overlap, and that all are
// done before the end event.
func TestUpdatesOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		second := make(chan struct{})
		quick := tool("quick", func(_ context.Context, _ string, _ json.RawMessage, update func(*agentcore.ToolResult)) (*agentcore.ToolResult, error) {
			update(textResult("1"))
			update(textResult("2"))
			return textResult("ok"), nil
		})
		a := newAgent(t, agentcore.Config{Provider: stream(calls("quick"), says("x")), Tools: []*agentcore.Tool{quick}})
		done := log(a)
		a.Subscribe(func(_ context.Context, ev agentcore.Event) error {
			u, ok := ev.(*agentcore.ToolExecutionUpdate)
			if !ok {
				return nil
			}
			if resultText(u.PartialResult) == "2" {
				close(second)
				time.Sleep(time.Minute)
				return nil
			}
			<-second // the first delivery waits for the second
			return nil
		})
		began := time.Now()
		if err := a.PromptText(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		if time.Since(began) < time.Minute {
			t.Error("the end did not wait for the deliveries")
		}
		want := []string{"tool_execution_start 1", "tool_execution_update 1 1", "tool_execution_update 1 2", "tool_execution_end 1 false ok"}
		if diff := cmp.Diff(want, only(done(), "tool")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestEventsLeftEarlyAbortsTheRun(t *testing.T) {
	slow := tool("slow", func(ctx context.Context, _ string, _ json.RawMessage, _ func(*agentcore.ToolResult)) (*agentcore.ToolResult, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	})
	a := newAgent(t, agentcore.Config{Provider: stream(calls("slow"), says("x")), Tools: []*agentcore.Tool{slow}})
	for ev, err := range a.Events(t.Context(), func(ctx context.Context) error { return a.PromptText(ctx, "go") }) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Type() == agentcore.EventToolExecutionStart {
			break
		}
	}
	s := a.State()
	if s.Running {
		t.Error("the run goes on")
	}
	last := s.Messages[len(s.Messages)-1].Assistant()
	if last == nil || last.StopReason == agentcore.StopError {
		t.Errorf("last message %+v", last)
	}
	var errs []error
	for _, err := range a.Events(t.Context(), func(context.Context) error { return errors.New("not started") }) {
		errs = append(errs, err)
	}
	if len(errs) != 1 || errs[0] == nil || errs[0].Error() != "not started" {
		t.Errorf("errors %v", errs)
	}
}

func TestParentContextAborts(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := newAgent(t, agentcore.Config{Provider: agentcore.ProviderFunc(func(
		ctx context.Context, _ *agentcore.Request, _ func(agentcore.AssistantEvent) error,
	) (*agentcore.AssistantMessage, error) {
		<-ctx.Done()
		return nil, nil
	})})
	if err := a.PromptText(ctx, "go"); err != nil {
		t.Fatal(err)
	}
	messages := a.State().Messages
	if got := messages[len(messages)-1].Assistant().StopReason; got != agentcore.StopAborted {
		t.Errorf("stop reason %s", got)
	}
}

// TestSharedTranscript holds that snapshots and the context of a run do not see what is appended or replaced later.
func TestSharedTranscript(t *testing.T) {
	replace := false
	a := newAgent(t, agentcore.Config{Provider: agentcore.ProviderFunc(func(
		_ context.Context, req *agentcore.Request, _ func(agentcore.AssistantEvent) error,
	) (*agentcore.AssistantMessage, error) {
		return &agentcore.AssistantMessage{Content: []agentcore.Block{&agentcore.TextBlock{Text: fmt.Sprint(len(req.Messages))}}}, nil
	})})
	var snapshots []agentcore.State
	a.Subscribe(func(context.Context, agentcore.Event) error {
		snapshots = append(snapshots, a.State())
		if replace {
			s := a.State()
			a.SetMessages(append(s.Messages[:0:0], s.Messages[1:]...))
			replace = false
		}
		return nil
	})
	for range 3 {
		if err := a.PromptText(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		replace = true
	}
	for i, s := range snapshots {
		for j, m := range s.Messages {
			if m == nil || m.ID() == 0 {
				t.Fatalf("snapshot %d: message %d is %v", i, j, m)
			}
			if j > 0 && m.ID() <= s.Messages[j-1].ID() {
				t.Errorf("snapshot %d: ids %d, %d", i, s.Messages[j-1].ID(), m.ID())
			}
		}
	}
}

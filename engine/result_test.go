package engine_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"weir/agentcore"
	"weir/engine"
	"weir/engine/wire"
)

func text(s string) []agentcore.Block { return []agentcore.Block{&agentcore.TextBlock{Text: s}} }

func textOf(blocks []agentcore.Block) string {
	var s []string
	for _, b := range blocks {
		if t, ok := b.(*agentcore.TextBlock); ok {
			s = append(s, t.Text)
		}
	}
	return strings.Join(s, "|")
}

// upper is a tool_result extension that appends to the text.
func appender(name, suffix string, hook wire.Hook) *fake {
	hook.Event = wire.EventToolResult
	f := &fake{name: name, hooks: map[wire.Event]*wire.Hook{wire.EventToolResult: &hook}}
	f.do = func(ev *engine.Event) (any, error) {
		return &wire.ToolResultResult{Content: text(textOf(ev.Payload.(*wire.ToolResultEvent).Content) + suffix)}, nil
	}
	return f
}

func failing(name string, event wire.Event, block bool) *fake {
	f := &fake{name: name, hooks: map[wire.Event]*wire.Hook{event: {Event: event, Block: block}}}
	f.do = func(*engine.Event) (any, error) { return nil, errors.New(name + ": broke") }
	return f
}

func resultEvent() wire.ToolResultEvent {
	return wire.ToolResultEvent{ToolName: "read", ToolCallID: "c1", Content: text("x"), Details: json.RawMessage(`{"d":1}`)}
}

func TestToolResultChain(t *testing.T) {
	e := open(t, engine.Config{}, appender("a", "1", wire.Hook{}), appender("b", "2", wire.Hook{}))
	got, changed := e.ToolResult(t.Context(), resultEvent())
	if s := textOf(got.Content); s != "x12" || !changed || string(got.Details) != `{"d":1}` {
		t.Errorf("%q, changed %v, details %s", s, changed, got.Details)
	}
}

func TestToolResultFaultIsIsolated(t *testing.T) {
	e := open(t, engine.Config{}, failing("a", wire.EventToolResult, false), appender("b", "2", wire.Hook{}))
	got, _ := e.ToolResult(t.Context(), resultEvent())
	if s := textOf(got.Content); s != "x2" || got.IsError {
		t.Errorf("%q, error %v", s, got.IsError)
	}
}

func TestToolResultFaultOfATightenedHookWithholds(t *testing.T) {
	after := appender("b", "2", wire.Hook{})
	e := open(t, engine.Config{}, failing("a", wire.EventToolResult, true), after)
	got, changed := e.ToolResult(t.Context(), resultEvent())
	if s := textOf(got.Content); !strings.Contains(s, "withheld: a: broke") || strings.Contains(s, "x2") || !got.IsError || !changed || string(got.Details) != "{}" {
		t.Errorf("%q, error %v, details %s", s, got.IsError, got.Details)
	}
	if len(after.seen) != 0 {
		t.Error("the next extension was asked about a withheld result")
	}
}

func TestPartialResultsAreWithheldFromObservers(t *testing.T) {
	e := open(t, engine.Config{}, appender("redactor", "", wire.Hook{Tools: []string{"bash"}}))
	h := e.Hooks()
	partial := &agentcore.ToolResult{Content: text("secret")}
	call := &agentcore.ToolCallContext{ToolCall: &agentcore.ToolCall{ID: "c1", Name: "bash"}}
	if got := textOf(h.ToolUpdate(t.Context(), call, partial).Content); strings.Contains(got, "secret") || !strings.Contains(got, "6 bytes") || !strings.Contains(got, "redactor") {
		t.Errorf("%q", got)
	}
	call.ToolCall.Name = "read"
	if got := h.ToolUpdate(t.Context(), call, partial); got != partial {
		t.Error("the partial result of a tool that nobody rewrites was touched")
	}
}

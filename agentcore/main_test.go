package agentcore_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"weir/agentcore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stream is a provider that emits the events of one list a request and then returns.
func stream(responses ...[]agentcore.AssistantEvent) agentcore.Provider {
	n := 0
	return agentcore.ProviderFunc(func(
		_ context.Context, _ *agentcore.Request, emit func(agentcore.AssistantEvent) error,
	) (*agentcore.AssistantMessage, error) {
		if n == len(responses) {
			return &agentcore.AssistantMessage{StopReason: agentcore.StopError, ErrorMessage: "no response left"}, nil
		}
		n++
		for _, ev := range responses[n-1] {
			if err := emit(ev); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
}

// calls is a response that asks for tools by name.
func calls(names ...string) []agentcore.AssistantEvent {
	m := &agentcore.AssistantMessage{}
	for i, name := range names {
		m.Content = append(m.Content, &agentcore.ToolCall{ID: fmt.Sprint(i + 1), Name: name, Arguments: json.RawMessage("{}")})
	}
	return []agentcore.AssistantEvent{{Type: agentcore.StreamDone, Reason: agentcore.StopToolUse, Message: m}}
}

// says is a response of one text.
func says(text string) []agentcore.AssistantEvent {
	return []agentcore.AssistantEvent{
		{Type: agentcore.StreamStart},
		{Type: agentcore.StreamTextStart},
		{Type: agentcore.StreamTextDelta, Delta: text},
		{Type: agentcore.StreamTextEnd},
		{Type: agentcore.StreamDone, Reason: agentcore.StopStop},
	}
}

type executeFunc = func(context.Context, string, json.RawMessage, func(*agentcore.ToolResult)) (*agentcore.ToolResult, error)

func tool(name string, execute executeFunc) *agentcore.Tool {
	return &agentcore.Tool{Name: name, Execute: execute}
}

func textResult(text string) *agentcore.ToolResult {
	return &agentcore.ToolResult{Content: []agentcore.Block{&agentcore.TextBlock{Text: text}}}
}

func newAgent(t testing.TB, cfg agentcore.Config) *agentcore.Agent {
	t.Helper()
	a, err := agentcore.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// log subscribes a listener that notes events briefly.
func log(a *agentcore.Agent) func() []string {
	var mu sync.Mutex
	var lines []string
	a.Subscribe(func(_ context.Context, ev agentcore.Event) error {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, brief(ev))
		return nil
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), lines...)
	}
}

func brief(ev agentcore.Event) string {
	message := func(m *agentcore.Message) string {
		s := " " + string(m.Role())
		if a := m.Assistant(); a != nil {
			s += ":" + string(a.StopReason)
			if a.ErrorMessage != "" {
				s += " " + a.ErrorMessage
			}
		}
		return s
	}
	name := ev.Type().String()
	switch e := ev.(type) {
	case *agentcore.MessageStart:
		return name + message(e.Message)
	case *agentcore.MessageUpdate:
		return name + " " + e.AssistantEvent.Type.String()
	case *agentcore.MessageEnd:
		return name + message(e.Message)
	case *agentcore.ToolExecutionStart:
		return name + " " + e.ToolCallID
	case *agentcore.ToolExecutionUpdate:
		return name + " " + e.ToolCallID + " " + resultText(e.PartialResult)
	case *agentcore.ToolExecutionEnd:
		return fmt.Sprintf("%s %s %v %s", name, e.ToolCallID, e.IsError, resultText(e.Result))
	default:
		return name
	}
}

func resultText(r *agentcore.ToolResult) string {
	var parts []string
	for _, b := range r.Content {
		if text, ok := b.(*agentcore.TextBlock); ok {
			parts = append(parts, text.Text)
		}
	}
	return strings.Join(parts, "|")
}

// only keeps the lines that begin with one of the prefixes.
func only(lines []string, prefixes ...string) []string {
	var out []string
	for _, line := range lines {
		for _, prefix := range prefixes {
			if strings.HasPrefix(line, prefix) {
				out = append(out, line)
				break
			}
		}
	}
	return out
}

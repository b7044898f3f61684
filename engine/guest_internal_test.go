package engine

import (
	"strings"
	"testing"

	"weir/agentcore"
	"weir/engine/wire"
)

// TestUpdatesCarryDeltas: what a guest is sent of a stream does not grow with what has been streamed before, so that a long answer, or
// a tool with much output, costs linear time in all.
func TestUpdatesCarryDeltas(t *testing.T) {
	w := &encoding{enc: wire.NewEncoder(wire.Scope{Extension: "x"})}
	size := func(ev *Event) int {
		t.Helper()
		b, err := encodeEvent(w, ev)
		if err != nil {
			t.Fatal(err)
		}
		return len(b)
	}
	message := func(n int) *Event {
		text := strings.Repeat("x", n)
		m := agentcore.NewMessage(&agentcore.AssistantMessage{Content: []agentcore.Block{&agentcore.TextBlock{Text: text}}})
		return &Event{Kind: wire.EventMessageUpdate, Payload: &agentcore.MessageUpdate{
			Message: m, AssistantEvent: agentcore.AssistantEvent{Type: agentcore.StreamTextDelta, Delta: "xxxxx"},
		}}
	}
	partial := func(n int) *agentcore.ToolResult {
		return &agentcore.ToolResult{Content: []agentcore.Block{&agentcore.TextBlock{Text: strings.Repeat("line\n", n)}}}
	}
	update := func(n int) *Event {
		return &Event{Kind: wire.EventToolExecutionUpdate, Before: partial(n - 1), Payload: &agentcore.ToolExecutionUpdate{
			ToolCallID: "a", ToolName: "bash", PartialResult: partial(n),
		}}
	}
	for what, event := range map[string]func(int) *Event{"message_update": message, "tool_execution_update": update} {
		few, many := size(event(10)), size(event(100_000))
		if many > few+20 || few > 1000 {
			t.Errorf("%s: %d bytes after 10 updates, %d after 100,000", what, few, many)
		}
	}
}

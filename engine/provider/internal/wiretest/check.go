package wiretest

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
)

// Check holds events and the returned message to the rules of [agentcore.Provider].
func Check(t testing.TB, events []agentcore.AssistantEvent, returned *agentcore.AssistantMessage) {
	t.Helper()
	if len(events) == 0 {
		t.Fatal("no events")
	}
	last := events[len(events)-1]
	if last.Type != agentcore.StreamDone && last.Type != agentcore.StreamError {
		t.Errorf("the last event is %s", last.Type)
	}
	if returned == nil || last.Message != returned {
		t.Errorf("the message of %s is not the one that was returned", last.Type)
		return
	}
	if last.Reason != returned.StopReason {
		t.Errorf("%s says %s, the message %s", last.Type, last.Reason, returned.StopReason)
	}
	failed := returned.StopReason == agentcore.StopError || returned.StopReason == agentcore.StopAborted
	if failed != (last.Type == agentcore.StreamError) || failed != (returned.ErrorMessage != "") {
		t.Errorf("%s with stop reason %s and error %q", last.Type, returned.StopReason, returned.ErrorMessage)
	}
	b := blocks{t: t}
	for i, ev := range events[:len(events)-1] {
		if (i == 0) != (ev.Type == agentcore.StreamStart) {
			t.Errorf("event %d is %s", i, ev.Type)
		}
		b.take(ev)
	}
	b.compare(returned, !failed)
}

// blocks follows the nine middle kinds.
type blocks struct {
	t     testing.TB
	kind  []agentcore.AssistantEventType
	text  []string
	ended []*agentcore.AssistantEvent
}

func (b *blocks) take(ev agentcore.AssistantEvent) {
	if ev.Type < agentcore.StreamTextStart || ev.Type > agentcore.StreamToolCallEnd {
		return
	}
	step := (ev.Type - agentcore.StreamTextStart) % 3
	kind := ev.Type - step
	if step == 0 {
		if ev.ContentIndex != len(b.kind) {
			b.t.Errorf("%s at index %d, after %d blocks", ev.Type, ev.ContentIndex, len(b.kind))
		}
		b.kind, b.text, b.ended = append(b.kind, kind), append(b.text, ""), append(b.ended, nil)
		return
	}
	at := ev.ContentIndex
	switch {
	case at < 0 || at >= len(b.kind) || b.kind[at] != kind:
		b.t.Errorf("%s at index %d has no start", ev.Type, at)
	case b.ended[at] != nil:
		b.t.Errorf("%s at index %d after the end", ev.Type, at)
	case step == 1:
		b.text[at] += ev.Delta
	default:
		b.ended[at] = &ev
		if ev.Content != "" {
			b.text[at] = ev.Content
		}
	}
}

func (b *blocks) compare(m *agentcore.AssistantMessage, whole bool) {
	if len(m.Content) != len(b.kind) {
		b.t.Errorf("the message has %d blocks, the events %d", len(m.Content), len(b.kind))
		return
	}
	for i, block := range m.Content {
		if whole && b.ended[i] == nil && m.StopReason != agentcore.StopLength {
			b.t.Errorf("block %d has no end", i)
		}
		switch block := block.(type) {
		case *agentcore.TextBlock:
			if diff := cmp.Diff(b.text[i], block.Text); diff != "" {
				b.t.Errorf("block %d (-events +message):\n%s", i, diff)
			}
		case *agentcore.ThinkingBlock:
			if diff := cmp.Diff(b.text[i], block.Thinking); diff != "" {
				b.t.Errorf("block %d (-events +message):\n%s", i, diff)
			}
		case *agentcore.ToolCall:
			if !json.Valid(block.Arguments) {
				b.t.Errorf("block %d: arguments %q", i, block.Arguments)
			}
			if b.ended[i] != nil && cmp.Diff(b.ended[i].ToolCall, block) != "" {
				b.t.Errorf("block %d: toolcall_end has another call than the message", i)
			}
		}
	}
}

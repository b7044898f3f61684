package wire

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
)

// eventCase is one line of testdata/events.json: an input as a hook gets it.
type eventCase struct {
	Name  string `json:"name"`
	Input string `json:"input"`
}

func TestEvents(t *testing.T) {
	enc := NewEncoder(Scope{SessionID: "s1", Extension: "guard", CWD: `/home/"dev"`, Mode: ModeText, HasUI: true})
	at := Moment{Provider: "anthropic", Model: "claude", ThinkingLevel: "high", TurnIndex: 2, CallIndex: 1}
	user := decode(t, `{"role":"user","content":"hi","timestamp":1}`)
	result := decode(t, `{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[],"isError":false,"timestamp":2}`)
	partial := func(text string) *agentcore.ToolResult {
		return &agentcore.ToolResult{Content: []agentcore.Block{&agentcore.TextBlock{Text: text}}}
	}
	partialUpdate := func(text string) *agentcore.ToolExecutionUpdate {
		return &agentcore.ToolExecutionUpdate{ToolCallID: "c1", ToolName: "bash", Args: []byte(`{"command":"ls"}`), PartialResult: partial(text)}
	}
	assistant := func(ev agentcore.AssistantEvent) agentcore.Event {
		return &agentcore.MessageUpdate{Message: user, AssistantEvent: ev}
	}
	var got []eventCase
	add := func(name string, b []byte, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !json.Valid(b) {
			t.Errorf("%s is no JSON: %s", name, b)
		}
		got = append(got, eventCase{name, string(b)})
	}
	call := &ToolCallEvent{ToolName: "bash", ToolCallID: "c1", Input: []byte(`{"command": "rm -rf <b>"}`)}
	add("tool_call", enc.AppendToolCall(nil, at, call), nil)
	call.Recheck = true
	add("tool_call, recheck", enc.AppendToolCall(nil, at, call), nil)
	add("tool_call, no arguments", enc.AppendToolCall(nil, at, &ToolCallEvent{ToolName: "x", ToolCallID: "c2"}), nil)
	b, err := enc.AppendToolResult(nil, at, &ToolResultEvent{
		ToolName: "bash", ToolCallID: "c1", Input: []byte(`{"command":"ls"}`), IsError: true, Details: []byte(`{"n":1}`),
		Usage:   &agentcore.Usage{Input: 1},
		Content: []agentcore.Block{&agentcore.TextBlock{Text: "a\nb", TextSignature: "s"}, &agentcore.ImageBlock{Data: "eA==", MimeType: "image/png"}},
	})
	add("tool_result", b, err)
	b, err = enc.AppendToolResult(nil, at, &ToolResultEvent{ToolName: "bash", ToolCallID: "c1"})
	add("tool_result, empty", b, err)
	b, err = enc.AppendMessages(nil, at, []*agentcore.Message{user, result})
	add("context", b, err)
	b, err = enc.AppendMessages(nil, at, nil)
	add("context, empty", b, err)
	for _, c := range []struct {
		name string
		ev   agentcore.Event
	}{
		{"agent_start", &agentcore.AgentStart{}},
		{"agent_end", &agentcore.AgentEnd{Messages: []*agentcore.Message{user, result}}},
		{"turn_start", &agentcore.TurnStart{}},
		{"turn_end", &agentcore.TurnEnd{Message: user, ToolResults: []*agentcore.Message{result}}},
		{"message_start", &agentcore.MessageStart{Message: user}},
		{"message_end", &agentcore.MessageEnd{Message: result}},
		{"message_update, text_start", assistant(agentcore.AssistantEvent{Type: agentcore.StreamTextStart})},
		{"message_update, text_delta", assistant(agentcore.AssistantEvent{Type: agentcore.StreamTextDelta, ContentIndex: 1, Delta: "a\"b"})},
		{"message_update, text_end", assistant(agentcore.AssistantEvent{Type: agentcore.StreamTextEnd, ContentIndex: 1, Content: "all"})},
		{"message_update, thinking_delta", assistant(agentcore.AssistantEvent{Type: agentcore.StreamThinkingDelta, Delta: "hm"})},
		{"message_update, toolcall_start", assistant(agentcore.AssistantEvent{
			Type: agentcore.StreamToolCallStart, ContentIndex: 2, ToolCall: &agentcore.ToolCall{ID: "c1", Name: "bash"},
		})},
		{"message_update, toolcall_delta", assistant(agentcore.AssistantEvent{Type: agentcore.StreamToolCallDelta, Delta: `{"a`})},
		{"message_update, toolcall_end", assistant(agentcore.AssistantEvent{
			Type: agentcore.StreamToolCallEnd, ToolCall: &agentcore.ToolCall{ID: "c1", Name: "bash", Arguments: []byte(`{"command":"ls"}`)},
		})},
		{"tool_execution_start", &agentcore.ToolExecutionStart{ToolCallID: "c1", ToolName: "bash", Args: []byte(`{"command":"ls"}`)}},
		{"tool_execution_update", partialUpdate("one")},
		{"tool_execution_end", &agentcore.ToolExecutionEnd{ToolCallID: "c1", ToolName: "bash", Result: partial("done"), IsError: true}},
	} {
		b, err := enc.AppendCore(nil, at, c.ev, 1700000000000)
		add(c.name, b, err)
	}
	for _, c := range []struct {
		name   string
		before *agentcore.ToolResult
		ev     *agentcore.ToolExecutionUpdate
	}{
		{"tool_execution_update, first", nil, partialUpdate("one")},
		{"tool_execution_update, more", partial("one"), partialUpdate("one, two")},
		{"tool_execution_update, the same", partial("one"), partialUpdate("one")},
		{"tool_execution_update, other text", partial("one"), partialUpdate("two")},
		{"tool_execution_update, more text and usage", &agentcore.ToolResult{Content: partial("one").Content, Usage: &agentcore.Usage{}}, partialUpdate("one, two")},
		{"tool_execution_update, more text and details", &agentcore.ToolResult{Content: partial("one").Content, Details: []byte(`1`)}, partialUpdate("one, two")},
		{"tool_execution_update, cut inside a character", partial("caf\xc3"), partialUpdate("café!")},
	} {
		b, err := enc.AppendToolExecutionUpdate(nil, at, c.ev, c.before)
		add(c.name, b, err)
	}
	add("tool_execution_update, withheld", enc.AppendWithheldUpdate(nil, at, "bash", "c1", 42), nil)
	b, err = enc.AppendPayload(nil, at, EventInput, []byte(` { "text":"x" } `))
	add("input", b, err)
	b, err = enc.AppendPayload(nil, at, EventAgentSettled, []byte(`{}`))
	add("agent_settled", b, err)
	add("tool_execute", enc.AppendToolExecute(nil, at, "count", "c1", []byte(`{"n":1}`)), nil)
	add("command_execute", enc.AppendCommandExecute(nil, at, "status", "-v"), nil)
	add("tool_call, no model", enc.AppendToolCall(nil, Moment{}, &ToolCallEvent{ToolName: "x", ToolCallID: "c2"}), nil)
	add("tool_call, another model", enc.AppendToolCall(nil, Moment{Provider: "openai", Model: "m2"}, &ToolCallEvent{ToolName: "x", ToolCallID: "c2"}), nil)
	add("the context alone", enc.AppendContext(nil, at), nil)

	if *update {
		writeJSON(t, "events.json", got)
		return
	}
	var want []eventCase
	readJSON(t, "events.json", &want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEventErrors(t *testing.T) {
	enc := NewEncoder(Scope{})
	for _, payload := range []string{"", "{", "[]", "null", `"{}"`} {
		if _, err := enc.AppendPayload(nil, Moment{}, EventInput, []byte(payload)); err == nil || !strings.HasPrefix(err.Error(), "input: ") {
			t.Errorf("payload %q: %v", payload, err)
		}
	}
	if _, err := enc.AppendPayload(nil, Moment{}, 0, []byte(`{}`)); err == nil {
		t.Error("an event without a kind was encoded")
	}
	bad := agentcore.NewMessage(&agentcore.ToolResultMessage{Details: []byte(`{`)})
	if _, err := enc.AppendMessages(nil, Moment{}, []*agentcore.Message{bad}); err == nil || !strings.HasPrefix(err.Error(), "messages[0]: ") {
		t.Errorf("%v", err)
	}
	if _, err := enc.AppendCore(nil, Moment{}, &agentcore.MessageEnd{Message: bad}, 0); err == nil {
		t.Error("a message without JSON was encoded")
	}
	call := &agentcore.ToolCall{Arguments: []byte(`{`)}
	if _, err := enc.AppendToolResult(nil, Moment{}, &ToolResultEvent{Content: []agentcore.Block{call}}); err == nil {
		t.Error("a block without JSON was encoded")
	}
}

func TestAppendAfter(t *testing.T) {
	enc := NewEncoder(Scope{})
	b := enc.AppendToolCall([]byte("before"), Moment{}, &ToolCallEvent{})
	if !strings.HasPrefix(string(b), `before{"type":"tool_call"`) {
		t.Errorf("%s", b)
	}
}

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "plain", "\"\\\b\f\n\r\t\x00\x1f\x7f", "é\u2028\U0001F600", "\xff\xc3", "<b>&"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b := AppendString(nil, s)
		var got string
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		want := s
		if !utf8.ValidString(s) {
			want = ""
			for _, r := range s {
				want += string(r)
			}
		}
		if got != want {
			t.Errorf("%q became %q", s, got)
		}
		if strings.Contains(string(b), `\u003c`) {
			t.Errorf("%q was escaped for HTML", s)
		}
		// What the host writes, its own strict reader accepts, but for NUL.
		_, err := ParseToolCall(append(append([]byte(`{"reason":`), b...), '}'))
		if (err == nil) != !strings.ContainsRune(s, 0) {
			t.Errorf("%q: %v", s, err)
		}
	})
}

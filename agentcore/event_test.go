package agentcore_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
)

// TestEventJSON holds the wire form of the ten events (NOTES 2.1).
func TestEventJSON(t *testing.T) {
	user := agentcore.NewMessage(&agentcore.UserMessage{Content: agentcore.Content{Text: "<u>"}, Timestamp: 1})
	result := agentcore.NewMessage(&agentcore.ToolResultMessage{ToolCallID: "c", ToolName: "n", Timestamp: 2})
	const u = `{"role":"user","content":"<u>","timestamp":1}`
	const r = `{"role":"toolResult","toolCallId":"c","toolName":"n","content":[],"isError":false,"timestamp":2}`
	args := json.RawMessage(`{"a": 1}`)
	for _, c := range []struct {
		ev   agentcore.Event
		want string
	}{
		{&agentcore.AgentStart{}, `{"type":"agent_start"}`},
		{&agentcore.TurnStart{}, `{"type":"turn_start"}`},
		{&agentcore.AgentEnd{}, `{"type":"agent_end","messages":[]}`},
		{&agentcore.AgentEnd{Messages: []*agentcore.Message{user, result}}, `{"type":"agent_end","messages":[` + u + `,` + r + `]}`},
		{&agentcore.TurnEnd{Message: user}, `{"type":"turn_end","message":` + u + `,"toolResults":[]}`},
		{&agentcore.MessageStart{Message: user}, `{"type":"message_start","message":` + u + `}`},
		{&agentcore.MessageEnd{Message: result}, `{"type":"message_end","message":` + r + `}`},
		{
			&agentcore.MessageUpdate{Message: user, AssistantEvent: agentcore.AssistantEvent{Type: agentcore.StreamTextDelta, ContentIndex: 2, Delta: "d"}},
			`{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":2,"delta":"d","partial":` + u + `},"message":` + u + `}`,
		},
		{
			&agentcore.ToolExecutionStart{ToolCallID: "c", ToolName: "n", Args: args},
			`{"type":"tool_execution_start","toolCallId":"c","toolName":"n","args":{"a": 1}}`,
		},
		{
			&agentcore.ToolExecutionUpdate{ToolCallID: "c", ToolName: "n", Args: args, PartialResult: textResult("p")},
			`{"type":"tool_execution_update","toolCallId":"c","toolName":"n","args":{"a": 1},"partialResult":{"content":[{"type":"text","text":"p"}]}}`,
		},
		{
			&agentcore.ToolExecutionEnd{ToolCallID: "c", ToolName: "n", Result: &agentcore.ToolResult{}, IsError: true},
			`{"type":"tool_execution_end","toolCallId":"c","toolName":"n","result":{},"isError":true}`,
		},
		{&agentcore.ToolExecutionEnd{}, `{"type":"tool_execution_end","toolCallId":"","toolName":"","result":null,"isError":false}`},
	} {
		got, err := agentcore.AppendEvent(nil, c.ev)
		if err != nil {
			t.Errorf("%s: %v", c.ev.Type(), err)
		}
		if diff := cmp.Diff(c.want, string(got)); diff != "" {
			t.Errorf("%s:\n%s", c.ev.Type(), diff)
		}
		marshaled, err := json.Marshal(c.ev)
		if err != nil || !json.Valid(marshaled) {
			t.Errorf("%s: json.Marshal: %s, %v", c.ev.Type(), marshaled, err)
		}
	}
	if _, err := agentcore.AppendEvent(nil, &agentcore.ToolExecutionStart{ToolCallID: "c", Args: json.RawMessage("{")}); err == nil {
		t.Error("broken arguments were encoded")
	}
}

// TestAssistantEventJSON holds the wire form of the twelve events of a stream (NOTES 2.2).
func TestAssistantEventJSON(t *testing.T) {
	whole := &agentcore.AssistantMessage{API: "a", Provider: "p", Model: "m", StopReason: agentcore.StopStop, Timestamp: 3}
	message := agentcore.NewMessage(whole)
	raw, err := message.JSON()
	if err != nil {
		t.Fatal(err)
	}
	m := string(raw)
	call := &agentcore.ToolCall{ID: "i", Name: "n", Arguments: json.RawMessage(`{"x":1}`)}
	for _, c := range []struct {
		ev   agentcore.AssistantEvent
		want string
	}{
		{agentcore.AssistantEvent{Type: agentcore.StreamStart}, `{"type":"start","partial":` + m + `}`},
		{agentcore.AssistantEvent{Type: agentcore.StreamTextStart}, `{"type":"text_start","contentIndex":0,"partial":` + m + `}`},
		{agentcore.AssistantEvent{Type: agentcore.StreamTextEnd, Content: "c"}, `{"type":"text_end","contentIndex":0,"content":"c","partial":` + m + `}`},
		{agentcore.AssistantEvent{Type: agentcore.StreamThinkingStart, ContentIndex: 1}, `{"type":"thinking_start","contentIndex":1,"partial":` + m + `}`},
		{agentcore.AssistantEvent{Type: agentcore.StreamThinkingDelta, Delta: "d"}, `{"type":"thinking_delta","contentIndex":0,"delta":"d","partial":` + m + `}`},
		{agentcore.AssistantEvent{Type: agentcore.StreamThinkingEnd, Content: "c"}, `{"type":"thinking_end","contentIndex":0,"content":"c","partial":` + m + `}`},
		{agentcore.AssistantEvent{Type: agentcore.StreamToolCallStart, ToolCall: call}, `{"type":"toolcall_start","contentIndex":0,"partial":` + m + `}`},
		{agentcore.AssistantEvent{Type: agentcore.StreamToolCallDelta, Delta: "{"}, `{"type":"toolcall_delta","contentIndex":0,"delta":"{","partial":` + m + `}`},
		{
			agentcore.AssistantEvent{Type: agentcore.StreamToolCallEnd, ToolCall: call},
			`{"type":"toolcall_end","contentIndex":0,"toolCall":{"type":"toolCall","id":"i","name":"n","arguments":{"x":1}},"partial":` + m + `}`,
		},
		{agentcore.AssistantEvent{Type: agentcore.StreamDone, Reason: agentcore.StopStop, Message: whole}, `{"type":"done","reason":"stop","message":` + m + `}`},
		{agentcore.AssistantEvent{Type: agentcore.StreamError, Reason: agentcore.StopAborted}, `{"type":"error","reason":"aborted","error":` + m + `}`},
	} {
		got, err := agentcore.AppendAssistantEvent(nil, &c.ev, message)
		if err != nil {
			t.Errorf("%s: %v", c.ev.Type, err)
		}
		if diff := cmp.Diff(c.want, string(got)); diff != "" {
			t.Errorf("%s:\n%s", c.ev.Type, diff)
		}
	}
}

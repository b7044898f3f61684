package decide

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"weir/agentcore"
	"weir/engine/wire"
)

// Event is an event to decide about.
type Event struct {
	Kind       wire.Event // tool_call, tool_result or context
	ToolCall   wire.ToolCallEvent
	ToolResult wire.ToolResultEvent
	Messages   []*agentcore.Message
}

// fields are the keys of an event in both spellings; others are not looked at, so that rows of a corpus with labels and
// events of a log can be given as they are.
type fields struct {
	Type       string          `json:"type"`
	ToolName   string          `json:"toolName"`
	Tool       string          `json:"tool"`
	ToolCallID string          `json:"toolCallId"`
	Input      json.RawMessage `json:"input"`
	Content    json.RawMessage `json:"content"`
	Result     json.RawMessage `json:"result"`
	Details    json.RawMessage `json:"details"`
	IsError    bool            `json:"isError"`
	Usage      json.RawMessage `json:"usage"`
	Messages   json.RawMessage `json:"messages"`
}

// Parse reads an event, a JSON object:
//
//	type        "tool_call", "tool_result" or "context". Absent: tool_result where there is content or result, context where
//	            there are messages, else tool_call
//	toolName    or tool: the tool; needed but for context
//	toolCallId  optional
//	input       the arguments, an object; absent counts as {}
//	content     of a result: blocks as in a message, or one text; or result: one text
//	details, isError, usage   of a result, optional
//	messages    of a context; or tool "context" with the messages in input
//
// The error names the key that is wrong. Event owns its memory.
func Parse(raw []byte) (*Event, error) {
	var f fields
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, fmt.Errorf("it is not an event: %w", err)
	}
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		return nil, errors.New("it is not an object")
	}
	name := f.ToolName
	if name == "" {
		name = f.Tool
	}
	kind, err := f.kind(name)
	if err != nil {
		return nil, err
	}
	ev := &Event{Kind: kind}
	if kind == wire.EventContext {
		ev.Messages, err = f.messages()
		return ev, err
	}
	if name == "" {
		return nil, errors.New("toolName is missing (or tool, for short)")
	}
	input := f.Input
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	if input[0] != '{' {
		return nil, fmt.Errorf("input: it is not an object: %.40s", input)
	}
	if kind == wire.EventToolCall {
		ev.ToolCall = wire.ToolCallEvent{ToolName: name, ToolCallID: f.ToolCallID, Input: input}
		return ev, nil
	}
	ev.ToolResult = wire.ToolResultEvent{ToolName: name, ToolCallID: f.ToolCallID, Input: input, Details: f.Details, IsError: f.IsError}
	if ev.ToolResult.Content, err = f.blocks(); err != nil {
		return nil, err
	}
	if len(f.Usage) > 0 && string(f.Usage) != "null" {
		ev.ToolResult.Usage = &agentcore.Usage{}
		if err := json.Unmarshal(f.Usage, ev.ToolResult.Usage); err != nil {
			return nil, fmt.Errorf("usage: %w", err)
		}
	}
	return ev, nil
}

func (f *fields) kind(name string) (wire.Event, error) {
	switch {
	case f.Type == "" && (f.Messages != nil || name == "context"):
		return wire.EventContext, nil
	case f.Type == "" && (f.Content != nil || f.Result != nil):
		return wire.EventToolResult, nil
	case f.Type == "":
		return wire.EventToolCall, nil
	}
	kind, ok := wire.ParseEvent(f.Type)
	if !ok || kind != wire.EventToolCall && kind != wire.EventToolResult && kind != wire.EventContext {
		return 0, fmt.Errorf("type: %q is not decided about; it is tool_call, tool_result or context", f.Type)
	}
	return kind, nil
}

func (f *fields) messages() ([]*agentcore.Message, error) {
	raw := f.Messages
	if raw == nil {
		var in fields
		if json.Unmarshal(f.Input, &in) == nil {
			raw = in.Messages
		}
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("messages: %w", err)
	}
	messages := make([]*agentcore.Message, len(list))
	for i, m := range list {
		var err error
		if messages[i], err = agentcore.DecodeMessage(m); err != nil {
			return nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	return messages, nil
}

func (f *fields) blocks() ([]agentcore.Block, error) {
	raw, key := f.Content, "content"
	if raw == nil {
		raw, key = f.Result, "result"
	}
	if len(raw) == 0 || string(raw) == "null" {
		return []agentcore.Block{}, nil
	}
	if raw[0] == '"' {
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		return []agentcore.Block{&agentcore.TextBlock{Text: s}}, nil
	}
	blocks, err := agentcore.DecodeBlocks(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return blocks, nil
}

// encode is json.Marshal of a list of JSON values without escaping what needs none.
func encode(list []json.RawMessage) (json.RawMessage, error) {
	b := []byte{'['}
	for i, raw := range list {
		if i > 0 {
			b = append(b, ',')
		}
		if !json.Valid(raw) {
			return nil, fmt.Errorf("element %d is not JSON", i)
		}
		b = append(b, raw...)
	}
	return append(b, ']'), nil
}

package workbench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"weir/agentcore"
	"weir/engine/facts"
	"weir/engine/wire"
)

// completeEvent fills in what an author need not write: the id of a call, empty arguments, a result's content given as one
// text, a history given as an array alone.
func completeEvent(hook wire.Event, raw json.RawMessage) (json.RawMessage, error) {
	if hook == wire.EventContext && bytes.HasPrefix(raw, []byte("[")) {
		raw = append(append([]byte(`{"messages":`), raw...), '}')
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		return raw, errors.New("the event is not a JSON object")
	}
	fill := func(key, value string) {
		if _, ok := fields[key]; !ok {
			fields[key] = json.RawMessage(value)
		}
	}
	switch hook {
	case wire.EventContext:
		if _, err := decodeMessages(fields["messages"]); err != nil {
			return raw, err
		}
		return raw, nil
	case wire.EventToolCall, wire.EventToolResult:
		var name string
		if err := json.Unmarshal(fields["toolName"], &name); err != nil || name == "" {
			return raw, errors.New("the event has no toolName")
		}
		fill("toolCallId", `"call_1"`)
		fill("input", `{}`)
		if hook == wire.EventToolResult {
			fill("content", `[]`)
			fill("isError", `false`)
			if text := fields["content"]; bytes.HasPrefix(text, []byte(`"`)) {
				fields["content"] = json.RawMessage(`[{"type":"text","text":` + string(text) + `}]`)
			}
		}
		return marshal(fields)
	default:
		return raw, nil
	}
}

// toolOf is the tool that an event is about; "" for events without one.
func toolOf(hook wire.Event, event json.RawMessage) string {
	if hook != wire.EventToolCall && hook != wire.EventToolResult {
		return ""
	}
	var fields struct {
		ToolName string `json:"toolName"`
	}
	if json.Unmarshal(event, &fields) != nil {
		return "" // completeEvent refused it
	}
	return fields.ToolName
}

// withFacts adds the facts that a hook asked for, as the engine would, unless the event brings its own.
func withFacts(computer *facts.Computer, hook *wire.Hook, event json.RawMessage) (json.RawMessage, error) {
	if len(hook.Facts) == 0 {
		return event, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(event, &fields); err != nil {
		return nil, err
	}
	if _, ok := fields["facts"]; ok {
		return event, nil
	}
	var name string
	if err := json.Unmarshal(fields["toolName"], &name); err != nil {
		return nil, fmt.Errorf("toolName: %w", err)
	}
	var known *facts.Event
	if hook.Event == wire.EventToolCall {
		known = computer.ToolCall(name, fields["input"])
	} else {
		blocks, err := agentcore.DecodeBlocks(fields["content"])
		if err != nil {
			return nil, fmt.Errorf("content: %w", err)
		}
		known = computer.ToolResult(name, fields["input"], blocks)
	}
	fields["facts"] = known.JSON(facts.ParseKinds(hook.Facts))
	return marshal(fields)
}

func decodeMessages(raw json.RawMessage) ([]*agentcore.Message, error) {
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

// marshal is json.Marshal without escaping what needs none, so that a guest sees the author's own bytes.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

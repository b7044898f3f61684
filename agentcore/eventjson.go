package agentcore

import (
	"encoding/json"
	"fmt"
)

// AppendEvent appends ev as it is on the wire: an object with the field "type" and the event's own fields. A
// message_update holds its message twice, as in the reference; writers of long streams send the delta instead.
func AppendEvent(dst []byte, ev Event) (_ []byte, err error) {
	o := openObject(dst)
	o.str("type", ev.Type().String())
	switch e := ev.(type) {
	case *AgentStart, *TurnStart:
	case *AgentEnd:
		o.key("messages")
		o.dst, err = appendMessages(o.dst, e.Messages)
	case *TurnEnd:
		if err = appendMessageField(&o, "message", e.Message); err == nil {
			o.key("toolResults")
			o.dst, err = appendMessages(o.dst, e.ToolResults)
		}
	case *MessageStart:
		err = appendMessageField(&o, "message", e.Message)
	case *MessageUpdate:
		o.key("assistantMessageEvent")
		if o.dst, err = appendAssistantEvent(o.dst, &e.AssistantEvent, e.Message); err == nil {
			err = appendMessageField(&o, "message", e.Message)
		}
	case *MessageEnd:
		err = appendMessageField(&o, "message", e.Message)
	case *ToolExecutionStart:
		err = appendToolFields(&o, e.ToolCallID, e.ToolName, e.Args)
	case *ToolExecutionUpdate:
		if err = appendToolFields(&o, e.ToolCallID, e.ToolName, e.Args); err == nil {
			o.key("partialResult")
			o.dst, err = appendToolResult(o.dst, e.PartialResult)
		}
	case *ToolExecutionEnd:
		o.str("toolCallId", e.ToolCallID)
		o.str("toolName", e.ToolName)
		o.key("result")
		if o.dst, err = appendToolResult(o.dst, e.Result); err == nil {
			o.boolean("isError", e.IsError)
		}
	default:
		err = fmt.Errorf("unknown event %T", ev)
	}
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", ev.Type(), err)
	}
	return o.close(), nil
}

func appendToolFields(o *object, id, name string, args json.RawMessage) error {
	o.str("toolCallId", id)
	o.str("toolName", name)
	args = argumentsOrEmpty(args)
	if err := checkJSON("args", args); err != nil {
		return err
	}
	o.raw("args", args)
	return nil
}

func appendMessageField(o *object, name string, m *Message) error {
	raw, err := m.JSON()
	if err != nil {
		return err
	}
	o.raw(name, raw)
	return nil
}

func appendMessages(dst []byte, messages []*Message) ([]byte, error) {
	dst = append(dst, '[')
	for i, m := range messages {
		if i > 0 {
			dst = append(dst, ',')
		}
		raw, err := m.JSON()
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
		dst = append(dst, raw...)
	}
	return append(dst, ']'), nil
}

// AppendAssistantEvent appends ev as it is on the wire inside a message_update. message is the whole so far, which the
// wire format repeats in the field "partial"; nil leaves that field out.
func AppendAssistantEvent(dst []byte, ev *AssistantEvent, message *Message) ([]byte, error) {
	return appendAssistantEvent(dst, ev, message)
}

func appendAssistantEvent(dst []byte, ev *AssistantEvent, message *Message) (_ []byte, err error) {
	o := openObject(dst)
	o.str("type", ev.Type.String())
	switch ev.Type {
	case StreamDone, StreamError:
		o.str("reason", string(ev.Reason))
		name := "message"
		if ev.Type == StreamError {
			name = "error"
		}
		if ev.Message != nil {
			message = NewMessage(ev.Message)
		}
		if message != nil {
			err = appendMessageField(&o, name, message)
		}
		return o.close(), err
	case StreamStart:
	default:
		o.integer("contentIndex", int64(ev.ContentIndex))
	}
	switch ev.Type {
	case StreamTextDelta, StreamThinkingDelta, StreamToolCallDelta:
		o.str("delta", ev.Delta)
	case StreamTextEnd, StreamThinkingEnd:
		o.str("content", ev.Content)
	case StreamToolCallEnd:
		if ev.ToolCall != nil {
			o.key("toolCall")
			if o.dst, err = appendToolCall(o.dst, ev.ToolCall); err != nil {
				return nil, err
			}
		}
	}
	if message != nil {
		if err := appendMessageField(&o, "partial", message); err != nil {
			return nil, err
		}
	}
	return o.close(), nil
}

// MarshalJSON implements [json.Marshaler] with [AppendEvent].
func (e *AgentStart) MarshalJSON() ([]byte, error) { return AppendEvent(nil, e) }

// MarshalJSON implements [json.Marshaler] with [AppendEvent].
func (e *AgentEnd) MarshalJSON() ([]byte, error) { return AppendEvent(nil, e) }

// MarshalJSON implements [json.Marshaler] with [AppendEvent].
func (e *TurnStart) MarshalJSON() ([]byte, error) { return AppendEvent(nil, e) }

// MarshalJSON implements [json.Marshaler] with [AppendEvent].
func (e *TurnEnd) MarshalJSON() ([]byte, error) { return AppendEvent(nil, e) }

// MarshalJSON implements [json.Marshaler] with [AppendEvent].
func (e *MessageStart) MarshalJSON() ([]byte, error) { return AppendEvent(nil, e) }

// MarshalJSON implements [json.Marshaler] with [AppendEvent].
func (e *MessageUpdate) MarshalJSON() ([]byte, error) { return AppendEvent(nil, e) }

// MarshalJSON implements [json.Marshaler] with [AppendEvent].
func (e *MessageEnd) MarshalJSON() ([]byte, error) { return AppendEvent(nil, e) }

// MarshalJSON implements [json.Marshaler] with [AppendEvent].
func (e *ToolExecutionStart) MarshalJSON() ([]byte, error) { return AppendEvent(nil, e) }

// MarshalJSON implements [json.Marshaler] with [AppendEvent].
func (e *ToolExecutionUpdate) MarshalJSON() ([]byte, error) { return AppendEvent(nil, e) }

// MarshalJSON implements [json.Marshaler] with [AppendEvent].
func (e *ToolExecutionEnd) MarshalJSON() ([]byte, error) { return AppendEvent(nil, e) }

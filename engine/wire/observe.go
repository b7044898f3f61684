package wire

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"weir/agentcore"
)

// AppendCore appends one of the ten events of a run in the form in which extensions see it: turn_start and turn_end
// have turnIndex (of at), turn_start has timestamp (milliseconds, now), and message_update and tool_execution_update
// carry what changed; see [Encoder.AppendToolExecutionUpdate] for the latter, which is sent whole here.
func (e *Encoder) AppendCore(dst []byte, at Moment, ev agentcore.Event, now int64) ([]byte, error) {
	dst = append(dst, `{"type":"`...)
	dst = append(dst, ev.Type().String()...)
	dst = append(dst, '"')
	var err error
	switch ev := ev.(type) {
	case *agentcore.AgentStart:
	case *agentcore.AgentEnd:
		dst, err = appendMessages(dst, "messages", ev.Messages)
	case *agentcore.TurnStart:
		dst = append(dst, `,"turnIndex":`...)
		dst = strconv.AppendInt(dst, int64(at.TurnIndex), 10)
		dst = append(dst, `,"timestamp":`...)
		dst = strconv.AppendInt(dst, now, 10)
	case *agentcore.TurnEnd:
		dst = append(dst, `,"turnIndex":`...)
		dst = strconv.AppendInt(dst, int64(at.TurnIndex), 10)
		if dst, err = appendMessage(dst, ev.Message); err == nil {
			dst, err = appendMessages(dst, "toolResults", ev.ToolResults)
		}
	case *agentcore.MessageStart:
		dst, err = appendMessage(dst, ev.Message)
	case *agentcore.MessageEnd:
		dst, err = appendMessage(dst, ev.Message)
	case *agentcore.MessageUpdate:
		dst, err = appendAssistantEvent(dst, &ev.AssistantEvent)
	case *agentcore.ToolExecutionStart:
		dst = appendCall(dst, ev.ToolCallID, ev.ToolName)
		dst = append(dst, `,"args":`...)
		dst = appendRaw(dst, ev.Args, "{}")
	case *agentcore.ToolExecutionUpdate:
		dst = appendCall(dst, ev.ToolCallID, ev.ToolName)
		dst, err = appendToolResult(dst, "partialResult", ev.PartialResult)
	case *agentcore.ToolExecutionEnd:
		dst = appendCall(dst, ev.ToolCallID, ev.ToolName)
		if dst, err = appendToolResult(dst, "result", ev.Result); err == nil {
			dst = append(dst, `,"isError":`...)
			dst = strconv.AppendBool(dst, ev.IsError)
		}
	default:
		err = fmt.Errorf("no encoding for the event %T", ev)
	}
	if err != nil {
		return nil, err
	}
	return e.close(dst, at), nil
}

// AppendToolExecutionUpdate appends a tool_execution_update. It has no args (tool_execution_start had them). When the
// partial result is before, the one sent last for this call (nil: none), with more text at its end and else the same, it
// is {toolCallId, toolName, delta} with delta the text that was added; otherwise {toolCallId, toolName, partialResult}.
func (e *Encoder) AppendToolExecutionUpdate(
	dst []byte, at Moment, ev *agentcore.ToolExecutionUpdate, before *agentcore.ToolResult,
) ([]byte, error) {
	delta, ok := addedText(before, ev.PartialResult)
	if !ok {
		return e.AppendCore(dst, at, ev, 0)
	}
	dst = append(dst, `{"type":"tool_execution_update"`...)
	dst = appendCall(dst, ev.ToolCallID, ev.ToolName)
	dst = append(dst, `,"delta":`...)
	dst = AppendString(dst, delta)
	return e.close(dst, at), nil
}

// AppendWithheldUpdate appends a tool_execution_update that tells how many bytes of text a tool has reported, in place
// of the text: an extension that may rewrite the tool's result has not seen it yet (ABI section 8).
func (e *Encoder) AppendWithheldUpdate(dst []byte, at Moment, toolName, toolCallID string, textBytes int) []byte {
	dst = append(dst, `{"type":"tool_execution_update"`...)
	dst = appendCall(dst, toolCallID, toolName)
	dst = append(dst, `,"withheldBytes":`...)
	dst = strconv.AppendInt(dst, int64(textBytes), 10)
	return e.close(dst, at)
}

// addedText compares two partial results of one text block each. Anything else than text at the end that differs
// makes it false. Usage is compared by pointer: a tool that reports it makes a new one each time.
func addedText(before, now *agentcore.ToolResult) (string, bool) {
	if before == nil || now == nil || len(before.Content) != 1 || len(now.Content) != 1 ||
		!bytes.Equal(before.Details, now.Details) || before.Usage != now.Usage || before.Terminate != now.Terminate ||
		len(before.AddedToolNames) != 0 || len(now.AddedToolNames) != 0 || len(before.Extra) != 0 || len(now.Extra) != 0 {
		return "", false
	}
	a, ok := before.Content[0].(*agentcore.TextBlock)
	b, ok2 := now.Content[0].(*agentcore.TextBlock)
	if !ok || !ok2 || a.TextSignature != b.TextSignature {
		return "", false
	}
	added, ok := strings.CutPrefix(b.Text, a.Text)
	// A cut inside a character would turn both halves into U+FFFD.
	if ok && added != "" && !utf8.RuneStart(added[0]) {
		return "", false
	}
	return added, ok
}

func appendCall(dst []byte, id, name string) []byte {
	dst = append(dst, `,"toolCallId":`...)
	dst = AppendString(dst, id)
	dst = append(dst, `,"toolName":`...)
	return AppendString(dst, name)
}

func appendMessage(dst []byte, m *agentcore.Message) ([]byte, error) {
	raw, err := m.JSON()
	if err != nil {
		return nil, fmt.Errorf("message: %w", err)
	}
	dst = append(dst, `,"message":`...)
	return append(dst, raw...), nil
}

func appendToolResult(dst []byte, key string, result *agentcore.ToolResult) ([]byte, error) {
	dst = append(dst, `,"`...)
	dst = append(dst, key...)
	dst = append(dst, `":`...)
	if result == nil {
		return append(dst, "null"...), nil
	}
	raw, err := result.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return append(dst, raw...), nil
}

// appendAssistantEvent appends what a message grew by. Unlike the reference's event it has neither partial nor, beside
// it, the message so far; toolcall_start has id and toolName, as in the reference's JSON mode.
func appendAssistantEvent(dst []byte, ev *agentcore.AssistantEvent) ([]byte, error) {
	dst = append(dst, `,"assistantMessageEvent":{"type":"`...)
	dst = append(dst, ev.Type.String()...)
	dst = append(dst, `","contentIndex":`...)
	dst = strconv.AppendInt(dst, int64(ev.ContentIndex), 10)
	switch ev.Type {
	case agentcore.StreamTextDelta, agentcore.StreamThinkingDelta, agentcore.StreamToolCallDelta:
		dst = append(dst, `,"delta":`...)
		dst = AppendString(dst, ev.Delta)
	case agentcore.StreamTextEnd, agentcore.StreamThinkingEnd:
		dst = append(dst, `,"content":`...)
		dst = AppendString(dst, ev.Content)
	case agentcore.StreamToolCallStart:
		if ev.ToolCall != nil {
			dst = append(dst, `,"id":`...)
			dst = AppendString(dst, ev.ToolCall.ID)
			dst = append(dst, `,"toolName":`...)
			dst = AppendString(dst, ev.ToolCall.Name)
		}
	case agentcore.StreamToolCallEnd:
		if ev.ToolCall != nil {
			raw, err := agentcore.MarshalBlock(ev.ToolCall)
			if err != nil {
				return nil, fmt.Errorf("toolCall: %w", err)
			}
			dst = append(dst, `,"toolCall":`...)
			dst = append(dst, raw...)
		}
	}
	return append(dst, '}'), nil
}

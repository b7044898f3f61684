package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"weir/agentcore"
)

// Mode is how the host talks to its user.
type Mode string

// The modes that a guest sees in its context.
const (
	ModeText     Mode = "text"
	ModeJSON     Mode = "json"
	ModeRPC      Mode = "rpc"
	ModeChat     Mode = "chat"
	ModeEmbedded Mode = "embedded"
)

// Scope is the part of a hook's context that stays the same for one extension in one session.
type Scope struct {
	SessionID string
	Extension string
	CWD       string
	Mode      Mode // "" means ModeEmbedded
	HasUI     bool
}

// Moment is the part of a hook's context that changes.
type Moment struct {
	// Provider and Model name the model; when both are "" the context has no model.
	Provider string
	Model    string
	// ThinkingLevel "" is sent as "off".
	ThinkingLevel agentcore.ThinkingLevel
	// TurnIndex counts turns from 0 with each agent_start; CallIndex the tool calls of the turn.
	TurnIndex int
	CallIndex int
}

// Encoder encodes the input of hooks for one extension in one session. Each method appends one JSON object
// {"type":…, payload…, "context":{…}} to dst and returns the longer slice, as append does; the caller owns both. An
// Encoder serves one goroutine at a time.
type Encoder struct {
	scope []byte // `,"context":{"sessionId":…` up to hasUI, without a comma after it
	// moment is the encoded form of the four fields below, up to `"turnIndex":`.
	moment   []byte
	known    bool
	provider string
	model    string
	level    agentcore.ThinkingLevel
}

// NewEncoder returns an encoder for s.
func NewEncoder(s Scope) *Encoder {
	if s.Mode == "" {
		s.Mode = ModeEmbedded
	}
	b := append([]byte(nil), `,"context":{"sessionId":`...)
	b = AppendString(b, s.SessionID)
	b = append(b, `,"extension":`...)
	b = AppendString(b, s.Extension)
	b = append(b, `,"cwd":`...)
	b = AppendString(b, s.CWD)
	b = append(b, `,"mode":`...)
	b = AppendString(b, string(s.Mode))
	b = append(b, `,"hasUI":`...)
	b = strconv.AppendBool(b, s.HasUI)
	return &Encoder{scope: b}
}

// AppendContext appends the context object alone, as the table view carries it.
func (e *Encoder) AppendContext(dst []byte, at Moment) []byte {
	const key = `,"context":`
	dst = append(dst, e.scope[len(key):]...)
	return e.appendMoment(dst, at)
}

// close appends the context and the brace that closes the event.
func (e *Encoder) close(dst []byte, at Moment) []byte {
	dst = append(dst, e.scope...)
	dst = e.appendMoment(dst, at)
	return append(dst, '}')
}

func (e *Encoder) appendMoment(dst []byte, at Moment) []byte {
	if !e.known || at.Model != e.model || at.Provider != e.provider || at.ThinkingLevel != e.level {
		e.known, e.model, e.provider, e.level = true, at.Model, at.Provider, at.ThinkingLevel
		b := e.moment[:0]
		if at.Provider != "" || at.Model != "" {
			b = append(b, `,"model":{"provider":`...)
			b = AppendString(b, at.Provider)
			b = append(b, `,"id":`...)
			b = AppendString(b, at.Model)
			b = append(b, '}')
		}
		level := string(at.ThinkingLevel)
		if level == "" {
			level = "off"
		}
		b = append(b, `,"thinkingLevel":`...)
		b = AppendString(b, level)
		e.moment = append(b, `,"turnIndex":`...)
	}
	dst = append(dst, e.moment...)
	dst = strconv.AppendInt(dst, int64(at.TurnIndex), 10)
	dst = append(dst, `,"callIndex":`...)
	dst = strconv.AppendInt(dst, int64(at.CallIndex), 10)
	return append(dst, '}')
}

// ToolCallEvent is the payload of tool_call.
type ToolCallEvent struct {
	ToolName   string
	ToolCallID string
	// Input is the arguments as they would run, a JSON value that is copied byte for byte; empty counts as {}.
	Input json.RawMessage
	// Recheck says that the arguments changed after the extension saw them (ABI section 6).
	Recheck bool
	// Facts are the facts that the hook asked for (package facts), a JSON object that is copied; nil leaves them out.
	Facts json.RawMessage
}

// AppendToolCall appends a tool_call event.
func (e *Encoder) AppendToolCall(dst []byte, at Moment, ev *ToolCallEvent) []byte {
	dst = append(dst, `{"type":"tool_call","toolName":`...)
	dst = AppendString(dst, ev.ToolName)
	dst = append(dst, `,"toolCallId":`...)
	dst = AppendString(dst, ev.ToolCallID)
	dst = append(dst, `,"input":`...)
	dst = appendRaw(dst, ev.Input, "{}")
	if ev.Recheck {
		dst = append(dst, `,"recheck":true`...)
	}
	dst = appendFacts(dst, ev.Facts)
	return e.close(dst, at)
}

// ToolResultEvent is the payload of tool_result.
type ToolResultEvent struct {
	ToolName   string
	ToolCallID string
	Input      json.RawMessage // the arguments that ran; empty counts as {}
	Content    []agentcore.Block
	Details    json.RawMessage // nil leaves it out
	IsError    bool
	Usage      *agentcore.Usage // nil leaves it out
	Facts      json.RawMessage  // as in ToolCallEvent
}

// AppendToolResult appends a tool_result event. The error names a block that holds invalid JSON.
func (e *Encoder) AppendToolResult(dst []byte, at Moment, ev *ToolResultEvent) ([]byte, error) {
	dst = append(dst, `{"type":"tool_result","toolName":`...)
	dst = AppendString(dst, ev.ToolName)
	dst = append(dst, `,"toolCallId":`...)
	dst = AppendString(dst, ev.ToolCallID)
	dst = append(dst, `,"input":`...)
	dst = appendRaw(dst, ev.Input, "{}")
	dst = append(dst, `,"content":`...)
	dst, err := appendBlocks(dst, ev.Content)
	if err != nil {
		return nil, err
	}
	if ev.Details != nil {
		dst = append(dst, `,"details":`...)
		dst = appendRaw(dst, ev.Details, "null")
	}
	dst = append(dst, `,"isError":`...)
	dst = strconv.AppendBool(dst, ev.IsError)
	if ev.Usage != nil {
		usage, err := json.Marshal(ev.Usage)
		if err != nil {
			return nil, fmt.Errorf("usage: %w", err)
		}
		dst = append(dst, `,"usage":`...)
		dst = append(dst, usage...)
	}
	return e.close(appendFacts(dst, ev.Facts), at), nil
}

func appendFacts(dst []byte, facts json.RawMessage) []byte {
	if len(facts) == 0 {
		return dst
	}
	dst = append(dst, `,"facts":`...)
	return append(dst, facts...)
}

// AppendMessages appends a context event in the full view: the encoded bytes of all messages.
func (e *Encoder) AppendMessages(dst []byte, at Moment, messages []*agentcore.Message) ([]byte, error) {
	dst = append(dst, `{"type":"context"`...)
	dst, err := appendMessages(dst, "messages", messages)
	if err != nil {
		return nil, err
	}
	return e.close(dst, at), nil
}

// AppendPayload appends an event of any kind from its payload, a JSON object without type and context. It is the way
// for the kinds that have no method of their own. The error says that payload is no object; that it is valid JSON is the
// caller's to know.
func (e *Encoder) AppendPayload(dst []byte, at Moment, kind Event, payload json.RawMessage) ([]byte, error) {
	if kind == 0 || int(kind) > EventCount {
		return nil, fmt.Errorf("there is no event %d", kind)
	}
	body := bytes.TrimSpace(payload)
	if len(body) < 2 || body[0] != '{' || body[len(body)-1] != '}' {
		return nil, fmt.Errorf("%s: the payload is not a JSON object", kind)
	}
	return e.appendObject(dst, at, kind.String(), body), nil
}

// appendObject appends an input from its type and an object.
func (e *Encoder) appendObject(dst []byte, at Moment, kind string, object []byte) []byte {
	dst = append(dst, `{"type":"`...)
	dst = append(dst, kind...)
	dst = append(dst, '"')
	object = bytes.TrimSpace(object)
	if body := bytes.TrimSpace(object[1 : len(object)-1]); len(body) > 0 {
		dst = append(dst, ',')
		dst = append(dst, body...)
	}
	return e.close(dst, at)
}

// AppendToolExecute appends the input of tool_execute (ABI section 12); empty args count as {}.
func (e *Encoder) AppendToolExecute(dst []byte, at Moment, toolName, toolCallID string, args json.RawMessage) []byte {
	dst = append(dst, `{"toolCallId":`...)
	dst = AppendString(dst, toolCallID)
	dst = append(dst, `,"toolName":`...)
	dst = AppendString(dst, toolName)
	dst = append(dst, `,"args":`...)
	dst = appendRaw(dst, args, "{}")
	return e.close(dst, at)
}

// AppendCommandExecute appends the input of command_execute; args is what the person typed after the command's name.
func (e *Encoder) AppendCommandExecute(dst []byte, at Moment, name, args string) []byte {
	dst = append(dst, `{"name":`...)
	dst = AppendString(dst, name)
	dst = append(dst, `,"args":`...)
	dst = AppendString(dst, args)
	return e.close(dst, at)
}

func appendRaw(dst []byte, raw json.RawMessage, empty string) []byte {
	if len(raw) == 0 {
		return append(dst, empty...)
	}
	return append(dst, raw...)
}

func appendMessages(dst []byte, key string, messages []*agentcore.Message) ([]byte, error) {
	dst = append(dst, `,"`...)
	dst = append(dst, key...)
	dst = append(dst, `":[`...)
	for i, m := range messages {
		if i > 0 {
			dst = append(dst, ',')
		}
		raw, err := m.JSON()
		if err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", key, i, err)
		}
		dst = append(dst, raw...)
	}
	return append(dst, ']'), nil
}

// appendBlocks writes the two common blocks itself, without a slice for each.
func appendBlocks(dst []byte, blocks []agentcore.Block) ([]byte, error) {
	dst = append(dst, '[')
	for i, b := range blocks {
		if i > 0 {
			dst = append(dst, ',')
		}
		switch b := b.(type) {
		case *agentcore.TextBlock:
			dst = append(dst, `{"type":"text","text":`...)
			dst = AppendString(dst, b.Text)
			if b.TextSignature != "" {
				dst = append(dst, `,"textSignature":`...)
				dst = AppendString(dst, b.TextSignature)
			}
			dst = append(dst, '}')
		default:
			raw, err := agentcore.MarshalBlock(b)
			if err != nil {
				return nil, fmt.Errorf("content[%d]: %w", i, err)
			}
			dst = append(dst, raw...)
		}
	}
	return append(dst, ']'), nil
}

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string. Control characters, quotes and backslashes are escaped, nothing else is
// (no HTML escaping); each byte of invalid UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			u, n := utf8.DecodeRuneInString(s[i:])
			if u == utf8.RuneError && n == 1 {
				dst = append(dst, s[start:i]...)
				dst = utf8.AppendRune(dst, utf8.RuneError)
				start = i + 1
			}
			i += n
			continue
		}
		dst = append(dst, s[start:i]...)
		if at := strings.IndexByte("\"\\\b\f\n\r\t", c); at >= 0 {
			dst = append(dst, '\\', `"\bfnrt`[at])
		} else {
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

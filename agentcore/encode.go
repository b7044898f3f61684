package agentcore

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// JSON is the message on the wire: the bytes it was decoded from, or else its fields in the order of the reference,
// without HTML escaping. It is computed once and must not be changed. The error names a field that holds invalid JSON.
func (m *Message) JSON() (json.RawMessage, error) {
	if m.origin != nil {
		return m.origin.JSON()
	}
	if e := m.json.Load(); e != nil {
		return e.raw, e.err
	}
	e := &encoding{}
	raw, err := appendBody(nil, m.Body())
	if err != nil {
		e.err = fmt.Errorf("encode %s message: %w", m.Role(), err)
	} else {
		e.raw = raw
	}
	// Two callers at once may both encode; all get the same bytes.
	m.json.CompareAndSwap(nil, e)
	e = m.json.Load()
	return e.raw, e.err
}

// MarshalJSON implements [json.Marshaler] with the bytes of [Message.JSON]. (encoding/json compacts and HTML-escapes
// what it embeds; use JSON where the exact bytes matter.)
func (m *Message) MarshalJSON() ([]byte, error) { return m.JSON() }

func appendBody(dst []byte, body Body) ([]byte, error) {
	var err error
	o := openObject(dst)
	switch b := body.(type) {
	case *UserMessage:
		o.str("role", string(RoleUser))
		o.key("content")
		if o.dst, err = appendContent(o.dst, b.Content); err != nil {
			return nil, err
		}
		o.integer("timestamp", b.Timestamp)
	case *AssistantMessage:
		if err = appendAssistant(&o, b); err != nil {
			return nil, err
		}
	case *ToolResultMessage:
		if err = appendToolResultMessage(&o, b); err != nil {
			return nil, err
		}
	case *OpaqueMessage:
		if err = checkJSON("message", b.JSON); err != nil {
			return nil, err
		}
		return append(dst, b.JSON...), nil
	default:
		return nil, fmt.Errorf("unknown body %T", body)
	}
	return o.close(), nil
}

func appendContent(dst []byte, c Content) ([]byte, error) {
	if c.Blocks == nil {
		return appendString(dst, c.Text), nil
	}
	return appendBlocks(dst, c.Blocks)
}

func appendAssistant(o *object, b *AssistantMessage) (err error) {
	o.str("role", string(RoleAssistant))
	o.key("content")
	if o.dst, err = appendBlocks(o.dst, b.Content); err != nil {
		return err
	}
	o.str("api", b.API)
	o.str("provider", b.Provider)
	o.str("model", b.Model)
	o.optional("responseModel", b.ResponseModel)
	o.optional("responseId", b.ResponseID)
	o.key("usage")
	o.dst = appendUsage(o.dst, &b.Usage)
	o.str("stopReason", string(b.StopReason))
	o.optional("rawStopReason", b.RawStopReason)
	o.optional("errorMessage", b.ErrorMessage)
	o.integer("timestamp", b.Timestamp)
	return appendExtra(o, b.Extra)
}

func appendToolResultMessage(o *object, b *ToolResultMessage) (err error) {
	o.str("role", string(RoleToolResult))
	o.str("toolCallId", b.ToolCallID)
	o.str("toolName", b.ToolName)
	o.key("content")
	if o.dst, err = appendBlocks(o.dst, b.Content); err != nil {
		return err
	}
	if b.Details != nil {
		if err := checkJSON("details", b.Details); err != nil {
			return err
		}
		o.raw("details", b.Details)
	}
	if b.Usage != nil {
		o.key("usage")
		o.dst = appendUsage(o.dst, b.Usage)
	}
	appendNames(o, b.AddedToolNames)
	o.boolean("isError", b.IsError)
	o.integer("timestamp", b.Timestamp)
	return nil
}

func appendNames(o *object, names []string) {
	if len(names) == 0 {
		return
	}
	o.key("addedToolNames")
	o.dst = append(o.dst, '[')
	for i, name := range names {
		if i > 0 {
			o.dst = append(o.dst, ',')
		}
		o.dst = appendString(o.dst, name)
	}
	o.dst = append(o.dst, ']')
}

func appendUsage(dst []byte, u *Usage) []byte {
	o := openObject(dst)
	o.integer("input", u.Input)
	o.integer("output", u.Output)
	o.integer("cacheRead", u.CacheRead)
	o.integer("cacheWrite", u.CacheWrite)
	if u.CacheWrite1h != nil {
		o.integer("cacheWrite1h", *u.CacheWrite1h)
	}
	if u.Reasoning != nil {
		o.integer("reasoning", *u.Reasoning)
	}
	o.integer("totalTokens", u.TotalTokens)
	o.key("cost")
	c := openObject(o.dst)
	c.number("input", u.Cost.Input)
	c.number("output", u.Cost.Output)
	c.number("cacheRead", u.Cost.CacheRead)
	c.number("cacheWrite", u.Cost.CacheWrite)
	c.number("total", u.Cost.Total)
	o.dst = c.close()
	return o.close()
}

// appendExtra appends uninterpreted fields by name, so that the same message always has the same bytes.
func appendExtra(o *object, extra map[string]json.RawMessage) error {
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if err := checkJSON(name, extra[name]); err != nil {
			return err
		}
		if !o.first {
			o.dst = append(o.dst, ',')
		}
		o.first = false
		o.dst = append(appendString(o.dst, name), ':')
		o.dst = append(o.dst, extra[name]...)
	}
	return nil
}

// MarshalBlocks is a list of blocks on the wire; nil gives [].
func MarshalBlocks(blocks []Block) (json.RawMessage, error) { return appendBlocks(nil, blocks) }

// MarshalBlock is one block on the wire.
func MarshalBlock(block Block) (json.RawMessage, error) { return appendBlock(nil, block) }

func appendBlocks(dst []byte, blocks []Block) (_ []byte, err error) {
	dst = append(dst, '[')
	for i, block := range blocks {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = appendBlock(dst, block); err != nil {
			return nil, fmt.Errorf("content block %d: %w", i, err)
		}
	}
	return append(dst, ']'), nil
}

func appendBlock(dst []byte, block Block) ([]byte, error) {
	o := openObject(dst)
	switch b := block.(type) {
	case *TextBlock:
		o.str("type", "text")
		o.str("text", b.Text)
		o.optional("textSignature", b.TextSignature)
	case *ThinkingBlock:
		o.str("type", "thinking")
		o.str("thinking", b.Thinking)
		o.optional("thinkingSignature", b.ThinkingSignature)
		if b.Redacted {
			o.boolean("redacted", true)
		}
	case *ImageBlock:
		o.str("type", "image")
		o.str("data", b.Data)
		o.str("mimeType", b.MimeType)
	case *ToolCall:
		return appendToolCall(dst, b)
	case *OpaqueBlock:
		if err := checkJSON(b.Type+" block", b.JSON); err != nil {
			return nil, err
		}
		return append(dst, b.JSON...), nil
	default:
		return nil, fmt.Errorf("unknown block %T", block)
	}
	return o.close(), nil
}

func appendToolCall(dst []byte, b *ToolCall) ([]byte, error) {
	if b.Arguments != nil {
		if err := checkJSON("arguments of tool call "+b.ID, b.Arguments); err != nil {
			return nil, err
		}
	}
	o := openObject(dst)
	o.str("type", "toolCall")
	o.str("id", b.ID)
	o.str("name", b.Name)
	o.raw("arguments", argumentsOrEmpty(b.Arguments))
	o.optional("thoughtSignature", b.ThoughtSignature)
	o.optional("namespace", b.Namespace)
	return o.close(), nil
}

// argumentsOrEmpty gives calls whose arguments are not known yet the empty object, as the reference does.
func argumentsOrEmpty(args json.RawMessage) json.RawMessage {
	if len(args) == 0 {
		return json.RawMessage("{}")
	}
	return args
}

// MarshalJSON implements [json.Marshaler].
func (r *ToolResult) MarshalJSON() ([]byte, error) { return appendToolResult(nil, r) }

func appendToolResult(dst []byte, r *ToolResult) (_ []byte, err error) {
	if r == nil {
		return append(dst, "null"...), nil
	}
	o := openObject(dst)
	if r.Content != nil {
		o.key("content")
		if o.dst, err = appendBlocks(o.dst, r.Content); err != nil {
			return nil, err
		}
	}
	if r.Details != nil {
		if err := checkJSON("details", r.Details); err != nil {
			return nil, err
		}
		o.raw("details", r.Details)
	}
	if r.Usage != nil {
		o.key("usage")
		o.dst = appendUsage(o.dst, r.Usage)
	}
	appendNames(&o, r.AddedToolNames)
	if r.Terminate {
		o.boolean("terminate", true)
	}
	if err := appendExtra(&o, r.Extra); err != nil {
		return nil, err
	}
	return o.close(), nil
}

func checkJSON(what string, raw json.RawMessage) error {
	if !json.Valid(raw) {
		return fmt.Errorf("%s: not valid JSON: %.40q", what, raw)
	}
	return nil
}

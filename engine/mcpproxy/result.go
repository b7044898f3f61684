package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"weir/agentcore"
	"weir/engine/wire"
)

// block is what a model gets instead of a result.
func (p *Proxy) block(rawID json.RawMessage, reason string) []byte {
	return response(rawID, errorResult(p.cfg.Printable(reason)))
}

func errorResult(text string) json.RawMessage {
	return object{"content": textContent(text), "isError": json.RawMessage("true")}.encode()
}

func textContent(texts ...string) json.RawMessage {
	list := make([]json.RawMessage, len(texts))
	for i, t := range texts {
		list[i] = textBlock(t)
	}
	return encode(list)
}

func textBlock(text string) json.RawMessage {
	return object{"type": json.RawMessage(`"text"`), "text": encode(text)}.encode()
}

// content is a tool's result as extensions see it.
type content struct {
	blocks []agentcore.Block
	// raw are the blocks as they came; the structured content is the last, where there is any.
	raw        []json.RawMessage
	structured bool
	isError    bool
}

// parseContent reads a result.
//
// A text and an image are what they are. Any other block is shown as the text of its JSON, so that nothing in it is hidden,
// and so is the structured content, after the others.
func parseContent(raw json.RawMessage) (c content, rest object, err error) {
	o, err := parseObject(raw, "content", "structuredContent", "isError")
	if err != nil {
		return c, nil, err
	}
	if list, ok := o["content"]; ok {
		if list[0] != '[' || json.Unmarshal(list, &c.raw) != nil {
			return c, nil, errors.New(`"content" is not a list`)
		}
	}
	if v, ok := o["structuredContent"]; ok {
		c.structured = true
		c.raw = append(c.raw, v)
	}
	if v, ok := o["isError"]; ok {
		if err := json.Unmarshal(v, &c.isError); err != nil {
			return c, nil, errors.New(`"isError" is not true or false`)
		}
	}
	for i, b := range c.raw {
		if c.structured && i == len(c.raw)-1 {
			c.blocks = append(c.blocks, &agentcore.TextBlock{Text: string(b)})
		} else {
			c.blocks = append(c.blocks, parseBlock(b))
		}
	}
	return c, o, nil
}

func parseBlock(raw json.RawMessage) agentcore.Block {
	asText := &agentcore.TextBlock{Text: string(raw)}
	o, err := parseObject(raw)
	if err != nil {
		return asText
	}
	only := func(keys ...string) bool {
		for key := range o {
			if !slices.Contains(keys, key) && key != "type" && key != "annotations" && key != "_meta" {
				return false
			}
		}
		return true
	}
	kind, _ := o.text("type")
	switch kind {
	case "text":
		if text, ok := o.text("text"); ok && only("text") {
			return &agentcore.TextBlock{Text: text}
		}
	case "image":
		data, ok := o.text("data")
		mime, also := o.text("mimeType")
		if ok && also && only("data", "mimeType") {
			return &agentcore.ImageBlock{Data: data, MimeType: mime}
		}
	}
	return asText
}

// compose puts a rewritten result together. Blocks that were not changed stay as they came, as long as there are as many of
// them; nothing that extensions did not see goes with a rewritten result. Structured content that is no JSON any more, or
// that cannot be told from the rest, is left out.
func (c *content) compose(ev *wire.ToolResultEvent, rest object) json.RawMessage {
	blocks := ev.Content
	same := len(blocks) == len(c.blocks)
	out := object{}
	if v, ok := rest["resultType"]; ok {
		out["resultType"] = v
	}
	if same && c.structured {
		last := len(blocks) - 1
		if text, ok := blocks[last].(*agentcore.TextBlock); ok && json.Valid([]byte(text.Text)) {
			out["structuredContent"] = encode(json.RawMessage(text.Text))
		}
		blocks = blocks[:last]
	}
	list := make([]json.RawMessage, len(blocks))
	for i, b := range blocks {
		switch {
		case same && sameBlock(b, c.blocks[i]):
			list[i] = c.raw[i]
		default:
			list[i] = mcpBlock(b)
		}
	}
	out["content"] = encode(list)
	if ev.IsError {
		out["isError"] = json.RawMessage("true")
	}
	return out.encode()
}

func sameBlock(a, b agentcore.Block) bool {
	switch a := a.(type) {
	case *agentcore.TextBlock:
		b, ok := b.(*agentcore.TextBlock)
		return ok && a.Text == b.Text
	case *agentcore.ImageBlock:
		b, ok := b.(*agentcore.ImageBlock)
		return ok && *a == *b
	}
	return false
}

func mcpBlock(b agentcore.Block) json.RawMessage {
	switch b := b.(type) {
	case *agentcore.TextBlock:
		return textBlock(b.Text)
	case *agentcore.ImageBlock:
		return object{"type": json.RawMessage(`"image"`), "data": encode(b.Data), "mimeType": encode(b.MimeType)}.encode()
	}
	return textBlock("[a part of the result has no place in MCP and was left out]")
}

// result puts the response to a call to the set, and gives the line for the client.
func (p *Proxy) result(ctx context.Context, call *call, m *message) []byte {
	event := wire.ToolResultEvent{ToolName: call.tool, ToolCallID: call.callID, Input: call.input}
	if failed, ok := m.object["error"]; ok {
		return p.failedCall(ctx, call, m, failed, event)
	}
	c, rest, err := parseContent(m.object["result"])
	if err != nil {
		return p.block(call.rawID, "The result of this call was withheld: the server's result cannot be read: "+err.Error())
	}
	event.Content, event.IsError = c.blocks, c.isError
	got, changed := p.engine.ToolResult(ctx, event)
	if !changed || c.unchanged(&got) {
		return m.raw
	}
	return response(call.rawID, c.compose(&got, rest))
}

func (c *content) unchanged(ev *wire.ToolResultEvent) bool {
	return ev.IsError == c.isError && slices.EqualFunc(ev.Content, c.blocks, sameBlock)
}

// failedCall puts a protocol error to the set: clients show it to the model like a result.
func (p *Proxy) failedCall(ctx context.Context, call *call, m *message, failed json.RawMessage, event wire.ToolResultEvent) []byte {
	o, err := parseObject(failed, "code", "message", "data")
	if err != nil {
		return p.block(call.rawID, "The result of this call was withheld: the server's error cannot be read: "+err.Error())
	}
	text, _ := o.text("message")
	event.Content, event.IsError = []agentcore.Block{&agentcore.TextBlock{Text: text}}, true
	if data, ok := o["data"]; ok {
		event.Content = append(event.Content, &agentcore.TextBlock{Text: string(data)})
	}
	before := content{blocks: event.Content, isError: true}
	got, changed := p.engine.ToolResult(ctx, event)
	if !changed || before.unchanged(&got) {
		return m.raw
	}
	c := content{} // nothing of the error stays as it came
	return response(call.rawID, c.compose(&got, nil))
}

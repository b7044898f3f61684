package agentcore

import (
	"encoding/json"
	"errors"
	"fmt"
)

// DecodeMessage reads one message. It keeps raw, which must not be changed afterwards, as the message's JSON, so that
// unknown fields survive; a role that the loop does not know gives an [OpaqueMessage]. Missing optional fields, the
// timestamp included, are zero. The error names the field that has the wrong type.
func DecodeMessage(raw json.RawMessage) (*Message, error) {
	if m, ok := decodeFast(raw); ok {
		return m, nil
	}
	return decodeSlow(raw)
}

// decodeSlow reads a message of any form.
func decodeSlow(raw json.RawMessage) (*Message, error) {
	var head struct {
		Role      *Role           `json:"role"`
		Timestamp json.RawMessage `json:"timestamp"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, fmt.Errorf("message: %w", err)
	}
	if head.Role == nil || *head.Role == "" {
		return nil, errors.New("message: no role")
	}
	body, err := decodeBody(raw, *head.Role, decodeTimestamp(head.Timestamp))
	if err != nil {
		return nil, fmt.Errorf("%s message: %w", *head.Role, err)
	}
	m := &Message{body: body}
	m.json.Store(&encoding{raw: raw})
	return m, nil
}

func decodeBody(raw json.RawMessage, role Role, timestamp int64) (Body, error) {
	switch role {
	case RoleUser:
		var f struct {
			Content json.RawMessage `json:"content"`
		}
		if err := json.Unmarshal(raw, &f); err != nil {
			return nil, err
		}
		content, err := DecodeContent(f.Content)
		if err != nil {
			return nil, err
		}
		return &UserMessage{Content: content, Timestamp: timestamp}, nil
	case RoleAssistant:
		return decodeAssistant(raw, timestamp)
	case RoleToolResult:
		var f struct {
			ToolCallID     string          `json:"toolCallId"`
			ToolName       string          `json:"toolName"`
			Content        json.RawMessage `json:"content"`
			Details        json.RawMessage `json:"details"`
			Usage          *Usage          `json:"usage"`
			AddedToolNames []string        `json:"addedToolNames"`
			IsError        bool            `json:"isError"`
		}
		if err := json.Unmarshal(raw, &f); err != nil {
			return nil, err
		}
		content, err := DecodeContent(f.Content)
		if err != nil {
			return nil, err
		}
		return &ToolResultMessage{
			ToolCallID: f.ToolCallID, ToolName: f.ToolName, Content: content.blocks(), Details: f.Details, Usage: f.Usage,
			AddedToolNames: f.AddedToolNames, IsError: f.IsError, Timestamp: timestamp,
		}, nil
	default:
		return &OpaqueMessage{RoleName: role, JSON: raw, Timestamp: timestamp}, nil
	}
}

func decodeAssistant(raw json.RawMessage, timestamp int64) (*AssistantMessage, error) {
	var f struct {
		Content       json.RawMessage `json:"content"`
		API           string          `json:"api"`
		Provider      string          `json:"provider"`
		Model         string          `json:"model"`
		ResponseModel string          `json:"responseModel"`
		ResponseID    string          `json:"responseId"`
		Usage         Usage           `json:"usage"`
		StopReason    StopReason      `json:"stopReason"`
		RawStopReason string          `json:"rawStopReason"`
		ErrorMessage  string          `json:"errorMessage"`
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, err
	}
	content, err := DecodeContent(f.Content)
	if err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	for _, known := range [...]string{
		"role", "content", "api", "provider", "model", "responseModel", "responseId", "usage", "stopReason",
		"rawStopReason", "errorMessage", "timestamp",
	} {
		delete(all, known)
	}
	if len(all) == 0 {
		all = nil
	}
	return &AssistantMessage{
		Content: content.blocks(), API: f.API, Provider: f.Provider, Model: f.Model, ResponseModel: f.ResponseModel,
		ResponseID: f.ResponseID, Usage: f.Usage, StopReason: f.StopReason, RawStopReason: f.RawStopReason,
		ErrorMessage: f.ErrorMessage, Timestamp: timestamp, Extra: all,
	}, nil
}

// blocks is the content as a list; a plain string becomes one text block.
func (c Content) blocks() []Block {
	if c.Blocks == nil && c.Text != "" {
		return []Block{&TextBlock{Text: c.Text}}
	}
	return c.Blocks
}

// decodeTimestamp reads milliseconds; anything but a number (older files hold ISO text) is 0.
func decodeTimestamp(raw json.RawMessage) int64 {
	var f float64
	if len(raw) == 0 || json.Unmarshal(raw, &f) != nil {
		return 0
	}
	return int64(f)
}

// DecodeContent reads the content of a message: a plain string or a list of blocks. Absent and null give the zero
// Content.
func DecodeContent(raw json.RawMessage) (Content, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return Content{}, nil
	}
	if raw[0] == '"' {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return Content{}, fmt.Errorf("content: %w", err)
		}
		return Content{Text: text}, nil
	}
	blocks, err := DecodeBlocks(raw)
	if err != nil {
		return Content{}, err
	}
	return Content{Blocks: blocks}, nil
}

// DecodeBlocks reads a list of content blocks. A block of an unknown type becomes an [OpaqueBlock]. The list is not
// nil when there is no error.
func DecodeBlocks(raw json.RawMessage) ([]Block, error) {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, fmt.Errorf("content: neither text nor a list of blocks: %w", err)
	}
	blocks := make([]Block, len(items))
	for i, item := range items {
		block, err := decodeBlock(item)
		if err != nil {
			return nil, fmt.Errorf("content block %d: %w", i, err)
		}
		blocks[i] = block
	}
	return blocks, nil
}

func decodeBlock(raw json.RawMessage) (Block, error) {
	var f struct {
		Type              string          `json:"type"`
		Text              string          `json:"text"`
		TextSignature     string          `json:"textSignature"`
		Thinking          string          `json:"thinking"`
		ThinkingSignature string          `json:"thinkingSignature"`
		Redacted          bool            `json:"redacted"`
		Data              string          `json:"data"`
		MimeType          string          `json:"mimeType"`
		ID                string          `json:"id"`
		Name              string          `json:"name"`
		Arguments         json.RawMessage `json:"arguments"`
		ThoughtSignature  string          `json:"thoughtSignature"`
		Namespace         string          `json:"namespace"`
	}
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, err
	}
	switch head.Type {
	case "text", "thinking", "image", "toolCall":
		if err := json.Unmarshal(raw, &f); err != nil {
			return nil, err
		}
	case "":
		return nil, errors.New("no type")
	}
	switch head.Type {
	case "text":
		return &TextBlock{Text: f.Text, TextSignature: f.TextSignature}, nil
	case "thinking":
		return &ThinkingBlock{Thinking: f.Thinking, ThinkingSignature: f.ThinkingSignature, Redacted: f.Redacted}, nil
	case "image":
		return &ImageBlock{Data: f.Data, MimeType: f.MimeType}, nil
	case "toolCall":
		return &ToolCall{
			ID: f.ID, Name: f.Name, Arguments: f.Arguments, ThoughtSignature: f.ThoughtSignature, Namespace: f.Namespace,
		}, nil
	default:
		return &OpaqueBlock{Type: head.Type, JSON: raw}, nil
	}
}

// DecodeToolResult reads a tool result. Fields that the loop does not interpret, and known ones in a form that it gives
// no meaning to (terminate other than true, content that is not a list), are kept in Extra.
func DecodeToolResult(raw json.RawMessage) (*ToolResult, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("tool result: %w", err)
	}
	r := &ToolResult{}
	if content, ok := all["content"]; ok && len(content) > 0 && content[0] == '[' {
		blocks, err := DecodeBlocks(content)
		if err != nil {
			return nil, fmt.Errorf("tool result: %w", err)
		}
		r.Content = blocks
		delete(all, "content")
	}
	if details, ok := all["details"]; ok {
		r.Details = details
		delete(all, "details")
	}
	if usage, ok := all["usage"]; ok && json.Unmarshal(usage, &r.Usage) == nil && r.Usage != nil {
		delete(all, "usage")
	}
	if names, ok := all["addedToolNames"]; ok && json.Unmarshal(names, &r.AddedToolNames) == nil && len(r.AddedToolNames) > 0 {
		delete(all, "addedToolNames")
	}
	if string(all["terminate"]) == "true" {
		r.Terminate = true
		delete(all, "terminate")
	}
	if len(all) > 0 {
		r.Extra = all
	}
	return r, nil
}

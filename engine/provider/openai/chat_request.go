package openai

import (
	"encoding/json"
	"fmt"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"weir/agentcore"
	"weir/engine/provider/internal/history"
	"weir/engine/provider/internal/reply"
)

const (
	// chatIDMax is the longest id of a tool call in Chat Completions.
	chatIDMax = 40
	// imageNote goes before the images of tool results: the wire takes them in user messages only.
	imageNote = "Images from the tool results above:"
	// emptyResult stands in a tool result without text, which some servers refuse.
	emptyResult = "(no output)"
)

func (p *Chat) params(req *agentcore.Request) (sdk.ChatCompletionNewParams, error) {
	out := sdk.ChatCompletionNewParams{
		Model:         req.Model.ID,
		StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: sdk.Bool(true)},
	}
	if req.Model.MaxTokens > 0 {
		// OpenAI's own models take the new name only, and most other servers know the old one only.
		if p.own() {
			out.MaxCompletionTokens = sdk.Int(req.Model.MaxTokens)
		} else {
			out.MaxTokens = sdk.Int(req.Model.MaxTokens)
		}
	}
	out.ReasoningEffort = p.effort(req.ThinkingLevel)
	if req.SystemPrompt != "" {
		out.Messages = append(out.Messages, sdk.SystemMessage(req.SystemPrompt))
	}
	var err error
	for _, t := range req.Tools {
		raw, toolErr := function(t, false)
		if toolErr != nil {
			err = toolErr
			continue
		}
		out.Tools = append(out.Tools, sdk.ChatCompletionFunctionTool(param.Override[shared.FunctionDefinitionParam](raw)))
	}
	prepared := history.Prepare(req, func(id string) string { return history.ID(callPart(id), chatIDMax) })
	var images []*agentcore.ImageBlock
	for i := range prepared {
		m := &prepared[i]
		if m.Role != agentcore.RoleToolResult && len(images) > 0 {
			out.Messages, images = append(out.Messages, imagesMessage(images)), nil
		}
		switch m.Role {
		case agentcore.RoleUser:
			out.Messages = append(out.Messages, userMessage(m.Blocks))
		case agentcore.RoleAssistant:
			out.Messages = append(out.Messages, assistantMessage(m))
		case agentcore.RoleToolResult:
			text := history.Text(m.Blocks)
			images = append(images, history.Images(m.Blocks)...)
			if text == "" {
				text = emptyResult
			}
			out.Messages = append(out.Messages, sdk.ToolMessage(text, m.ToolCallID))
		}
	}
	if len(images) > 0 {
		out.Messages = append(out.Messages, imagesMessage(images))
	}
	return out, err
}

// effort is what the wire calls a thinking level; "" leaves it to the model.
func (c *client) effort(level agentcore.ThinkingLevel) shared.ReasoningEffort {
	if !c.cfg.Effort || level == "off" {
		return ""
	}
	return shared.ReasoningEffort(level)
}

// function describes a tool, with its schema as it is: the SDK's maps would lose the order of the properties. Responses
// has the type in the same object, and is strict unless told otherwise.
func function(t *agentcore.Tool, responses bool) (json.RawMessage, error) {
	parameters := t.Parameters
	if len(parameters) == 0 {
		parameters = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	f := struct {
		Type        string          `json:"type,omitempty"`
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      *bool           `json:"strict,omitempty"`
	}{Name: t.Name, Description: t.Description, Parameters: parameters}
	if responses {
		f.Type, f.Strict = "function", new(bool)
	}
	raw, err := json.Marshal(f)
	if err != nil {
		return nil, reply.FinalError(fmt.Sprintf("tool %q: its parameters are not valid JSON", t.Name))
	}
	return raw, nil
}

// callPart is the id that the model gave a call. In the transcript of a Responses model the id of the item follows it.
func callPart(id string) string {
	for i := range len(id) {
		if id[i] == '|' {
			return id[:i]
		}
	}
	return id
}

func dataURL(b *agentcore.ImageBlock) string { return "data:" + b.MimeType + ";base64," + b.Data }

func imagePart(b *agentcore.ImageBlock) sdk.ChatCompletionContentPartUnionParam {
	return sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{URL: dataURL(b)})
}

func imagesMessage(images []*agentcore.ImageBlock) sdk.ChatCompletionMessageParamUnion {
	parts := []sdk.ChatCompletionContentPartUnionParam{sdk.TextContentPart(imageNote)}
	for _, b := range images {
		parts = append(parts, imagePart(b))
	}
	return sdk.UserMessage(parts)
}

// userMessage is plain text where it can be: some servers take nothing else.
func userMessage(blocks []agentcore.Block) sdk.ChatCompletionMessageParamUnion {
	if len(history.Images(blocks)) == 0 {
		return sdk.UserMessage(history.Text(blocks))
	}
	var parts []sdk.ChatCompletionContentPartUnionParam
	for _, b := range blocks {
		switch b := b.(type) {
		case *agentcore.TextBlock:
			parts = append(parts, sdk.TextContentPart(b.Text))
		case *agentcore.ImageBlock:
			parts = append(parts, imagePart(b))
		}
	}
	return sdk.UserMessage(parts)
}

func assistantMessage(m *history.Message) sdk.ChatCompletionMessageParamUnion {
	out := &sdk.ChatCompletionAssistantMessageParam{}
	reasoning := map[string]any{}
	for _, b := range m.Blocks {
		switch b := b.(type) {
		case *agentcore.ThinkingBlock:
			// The signature names the field that the reasoning came in; see chatReader.grow.
			switch field := b.ThinkingSignature; field {
			case "reasoning_content", "reasoning", "reasoning_text":
				before, _ := reasoning[field].(string)
				reasoning[field] = before + b.Thinking
			}
		case *agentcore.ToolCall:
			out.ToolCalls = append(out.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{
				OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
					ID: b.ID,
					Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{
						Name: b.Name, Arguments: string(history.Arguments(b)),
					},
				},
			})
		}
	}
	if text := history.Text(m.Blocks); text != "" || len(out.ToolCalls) == 0 {
		out.Content.OfString = sdk.String(text)
	}
	if len(reasoning) > 0 {
		out.SetExtraFields(reasoning)
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: out}
}

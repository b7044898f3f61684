package anthropic

import (
	"encoding/json"
	"fmt"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"weir/agentcore"
	"weir/engine/provider/internal/history"
)

const (
	// defaultMaxTokens is asked for when the model says nothing; the wire demands a number. Every model takes it.
	defaultMaxTokens = 8192
	// leastBudget is the least that the API accepts for reasoning.
	leastBudget = 1024
	// idMax is the longest id of a tool call.
	idMax = 64
	// emptyResult stands in an error result without text, which the API refuses.
	emptyResult = "(no output)"
)

// params is the request on the wire.
func (p *Provider) params(req *agentcore.Request) (sdk.MessageNewParams, error) {
	out := sdk.MessageNewParams{Model: req.Model.ID, MaxTokens: req.Model.MaxTokens}
	if out.MaxTokens <= 0 {
		out.MaxTokens = defaultMaxTokens
	}
	p.think(&out, req.ThinkingLevel)
	if req.SystemPrompt != "" {
		out.System = []sdk.TextBlockParam{{Text: req.SystemPrompt}}
		if !p.cfg.NoCache {
			out.System[0].CacheControl = sdk.NewCacheControlEphemeralParam()
		}
	}
	for _, t := range req.Tools {
		schema := t.Parameters
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		if !json.Valid(schema) {
			return out, fmt.Errorf("tool %q: its parameters are not valid JSON", t.Name)
		}
		tool := &sdk.ToolParam{Name: t.Name, InputSchema: param.Override[sdk.ToolInputSchemaParam](schema)}
		if t.Description != "" {
			tool.Description = sdk.String(t.Description)
		}
		out.Tools = append(out.Tools, sdk.ToolUnionParam{OfTool: tool})
	}
	out.Messages = messages(history.Prepare(req, func(id string) string { return history.ID(id, idMax) }))
	if !p.cfg.NoCache {
		mark(&out)
	}
	return out, nil
}

// think asks for reasoning at a level. The budgets are the reference's.
func (p *Provider) think(out *sdk.MessageNewParams, level agentcore.ThinkingLevel) {
	if level == "" || level == "off" {
		return
	}
	switch p.cfg.Thinking {
	case ThinkingBudget:
		budget := map[agentcore.ThinkingLevel]int64{"minimal": leastBudget, "low": 2048, "medium": 8192}[level]
		if budget == 0 {
			budget = 16384
		}
		// The answer needs room beside the reasoning: max_tokens counts both.
		budget = min(budget, out.MaxTokens-leastBudget)
		if budget >= leastBudget {
			out.Thinking = sdk.ThinkingConfigParamOfEnabled(budget)
		}
	case ThinkingEffort:
		out.Thinking = sdk.ThinkingConfigParamUnion{OfAdaptive: &sdk.ThinkingConfigAdaptiveParam{
			Display: sdk.ThinkingConfigAdaptiveDisplaySummarized,
		}}
		out.OutputConfig.Effort = sdk.OutputConfigEffort(level)
		if level == "minimal" {
			out.OutputConfig.Effort = sdk.OutputConfigEffortLow
		}
	}
}

// messages makes the turns: neighbours of the same role become one, since results of parallel calls must be together.
func messages(prepared []history.Message) []sdk.MessageParam {
	var out []sdk.MessageParam
	add := func(role sdk.MessageParamRole, blocks ...sdk.ContentBlockParamUnion) {
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Content = append(out[n-1].Content, blocks...)
			return
		}
		out = append(out, sdk.MessageParam{Role: role, Content: blocks})
	}
	for i := range prepared {
		switch m := &prepared[i]; m.Role {
		case agentcore.RoleUser:
			for _, b := range m.Blocks {
				switch b := b.(type) {
				case *agentcore.TextBlock:
					add(sdk.MessageParamRoleUser, sdk.NewTextBlock(b.Text))
				case *agentcore.ImageBlock:
					add(sdk.MessageParamRoleUser, sdk.NewImageBlockBase64(b.MimeType, b.Data))
				}
			}
		case agentcore.RoleToolResult:
			add(sdk.MessageParamRoleUser, sdk.ContentBlockParamUnion{OfToolResult: result(m)})
		case agentcore.RoleAssistant:
			for _, b := range m.Blocks {
				add(sdk.MessageParamRoleAssistant, assistantBlock(b))
			}
		}
	}
	return out
}

func result(m *history.Message) *sdk.ToolResultBlockParam {
	out := &sdk.ToolResultBlockParam{ToolUseID: m.ToolCallID}
	if m.IsError {
		out.IsError = sdk.Bool(true)
	}
	for _, b := range m.Blocks {
		switch b := b.(type) {
		case *agentcore.TextBlock:
			out.Content = append(out.Content, sdk.ToolResultBlockParamContentUnion{OfText: &sdk.TextBlockParam{Text: b.Text}})
		case *agentcore.ImageBlock:
			out.Content = append(out.Content, sdk.ToolResultBlockParamContentUnion{
				OfImage: sdk.NewImageBlockBase64(b.MimeType, b.Data).OfImage,
			})
		}
	}
	if len(out.Content) == 0 {
		out.Content = []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: emptyResult}}}
	}
	return out
}

func assistantBlock(b agentcore.Block) sdk.ContentBlockParamUnion {
	switch b := b.(type) {
	case *agentcore.ThinkingBlock:
		if b.Redacted {
			return sdk.NewRedactedThinkingBlock(b.ThinkingSignature)
		}
		return sdk.NewThinkingBlock(b.ThinkingSignature, b.Thinking)
	case *agentcore.ToolCall:
		return sdk.NewToolUseBlock(b.ID, json.RawMessage(history.Arguments(b)), b.Name)
	default:
		return sdk.NewTextBlock(b.(*agentcore.TextBlock).Text) // history gives an assistant nothing else
	}
}

// mark sets the breakpoints of the prompt cache: after the tools and after the last two turns that the model did not
// write, so that the next request finds the one that this request wrote. With the system prompt's these are four, which
// is as many as the API allows.
func mark(out *sdk.MessageNewParams) {
	if n := len(out.Tools); n > 0 {
		out.Tools[n-1].OfTool.CacheControl = sdk.NewCacheControlEphemeralParam()
	}
	left := 2
	for i := len(out.Messages) - 1; i >= 0 && left > 0; i-- {
		if out.Messages[i].Role != sdk.MessageParamRoleUser {
			continue
		}
		content := out.Messages[i].Content
		if c := content[len(content)-1].GetCacheControl(); c != nil {
			*c = sdk.NewCacheControlEphemeralParam()
			left--
		}
	}
}

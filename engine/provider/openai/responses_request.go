package openai

import (
	"encoding/json"
	"strings"

	"github.com/openai/openai-go/v3/packages/param"
	sdk "github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"weir/agentcore"
	"weir/engine/provider/internal/history"
)

// responsesIDMax is the longest id in the Responses API.
const responsesIDMax = 64

func (p *Responses) params(req *agentcore.Request) (sdk.ResponseNewParams, error) {
	out := sdk.ResponseNewParams{Model: req.Model.ID, Store: param.NewOpt(false)}
	if req.Model.MaxTokens > 0 {
		out.MaxOutputTokens = param.NewOpt(req.Model.MaxTokens)
	}
	if p.cfg.Effort {
		// Also when the level is off: a model may reason all the same, and must get its reasoning back.
		out.Include = []sdk.ResponseIncludable{sdk.ResponseIncludableReasoningEncryptedContent}
		if effort := p.effort(req.ThinkingLevel); effort != "" {
			out.Reasoning = shared.ReasoningParam{Effort: effort, Summary: shared.ReasoningSummaryAuto}
		}
	}
	if req.SystemPrompt != "" {
		out.Instructions = param.NewOpt(req.SystemPrompt)
	}
	for _, t := range req.Tools {
		raw, err := function(t, true)
		if err != nil {
			return out, err
		}
		tool := param.Override[sdk.FunctionToolParam](raw)
		out.Tools = append(out.Tools, sdk.ToolUnionParam{OfFunction: &tool})
	}
	out.Input.OfInputItemList = items(history.Prepare(req, func(id string) string { return history.ID(callPart(id), responsesIDMax) }))
	return out, nil
}

func items(prepared []history.Message) sdk.ResponseInputParam {
	var out sdk.ResponseInputParam
	for i := range prepared {
		m := &prepared[i]
		switch m.Role {
		case agentcore.RoleUser:
			out = append(out, sdk.ResponseInputItemParamOfMessage(inputContent(m.Blocks), sdk.EasyInputMessageRoleUser))
		case agentcore.RoleAssistant:
			for _, b := range m.Blocks {
				out = append(out, assistantItem(m, b)...)
			}
		case agentcore.RoleToolResult:
			out = append(out, outputOf(m))
		}
	}
	return out
}

func inputContent(blocks []agentcore.Block) sdk.ResponseInputMessageContentListParam {
	var out sdk.ResponseInputMessageContentListParam
	for _, b := range blocks {
		switch b := b.(type) {
		case *agentcore.TextBlock:
			out = append(out, sdk.ResponseInputContentUnionParam{OfInputText: &sdk.ResponseInputTextParam{Text: b.Text}})
		case *agentcore.ImageBlock:
			out = append(out, sdk.ResponseInputContentUnionParam{OfInputImage: &sdk.ResponseInputImageParam{
				ImageURL: param.NewOpt(dataURL(b)), Detail: sdk.ResponseInputImageDetailAuto,
			}})
		}
	}
	return out
}

// assistantItem is what the model said, with the ids that its reasoning goes by if it was this model.
func assistantItem(m *history.Message, b agentcore.Block) sdk.ResponseInputParam {
	switch b := b.(type) {
	case *agentcore.ThinkingBlock:
		if !json.Valid([]byte(b.ThinkingSignature)) || !strings.HasPrefix(b.ThinkingSignature, "{") {
			return nil
		}
		item := param.Override[sdk.ResponseReasoningItemParam](json.RawMessage(b.ThinkingSignature))
		return sdk.ResponseInputParam{{OfReasoning: &item}}
	case *agentcore.ToolCall:
		call := &sdk.ResponseFunctionToolCallParam{CallID: b.ID, Name: b.Name, Arguments: string(history.Arguments(b))}
		// An item's id is good only with the call's own id, and for the model that gave it.
		if id, item, ok := strings.Cut(m.Original[b.ID], "|"); ok && m.Native && id == b.ID && item != "" {
			call.ID = param.NewOpt(history.ID(item, responsesIDMax))
		}
		return sdk.ResponseInputParam{{OfFunctionCall: call}}
	default:
		text := b.(*agentcore.TextBlock) // history gives an assistant nothing else
		signature := readSignature(text.TextSignature)
		if signature.ID == "" {
			return sdk.ResponseInputParam{sdk.ResponseInputItemParamOfMessage(text.Text, sdk.EasyInputMessageRoleAssistant)}
		}
		return sdk.ResponseInputParam{{OfOutputMessage: &sdk.ResponseOutputMessageParam{
			ID: signature.ID, Status: sdk.ResponseOutputMessageStatusCompleted, Phase: sdk.ResponseOutputMessagePhase(signature.Phase),
			Content: []sdk.ResponseOutputMessageContentUnionParam{{OfOutputText: &sdk.ResponseOutputTextParam{
				Text: text.Text, Annotations: []sdk.ResponseOutputTextAnnotationUnionParam{},
			}}},
		}}}
	}
}

// readSignature reads the two forms that session files have: the object, and in old ones the id alone.
func readSignature(text string) textSignature {
	var s textSignature
	switch {
	case strings.HasPrefix(text, "{"):
		if json.Unmarshal([]byte(text), &s) != nil {
			return textSignature{}
		}
	case strings.HasPrefix(text, "msg_"):
		s.ID = text
	}
	if len(s.ID) > responsesIDMax {
		s.ID = ""
	}
	return s
}

func outputOf(m *history.Message) sdk.ResponseInputItemUnionParam {
	out := &sdk.ResponseInputItemFunctionCallOutputParam{CallID: param.NewOpt(m.ToolCallID)}
	if len(history.Images(m.Blocks)) == 0 {
		text := history.Text(m.Blocks)
		if text == "" {
			text = emptyResult
		}
		out.Output.OfString = param.NewOpt(text)
		return sdk.ResponseInputItemUnionParam{OfFunctionCallOutput: out}
	}
	for _, b := range m.Blocks {
		var part sdk.ResponseFunctionCallOutputItemUnionParam
		switch b := b.(type) {
		case *agentcore.TextBlock:
			part.OfInputText = &sdk.ResponseInputTextContentParam{Text: b.Text}
		case *agentcore.ImageBlock:
			part.OfInputImage = &sdk.ResponseInputImageContentParam{ImageURL: param.NewOpt(dataURL(b))}
		}
		out.Output.OfResponseFunctionCallOutputItemArray = append(out.Output.OfResponseFunctionCallOutputItemArray, part)
	}
	return sdk.ResponseInputItemUnionParam{OfFunctionCallOutput: out}
}

package sessiontest

import (
	"context"
	"strings"

	"weir/agentcore"
	"weir/agentcore/agentcoretest"
	"weir/engine"
	"weir/engine/session"
	"weir/engine/wire"
)

// recordRequest records what the provider is given. A request for a summary is recorded by what it is about: the wording is
// ours.
func (w *World) recordRequest(n int, _ context.Context, req *agentcore.Request) {
	record := w.Kit.RequestRecord(n, req)
	text := ""
	if len(req.Messages) > 0 {
		if u := req.Messages[0].User(); u != nil && len(u.Content.Blocks) > 0 {
			if block, ok := u.Content.Blocks[0].(*agentcore.TextBlock); ok {
				text = block.Text
			}
		}
	}
	conversation, rest, ok := strings.Cut(strings.TrimPrefix(text, "<conversation>\n"), "\n</conversation>")
	if req.MaxTokens > 0 && strings.HasPrefix(text, "<conversation>\n") && ok {
		delete(record, "systemPrompt")
		delete(record, "messages")
		delete(record, "tools")
		record["kind"], record["conversation"], record["maxTokens"] = "summarization", w.Kit.Norm.Text(conversation), float64(req.MaxTokens)
		if _, previous, ok := strings.Cut(rest, "<previous-summary>\n"); ok {
			previous, _, _ = strings.Cut(previous, "\n</previous-summary>")
			record["previousSummary"] = w.Kit.Norm.Text(previous)
		}
		if _, focus, ok := strings.Cut(rest, "\n\nAdditional focus: "); ok {
			record["focus"] = focus
		}
	}
	w.Kit.Trace("provider", record)
}

// provider is the scripted model; with a wire, requests pass the hooks for headers, payload and response first.
func (w *World) provider(x *engine.Engine) agentcore.Provider {
	if w.in.Wire == nil {
		return w.model
	}
	hooks := session.ProviderHooks(x)
	return agentcore.ProviderFunc(func(ctx context.Context, req *agentcore.Request, emit func(agentcore.AssistantEvent) error) (*agentcore.AssistantMessage, error) {
		var headers []wire.HeaderEdit
		for _, name := range agentcoretest.SortedKeys(asObject(w.in.Wire.RequestHeaders)) {
			value := w.in.Wire.RequestHeaders[name]
			headers = append(headers, wire.HeaderEdit{Name: name, Value: &value})
		}
		headers, err := hooks.Headers(ctx, headers)
		if err != nil {
			return nil, err
		}
		var last any
		if n := len(req.Messages); n > 0 {
			m, _ := agentcoretest.MessageValues(req.Messages[n-1:])[0].(Object)
			if blocks, ok := m["content"].([]any); ok && len(blocks) > 0 {
				block, _ := blocks[0].(Object)
				last = block["text"]
			}
		}
		given := agentcoretest.Encode(Object{"model": req.Model.ID, "messageCount": len(req.Messages), "lastText": last})
		payload, err := hooks.Payload(ctx, given)
		if err != nil {
			return nil, err
		}
		if string(payload) == "null" {
			payload = given // the recorder's provider takes null for no answer
		}
		sent := Object{}
		for _, h := range headers {
			if h.Value == nil {
				sent[h.Name] = nil
			} else {
				sent[h.Name] = *h.Value
			}
		}
		var shown any
		if len(sent) > 0 || x.Handles(wire.EventBeforeProviderHeaders) {
			shown = sent
		}
		w.Kit.Trace("provider", Object{"wire": w.Kit.Norm.Value(Object{"payload": agentcoretest.Decode(payload), "headers": shown})})
		status := w.in.Wire.Status
		if status == 0 {
			status = 200
		}
		answered := w.in.Wire.Headers
		if answered == nil {
			answered = map[string]string{}
		}
		hooks.Response(ctx, status, answered)
		return w.model.Stream(ctx, req, emit)
	})
}

func asObject(m map[string]string) Object {
	out := Object{}
	for key, v := range m {
		out[key] = v
	}
	return out
}

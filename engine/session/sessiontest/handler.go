package sessiontest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"weir/agentcore"
	"weir/agentcore/agentcoretest"
	"weir/engine"
	"weir/engine/wire"
)

// handler is one declared handler as an extension in Go: it records the event, performs the first rule that matches, and
// turns what the actions return or change in place into a result.
type handler struct {
	world *World
	name  string // of the extension, with the number of the handler
	label string // the observer
	def   *HandlerDef
	event wire.Event
	rules *agentcoretest.Rules
}

func (w *World) newHandler(x *ExtensionDef, def *HandlerDef) (*handler, error) {
	event, ok := wire.ParseEvent(def.Event)
	if !ok {
		return nil, fmt.Errorf("extension %s: unknown event %q", x.Name, def.Event)
	}
	rules := def.Rules
	if rules == nil {
		rules = []agentcoretest.Rule{{Match: def.Match, Do: def.Do}}
	}
	h := &handler{world: w, name: fmt.Sprintf("%s#%s", x.Name, def.Event), label: "ext:" + x.Name, def: def, event: event, rules: agentcoretest.NewRules(rules)}
	if def.Label != "" {
		h.label += "/" + def.Label
	}
	return h, nil
}

// Name implements [engine.Extension].
func (h *handler) Name() string { return h.name }

// Hook implements [engine.Extension].
func (h *handler) Hook(event wire.Event) *wire.Hook {
	if event != h.event {
		return nil
	}
	return &wire.Hook{Event: event, View: wire.ViewFull}
}

// Close implements [engine.Extension].
func (h *handler) Close(context.Context) error { return nil }

// Handle implements [engine.Extension].
func (h *handler) Handle(_ context.Context, ev *engine.Event) (any, engine.Usage, error) {
	event, err := eventObject(ev)
	if err != nil {
		return nil, engine.Usage{}, err
	}
	before := agentcoretest.Clone(event).(Object)
	var extra Object
	if h.def.State {
		extra = Object{"state": h.world.state()}
	}
	h.world.Kit.RecordEvent(&agentcoretest.ListenerDef{Name: h.label, Record: h.def.Record}, scrubbed(event), extra)
	rule := h.rules.Pick(event, ev.Kind.String())
	if rule == nil {
		return nil, engine.Usage{}, nil
	}
	scope := &agentcoretest.Scope{
		Kit: h.world.Kit, Who: h.label, Event: event, Values: map[string]any{"control": h.world.session().Control()},
	}
	if prompt, ok := event["systemPrompt"].(string); ok {
		scope.Values["systemPrompt"] = prompt
	}
	done, err := scope.Run(rule.Do)
	if err != nil {
		var thrown *agentcoretest.Thrown
		if errors.As(err, &thrown) && !thrown.IsError {
			panic(thrown.Message) // what JavaScript throws that is no Error is a panic in Go
		}
		if ev.Kind == wire.EventBeforeProviderHeaders {
			return headerEdits(before, event), engine.Usage{}, err // what was set before stays
		}
		return nil, engine.Usage{}, err
	}
	result, err := h.result(ev, scope, before, event, done)
	return result, engine.Usage{}, err
}

// eventObject is an event as plain JSON values, the way the reference's handlers get it.
func eventObject(ev *engine.Event) (Object, error) {
	out := Object{}
	switch p := ev.Payload.(type) {
	case *wire.ToolCallEvent:
		out = Object{"toolName": p.ToolName, "toolCallId": p.ToolCallID, "input": agentcoretest.Decode(p.Input)}
	case *wire.ToolResultEvent:
		out = Object{"toolName": p.ToolName, "toolCallId": p.ToolCallID, "input": agentcoretest.Decode(p.Input), "isError": p.IsError}
		if p.Content != nil {
			content := make([]any, len(p.Content))
			for i, b := range p.Content {
				encoded, err := agentcore.MarshalBlock(b)
				if err != nil {
					return nil, err
				}
				content[i] = agentcoretest.Decode(encoded)
			}
			out["content"] = content
		}
		if p.Details != nil {
			out["details"] = agentcoretest.Decode(p.Details)
		}
		if p.Usage != nil {
			out["usage"] = agentcoretest.Value(p.Usage)
		}
	case *engine.ContextEvent:
		out["messages"] = agentcoretest.MessageValues(p.Messages)
	case agentcore.Event:
		out = agentcoretest.EventObject(p)
		switch p.(type) {
		case *agentcore.TurnStart:
			out["turnIndex"], out["timestamp"] = float64(ev.At.TurnIndex), float64(ev.Time)
		case *agentcore.TurnEnd:
			out["turnIndex"] = float64(ev.At.TurnIndex)
		}
	case json.RawMessage:
		out = agentcoretest.Decode(p).(Object)
	default:
		return nil, fmt.Errorf("%s has a payload of type %T", ev.Kind, p)
	}
	out["type"] = ev.Kind.String()
	return out, nil
}

// scrubbed is an event as it is recorded: models by their ids.
func scrubbed(event Object) Object {
	if event["type"] != "model_select" {
		return event
	}
	out := Object{}
	for key, v := range event {
		if m, ok := v.(Object); ok {
			v = m["id"]
		}
		out[key] = v
	}
	return out
}

// result is what a handler answers, as the engine's type for the event.
func (h *handler) result(ev *engine.Event, scope *agentcoretest.Scope, before, event Object, done agentcoretest.Result) (any, error) {
	fields, _ := done.Value.(Object)
	// changed says whether a field was changed in place; assigning a new value to it is no change of the old one.
	changed := func(key string) bool { return !scope.Assigned[key] && !agentcoretest.Same(before[key], event[key]) }
	switch ev.Kind {
	case wire.EventToolCall:
		r := &wire.ToolCallResult{Block: agentcoretest.Truthy(fields["block"]), Terminate: fields["terminate"] == true}
		r.Reason, _ = fields["reason"].(string)
		if changed("input") {
			r.Input = agentcoretest.Encode(event["input"])
		}
		return r, nil
	case wire.EventToolResult:
		return toolResult(fields, event, changed)
	case wire.EventContext:
		messages, ok := fields["messages"].([]any)
		if !ok && changed("messages") {
			messages, ok = event["messages"].([]any)
		}
		if !ok {
			return nil, nil
		}
		return contextResult(messages)
	case wire.EventMessageEnd:
		message, ok := fields["message"].(Object)
		if !ok && changed("message") {
			message, ok = event["message"].(Object)
		}
		if !ok {
			return nil, nil
		}
		if message["content"] == nil {
			message["content"] = []any{}
		}
		return decodeMessage(message)
	case wire.EventBeforeProviderRequest:
		payload := agentcoretest.Encode(event["payload"])
		if done.Returned {
			if _, undefined := done.Value.(agentcoretest.Undefined); !undefined {
				payload = agentcoretest.Encode(done.Value)
			}
		}
		return &payload, nil
	case wire.EventBeforeProviderHeaders:
		return headerEdits(before, event), nil
	}
	if fields == nil {
		return nil, nil
	}
	return h.decision(ev.Kind, fields)
}

// decodeMessage keeps a message as it is written.
func decodeMessage(message Object) (any, error) {
	m, err := agentcore.DecodeMessage(agentcoretest.Encode(message))
	if err != nil {
		return nil, err
	}
	return m, nil
}

func toolResult(fields, event Object, changed func(string) bool) (any, error) {
	r := &wire.ToolResultResult{}
	for _, key := range []string{"content", "details", "isError", "usage"} {
		v, ok := fields[key]
		if !ok && changed(key) {
			v, ok = event[key]
		}
		if !ok || v == nil && key != "details" {
			continue
		}
		var err error
		switch key {
		case "content":
			r.Content, err = agentcore.DecodeBlocks(agentcoretest.Encode(v))
		case "details":
			r.Details = agentcoretest.Encode(v)
		case "isError":
			isError := agentcoretest.Truthy(v)
			r.IsError = &isError
		case "usage":
			err = json.Unmarshal(agentcoretest.Encode(v), &r.Usage)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
	}
	return r, nil
}

func contextResult(messages []any) (any, error) {
	return wire.ParseContext(agentcoretest.Encode(Object{"messages": messages}))
}

// headerEdits are the differences between the headers as they were and as they are.
func headerEdits(before, event Object) *[]wire.HeaderEdit {
	was, _ := before["headers"].(Object)
	is, _ := event["headers"].(Object)
	edits := []wire.HeaderEdit{}
	for _, name := range agentcoretest.SortedKeys(is) {
		if old, ok := was[name]; ok && agentcoretest.Same(old, is[name]) {
			continue
		}
		edit := wire.HeaderEdit{Name: name}
		if v, ok := is[name].(string); ok {
			edit.Value = &v
		}
		edits = append(edits, edit)
	}
	return &edits
}

// decision is the answer to an event that is asked about.
func (h *handler) decision(kind wire.Event, fields Object) (any, error) {
	text := func(key string) string { s, _ := fields[key].(string); return s }
	optional := func(key string) *string {
		s, ok := fields[key].(string)
		if !ok {
			return nil
		}
		return &s
	}
	switch kind {
	case wire.EventInput:
		r := &wire.InputResult{Text: text("text")}
		switch text("action") {
		case "handled":
			r.Action = wire.InputHandled
		case "transform":
			r.Action = wire.InputTransform
			if images, ok := fields["images"]; ok {
				var err error
				if r.Images, err = imageBlocks(images); err != nil {
					return nil, err
				}
			}
		}
		return r, nil
	case wire.EventBeforeAgentStart:
		r := &wire.BeforeAgentStartResult{SystemPrompt: optional("systemPrompt")}
		if m, ok := fields["message"].(Object); ok {
			r.Message = &wire.CustomMessage{ContentJSON: raw(m, "content"), Display: agentcoretest.Truthy(m["display"]), Details: raw(m, "details")}
			r.Message.CustomType, _ = m["customType"].(string)
		}
		return r, nil
	case wire.EventUserBash:
		return h.bashDecision(fields)
	case wire.EventProjectTrust:
		r := &wire.ProjectTrustResult{Remember: agentcoretest.Truthy(fields["remember"])}
		switch text("trusted") {
		case "yes":
			r.Trusted = wire.TrustYes
		case "no":
			r.Trusted = wire.TrustNo
		}
		return r, nil
	case wire.EventResourcesDiscover:
		r := &wire.ResourcesDiscoverResult{}
		return r, json.Unmarshal(agentcoretest.Encode(fields), r)
	case wire.EventSessionBeforeSwitch, wire.EventSessionBeforeFork, wire.EventSessionBeforeCompact, wire.EventSessionBeforeTree:
		return beforeDecision(fields, optional)
	}
	return nil, nil
}

func beforeDecision(fields Object, optional func(string) *string) (any, error) {
	r := &wire.SessionBeforeResult{
		Cancel: agentcoretest.Truthy(fields["cancel"]), SkipConversationRestore: agentcoretest.Truthy(fields["skipConversationRestore"]),
		CustomInstructions: optional("customInstructions"), Label: optional("label"),
	}
	if replace, ok := fields["replaceInstructions"].(bool); ok {
		r.ReplaceInstructions = &replace
	}
	if c, ok := fields["compaction"].(Object); ok {
		r.Compaction = &wire.Compaction{Details: raw(c, "details")}
		r.Compaction.Summary, _ = c["summary"].(string)
		r.Compaction.FirstKeptEntryID, _ = c["firstKeptEntryId"].(string)
		tokens, _ := c["tokensBefore"].(float64)
		r.Compaction.TokensBefore = int64(tokens)
	}
	if s, ok := fields["summary"].(Object); ok {
		r.Summary = &wire.BranchSummary{Details: raw(s, "details")}
		r.Summary.Summary, _ = s["summary"].(string)
		if usage := raw(s, "usage"); usage != nil {
			if err := json.Unmarshal(usage, &r.Summary.Usage); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

func (h *handler) bashDecision(fields Object) (any, error) {
	r := &wire.UserBashResult{}
	if given, ok := fields["result"].(Object); ok {
		r.Result = &wire.BashResult{Cancelled: agentcoretest.Truthy(given["cancelled"]), Truncated: agentcoretest.Truthy(given["truncated"])}
		r.Result.Output, _ = given["output"].(string)
		if code, ok := given["exitCode"].(float64); ok {
			n := int(code)
			r.Result.ExitCode = &n
		}
	}
	if ops, ok := fields["operations"].(Object); ok {
		r.Operations = &bash{h.world, agentcoretest.ToActions(ops["exec"])}
	}
	return r, nil
}

func imageBlocks(v any) ([]*agentcore.ImageBlock, error) {
	blocks, err := agentcore.DecodeBlocks(agentcoretest.Encode(v))
	if err != nil {
		return nil, err
	}
	images := make([]*agentcore.ImageBlock, 0, len(blocks))
	for _, b := range blocks {
		if image, ok := b.(*agentcore.ImageBlock); ok {
			images = append(images, image)
		}
	}
	return images, nil
}

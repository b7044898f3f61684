package agentcoretest

import (
	"context"
	"encoding/json"
	"fmt"

	"weir/agentcore"
)

// hooks makes the hooks that the input declares.
func (c *core) hooks(declared map[string]any) (agentcore.Hooks, error) {
	var h agentcore.Hooks
	rules := func(name string) (*Rules, error) {
		var list []Rule
		if name == "getApiKey" { // a map of keys, no rules
			return nil, nil
		}
		if err := json.Unmarshal(encode(declared[name]), &list); err != nil {
			return nil, fmt.Errorf("hook %s: %w", name, err)
		}
		return NewRules(list), nil
	}
	for _, name := range sortedKeys(declared) {
		r, err := rules(name)
		if err != nil {
			return h, err
		}
		switch name {
		case "beforeToolCall":
			h.BeforeToolCall = c.before(r)
		case "afterToolCall":
			h.AfterToolCall = c.after(r)
		case "transformContext":
			h.TransformContext = c.transform(name, r)
		case "convertToLlm":
			h.ConvertToLLM = c.transform(name, r)
		case "shouldStopAfterTurn":
			h.ShouldStopAfterTurn = c.shouldStop(r)
		case "prepareNextTurn":
			if _, both := declared["prepareNextTurnWithContext"]; !both {
				h.PrepareNextTurn = c.prepareNext(name, r, false)
			}
		case "prepareNextTurnWithContext":
			h.PrepareNextTurn = c.prepareNext(name, r, true)
		case "getApiKey":
			keys, _ := declared[name].(Object)
			h.APIKey = func(_ context.Context, provider string) (string, error) {
				key, _ := keys[provider].(string)
				return key, nil
			}
		default:
			return h, fmt.Errorf("unknown hook %q", name)
		}
	}
	return h, nil
}

// run records what the hook was given, in the form view, and performs the first rule that matches event.
func (c *core) run(ctx context.Context, name string, rules *Rules, event, view Object) (Result, error) {
	c.kit.Trace("hook:"+name, Object{"event": c.kit.Norm.Value(view)})
	rule := rules.Pick(event, name)
	if rule == nil {
		return Result{}, nil
	}
	return (&Scope{Kit: c.kit, Who: "hook:" + name, Event: event, Context: ctx}).Run(rule.Do)
}

func contextObject(c *agentcore.Context) Object {
	names := make([]any, len(c.Tools))
	for i, tool := range c.Tools {
		names[i] = tool.Name
	}
	return Object{"systemPrompt": c.SystemPrompt, "messages": MessageValues(c.Messages), "tools": names}
}

func callObject(call *agentcore.ToolCallContext) Object {
	raw, err := agentcore.MarshalBlock(call.ToolCall)
	if err != nil {
		panic(err) // the thing under test holds a call that is not JSON
	}
	return Object{
		"assistantMessage": MessageValues([]*agentcore.Message{call.AssistantMessage})[0], "toolCall": decode(raw),
		"args": decode(call.Args), "context": contextObject(&call.Context),
	}
}

func (c *core) before(rules *Rules) func(context.Context, *agentcore.ToolCallContext) (*agentcore.BeforeToolCallResult, error) {
	return func(ctx context.Context, call *agentcore.ToolCallContext) (*agentcore.BeforeToolCallResult, error) {
		event := callObject(call)
		args := event["args"]
		result, err := c.run(ctx, "beforeToolCall", rules, event, Object{
			"toolCallId": call.ToolCall.ID, "toolName": call.ToolCall.Name, "rawArgs": event["toolCall"].(Object)["arguments"],
			"args": clone(args), "contextMessages": float64(len(call.Context.Messages)),
		})
		if err != nil {
			return nil, err
		}
		decision := &agentcore.BeforeToolCallResult{}
		if fields, ok := result.Value.(Object); ok {
			decision.Block = truthy(fields["block"])
			decision.Reason, _ = fields["reason"].(string)
			decision.Terminate = fields["terminate"] == true
		}
		// The reference lets a hook change the arguments in place.
		if !same(args, decode(call.Args)) {
			decision.Args = encode(args)
		}
		return decision, nil
	}
}

func (c *core) after(rules *Rules) func(context.Context, *agentcore.ToolResultContext) (*agentcore.AfterToolCallResult, error) {
	return func(ctx context.Context, call *agentcore.ToolResultContext) (*agentcore.AfterToolCallResult, error) {
		event := callObject(&call.ToolCallContext)
		original := Value(call.Result)
		event["result"], event["isError"] = clone(original), call.IsError
		held := event["result"]
		result, err := c.run(ctx, "afterToolCall", rules, event, Object{
			"toolCallId": call.ToolCall.ID, "toolName": call.ToolCall.Name, "args": event["args"], "result": original,
			"isError": call.IsError,
		})
		if err != nil {
			return nil, err
		}
		fields := Object{}
		if !same(held, original) {
			for key, v := range held.(Object) { // changed in place
				fields[key] = v
			}
		}
		if given, ok := result.Value.(Object); ok {
			for key, v := range given {
				if v != nil {
					fields[key] = v
				}
			}
		}
		return resultPatch(fields)
	}
}

func resultPatch(fields Object) (*agentcore.AfterToolCallResult, error) {
	patch := &agentcore.AfterToolCallResult{}
	for name, v := range fields {
		if v == nil {
			continue
		}
		var err error
		switch name {
		case "content":
			patch.Content, err = agentcore.DecodeBlocks(encode(v))
		case "details":
			patch.Details = encode(v)
		case "isError":
			isError := truthy(v)
			patch.IsError = &isError
		case "usage":
			err = json.Unmarshal(encode(v), &patch.Usage)
		case "terminate":
			terminate := v == true
			patch.Terminate = &terminate
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return patch, nil
}

func (c *core) transform(name string, rules *Rules) func(context.Context, []*agentcore.Message) ([]*agentcore.Message, error) {
	return func(ctx context.Context, messages []*agentcore.Message) ([]*agentcore.Message, error) {
		values := MessageValues(messages)
		result, err := c.run(ctx, name, rules, Object{"messages": values}, Object{"messages": pluck(values, "role")})
		if err != nil || !result.Returned {
			return messages, err
		}
		list, ok := result.Value.([]any)
		if !ok {
			return nil, fmt.Errorf("%s must return messages", name)
		}
		out := make([]*agentcore.Message, len(list))
		for i, v := range list {
			if out[i], err = agentcore.DecodeMessage(encode(v)); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
}

// turnObjects are what the hooks after a turn see and what is recorded of it.
func turnObjects(turn *agentcore.TurnContext) (event, view Object) {
	message := MessageValues([]*agentcore.Message{turn.Message})[0]
	results := MessageValues(turn.ToolResults)
	event = Object{
		"message": message, "toolResults": results, "context": contextObject(&turn.Context),
		"newMessages": MessageValues(turn.NewMessages),
	}
	view = Object{
		"message": roleAndStop(message.(Object)), "toolResults": pluck(results, "toolCallId"),
		"contextMessages": pluck(MessageValues(turn.Context.Messages), "role"),
	}
	return event, view
}

func (c *core) shouldStop(rules *Rules) func(context.Context, *agentcore.TurnContext) (bool, error) {
	return func(ctx context.Context, turn *agentcore.TurnContext) (bool, error) {
		event, view := turnObjects(turn)
		view["newMessages"] = pluck(event["newMessages"].([]any), "role")
		result, err := c.run(ctx, "shouldStopAfterTurn", rules, event, view)
		return result.Returned && truthy(result.Value), err
	}
}

func (c *core) prepareNext(name string, rules *Rules, withContext bool) func(context.Context, *agentcore.TurnContext) (*agentcore.TurnUpdate, error) {
	return func(ctx context.Context, turn *agentcore.TurnContext) (*agentcore.TurnUpdate, error) {
		event, view := Object{}, Object{}
		current := agentcore.Context{}
		if withContext {
			event, view = turnObjects(turn)
			current = turn.Context
		}
		result, err := c.run(ctx, name, rules, event, view)
		if err != nil || !truthy(result.Value) {
			return nil, err
		}
		fields, ok := result.Value.(Object)
		if !ok {
			return nil, fmt.Errorf("%s must return an object", name)
		}
		return c.turnUpdate(fields, current)
	}
}

func (c *core) turnUpdate(fields Object, current agentcore.Context) (*agentcore.TurnUpdate, error) {
	update := &agentcore.TurnUpdate{}
	if id, ok := fields["model"].(string); ok {
		model := c.models[id]
		update.Model = &model
	}
	if level, ok := fields["thinkingLevel"].(string); ok {
		thinking := agentcore.ThinkingLevel(level)
		update.ThinkingLevel = &thinking
	}
	context, ok := fields["context"].(Object)
	if !ok {
		return update, nil
	}
	var err error
	if prompt, ok := context["systemPrompt"].(string); ok {
		current.SystemPrompt = prompt
	}
	if messages, ok := context["messages"].([]any); ok {
		if current.Messages, err = c.messages(messages); err != nil {
			return nil, err
		}
	}
	if tools, ok := context["tools"]; ok {
		if current.Tools, err = c.named(tools); err != nil {
			return nil, err
		}
	}
	update.Context = &current
	return update, nil
}

package agentcoretest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"weir/agentcore"
)

// Core is the layer of scenarios that drive an [agentcore.Agent].
func Core(k *Kit) (World, error) {
	c := &core{kit: k, models: map[string]agentcore.Model{}, tools: map[string]*agentcore.Tool{}, subscribed: map[string]func(){}}
	if err := c.build(); err != nil {
		return World{}, err
	}
	return World{
		Actions:     c.actions(),
		Subscribe:   c.subscribe,
		Unsubscribe: c.unsubscribe,
		State:       c.state,
		Signal:      c.agent.Context,
		Final:       func() any { return c.state(true) },
	}, nil
}

type core struct {
	kit    *Kit
	agent  *agentcore.Agent
	models map[string]agentcore.Model
	tools  map[string]*agentcore.Tool

	mu         sync.Mutex
	observers  map[string]agentcore.Listener
	subscribed map[string]func()
}

// DefaultModel is what scenarios give only the differences to.
func DefaultModel() Object {
	return Object{
		"id": "m1", "name": "M1", "api": "fake-api", "provider": "fake", "baseUrl": "http://localhost:0", "reasoning": true,
		"input": []any{"text", "image"}, "contextWindow": 100000.0, "maxTokens": 8000.0,
	}
}

// AllModels are the models of the input, the default one first, as objects and as values.
func (in *Input) AllModels() ([]Object, []agentcore.Model, error) {
	var objects []Object
	var models []agentcore.Model
	for _, given := range append([]Object{in.Model}, in.Models...) {
		object := DefaultModel()
		for key, v := range given {
			object[key] = v
		}
		var model agentcore.Model
		if err := json.Unmarshal(encode(object), &model); err != nil {
			return nil, nil, fmt.Errorf("model: %w", err)
		}
		objects, models = append(objects, object), append(models, model)
	}
	return objects, models, nil
}

func (c *core) build() error {
	k, in := c.kit, c.kit.Input
	objects, models, err := in.AllModels()
	if err != nil {
		return err
	}
	k.Norm.DefaultModel = objects[0]
	for _, model := range models {
		c.models[model.ID] = model
	}
	cfg := agentcore.Config{
		Provider: k.NewModel(in.Provider), Model: models[0], ThinkingLevel: agentcore.ThinkingLevel(in.ThinkingLevel),
		ToolExecution: agentcore.ExecutionMode(in.ToolExecution), SteeringMode: agentcore.QueueMode(in.SteeringMode),
		FollowUpMode: agentcore.QueueMode(in.FollowUpMode), UpdateGrace: UpdateGrace, Now: k.Now,
		Logger: slog.New(slog.DiscardHandler),
	}
	if in.SystemPrompt != nil {
		cfg.SystemPrompt = *in.SystemPrompt
	}
	for _, def := range in.Tools {
		tool := k.NewTool(def, nil)
		if before := c.tools[def.Name]; before != nil { // the later definition takes the place of the earlier
			cfg.Tools[slices.Index(cfg.Tools, before)] = tool
		} else {
			cfg.Tools = append(cfg.Tools, tool)
		}
		c.tools[def.Name] = tool
	}
	if cfg.Messages, err = c.messages(in.Messages); err != nil {
		return err
	}
	if cfg.Hooks, err = c.hooks(in.Hooks); err != nil {
		return err
	}
	if c.agent, err = agentcore.New(cfg); err != nil {
		return err
	}
	c.observers = make(map[string]agentcore.Listener, len(in.Listeners))
	for _, l := range in.Listeners {
		c.observers[l.Name] = k.Observer(l, c.snapshot)
	}
	if len(in.Listeners) == 0 {
		c.agent.Subscribe(func(ctx context.Context, _ agentcore.Event) error { k.Hold(ctx); return nil })
	}
	return nil
}

func (c *core) messages(values []any) ([]*agentcore.Message, error) {
	messages := make([]*agentcore.Message, len(values))
	for i, v := range values {
		m, err := agentcore.DecodeMessage(encode(c.kit.Stamped(v)))
		if err != nil {
			return nil, err
		}
		messages[i] = m
	}
	return messages, nil
}

func (c *core) subscribe(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	observer, ok := c.observers[name]
	if !ok {
		return fmt.Errorf("no listener is named %q", name)
	}
	if c.subscribed[name] == nil {
		c.subscribed[name] = c.agent.Subscribe(observer)
	}
	return nil
}

func (c *core) unsubscribe(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if remove := c.subscribed[name]; remove != nil {
		remove()
		delete(c.subscribed, name)
	}
}

func ids(list []string) []any {
	out := make([]any, len(list))
	for i, id := range list {
		out[i] = id
	}
	return out
}

// snapshot is the state as a listener records it.
func (c *core) snapshot(event Object) Object {
	s := c.agent.State()
	out := Object{
		"messages": float64(len(s.Messages)), "streaming": nil, "pending": ids(s.PendingToolCalls), "isStreaming": s.Running,
	}
	if s.StreamingMessage != nil {
		out["streaming"] = string(s.StreamingMessage.Role())
		if message, ok := event["message"]; ok && same(MessageValues([]*agentcore.Message{s.StreamingMessage})[0], message) {
			out["streaming"] = "=event"
		}
	}
	if s.ErrorMessage != "" {
		out["errorMessage"] = s.ErrorMessage
	}
	return out
}

func (c *core) state(full bool) Object {
	s := c.agent.State()
	out := c.snapshot(Object{})
	if !full {
		return out
	}
	out["messages"] = c.kit.Norm.Value(MessageValues(s.Messages))
	out["systemPrompt"] = s.SystemPrompt
	names := make([]any, len(s.Tools))
	for i, tool := range s.Tools {
		names[i] = tool.Name
	}
	out["tools"] = names
	out["queued"] = len(s.Steering)+len(s.FollowUp) > 0
	return out
}

func (c *core) actions() map[string]ActionFunc {
	queue := func(add func(*agentcore.Message)) ActionFunc {
		return func(_ *Scope, a Action) error {
			m, err := c.userMessage(a)
			if err == nil {
				add(m)
			}
			return err
		}
	}
	return map[string]ActionFunc{
		"prompt": c.prompt,
		"continue": func(s *Scope, a Action) error {
			return s.Call("continue", a, func(ctx context.Context) (any, error) { return nil, c.agent.Continue(ctx) })
		},
		"waitForIdle": func(s *Scope, a Action) error {
			return s.Call("waitForIdle", a, func(ctx context.Context) (any, error) { return nil, c.agent.WaitForIdle(ctx) })
		},
		"steer":    queue(func(m *agentcore.Message) { c.agent.Steer(m) }),
		"followUp": queue(func(m *agentcore.Message) { c.agent.FollowUp(m) }),
		"abort":    func(*Scope, Action) error { c.agent.Abort(); return nil },
		"reset": func(s *Scope, _ Action) error {
			s.CallNow("reset", true, func() (any, error) { return Undefined{}, c.agent.Reset() })
			return nil
		},
		"clearSteering": func(*Scope, Action) error { c.agent.ClearSteering(); return nil },
		"clearFollowUp": func(*Scope, Action) error { c.agent.ClearFollowUp(); return nil },
		"clearQueues": func(*Scope, Action) error {
			c.agent.ClearSteering()
			c.agent.ClearFollowUp()
			return nil
		},
		"setQueueMode": func(_ *Scope, a Action) error {
			return c.agent.SetQueueModes(agentcore.QueueMode(a.Text("steering")), agentcore.QueueMode(a.Text("followUp")))
		},
		"setState": c.setState,
	}
}

func (c *core) prompt(s *Scope, a Action) error {
	var messages []*agentcore.Message
	var err error
	if list, ok := a["messages"].([]any); ok {
		messages, err = c.messages(list)
	} else {
		var m *agentcore.Message
		m, err = c.userMessage(a)
		messages = []*agentcore.Message{m}
	}
	if err != nil {
		return err
	}
	return s.Call("prompt", a, func(ctx context.Context) (any, error) { return nil, c.agent.Prompt(ctx, messages...) })
}

// userMessage is the message of an action: given whole, or as text and images.
func (c *core) userMessage(a Action) (*agentcore.Message, error) {
	v, ok := a["message"]
	if !ok {
		content := []any{Object{"type": "text", "text": a.Text("text")}}
		images, _ := a["images"].([]any)
		v = Object{"role": "user", "content": append(content, images...)}
	}
	messages, err := c.messages([]any{v})
	if err != nil {
		return nil, err
	}
	return messages[0], nil
}

func (c *core) setState(_ *Scope, a Action) error {
	fields, _ := a["set"].(Object)
	for _, name := range sortedKeys(fields) {
		v := fields[name]
		var err error
		switch name {
		case "model":
			id, _ := v.(string)
			c.agent.SetModel(c.models[id])
		case "tools":
			var tools []*agentcore.Tool
			if tools, err = c.named(v); err == nil {
				err = c.agent.SetTools(tools)
			}
		case "messages":
			list, _ := v.([]any)
			var messages []*agentcore.Message
			if messages, err = c.messages(list); err == nil {
				c.agent.SetMessages(messages)
			}
		case "systemPrompt":
			c.agent.SetSystemPrompt(text(v))
		case "thinkingLevel":
			c.agent.SetThinkingLevel(agentcore.ThinkingLevel(text(v)))
		default:
			err = fmt.Errorf("state has no field %q that can be set", name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *core) named(v any) ([]*agentcore.Tool, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, errors.New("tools must be a list of names")
	}
	tools := make([]*agentcore.Tool, len(list))
	for i, item := range list {
		name, _ := item.(string)
		if tools[i] = c.tools[name]; tools[i] == nil {
			return nil, fmt.Errorf("no tool is named %q", name)
		}
	}
	return tools, nil
}

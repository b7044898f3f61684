package session

import (
	"context"
	"fmt"

	"weir/agentcore"
	"weir/engine/wire"
)

// Extensions hear of everything before anybody else does, and may decide. *engine.Engine is one. A session without
// extensions has none; nil methods are not called.
type Extensions interface {
	// Hooks are called by the loop: tool_call, tool_result, context, message_end.
	Hooks() agentcore.Hooks
	// Listener hears of the events of a run. It returns when all extensions have; its error ends the run.
	Listener() agentcore.Listener
	// Handles says whether anybody hooks an event.
	Handles(event wire.Event) bool
	// Observe tells of an event and returns when all have heard it.
	Observe(ctx context.Context, p wire.Payload)
	// Ask has the extensions decide together. The answer's type depends on the event: see engine.Engine.Ask. An error
	// forbids what the event is about.
	Ask(ctx context.Context, p wire.Payload) (any, error)
	// Sent tells of a request that goes to the model, once for each.
	Sent(req *agentcore.Request)
	// SetModel tells which model is used from now on.
	SetModel(model agentcore.Model, level agentcore.ThinkingLevel)
}

// ask puts an event to the extensions, if anybody hooks it. A nil answer is no opinion.
func ask[T any](ctx context.Context, x Extensions, p wire.Payload) (*T, error) {
	if x == nil || !x.Handles(p.Kind()) {
		return nil, nil
	}
	answer, err := x.Ask(ctx, p)
	if err != nil {
		return nil, err
	}
	typed, ok := answer.(*T)
	if !ok {
		return nil, fmt.Errorf("session: %s was answered with %T", p.Kind(), answer)
	}
	return typed, nil
}

// told is a provider whose requests the extensions hear of.
func told(p agentcore.Provider, x Extensions) agentcore.Provider {
	if p == nil || x == nil {
		return p
	}
	return agentcore.ProviderFunc(func(ctx context.Context, req *agentcore.Request, emit func(agentcore.AssistantEvent) error) (*agentcore.AssistantMessage, error) {
		if ctx.Err() == nil { // nothing is sent in a cancelled run
			x.Sent(req)
		}
		return p.Stream(ctx, req, emit)
	})
}

func (s *Session) observe(ctx context.Context, p wire.Payload) {
	if s.cfg.Extensions != nil && s.cfg.Extensions.Handles(p.Kind()) {
		s.cfg.Extensions.Observe(ctx, p)
	}
}

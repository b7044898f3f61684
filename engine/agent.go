package engine

import (
	"context"
	"errors"
	"fmt"

	"weir/agentcore"
	"weir/engine/wire"
)

// Hooks plugs the engine into an agent: give it to agentcore.Config and subscribe [Engine.Listener] before anybody else. The
// caller may wrap the functions; a hook that the set has no use for is nil, unless Config.Reloads is set.
func (e *Engine) Hooks() agentcore.Hooks {
	var h agentcore.Hooks
	uses := func(event wire.Event) bool { return e.cfg.Reloads || e.Handles(event) }
	if uses(wire.EventToolCall) || len(e.lineup.Load().witnesses) > 0 {
		h.BeforeToolCall = e.beforeToolCall
	}
	if uses(wire.EventToolResult) {
		h.AfterToolCall = e.afterToolCall
		h.ToolUpdate = func(_ context.Context, call *agentcore.ToolCallContext, partial *agentcore.ToolResult) *agentcore.ToolResult {
			return e.partial(call.ToolCall.Name, partial)
		}
	}
	if uses(wire.EventContext) || e.cfg.Prompt != nil {
		h.TransformContext = e.Context
	}
	if uses(wire.EventMessageEnd) {
		h.MessageEnd = e.messageEnd
	}
	return h
}

func (e *Engine) beforeToolCall(ctx context.Context, call *agentcore.ToolCallContext) (*agentcore.BeforeToolCallResult, error) {
	d := e.ToolCall(ctx, wire.ToolCallEvent{ToolName: call.ToolCall.Name, ToolCallID: call.ToolCall.ID, Input: call.Args}, call.Validate)
	if d.Fault != nil && e.cfg.Trusting {
		return nil, d.Fault // an error without a text stays one
	}
	out := &agentcore.BeforeToolCallResult{Block: d.Block, Reason: d.Reason, Terminate: d.Terminate}
	if len(d.Rewritten) > 0 {
		out.Args = d.Input
	}
	return out, nil
}

func (e *Engine) afterToolCall(ctx context.Context, call *agentcore.ToolResultContext) (*agentcore.AfterToolCallResult, error) {
	before := wire.ToolResultEvent{
		ToolName: call.ToolCall.Name, ToolCallID: call.ToolCall.ID, Input: call.Args, Content: call.Result.Content,
		Details: call.Result.Details, IsError: call.IsError, Usage: call.Result.Usage,
	}
	after, changed := e.ToolResult(ctx, before)
	if !changed {
		return nil, nil
	}
	if after.Content == nil {
		after.Content = []agentcore.Block{}
	}
	if e.cfg.Trusting && string(after.Details) == "null" {
		after.Details = nil // extensions see it; the result keeps what the tool returned (NOTES section 1.3)
	}
	return &agentcore.AfterToolCallResult{Content: after.Content, Details: after.Details, IsError: &after.IsError, Usage: after.Usage}, nil
}

// errOtherRole is the reference's text (NOTES section 1.6).
var errOtherRole = errors.New("message_end handlers must return a message with the same role")

// messageEnd lets extensions replace a finished message, one after the other.
func (e *Engine) messageEnd(ctx context.Context, message *agentcore.Message) (*agentcore.Message, error) {
	l := e.enter()
	defer e.leave(ctx, l)
	account := l.newAccount()
	defer func() { e.settle(ctx, account, wire.DecisionEvent{Event: wire.EventMessageEnd}) }()
	for i := range l.handlers[wire.EventMessageEnd] {
		h := &l.handlers[wire.EventMessageEnd][i]
		role := message.Role()
		ev := &Event{Kind: wire.EventMessageEnd, Payload: &agentcore.MessageEnd{Message: message}, At: e.moment(), account: account, Check: func(result any) error {
			if m, _ := result.(*agentcore.Message); m != nil && m.Role() != role {
				return errOtherRole
			}
			return nil
		}}
		result, err := e.deliver(ctx, h, ev, Record{}, func(result any) (Outcome, string) {
			if m, _ := result.(*agentcore.Message); m == nil {
				return OutcomeNone, ""
			}
			return OutcomeRewrite, "the message"
		})
		if err != nil {
			if h.strict {
				return nil, err
			}
			continue
		}
		if m, _ := result.(*agentcore.Message); m != nil {
			message = m
		}
	}
	return message, nil
}

// Listener delivers the events of a run to the extensions that observe them, and keeps count of turns. It never fails: a
// fault of an observer is recorded and isolated.
func (e *Engine) Listener() agentcore.Listener {
	return func(ctx context.Context, ev agentcore.Event) error {
		kind := coreKind(ev.Type())
		if kind == 0 {
			return fmt.Errorf("engine: the event %s is unknown", ev.Type())
		}
		e.before(ev)
		if kind != wire.EventMessageEnd && e.Handles(kind) { // message_end goes through Hooks.MessageEnd
			e.observe(ctx, e.observed(kind, ev))
		}
		e.after(ev)
		return nil
	}
}

// coreKind is the extension event that an event of a run becomes; 0 when there is none.
func coreKind(t agentcore.EventType) wire.Event {
	switch t {
	case agentcore.EventAgentStart:
		return wire.EventAgentStart
	case agentcore.EventAgentEnd:
		return wire.EventAgentEnd
	case agentcore.EventTurnStart:
		return wire.EventTurnStart
	case agentcore.EventTurnEnd:
		return wire.EventTurnEnd
	case agentcore.EventMessageStart:
		return wire.EventMessageStart
	case agentcore.EventMessageUpdate:
		return wire.EventMessageUpdate
	case agentcore.EventMessageEnd:
		return wire.EventMessageEnd
	case agentcore.EventToolExecutionStart:
		return wire.EventToolExecutionStart
	case agentcore.EventToolExecutionUpdate:
		return wire.EventToolExecutionUpdate
	case agentcore.EventToolExecutionEnd:
		return wire.EventToolExecutionEnd
	default:
		return 0
	}
}

// observed is what observers get.
func (e *Engine) observed(kind wire.Event, ev agentcore.Event) *Event {
	out := &Event{Kind: kind, Payload: ev, At: e.moment()}
	switch ev := ev.(type) {
	case *agentcore.ToolExecutionUpdate:
		e.mu.Lock()
		defer e.mu.Unlock()
		out.Before = e.updates[ev.ToolCallID]
		e.updates[ev.ToolCallID] = ev.PartialResult
	case *agentcore.TurnStart:
		out.Time = e.now().UnixMilli()
	}
	return out
}

// before and after keep the count: turns from 0 with each agent_start, calls from 0 with each turn (reference: NOTES 2.4).
func (e *Engine) before(ev agentcore.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch ev.(type) {
	case *agentcore.AgentStart:
		e.at.TurnIndex = 0
	case *agentcore.TurnStart:
		e.at.CallIndex, e.calls = 0, 0
	case *agentcore.ToolExecutionStart:
		e.at.CallIndex = e.calls
		e.calls++
	}
}

func (e *Engine) after(ev agentcore.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch ev := ev.(type) {
	case *agentcore.TurnEnd:
		e.at.TurnIndex++
	case *agentcore.ToolExecutionEnd:
		delete(e.updates, ev.ToolCallID)
	case *agentcore.AgentEnd:
		clear(e.updates)
	}
}

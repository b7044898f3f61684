package engine

import (
	"context"
	"fmt"

	"weir/agentcore"
	"weir/engine/wire"
)

// Hooks plugs the engine into an agent: give it to agentcore.Config and subscribe [Engine.Listener] before anybody else. The
// caller may wrap the functions; a hook that the set has no use for is nil.
func (e *Engine) Hooks() agentcore.Hooks {
	var h agentcore.Hooks
	if e.Handles(wire.EventToolCall) {
		h.BeforeToolCall = e.beforeToolCall
	}
	if e.Handles(wire.EventToolResult) {
		h.AfterToolCall = e.afterToolCall
		h.ToolUpdate = func(_ context.Context, call *agentcore.ToolCallContext, partial *agentcore.ToolResult) *agentcore.ToolResult {
			return e.partial(call.ToolCall.Name, partial)
		}
	}
	if e.Handles(wire.EventContext) {
		h.TransformContext = e.Context
	}
	if e.Handles(wire.EventMessageEnd) {
		h.MessageEnd = e.messageEnd
	}
	return h
}

func (e *Engine) beforeToolCall(ctx context.Context, call *agentcore.ToolCallContext) (*agentcore.BeforeToolCallResult, error) {
	d := e.ToolCall(ctx, wire.ToolCallEvent{ToolName: call.ToolCall.Name, ToolCallID: call.ToolCall.ID, Input: call.Args}, call.Validate)
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
	return &agentcore.AfterToolCallResult{Content: after.Content, Details: after.Details, IsError: &after.IsError, Usage: after.Usage}, nil
}

// messageEnd lets extensions replace a finished message, one after the other.
func (e *Engine) messageEnd(ctx context.Context, message *agentcore.Message) (*agentcore.Message, error) {
	for i := range e.handlers[wire.EventMessageEnd] {
		h := &e.handlers[wire.EventMessageEnd][i]
		ev := &Event{Kind: wire.EventMessageEnd, Payload: &agentcore.MessageEnd{Message: message}, At: e.moment()}
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

// coreEvent is the payload of an observed event of a run that needs the time.
type coreEvent struct {
	event agentcore.Event
	now   int64
}

// updateEvent is a partial result together with the one before it, so that only what was added is sent.
type updateEvent struct {
	event  *agentcore.ToolExecutionUpdate
	before *agentcore.ToolResult
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
			e.observe(ctx, &Event{Kind: kind, Payload: e.payload(ev), At: e.moment()})
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

// payload is what observers get.
func (e *Engine) payload(ev agentcore.Event) any {
	switch ev := ev.(type) {
	case *agentcore.ToolExecutionUpdate:
		e.mu.Lock()
		defer e.mu.Unlock()
		before := e.updates[ev.ToolCallID]
		e.updates[ev.ToolCallID] = ev.PartialResult
		return &updateEvent{event: ev, before: before}
	case *agentcore.TurnStart:
		return &coreEvent{event: ev, now: e.now().UnixMilli()}
	default:
		return ev
	}
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

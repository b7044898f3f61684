package agentcore

import (
	"context"
	"fmt"
	"slices"
)

// run is one activity of an agent, from agent_start to agent_end. It works on snapshots: what is set on the agent
// meanwhile counts from the next run on.
type run struct {
	agent *Agent
	// ctx is a field because the run is what it belongs to: Abort, tools and listeners all get it from here.
	ctx      context.Context
	cancel   context.CancelCauseFunc
	done     chan struct{}
	skipPoll bool

	model    Model
	thinking ThinkingLevel
	system   string
	tools    *toolset
	// messages is what the model works on. It is append-only, so that hooks may be given prefixes.
	messages []*Message
	// forModel are those of messages that the default conversion keeps.
	forModel []*Message
	added    []*Message
}

func (r *run) execute(prompts []*Message) error {
	defer r.finish()
	err := r.loop(prompts)
	if err != nil {
		err = r.fail(err)
	}
	return err
}

func (r *run) finish() {
	a := r.agent
	a.mu.Lock()
	a.run, a.streaming, a.pending, a.pendingShared = nil, nil, nil, false
	a.mu.Unlock()
	r.cancel(ErrRunOver)
	close(r.done)
}

func (r *run) aborted() bool { return r.ctx.Err() != nil }

// loop is the run but for its failure path. The outer loop goes on for follow-ups, the inner one for tool results and
// steering.
func (r *run) loop(prompts []*Message) error {
	if err := r.emit(&AgentStart{}); err != nil {
		return err
	}
	if err := r.emit(&TurnStart{}); err != nil {
		return err
	}
	if err := r.inject(prompts); err != nil {
		return err
	}
	var waiting []*Message
	if !r.skipPoll {
		waiting = r.poll(&r.agent.steering)
	}
	var last *TurnContext
	for more := true; more; {
		if last != nil {
			var err error
			if waiting, err = r.nextTurn(last, waiting); err != nil {
				return err
			}
		}
		if err := r.inject(waiting); err != nil {
			return err
		}
		turn, goOn, err := r.turn()
		if err != nil {
			return err
		}
		if turn == nil {
			break
		}
		last = turn
		if stop, err := r.shouldStop(turn); err != nil {
			return err
		} else if stop {
			break
		}
		waiting = r.poll(&r.agent.steering)
		if more = goOn || len(waiting) > 0; !more {
			waiting = r.poll(&r.agent.followUp)
			more = len(waiting) > 0
		}
	}
	return r.emit(&AgentEnd{Messages: r.added})
}

// turn asks the model and runs the tools it calls. A nil turn says that the response failed and the run ends; goOn says
// that there are tool results for the model to see.
func (r *run) turn() (turn *TurnContext, goOn bool, err error) {
	message, err := r.respond()
	if err != nil {
		return nil, false, err
	}
	r.take(message)
	assistant := message.Assistant()
	if assistant.StopReason == StopError || assistant.StopReason == StopAborted {
		return nil, false, r.emit(&TurnEnd{Message: message})
	}
	var results []*Message
	if calls := toolCalls(assistant); len(calls) > 0 {
		var terminate bool
		results, terminate, err = r.callTools(message, calls)
		if err != nil {
			return nil, false, err
		}
		goOn = !terminate
		for _, result := range results {
			r.take(result)
		}
	}
	if err := r.emit(&TurnEnd{Message: message, ToolResults: results}); err != nil {
		return nil, false, err
	}
	return &TurnContext{Message: message, ToolResults: results, Context: r.context(), NewMessages: slices.Clip(r.added)}, goOn, nil
}

// nextTurn prepares and opens every turn but the first. It returns the messages to inject.
func (r *run) nextTurn(last *TurnContext, waiting []*Message) ([]*Message, error) {
	if hook := r.agent.cfg.Hooks.PrepareNextTurn; hook != nil {
		update, err := callHook(func() (*TurnUpdate, error) { return hook(r.ctx, last) })
		if err != nil {
			return nil, err
		}
		if update != nil {
			if err := r.update(update); err != nil {
				return nil, err
			}
		}
	}
	// Preparing may take long. Only an empty first poll is repeated: one at a time means one a turn.
	if len(waiting) == 0 {
		waiting = r.poll(&r.agent.steering)
	}
	return waiting, r.emit(&TurnStart{})
}

func (r *run) update(u *TurnUpdate) error {
	if u.Context != nil {
		tools, err := newToolset(u.Context.Tools, r.tools)
		if err != nil {
			return fmt.Errorf("context of the next turn: %w", err)
		}
		r.tools, r.system = tools, u.Context.SystemPrompt
		r.workOn(slices.Clip(u.Context.Messages))
	}
	if u.Model != nil {
		r.model = *u.Model
	}
	if u.ThinkingLevel != nil {
		r.thinking = *u.ThinkingLevel
	}
	return nil
}

func (r *run) shouldStop(turn *TurnContext) (bool, error) {
	hook := r.agent.cfg.Hooks.ShouldStopAfterTurn
	if hook == nil {
		return false, nil
	}
	return callHook(func() (bool, error) { return hook(r.ctx, turn) })
}

func (r *run) poll(q *queue) []*Message {
	r.agent.mu.Lock()
	defer r.agent.mu.Unlock()
	return q.drain()
}

func (r *run) context() Context {
	return Context{SystemPrompt: r.system, Messages: slices.Clip(r.messages), Tools: r.tools.tools}
}

// take adds a finished message to what the run works on and to what it reports.
func (r *run) take(m *Message) {
	r.messages = append(r.messages, m)
	if !foreign(m) {
		r.forModel = append(r.forModel, m)
	}
	r.added = append(r.added, m)
}

// workOn makes messages the context.
func (r *run) workOn(messages []*Message) {
	r.messages, r.forModel = messages, slices.Clip(forModel(messages))
}

// inject gives prompts and queued messages their events.
func (r *run) inject(messages []*Message) error {
	for _, m := range messages {
		m, err := r.tell(m.numbered(r.number()))
		if err != nil {
			return err
		}
		r.take(m)
	}
	return nil
}

// message gives a message of the run's own making a number and both its events. It returns it as it was stored.
func (r *run) message(body Body) (*Message, error) {
	return r.tell(&Message{id: r.number(), body: body})
}

// tell gives m both its events. It returns the message as it was stored.
func (r *run) tell(m *Message) (*Message, error) {
	if err := r.emit(&MessageStart{Message: m}); err != nil {
		return nil, err
	}
	return r.endMessage(m)
}

func (r *run) number() uint64 {
	r.agent.mu.Lock()
	defer r.agent.mu.Unlock()
	return r.agent.nextID()
}

// endMessage stores m, lets the hook replace it, and tells the listeners.
func (r *run) endMessage(m *Message) (*Message, error) {
	a := r.agent
	a.mu.Lock()
	a.streaming = nil
	a.messages = append(a.messages, m)
	a.mu.Unlock()
	if hook := a.cfg.Hooks.MessageEnd; hook != nil {
		changed, err := callHook(func() (*Message, error) { return hook(r.ctx, m) })
		if err != nil {
			return nil, err
		}
		if changed != nil && changed != m {
			if changed.Role() != m.Role() {
				return nil, fmt.Errorf("message end hook returned a %s message for a %s message", changed.Role(), m.Role())
			}
			changed = changed.numbered(m.id)
			a.mu.Lock()
			a.replace(m, changed)
			a.mu.Unlock()
			m = changed
		}
	}
	return m, a.listeners.deliver(r.ctx, &MessageEnd{Message: m})
}

// emit changes the state as ev says and then tells the listeners. message_end has its own way: endMessage.
func (r *run) emit(ev Event) error {
	a := r.agent
	a.mu.Lock()
	switch e := ev.(type) {
	case *MessageStart:
		a.streaming = e.Message
	case *MessageUpdate:
		a.streaming = e.Message
	case *ToolExecutionStart:
		if !slices.Contains(a.pending, e.ToolCallID) {
			a.pending = append(a.pending, e.ToolCallID)
		}
	case *ToolExecutionEnd:
		if i := slices.Index(a.pending, e.ToolCallID); i >= 0 {
			if a.pendingShared {
				a.pending, a.pendingShared = slices.Clone(a.pending), false
			}
			a.pending = slices.Delete(a.pending, i, i+1)
		}
	case *TurnEnd:
		if m := e.Message.Assistant(); m != nil && m.ErrorMessage != "" {
			a.errorMessage = m.ErrorMessage
		}
	case *AgentEnd:
		a.streaming = nil
	}
	a.mu.Unlock()
	return a.listeners.deliver(r.ctx, ev)
}

// fail is the failure path: four events about a message that says what happened. Its error is a second failure.
func (r *run) fail(cause error) error {
	stop := StopError
	if r.aborted() {
		stop = StopAborted
	}
	a := r.agent
	a.mu.Lock()
	model := a.model
	a.mu.Unlock()
	m, err := r.message(&AssistantMessage{
		Content: []Block{&TextBlock{}}, API: model.API, Provider: model.Provider, Model: model.ID,
		StopReason: stop, ErrorMessage: errorText(cause), Timestamp: a.nowMillis(),
	})
	if err != nil {
		return err
	}
	if err := r.emit(&TurnEnd{Message: m}); err != nil {
		return err
	}
	return r.emit(&AgentEnd{Messages: []*Message{m}})
}

// errorText is never empty, so that a failure can always be told from none.
func errorText(err error) string {
	if text := err.Error(); text != "" {
		return text
	}
	return "unknown error"
}

// callHook calls a hook and turns its panic into an error.
func callHook[T any](hook func() (T, error)) (result T, err error) {
	defer caught("hook", &err)
	return hook()
}

func toolCalls(m *AssistantMessage) []*ToolCall {
	var calls []*ToolCall
	for _, b := range m.Content {
		if call, ok := b.(*ToolCall); ok {
			calls = append(calls, call)
		}
	}
	return calls
}

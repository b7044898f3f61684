package agentcore

import (
	"context"
	"errors"
	"slices"
)

// respond performs one request and gives its message the events. It returns the message as it was stored.
func (r *run) respond() (*Message, error) {
	req, err := r.request()
	if err != nil {
		return nil, err
	}
	s := &stream{run: r}
	returned, err := s.call(req)
	switch {
	case s.failed != nil:
		return nil, s.failed
	case s.breach != nil:
		// What the provider makes of the breach does not matter: the message says it.
	case s.end != nil:
		// The response is complete; what the provider met afterwards does not change it.
		if err != nil && !errors.Is(err, errStreamOver) {
			r.agent.cfg.Logger.Warn("the provider failed after the end of its stream", "error", err)
		}
	case err != nil:
		return nil, err
	}
	body := s.final(returned)
	if !s.started {
		return r.message(body)
	}
	return r.endMessage(&Message{id: s.id, body: body})
}

func (r *run) request() (*Request, error) {
	hooks := &r.agent.cfg.Hooks
	messages := slices.Clip(r.messages)
	var err error
	if hook := hooks.TransformContext; hook != nil {
		messages, err = callHook(func() ([]*Message, error) { return hook(r.ctx, messages) })
		if err != nil {
			return nil, err
		}
	}
	if hook := hooks.ConvertToLLM; hook != nil {
		messages, err = callHook(func() ([]*Message, error) { return hook(r.ctx, messages) })
		if err != nil {
			return nil, err
		}
	} else if hooks.TransformContext == nil {
		messages = slices.Clip(r.forModel)
	} else {
		messages = forModel(messages)
	}
	req := &Request{Model: r.model, SystemPrompt: r.system, Messages: messages, Tools: r.tools.tools}
	if r.thinking != "off" {
		req.ThinkingLevel = r.thinking
	}
	if hook := hooks.APIKey; hook != nil {
		req.APIKey, err = callHook(func() (string, error) { return hook(r.ctx, r.model.Provider) })
	}
	return req, err
}

// foreign says whether a message is of a role that the default conversion drops.
func foreign(m *Message) bool {
	switch m.Role() {
	case RoleUser, RoleAssistant, RoleToolResult:
		return false
	default:
		return true
	}
}

// forModel keeps the roles that a model understands. It copies only if it must drop one.
func forModel(messages []*Message) []*Message {
	if !slices.ContainsFunc(messages, foreign) {
		return messages
	}
	return slices.DeleteFunc(slices.Clone(messages), foreign)
}

// stream takes the events of one response from the provider.
type stream struct {
	run     *run
	build   assembler
	started bool
	id      uint64
	end     *AssistantEvent // done or error
	failed  error           // of a listener: the run fails
	breach  error           // of the protocol: the message fails
}

// errStreamOver tells a provider that goes on after its terminal event to return.
var errStreamOver = errors.New("the stream is over")

func (s *stream) call(req *Request) (m *AssistantMessage, err error) {
	defer caught("provider", &err)
	return s.run.agent.cfg.Provider.Stream(s.run.ctx, req, s.emit)
}

// updateCell is one allocation for all that a delta makes.
type updateCell struct {
	event   MessageUpdate
	message Message
	partial partial
}

func (s *stream) emit(ev AssistantEvent) error {
	switch {
	case s.failed != nil:
		return s.failed
	case s.breach != nil:
		return s.breach
	case s.end != nil:
		return errStreamOver
	}
	switch {
	case ev.Type == StreamStart:
		return s.start(ev.Message)
	case ev.Type == StreamDone || ev.Type == StreamError:
		end := ev
		s.end = &end
		return nil
	case ev.Type < StreamTextStart || ev.Type > StreamToolCallEnd:
		s.breach = &ProtocolError{Event: ev.Type, Detail: "no such event"}
		return s.breach
	}
	cell := &updateCell{}
	cell.event.AssistantEvent = ev
	if err := s.build.apply(&cell.event.AssistantEvent); err != nil {
		s.breach = err
		return err
	}
	if !s.started {
		return nil
	}
	cell.event.Message = s.snapshot(&cell.message, &cell.partial)
	s.failed = s.run.emit(&cell.event)
	return s.failed
}

func (s *stream) snapshot(m *Message, p *partial) *Message {
	s.build.snapshot(p)
	m.id, m.partial = s.id, p
	return m
}

func (s *stream) start(given *AssistantMessage) error {
	if s.started {
		s.breach = &ProtocolError{Event: StreamStart, Detail: "a second start"}
		return s.breach
	}
	head := AssistantMessage{}
	if given != nil {
		head = *given
	}
	s.fill(&head)
	head.StopReason = StopPending
	if len(head.Content) > 0 && len(s.build.slots) > 0 {
		s.breach = &ProtocolError{Event: StreamStart, Detail: "content both before and in the start event"}
		return s.breach
	}
	s.build.begin(&head)
	s.started, s.id = true, s.run.number()
	cell := &updateCell{}
	s.failed = s.run.emit(&MessageStart{Message: s.snapshot(&cell.message, &cell.partial)})
	return s.failed
}

// fill completes what a provider need not say.
func (s *stream) fill(m *AssistantMessage) {
	model := &s.run.model
	if m.API == "" {
		m.API = model.API
	}
	if m.Provider == "" {
		m.Provider = model.Provider
	}
	if m.Model == "" {
		m.Model = model.ID
	}
	if m.Timestamp == 0 {
		m.Timestamp = s.run.agent.nowMillis()
	}
}

// final is the finished message: that of the terminal event, else the returned one, else what was assembled.
func (s *stream) final(returned *AssistantMessage) *AssistantMessage {
	given := returned
	if s.end != nil && s.end.Message != nil {
		given = s.end.Message
	}
	var m AssistantMessage
	switch {
	case s.breach != nil:
		m = s.assembled()
		m.StopReason, m.ErrorMessage = StopError, s.breach.Error()
	case given != nil:
		m = *given
	case s.end != nil:
		m = s.assembled()
	default:
		m = s.assembled()
		m.StopReason = StopError
		m.ErrorMessage = (&ProtocolError{Detail: "neither done nor error nor a message"}).Error()
		if s.run.aborted() {
			m.StopReason, m.ErrorMessage = StopAborted, context.Cause(s.run.ctx).Error()
		}
	}
	s.fill(&m)
	if m.Content == nil {
		m.Content = []Block{}
	}
	m.StopReason = s.stopReason(&m)
	return &m
}

func (s *stream) assembled() AssistantMessage {
	var p partial
	if !s.started {
		s.build.head = AssistantMessage{}
		s.fill(&s.build.head)
	}
	s.build.snapshot(&p)
	m := *p.message()
	m.StopReason = ""
	return m
}

func (s *stream) stopReason(m *AssistantMessage) StopReason {
	reason := m.StopReason
	if reason == "" || reason == StopPending {
		reason = ""
		if s.end != nil {
			reason = s.end.Reason
		}
	}
	failing := reason == StopError || reason == StopAborted
	switch {
	case s.end != nil && s.end.Type == StreamError && !failing:
		return StopError
	case reason != "" && reason != StopPending:
		return reason
	case len(toolCalls(m)) > 0:
		return StopToolUse
	default:
		return StopStop
	}
}

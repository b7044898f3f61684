package scripted

import (
	"context"
	"errors"
	"slices"
	"time"

	"weir/agentcore"
)

// errAborted ends the playing of a response when the request's context is cancelled. It does not leave the package.
var errAborted = errors.New(abortedText)

// stream plays one response.
type stream struct {
	emit    func(agentcore.AssistantEvent) error
	message agentcore.AssistantMessage // the message so far
	deltas  int
}

func (s *stream) play(ctx context.Context, r *response) (*agentcore.AssistantMessage, error) {
	err := s.wait(ctx, r.delay)
	if err == nil && (r.fail == nil || len(r.blocks) > 0) {
		err = s.blocks(ctx, r)
	}
	switch {
	case errors.Is(err, errAborted):
		return s.fail(agentcore.StopAborted, abortedText)
	case err != nil:
		return nil, err
	}
	s.message.Usage = r.usage
	if r.fail != nil {
		return s.fail(r.fail.reason, r.fail.message)
	}
	return s.finish(agentcore.AssistantEvent{Type: agentcore.StreamDone, Reason: r.stop})
}

// fail ends the stream with an error event. What was streamed so far stays in the message.
func (s *stream) fail(reason agentcore.StopReason, text string) (*agentcore.AssistantMessage, error) {
	s.message.ErrorMessage = text
	return s.finish(agentcore.AssistantEvent{Type: agentcore.StreamError, Reason: reason})
}

func (s *stream) finish(ev agentcore.AssistantEvent) (*agentcore.AssistantMessage, error) {
	s.message.StopReason = ev.Reason
	ev.Message = s.snapshot()
	if err := s.emit(ev); err != nil {
		return nil, err
	}
	return ev.Message, nil
}

// snapshot is a copy of the message so far that stays as it is.
func (s *stream) snapshot() *agentcore.AssistantMessage {
	m := s.message
	m.Content = slices.Clone(m.Content)
	return &m
}

// wait lets d pass. It also looks whether the request was cancelled.
func (s *stream) wait(ctx context.Context, d time.Duration) error {
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return errAborted
	}
	return nil
}

func (s *stream) blocks(ctx context.Context, r *response) error {
	start := s.snapshot()
	start.StopReason = agentcore.StopPending
	if err := s.emit(agentcore.AssistantEvent{Type: agentcore.StreamStart, Message: start}); err != nil {
		return err
	}
	for i := range r.blocks {
		if err := s.wait(ctx, r.blocks[i].delay); err != nil {
			return err
		}
		if err := s.block(ctx, r, &r.blocks[i]); err != nil {
			return err
		}
	}
	return s.wait(ctx, 0)
}

func (s *stream) block(ctx context.Context, r *response, b *block) error {
	at := len(s.message.Content)
	s.message.Content = append(s.message.Content, nil)
	// grow puts what is known of the block so far into the message, so that an abort keeps it.
	var first, delta, last agentcore.AssistantEvent
	var whole string
	var grow func(soFar string)
	switch {
	case b.text != nil:
		first.Type, delta.Type, last.Type = agentcore.StreamTextStart, agentcore.StreamTextDelta, agentcore.StreamTextEnd
		whole, last.Content = *b.text, *b.text
		grow = func(soFar string) { s.message.Content[at] = &agentcore.TextBlock{Text: soFar} }
	case b.thinking != nil:
		first.Type, delta.Type, last.Type = agentcore.StreamThinkingStart, agentcore.StreamThinkingDelta, agentcore.StreamThinkingEnd
		whole, last.Content = *b.thinking, *b.thinking
		grow = func(soFar string) { s.message.Content[at] = &agentcore.ThinkingBlock{Thinking: soFar} }
	default:
		first.Type, delta.Type, last.Type = agentcore.StreamToolCallStart, agentcore.StreamToolCallDelta, agentcore.StreamToolCallEnd
		whole, last.ToolCall = string(b.call.Arguments), b.call
		open := *b.call
		open.Arguments = emptyArguments() // as in the reference until all of them are there (conformance/SCHEMA.md)
		first.ToolCall = &open
		grow = func(soFar string) {
			s.message.Content[at] = &open
			if soFar == whole {
				s.message.Content[at] = b.call
			}
		}
	}
	first.ContentIndex, delta.ContentIndex, last.ContentIndex = at, at, at
	grow("")
	if err := s.emit(first); err != nil {
		return err
	}
	sent := 0
	for _, piece := range deltas(whole, r.chunk) {
		pause := r.pause
		if s.deltas == 0 {
			pause = 0
		}
		if err := s.wait(ctx, pause); err != nil {
			return err
		}
		s.deltas++
		sent += len(piece)
		grow(whole[:sent])
		delta.Delta = piece
		if err := s.emit(delta); err != nil {
			return err
		}
	}
	return s.emit(last)
}

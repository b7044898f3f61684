package session

import (
	"context"

	"weir/engine/wire"
)

// Ask puts a question to a person by calling ask, and tells extensions that somebody is waited for: once before the first of
// overlapping questions and once after the last, with kind and title of the first. They are not waited for. kind is
// "select", "confirm", "input", "editor" or "custom".
func (s *Session) Ask(ctx context.Context, kind, title string, ask func(ctx context.Context) (any, error)) (any, error) {
	s.mu.Lock()
	s.asking++
	first := s.asking == 1
	if first {
		s.asked = wire.UIPromptEvent{Reason: "ui_prompt", UIKind: kind, Title: title}
	}
	event := s.asked
	s.mu.Unlock()
	if first {
		s.tell(event)
	}
	defer func() {
		s.mu.Lock()
		s.asking--
		last := s.asking == 0
		end := s.asked
		s.mu.Unlock()
		if last {
			end.End = true
			s.tell(end)
		}
	}()
	return ask(ctx)
}

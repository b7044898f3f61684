package agentcore

import (
	"context"
	"runtime/debug"
	"sync"
)

// Listener hears of the events of a run. ctx is the run's: it is cancelled by Abort. The loop waits for a listener
// before it calls the next one and before it goes on, so a slow listener slows the run. An error or a panic takes the
// run's failure path; later listeners do not hear of that event.
//
// The events of one run are delivered one after the other, except that those of tools that run in parallel, and the
// tool_execution_update events of one tool, may be delivered at the same time: see [Serialize].
type Listener func(ctx context.Context, ev Event) error

// Serialize returns a listener that calls l for one event at a time. The others wait, so a delivery that waits for
// another delivery would never end.
func Serialize(l Listener) Listener {
	turn := make(chan struct{}, 1)
	return func(ctx context.Context, ev Event) error {
		turn <- struct{}{}
		defer func() { <-turn }()
		return l(ctx, ev)
	}
}

// listeners is a live, insertion-ordered set: a delivery sees what is added during it and skips what is removed during
// it.
type listeners struct {
	mu       sync.Mutex
	list     []*subscription
	active   int // deliveries under way
	obsolete int // removed entries that are still in list
}

type subscription struct {
	call    Listener
	removed bool
}

func (s *listeners) add(l Listener) (remove func()) {
	sub := &subscription{call: l}
	s.mu.Lock()
	s.list = append(s.list, sub)
	s.mu.Unlock()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if sub.removed {
			return
		}
		sub.removed = true
		s.obsolete++
		s.compact()
	}
}

// compact drops removed entries while no delivery holds a position in the list.
func (s *listeners) compact() {
	if s.active > 0 || s.obsolete == 0 {
		return
	}
	kept := make([]*subscription, 0, len(s.list)-s.obsolete)
	for _, sub := range s.list {
		if !sub.removed {
			kept = append(kept, sub)
		}
	}
	s.list, s.obsolete = kept, 0
}

// deliver calls every listener in order and stops at the first that fails.
func (s *listeners) deliver(ctx context.Context, ev Event) error {
	s.mu.Lock()
	if len(s.list) == 0 {
		s.mu.Unlock()
		return nil
	}
	s.active++
	var err error
	for i := 0; err == nil && i < len(s.list); i++ {
		sub := s.list[i]
		if sub.removed {
			continue
		}
		s.mu.Unlock()
		err = callListener(ctx, sub.call, ev)
		s.mu.Lock()
	}
	s.active--
	s.compact()
	s.mu.Unlock()
	return err
}

func (s *listeners) empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.list) == s.obsolete
}

func callListener(ctx context.Context, l Listener, ev Event) (err error) {
	defer caught("listener", &err)
	return l(ctx, ev)
}

// caught turns a panic of the deferring function into *err.
func caught(what string, err *error) {
	if v := recover(); v != nil {
		*err = &PanicError{What: what, Value: v, Stack: debug.Stack()}
	}
}

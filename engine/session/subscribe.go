package session

import (
	"runtime/debug"
	"sync"

	"weir/agentcore"
)

// Subscriber hears of a session's events, after the extensions and before the store. It is called at once, by the goroutine
// in which the event happens, and must not wait for the session. Its error, or a panic, on an event of a run ends that run as
// failed, and keeps the event from later subscribers and from the store. Events of tools that run in parallel may come at
// the same time.
type Subscriber func(ev Event) error

// Subscribe adds a subscriber after those that there are, and returns the function that removes it. Both take effect at once,
// in the middle of a delivery too.
func (s *Session) Subscribe(sub Subscriber) (unsubscribe func()) { return s.subs.add(sub) }

// emit delivers an event to the subscribers.
func (s *Session) emit(ev Event) error { return s.subs.deliver(ev) }

type subscribers struct {
	mu     sync.Mutex
	list   []*subscription
	active int
}

type subscription struct {
	call    Subscriber
	removed bool
}

func (s *subscribers) add(call Subscriber) func() {
	sub := &subscription{call: call}
	s.mu.Lock()
	s.list = append(s.list, sub)
	s.mu.Unlock()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		sub.removed = true
		s.tidy()
	}
}

// tidy drops what was removed while no delivery holds a place in the list.
func (s *subscribers) tidy() {
	if s.active > 0 {
		return
	}
	var kept []*subscription
	for _, sub := range s.list {
		if !sub.removed {
			kept = append(kept, sub)
		}
	}
	s.list = kept
}

func (s *subscribers) deliver(ev Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active++
	defer func() {
		s.active--
		s.tidy()
	}()
	for i := 0; i < len(s.list); i++ {
		sub := s.list[i]
		if sub.removed {
			continue
		}
		s.mu.Unlock()
		err := callSubscriber(sub.call, ev)
		s.mu.Lock()
		if err != nil {
			return err
		}
	}
	return nil
}

func callSubscriber(call Subscriber, ev Event) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &agentcore.PanicError{What: "subscriber", Value: v, Stack: debug.Stack()}
		}
	}()
	return call(ev)
}

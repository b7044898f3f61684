package session

import (
	"slices"

	"weir/agentcore"
)

// queued is a message that waits in one of the agent's queues.
type queued struct {
	text string
	body agentcore.Body // which message it is: the agent numbers it, but keeps its body
}

// The two queues.
const (
	steering = iota
	followUp
)

// Steer queues a message for the next turn of the run, or for the start of the next run. The error says that the text is a
// command, which cannot be queued, or is that of Config.Expand.
func (s *Session) Steer(text string, images ...*agentcore.ImageBlock) error {
	if err := s.refuseCommand(text); err != nil {
		return err
	}
	text, err := s.expand(text)
	if err != nil {
		return err
	}
	return s.enqueue(steering, text, images)
}

// FollowUp queues a message for when the run would otherwise stop. Errors as for Steer.
func (s *Session) FollowUp(text string, images ...*agentcore.ImageBlock) error {
	if err := s.refuseCommand(text); err != nil {
		return err
	}
	text, err := s.expand(text)
	if err != nil {
		return err
	}
	return s.enqueue(followUp, text, images)
}

func (s *Session) enqueue(which int, text string, images []*agentcore.ImageBlock) error {
	m := s.agent.UserMessage(text, images...)
	s.mu.Lock()
	s.queue[which] = append(s.queue[which], queued{text, m.Body()})
	update := s.queueUpdate()
	s.mu.Unlock()
	err := s.emit(update)
	if which == steering {
		s.agent.Steer(m)
	} else {
		s.agent.FollowUp(m)
	}
	return err
}

// queueUpdate is called with s.mu held.
func (s *Session) queueUpdate() *QueueUpdate {
	return &QueueUpdate{Steering: texts(s.queue[steering]), FollowUp: texts(s.queue[followUp])}
}

func texts(queue []queued) []string {
	out := make([]string, len(queue))
	for i, q := range queue {
		out[i] = q.text
	}
	return out
}

// dequeue notes that a message is delivered: if it was queued, it is so no longer.
func (s *Session) dequeue(m *agentcore.Message) error {
	s.mu.Lock()
	found := false
	for which := range s.queue {
		i := slices.IndexFunc(s.queue[which], func(q queued) bool { return q.body == m.Body() })
		if i >= 0 {
			s.queue[which] = slices.Delete(slices.Clone(s.queue[which]), i, i+1)
			found = true
			break
		}
	}
	update := s.queueUpdate()
	s.mu.Unlock()
	if !found {
		return nil
	}
	return s.emit(update)
}

// Queues are the texts that are queued.
func (s *Session) Queues() (steeringTexts, followUpTexts []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return texts(s.queue[steering]), texts(s.queue[followUp])
}

// ClearQueue empties both queues and returns their texts.
func (s *Session) ClearQueue() (steeringTexts, followUpTexts []string, err error) {
	s.mu.Lock()
	steeringTexts, followUpTexts = texts(s.queue[steering]), texts(s.queue[followUp])
	s.queue = [2][]queued{}
	update := s.queueUpdate()
	s.mu.Unlock()
	s.agent.ClearSteering()
	s.agent.ClearFollowUp()
	return steeringTexts, followUpTexts, s.emit(update)
}

// SetQueueModes changes how much a poll of the queues delivers; "" keeps a mode.
func (s *Session) SetQueueModes(steer, follow agentcore.QueueMode) error {
	return s.agent.SetQueueModes(steer, follow)
}

// waiting says whether any message, custom ones included, waits in the agent's queues.
func (s *Session) waiting() bool {
	state := s.agent.State()
	return len(state.Steering)+len(state.FollowUp) > 0
}

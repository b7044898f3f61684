package agentcore

import (
	"fmt"
	"slices"
)

// State is an immutable picture of an agent at one moment.
type State struct {
	SystemPrompt  string
	Model         Model
	ThinkingLevel ThinkingLevel
	Tools         []*Tool
	Messages      []*Message
	// Running says that a run is active, agent_end listeners included.
	Running bool
	// StreamingMessage is the message between its message_start and its message_end, of any role; nil otherwise.
	StreamingMessage *Message
	// PendingToolCalls are the ids of the calls between their start and end events, in the order of the starts.
	PendingToolCalls []string
	// ErrorMessage is that of the last failed assistant message of this run or, when idle, of the last run.
	ErrorMessage string
	// Steering and FollowUp are the queued messages.
	Steering []*Message
	FollowUp []*Message
}

// State is what the agent holds now. A listener sees it with the change that its event is about. Cost does not depend on
// the length of the transcript.
func (a *Agent) State() State {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pendingShared = true
	return State{
		SystemPrompt: a.systemPrompt, Model: a.model, ThinkingLevel: a.thinking, Tools: a.tools.tools,
		Messages: a.snapshotMessages(), Running: a.run != nil, StreamingMessage: a.streaming,
		PendingToolCalls: slices.Clip(a.pending), ErrorMessage: a.errorMessage,
		Steering: slices.Clip(a.steering.messages), FollowUp: slices.Clip(a.followUp.messages),
	}
}

// SetSystemPrompt changes the system prompt from the next run on. (Within a run see [Hooks.PrepareNextTurn].)
func (a *Agent) SetSystemPrompt(prompt string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.systemPrompt = prompt
}

// SetModel changes the model from the next run on.
func (a *Agent) SetModel(model Model) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.model = model
}

// SetThinkingLevel changes the thinking level from the next run on.
func (a *Agent) SetThinkingLevel(level ThinkingLevel) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.thinking = level
}

// SetTools changes the tools from the next run on. The errors are those of New for tools; nothing is changed then.
func (a *Agent) SetTools(tools []*Tool) error {
	a.mu.Lock()
	old := a.tools
	a.mu.Unlock()
	// Compiling schemas takes long, so it happens outside the lock.
	set, err := newToolset(tools, old)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tools = set
	return nil
}

// SetMessages replaces the transcript. Messages that have a number keep it. An active run keeps working on its own.
func (a *Agent) SetMessages(messages []*Message) {
	a.EditMessages(func([]*Message) []*Message { return messages })
}

// EditMessages replaces the transcript by what edit makes of it, while nothing else can change it. edit must neither change
// the slice that it is given nor call the agent. Otherwise like SetMessages.
func (a *Agent) EditMessages(edit func(messages []*Message) []*Message) {
	a.mu.Lock()
	defer a.mu.Unlock()
	messages := edit(slices.Clip(a.messages))
	a.messages = make([]*Message, len(messages))
	a.shared = 0
	for _, m := range messages {
		a.lastID = max(a.lastID, m.id)
	}
	for i, m := range messages {
		if m.id == 0 {
			m = m.numbered(a.nextID())
		}
		a.messages[i] = m
	}
}

// SetQueueModes changes how much a poll delivers; "" keeps a mode. The error names an unknown mode.
func (a *Agent) SetQueueModes(steering, followUp QueueMode) error {
	if err := checkModes("", steering, followUp); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if steering != "" {
		a.steering.mode = steering
	}
	if followUp != "" {
		a.followUp.mode = followUp
	}
	return nil
}

func checkModes(execution ExecutionMode, queues ...QueueMode) error {
	switch execution {
	case "", ExecutionParallel, ExecutionSequential:
	default:
		return fmt.Errorf("agentcore: unknown tool execution mode %q (want %q or %q)", execution, ExecutionParallel, ExecutionSequential)
	}
	for _, mode := range queues {
		switch mode {
		case "", QueueOneAtATime, QueueAll:
		default:
			return fmt.Errorf("agentcore: unknown queue mode %q (want %q or %q)", mode, QueueOneAtATime, QueueAll)
		}
	}
	return nil
}

// snapshotMessages gives out the transcript. The caller holds a.mu.
func (a *Agent) snapshotMessages() []*Message {
	a.shared = len(a.messages)
	return slices.Clip(a.messages)
}

// nextID gives the number of the next message. The caller holds a.mu.
func (a *Agent) nextID() uint64 {
	if a.cfg.NextID != nil {
		a.lastID = a.cfg.NextID()
	} else {
		a.lastID++
	}
	return a.lastID
}

// replace puts m in the place of old. The caller holds a.mu.
func (a *Agent) replace(old, m *Message) {
	for i := len(a.messages) - 1; i >= 0; i-- {
		if a.messages[i] != old {
			continue
		}
		if i < a.shared {
			a.messages, a.shared = slices.Clone(a.messages), 0
		}
		a.messages[i] = m
		return
	}
}

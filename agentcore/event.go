package agentcore

import "encoding/json"

// Event is one of the ten events of a run: *AgentStart, *AgentEnd, *TurnStart, *TurnEnd, *MessageStart,
// *MessageUpdate, *MessageEnd, *ToolExecutionStart, *ToolExecutionUpdate, *ToolExecutionEnd. An event and all that it
// points to is immutable and may be kept.
type Event interface {
	// Type is the event's name on the wire, such as "tool_execution_start".
	Type() EventType
}

// EventType names an event. The zero value means unset; String gives the wire name.
type EventType uint8

// The ten event types, in the order of a run.
const (
	EventAgentStart EventType = iota + 1
	EventTurnStart
	EventMessageStart
	EventMessageUpdate
	EventMessageEnd
	EventToolExecutionStart
	EventToolExecutionUpdate
	EventToolExecutionEnd
	EventTurnEnd
	EventAgentEnd
)

// String is the wire name.
func (t EventType) String() string {
	switch t {
	case EventAgentStart:
		return "agent_start"
	case EventTurnStart:
		return "turn_start"
	case EventMessageStart:
		return "message_start"
	case EventMessageUpdate:
		return "message_update"
	case EventMessageEnd:
		return "message_end"
	case EventToolExecutionStart:
		return "tool_execution_start"
	case EventToolExecutionUpdate:
		return "tool_execution_update"
	case EventToolExecutionEnd:
		return "tool_execution_end"
	case EventTurnEnd:
		return "turn_end"
	case EventAgentEnd:
		return "agent_end"
	default:
		return "unset"
	}
}

// AgentStart opens a run.
type AgentStart struct{}

// AgentEnd closes a run. Messages are those that the run added (prompts included, for Continue not); in the failure
// sequence only the failure message.
type AgentEnd struct{ Messages []*Message }

// TurnStart opens a turn: one model response and the tool calls it asks for.
type TurnStart struct{}

// TurnEnd closes a turn. ToolResults are in the order of the calls in Message.
type TurnEnd struct {
	Message     *Message
	ToolResults []*Message
}

// MessageStart says that a message begins. For an assistant message it carries what is known at the provider's start.
type MessageStart struct{ Message *Message }

// MessageUpdate says that an assistant message grew. Message is the whole so far.
type MessageUpdate struct {
	Message *Message
	// AssistantEvent is the provider's event that made it grow; one of the nine middle kinds.
	AssistantEvent AssistantEvent
}

// MessageEnd says that a message is complete and appended to the transcript.
type MessageEnd struct{ Message *Message }

// ToolExecutionStart says that a tool call is taken up. Args are the raw arguments, as the model gave them.
type ToolExecutionStart struct {
	ToolCallID string
	ToolName   string
	Args       json.RawMessage
}

// ToolExecutionUpdate is a partial result that a running tool reported.
type ToolExecutionUpdate struct {
	ToolCallID    string
	ToolName      string
	Args          json.RawMessage
	PartialResult *ToolResult
}

// ToolExecutionEnd says that a tool call is finished, hooks included.
type ToolExecutionEnd struct {
	ToolCallID string
	ToolName   string
	Result     *ToolResult
	IsError    bool
}

// Type implements [Event].
func (*AgentStart) Type() EventType { return EventAgentStart }

// Type implements [Event].
func (*AgentEnd) Type() EventType { return EventAgentEnd }

// Type implements [Event].
func (*TurnStart) Type() EventType { return EventTurnStart }

// Type implements [Event].
func (*TurnEnd) Type() EventType { return EventTurnEnd }

// Type implements [Event].
func (*MessageStart) Type() EventType { return EventMessageStart }

// Type implements [Event].
func (*MessageUpdate) Type() EventType { return EventMessageUpdate }

// Type implements [Event].
func (*MessageEnd) Type() EventType { return EventMessageEnd }

// Type implements [Event].
func (*ToolExecutionStart) Type() EventType { return EventToolExecutionStart }

// Type implements [Event].
func (*ToolExecutionUpdate) Type() EventType { return EventToolExecutionUpdate }

// Type implements [Event].
func (*ToolExecutionEnd) Type() EventType { return EventToolExecutionEnd }

package session

import (
	"encoding/json"
	"fmt"

	"weir/agentcore"
)

// EventType names one of the 23 events of a session. The zero value means unset; String gives the wire name.
type EventType uint8

// The events: the ten of a run, then those of the session.
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
	EventAgentSettled
	EventQueueUpdate
	EventCompactionStart
	EventCompactionEnd
	EventEntryAppended
	EventSessionInfoChanged
	EventThinkingLevelChanged
	EventAutoRetryStart
	EventAutoRetryEnd
	EventSummarizationRetryScheduled
	EventSummarizationRetryAttemptStart
	EventSummarizationRetryFinished
	EventBashExecutionUpdate
)

// EventCount is how many events there are; they are 1 to EventCount.
const EventCount = int(EventBashExecutionUpdate)

// String is the wire name.
func (t EventType) String() string {
	switch t {
	case EventAgentSettled:
		return "agent_settled"
	case EventQueueUpdate:
		return "queue_update"
	case EventCompactionStart:
		return "compaction_start"
	case EventCompactionEnd:
		return "compaction_end"
	case EventEntryAppended:
		return "entry_appended"
	case EventSessionInfoChanged:
		return "session_info_changed"
	case EventThinkingLevelChanged:
		return "thinking_level_changed"
	case EventAutoRetryStart:
		return "auto_retry_start"
	case EventAutoRetryEnd:
		return "auto_retry_end"
	case EventSummarizationRetryScheduled:
		return "summarization_retry_scheduled"
	case EventSummarizationRetryAttemptStart:
		return "summarization_retry_attempt_start"
	case EventSummarizationRetryFinished:
		return "summarization_retry_finished"
	case EventBashExecutionUpdate:
		return "bash_execution_update"
	}
	if t >= EventAgentStart && t <= EventAgentEnd {
		return agentcore.EventType(t).String()
	}
	return "unset"
}

// Event is one of the 23 events of a session: *[RunEvent] for nine of a run, *[AgentEnd], and the types below. An event and
// all that it points to is immutable and may be kept. MarshalJSON gives the object that the reference's subscribers see.
type Event interface {
	Type() EventType
	json.Marshaler
}

// RunEvent is an event of a run as it is passed on; all but agent_end.
type RunEvent struct{ agentcore.Event }

// AgentEnd closes a run.
type AgentEnd struct {
	Messages []*agentcore.Message
	// WillRetry says that the run failed in a way that is retried. Even when it is false the session may go on: with a
	// compaction, with queued messages. Only agent_settled says that it does not.
	WillRetry bool
}

// AgentSettled says that nothing automatic will follow.
type AgentSettled struct{}

// QueueUpdate tells which texts are queued.
type QueueUpdate struct {
	Steering []string `json:"steering"`
	FollowUp []string `json:"followUp"`
}

// CompactionReason says why a session is compacted.
type CompactionReason string

// The reasons.
const (
	CompactManual    CompactionReason = "manual"
	CompactThreshold CompactionReason = "threshold"
	CompactOverflow  CompactionReason = "overflow"
)

// CompactionStart says that a compaction begins.
type CompactionStart struct {
	Reason CompactionReason `json:"reason"`
}

// CompactionResult is what a compaction did.
type CompactionResult struct {
	Summary              string           `json:"summary"`
	FirstKeptEntryID     string           `json:"firstKeptEntryId"`
	TokensBefore         int64            `json:"tokensBefore"`
	EstimatedTokensAfter int64            `json:"estimatedTokensAfter"`
	Usage                *agentcore.Usage `json:"usage,omitempty"`
	Details              json.RawMessage  `json:"details,omitempty"`
}

// CompactionEnd says how a compaction ended. Result is nil when it had no effect.
type CompactionEnd struct {
	Reason       CompactionReason  `json:"reason"`
	Result       *CompactionResult `json:"result,omitempty"`
	Aborted      bool              `json:"aborted"`
	WillRetry    bool              `json:"willRetry"`
	ErrorMessage string            `json:"errorMessage,omitempty"`
}

// EntryAppended tells of an entry that an extension added for itself.
type EntryAppended struct {
	Entry *Entry `json:"entry"`
}

// InfoChanged tells of a new name; "" is none.
type InfoChanged struct {
	Name string `json:"name,omitempty"`
}

// ThinkingLevelChanged tells of a new thinking level.
type ThinkingLevelChanged struct {
	Level agentcore.ThinkingLevel `json:"level"`
}

// AutoRetryStart says that a failed response is tried again after a delay.
type AutoRetryStart struct {
	Attempt      int    `json:"attempt"`
	MaxAttempts  int    `json:"maxAttempts"`
	DelayMs      int64  `json:"delayMs"`
	ErrorMessage string `json:"errorMessage"`
}

// AutoRetryEnd says how retrying ended.
type AutoRetryEnd struct {
	Success    bool   `json:"success"`
	Attempt    int    `json:"attempt"`
	FinalError string `json:"finalError,omitempty"`
}

// SummarizationRetryScheduled says that a summary is asked for again after a delay.
type SummarizationRetryScheduled struct {
	Attempt      int    `json:"attempt"`
	MaxAttempts  int    `json:"maxAttempts"`
	DelayMs      int64  `json:"delayMs"`
	ErrorMessage string `json:"errorMessage"`
}

// SummarizationRetryAttemptStart says that it is being asked for again. Source is "compaction", with a reason, or
// "branchSummary".
type SummarizationRetryAttemptStart struct {
	Source string           `json:"source"`
	Reason CompactionReason `json:"reason,omitempty"`
}

// SummarizationRetryFinished says that no more attempts are made.
type SummarizationRetryFinished struct{}

// BashExecutionUpdate is a piece of the output of a command that the user runs.
type BashExecutionUpdate struct {
	ID    string `json:"id,omitempty"`
	Delta string `json:"delta"`
}

// Type implements [Event].
func (e *RunEvent) Type() EventType { return EventType(e.Event.Type()) }

// Type implements [Event].
func (*AgentEnd) Type() EventType { return EventAgentEnd }

// Type implements [Event].
func (*AgentSettled) Type() EventType { return EventAgentSettled }

// Type implements [Event].
func (*QueueUpdate) Type() EventType { return EventQueueUpdate }

// Type implements [Event].
func (*CompactionStart) Type() EventType { return EventCompactionStart }

// Type implements [Event].
func (*CompactionEnd) Type() EventType { return EventCompactionEnd }

// Type implements [Event].
func (*EntryAppended) Type() EventType { return EventEntryAppended }

// Type implements [Event].
func (*InfoChanged) Type() EventType { return EventSessionInfoChanged }

// Type implements [Event].
func (*ThinkingLevelChanged) Type() EventType { return EventThinkingLevelChanged }

// Type implements [Event].
func (*AutoRetryStart) Type() EventType { return EventAutoRetryStart }

// Type implements [Event].
func (*AutoRetryEnd) Type() EventType { return EventAutoRetryEnd }

// Type implements [Event].
func (*SummarizationRetryScheduled) Type() EventType { return EventSummarizationRetryScheduled }

// Type implements [Event].
func (*SummarizationRetryAttemptStart) Type() EventType { return EventSummarizationRetryAttemptStart }

// Type implements [Event].
func (*SummarizationRetryFinished) Type() EventType { return EventSummarizationRetryFinished }

// Type implements [Event].
func (*BashExecutionUpdate) Type() EventType { return EventBashExecutionUpdate }

// MarshalJSON implements [Event].
func (e *RunEvent) MarshalJSON() ([]byte, error) { return agentcore.AppendEvent(nil, e.Event) }

// MarshalJSON implements [Event].
func (e *AgentEnd) MarshalJSON() ([]byte, error) {
	raw, err := agentcore.AppendEvent(nil, &agentcore.AgentEnd{Messages: e.Messages})
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(raw[:len(raw)-1], `,"willRetry":%t}`, e.WillRetry), nil
}

// MarshalJSON implements [Event].
func (e *AgentSettled) MarshalJSON() ([]byte, error) { return tagged(e.Type(), struct{}{}) }

// MarshalJSON implements [Event].
func (e *QueueUpdate) MarshalJSON() ([]byte, error) {
	type plain QueueUpdate
	return tagged(e.Type(), (*plain)(e))
}

// MarshalJSON implements [Event].
func (e *CompactionStart) MarshalJSON() ([]byte, error) {
	type plain CompactionStart
	return tagged(e.Type(), (*plain)(e))
}

// MarshalJSON implements [Event].
func (e *CompactionEnd) MarshalJSON() ([]byte, error) {
	type plain CompactionEnd
	return tagged(e.Type(), (*plain)(e))
}

// MarshalJSON implements [Event].
func (e *EntryAppended) MarshalJSON() ([]byte, error) {
	type plain EntryAppended
	return tagged(e.Type(), (*plain)(e))
}

// MarshalJSON implements [Event].
func (e *InfoChanged) MarshalJSON() ([]byte, error) {
	type plain InfoChanged
	return tagged(e.Type(), (*plain)(e))
}

// MarshalJSON implements [Event].
func (e *ThinkingLevelChanged) MarshalJSON() ([]byte, error) {
	type plain ThinkingLevelChanged
	return tagged(e.Type(), (*plain)(e))
}

// MarshalJSON implements [Event].
func (e *AutoRetryStart) MarshalJSON() ([]byte, error) {
	type plain AutoRetryStart
	return tagged(e.Type(), (*plain)(e))
}

// MarshalJSON implements [Event].
func (e *AutoRetryEnd) MarshalJSON() ([]byte, error) {
	type plain AutoRetryEnd
	return tagged(e.Type(), (*plain)(e))
}

// MarshalJSON implements [Event].
func (e *SummarizationRetryScheduled) MarshalJSON() ([]byte, error) {
	type plain SummarizationRetryScheduled
	return tagged(e.Type(), (*plain)(e))
}

// MarshalJSON implements [Event].
func (e *SummarizationRetryAttemptStart) MarshalJSON() ([]byte, error) {
	type plain SummarizationRetryAttemptStart
	return tagged(e.Type(), (*plain)(e))
}

// MarshalJSON implements [Event].
func (e *SummarizationRetryFinished) MarshalJSON() ([]byte, error) {
	return tagged(e.Type(), struct{}{})
}

// MarshalJSON implements [Event].
func (e *BashExecutionUpdate) MarshalJSON() ([]byte, error) {
	type plain BashExecutionUpdate
	return tagged(e.Type(), (*plain)(e))
}

// tagged is the object of fields with its type in front.
func tagged(t EventType, fields any) ([]byte, error) {
	raw, err := encodeJSON(fields)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t, err)
	}
	out := append([]byte(`{"type":"`), t.String()...)
	out = append(out, '"')
	if len(raw) > 2 {
		out = append(out, ',')
	}
	return append(out, raw[1:]...), nil
}

package wire

import (
	"context"
	"encoding/json"

	"weir/agentcore"
)

// Payload is what an event tells, for the events that are no part of a run of the loop. It is one of the types below, by
// value or by pointer; encoding/json gives the object that guests see, without type and context.
type Payload interface {
	// Kind is the event.
	Kind() Event
}

// ProjectTrustEvent asks whether a folder is trusted.
type ProjectTrustEvent struct {
	CWD string `json:"cwd"`
}

// ResourcesDiscoverEvent asks for folders with skills, prompts and themes.
type ResourcesDiscoverEvent struct {
	CWD    string `json:"cwd"`
	Reason string `json:"reason"` // "startup" or "reload"
}

// SessionStartEvent says that a session is there.
type SessionStartEvent struct {
	Reason              string `json:"reason"` // "startup", "reload", "new", "resume", "fork"
	PreviousSessionFile string `json:"previousSessionFile,omitempty"`
}

// SessionShutdownEvent says that a session ends.
type SessionShutdownEvent struct {
	Reason            string `json:"reason"` // "quit", "reload", "new", "resume", "fork"
	TargetSessionFile string `json:"targetSessionFile,omitempty"`
}

// SessionInfoChangedEvent says that a session has a new name; "" is none.
type SessionInfoChangedEvent struct {
	Name string `json:"name,omitempty"`
}

// SessionBeforeSwitchEvent comes before another session takes the place of this one.
type SessionBeforeSwitchEvent struct {
	Reason            string `json:"reason"` // "new" or "resume"
	TargetSessionFile string `json:"targetSessionFile,omitempty"`
}

// SessionBeforeForkEvent comes before a session is forked.
type SessionBeforeForkEvent struct {
	EntryID  string `json:"entryId"`
	Position string `json:"position"` // "before" or "at"
}

// FileOps are the files that the summarised part touched, sorted.
type FileOps struct {
	Read    []string `json:"read"`
	Written []string `json:"written"`
	Edited  []string `json:"edited"`
}

// CompactionPreparation says what a compaction is about to do.
type CompactionPreparation struct {
	FirstKeptEntryID    string               `json:"firstKeptEntryId"`
	MessagesToSummarize []*agentcore.Message `json:"messagesToSummarize"`
	TurnPrefixMessages  []*agentcore.Message `json:"turnPrefixMessages"`
	IsSplitTurn         bool                 `json:"isSplitTurn"`
	TokensBefore        int64                `json:"tokensBefore"`
	PreviousSummary     string               `json:"previousSummary,omitempty"`
	FileOps             FileOps              `json:"fileOps"`
	Settings            any                  `json:"settings"`
}

// SessionBeforeCompactEvent comes before a session is compacted. BranchEntries are entries as the session file has them.
type SessionBeforeCompactEvent struct {
	Preparation        CompactionPreparation `json:"preparation"`
	BranchEntries      []json.RawMessage     `json:"branchEntries"`
	CustomInstructions string                `json:"customInstructions,omitempty"`
	Reason             string                `json:"reason"` // "manual", "threshold", "overflow"
	WillRetry          bool                  `json:"willRetry"`
}

// SessionCompactEvent says that a session was compacted.
type SessionCompactEvent struct {
	CompactionEntry json.RawMessage `json:"compactionEntry"`
	FromExtension   bool            `json:"fromExtension"`
	Reason          string          `json:"reason"`
	WillRetry       bool            `json:"willRetry"`
}

// SessionCompactFailedEvent says that a compaction ended without effect.
type SessionCompactFailedEvent struct {
	Reason        string `json:"reason"`
	ErrorMessage  string `json:"errorMessage,omitempty"` // absent when it was cancelled
	Aborted       bool   `json:"aborted"`
	WillRetry     bool   `json:"willRetry"`
	FromExtension bool   `json:"fromExtension"`
}

// TreePreparation says where a session is about to go, and what it leaves.
type TreePreparation struct {
	TargetID            string            `json:"targetId"`
	OldLeafID           *string           `json:"oldLeafId"`
	CommonAncestorID    *string           `json:"commonAncestorId"`
	EntriesToSummarize  []json.RawMessage `json:"entriesToSummarize"`
	UserWantsSummary    bool              `json:"userWantsSummary"`
	CustomInstructions  string            `json:"customInstructions,omitempty"`
	ReplaceInstructions bool              `json:"replaceInstructions,omitempty"`
	Label               string            `json:"label,omitempty"`
}

// SessionBeforeTreeEvent comes before a session moves to another branch.
type SessionBeforeTreeEvent struct {
	Preparation TreePreparation `json:"preparation"`
}

// SessionTreeEvent says that a session moved. FromExtension is nil when no summary was made.
type SessionTreeEvent struct {
	NewLeafID     *string         `json:"newLeafId"`
	OldLeafID     *string         `json:"oldLeafId"`
	SummaryEntry  json.RawMessage `json:"summaryEntry,omitempty"`
	FromExtension *bool           `json:"fromExtension,omitempty"`
}

// BeforeProviderHeadersEvent asks about the headers of a request; a nil value marks one that is not to be sent.
type BeforeProviderHeadersEvent struct {
	Headers []HeaderEdit
}

// MarshalJSON gives the headers as an object.
func (e BeforeProviderHeadersEvent) MarshalJSON() ([]byte, error) {
	b := []byte(`{"headers":{`)
	for i, h := range e.Headers {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(AppendString(b, h.Name), ':')
		if h.Value == nil {
			b = append(b, "null"...)
		} else {
			b = AppendString(b, *h.Value)
		}
	}
	return append(b, '}', '}'), nil
}

// BeforeProviderRequestEvent asks about the body of a request.
type BeforeProviderRequestEvent struct {
	Payload json.RawMessage `json:"payload"`
}

// AfterProviderResponseEvent tells how a provider answered, before any of its message.
type AfterProviderResponseEvent struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
}

// SystemPromptOptions say what a system prompt is made of.
type SystemPromptOptions struct {
	CWD              string            `json:"cwd"`
	CustomPrompt     string            `json:"customPrompt"`
	SelectedTools    []string          `json:"selectedTools"`
	ToolSnippets     map[string]string `json:"toolSnippets"`
	PromptGuidelines []string          `json:"promptGuidelines"`
}

// BeforeAgentStartEvent comes before the run of a prompt.
type BeforeAgentStartEvent struct {
	Prompt              string              `json:"prompt"`
	Images              []json.RawMessage   `json:"images,omitempty"`
	SystemPrompt        string              `json:"systemPrompt"`
	SystemPromptOptions SystemPromptOptions `json:"systemPromptOptions"`
}

// AgentSettledEvent says that nothing automatic will follow.
type AgentSettledEvent struct{}

// ModelSelectEvent says that another model is used.
type ModelSelectEvent struct {
	Model         agentcore.Model  `json:"model"`
	PreviousModel *agentcore.Model `json:"previousModel,omitempty"`
	Source        string           `json:"source"` // "set", "cycle", "restore"
}

// ThinkingLevelSelectEvent says that the thinking level changed.
type ThinkingLevelSelectEvent struct {
	Level         agentcore.ThinkingLevel `json:"level"`
	PreviousLevel agentcore.ThinkingLevel `json:"previousLevel"`
}

// UIPromptEvent says that a person is asked, or has answered.
type UIPromptEvent struct {
	End    bool   `json:"-"`      // ui_prompt_end; else ui_prompt_start
	Reason string `json:"reason"` // "ui_prompt"
	UIKind string `json:"kind"`   // "select", "confirm", "input", "editor", "custom"
	Title  string `json:"title,omitempty"`
}

// UserBashEvent comes before a command that the user typed is run.
type UserBashEvent struct {
	Command            string `json:"command"`
	ExcludeFromContext bool   `json:"excludeFromContext"`
	CWD                string `json:"cwd"`
}

// InputEvent is what a person, a program or an extension typed.
type InputEvent struct {
	Text              string            `json:"text"`
	Images            []json.RawMessage `json:"images,omitempty"`
	Source            string            `json:"source"`                      // "interactive", "rpc", "extension"
	StreamingBehavior string            `json:"streamingBehavior,omitempty"` // "steer" or "followUp", during a run only
}

// BashOperations run commands in place of the local shell. Only extensions in Go can give them.
type BashOperations interface {
	// Exec runs a command and gives its output to onData as it comes. It returns when the command has ended, soon after ctx
	// is cancelled; then the error does not count.
	Exec(ctx context.Context, command, cwd string, onData func([]byte)) (exitCode int, err error)
}

// Kind implements [Payload].
func (ProjectTrustEvent) Kind() Event { return EventProjectTrust }

// Kind implements [Payload].
func (ResourcesDiscoverEvent) Kind() Event { return EventResourcesDiscover }

// Kind implements [Payload].
func (SessionStartEvent) Kind() Event { return EventSessionStart }

// Kind implements [Payload].
func (SessionShutdownEvent) Kind() Event { return EventSessionShutdown }

// Kind implements [Payload].
func (SessionInfoChangedEvent) Kind() Event { return EventSessionInfoChanged }

// Kind implements [Payload].
func (SessionBeforeSwitchEvent) Kind() Event { return EventSessionBeforeSwitch }

// Kind implements [Payload].
func (SessionBeforeForkEvent) Kind() Event { return EventSessionBeforeFork }

// Kind implements [Payload].
func (SessionBeforeCompactEvent) Kind() Event { return EventSessionBeforeCompact }

// Kind implements [Payload].
func (SessionCompactEvent) Kind() Event { return EventSessionCompact }

// Kind implements [Payload].
func (SessionCompactFailedEvent) Kind() Event { return EventSessionCompactFailed }

// Kind implements [Payload].
func (SessionBeforeTreeEvent) Kind() Event { return EventSessionBeforeTree }

// Kind implements [Payload].
func (SessionTreeEvent) Kind() Event { return EventSessionTree }

// Kind implements [Payload].
func (BeforeProviderHeadersEvent) Kind() Event { return EventBeforeProviderHeaders }

// Kind implements [Payload].
func (BeforeProviderRequestEvent) Kind() Event { return EventBeforeProviderRequest }

// Kind implements [Payload].
func (AfterProviderResponseEvent) Kind() Event { return EventAfterProviderResponse }

// Kind implements [Payload].
func (BeforeAgentStartEvent) Kind() Event { return EventBeforeAgentStart }

// Kind implements [Payload].
func (AgentSettledEvent) Kind() Event { return EventAgentSettled }

// Kind implements [Payload].
func (ModelSelectEvent) Kind() Event { return EventModelSelect }

// Kind implements [Payload].
func (ThinkingLevelSelectEvent) Kind() Event { return EventThinkingLevelSelect }

// Kind implements [Payload].
func (e UIPromptEvent) Kind() Event {
	if e.End {
		return EventUIPromptEnd
	}
	return EventUIPromptStart
}

// Kind implements [Payload].
func (UserBashEvent) Kind() Event { return EventUserBash }

// Kind implements [Payload].
func (InputEvent) Kind() Event { return EventInput }

// BeforeAgentStartOutcome is what a chain of before_agent_start hooks decided.
type BeforeAgentStartOutcome struct {
	// Messages follow the prompt, in order.
	Messages []*CustomMessage
	// SystemPrompt replaces the system prompt; nil keeps it.
	SystemPrompt *string
}

// UserBashOutcome is what was decided about a command; By is empty when nobody had an opinion.
type UserBashOutcome struct {
	Result UserBashResult
	By     string
}

// SessionBeforeOutcome is what was decided before a session changes; By is empty when nobody had an opinion.
type SessionBeforeOutcome struct {
	Result SessionBeforeResult
	By     string
}

// ProjectTrustOutcome is what was decided about a folder; By is empty when nobody did.
type ProjectTrustOutcome struct {
	Result ProjectTrustResult
	By     string
}

// Payloads gives an empty payload of each kind that has one, in the order of the events.
func Payloads() []Payload {
	return []Payload{
		ProjectTrustEvent{},
		ResourcesDiscoverEvent{},
		SessionStartEvent{},
		SessionInfoChangedEvent{},
		SessionBeforeSwitchEvent{},
		SessionBeforeForkEvent{},
		SessionBeforeCompactEvent{},
		SessionCompactEvent{},
		SessionCompactFailedEvent{},
		SessionShutdownEvent{},
		SessionBeforeTreeEvent{},
		SessionTreeEvent{},
		BeforeProviderHeadersEvent{},
		BeforeProviderRequestEvent{},
		AfterProviderResponseEvent{},
		BeforeAgentStartEvent{},
		AgentSettledEvent{},
		ModelSelectEvent{},
		ThinkingLevelSelectEvent{},
		UIPromptEvent{},
		UIPromptEvent{End: true},
		UserBashEvent{},
		InputEvent{},
	}
}

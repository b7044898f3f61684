package wasmhost

import (
	"context"
	"encoding/json"
)

// Session is what guests may do to the session (a conversation with its files and settings) that they are part of. Messages and
// entries are JSON as the session's file has it. No method may wait for what waits for a guest: a run, a compaction, another
// session. Safe for concurrent use. An error is given to the guest as a text.
type Session interface {
	State() (SessionState, error)
	// Entries are at most most entries after the one of that id, or from the first for "", in the order of the file.
	Entries(after string, most int) (entries []json.RawMessage, more bool, err error)
	Entry(id string) (json.RawMessage, error)
	// Messages are at most most messages of those that the model works with, and how many there are.
	Messages(from, most int) (messages []json.RawMessage, total int, err error)
	Tools() ([]SessionTool, error)

	// AppendEntry keeps data, which may be nil, out of the conversation, and gives the entry's id.
	AppendEntry(customType string, data json.RawMessage) (id string, err error)
	SetLabel(entryID, label string) error // "" takes the label away
	SetName(name string) error            // "" takes the name away

	// SendMessage and SendUserMessage do not wait for a run that they start.
	SendMessage(m SessionMessage) error
	SendUserMessage(content json.RawMessage, deliver string) error

	SetTools(names []string) error
	SetModel(ctx context.Context, provider, id string) error
	// SetThinkingLevel sets the nearest level that the model has, and gives it.
	SetThinkingLevel(level string) (string, error)

	// These say whether what they name can be begun. begin is called when the guest's call is over, and must not block; what
	// fails then is not told to the guest.
	Abort() (begin func(), err error)
	Compact(instructions string) (begin func(), err error)
	NewSession() (begin func(), err error)
	Fork(entryID string, at bool) (begin func(), err error)
	Navigate(entryID string, how SessionNavigation) (begin func(), err error)
}

// SessionState is what a session is and does. Empty texts are left out.
type SessionState struct {
	ID            string          `json:"id"`
	Name          string          `json:"name,omitempty"`
	CWD           string          `json:"cwd,omitempty"`
	File          string          `json:"file,omitempty"`
	Leaf          *string         `json:"leaf"`
	Entries       int             `json:"entries"`
	Messages      int             `json:"messages"`
	Idle          bool            `json:"idle"`
	Streaming     bool            `json:"streaming"`
	Compacting    bool            `json:"compacting"`
	Retrying      bool            `json:"retrying"`
	Aborted       *bool           `json:"aborted"` // nil when nothing runs
	Queued        int             `json:"queued"`
	Model         SessionModel    `json:"model"`
	ThinkingLevel string          `json:"thinkingLevel"`
	SystemPrompt  string          `json:"systemPrompt"`
	ContextUsage  json.RawMessage `json:"contextUsage"` // an object, or null when it is not known
}

// SessionModel names a model.
type SessionModel struct {
	Provider string `json:"provider"`
	ID       string `json:"id"`
}

// SessionTool is a tool of a session.
type SessionTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Active      bool   `json:"active"` // offered to the model
}

// SessionMessage is a message of an extension for the model to read.
type SessionMessage struct {
	CustomType string
	Content    json.RawMessage // a text or a list of blocks
	Display    bool            // a person sees it too
	Details    json.RawMessage // nil for none; the model does not see them
	Trigger    *bool           // whether it starts a run when none is under way; nil leaves the choice to the session
	Deliver    string          // "steer", "followUp", "nextTurn" or "": when the model gets it
}

// SessionNavigation says how a branch is left.
type SessionNavigation struct {
	Summarize    bool
	Instructions string
	Replace      bool // the instructions are all that the model is told
	Label        string
}

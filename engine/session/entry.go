package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"weir/agentcore"
)

// EntryType names what a session entry holds. Entries of other types are kept untouched.
type EntryType string

// The entry types of session format version 3.
const (
	EntryMessage       EntryType = "message"
	EntryThinkingLevel EntryType = "thinking_level_change"
	EntryModel         EntryType = "model_change"
	EntryCompaction    EntryType = "compaction"
	EntryBranchSummary EntryType = "branch_summary"
	EntryCustom        EntryType = "custom"
	EntryCustomMessage EntryType = "custom_message"
	EntryLabel         EntryType = "label"
	EntrySessionInfo   EntryType = "session_info"
)

// Entry is one immutable node of a session's tree. Safe for concurrent use.
type Entry struct {
	Type EntryType
	// ID is unique in its session. In a file that names two entries alike, the later one gets an id of its own in memory.
	ID string
	// ParentID is the id of the entry before it on its branch; "" for a root, and for an entry whose parent is missing.
	ParentID string
	// Timestamp is when it was appended, in the text form of the file (ISO 8601).
	Timestamp string

	index  int // place in the log
	parent int // place of the parent, -1 for none
	raw    json.RawMessage

	once sync.Once
	data EntryData
	err  error

	messageOnce sync.Once
	message     *agentcore.Message
	messageErr  error
}

// EntryData are the fields of all entry types; those that a type does not have are zero.
type EntryData struct {
	Message          json.RawMessage   `json:"message,omitempty"`
	Provider         string            `json:"provider,omitempty"`
	ModelID          string            `json:"modelId,omitempty"`
	ThinkingLevel    string            `json:"thinkingLevel,omitempty"`
	Summary          string            `json:"summary,omitempty"`
	FirstKeptEntryID string            `json:"firstKeptEntryId,omitempty"`
	TokensBefore     *int64            `json:"tokensBefore,omitempty"`
	RetainedTail     []json.RawMessage `json:"retainedTail,omitempty"`
	FromID           string            `json:"fromId,omitempty"`
	Details          json.RawMessage   `json:"details,omitempty"`
	Usage            json.RawMessage   `json:"usage,omitempty"`
	FromHook         *bool             `json:"fromHook,omitempty"`
	CustomType       string            `json:"customType,omitempty"`
	Data             json.RawMessage   `json:"data,omitempty"`
	Content          json.RawMessage   `json:"content,omitempty"`
	Display          *bool             `json:"display,omitempty"`
	TargetID         string            `json:"targetId,omitempty"`
	Label            *string           `json:"label,omitempty"`
	Name             *string           `json:"name,omitempty"`
}

// JSON is the entry's line in the file, without the line break. It must not be changed.
func (e *Entry) JSON() json.RawMessage { return e.raw }

// MarshalJSON implements [json.Marshaler].
func (e *Entry) MarshalJSON() ([]byte, error) { return e.raw, nil }

// Data decodes the entry's fields, once. The error names a field of the wrong type; the entry then counts for nothing but
// its place in the tree.
func (e *Entry) Data() (*EntryData, error) {
	e.once.Do(func() {
		if err := json.Unmarshal(e.raw, &e.data); err != nil {
			e.data, e.err = EntryData{}, fmt.Errorf("entry %s (%s): %w", e.ID, e.Type, err)
		}
	})
	return &e.data, e.err
}

// Message is what the entry puts into the model's context, nil for entries that put nothing there. A compaction gives its
// summary.
func (e *Entry) Message() (*agentcore.Message, error) {
	e.messageOnce.Do(func() {
		e.message, e.messageErr = e.decodeMessage()
		if e.messageErr != nil {
			e.messageErr = fmt.Errorf("entry %s (%s): %w", e.ID, e.Type, e.messageErr)
		}
	})
	return e.message, e.messageErr
}

func (e *Entry) decodeMessage() (*agentcore.Message, error) {
	switch e.Type {
	case EntryMessage:
		raw := e.messageJSON()
		if raw == nil {
			return nil, errors.New("no message")
		}
		return agentcore.DecodeMessage(raw)
	case EntryCustomMessage, EntryBranchSummary, EntryCompaction:
	default:
		return nil, nil
	}
	d, err := e.Data()
	if err != nil {
		return nil, err
	}
	at := e.Time().UnixMilli()
	switch e.Type {
	case EntryCustomMessage:
		return customMessage(&CustomMessage{CustomType: d.CustomType, Content: d.Content, Display: d.Display != nil && *d.Display, Details: d.Details}, at)
	case EntryBranchSummary:
		return opaque(RoleBranchSummary, at, struct {
			Role      agentcore.Role `json:"role"`
			Summary   string         `json:"summary"`
			FromID    string         `json:"fromId"`
			Timestamp int64          `json:"timestamp"`
		}{RoleBranchSummary, d.Summary, d.FromID, at})
	default:
		var tokens int64
		if d.TokensBefore != nil {
			tokens = *d.TokensBefore
		}
		return opaque(RoleCompactionSummary, at, struct {
			Role         agentcore.Role `json:"role"`
			Summary      string         `json:"summary"`
			TokensBefore int64          `json:"tokensBefore"`
			Timestamp    int64          `json:"timestamp"`
		}{RoleCompactionSummary, d.Summary, tokens, at})
	}
}

// messageJSON is the entry's message as it stands in the line, without decoding the rest.
func (e *Entry) messageJSON() (message json.RawMessage) {
	scanObject(e.raw, func(key string, _ int, value []byte) {
		if key == "message" {
			message = value
		}
	})
	return message
}

// Time is the entry's timestamp; the zero time when it cannot be read.
func (e *Entry) Time() time.Time {
	t, err := time.Parse(time.RFC3339Nano, e.Timestamp)
	if err != nil {
		return time.Time{}
	}
	return t
}

// customMessage makes the message of a custom message. Content that is missing is an empty list.
func customMessage(m *CustomMessage, at int64) (*agentcore.Message, error) {
	content := m.Content
	if len(content) == 0 || string(content) == "null" {
		content = json.RawMessage("[]")
	}
	if _, err := agentcore.DecodeContent(content); err != nil {
		return nil, err
	}
	return opaque(RoleCustom, at, struct {
		Role       agentcore.Role  `json:"role"`
		CustomType string          `json:"customType"`
		Content    json.RawMessage `json:"content"`
		Display    bool            `json:"display"`
		Details    json.RawMessage `json:"details,omitempty"`
		Timestamp  int64           `json:"timestamp"`
	}{RoleCustom, m.CustomType, content, m.Display, m.Details, at})
}

// opaque makes a message of a role that the loop does not know.
func opaque(role agentcore.Role, at int64, fields any) (*agentcore.Message, error) {
	raw, err := encodeJSON(fields)
	if err != nil {
		return nil, err
	}
	return agentcore.NewMessage(&agentcore.OpaqueMessage{RoleName: role, JSON: raw, Timestamp: at}), nil
}

// encodeJSON is json.Marshal without HTML escaping.
func encodeJSON(v any) (json.RawMessage, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n")), nil
}

// isoTime is the reference's form of a timestamp.
func isoTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// newEntry makes an entry and its line.
func newEntry(kind EntryType, id, parentID string, at time.Time, data *EntryData) (*Entry, error) {
	var parent *string
	if parentID != "" {
		parent = &parentID
	}
	raw, err := encodeJSON(struct {
		Type      EntryType `json:"type"`
		ID        string    `json:"id"`
		ParentID  *string   `json:"parentId"`
		Timestamp string    `json:"timestamp"`
		*EntryData
	}{kind, id, parent, isoTime(at), data})
	if err != nil {
		return nil, fmt.Errorf("encode %s entry: %w", kind, err)
	}
	return &Entry{Type: kind, ID: id, ParentID: parentID, Timestamp: isoTime(at), raw: raw, parent: -1}, nil
}

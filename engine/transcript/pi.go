package transcript

import (
	"encoding/json"
	"strings"
	"time"

	"weir/agentcore"
)

// piEntry is a line of a Pi session, of any version; the first line is the header.
type piEntry struct {
	Type      string
	CWD       string
	Timestamp string
	Message   json.RawMessage
}

type piMessage struct {
	Role       string
	Content    json.RawMessage
	ToolCallID string `json:"toolCallId"`
	IsError    bool   `json:"isError"`
	Details    json.RawMessage
	Timestamp  json.RawMessage // milliseconds
}

type piBlock struct {
	Type      string
	ID        string
	Name      string
	Arguments json.RawMessage
}

// piTypes are the entries without tool calls.
const piTypes = "model_change thinking_level_change compaction branch_summary custom custom_message label session_info"

func (r *reader) pi(raw []byte) error {
	var e piEntry
	if !r.decode(raw, &e) {
		return nil
	}
	switch {
	case e.Type == "session":
		r.cwd = e.CWD
		return nil
	case e.Type != "message":
		if !among(piTypes, e.Type) {
			r.report.Unknown++
		}
		return nil
	}
	var m piMessage
	if !r.decode(e.Message, &m) {
		return nil
	}
	r.time = stamp(e.Timestamp)
	var ms int64
	if json.Unmarshal(m.Timestamp, &ms) == nil && ms > 0 && r.time.IsZero() {
		r.time = time.UnixMilli(ms).UTC()
	}
	switch m.Role {
	case "assistant":
		return r.piCalls(&m)
	case "toolResult":
		ev := &Event{Outcome: OK, Details: m.Details}
		var err error
		if ev.Content, err = blocks(m.Content); err != nil {
			r.bad = err
			return nil
		}
		if m.IsError {
			ev.Outcome = Failed
			if piDenied(allText(ev.Content)) {
				ev.Outcome = Denied
			}
		}
		return r.result(m.ToolCallID, ev)
	}
	return nil
}

func (r *reader) piCalls(m *piMessage) error {
	if len(m.Content) == 0 || m.Content[0] != '[' {
		return nil
	}
	var list []piBlock
	if !r.decode(m.Content, &list) {
		return nil
	}
	for i := range list {
		b := &list[i]
		if b.Type != "toolCall" {
			continue
		}
		if err := r.call(&Event{CallID: b.ID, Tool: b.Name, Native: b.Name, Input: b.Arguments}, b.Arguments, string(m.Timestamp), true); err != nil {
			return err
		}
	}
	return nil
}

// piDenied knows weir's own words for a call that was blocked, and the reference's. Other reasons are an extension's, and
// cannot be told from a tool's error.
func piDenied(text string) bool {
	return strings.HasSuffix(text, "; the call was blocked") || strings.HasSuffix(text, ", so the call was blocked") ||
		strings.HasSuffix(text, "; the person said no") || strings.HasPrefix(text, "blocked by the extension ") || text == "Tool execution was blocked"
}

// blocks reads content: one text, or blocks.
func blocks(raw json.RawMessage) ([]agentcore.Block, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return []agentcore.Block{}, nil
	}
	if raw[0] == '"' {
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, err
		}
		return text(s), nil
	}
	return agentcore.DecodeBlocks(raw)
}

// among says whether a name is in a list parted by spaces.
func among(list, name string) bool {
	for n := range strings.FieldsSeq(list) {
		if n == name {
			return true
		}
	}
	return false
}

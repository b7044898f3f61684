package transcript

import (
	"encoding/json"
	"strings"
)

// claudeEntry is a line of a Claude Code transcript.
type claudeEntry struct {
	Type          string
	Timestamp     string
	CWD           string
	AgentID       string          `json:"agentId"`
	Message       json.RawMessage // of user and assistant
	ToolUseResult json.RawMessage `json:"toolUseResult"`
}

type claudeMessage struct{ Content json.RawMessage }

type claudeBlock struct {
	Type      string
	ID        string
	Name      string
	Input     json.RawMessage
	ToolUseID string `json:"tool_use_id"`
	Content   json.RawMessage
	IsError   bool `json:"is_error"`
}

// claudeTypes are the entries without tool calls of their own. A progress entry may hold a copy of a subagent's message.
const claudeTypes = "summary custom-title ai-title agent-name agent-color tag system attachment file-history-snapshot file-history-delta queue-operation " +
	"mode permission-mode last-prompt pr-link progress worktree-state"

func (r *reader) claude(raw []byte) error {
	var e claudeEntry
	if !r.decode(raw, &e) {
		return nil
	}
	if e.Type != "user" && e.Type != "assistant" {
		if !among(claudeTypes, e.Type) {
			r.report.Unknown++
		}
		return nil
	}
	r.time, r.subagent = stamp(e.Timestamp), e.AgentID
	if e.CWD != "" {
		r.cwd = e.CWD
	}
	var m claudeMessage
	if !r.decode(e.Message, &m) {
		return nil
	}
	if len(m.Content) == 0 || m.Content[0] != '[' {
		return nil // a text
	}
	var list []claudeBlock
	if !r.decode(m.Content, &list) {
		return nil
	}
	results := 0
	for i := range list {
		if list[i].Type == "tool_result" {
			results++
		}
	}
	if results > 1 {
		e.ToolUseResult = nil // it cannot be told whose it is
	}
	for i := range list {
		b := &list[i]
		var err error
		switch b.Type {
		case "tool_use":
			err = r.call(&Event{CallID: b.ID, Tool: b.Name, Native: b.Name, Input: b.Input}, b.Input, "", false)
		case "server_tool_use":
			r.report.Remote++
		case "tool_result":
			err = r.claudeResult(b, e.ToolUseResult)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) claudeResult(b *claudeBlock, structured json.RawMessage) error {
	ev := &Event{Outcome: OK, Response: structured}
	var err error
	if ev.Content, err = textItems(b.Content); err != nil {
		r.bad = err
		return nil
	}
	if b.IsError {
		ev.Outcome, ev.Response = Failed, nil
		if claudeDenied(allText(ev.Content)) || string(structured) == `"User rejected tool use"` {
			ev.Outcome = Denied
		}
	}
	if ev.Outcome == OK && (len(ev.Response) == 0 || string(ev.Response) == "null") {
		ev.Response = b.Content
	}
	return r.result(b.ToolUseID, ev)
}

// claudeDenied knows the texts of Claude Code for a call that a person, a rule or a hook did not let run.
func claudeDenied(text string) bool {
	text = strings.TrimPrefix(text, "Error: ")
	for _, start := range [...]string{
		"The user doesn't want to proceed with this tool use", "The user doesn't want to take this action right now", "[Request interrupted by user for tool use",
		"Claude requested permissions to", "Permission to use ", "Permission for this", "PreToolUse:", "Hook PreToolUse:",
	} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}

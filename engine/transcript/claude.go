package transcript

import (
	"bytes"
	"strings"
)

// claudeEntry is a line of a Claude Code transcript.
type claudeEntry struct{ timestamp, cwd, agent, message, structured []byte }

type claudeBlock struct {
	kind, name                             string
	id, input, toolUseID, content, isError []byte
}

// claudeTypes are the entries without tool calls of their own. A progress entry may hold a copy of a subagent's message.
const claudeTypes = "summary custom-title ai-title agent-name agent-color tag system attachment file-history-snapshot file-history-delta queue-operation " +
	"mode permission-mode last-prompt pr-link progress worktree-state"

func (r *reader) claude(raw []byte) error {
	var e claudeEntry
	var kind string
	members(raw, func(key string, v []byte) {
		switch key {
		case "type":
			kind = str(v)
		case "timestamp":
			e.timestamp = v
		case "cwd":
			e.cwd = v
		case "agentId":
			e.agent = v
		case "message":
			e.message = v
		case "toolUseResult":
			e.structured = v
		}
	})
	if kind != "user" && kind != "assistant" {
		if !among(claudeTypes, kind) {
			r.report.Unknown++
		}
		return nil
	}
	r.time, r.subagent = stamp(str(e.timestamp)), str(e.agent)
	if cwd := str(e.cwd); cwd != "" {
		r.cwd = cwd
	}
	var list []claudeBlock
	results := 0
	members(e.message, func(key string, v []byte) {
		if key != "content" {
			return
		}
		elements(v, func(block []byte) {
			if block[0] != '{' {
				r.bad = errBlock
			}
			b := newClaudeBlock(block)
			if list = append(list, b); b.kind == "tool_result" {
				results++
			}
		})
	})
	if results > 1 {
		e.structured = nil // it cannot be told whose it is
	}
	for i := range list {
		b := &list[i]
		var err error
		switch b.kind {
		case "tool_use":
			err = r.call(&Event{CallID: str(b.id), Tool: b.name, Native: b.name, Input: bytes.Clone(b.input)}, b.input, "", false)
		case "server_tool_use":
			r.report.Remote++
		case "tool_result":
			err = r.claudeResult(b, e.structured)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func newClaudeBlock(raw []byte) (b claudeBlock) {
	members(raw, func(key string, v []byte) {
		switch key {
		case "type":
			b.kind = str(v)
		case "id":
			b.id = v
		case "name":
			b.name = str(v)
		case "input":
			b.input = v
		case "tool_use_id":
			b.toolUseID = v
		case "content":
			b.content = v
		case "is_error":
			b.isError = v
		}
	})
	return b
}

// claudeResult reads a result: a failed one is the text that the model read, another the structure that a hook gets.
func (r *reader) claudeResult(b *claudeBlock, structured []byte) error {
	ev := &Event{Outcome: OK}
	switch {
	case isTrue(b.isError):
		ev.Outcome, ev.Content = Failed, textItems(b.content)
		if claudeDenied(allText(ev.Content)) || string(structured) == `"User rejected tool use"` {
			ev.Outcome = Denied
		}
	case len(structured) > 0 && string(structured) != "null":
		ev.Response = bytes.Clone(structured)
	default:
		ev.Response = bytes.Clone(b.content)
	}
	return r.result(str(b.toolUseID), ev)
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

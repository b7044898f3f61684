package session

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"weir/agentcore"
)

// Roles of messages that a session adds to those of the loop.
const (
	RoleCustom            agentcore.Role = "custom"
	RoleBashExecution     agentcore.Role = "bashExecution"
	RoleBranchSummary     agentcore.Role = "branchSummary"
	RoleCompactionSummary agentcore.Role = "compactionSummary"
)

// CustomMessage is what an extension adds to the conversation.
type CustomMessage struct {
	CustomType string          `json:"customType"`
	Content    json.RawMessage `json:"content"` // text or a list of blocks
	Display    bool            `json:"display"`
	Details    json.RawMessage `json:"details"`
}

// BashExecution is a command that the user ran.
type BashExecution struct {
	Command            string `json:"command"`
	Output             string `json:"output"`
	ExitCode           *int64 `json:"exitCode"` // nil when unknown or killed
	Cancelled          bool   `json:"cancelled"`
	Truncated          bool   `json:"truncated"`
	FullOutputPath     string `json:"fullOutputPath"`
	ExcludeFromContext bool   `json:"excludeFromContext"`
}

// summaryMessage is a branch or compaction summary.
type summaryMessage struct {
	Summary string `json:"summary"`
}

// ConvertToLLM turns the messages of a session into those that a model understands: custom messages, commands and
// summaries become user messages, commands kept from the model and unknown roles are dropped. It has the form of
// [agentcore.Hooks].ConvertToLLM. Messages that stay as they are are not copied.
func ConvertToLLM(_ context.Context, messages []*agentcore.Message) ([]*agentcore.Message, error) {
	if !slices.ContainsFunc(messages, isOpaque) {
		return messages, nil
	}
	out := make([]*agentcore.Message, 0, len(messages))
	for i, m := range messages {
		if !isOpaque(m) {
			out = append(out, m)
			continue
		}
		converted, err := convert(m.Body().(*agentcore.OpaqueMessage))
		if err != nil {
			return nil, fmt.Errorf("message %d (%s): %w", i, m.Role(), err)
		}
		if converted != nil {
			out = append(out, converted)
		}
	}
	return out, nil
}

func isOpaque(m *agentcore.Message) bool {
	_, ok := m.Body().(*agentcore.OpaqueMessage)
	return ok
}

// convert is the user message that stands for m, or nil.
func convert(m *agentcore.OpaqueMessage) (*agentcore.Message, error) {
	switch m.RoleName {
	case RoleCustom:
		var c CustomMessage
		if err := json.Unmarshal(m.JSON, &c); err != nil {
			return nil, err
		}
		content, err := agentcore.DecodeContent(c.Content)
		if err != nil {
			return nil, err
		}
		if content.Blocks == nil {
			content = textContent(content.Text)
		}
		return userMessage(content, m.Timestamp), nil
	case RoleBashExecution:
		var b BashExecution
		if err := json.Unmarshal(m.JSON, &b); err != nil {
			return nil, err
		}
		if b.ExcludeFromContext {
			return nil, nil
		}
		return userMessage(textContent(b.Text()), m.Timestamp), nil
	case RoleBranchSummary, RoleCompactionSummary:
		var s summaryMessage
		if err := json.Unmarshal(m.JSON, &s); err != nil {
			return nil, err
		}
		text := compactionPreamble + s.Summary + "\n</summary>"
		if m.RoleName == RoleBranchSummary {
			text = branchPreamble + s.Summary + "</summary>"
		}
		return userMessage(textContent(text), m.Timestamp), nil
	default:
		return nil, nil
	}
}

// What a model reads before a summary. The texts are part of the contract (tables/messages.json).
const (
	branchPreamble     = "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n"
	compactionPreamble = "The conversation history before this point was compacted into the following summary:\n\n<summary>\n"
)

func userMessage(content agentcore.Content, timestamp int64) *agentcore.Message {
	return agentcore.NewMessage(&agentcore.UserMessage{Content: content, Timestamp: timestamp})
}

func textContent(text string) agentcore.Content {
	return agentcore.Content{Blocks: []agentcore.Block{&agentcore.TextBlock{Text: text}}}
}

// Text is what a model reads of a command.
func (b *BashExecution) Text() string {
	text := "Ran `" + b.Command + "`\n"
	if b.Output == "" {
		text += "(no output)"
	} else {
		text += "```\n" + b.Output + "\n```"
	}
	switch {
	case b.Cancelled:
		text += "\n\n(command cancelled)"
	case b.ExitCode != nil && *b.ExitCode != 0:
		text += fmt.Sprintf("\n\nCommand exited with code %d", *b.ExitCode)
	}
	if b.Truncated && b.FullOutputPath != "" {
		text += "\n\n[Output truncated. Full output: " + b.FullOutputPath + "]"
	}
	return text
}

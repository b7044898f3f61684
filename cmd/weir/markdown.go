package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"weir/agentcore"
	"weir/engine/session"
)

// sessionMarkdown is what was said on the session's present branch. Images are named, not shown.
func sessionMarkdown(store *session.Store) string {
	var b strings.Builder
	for _, e := range store.Branch("") {
		m, err := e.Message()
		switch {
		case err != nil:
			fmt.Fprintf(&b, "*%s*\n\n", oneLine(err.Error(), 200))
		case m != nil:
			writeMarkdown(&b, m)
		}
	}
	return b.String()
}

func writeMarkdown(b *strings.Builder, m *agentcore.Message) {
	switch {
	case m.User() != nil:
		fmt.Fprintf(b, "## User\n\n%s\n\n", contentText(m.User().Content))
	case m.Assistant() != nil:
		writeAssistant(b, m.Assistant())
	case m.ToolResult() != nil:
		r := m.ToolResult()
		failed := ""
		if r.IsError {
			failed = " (failed)"
		}
		fmt.Fprintf(b, "### Result of %s%s\n\n%s\n\n", r.ToolName, failed, fenced("", blocksText(r.Content)))
	default:
		// As the model reads it; what it does not read is left out.
		read, err := session.ConvertToLLM(context.Background(), []*agentcore.Message{m})
		if err != nil || len(read) == 0 || read[0].User() == nil {
			return
		}
		fmt.Fprintf(b, "## %s\n\n%s\n\n", m.Role(), contentText(read[0].User().Content))
	}
}

func writeAssistant(b *strings.Builder, a *agentcore.AssistantMessage) {
	fmt.Fprintf(b, "## Assistant (%s/%s)\n\n", a.Provider, a.Model)
	for _, block := range a.Content {
		switch block := block.(type) {
		case *agentcore.TextBlock:
			fmt.Fprintf(b, "%s\n\n", block.Text)
		case *agentcore.ThinkingBlock:
			if block.Thinking != "" {
				fmt.Fprintf(b, "> %s\n\n", strings.ReplaceAll(block.Thinking, "\n", "\n> "))
			}
		case *agentcore.ToolCall:
			var args bytes.Buffer
			if json.Indent(&args, block.Arguments, "", "  ") != nil {
				args.Reset()
				args.Write(block.Arguments)
			}
			fmt.Fprintf(b, "### Call of %s\n\n%s\n\n", block.Name, fenced("json", args.String()))
		}
	}
	if a.ErrorMessage != "" {
		fmt.Fprintf(b, "*%s: %s*\n\n", a.StopReason, a.ErrorMessage)
	}
}

// fenced is text between fences that are longer than any in it.
func fenced(language, text string) string {
	longest, run := 2, 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	return fence + language + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence
}

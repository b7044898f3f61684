package agents

import (
	"encoding/json"
	"errors"
	"strings"

	"weir/engine/wire"
)

// cursorIgnored are the events that the set is not asked about: those that only report what postToolUse reports as well, and
// those that are no tool's.
const cursorIgnored = "afterShellExecution afterMCPExecution afterFileEdit afterTabFileEdit subagentStart subagentStop stop sessionEnd afterAgentResponse " +
	"afterAgentThought workspaceOpen"

func cursorTools() map[string]tool {
	file := path(true, "target_file", "filePath", "file_path")
	dir := path(false, "target_directory")
	content := argument{canonical: "content", native: []string{"content", "contents"}}
	return map[string]tool{
		"Shell":      shell(milliseconds()),
		"Read":       {name: "read", args: []argument{file}},
		"Write":      {name: "write", args: []argument{file, content}},
		"StrReplace": {name: "edit", shape: shapeEdit, args: []argument{file}},
		"Delete":     {name: "bash", shape: shapeRemove, args: []argument{file}},
		"Grep":       {name: "grep", args: []argument{path(false), {canonical: "ignoreCase", native: []string{"-i"}}}},
		"Glob":       {name: "find", args: []argument{dir, {canonical: "pattern", native: []string{"pattern", "glob_pattern"}}}},
		"LS":         {name: "ls", args: []argument{dir}},
	}
}

func cursor() *Agent {
	return &Agent{Name: "cursor", Title: "Cursor", parse: parseCursor, answer: answerCursor, Rows: []Row{
		toolsRow(cursorTools()),
		{"a tool call is blocked", Enforced, "preToolUse, beforeShellExecution, beforeMCPExecution, beforeReadFile, beforeTabFileRead: deny, and exit 2"},
		{"a tool call is asked about", Stricter, "beforeShellExecution and beforeMCPExecution: ask; in the others a hook cannot ask: deny"},
		{"arguments are rewritten", Stricter, "preToolUse: updated_input; in the others deny"},
		{"a file is deleted", Stricter, "the Delete tool is judged as bash with rm; a rewrite of it is a deny"},
		{"the set has no objection", Enforced, "an answer without a decision: Cursor's own rules go on"},
		{"a policy for the tools of one MCP server", NotEnforced, "Cursor does not tell the server's name: the tool is mcp__cursor__TOOL, which a pattern for one server does not match"},
		{"a result of an MCP tool is rewritten or withheld", Enforced, "postToolUse: updated_mcp_tool_output"},
		{"a file's content would be rewritten or withheld", Stricter, "beforeReadFile, beforeTabFileRead: deny"},
		{"another result is rewritten or withheld", NotEnforced, "Cursor takes no other output for it; the model is told that the set objected"},
		{"images in a result", NotEnforced, "extensions see the texts of a result only"},
		{"a prompt is blocked", Enforced, "beforeSubmitPrompt: continue false, and exit 2"},
		{"a prompt is rewritten", Stricter, "cannot be done: block"},
		{"a compaction is cancelled", NotEnforced, "preCompact: extensions are told; nothing can be held back"},
		{"a session starts", Enforced, "sessionStart: extensions are told; nothing is held back"},
		{"an extension stops the run", NotEnforced, "the call is denied"},
		{"the hook does not start, or its time is up", NotEnforced, `the call goes on, unless the hook has "failClosed": true`},
		{"the model's context, headers and requests", NotEnforced, "Cursor has no such event"},
	}}
}

func parseCursor(in object) (*Event, error) {
	name, err := in.text("hook_event_name")
	if err != nil {
		return nil, err
	}
	ev := snakeEvent(in, name)
	ev.Session = in.label("conversation_id")
	var roots []string
	if ev.CWD == "" && json.Unmarshal(in["workspace_roots"], &roots) == nil && len(roots) > 0 {
		ev.CWD = roots[0]
	}
	ev.Kind = wire.EventToolCall
	switch name {
	case "preToolUse":
		ev.rewrites = true
		return ev, cursorCall(ev, in)
	case "postToolUse":
		ev.Kind = wire.EventToolResult
		ev.setResult(in["tool_output"])
		return ev, cursorCall(ev, in)
	case "postToolUseFailure":
		ev.Kind, ev.IsError = wire.EventToolResult, true
		text, err := in.text("error_message")
		if err != nil {
			return ev, err
		}
		ev.setText(text)
		return ev, cursorCall(ev, in)
	case "beforeShellExecution":
		ev.canAsk = true
		text, err := in.text("command")
		if err != nil || !in.has("command") {
			return ev, errors.New("the command is missing or no text")
		}
		return ev, ev.setCall(cursorTools(), "Shell", encode(map[string]string{"command": text}))
	case "beforeMCPExecution":
		ev.canAsk = true
		tool, raw, err := in.call()
		if err != nil {
			return ev, err
		}
		ev.Calls = []Call{asIs("mcp__cursor__"+tool, raw)}
		return ev, nil
	case "beforeReadFile", "beforeTabFileRead":
		file, err := in.text("file_path")
		if err != nil || file == "" {
			return ev, errors.New("file_path is missing or no text")
		}
		text, err := in.text("content")
		if err != nil {
			return ev, err
		}
		ev.setText(text)
		return ev, ev.setCall(cursorTools(), "Read", encode(map[string]string{"file_path": file}))
	case "beforeSubmitPrompt":
		return ev.inputEvent(in)
	case "preCompact":
		return ev.compactEvent(in, false), nil
	case "sessionStart":
		return ev.startEvent(in), nil
	}
	ev.Kind = 0
	return ev.otherEvent(cursorIgnored)
}

func cursorCall(ev *Event, in object) error {
	tool, raw, err := in.call()
	if err != nil {
		return err
	}
	if mcp, ok := strings.CutPrefix(tool, "MCP:"); ok {
		ev.mcp, ev.input, ev.Calls = true, raw, []Call{asIs("mcp__cursor__"+mcp, raw)}
		return nil
	}
	return ev.setCall(cursorTools(), tool, raw)
}

// answerCursor writes the decision under the names of older and of newer versions.
func answerCursor(ev *Event, d Decision) Answer {
	says := func(permission string) map[string]any {
		return map[string]any{"permission": permission, "user_message": d.Reason, "agent_message": d.Reason}
	}
	switch {
	case d.Verdict == Pass && ev.Name == "beforeSubmitPrompt":
		return answer(exitOK, map[string]any{"continue": true}, "")
	case d.Verdict == Pass && ev.Gate:
		return answer(exitOK, map[string]any{}, "") // with failClosed no answer may count as a broken one
	case d.Verdict == Pass:
		return Answer{}
	case ev.Name == "sessionStart" || ev.Name == "preCompact":
		return watched(d)
	case d.Verdict == Ask && ev.canAsk:
		return answer(exitOK, says("ask"), "")
	case ev.Name == "preToolUse" && d.Verdict == Rewrite && d.Input != nil:
		return answer(exitOK, map[string]any{"updated_input": d.Input}, "")
	case ev.Name == "beforeSubmitPrompt":
		return answer(exitBlock, map[string]any{"continue": false, "user_message": d.Reason}, d.Reason)
	case ev.Kind == wire.EventToolResult:
		out := map[string]any{"additional_context": "weir: the extension set objected to this result: " + d.Reason}
		if !ev.mcp || ev.Name != "postToolUse" {
			return answer(exitBlock, out, d.Reason)
		}
		text := d.Reason
		if d.Verdict == Rewrite {
			text = allText(d.Content)
		}
		return answer(exitOK, map[string]any{"updated_mcp_tool_output": map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}}}, "")
	}
	out := says("deny")
	out["decision"], out["reason"] = "deny", d.Reason
	if ev.Name != "preToolUse" {
		out["continue"] = false
	}
	return answer(exitBlock, out, d.Reason)
}

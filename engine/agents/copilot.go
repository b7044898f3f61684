package agents

import "weir/engine/wire"

// copilotIgnored are the events, of the names with a capital, that the set is not asked about.
const copilotIgnored = "SessionEnd Stop SubagentStart SubagentStop ErrorOccurred Notification"

func copilotTools() map[string]tool {
	file := path(true)
	return map[string]tool{
		"bash":       shell(),
		"powershell": shell(),
		"view":       {name: "read", args: []argument{file}},
		"create":     {name: "write", args: []argument{file, {canonical: "content", native: []string{"content", "file_text"}}}},
		"edit":       {name: "edit", shape: shapeEdit, args: []argument{file}},
		"grep":       {name: "grep", args: []argument{path(false), {canonical: "ignoreCase", native: []string{"-i"}}}},
		"glob":       {name: "find", args: []argument{path(false)}},
	}
}

func copilot() *Agent {
	return &Agent{Name: "copilot", Title: "GitHub Copilot CLI", parse: parseCopilot, answer: answerCopilot, Rows: []Row{
		toolsRow(copilotTools()),
		{"a tool call is blocked", Enforced, "preToolUse: deny, and exit 0, since Copilot skips a hook with any other exit code"},
		{"a tool call is asked about", Stricter, "documents disagree whether ask has an effect: deny"},
		{"arguments are rewritten", Stricter, "documents and reports disagree whether it has an effect: deny"},
		{"a permission is asked for", Enforced, "PermissionRequest, under this name: deny, or no answer"},
		{"the set has no objection", Enforced, "no answer at all: Copilot's own permissions go on"},
		{"a policy for MCP tools by name", NotEnforced, "an MCP tool reaches the set under Copilot's name for it, SERVER-TOOL, which a pattern mcp__* does not match"},
		{"a result is rewritten or withheld", NotEnforced, "postToolUse: extensions are told; Copilot takes no output of it"},
		{"a prompt is blocked or rewritten", NotEnforced, "userPromptSubmitted: extensions are told; Copilot takes no output of it"},
		{"a compaction is cancelled", NotEnforced, "preCompact: extensions are told; nothing can be held back"},
		{"a session starts", Enforced, "sessionStart: extensions are told; nothing can be held back"},
		{"an extension stops the run", NotEnforced, "the call is denied"},
		{"the hook does not start or crashes", NotEnforced, "the call goes on, unless the command ends as in the configuration below with an answer of its own"},
		{"the hook's time is up", NotEnforced, "the call goes on; weir denies before that time"},
		{"the model's context, headers and requests", NotEnforced, "Copilot has no such event"},
	}}
}

// parseCopilot reads both forms of an event: with names that start small, which do not say what event it is, and with names
// that start with a capital.
func parseCopilot(in object) (*Event, error) {
	name, err := in.text("hook_event_name")
	if err != nil {
		return nil, err
	}
	ev := snakeEvent(in, name)
	tool, args, result := "tool_name", "tool_input", "tool_result"
	if name == "" {
		tool, args, result = "toolName", "toolArgs", "toolResult"
		ev.Session = in.label("sessionId")
		ev.Name = copilotEvent(in)
	}
	switch ev.Name {
	case "preToolUse", "PreToolUse":
		ev.Kind = wire.EventToolCall
	case "PermissionRequest":
		ev.Kind, ev.canAsk = wire.EventToolCall, true
	case "postToolUse", "PostToolUse":
		ev.Kind, ev.Gate = wire.EventToolResult, false
		ev.setResult(in[result])
	case "postToolUseFailure", "PostToolUseFailure":
		ev.Kind, ev.Gate, ev.IsError = wire.EventToolResult, false, true
		ev.setText(in.label("error"))
	case "userPromptSubmitted", "UserPromptSubmit":
		ev.Kind, ev.Gate = wire.EventInput, false
		ev.Text, err = in.text("prompt")
		return ev, err
	case "preCompact", "PreCompact":
		return ev.compactEvent(in, false), nil
	case "sessionStart", "SessionStart":
		return ev.startEvent(in), nil
	case "other":
		ev.Gate = false
		return ev, nil
	default:
		return ev.otherEvent(copilotIgnored)
	}
	native, err := in.text(tool)
	if err != nil {
		return ev, err
	}
	raw, err := in.arguments(args)
	if err != nil {
		return ev, err
	}
	return ev, ev.setCall(copilotTools(), native, raw)
}

// copilotEvent tells an event without a name by its keys. Whatever names a tool and has no result is taken for the gate.
func copilotEvent(in object) string {
	switch {
	case in.has("toolName") && in.has("toolResult"):
		return "postToolUse"
	case in.has("toolName") && in.has("error"):
		return "postToolUseFailure"
	case in.has("toolName") || in.has("toolArgs"):
		return "preToolUse"
	case in.has("prompt"):
		return "userPromptSubmitted"
	case in.has("trigger"):
		return "preCompact"
	case in.has("source"):
		return "sessionStart"
	case in.has("reason") || in.has("stopReason") || in.has("agentName") || in.has("error"):
		return "other" // the end of a session or a turn, a subagent, an error
	}
	return ""
}

func answerCopilot(ev *Event, d Decision) Answer {
	switch {
	case d.Verdict == Pass:
		return Answer{}
	case ev.Name == "PermissionRequest" && d.Verdict == Ask:
		return Answer{}
	case ev.Name == "PermissionRequest":
		return answer(exitBlock, map[string]any{"behavior": "deny", "message": d.Reason}, d.Reason)
	case !ev.Gate:
		return watched(d)
	}
	out := map[string]any{"permissionDecision": "deny", "permissionDecisionReason": d.Reason}
	if ev.Name == "PreToolUse" {
		out["hookSpecificOutput"] = map[string]any{"hookEventName": ev.Name, "permissionDecision": "deny", "permissionDecisionReason": d.Reason}
	}
	return answer(exitOK, out, d.Reason)
}

package agents

import (
	"strings"

	"weir/engine/wire"
)

// claudeIgnored are the events that the set is not asked about.
const claudeIgnored = "PostToolBatch PermissionDenied UserPromptExpansion Stop SubagentStop StopFailure PostCompact SessionEnd Notification SubagentStart " +
	"TaskCreated TaskCompleted TeammateIdle Setup InstructionsLoaded ConfigChange CwdChanged DirectoryAdded FileChanged WorktreeCreate WorktreeRemove " +
	"Elicitation ElicitationResult MessageDisplay PreModelSwitch PostModelSwitch"

func claudeTools() map[string]tool {
	file := path(true, "file_path")
	return map[string]tool{
		"Bash":         shell(milliseconds()),
		"PowerShell":   shell(milliseconds()),
		"Read":         {name: "read", args: []argument{file}},
		"Write":        {name: "write", args: []argument{file}},
		"Edit":         {name: "edit", shape: shapeEdit, args: []argument{file}},
		"MultiEdit":    {name: "edit", shape: shapeEdits, args: []argument{file}},
		"NotebookEdit": {name: "write", args: []argument{path(true, "notebook_path"), {canonical: "content", native: []string{"new_source"}}}},
		"Grep":         {name: "grep", args: []argument{path(false), {canonical: "ignoreCase", native: []string{"-i"}}}},
		"Glob":         {name: "find", args: []argument{path(false)}},
		"LS":           {name: "ls", args: []argument{path(false)}},
	}
}

func claude() *Agent {
	return &Agent{Name: "claude", Title: "Claude Code", parse: parseClaude, answer: answerClaude, Rows: []Row{
		toolsRow(claudeTools()),
		{"a tool call is blocked", Enforced, "PreToolUse: exit 2 and a deny; PermissionRequest: a deny"},
		{"a tool call is asked about", Enforced, "PreToolUse in the permission modes default, plan and acceptEdits: ask. The other modes answer without a person: deny. PermissionRequest: the person is asked anyway"},
		{"arguments are rewritten", Stricter, "a rewrite has to come with a permission: ask in the modes default, plan and acceptEdits, allow in bypassPermissions, otherwise deny; in PermissionRequest deny"},
		{"the set has no objection", Enforced, "no answer at all: Claude Code's own permission rules go on"},
		{"a result is rewritten or withheld", Enforced, "PostToolUse: updatedToolOutput, or updatedMCPToolOutput for an MCP tool; a version that does not know it shows the model the original"},
		{"an error text is rewritten", Stricter, "PostToolUseFailure cannot be rewritten: the agent is stopped"},
		{"images in a result", NotEnforced, "extensions see the texts of a result only"},
		{"a prompt is blocked", Enforced, "UserPromptSubmit: block"},
		{"a prompt is rewritten", Stricter, "cannot be done: block"},
		{"a compaction is cancelled", Enforced, "PreCompact: block. A summary of an extension's own is not taken"},
		{"a session starts", Enforced, "SessionStart: extensions are told; nothing can be held back"},
		{"an extension stops the run", Enforced, "continue: false"},
		{"the hook does not start, or its time is up", NotEnforced, `the call goes on, unless Claude Code is 2.1.295 or later and the hook has "onFailure": "block"`},
		{"files mentioned with @, slash commands, what a tool does inside", NotEnforced, "they fire no event that is mapped"},
		{"the model's context, headers and requests", NotEnforced, "Claude Code has no such event"},
	}}
}

func parseClaude(in object) (*Event, error) {
	name, err := in.text("hook_event_name")
	if err != nil {
		return nil, err
	}
	ev := snakeEvent(in, name)
	switch name {
	case "PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure":
	case "UserPromptSubmit":
		return ev.inputEvent(in)
	case "PreCompact":
		return ev.compactEvent(in, true), nil
	case "SessionStart":
		return ev.startEvent(in), nil
	default:
		return ev.otherEvent(claudeIgnored)
	}
	ev.Kind = wire.EventToolCall
	switch name {
	case "PreToolUse":
		ev.canAsk = asksPerson(ev.mode)
		ev.rewrites = ev.canAsk || ev.mode == "bypassPermissions"
	case "PermissionRequest":
		ev.canAsk = true
	case "PostToolUse":
		ev.Kind = wire.EventToolResult
		ev.setResult(in["tool_response"])
	case "PostToolUseFailure":
		ev.Kind, ev.IsError = wire.EventToolResult, true
		text, err := in.text("error")
		if err != nil {
			return ev, err
		}
		ev.setText(text)
	}
	tool, raw, err := in.call()
	ev.mcp = strings.HasPrefix(tool, "mcp__")
	if err != nil {
		return ev, err
	}
	return ev, ev.setCall(claudeTools(), tool, raw)
}

// asksPerson says whether a permission mode leaves questions to a person.
func asksPerson(mode string) bool {
	return mode == "default" || mode == "plan" || mode == "acceptEdits"
}

func answerClaude(ev *Event, d Decision) Answer {
	if d.Verdict == Pass {
		return Answer{}
	}
	stop := func(out map[string]any) map[string]any {
		if d.Stop || d.Failed && ev.Kind == wire.EventToolResult {
			out["continue"], out["stopReason"] = false, d.Reason
		}
		return out
	}
	specific := map[string]any{"hookEventName": ev.Name}
	deny := func(out map[string]any) Answer { return answer(exitBlock, stop(out), d.Reason) }
	switch ev.Name {
	case "PreToolUse":
		decision, exit := "deny", exitBlock
		switch {
		case d.Verdict == Ask && ev.canAsk:
			decision, exit = "ask", exitOK
		case d.Verdict == Rewrite && d.Input != nil && ev.canAsk:
			decision, exit = "ask", exitOK
		case d.Verdict == Rewrite && d.Input != nil && ev.rewrites:
			decision, exit = "allow", exitOK
		}
		specific["permissionDecision"], specific["permissionDecisionReason"] = decision, d.Reason
		if exit == exitBlock {
			return deny(map[string]any{"hookSpecificOutput": specific})
		}
		if d.Input != nil {
			specific["updatedInput"] = d.Input
		}
		return answer(exitOK, map[string]any{"hookSpecificOutput": specific}, "")
	case "PermissionRequest":
		if d.Verdict == Ask {
			return Answer{}
		}
		specific["decision"] = map[string]any{"behavior": "deny", "message": d.Reason}
		return answer(exitOK, stop(map[string]any{"hookSpecificOutput": specific}), d.Reason) // exit 2 has no effect here
	case "PostToolUse":
		return claudeResult(ev, d, specific, stop)
	case "UserPromptSubmit", "PreCompact":
		return deny(map[string]any{"decision": "block", "reason": d.Reason})
	case "SessionStart":
		return watched(d)
	}
	// PostToolUseFailure, and events that could not be read.
	return answer(exitBlock, map[string]any{"continue": false, "stopReason": d.Reason}, d.Reason)
}

// claudeResult answers PostToolUse. A result that cannot be put into its shape stops the agent before the model reads it.
func claudeResult(ev *Event, d Decision, specific map[string]any, stop func(map[string]any) map[string]any) Answer {
	content := d.Content
	if d.Verdict != Rewrite {
		withheld := &Event{}
		withheld.setText(d.Reason)
		content = withheld.Content
	}
	out := map[string]any{}
	result, err := putBack(ev.result, ev.texts, content)
	switch {
	case err != nil:
		return answer(exitBlock, map[string]any{"continue": false, "stopReason": d.Reason, "decision": "block", "reason": d.Reason}, d.Reason)
	case ev.mcp:
		specific["updatedMCPToolOutput"] = result
	default:
		specific["updatedToolOutput"] = result
	}
	out["hookSpecificOutput"] = specific
	if d.Verdict == Rewrite {
		return answer(exitOK, out, "")
	}
	out["decision"], out["reason"] = "block", d.Reason
	return answer(exitBlock, stop(out), d.Reason)
}

package agents

import "weir/engine/wire"

// codexIgnored are the events that the set is not asked about.
const codexIgnored = "PostCompact SubagentStart SubagentStop Stop SessionEnd Interrupt StopFailure"

func codexTools() map[string]tool {
	sh := shell()
	return map[string]tool{
		"Bash": sh, "shell": sh, "exec_command": sh, "local_shell": sh,
		"apply_patch": {name: "edit", shape: shapePatch},
	}
}

func codex() *Agent {
	return &Agent{Name: "codex", Title: "Codex CLI", parse: parseCodex, answer: answerCodex, Rows: []Row{
		toolsRow(codexTools()),
		{"a tool call is blocked", Enforced, "PreToolUse and PermissionRequest: exit 2 with the reason on standard error, and nothing on standard output"},
		{"a tool call is asked about", Stricter, "PreToolUse: deny, since Codex runs a call whose hook answers ask. PermissionRequest: the person is asked anyway"},
		{"arguments are rewritten", Enforced, "PreToolUse: allow with updatedInput; of several hooks that rewrite, the last to finish wins. In PermissionRequest deny"},
		{"a patch", Enforced, "apply_patch is judged as one call for each file: write, edit, and removals and moves as bash with rm. The first block denies the patch"},
		{"a patch is rewritten", Stricter, "cannot be put together again: deny"},
		{"a patch inside a command", NotEnforced, "apply_patch called in a shell command is judged as that command only"},
		{"the set has no objection", Enforced, "no answer at all: approvals and the sandbox go on"},
		{"a result is rewritten or withheld", Enforced, "PostToolUse: exit 2; what the set made of it is given to the model in place of the result"},
		{"images in a result", NotEnforced, "extensions see the texts of a result only"},
		{"a prompt is blocked", Enforced, "UserPromptSubmit: exit 2"},
		{"a prompt is rewritten", Stricter, "cannot be done: block"},
		{"a compaction is cancelled", Enforced, "PreCompact: continue false, since exit 2 lets it go on. A summary of an extension's own is not taken"},
		{"a session starts", Enforced, "SessionStart: extensions are told; nothing can be held back"},
		{"an extension stops the run", NotEnforced, "the call is denied; to ask for a stop would make the denial invalid"},
		{"the hook does not start, is not trusted, or its time is up", NotEnforced, "the call goes on; Codex has no option for it"},
		{"the model's context, headers and requests", NotEnforced, "Codex has no such event"},
	}}
}

func parseCodex(in object) (*Event, error) {
	name, err := in.text("hook_event_name")
	if err != nil {
		return nil, err
	}
	ev := snakeEvent(in, name)
	switch name {
	case "PreToolUse":
		ev.Kind, ev.rewrites = wire.EventToolCall, true
	case "PermissionRequest":
		ev.Kind, ev.canAsk = wire.EventToolCall, true
	case "PostToolUse":
		ev.Kind = wire.EventToolResult
		ev.setResult(in["tool_response"])
	case "UserPromptSubmit":
		return ev.inputEvent(in)
	case "PreCompact":
		return ev.compactEvent(in, true), nil
	case "SessionStart":
		return ev.startEvent(in), nil
	default:
		return ev.otherEvent(codexIgnored)
	}
	tool, raw, err := in.call()
	if err != nil {
		return ev, err
	}
	return ev, ev.setCall(codexTools(), tool, raw)
}

// answerCodex never writes a key that Codex does not know, nor one that it does not support in the event: either makes the
// answer invalid, and the call goes on.
func answerCodex(ev *Event, d Decision) Answer {
	switch {
	case d.Verdict == Pass:
		return Answer{}
	case ev.Name == "SessionStart":
		return watched(d)
	case ev.Name == "PreCompact":
		return answer(exitOK, map[string]any{"continue": false, "stopReason": d.Reason}, "")
	case ev.Name == "PreToolUse" && d.Verdict == Rewrite && d.Input != nil:
		return answer(exitOK, map[string]any{"hookSpecificOutput": map[string]any{
			"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": d.Input,
		}}, "")
	case ev.Name == "PermissionRequest" && d.Verdict == Ask:
		return Answer{}
	case ev.Name == "PostToolUse" && d.Verdict == Rewrite:
		return answer(exitBlock, nil, cleanResult(allText(d.Content)))
	}
	return answer(exitBlock, nil, d.Reason)
}

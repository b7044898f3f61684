package agents

import (
	"strings"

	"weir/engine/wire"
)

func crushTools() map[string]tool {
	file := path(true, "file_path")
	return map[string]tool{
		"bash":      shell(),
		"view":      {name: "read", args: []argument{file}},
		"write":     {name: "write", args: []argument{file}},
		"edit":      {name: "edit", shape: shapeEdit, args: []argument{file}},
		"multiedit": {name: "edit", shape: shapeEdits, args: []argument{file}},
		"grep":      {name: "grep", args: []argument{path(false), {canonical: "glob", native: []string{"include"}}, {canonical: "literal", native: []string{"literal_text"}}}},
		"glob":      {name: "find", args: []argument{path(false)}},
		"ls":        {name: "ls", args: []argument{path(false)}},
	}
}

func crush() *Agent {
	return &Agent{Name: "crush", Title: "Crush", parse: parseCrush, answer: answerCrush, Rows: []Row{
		toolsRow(crushTools()),
		{"a tool call is blocked", Enforced, "PreToolUse: exit 2 with the reason on standard error, and a deny"},
		{"a tool call is asked about", Stricter, "a hook cannot ask: deny"},
		{"arguments are rewritten", Enforced, "PreToolUse: updated_input, which is laid over the given arguments"},
		{"an argument is taken away by a rewrite", Stricter, "cannot be done: deny"},
		{"an MCP tool", Stricter, "Crush joins server and tool with one underscore: the set is asked once for each way to part them"},
		{"the set has no objection", Enforced, "no answer at all: Crush's own permissions go on"},
		{"a result is rewritten or withheld", NotEnforced, "Crush has no such event"},
		{"a compaction is cancelled", Enforced, "PreCompact, where the version has it: exit 2. A summary of an extension's own is not taken"},
		{"a prompt, the start of a session", NotEnforced, "Crush has no such event"},
		{"an extension stops the run", Enforced, "a deny with halt: true, and exit 0, since Crush reads no JSON with exit 2"},
		{"tool calls of subagents", NotEnforced, "Crush runs no hooks for them"},
		{"the hook does not start, or its time is up", NotEnforced, "the call goes on; Crush has no option for it"},
		{"the model's context, headers and requests", NotEnforced, "Crush has no such event"},
	}}
}

func parseCrush(in object) (*Event, error) {
	name, err := in.text("event")
	if err != nil {
		return nil, err
	}
	ev := snakeEvent(in, name)
	switch name {
	case "PreToolUse":
	case "PreCompact":
		return ev.compactEvent(in, true), nil
	default:
		return ev, unknownEvent(name)
	}
	ev.Kind, ev.rewrites, ev.merges = wire.EventToolCall, true, true
	tool, raw, err := in.call()
	if err != nil {
		return ev, err
	}
	if joined, ok := strings.CutPrefix(tool, "mcp_"); ok {
		ev.input = raw
		ev.Calls, err = mcpCalls(joined, raw)
		return ev, err
	}
	return ev, ev.setCall(crushTools(), tool, raw)
}

func answerCrush(ev *Event, d Decision) Answer {
	switch {
	case d.Verdict == Pass:
		return Answer{}
	case d.Verdict == Rewrite && d.Input != nil:
		return answer(exitOK, map[string]any{"version": 1, "updated_input": d.Input}, "")
	}
	out := map[string]any{"version": 1, "decision": "deny", "reason": d.Reason}
	if d.Stop {
		out["halt"] = true
		return answer(exitOK, out, d.Reason)
	}
	return answer(exitBlock, out, d.Reason)
}

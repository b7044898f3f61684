package agents

import (
	"errors"
	"fmt"
	"strings"

	"weir/engine/wire"
)

// geminiIgnored are the events that the set is not asked about.
const geminiIgnored = "AfterAgent BeforeModel AfterModel BeforeToolSelection SessionEnd Notification"

func geminiTools() map[string]tool {
	file := path(true, "absolute_path", "file_path")
	dir := path(false, "dir_path")
	return map[string]tool{
		"run_shell_command":   shell(),
		"read_file":           {name: "read", args: []argument{file}},
		"read_many_files":     {name: "read", shape: shapeReadMany},
		"write_file":          {name: "write", args: []argument{file}},
		"replace":             {name: "edit", shape: shapeEdit, args: []argument{file}},
		"glob":                {name: "find", args: []argument{dir}},
		"grep_search":         {name: "grep", args: []argument{dir, {canonical: "glob", native: []string{"include"}}}},
		"search_file_content": {name: "grep", args: []argument{dir, {canonical: "glob", native: []string{"include"}}}},
		"list_directory":      {name: "ls", args: []argument{dir}},
	}
}

func gemini() *Agent {
	return &Agent{Name: "gemini", Title: "Gemini CLI", parse: parseGemini, answer: answerGemini, Rows: []Row{
		toolsRow(geminiTools()),
		{"a tool call is blocked", Enforced, "BeforeTool: deny, and exit 2"},
		{"a tool call is asked about", Stricter, "a hook cannot ask: deny"},
		{"arguments are rewritten", Enforced, "BeforeTool: hookSpecificOutput.tool_input, which is laid over the given arguments"},
		{"an argument is taken away by a rewrite", Stricter, "cannot be done: deny"},
		{"read_many_files", Stricter, "judged as one read for each path or pattern; a rewrite of it is a deny"},
		{"the set has no objection", Enforced, "no answer at all: Gemini CLI's own confirmations go on"},
		{"a result is rewritten or withheld", Enforced, "AfterTool: deny with the text that takes the result's place"},
		{"images in a result", NotEnforced, "extensions see the texts of a result only; a result that is rewritten loses its images"},
		{"a prompt is blocked", Enforced, "BeforeAgent: deny"},
		{"a prompt is rewritten", Stricter, "cannot be done: deny"},
		{"a compaction is cancelled", NotEnforced, "PreCompress: extensions are told; nothing can be held back"},
		{"a session starts", Enforced, "SessionStart: extensions are told; nothing can be held back"},
		{"an extension stops the run", Enforced, "continue: false"},
		{"the hook does not start, or its time is up", NotEnforced, "the call goes on; Gemini CLI has no option for it"},
		{"the model's context and requests", NotEnforced, "BeforeModel and AfterModel are not mapped"},
	}}
}

func parseGemini(in object) (*Event, error) {
	name, err := in.text("hook_event_name")
	if err != nil {
		return nil, err
	}
	ev := snakeEvent(in, name)
	switch name {
	case "BeforeTool":
		ev.Kind, ev.rewrites, ev.merges = wire.EventToolCall, true, true
	case "AfterTool":
		ev.Kind = wire.EventToolResult
		response, err := parseObject(in["tool_response"])
		if err != nil {
			return ev, fmt.Errorf("tool_response: %w", err)
		}
		ev.IsError = response.has("error")
		ev.setResult(response["llmContent"])
	case "BeforeAgent":
		return ev.inputEvent(in)
	case "PreCompress":
		return ev.compactEvent(in, false), nil
	case "SessionStart":
		return ev.startEvent(in), nil
	default:
		return ev.otherEvent(geminiIgnored)
	}
	tool, raw, err := in.call()
	if err != nil {
		return ev, err
	}
	if in.has("mcp_context") || strings.HasPrefix(tool, "mcp_") {
		return ev, geminiMCP(ev, in, tool, raw)
	}
	return ev, ev.setCall(geminiTools(), tool, raw)
}

// geminiMCP fills in a call of an MCP tool. Gemini CLI tells server and tool apart in mcp_context.
func geminiMCP(ev *Event, in object, tool string, raw []byte) error {
	ev.input = raw
	var err error
	if !in.has("mcp_context") {
		ev.Calls, err = mcpCalls(strings.TrimPrefix(tool, "mcp_"), raw)
		return err
	}
	c, err := parseObject(in["mcp_context"])
	if err != nil {
		return fmt.Errorf("mcp_context: %w", err)
	}
	server, name := c.label("server_name"), c.label("tool_name")
	if server == "" || name == "" {
		return errors.New("mcp_context does not say which server and tool it is")
	}
	ev.Calls = []Call{asIs("mcp__"+server+"__"+name, raw)}
	return nil
}

func answerGemini(ev *Event, d Decision) Answer {
	switch {
	case d.Verdict == Pass:
		return Answer{}
	case ev.Name == "SessionStart" || ev.Name == "PreCompress":
		return watched(d)
	case ev.Name == "BeforeTool" && d.Verdict == Rewrite && d.Input != nil:
		return answer(exitOK, map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": ev.Name, "tool_input": d.Input}}, "")
	case ev.Name == "AfterTool" && d.Verdict == Rewrite:
		return answer(exitOK, map[string]any{"decision": "deny", "reason": allText(d.Content)}, "")
	}
	out := map[string]any{"decision": "deny", "reason": d.Reason}
	if d.Stop {
		out["continue"], out["stopReason"] = false, d.Reason
	}
	return answer(exitBlock, out, d.Reason)
}

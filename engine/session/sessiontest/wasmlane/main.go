// The guest that stands in for the extensions of recorded scenarios. Its settings are one declared handler: a list of
// rules, each with a match and actions; or the actions of a command or a tool. It interprets them itself and answers as
// any extension would; what a handler changed in place is part of the answer.
//
// What it does to its session goes through the capability session, and its dialogs through ui, as any extension's. What it records,
// notes and waits for is the test's, and goes through the capability kv. The keys:
//
//	set record EVENT   the event was delivered
//	set note TEXT      the action "note"
//	set open GATE      the action "open"
//	get wait/GATE      the action "wait": answered when the gate is open
//	get tick/MS        the action "tick": answered when everything else waits
//	set trace RESULT   what came of a call of a capability
//
// The other keys hold what it must still know after a fault: how often a rule matched, and what deltas add to.
package main

import (
	"encoding/json"

	weir "weir/guest-sdk/go"
)

func init() {
	weir.Describe(weir.Extension{
		Name: "scenario", Version: "1.0.0", Description: "Does what a declared handler says.", Config: `{"type":"object"}`,
		Capabilities: []weir.Capability{
			{Name: "kv", Reason: "to tell what happened, and to wait"}, {Name: "session", Reason: "to do what the handler says"}, {Name: "ui", Reason: "to ask"},
		},
	})
	weir.OnToolCall(toolCall)
	weir.OnToolResult(toolResult)
	weir.OnContext(modelContext)
	weir.AddCommand(weir.Command{Name: "run", Description: "Does what a declared command says.", Run: command})
	weir.AddTool(weir.Tool{Name: "run", Description: "Does what a declared tool says.", Execute: tool})
	for _, name := range []string{
		"project_trust", "resources_discover", "session_start", "session_info_changed", "session_before_switch", "session_before_fork",
		"session_before_compact", "session_compact", "session_compact_failed", "session_shutdown", "session_before_tree", "session_tree",
		"before_provider_headers", "before_provider_request", "after_provider_response", "before_agent_start", "agent_start", "agent_settled",
		"agent_end", "turn_start", "turn_end", "message_start", "message_update", "message_end", "tool_execution_start", "tool_execution_update",
		"tool_execution_end", "model_select", "thinking_level_select", "ui_prompt_start", "ui_prompt_end", "user_bash", "input",
	} {
		weir.On(name, event)
	}
}

func main() {}

func toolCall(c *weir.ToolCall) weir.Decision {
	r, err := handle(object{"type": "tool_call", "toolName": c.ToolName(), "toolCallId": c.ID(), "input": decode(c.Input())}, c.Context())
	if err != nil {
		return weir.Fail(err.Error())
	}
	if truthy(r.fields["block"]) {
		reason, _ := r.fields["reason"].(string)
		if r.fields["terminate"] == true {
			return weir.Terminate(reason)
		}
		return weir.Block(reason)
	}
	if r.changed("input") {
		return weir.Rewrite(encode(r.event["input"]))
	}
	return weir.Allow()
}

func toolResult(t *weir.ToolResult) weir.ToolResultEdit {
	ev := object{"type": "tool_result", "toolName": t.ToolName(), "toolCallId": t.ID(), "input": decode(t.Input()), "isError": t.IsError()}
	for key, v := range map[string]weir.Value{"content": t.Content(), "details": t.Details(), "usage": t.Usage()} {
		if v.Exists() {
			ev[key] = decode(v)
		}
	}
	r, err := handle(ev, t.Context())
	if err != nil {
		return weir.FailResult(err.Error())
	}
	edit := weir.Keep()
	for _, key := range []string{"content", "details", "isError", "usage"} {
		v, ok := r.field(key)
		if !ok || v == nil && key != "details" {
			continue
		}
		switch key {
		case "content":
			edit = edit.Content(encode(v))
		case "details":
			edit = edit.Details(encode(v))
		case "isError":
			edit = edit.IsError(truthy(v))
		case "usage":
			edit = edit.Usage(encode(v))
		}
	}
	return edit
}

func modelContext(c *weir.Context) error {
	messages := make([]any, c.Len())
	for i := range messages {
		messages[i] = decode(c.Message(i))
	}
	r, err := handle(object{"type": "context", "messages": messages}, c.Context())
	if err != nil {
		return err
	}
	v, _ := r.field("messages")
	if list, ok := v.([]any); ok {
		items := make([]weir.Item, len(list))
		for i, m := range list {
			items[i].Message = encode(m)
		}
		c.SetMessages(items)
	}
	return nil
}

// event handles all other events.
func event(e *weir.Event) weir.Result {
	ev, _ := decode(e.Value()).(object)
	delete(ev, "context")
	r, err := handle(ev, e.Context())
	if err != nil {
		return weir.FailEvent(err.Error())
	}
	switch e.Type() {
	case "message_end":
		v, _ := r.field("message")
		message, ok := v.(object)
		if !ok {
			return weir.None()
		}
		if message["content"] == nil {
			message["content"] = []any{}
		}
		// A message of the ABI is complete.
		original, _ := r.event["message"].(object)
		for _, key := range []string{"api", "provider", "model"} {
			if v, ok := original[key]; ok && message[key] == nil && message["role"] == original["role"] {
				message[key] = v
			}
		}
		return weir.Reply(weir.Field{Key: "message", Value: encode(message)})
	case "before_provider_request":
		payload := r.event["payload"]
		if r.returned {
			payload = r.value
		}
		return weir.Reply(weir.Field{Key: "payload", Value: encode(payload)})
	case "before_provider_headers":
		return headers(r)
	case "input":
		if action := r.fields["action"]; action != "handled" && action != "transform" {
			return weir.None()
		}
		return reply(r.fields, "action", "text", "images")
	case "before_agent_start":
		if message, ok := r.fields["message"].(object); ok && message["content"] == nil {
			message["content"] = []any{}
		}
		return reply(r.fields, "systemPrompt", "message")
	case "user_bash":
		return reply(r.fields, "result")
	case "project_trust":
		return reply(r.fields, "trusted", "remember")
	case "resources_discover":
		return reply(r.fields, "skillPaths", "promptPaths", "themePaths")
	case "session_before_switch":
		return reply(r.fields, "cancel")
	case "session_before_fork":
		return reply(r.fields, "cancel", "skipConversationRestore")
	case "session_before_compact":
		return reply(r.fields, "cancel", "compaction")
	case "session_before_tree":
		return reply(r.fields, "cancel", "summary", "customInstructions", "replaceInstructions", "label")
	}
	return weir.None()
}

// reply answers with the keys that the event knows, and leaves out what a handler in JavaScript may return besides.
func reply(fields object, keys ...string) weir.Result {
	var answer []weir.Field
	for _, key := range keys {
		if v, ok := fields[key]; ok {
			answer = append(answer, weir.Field{Key: key, Value: encode(v)})
		}
	}
	return weir.Reply(answer...)
}

// headers answers with the headers that are not what they were.
func headers(r *result) weir.Result {
	was, _ := r.before["headers"].(object)
	is, _ := r.event["headers"].(object)
	edits := object{}
	for name, v := range is {
		if old, ok := was[name]; !ok || !same(old, v) {
			edits[name] = v
		}
	}
	return weir.Reply(weir.Field{Key: "headers", Value: encode(edits)})
}

func decode(v weir.Value) any {
	if !v.Exists() {
		return nil
	}
	var out any
	if err := json.Unmarshal([]byte(v.JSON()), &out); err != nil {
		panic(err)
	}
	return out
}

func encode(v any) weir.JSON {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return weir.JSON(b)
}

package main

import (
	"encoding/json"

	weir "weir/guest-sdk/go"
)

// rebuild completes an event that carries only what changed, from what came before it: that the handlers of scenarios
// want the whole is a matter of the reference. What came before is in the store, so that a fault does not lose it.
func rebuild(ev object) error {
	switch ev["type"] {
	case "message_start":
		return keep("message", ev["message"])
	case "tool_execution_start":
		return keep("args/"+text(ev["toolCallId"]), ev["args"])
	case "message_update":
		return rebuildMessage(ev)
	case "tool_execution_update":
		return rebuildPartial(ev)
	}
	return nil
}

func keep(key string, v any) error { return weir.KVSet(key, string(encode(v))) }

func kept(key string) (any, error) {
	encoded, ok, err := weir.KVGet(key)
	if err != nil || !ok {
		return nil, err
	}
	var v any
	return v, json.Unmarshal([]byte(encoded), &v)
}

// rebuildMessage adds the message so far, which every update of the reference shows twice.
func rebuildMessage(ev object) error {
	v, err := kept("message")
	if err != nil {
		return err
	}
	message, _ := v.(object)
	update, _ := ev["assistantMessageEvent"].(object)
	if message == nil || update == nil {
		return nil
	}
	blocks, _ := message["content"].([]any)
	index, _ := update["contentIndex"].(float64)
	i := int(index)
	if i < 0 || i > len(blocks) {
		return nil
	}
	if i == len(blocks) {
		blocks = append(blocks, nil)
	}
	block, _ := blocks[i].(object)
	switch update["type"] {
	case "text_start":
		block = object{"type": "text", "text": ""}
	case "thinking_start":
		block = object{"type": "thinking", "thinking": ""}
	case "text_delta":
		block["text"] = text(block["text"]) + text(update["delta"])
	case "thinking_delta":
		block["thinking"] = text(block["thinking"]) + text(update["delta"])
	case "toolcall_start":
		block = object{"type": "toolCall", "id": update["id"], "name": update["toolName"], "arguments": object{}}
		delete(update, "id")
		delete(update, "toolName")
	case "toolcall_end":
		block, _ = update["toolCall"].(object)
	}
	blocks[i] = block
	message["content"] = blocks
	ev["message"], update["partial"] = message, clone(message)
	return keep("message", message)
}

// rebuildPartial adds the arguments, and the partial result of which only the end was sent.
func rebuildPartial(ev object) error {
	id := text(ev["toolCallId"])
	args, err := kept("args/" + id)
	if err != nil {
		return err
	}
	ev["args"] = args
	if delta, ok := ev["delta"].(string); ok {
		v, err := kept("partial/" + id)
		if err != nil {
			return err
		}
		partial, _ := v.(object)
		if blocks, _ := partial["content"].([]any); len(blocks) == 1 {
			block, _ := blocks[0].(object)
			block["text"] = text(block["text"]) + delta
		}
		ev["partialResult"] = partial
		delete(ev, "delta")
	}
	return keep("partial/"+id, ev["partialResult"])
}

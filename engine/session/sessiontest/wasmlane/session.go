package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	weir "weir/guest-sdk/go"
)

// act does what a handler, tool or command may do besides answering, by the capabilities session and ui, and reports what came of it.
func (r *result) act(a object) error {
	name, _ := a["do"].(string)
	_, started := a["as"]
	_, callsBack := a["open"]
	if started || callsBack || name == "pi.registerTool" {
		return fmt.Errorf("a guest cannot do two things at once, nor hand out functions: %q", name)
	}
	v, err := r.eval(a)
	if err != nil {
		return err
	}
	a, _ = v.(object)
	word := func(key string) string { s, _ := a[key].(string); return s }
	options, _ := a["options"].(object)
	switch name {
	case "ctx.get":
		return r.look(a)
	case "ctx.abort", "abortCompaction":
		_, err := use("abort")
		return err
	case "ui":
		return dialog(word("method"), a["args"])
	case "pi.sendMessage":
		message, _ := a["message"].(object)
		fields := fieldsOf(message, "customType", "content", "display", "details")
		fields = append(fields, renamed(options, "triggerTurn", "trigger")...)
		return called(a, "send", append(fields, renamed(options, "deliverAs", "deliver")...))
	case "pi.sendUserMessage":
		return called(a, "prompt", append(fieldsOf(a, "content"), renamed(options, "deliverAs", "deliver")...))
	case "pi.appendEntry":
		return called(a, "append", fieldsOf(a, "customType", "data"))
	case "pi.setLabel":
		return called(a, "label", append(renamed(a, "entry", "entryId"), fieldsOf(a, "label")...))
	case "pi.setSessionName":
		return called(a, "name", fieldsOf(a, "name"))
	case "pi.getSessionName":
		state, err := use("state")
		return told(name, decode(state.Get("name")), err)
	case "pi.getActiveTools":
		tools, err := use("tools")
		names := []any{}
		for t := range tools.Get("tools").Elements() {
			if t.Get("active").Bool(false) {
				names = append(names, t.Get("name").Str())
			}
		}
		return told(name, names, err)
	case "pi.setActiveTools":
		return called(a, "set_tools", fieldsOf(a, "tools"))
	case "pi.setModel":
		return called(a, "set_model", append(fieldsOf(a, "provider"), renamed(a, "model", "id")...))
	case "ctx.newSession":
		return called(a, "new", nil)
	}
	return fmt.Errorf("a guest has no action %q", name)
}

// use makes a call of the capability session. Its error has the session's words.
func use(op string, fields ...weir.Field) (weir.Value, error) {
	v, err := weir.Session(op, fields...)
	var refused *weir.HostError
	if errors.As(err, &refused) {
		err = errors.New(strings.TrimPrefix(refused.Text, op+": "))
	}
	return v, err
}

// called makes a call, of which only a failure is reported, and success if the action wants it.
func called(a object, op string, fields []weir.Field) error {
	_, err := use(op, fields...)
	if err == nil && a["record"] != true {
		return nil
	}
	name, _ := a["do"].(string)
	return told(name, undefined{}, err)
}

// told reports what came of a call.
func told(name string, value any, err error) error {
	out := object{"call": name}
	switch value.(type) {
	case undefined:
	default:
		out["value"] = value
	}
	if err != nil {
		out = object{"call": name, "error": err.Error()}
	} else {
		out["ok"] = true
	}
	return weir.KVSet("trace", string(encode(out)))
}

func fieldsOf(from object, keys ...string) []weir.Field {
	var fields []weir.Field
	for _, key := range keys {
		fields = append(fields, renamed(from, key, key)...)
	}
	return fields
}

func renamed(from object, key, name string) []weir.Field {
	v, ok := from[key]
	if !ok {
		return nil
	}
	return []weir.Field{{Key: name, Value: encode(v)}}
}

// look reports what a handler sees of its surroundings.
func (r *result) look(a object) error {
	state, err := use("state")
	if err != nil {
		return err
	}
	seen := object{}
	keys, _ := a["keys"].([]any)
	for _, key := range keys {
		name, _ := key.(string)
		if seen[name], err = r.surrounding(name, state); err != nil {
			return err
		}
	}
	return weir.KVSet("trace", string(encode(object{"ctx": seen})))
}

func (r *result) surrounding(name string, state weir.Value) (any, error) {
	switch name {
	case "isIdle":
		return state.Get("idle").Bool(false), nil
	case "signalAborted":
		return decode(state.Get("aborted")), nil
	case "model":
		return state.Get("model").Get("id").Str(), nil
	case "thinkingLevel":
		return state.Get("thinkingLevel").Str(), nil
	case "hasPendingMessages":
		return state.Get("queued").Int(0) > 0, nil
	case "systemPrompt":
		if prompt, ok := r.event["systemPrompt"]; ok { // the one that is being made
			return prompt, nil
		}
		return state.Get("systemPrompt").Str(), nil
	case "mode":
		mode := r.context.Get("mode").Str()
		if mode == "text" { // the reference's word for it
			mode = "print"
		}
		return mode, nil
	case "hasUI":
		return r.context.Get("hasUI").Bool(false), nil
	case "cwd":
		return r.context.Get("cwd").Str(), nil
	case "isProjectTrusted":
		return true, nil // the extensions of a project that is not trusted are not loaded
	case "leafType":
		return leafType(state.Get("leaf"))
	}
	return nil, fmt.Errorf("a guest does not see %q", name)
}

func leafType(leaf weir.Value) (any, error) {
	if leaf.Kind() != weir.KindString {
		return nil, nil
	}
	answer, err := use("entry", weir.Field{Key: "id", Value: weir.String(leaf.Str())})
	entry := answer.Get("entry")
	kind := entry.Get("type").Str()
	if role := entry.Get("message").Get("role").Str(); role != "" {
		kind += ":" + role
	}
	return kind, err
}

// entryID is the id of the entry at a place of the session's file.
func entryID(place any) (any, error) {
	n, ok := place.(float64)
	if !ok {
		return nil, fmt.Errorf("a guest finds entries by their place only, not by %s", encode(place))
	}
	answer, err := use("entries", weir.Field{Key: "limit", Value: weir.Int(int64(n) + 1)})
	i := 0.0
	for e := range answer.Get("entries").Elements() {
		if i == n {
			return e.Get("id").Str(), err
		}
		i++
	}
	return undefined{}, err
}

// dialog asks the person.
func dialog(method string, args any) error {
	given, _ := args.([]any)
	word := func(i int) string {
		if i >= len(given) {
			return ""
		}
		s, _ := given[i].(string)
		return s
	}
	var value any = undefined{}
	var err error
	chosen := func(answer string, ok bool, failed error) {
		if err = failed; ok {
			value = answer
		}
	}
	switch method {
	case "confirm":
		value, err = weir.UIConfirm(word(0), word(1))
	case "select":
		var options []string
		if len(given) > 1 {
			if failed := json.Unmarshal([]byte(encode(given[1])), &options); failed != nil {
				return failed
			}
		}
		chosen(weir.UISelect(word(0), options...))
	case "input":
		chosen(weir.UIInput(word(0), word(1)))
	default:
		return fmt.Errorf("a guest has no dialog %q", method)
	}
	return told("ui."+method, value, err)
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	weir "weir/guest-sdk/go"
)

type object = map[string]any

// undefined is the value of an expression that has none: a field with it is left out.
type undefined struct{}

// handler is what the settings declare: the rules of a handler, or the actions of a command or a tool.
type handler struct {
	Do    []object `json:"do"`
	Rules []struct {
		Match struct {
			Where object `json:"where"`
			Nth   int    `json:"nth"`
		} `json:"match"`
		Do []object `json:"do"`
	} `json:"rules"`
	Event  string `json:"event"`  // the other events that come only help to understand this one
	Silent bool   `json:"silent"` // deliveries are not recorded
}

// result is how a handler ended.
type result struct {
	before, event object     // the event as it came, and as the actions left it
	context       weir.Value // that the event came with
	assigned      map[string]bool
	ended         bool // by the action "return"
	returned      bool // a value
	value         any
	fields        object // value, if it is an object
}

// changed says whether a field was changed in place. A new value in its place is no change of the old one.
func (r *result) changed(key string) bool {
	return !r.assigned[key] && !same(r.before[key], r.event[key])
}

// field is a field of the answer: as it was returned, or else as it was changed in place.
func (r *result) field(key string) (any, bool) {
	if v, ok := r.fields[key]; ok {
		return v, true
	}
	if r.changed(key) {
		v, ok := r.event[key]
		return v, ok
	}
	return nil, false
}

// handle runs the declared handler on an event. Its error is what the handler threw.
func handle(ev object, context weir.Value) (*result, error) {
	var h handler
	if err := json.Unmarshal([]byte(weir.Config().JSON()), &h); err != nil {
		return nil, err
	}
	if err := rebuild(ev); err != nil {
		return nil, err
	}
	if ev["type"] != h.Event {
		return &result{}, nil
	}
	if !h.Silent {
		if err := weir.KVSet("record", string(encode(ev))); err != nil {
			return nil, err
		}
	}
	before, _ := clone(ev).(object)
	r := &result{before: before, event: ev, context: context, assigned: map[string]bool{}}
	for i := range h.Rules {
		m := &h.Rules[i].Match
		if !where(ev, m.Where) {
			continue
		}
		seen, err := count(i)
		if err != nil {
			return nil, err
		}
		if m.Nth != 0 && seen != m.Nth {
			continue
		}
		if err := r.run(h.Rules[i].Do); err != nil {
			return nil, err
		}
		break
	}
	r.fields, _ = r.value.(object)
	return r, nil
}

// command runs the declared actions of a command.
func command(c *weir.CommandRun) (string, error) {
	_, err := perform(object{"args": c.Args().Str()}, c.Context())
	return "", err
}

// tool runs the declared actions of a tool.
func tool(t *weir.ToolRun) (weir.ToolOutput, error) {
	r, err := perform(object{"toolCallId": t.ID(), "args": decode(t.Args())}, t.Context())
	if err != nil {
		return weir.ToolOutput{}, err
	}
	fields, _ := r.value.(object)
	out := weir.ToolOutput{Content: encode(fields["content"]), IsError: truthy(fields["isError"]), Terminate: truthy(fields["terminate"])}
	if v, ok := fields["details"]; ok {
		out.Details = encode(v)
	}
	return out, nil
}

// perform runs the actions of the settings.
func perform(event object, context weir.Value) (*result, error) {
	var h handler
	if err := json.Unmarshal([]byte(weir.Config().JSON()), &h); err != nil {
		return nil, err
	}
	r := &result{event: event, context: context, assigned: map[string]bool{}}
	return r, r.run(h.Do)
}

// count counts a match of a rule, in the store, so that it goes on after a fault.
func count(rule int) (int, error) {
	key := "seen/" + strconv.Itoa(rule)
	before, _, err := weir.KVGet(key)
	if err != nil {
		return 0, err
	}
	seen, _ := strconv.Atoi(before) // the first time there is nothing
	seen++
	return seen, weir.KVSet(key, strconv.Itoa(seen))
}

func where(ev object, conditions object) bool {
	for path, want := range conditions {
		if got, ok := get(ev, path); !ok || !same(got, want) {
			return false
		}
	}
	return true
}

func (r *result) run(actions []object) error {
	for _, a := range actions {
		if err := r.do(a); err != nil || r.ended {
			return err
		}
	}
	return nil
}

func (r *result) do(a object) error {
	word := func(key string) string { s, _ := a[key].(string); return s }
	switch word("do") {
	case "return":
		v, err := r.eval(a["value"])
		r.ended = true
		if _, none := v.(undefined); !none && err == nil {
			r.returned, r.value = true, v
		}
		return err
	case "throw":
		if v, ok := a["value"]; ok {
			panic(text(v)) // what JavaScript throws that is no Error is a panic in Go
		}
		return errors.New(word("message"))
	case "note":
		return weir.KVSet("note", word("text"))
	case "open":
		return weir.KVSet("open", word("gate"))
	case "wait":
		_, _, err := weir.KVGet("wait/" + word("gate"))
		return err
	case "tick":
		ms, _ := a["ms"].(float64)
		_, _, err := weir.KVGet("tick/" + strconv.FormatFloat(ms, 'g', -1, 64))
		return err
	case "set", "push":
		v, err := r.eval(a["value"])
		if err != nil {
			return err
		}
		if word("do") == "push" {
			list, ok := get(r.event, word("path"))
			items, isList := list.([]any)
			if !ok || !isList {
				return fmt.Errorf("no list at %q", word("path"))
			}
			return put(r.event, word("path"), append(items[:len(items):len(items)], v))
		}
		if !strings.Contains(word("path"), ".") {
			r.assigned[word("path")] = true
		}
		return put(r.event, word("path"), v)
	}
	return r.act(a)
}

// eval evaluates a value that may hold expressions: objects with one key that begins with "$".
func (r *result) eval(x any) (any, error) {
	switch v := x.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			var err error
			if out[i], err = r.eval(v[i]); err != nil {
				return nil, err
			}
		}
		return out, nil
	case object:
		if len(v) == 1 {
			for name, arg := range v {
				if strings.HasPrefix(name, "$") {
					return r.expression(name, arg)
				}
			}
		}
		out := make(object, len(v))
		for key := range v {
			item, err := r.eval(v[key])
			if err != nil {
				return nil, err
			}
			if _, none := item.(undefined); !none {
				out[key] = item
			}
		}
		return out, nil
	}
	return x, nil
}

func (r *result) expression(name string, arg any) (any, error) {
	fields, _ := arg.(object)
	switch name {
	case "$event":
		path, _ := arg.(string)
		if v, ok := get(r.event, path); ok {
			return clone(v), nil
		}
		return undefined{}, nil
	case "$undefined":
		return undefined{}, nil
	case "$concat":
		parts, err := r.list(arg)
		var b strings.Builder
		for _, part := range parts {
			if _, none := part.(undefined); part != nil && !none {
				b.WriteString(text(part))
			}
		}
		return b.String(), err
	case "$upper":
		v, err := r.eval(arg)
		return strings.ToUpper(text(v)), err
	case "$append":
		to, err := r.list(fields["to"])
		if err != nil {
			return nil, err
		}
		items, err := r.list(fields["items"])
		return append(to, items...), err
	case "$merge":
		base, err := r.eval(fields["base"])
		if err != nil {
			return nil, err
		}
		with, err := r.eval(fields["with"])
		out := object{}
		for _, part := range []any{base, with} {
			from, _ := part.(object)
			maps.Copy(out, from)
		}
		return out, err
	case "$filter":
		return r.filter(fields)
	case "$entry":
		return entryID(arg)
	}
	return nil, fmt.Errorf("a guest has no expression %q", name)
}

func (r *result) list(x any) ([]any, error) {
	v, err := r.eval(x)
	list, _ := v.([]any)
	return list, err
}

// filter leaves out the messages that have both the role and the custom type, of those that are given.
func (r *result) filter(fields object) (any, error) {
	from, err := r.list(fields["from"])
	kept := []any{}
	for _, item := range from {
		m, _ := item.(object)
		role, byRole := fields["dropRole"]
		kind, byKind := fields["dropCustomType"]
		if (byRole || byKind) && (!byRole || m["role"] == role) && (!byKind || m["customType"] == kind) {
			continue
		}
		kept = append(kept, item)
	}
	return kept, err
}

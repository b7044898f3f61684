// Package sessionrecord is a session for tests of what guests ask of one: it keeps what it was asked and answers the same each time.
package sessionrecord

import (
	"context"
	"encoding/json"
	"fmt"

	"weir/wasmhost"
)

// New makes a session. asked returns a line for each request so far, in order, but none for state, tools and the thinking level. Both
// are for one goroutine.
func New() (session wasmhost.Session, asked func() []string) {
	r := &recorded{}
	return r, func() []string { return r.asked }
}

type recorded struct{ asked []string }

func (r *recorded) add(format string, args ...any) {
	r.asked = append(r.asked, fmt.Sprintf(format, args...))
}

func (r *recorded) begin(format string, args ...any) (func(), error) {
	return func() { r.add(format, args...) }, nil
}

func (r *recorded) State() (wasmhost.SessionState, error) {
	return wasmhost.SessionState{ID: "s1", Idle: true}, nil
}

func (r *recorded) Entries(after string, most int) ([]json.RawMessage, bool, error) {
	r.add("entries %q %d", after, most)
	return []json.RawMessage{json.RawMessage(`{"id":"e1"}`)}, true, nil
}

func (r *recorded) Entry(id string) (json.RawMessage, error) {
	r.add("entry %s", id)
	return json.RawMessage(`{"id":"e2"}`), nil
}

func (r *recorded) Messages(from, most int) ([]json.RawMessage, int, error) {
	r.add("messages %d %d", from, most)
	return []json.RawMessage{json.RawMessage(`{"role":"user"}`)}, 7, nil
}

func (r *recorded) Tools() ([]wasmhost.SessionTool, error) {
	return []wasmhost.SessionTool{{Name: "read", Active: true}, {Name: "bash"}}, nil
}

func (r *recorded) AppendEntry(customType string, data json.RawMessage) (string, error) {
	r.add("append %s %s", customType, data)
	return "e3", nil
}

func (r *recorded) SetLabel(entry, label string) error {
	r.add("label %s %s", entry, label)
	return nil
}
func (r *recorded) SetName(name string) error { r.add("name %q", name); return nil }

func (r *recorded) SendMessage(m wasmhost.SessionMessage) error {
	r.add("send %s %s display=%v details=%s trigger=%v %q", m.CustomType, m.Content, m.Display, m.Details, m.Trigger != nil && *m.Trigger, m.Deliver)
	return nil
}

func (r *recorded) SendUserMessage(content json.RawMessage, deliver string) error {
	r.add("prompt %s %q", content, deliver)
	return nil
}

func (r *recorded) SetTools(names []string) error { r.add("set_tools %v", names); return nil }

func (r *recorded) SetModel(_ context.Context, provider, id string) error {
	r.add("set_model %s %s", provider, id)
	return nil
}

func (r *recorded) SetThinkingLevel(level string) (string, error) { return level + "er", nil }
func (r *recorded) Abort() (func(), error)                        { return r.begin("abort") }
func (r *recorded) NewSession() (func(), error)                   { return r.begin("new") }

func (r *recorded) Compact(instructions string) (func(), error) {
	return r.begin("compact %q", instructions)
}

func (r *recorded) Fork(entry string, at bool) (func(), error) {
	return r.begin("fork %s %v", entry, at)
}

func (r *recorded) Navigate(entry string, how wasmhost.SessionNavigation) (func(), error) {
	return r.begin("navigate %s %+v", entry, how)
}

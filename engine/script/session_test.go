package script_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/wasmhost"
)

// recorded is a session that keeps what it was asked for.
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

// TestSession: each function of the library makes a request that the host takes, and reads its answer.
func TestSession(t *testing.T) {
	s := load(t, write(t, "p.js", `import { session } from "weir";
export const tool_call = () => ({ input: {
  state: session.state().id, entries: session.entries(), more: session.entries({ after: "e1", limit: 5 }).more, entry: session.entry("e1").id,
  messages: session.messages({ from: 2 }).total, tools: session.tools().map((t) => [t.name, t.active]),
  append: [session.append("todo"), session.append("todo", { a: 1 })],
  rest: [session.label("e1", "here"), session.name(""), session.send({ customType: "note", content: "hi", details: [1], display: true, trigger: true, deliver: "nextTurn" }),
    session.send({ customType: "note", content: [{ type: "text", text: "x" }] }), session.prompt("go"), session.prompt("go", "steer"), session.setModel("p", "m")].every((r) => r === undefined),
  set: session.setTools(["read"]), level: session.setThinkingLevel("high"),
} });
export const input = () => { session.abort(); session.compact(); session.compact("short"); session.new(); session.fork("e1"); session.fork("e1", "at"); session.navigate("e1");
  session.navigate("e2", { summarize: true, instructions: "i", replace: true, label: "l" }); };
export const tool_result = () => session.request("state", { x: 1 });
`))
	r := &recorded{}
	use := wasmhost.UseSession([]string{"read", "append", "send", "control"}, func() wasmhost.Session { return r })
	g := guest(t, host(t), s, wasmhost.GuestConfig{Entries: []string{"tool_call", "input", "tool_result"}, Capabilities: map[string]wasmhost.Capability{"session": use}})
	out, err := call(t, g, "tool_call", event)
	want := `{"input":{"state":"s1","entries":{"entries":[{"id":"e1"}],"more":true},"more":true,"entry":"e2","messages":7,"tools":[["read",true],["bash",false]],` +
		`"append":["e3","e3"],"rest":true,"set":["read"],"level":"higher"}}`
	if err != nil || out != want {
		t.Errorf("%s, %v, want %s", out, err, want)
	}
	if out, err := call(t, g, "input", `{}`); err != nil || out != `{}` {
		t.Errorf("%s, %v", out, err)
	}
	if diff := cmp.Diff([]string{
		`entries "" 100`, `entries "e1" 5`, `entry e1`, `messages 2 100`, `append todo `, `append todo {"a":1}`, `label e1 here`, `name ""`,
		`send note "hi" display=true details=[1] trigger=true "nextTurn"`, `send note [{"type":"text","text":"x"}] display=false details= trigger=false ""`,
		`prompt "go" ""`, `prompt "go" "steer"`, `set_model p m`, `set_tools [read]`,
		`abort`, `compact ""`, `compact "short"`, `new`, `fork e1 false`, `fork e1 true`,
		`navigate e1 {Summarize:false Instructions: Replace:false Label:}`, `navigate e2 {Summarize:true Instructions:i Replace:true Label:l}`,
	}, r.asked); diff != "" {
		t.Error(diff)
	}
	// A key that the host does not know is refused, so the requests above have none.
	_, err = call(t, g, "tool_result", `{}`)
	if _, text := faultOf(t, err); !strings.Contains(text, "session.state: ") {
		t.Errorf("%s", text)
	}
}

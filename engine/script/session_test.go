package script_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/internal/sessionrecord"
	"weir/wasmhost"
)

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
	r, asked := sessionrecord.New()
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
	}, asked()); diff != "" {
		t.Error(diff)
	}
	// A key that the host does not know is refused, so the requests above have none.
	_, err = call(t, g, "tool_result", `{}`)
	if _, text := faultOf(t, err); !strings.Contains(text, "session.state: ") {
		t.Errorf("%s", text)
	}
}

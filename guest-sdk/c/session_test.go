package c

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/internal/sessionrecord"
	"weir/wasmhost"
)

// TestSession: the requests are those of docs/abi.md, section 10, which the host takes, and their answers are read.
func TestSession(t *testing.T) {
	record, _ := sessionrecord.New()
	host := wasmhost.UseSession([]string{"read", "append", "send", "control"}, func() wasmhost.Session { return record })
	for _, lang := range [][]string{{"-std=c11"}, {"-x", "c++", "-std=c++17"}} {
		g := load(t, build(t, "testdata/session.c", lang...), "")
		call := func(do string) string {
			t.Helper()
			out, err := g.Call(t.Context(), "tool_call", event(t, map[string]any{"do": do}))
			if err != nil {
				t.Fatalf("%s: %v", do, err)
			}
			var answer struct{ Reason string }
			if err := json.Unmarshal(out, &answer); err != nil {
				t.Fatal(err)
			}
			return answer.Reason
		}
		for _, c := range []struct{ do, request, response, want string }{
			{
				"state", `{"op":"state"}`,
				`{"id":"s","name":"n","cwd":"/w","file":"f","leaf":"e9","entries":9,"messages":4,"idle":true,"streaming":false,"compacting":true,"retrying":false,"aborted":true,"queued":2,"model":{"provider":"p","id":"m"},"thinkingLevel":"low","systemPrompt":"x","contextUsage":null}`,
				"s n /w f e9 p m low x null  9 4 2 1 0 1 0 1",
			},
			{
				"state", `{"op":"state"}`,
				`{"id":"s","leaf":null,"entries":0,"messages":0,"idle":false,"streaming":true,"compacting":false,"retrying":true,"aborted":null,"queued":0,"model":{"provider":"p","id":"m"},"thinkingLevel":"off","systemPrompt":"","contextUsage":{"tokens":1}}`,
				`s     p m off  {"tokens":1}  0 0 0 0 1 0 1 0`,
			},
			{"entries", `{"op":"entries"}`, `{"entries":[{"id":"a"}],"more":true}`, `[{"id":"a"}] 1`},
			{"entries after", `{"op":"entries","after":"a","limit":5}`, `{"entries":[],"more":false}`, `[] 0`},
			{"entry", `{"op":"entry","id":"a"}`, `{"entry":{"id":"a"}}`, `{"id":"a"}`},
			{"messages", `{"op":"messages","from":2,"limit":3}`, `{"messages":[{},1],"total":8}`, `[{},1] 8`},
			{"tools", `{"op":"tools"}`, `{"tools":[{"name":"bash","description":"d","active":true},{"name":"ls","description":"e","active":false}]}`, "text bashtext d 1text lstext e 0"},
			{"append", `{"op":"append","customType":"todo"}`, `{"id":"b"}`, "text b"},
			{"append data", `{"op":"append","customType":"todo","data":{"a":1}}`, `{"id":"b"}`, "text b"},
			{"label", `{"op":"label","entryId":"a","label":""}`, `{}`, "done"},
			{"name", `{"op":"name","name":""}`, `{}`, "done"},
			{"send", `{"op":"send","customType":"note","content":[]}`, `{}`, "done"},
			{"send all", `{"op":"send","customType":"note","content":"h\"i","display":true,"details":[1],"trigger":true,"deliver":"steer"}`, `{}`, "done"},
			{"prompt", `{"op":"prompt","content":"go","deliver":"followUp"}`, `{}`, "done"},
			{"set_tools", `{"op":"set_tools","tools":["read","x"]}`, `{"tools":["read"]}`, `["read"]`},
			{"set_tools none", `{"op":"set_tools","tools":[]}`, `{"tools":[]}`, `[]`},
			{"set_model", `{"op":"set_model","provider":"p","id":"m"}`, `{}`, "done"},
			{"set_thinking_level", `{"op":"set_thinking_level","level":"max"}`, `{"level":"high"}`, "text high"},
			{"abort", `{"op":"abort"}`, `{}`, "done"},
			{"compact", `{"op":"compact"}`, `{}`, "done"},
			{"compact so", `{"op":"compact","instructions":"short"}`, `{}`, "done"},
			{"new", `{"op":"new"}`, `{}`, "done"},
			{"fork before", `{"op":"fork","entryId":"a","position":"before"}`, `{}`, "done"},
			{"fork at", `{"op":"fork","entryId":"a","position":"at"}`, `{}`, "done"},
			{"navigate", `{"op":"navigate","entryId":"a"}`, `{}`, "done"},
			{"navigate so", `{"op":"navigate","entryId":"a","summarize":true,"instructions":"i","replace":true,"label":"l"}`, `{}`, "done"},
		} {
			g.Session, g.SessionAnswer, g.SessionRefuses = nil, c.response, false
			if got := call(c.do); got != c.want {
				t.Errorf("%s: got %q, want %q", c.do, got, c.want)
			}
			if diff := cmp.Diff([]string{c.request}, g.Session); diff != "" {
				t.Errorf("%s: request (-want +got):\n%s", c.do, diff)
			}
			if _, err := host.Handle(t.Context(), []byte(c.request)); err != nil {
				t.Errorf("%s: the host refuses %s: %v", c.do, c.request, err)
			}
			for _, bad := range []struct {
				answer  string
				refuses bool
				want    string
			}{
				{"not granted", true, "refused: not granted"},
				{"[]", false, "refused: the response is not an object"},
				{"{", false, "refused: not JSON"},
			} {
				g.SessionAnswer, g.SessionRefuses = bad.answer, bad.refuses
				if got := call(c.do); got != bad.want {
					t.Errorf("%s, answered %q: got %q, want %q", c.do, bad.answer, got, bad.want)
				}
			}
		}
	}
}

package sdktest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/internal/sessionrecord"
	"weir/wasmhost"
)

// Session runs the driver of the session's functions, which calls each of them and blocks with what came of them, a line each: the host
// takes the requests, which it would not with a key that it does not know, and the answers and the refusals are read.
func Session(t *testing.T, driver []byte) {
	t.Helper()
	r, asked := sessionrecord.New()
	got := reason(t, driver, wasmhost.UseSession([]string{"read", "append", "send", "control"}, func() wasmhost.Session { return r }))
	state, rest, _ := strings.Cut(got, "\n")
	if !strings.HasPrefix(state, `{"id":"s1",`) {
		t.Errorf("the state is %s", state)
	}
	page, messages := `{"entries":[{"id":"e1"}],"more":true}`, `{"messages":[{"role":"user"}],"total":7}`
	tools := `[{"name":"read","description":"","active":true},{"name":"bash","description":"","active":false}]`
	if diff := cmp.Diff([]string{
		page, page, `{"id":"e2"}`, messages, messages, tools, `"e3"`, `"e3"`, `{}`, `{}`, `{}`, `{}`, `{}`, `{}`, `["read"]`, `["read"]`, `{}`, `"maxer"`,
		`{}`, `{}`, `{}`, `{}`, `{}`, `{}`, `{}`, `{}`, `{}`,
	}, strings.Split(rest, "\n")); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		`entries "" 100`, `entries "e1" 5`, `entry e1`, `messages 0 100`, `messages 2 3`, `append todo `, `append todo {"a":1}`, `label e1 `, `name "a \"walk\""`,
		`send note [] display=false details= trigger=true ""`, `send note "hi" display=true details=[1] trigger=true "nextTurn"`,
		`prompt "go" ""`, `prompt "go" "steer"`, `set_tools []`, `set_tools [read x]`, `set_model p m`,
		`abort`, `compact ""`, `compact "short"`, `new`, `fork e1 false`, `fork e1 true`,
		`navigate e1 {Summarize:false Instructions: Replace:false Label:}`, `navigate e1 {Summarize:false Instructions: Replace:true Label:}`,
		`navigate e1 {Summarize:true Instructions:i Replace:true Label:l}`,
	}, asked()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	for _, line := range strings.Split(reason(t, driver, wasmhost.UseSession(nil, nil)), "\n") {
		if !strings.HasPrefix(line, "session: ") || !strings.Contains(line, "is not granted") {
			t.Errorf("refused with %s", line)
		}
	}
}

// reason is what the driver blocks with.
func reason(t *testing.T, driver []byte, session wasmhost.Capability) string {
	t.Helper()
	g := guest(t, driver, wasmhost.GuestConfig{Entries: []string{"tool_call"}, Capabilities: map[string]wasmhost.Capability{"session": session}})
	out, err := Call(g, `{"input":{}}`)
	if err != nil {
		t.Fatal(err)
	}
	var decision struct{ Reason string }
	if err := json.Unmarshal([]byte(out), &decision); err != nil {
		t.Fatal(err)
	}
	return decision.Reason
}

package c

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/engine/facts"
)

// TestFacts: every field of the facts is read, and what the event leaves out is empty.
func TestFacts(t *testing.T) {
	for _, lang := range [][]string{{"-std=c11"}, {"-x", "c++", "-std=c++17"}} {
		g := load(t, build(t, "testdata/facts.c", lang...), "")
		for _, c := range []struct{ name, facts, want string }{
			{
				"none", `null`,
				`[{"known":false,"understood":false,"reason":"","commands":[]},{"known":false,"truncated":false,"workspace":"","paths":[]},
				  {"known":false,"truncated":false,"hosts":[]},{"known":false,"truncated":false,"spans":[],"base64":[]}]`,
			},
			{
				"all", `{
				"shell":{"understood":true,"reason":"r","commands":[
				  {"argv":["/bin/rm","$X","*"],"dynamic":true,"unknown":[1],"globs":[2],"assigns":[{"name":"A","value":"b"},{"name":"C","value":"$D","dynamic":true}],
				   "redirects":[{"op":">","fd":2,"target":"f"},{"op":"<","target":"$I","dynamic":true}],"in":["sudo","loop"],"code":"known","cwd":"/w/\u0061","pipeline":3,"stage":1,"stdin":"pipe"},
				  {"argv":["git",""],"cwdUnknown":true},{"argv":["$P","x"],"unknown":[0]},{"argv":[]}]},
				"paths":{"workspace":"/w","truncated":true,"paths":[
				  {"raw":"a","abs":"/w/a","real":"/r/a","unresolved":true,"inside":true,"own":true,"holdsOwn":true,"exists":true,"glob":true,"dynamic":true,"kind":"file","op":"read","arg":"command","command":0,"links":2},
				  {"raw":"b"}]},
				"net":{"truncated":true,"hosts":[{"raw":"R","scheme":"https","host":"h","port":8443,"userinfo":true,"ip":true,"odd":true,"dynamic":true,"scope":"public"},{"raw":"b"}]},
				"secrets":{"truncated":true,"spans":[{"block":1,"start":2,"end":30,"kind":"aws-key"}],"base64":[{"block":0,"start":5,"end":6}]}}`,
				`[{"known":true,"understood":true,"reason":"r","commands":[
				  {"words":3,"dynamic":true,"argv":["/bin/rm","$X","*"],"unknown":[1],"globs":[2],"in":["sudo","loop"],"code":"known","cwd":"/w/a","cwd_unknown":false,"pipeline":3,"stage":1,"input":"pipe",
				   "assigns":[{"name":"A","value":"b","dynamic":false},{"name":"C","value":"$D","dynamic":true}],
				   "redirects":[{"op":">","fd":2,"target":"f","dynamic":false},{"op":"<","fd":-1,"target":"$I","dynamic":true}],"program":"rm","known":[true,false,true,false]},
				  {"words":2,"dynamic":false,"argv":["git",""],"unknown":null,"globs":null,"in":null,"code":"","cwd":"","cwd_unknown":true,"pipeline":0,"stage":0,"input":"","assigns":[],"redirects":[],
				   "program":"git","known":[true,true,false]},
				  {"words":2,"dynamic":false,"argv":["$P","x"],"unknown":[0],"globs":null,"in":null,"code":"","cwd":"","cwd_unknown":false,"pipeline":0,"stage":0,"input":"","assigns":[],"redirects":[],
				   "program":"","known":[false,true,false]},
				  {"words":0,"dynamic":false,"argv":[],"unknown":null,"globs":null,"in":null,"code":"","cwd":"","cwd_unknown":false,"pipeline":0,"stage":0,"input":"","assigns":[],"redirects":[],
				   "program":"","known":[false]}]},
				 {"known":true,"truncated":true,"workspace":"/w","paths":[
				  {"raw":"a","abs":"/w/a","real":"/r/a","unresolved":true,"inside":true,"own":true,"holds_own":true,"exists":true,"glob":true,"dynamic":true,"kind":"file","op":"read","arg":"command","command":0,"links":2},
				  {"raw":"b","abs":"","real":"","unresolved":false,"inside":false,"own":false,"holds_own":false,"exists":false,"glob":false,"dynamic":false,"kind":"","op":"","arg":"","command":-1,"links":0}]},
				 {"known":true,"truncated":true,"hosts":[{"raw":"R","scheme":"https","host":"h","port":8443,"userinfo":true,"ip":true,"odd":true,"dynamic":true,"scope":"public"},
				  {"raw":"b","scheme":"","host":"","port":0,"userinfo":false,"ip":false,"odd":false,"dynamic":false,"scope":""}]},
				 {"known":true,"truncated":true,"spans":[{"block":1,"start":2,"end":30,"kind":"aws-key"}],"base64":[{"block":0,"start":5,"end":6,"kind":""}]}]`,
			},
		} {
			out, err := g.Call(t.Context(), "tool_call", []byte(`{"type":"tool_call","input":{},"facts":`+c.facts+`}`))
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if diff := cmp.Diff(decode(t, []byte(c.want)), decode(t, out)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.name, diff)
			}
		}
	}
}

// TestFactsPolicy: the README shows example/facts.c, and it decides by the facts of the host.
func TestFactsPolicy(t *testing.T) {
	shown(t, "example/facts.c")
	const dynamic = `{"ask":{"title":"Run a command that is not known before it runs?"}}`
	const unread = `{"ask":{"title":"Run a command that cannot be read?"}}`
	const push = `{"block":true,"reason":"push by hand, please"}`
	for _, lang := range [][]string{{"-std=c11"}, {"-x", "c++", "-std=c++17"}} {
		g := load(t, build(t, "example/facts.c", lang...), "")
		decide := func(event string) string {
			t.Helper()
			out, err := g.Call(t.Context(), "tool_call", []byte(event))
			if err != nil {
				t.Fatalf("%s: %v", event, err)
			}
			return string(out)
		}
		if got := decide(`{"toolName":"bash","input":{"command":"ls"}}`); got != unread {
			t.Errorf("without facts: %s", got)
		}
		for command, want := range map[string]string{
			"ls":                                "{}",
			"echo git push":                     "{}",
			"cd x && g''it pu\\sh":              push,
			`sudo sh -c "/usr/bin/git push -f"`: push,
			`git "$VERB"`:                       dynamic,
			"ls 'no end":                        unread,
		} {
			input, err := json.Marshal(map[string]string{"command": command})
			if err != nil {
				t.Fatal(err)
			}
			shell := facts.New(facts.Config{}).ToolCall("bash", input).JSON(facts.KindShell)
			if got := decide(fmt.Sprintf(`{"toolName":"bash","input":%s,"facts":%s}`, input, shell)); got != want {
				t.Errorf("%s: %s, want %s", command, got, want)
			}
		}
	}
}

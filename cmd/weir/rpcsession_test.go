//go:build unix

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sessionsScript = `
[[response]]
text = "First."
[[response]]
text = "Second."
[[response]]
expect = "other two"
text = "Other second."
[[response]]
expect = "^fresh$"
text = "Fresh."
[[response]]
expect = "back"
text = "Back."
`

// sessionsPolicy counts what it has heard in a variable, and refuses other sessions on request.
const sessionsPolicy = `
import { ui } from "weir";
export const describe = { capabilities: { ui: "tells" }, commands: [{ name: "count", description: "counts" }, { name: "refuse", description: "refuses" }] };
let heard = 0, refuse = false;
export function session_start(e) { ui.notify("start " + e.reason); }
export function session_shutdown(e) { ui.notify("shutdown " + e.reason); }
export function session_before_switch(e) { if (refuse) return { cancel: true }; }
export function session_before_fork(e) { if (refuse) return { cancel: true }; }
export function input() { heard++; }
export function command_execute(e) {
  if (e.name === "count") return { message: "heard " + heard };
  refuse = !refuse;
  return { message: "refuses " + refuse };
}
`

const sessionsSet = `
version = 1
[[extension]]
name = "watcher"
module = "watcher.js"
[extension.grant]
ui = true
`

// says sends a prompt and waits until it has settled.
func (c *rpcClient) says(text string) {
	c.t.Helper()
	c.send(fmt.Sprintf(`{"type":"prompt","message":%q}`, text))
	c.typed("agent_settled")
}

// told is the next notification, which must be the text.
func (c *rpcClient) told(text string) {
	c.t.Helper()
	got := c.until("a notification", func(line map[string]any) bool { return line["method"] == "notify" })
	if got["message"] != text {
		c.t.Fatalf("told %q, want %q", got["message"], text)
	}
}

// asks sends a line and gives the data of its response, which must be a success.
func (c *rpcClient) asks(id, rest string) map[string]any {
	c.t.Helper()
	c.send(fmt.Sprintf(`{"id":%q,"type":%s}`, id, rest))
	r := c.response(id)
	data, ok := r["data"].(map[string]any)
	if !ok || r["success"] != true {
		c.t.Fatalf("%s: %v", rest, r)
	}
	return data
}

// forkable are the texts before which the session can be forked, and their ids.
func (c *rpcClient) forkable() (texts, ids []string) {
	c.t.Helper()
	for _, m := range c.asks("forkable", `"get_fork_messages"`)["messages"].([]any) {
		m := m.(map[string]any)
		texts, ids = append(texts, m["text"].(string)), append(ids, m["entryId"].(string))
	}
	return texts, ids
}

// TestRPCSessions goes from session to session: each is kept in its file, and extensions begin anew and hear of it.
func TestRPCSessions(t *testing.T) {
	h := newHome(t, "")
	h.write("script.toml", sessionsScript)
	h.write("watcher.js", sessionsPolicy)
	h.write("set.toml", sessionsSet)
	h.write("sessions/keep", "")
	c := h.rpc("--script", "script.toml", "--set", "set.toml", "--session", "sessions/first.jsonl")
	first := c.typed("session")["id"]
	c.told("start startup")
	c.says("one")
	c.says("two")
	c.send(`{"type":"prompt","message":"/count"}`)
	c.told("heard 2")

	texts, ids := c.forkable()
	if diff := cmp.Diff([]string{"one", "two"}, texts); diff != "" {
		t.Fatal(diff)
	}
	c.send(fmt.Sprintf(`{"id":"f","type":"fork","entryId":%q}`, ids[1]))
	c.told("shutdown fork")
	if head := c.typed("session"); head["id"] == first || !strings.HasSuffix(head["parentSession"].(string), "first.jsonl") {
		t.Errorf("the fork's head: %v", head)
	}
	c.told("start fork")
	if r := c.response("f"); fmt.Sprint(r["data"]) != "map[cancelled:false text:two]" {
		t.Errorf("the fork: %v", r)
	}
	c.send(`{"type":"prompt","message":"/count"}`)
	c.told("heard 0") // its variables are those of another session no more
	c.says("other two")
	if texts, _ = c.forkable(); !cmp.Equal(texts, []string{"one", "other two"}) {
		t.Errorf("the fork has %q", texts)
	}

	c.send(`{"type":"prompt","message":"/refuse"}`)
	c.told("refuses true")
	for id, rest := range map[string]string{
		"n": `"new_session"`, "c": `"clone"`, "s": `"switch_session","sessionPath":"sessions/first.jsonl"`, "g": `"fork","entryId":"` + ids[0] + `"`,
	} {
		if got := c.asks(id, rest); fmt.Sprint(got) != "map[cancelled:true]" {
			t.Errorf("%s was refused: %v", rest, got)
		}
	}
	if texts, _ = c.forkable(); len(texts) != 2 {
		t.Errorf("the session that stays has %q", texts)
	}
	c.send(`{"type":"prompt","message":"/refuse"}`)
	c.told("refuses false")

	before := c.asks("b", `"get_state"`)
	if got := c.asks("c2", `"clone"`); fmt.Sprint(got) != "map[cancelled:false]" {
		t.Errorf("the copy: %v", got)
	}
	after := c.asks("a", `"get_state"`)
	if after["sessionId"] == before["sessionId"] || after["messageCount"] != before["messageCount"] {
		t.Errorf("the copy of %v is %v", before, after)
	}

	c.send(`{"id":"n2","type":"new_session"}`)
	c.told("shutdown new")
	c.told("start new")
	c.response("n2")
	c.says("fresh")
	if texts, _ = c.forkable(); !cmp.Equal(texts, []string{"fresh"}) {
		t.Errorf("the new session has %q", texts)
	}

	for path, want := range map[string]string{
		"sessions/nothing.jsonl": "no such file", "script.toml": "", fmt.Sprint(c.asks("p", `"get_state"`)["sessionFile"]): "is the present session",
	} {
		c.send(fmt.Sprintf(`{"id":"w","type":"switch_session","sessionPath":%q}`, path))
		if r := c.response("w"); r["success"] != false || !strings.Contains(r["error"].(string), want) {
			t.Errorf("%s: %v", path, r)
		}
	}
	if got := c.asks("s2", `"switch_session","sessionPath":"sessions/first.jsonl"`); fmt.Sprint(got) != "map[cancelled:false]" {
		t.Errorf("the switch: %v", got)
	}
	c.says("back")
	if texts, _ = c.forkable(); !cmp.Equal(texts, []string{"one", "two", "back"}) {
		t.Errorf("the first session has %q", texts)
	}
	c.exit(0)
	files, err := os.ReadDir(h.project + "/sessions")
	if err != nil || len(files) != 5 { // first, fork, copy, new; and keep
		t.Errorf("the files: %v, %v", files, err)
	}
}

// TestRPCReplaceDuring: what runs when the session is replaced is ended and kept, and what was queued is told.
func TestRPCReplaceDuring(t *testing.T) {
	h := newHome(t, "")
	h.write("script.toml", `
[[response]]
[[response.call]]
tool = "bash"
args = { command = "sleep 600" }
[[response]]
expect = "^next$"
text = "Next."
`)
	c := h.rpc("--script", "script.toml", "--session", "first.jsonl")
	c.typed("session")
	c.send(`{"type":"prompt","message":"wait"}`)
	c.typed("tool_execution_start")
	c.send(`{"type":"follow_up","message":"never heard"}`)
	c.send(`{"id":"n","type":"new_session"}`)
	if e := c.typed("error"); !strings.Contains(e["error"].(string), "never heard") {
		t.Error(e)
	}
	c.typed("agent_settled")
	c.response("n")
	c.says("next")
	c.exit(0)
	kept, err := os.ReadFile(h.project + "/first.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	contains(t, string(kept), `"wait"`, "sleep 600", `"toolResult"`)
	if strings.Contains(string(kept), `"next"`) {
		t.Error("what was said in the new session is in the old one")
	}
}

// TestRPCExtensionReplaces: an extension with the grant may begin another session, which the client sees by its head.
func TestRPCExtensionReplaces(t *testing.T) {
	h := newHome(t, "")
	guest, err := os.ReadFile("testdata/guests/renew.wasm")
	if err != nil {
		t.Fatal(err)
	}
	h.write("renew.wasm", string(guest))
	h.write("set.toml", "version = 1\n[[extension]]\nname = \"renew\"\nmodule = \"renew.wasm\"\n[extension.grant]\nsession = [\"control\"]\n")
	h.write("script.toml", "[[response]]\n[[response.call]]\ntool = \"bash\"\nargs = { command = \"sleep 600\" }\n[[response]]\nexpect = \"^next$\"\ntext = \"Next.\"\n")
	c := h.rpc("--script", "script.toml", "--set", "set.toml", "--no-session")
	first := c.typed("session")["id"]
	c.send(`{"type":"prompt","message":"go"}`)
	c.typed("agent_settled") // its run is ended
	if second := c.typed("session")["id"]; second == first {
		t.Errorf("the session is %v as before", second)
	}
	c.says("next")
	if texts, _ := c.forkable(); !cmp.Equal(texts, []string{"next"}) {
		t.Errorf("the session has %q", texts)
	}
	c.exit(0)
}

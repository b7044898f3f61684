package main

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/guest-sdk/go/weirtest"
)

func run(text string) string { return `{"command":"` + text + `"}` }

func TestToolCall(t *testing.T) {
	ext := weirtest.Load(t)
	if !strings.Contains(ext.Description(), `"name":"testguest"`) {
		t.Errorf("description: %s", ext.Description())
	}
	if d := ext.ToolCall("bash", run("ls")); d.Block || d.Ask != nil || d.Input != nil {
		t.Errorf("allow: %+v", d)
	}
	if d := ext.ToolCall("bash", run("terminate")); !d.Block || !d.Terminate || d.Reason != "enough" {
		t.Errorf("terminate: %+v", d)
	}
	if d := ext.ToolCall("bash", run("ask-rewrite")); d.Ask == nil || d.Ask.Title != "really?" || string(d.Input) != `{"command":"ls"}` {
		t.Errorf("ask-rewrite: %+v", d)
	}
	ext.Config = `{"greeting":"hi"}`
	if d := ext.ToolCall("bash", run("config")); d.Reason != "hi" {
		t.Errorf("config: %+v", d)
	}
	ext.ToolCall("bash", run("log"))
	if want := []string{"debug: d", "error: e"}; !slices.Equal(ext.Logs, want) {
		t.Errorf("logs: %q", ext.Logs)
	}
	ext.ToolCall("bash", run("kv"))
	if d := ext.ToolCall("bash", run("kv")); d.Reason != "x" || ext.KV["n"] != "xx" {
		t.Errorf("kv: %+v, %v", d, ext.KV)
	}
}

func TestFaults(t *testing.T) {
	ext := weirtest.Load(t)
	for text, want := range map[string]string{
		"empty": "tool_call: the handler returned the zero Decision; return weir.Allow() to let the call pass",
		"fail":  "tool_call: as told",
		"panic": "tool_call: panic: as told",
		"nil":   "tool_call: panic: runtime error: invalid memory address or nil pointer dereference",
	} {
		output, err := ext.Try("tool_call", `{"toolName":"bash","input":`+run(text)+`}`)
		var fault *weirtest.Fault
		if !errors.As(err, &fault) || err.Error() != want || output != "" {
			t.Errorf("%s: %q, %v", text, output, err)
		}
	}
	if _, err := ext.Call("tool_call", "{"); err == nil {
		t.Error("an event that is no JSON is accepted")
	}
	if _, err := ext.Call("session_start", "{}"); err == nil {
		t.Error("an event without handler is accepted")
	}
}

func TestToolResult(t *testing.T) {
	ext := weirtest.Load(t)
	if r := ext.ToolResult("bash", `{}`, weirtest.Text("a secret")); r.String() != "a ******" {
		t.Errorf("rewritten: %s", r.Content)
	}
	before := weirtest.Text("x")
	before.IsError = true
	if r := ext.ToolResult("bash", `{}`, before); r.IsError || r.String() != "failed" || string(r.Details) != `{"was":"error"}` {
		t.Errorf("an error: %+v", r)
	}
}

func TestMessages(t *testing.T) {
	ext := weirtest.Load(t)
	got := ext.Messages(
		`{"role":"user","content":"hello you there"}`,
		`{"role":"custom","customType":"note","content":"dropped","display":true}`,
		`{"role":"custom","customType":"other","content":"kept","display":true}`,
		`{"role":"user","content":"replace"}`,
		`{"role":"user","content":"insert"}`,
	)
	want := []string{
		`{"role":"user","content":"hello you there"}`,
		`{"role":"custom","customType":"other","content":"kept","display":true}`,
		`{"role":"user","content":"replaced"}`,
		`{"role":"user","content":"inserted","timestamp":0}`,
		`{"role":"user","content":"insert"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestToolsAndOthers(t *testing.T) {
	ext := weirtest.Load(t)
	got, err := ext.Call("tool_execute", `{"toolName":"shout","args":{"text":"x"}}`)
	if err != nil || got != `{"content":[{"type":"text","text":"X"}]}` || len(ext.Updates) != 1 {
		t.Errorf("tool: %s, %v, updates %q", got, err, ext.Updates)
	}
	if got, err := ext.Call("command_execute", `{"name":"hello","args":"you"}`); err != nil || got != `{"message":"hello you"}` {
		t.Errorf("command: %s, %v", got, err)
	}
	if got := ext.Event("input", `{"text":"transform"}`); got != `{"action":"transform","text":"transformed"}` {
		t.Errorf("input: %s", got)
	}
}

package weir_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tetratelabs/wazero"

	"weir/agentcore"
	"weir/engine/wire"
)

func TestExampleOnWazero(t *testing.T) {
	g := load(t, build(t, "./example"))
	d, err := wire.ParseDescribe([]byte(g.ok("weir_describe", "")))
	if err != nil {
		t.Fatal(err)
	}
	if d.Name != "no-rm-rf" || d.Version != "1.0.0" || !slices.Equal(d.HookNames(), []string{"tool_call"}) {
		t.Errorf("description: %+v", d)
	}
	for event, want := range map[string]string{
		command("rm -rf /"):                                                 `{"block":true,"reason":"rm -rf is not allowed"}`,
		command(`\u0072m -rf /`):                                            `{"block":true,"reason":"rm -rf is not allowed"}`,
		command("ls"):                                                       `{"block":false}`,
		toolCall("bash", `{"note":"rm -rf /"}`):                             `{"block":false}`,
		toolCall("bash", `{"a":{"command":"rm -rf /"}}`):                    `{"block":false}`,
		toolCall("bash", `{"command":"ls","command":"rm -rf /"}`):           `{"block":true,"reason":"rm -rf is not allowed"}`,
		toolCall("edit", `{"command":"rm -rf /"}`):                          `{"block":false}`,
		command(strings.Repeat("echo ok; ", 20_000) + "rm -rf /"):           `{"block":true,"reason":"rm -rf is not allowed"}`,
		" \n" + strings.ReplaceAll(command("rm -rf /"), ",", "\t, ") + "\r": `{"block":true,"reason":"rm -rf is not allowed"}`,
	} {
		if got := g.ok("tool_call", event); got != want {
			t.Errorf("%.200s: %s, want %s", event, got, want)
		}
	}
	for event, want := range map[string]string{
		"":                           "the event: invalid JSON at byte 0: a value is missing",
		"[]":                         "the event: invalid JSON at byte 0: not an object",
		command("ls")[:40]:           "a string does not end",
		command("\xff"):              "not valid UTF-8",
		command(`\ud800`):            "half a surrogate pair",
		command("ls") + "{}":         "text after the value",
		command(`ls","command":"\q`): "an unknown escape",
	} {
		rc, err := g.call("tool_call", []byte(event))
		if err != nil || rc == 0 || !strings.Contains(g.fault, want) || len(g.output) > 0 {
			t.Errorf("%q: rc %d, %v, output %q, error %q, want %q", event, rc, err, g.output, g.fault, want)
		}
	}
	if rc, err := g.call("input", []byte(`{}`)); rc == 0 || err != nil || g.fault != "input: no handler is registered for this" {
		t.Errorf("a hook without handler: rc %d, %v, %q", rc, err, g.fault)
	}
}

func TestDescription(t *testing.T) {
	g := load(t, build(t, "./internal/testguest"))
	d, err := wire.ParseDescribe([]byte(g.ok("weir_describe", "")))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"context", "input", "tool_call", "tool_result", "turn_start"}
	got := d.HookNames()
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hooks (-want +got):\n%s", diff)
	}
	r := d.Hook(wire.EventToolResult)
	if !r.Wants("mcp__a__b") || r.Wants("read") {
		t.Errorf("tools of tool_result: %+v", r)
	}
	if d.Hook(wire.EventContext).View.String() != "table" {
		t.Error("context is not in the table view")
	}
	for _, part := range []string{`"onError":"block"`, `"capabilities":{"kv":"to count across instances"}`, `"executionMode":"parallel"`, `"name":"hello"`, `"config":{"type":"object"`} {
		if !strings.Contains(string(g.output), part) {
			t.Errorf("the description lacks %s: %s", part, g.output)
		}
	}
}

func TestDecisions(t *testing.T) {
	g := load(t, build(t, "./internal/testguest"))
	g.config = `{"greeting":"hi \"you\""}`
	for text, want := range map[string]wire.ToolCallResult{
		"ls":          {},
		"block":       {Block: true, Reason: "blocked: \"bash\" \ufffd\ufffd"},
		"terminate":   {Block: true, Reason: "enough", Terminate: true},
		"ask":         {Ask: &wire.Ask{Title: "really?", Message: "it asks for it"}},
		"rewrite":     {Input: json.RawMessage(`{"a":[1],"command":"ls <é>"}`)},
		"ask-rewrite": {Ask: &wire.Ask{Title: "really?"}, Input: json.RawMessage(`{"command":"ls"}`)},
		"config":      {Block: true, Reason: `hi "you"`},
		"recheck":     {Block: true, Reason: "false"},
		"where":       {Block: true, Reason: "/home/dev/project call_1"},
	} {
		out := g.ok("tool_call", toolCall("bash", `{"command":"x","a":[1],"command":"`+text+`"}`))
		got, err := wire.ParseToolCall([]byte(out))
		if err != nil {
			t.Errorf("%s: %v in %s", text, err, out)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	recheck := strings.Replace(command("recheck"), "{", `{"recheck":true,`, 1)
	if out := g.ok("tool_call", recheck); !strings.Contains(out, `"reason":"true"`) {
		t.Errorf("recheck: %s", out)
	}
	g.ok("tool_call", command("log"))
	if want := []string{"0 d", "3 e"}; !slices.Equal(g.logs, want) {
		t.Errorf("logs %q, want %q", g.logs, want)
	}
}

func TestNothingAllowsByAccident(t *testing.T) {
	g := load(t, build(t, "./internal/testguest"))
	for text, want := range map[string]string{
		"empty":       "the handler returned the zero Decision; return weir.Allow() to let the call pass",
		"fail":        "as told",
		"panic":       "panic: as told",
		"nil":         "panic: runtime error: invalid memory address or nil pointer dereference",
		"bad-rewrite": "the rewritten arguments: not an object",
	} {
		rc, err := g.call("tool_call", []byte(command(text)))
		if rc != 1 || err != nil || g.fault != want || len(g.output) > 0 {
			t.Errorf("%s: rc %d, %v, output %q, error %q, want %q", text, rc, err, g.output, g.fault, want)
		}
	}
	for _, text := range []string{"exit", "goexit"} {
		g := load(t, build(t, "./internal/testguest"))
		rc, err := g.call("tool_call", []byte(command(text)))
		if err == nil && rc == 0 || len(g.output) > 0 {
			t.Errorf("%s: rc %d, %v, output %q", text, rc, err, g.output)
		}
	}
}

func TestToolResult(t *testing.T) {
	g := load(t, build(t, "./internal/testguest"))
	event := func(content, isError string) string {
		return `{"type":"tool_result","toolName":"bash","toolCallId":"c","input":{},"content":` + content + `,"isError":` + isError + `,` + where + `}`
	}
	for input, want := range map[string]string{
		event(`[{"type":"text","text":"fine"}]`, "false"): `{}`,
		event(`[{"type":"text","text":"a secret\n","textSignature":"s"},{"type":"image","data":"secret","mimeType":"image/png"}]`, "false"): `{"content":[{"type":"text","textSignature":"s","text":"a ******\n"},{"type":"image","data":"secret","mimeType":"image/png"}]}`,
		event(`[]`, "true"): `{"content":[{"type":"text","text":"failed"}],"details":{"was":"error"},"isError":false}`,
	} {
		got := g.ok("tool_result", input)
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", input, got, want)
		}
		if _, err := wire.ParseToolResult([]byte(got)); err != nil {
			t.Error(err)
		}
	}
	if rc, err := g.call("tool_result", []byte(event(`[{"type":"text","text":"panic"}]`, "false"))); rc == 0 || err != nil {
		t.Errorf("panic: rc %d, %v", rc, err)
	}
}

var history = []string{
	`{"role":"user","content":"hello you there","timestamp":1}`,
	`{"role":"custom","customType":"note","content":"dropped","display":true,"timestamp":2}`,
	`{"role":"custom","customType":"other","content":"kept","display":false,"timestamp":3}`,
	`{"role":"user","content":"replace","timestamp":4}`,
	`{"role":"user","content":"insert","timestamp":5}`,
}

func encodeTable(t testing.TB, messages []string) []byte {
	t.Helper()
	var list []*agentcore.Message
	for _, text := range messages {
		m, err := agentcore.DecodeMessage([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
	}
	var table wire.Table
	b, err := table.Encode(list, []byte(`{"cwd":"/work"}`))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(b)
}

func TestContextTable(t *testing.T) {
	g := load(t, build(t, "./internal/testguest"))
	call := func(messages ...string) (int32, string) {
		g.messages = nil
		for _, m := range messages {
			g.messages = append(g.messages, []byte(m))
		}
		rc, err := g.call("context", encodeTable(t, messages))
		if err != nil {
			t.Fatal(err)
		}
		return rc, string(g.output)
	}
	rc, got := call(history...)
	want := `{"drop":[1],"replace":[{"at":3,"message":{"role":"user","timestamp":4,"content":"replaced"}}],"insert":[{"at":4,"message":{"role":"user","content":"inserted","timestamp":0}}]}`
	if rc != 0 || got != want {
		t.Errorf("rc %d %s\n got %s\nwant %s", rc, g.fault, got, want)
	}
	if _, err := wire.ParseContext([]byte(got)); err != nil {
		t.Error(err)
	}
	if rc, got := call(history[0]); rc != 0 || got != "{}" {
		t.Errorf("nothing to do: rc %d, %s", rc, got)
	}
	if rc, got := call(); rc != 0 || got != "{}" {
		t.Errorf("no messages: rc %d, %s", rc, got)
	}
	if rc, _ := call(`{"role":"user","content":"twice","timestamp":4}`); rc == 0 || !strings.Contains(g.fault, "Drop: index 0 of 1 messages was dropped or replaced before") {
		t.Errorf("dropped twice: rc %d, %s", rc, g.fault)
	}
	whole := encodeTable(t, history)
	for n := range len(whole) {
		g.messages = nil
		if rc, err := g.call("context", whole[:n]); rc == 0 && err == nil {
			t.Fatalf("a table cut at %d of %d is accepted", n, len(whole))
		}
	}
}

func TestContextFull(t *testing.T) {
	g := load(t, build(t, "./internal/testguest/fullview"))
	event := `{"type":"context","messages":[` + strings.Join(history, ",") + `],` + where + `}`
	got := g.ok("context", event)
	if want := `{"messages":[{"ref":4},{"ref":3},{"ref":0},{"role":"user","content":"last","timestamp":1}]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := wire.ParseContext([]byte(got)); err != nil {
		t.Error(err)
	}
	for content, want := range map[string]string{"fail": "as told", "edit too": "SetMessages and edits exclude each other"} {
		rc, err := g.call("context", []byte(strings.Replace(event, "replace", content, 1)))
		if rc == 0 || err != nil || g.fault != want {
			t.Errorf("%s: rc %d, %v, %q", content, rc, err, g.fault)
		}
	}
}

func TestOtherExports(t *testing.T) {
	g := load(t, build(t, "./internal/testguest"))
	for text, want := range map[string]string{
		"transform": `{"action":"transform","text":"transformed"}`, "handled": `{"action":"handled"}`, "hm": `{}`,
	} {
		got := g.ok("input", `{"type":"input","text":"`+text+`","source":"interactive",`+where+`}`)
		if got != want {
			t.Errorf("input %s: %s, want %s", text, got, want)
		}
		if _, err := wire.ParseInput([]byte(got)); err != nil {
			t.Error(err)
		}
	}
	if rc, err := g.call("input", []byte(`{"type":"input","text":"empty"}`)); rc == 0 || err != nil {
		t.Errorf("the zero Result: rc %d, %v", rc, err)
	}
	if got := g.ok("turn_start", `{"type":"turn_start","turnIndex":7,`+where+`}`); got != "{}" || !slices.Equal(g.logs, []string{"1 turn 7"}) {
		t.Errorf("turn_start: %s, logs %q", got, g.logs)
	}
	got := g.ok("tool_execute", `{"toolCallId":"c","toolName":"shout","args":{"text":"hé"},`+where+`}`)
	if want := `{"content":[{"type":"text","text":"HÉ"}]}`; got != want {
		t.Errorf("tool_execute: %s", got)
	}
	if want := []string{`{"content":[{"type":"text","text":"…"}]}`}; !slices.Equal(g.updates, want) {
		t.Errorf("updates %q", g.updates)
	}
	if got := g.ok("command_execute", `{"name":"hello","args":"you",`+where+`}`); got != `{"message":"hello you"}` {
		t.Errorf("command_execute: %s", got)
	}
	if rc, err := g.call("tool_execute", []byte(`{"toolName":"none","args":{}}`)); rc == 0 || err != nil || g.fault != "tool none: no handler is registered for this" {
		t.Errorf("an unknown tool: rc %d, %v, %q", rc, err, g.fault)
	}
}

func TestCapability(t *testing.T) {
	g := load(t, build(t, "./internal/testguest"))
	var requests []string
	g.kv = func(request string) (string, int32) {
		requests = append(requests, request)
		if strings.Contains(request, "get") {
			return `{"value":"x"}`, 0
		}
		return `{}`, 0
	}
	if got := g.ok("tool_call", command("kv")); got != `{"block":true,"reason":"x"}` {
		t.Errorf("got %s", got)
	}
	if want := []string{`{"op":"get","key":"n"}`, `{"op":"set","key":"n","value":"xx"}`}; !slices.Equal(requests, want) {
		t.Errorf("requests %q", requests)
	}
	g.kv = func(string) (string, int32) { return "the store is full", -1 }
	if rc, err := g.call("tool_call", []byte(command("kv"))); rc == 0 || err != nil || g.fault != "kv: get: the store is full (-1)" {
		t.Errorf("rc %d, %v, %q", rc, err, g.fault)
	}
}

// TestImportsSayWhatIsUsed holds the linker to what the package hostfn builds
// on: an import is there only if something reaches it.
func TestImportsSayWhatIsUsed(t *testing.T) {
	always := []string{"weir_error", "weir_input_read", "weir_output_write"}
	for pkg, more := range map[string][]string{
		"./example":                     nil,
		"./internal/testguest":          {"weir_config_read", "weir_kv", "weir_log", "weir_message_read", "weir_response_read", "weir_tool_update"},
		"./internal/testguest/fullview": nil,
	} {
		r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter())
		m, err := r.CompileModule(t.Context(), build(t, pkg))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range m.ImportedFunctions() {
			module, name, _ := f.Import()
			switch module {
			case "extism:host/user":
				got = append(got, name)
			case "wasi_snapshot_preview1":
			default:
				t.Errorf("%s imports %s %s", pkg, module, name)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(slices.Sorted(slices.Values(append(more, always...))), got); diff != "" {
			t.Errorf("imports of %s (-want +got):\n%s", pkg, diff)
		}
		exports := m.ExportedFunctions()
		for _, want := range []string{"_initialize", "weir_describe", "tool_execute", "command_execute"} {
			if exports[want] == nil {
				t.Errorf("%s does not export %s", pkg, want)
			}
		}
		for _, e := range events() {
			if exports[e] == nil {
				t.Errorf("%s does not export %s", pkg, e)
			}
		}
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// events are the events of the host.
func events() []string {
	var names []string
	for e := range wire.EventCount {
		names = append(names, wire.Event(e+1).String())
	}
	return names
}

// TestBuildIsReproducible builds a copy of the SDK that lies elsewhere.
func TestBuildIsReproducible(t *testing.T) {
	here := build(t, "./example")
	root := t.TempDir()
	if err := os.CopyFS(root+"/guest-sdk/go", os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"go.mod": mod, "go.sum": sum} {
		if err := os.WriteFile(root+"/"+name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	there := buildIn(t, root, "./guest-sdk/go/example")
	if sha256.Sum256(here) != sha256.Sum256(there) {
		t.Error("two folders give two modules")
	}
	if bytes.Contains(here, []byte("encoding/json")) || bytes.Contains(here, []byte("reflect.Value")) {
		t.Error("the module contains encoding/json or reflect")
	}
	t.Logf("%d bytes", len(here))
}

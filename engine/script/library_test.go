package script_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
	"weir/engine/wire"
	"weir/wasmhost"
)

// TestKV uses the host's own capability.
func TestKV(t *testing.T) {
	s := load(t, write(t, "p.js", `import { kv } from "weir";
export function tool_call() {
  const before = kv.get("a");
  kv.set("a", "ü\u0000");
  kv.set("b", "2");
  const input = { before: before === undefined, a: kv.get("a"), list: kv.list(), prefix: kv.list("b") };
  kv.delete("b");
  return { input: { ...input, after: kv.list() } };
}
export const tool_result = () => void kv.set("big", "x".repeat(70000));
`))
	g := guest(t, host(t), s, wasmhost.GuestConfig{
		Entries: []string{"tool_call", "tool_result"}, Capabilities: map[string]wasmhost.Capability{"kv": wasmhost.KV(wasmhost.NewMemoryStore())},
	})
	out, err := call(t, g, "tool_call", event)
	if want := `{"input":{"before":true,"a":"ü\u0000","list":["a","b"],"prefix":["b"],"after":["a"]}}`; err != nil || out != want {
		t.Errorf("%s, %v, want %s", out, err, want)
	}
	// What the host refuses is an error that a policy can catch, and a fault when it does not.
	_, err = call(t, g, "tool_result", `{}`)
	if _, text := faultOf(t, err); !strings.Contains(text, "p.js:10:") || !strings.Contains(text, "Error: kv.set: ") {
		t.Errorf("%s", text)
	}
}

// TestFile uses the host's own capability.
func TestFile(t *testing.T) {
	docs := filepath.Dir(write(t, "guide.md", "grün"))
	read, err := wasmhost.File([]string{docs})
	if err != nil {
		t.Fatal(err)
	}
	s := load(t, write(t, "p.js", `import * as weir from "weir";
export function tool_call() {
  let refused;
  try { weir.file.read("../x"); } catch (e) { refused = e.message; }
  return { input: { text: weir.file.read("guide.md"), stat: weir.file.stat("guide.md"), list: weir.file.list("."), refused } };
}`))
	g := guest(t, host(t), s, wasmhost.GuestConfig{Entries: []string{"tool_call"}, Capabilities: map[string]wasmhost.Capability{"file": read}})
	out, err := call(t, g, "tool_call", event)
	want := `{"input":{"text":"grün","stat":{"name":"guide.md","dir":false,"size":5},"list":[{"name":"guide.md","dir":false,"size":5}],"refused":"file.read: read: ../x: not below a granted folder"}}`
	if err != nil || out != want {
		t.Errorf("%s, %v, want %s", out, err, want)
	}
}

// echo answers requests with a function.
func echo(answer func(request map[string]any) (any, error)) wasmhost.Capability {
	return wasmhost.Capability{Handle: func(_ context.Context, raw []byte) ([]byte, error) {
		var r map[string]any
		if err := json.Unmarshal(raw, &r); err != nil {
			return nil, err
		}
		a, err := answer(r)
		if err != nil {
			return nil, err
		}
		return json.Marshal(a)
	}}
}

// TestHTTP: bodies of any text arrive as they were given, both ways.
func TestHTTP(t *testing.T) {
	s := load(t, write(t, "p.js", `import { http } from "weir";
export const tool_call = (e) => ({ input: { back: e.input.bodies.map((body) => http.request({ url: "https://x.example/", method: "POST", headers: { a: "b" }, body }).body) } });
export const tool_result = () => ({ details: http.request({ url: "invalid" }) });`))
	var methods []string
	capability := echo(func(r map[string]any) (any, error) {
		methods = append(methods, r["method"].(string))
		if r["url"] == "invalid" {
			return map[string]any{"status": 418, "headers": map[string]string{"x": "y"}, "body": base64.StdEncoding.EncodeToString([]byte("a\xff\xe4b"))}, nil
		}
		body, err := base64.StdEncoding.DecodeString(r["body"].(string))
		if err != nil {
			return nil, err
		}
		return map[string]any{"status": 200, "headers": map[string]string{}, "body": base64.StdEncoding.EncodeToString(body)}, nil
	})
	g := guest(t, host(t), s, wasmhost.GuestConfig{Entries: []string{"tool_call", "tool_result"}, Capabilities: map[string]wasmhost.Capability{"http": capability}})
	bodies, err := json.Marshal([]string{"", "a", "ab", "abc", "abcd", "ü", "日本語", "😀", "a\x00b", strings.Repeat("ü", 5000)})
	if err != nil {
		t.Fatal(err)
	}
	out, err := call(t, g, "tool_call", `{"input":{"bodies":`+string(bodies)+`}}`)
	if want := `{"input":{"back":` + string(bodies) + `}}`; err != nil || out != want {
		t.Errorf("%.300s, %v, want %.300s", out, err, want)
	}
	out, err = call(t, g, "tool_result", `{}`)
	if methods[0] != "POST" || methods[len(methods)-1] != "GET" {
		t.Errorf("methods %v", methods)
	}
	if want := `{"details":{"status":418,"headers":{"x":"y"},"body":"a` + "\ufffd\ufffd" + `b"}}`; err != nil || out != want {
		t.Errorf("%s, %v, want %s", out, err, want)
	}
}

// TestUIAndSession: the requests are those that docs/abi.md lists.
func TestUIAndSession(t *testing.T) {
	s := load(t, write(t, "p.js", `import { ui, session } from "weir";
export function tool_call() {
  const yes = ui.confirm("Sure?", "really");
  const one = ui.select("Which?", ["a", "b"]);
  const none = ui.input("Why?");
  ui.notify("done"); ui.status("");
  return { input: { yes, one, none: none === undefined, session: session.request("entries", { n: 1 }) } };
}
export const input = () => { try { ui.confirm("x"); } catch (e) { return { action: "transform", text: e.message }; } };`))
	var seen []map[string]any
	answer := func(r map[string]any) (any, error) {
		seen = append(seen, r)
		switch r["op"] {
		case "confirm":
			if r["title"] == "x" {
				return nil, errors.New("the person left")
			}
			return map[string]any{"answer": true}, nil
		case "select":
			return map[string]any{"answer": "b"}, nil
		case "input":
			return map[string]any{"answer": nil}, nil
		case "entries":
			return map[string]any{"entries": []int{}}, nil
		}
		return map[string]any{}, nil
	}
	g := guest(t, host(t), s, wasmhost.GuestConfig{
		Entries: []string{"tool_call", "input"}, Capabilities: map[string]wasmhost.Capability{"ui": echo(answer), "session": echo(answer)},
	})
	out, err := call(t, g, "tool_call", event)
	if want := `{"input":{"yes":true,"one":"b","none":true,"session":{"entries":[]}}}`; err != nil || out != want {
		t.Errorf("%s, %v, want %s", out, err, want)
	}
	if diff := cmp.Diff([]map[string]any{
		{"op": "confirm", "title": "Sure?", "message": "really"},
		{"op": "select", "title": "Which?", "options": []any{"a", "b"}},
		{"op": "input", "title": "Why?", "placeholder": ""},
		{"op": "notify", "message": "done", "level": "info"},
		{"op": "status", "text": ""},
		{"op": "entries", "n": float64(1)},
	}, seen); diff != "" {
		t.Error(diff)
	}
	out, err = call(t, g, "input", `{}`)
	if want := `{"action":"transform","text":"ui.confirm: the person left"}`; err != nil || out != want {
		t.Errorf("%s, %v, want %s", out, err, want)
	}
}

// TestNotGranted: a policy that uses a capability asks for it like any module, and one that does not has no way to it.
func TestNotGranted(t *testing.T) {
	h := host(t)
	m := module(t, h, load(t, write(t, "p.js", "import { kv } from \"weir\";\nexport const tool_call = () => void kv.get(\"a\");")))
	if diff := cmp.Diff([]string{"kv"}, m.Capabilities()); diff != "" {
		t.Error(diff)
	}
	if _, err := m.NewGuest(t.Context(), wasmhost.GuestConfig{Name: "p", Entries: []string{"tool_call"}}); err == nil || !strings.Contains(err.Error(), "kv = true") {
		t.Errorf("%v", err)
	}
	s := load(t, write(t, "q.js", `export const tool_call = () => ({ input: __weir.request("kv", "get", { key: "a" }) });`))
	all := map[string]wasmhost.Capability{"kv": echo(func(map[string]any) (any, error) { t.Error("the capability was reached"); return nil, nil })}
	_, err := call(t, guest(t, h, s, wasmhost.GuestConfig{Entries: []string{"tool_call"}, Capabilities: all}), "tool_call", event)
	if _, text := faultOf(t, err); !strings.Contains(text, "the module was built without this capability") {
		t.Errorf("%s", text)
	}
}

// TestTool: a tool of a policy, with partial results.
func TestTool(t *testing.T) {
	s := load(t, write(t, "p.js", `import { toolUpdate } from "weir";
export const describe = { tools: [{ name: "shout", description: "Shouts.", parameters: { type: "object" } }], commands: [{ name: "hi", description: "Greets." }] };
const text = (text) => ({ content: [{ type: "text", text }] });
export function tool_execute({ toolName, args }) {
  toolUpdate(text("…"));
  return text(toolName + " " + args.text.toUpperCase());
}
export const command_execute = ({ name, args }) => ({ message: name + " " + args });`))
	g := guest(t, host(t), s, wasmhost.GuestConfig{Entries: []string{"tool_execute", "command_execute"}})
	var out, partial string
	_, err := g.Call(t.Context(), "tool_execute", wasmhost.Input{
		Bytes:  []byte(`{"toolCallId":"c1","toolName":"shout","args":{"text":"hey"},"context":{}}`),
		Update: func(_ context.Context, b []byte) { partial = string(b) },
	}, func(b []byte) error { out = string(b); return nil })
	if want := `{"content":[{"type":"text","text":"shout HEY"}]}`; err != nil || out != want {
		t.Errorf("%s, %v, want %s", out, err, want)
	}
	if want := `{"content":[{"type":"text","text":"…"}]}`; partial != want {
		t.Errorf("partial %s, want %s", partial, want)
	}
	out, err = call(t, g, "command_execute", `{"name":"hi","args":"there","context":{}}`)
	if want := `{"message":"hi there"}`; err != nil || out != want {
		t.Errorf("%s, %v, want %s", out, err, want)
	}
	// A tool that returns nothing has no result: unlike a hook, it may not.
	s = load(t, write(t, "p.js", `export const describe = { tools: [{ name: "t", description: "d", parameters: {} }] }; export const tool_execute = () => {};`))
	_, err = call(t, guest(t, host(t), s, wasmhost.GuestConfig{Entries: []string{"tool_execute"}}), "tool_execute", `{}`)
	if _, text := faultOf(t, err); text != "p.js:1:115: what tool_execute returned is undefined; it must be an object" {
		t.Errorf("%s", text)
	}
}

// TestTable: the table view as the engine encodes it.
func TestTable(t *testing.T) {
	s := load(t, write(t, "p.js", `export const describe = { hooks: { context: { view: "table" } } };
export function context(table) {
  const rows = [...table];
  let out;
  try { table.at(99); } catch (e) { out = e.message; }
  return { type: table.type, length: table.length, cwd: table.context.cwd, rows, last: table.message(table.length - 1), out };
}`))
	raw := []string{
		`{"role":"user","content":"hi","timestamp":1700000000000}`,
		`{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"toolCall","id":"c1","name":"bäsh","arguments":{}}],"api":"a","provider":"p","model":"m","usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"toolUse","timestamp":2}`,
		`{"role":"toolResult","toolCallId":"c1","toolName":"bäsh","content":[{"type":"text","text":"grün"}],"isError":true,"timestamp":3}`,
	}
	var messages []*agentcore.Message
	for _, r := range raw {
		m, err := agentcore.DecodeMessage(json.RawMessage(r))
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, m)
	}
	var table wire.Table
	in, err := table.Encode(messages, []byte(`{"cwd":"/grün"}`))
	if err != nil {
		t.Fatal(err)
	}
	g := guest(t, host(t), s, wasmhost.GuestConfig{Entries: []string{"context"}})
	var out struct {
		Type, Cwd, Out string
		Length         int
		Rows           []map[string]any
		Last           map[string]any
	}
	_, err = g.Call(t.Context(), "context", wasmhost.Input{Bytes: in, Messages: len(raw), Message: func(i int) []byte { return []byte(raw[i]) }}, func(b []byte) error {
		return json.Unmarshal(b, &out)
	})
	if err != nil {
		t.Fatal(err)
	}
	if out.Type != "context" || out.Cwd != "/grün" || out.Length != 3 || out.Out != "there is no message 99; there are 3" || out.Last["toolCallId"] != "c1" {
		t.Errorf("%+v", out)
	}
	row := func(role, name string, text, bytes, pair, time int, flags ...string) map[string]any {
		r := map[string]any{"role": role, "name": name, "textBytes": float64(text), "bytes": float64(bytes), "pair": float64(pair), "time": float64(time)}
		for _, f := range []string{"isError", "hasImage", "hasToolCall", "hasThinking", "display"} {
			r[f] = false
		}
		for _, f := range flags {
			r[f] = true
		}
		return r
	}
	want := []map[string]any{
		row("user", "", 2, len(raw[0]), -1, 1700000000000),
		row("assistant", "", 0, len(raw[1]), -1, 2, "hasToolCall", "hasThinking"),
		row("toolResult", "bäsh", 5, len(raw[2]), 1, 3, "isError"),
	}
	for i, w := range want {
		got := out.Rows[i]
		if got["index"] != float64(i) || got["id"] == nil {
			t.Errorf("row %d: %v", i, got)
		}
		delete(got, "index")
		delete(got, "id")
		if diff := cmp.Diff(w, got); diff != "" {
			t.Errorf("row %d: %s", i, diff)
		}
	}
}

// TestDescribeCache: what a policy says of itself is asked once for each source, also by the next process.
func TestDescribeCache(t *testing.T) {
	dir := t.TempDir()
	a := load(t, write(t, "p.js", "export const describe = { name: \"a\" }; export const tool_call = () => {};"))
	b := load(t, write(t, "p.js", "export const describe = { name: \"b\" }; export const tool_call = () => {};"))
	files := func() int {
		n := 0
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".describe") {
				n++
			}
		}
		return n
	}
	for range 2 {
		h, err := wasmhost.New(t.Context(), wasmhost.Config{CacheDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		for s, want := range map[interface{ Source() []byte }]string{a: `"name":"a"`, b: `"name":"b"`} {
			wasm, err := a.Engine()
			if err != nil {
				t.Fatal(err)
			}
			m, err := h.Compile(t.Context(), "p", wasm, wasmhost.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			d, err := m.WithSource(s.Source()).Describe(t.Context(), "p")
			if err != nil || !strings.Contains(string(d), want) {
				t.Errorf("%s, %v, want %s", d, err, want)
			}
		}
		if err := h.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := files(); n != 2 {
			t.Errorf("%d descriptions are kept, want 2", n)
		}
	}
}

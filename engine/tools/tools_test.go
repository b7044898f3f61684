package tools

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/agentcore"
)

// kit is a set of tools over a new folder.
type kit struct {
	t     *testing.T
	dir   string
	set   *toolset
	tools map[string]*agentcore.Tool
}

func newKit(t *testing.T, change func(*Config)) *kit {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Cwd: dir, OutputDir: filepath.Join(t.TempDir(), "out")}
	if change != nil {
		change(&c)
	}
	set, err := newToolset(c)
	if err != nil {
		t.Fatal(err)
	}
	k := &kit{t: t, dir: dir, set: set, tools: map[string]*agentcore.Tool{}}
	for _, tool := range set.tools() {
		k.tools[tool.Name] = tool
	}
	return k
}

func (k *kit) file(name, content string) string {
	k.t.Helper()
	path := filepath.Join(k.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		k.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		k.t.Fatal(err)
	}
	return path
}

func (k *kit) content(name string) string {
	k.t.Helper()
	data, err := os.ReadFile(filepath.Join(k.dir, filepath.FromSlash(name)))
	if err != nil {
		k.t.Fatal(err)
	}
	return string(data)
}

func (k *kit) call(ctx context.Context, tool string, args any) (*agentcore.ToolResult, error) {
	k.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		k.t.Fatal(err)
	}
	return k.tools[tool].Execute(ctx, "call_1", raw, nil)
}

type m = map[string]any

// ok calls a tool that must succeed and returns its text.
func (k *kit) ok(tool string, args any) string {
	k.t.Helper()
	result, err := k.call(k.t.Context(), tool, args)
	if err != nil {
		k.t.Fatalf("%s: %v", tool, err)
	}
	return textOf(k.t, result)
}

// fails calls a tool that must fail with a text that has all of want in it.
func (k *kit) fails(tool string, args any, want ...string) {
	k.t.Helper()
	_ = k.failure(tool, args, want...) // the check is all that is wanted
}

// failure is fails for a caller that looks closer at the error.
func (k *kit) failure(tool string, args any, want ...string) error {
	k.t.Helper()
	result, err := k.call(k.t.Context(), tool, args)
	if err == nil {
		k.t.Fatalf("%s succeeded with %q, want an error with %q", tool, textOf(k.t, result), want)
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			k.t.Errorf("%s: error %q, want %q in it", tool, err, w)
		}
	}
	return err
}

func textOf(t *testing.T, result *agentcore.ToolResult) string {
	t.Helper()
	if len(result.Content) == 0 {
		return ""
	}
	block, ok := result.Content[0].(*agentcore.TextBlock)
	if !ok {
		t.Fatalf("the first block is a %T", result.Content[0])
	}
	return block.Text
}

func detailsOf(t *testing.T, result *agentcore.ToolResult) map[string]any {
	t.Helper()
	details := map[string]any{}
	if result.Details != nil {
		if err := json.Unmarshal(result.Details, &details); err != nil {
			t.Fatal(err)
		}
	}
	return details
}

func contains(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			if len(text) > 2000 {
				text = "…" + text[len(text)-2000:]
			}
			t.Errorf("no %q in %q", w, text)
		}
	}
}

func TestNewOrderAndSchemas(t *testing.T) {
	list, err := New(Config{Cwd: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list {
		names = append(names, tool.Name)
		var schema struct {
			Type       string
			Properties map[string]struct{ Type string }
			Required   []string
		}
		if err := json.Unmarshal(tool.Parameters, &schema); err != nil {
			t.Errorf("%s: %v", tool.Name, err)
		}
		if schema.Type != "object" || len(schema.Properties) == 0 {
			t.Errorf("%s: schema %s", tool.Name, tool.Parameters)
		}
		for _, key := range schema.Required {
			if _, ok := schema.Properties[key]; !ok {
				t.Errorf("%s requires %q, which it does not describe", tool.Name, key)
			}
		}
	}
	if got := strings.Join(names, " "); got != "read bash edit write grep find ls" {
		t.Errorf("tools %s", got)
	}
}

func TestConfigValidate(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]Config{
		"working folder is not set":  {},
		"no such file":               {Cwd: filepath.Join(dir, "missing")},
		"is not a folder":            {Cwd: file},
		"shell":                      {Cwd: dir, Shell: filepath.Join(dir, "nosh")},
		"output folder":              {Cwd: dir, OutputDir: file},
		"limit of full output files": {Cwd: dir, MaxFullOutput: -1},
		"update interval":            {Cwd: dir, UpdateInterval: -1},
	} {
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q", c, err, want)
		}
	}
}

// What a gate reads and what a tool reads must be the same value: equal keys and keys in another case are where JSON
// readers differ.
func TestArgumentsAreReadExactly(t *testing.T) {
	k := newKit(t, nil)
	k.file("a", "A")
	k.file("b", "B")
	run := func(args string) (string, error) {
		result, err := k.tools["read"].Execute(t.Context(), "c", json.RawMessage(args), nil)
		if err != nil {
			return "", err
		}
		return textOf(t, result), nil
	}
	if text, err := run(`{"path":"a","Path":"b","PATH":"b"}`); err != nil || text != "A" {
		t.Errorf("read %q, %v; want A", text, err)
	}
	if _, err := run(`{"path":"a","path":"b"}`); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("a key given twice: %v", err)
	}
	for _, args := range []string{``, `[]`, `"x"`, `{"path":`, `{"path":1}`, `{}`, `{"path":""}`, `{"path":"a\u0000b"}`} {
		if _, err := run(args); err == nil {
			t.Errorf("arguments %q were accepted", args)
		}
	}
	if _, err := k.tools["edit"].Execute(t.Context(), "c",
		json.RawMessage(`{"path":"a","edits":[{"oldText":"A","newText":"x","oldText":"A"}]}`), nil); err == nil {
		t.Error("a key given twice inside an edit was accepted")
	}
}

func TestPreparePath(t *testing.T) {
	for _, tt := range []struct{ tool, in, want string }{
		{"read", `{"path":"@a/b"}`, `{"path":"a/b"}`},
		{"read", `{"path":"a@b"}`, `{"path":"a@b"}`},
		{"read", `{"path":"@"}`, `{"path":"@"}`},
		{"read", `{"path":7}`, `{"path":7}`},
		{"read", `nonsense`, `nonsense`},
		{"edit", `{"path":"f","oldText":"a","newText":"b"}`, `{"edits":[{"newText":"b","oldText":"a"}],"path":"f"}`},
		{"edit", `{"path":"f","edits":{"oldText":"a","newText":"b"}}`, `{"edits":[{"oldText":"a","newText":"b"}],"path":"f"}`},
		{"edit", `{"path":"f","edits":"[{\"oldText\":\"a\",\"newText\":\"b\"}]"}`, `{"edits":[{"oldText":"a","newText":"b"}],"path":"f"}`},
		{"edit", `{"path":"f","edits":"no json"}`, `{"path":"f","edits":"no json"}`},
		{"edit", `{"path":"f","edits":[{"oldText":"a","newText":"b"}]}`, `{"path":"f","edits":[{"oldText":"a","newText":"b"}]}`},
	} {
		got, err := newKit(t, nil).tools[tt.tool].Prepare(json.RawMessage(tt.in))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s %s: %s, %v; want %s", tt.tool, tt.in, got, err, tt.want)
		}
	}
}

func TestHomeExpands(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "x"), []byte("at home"), 0o600); err != nil {
		t.Fatal(err)
	}
	k := newKit(t, func(c *Config) { c.Env = []string{"HOME=" + home, "USERPROFILE=" + home} })
	if got := k.ok("read", m{"path": "~/x"}); got != "at home" {
		t.Errorf("read %q", got)
	}
	k.file("$HOME/x", "not expanded")
	if got := k.ok("read", m{"path": "$HOME/x"}); got != "not expanded" {
		t.Errorf("read %q", got)
	}
	k = newKit(t, func(c *Config) { c.Env = []string{} })
	k.fails("read", m{"path": "~/x"}, "home folder is not known")
}

func TestEveryToolStopsWhenCancelled(t *testing.T) {
	k := newKit(t, nil)
	k.file("f", "text\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for tool, args := range map[string]m{
		"read": {"path": "f"}, "write": {"path": "g", "content": "x"}, "bash": {"command": "touch ran"},
		"edit": {"path": "f", "edits": []m{{"oldText": "text", "newText": "x"}}},
		"grep": {"pattern": "text"}, "find": {"pattern": "*"}, "ls": {},
	} {
		if _, err := k.call(ctx, tool, args); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want a cancelled call", tool, err)
		}
	}
	entries, err := os.ReadDir(k.dir)
	if err != nil || len(entries) != 1 || k.content("f") != "text\n" {
		t.Errorf("the folder changed: %v, %v", entries, err)
	}
}

package extensions

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"weir/engine/facts"
	"weir/guest-sdk/c/guesttest"
)

// pathCase is one [[case]] of guard-paths/testdata/cases.toml.
type pathCase struct {
	Tool   string
	Path   string // for bash the command, for apply_patch the patch
	Glob   string
	Want   string
	Family string
	Config map[string]any
}

// disk is a folder that stands in for /home/dev, with links and files for guard-paths.
type disk struct{ root string }

func newDisk(t testing.TB) *disk {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the cases are about paths of Unix")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &disk{root}
	in := func(path string) string { return filepath.Join(d.workspace(), path) }
	var errs []error
	for _, dir := range []string{"src", "node_modules/a", ".ssh", ".weir", "policies", "../other"} {
		errs = append(errs, os.MkdirAll(in(dir), 0o755))
	}
	for _, file := range []string{"src/app.ts", "twice.txt", ".env", "policies/mine.wasm", ".weir/weir.toml"} {
		errs = append(errs, os.WriteFile(in(file), []byte("x"), 0o600))
	}
	errs = append(errs,
		os.Symlink("../other", in("out")), os.Symlink("/nowhere/at/all", in("dangling")), os.Symlink(d.workspace(), in("back")), os.Symlink(".env", in("notes")),
		os.Symlink("loop", in("loop")), os.Symlink("/etc", in("link-to-etc")), os.Link(in("twice.txt"), in("node_modules/a/twice.txt")))
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *disk) home() string      { return filepath.Join(d.root, "home/dev") }
func (d *disk) workspace() string { return filepath.Join(d.home(), "project") }

// moved is a path of the cases on this disk.
func (d *disk) moved(path string) string {
	if strings.HasPrefix(path, "/home/dev/") {
		return d.root + path
	}
	return path
}

// decide runs guard-paths on a call, with the facts that the host would give it.
func (d *disk) decide(t testing.TB, g *guesttest.Guest, c pathCase) (decision, reason string) {
	t.Helper()
	input := map[string]any{}
	switch c.Tool {
	case "bash":
		input["command"] = c.Path
	case "apply_patch":
		input["input"] = c.Path
	case "find":
		input["pattern"] = c.Path
	default:
		if c.Path != "" {
			input["path"] = d.moved(c.Path)
		}
	}
	if c.Glob != "" {
		input["pattern"], input["glob"] = "x", c.Glob
	}
	raw, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	computer := facts.New(facts.Config{Workspace: d.workspace(), Home: d.home(), Own: []string{filepath.Join(d.workspace(), ".weir"), filepath.Join(d.workspace(), "policies/mine.wasm")}})
	ev, err := json.Marshal(map[string]any{
		"type": "tool_call", "toolName": c.Tool, "toolCallId": "call-1", "input": json.RawMessage(raw),
		"facts": computer.ToolCall(c.Tool, raw).JSON(facts.KindPaths), "context": map[string]any{"cwd": d.workspace(), "mode": "text"},
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := g.Call(context.Background(), "tool_call", ev)
	if err != nil {
		t.Fatalf("%+v: %v", c, err)
	}
	var r struct {
		Block  bool
		Reason string
		Ask    *struct{ Title, Message string }
	}
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	switch {
	case r.Block:
		return "block", r.Reason
	case r.Ask != nil:
		return "ask", r.Ask.Message
	}
	return "allow", ""
}

func TestGuardPathsCases(t *testing.T) {
	var file struct{ Case []pathCase }
	raw, err := os.ReadFile("guard-paths/testdata/cases.toml")
	if err != nil {
		t.Fatal(err)
	}
	if meta, err := toml.Decode(string(raw), &file); err != nil {
		t.Fatal(err)
	} else if left := meta.Undecoded(); len(left) > 0 {
		for _, key := range left {
			if key[len(key)-1] != "config" && (len(key) < 3 || key[1] != "config") {
				t.Fatalf("unknown key: %v", key)
			}
		}
	}
	if len(file.Case) < 60 {
		t.Fatalf("only %d cases", len(file.Case))
	}
	d := newDisk(t)
	s := schema(t, "guard-paths")
	plain := load(t, "guard-paths", nil)
	for _, c := range file.Case {
		g := plain
		if c.Config != nil {
			if also, ok := c.Config["also"].([]any); ok {
				for i := range also {
					also[i] = d.moved(also[i].(string))
				}
			}
			if err := s.Validate(c.Config); err != nil {
				t.Errorf("%+v: %v", c, err)
			}
			g = load(t, "guard-paths", c.Config)
		}
		got, reason := d.decide(t, g, c)
		if got != c.Want || (c.Family != "" && !strings.HasSuffix(reason, "("+c.Family+")")) {
			t.Errorf("%s %q: %s %q, want %s (%s)", c.Tool, c.Path, got, reason, c.Want, c.Family)
		}
	}
}

// TestGuardPathsReadme runs the table of the README.
func TestGuardPathsReadme(t *testing.T) {
	readme, err := os.ReadFile("guard-paths/README.md")
	if err != nil {
		t.Fatal(err)
	}
	d := newDisk(t)
	g := load(t, "guard-paths", nil)
	words := map[string]string{"blocked": "block", "asked": "ask", "allowed": "allow"}
	seen := map[string]int{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+) ([^`]+)`.* \\| (blocked|asked|allowed) \\|$").FindAllStringSubmatch(string(readme), -1) {
		seen[m[3]]++
		if got, reason := d.decide(t, g, pathCase{Tool: m[1], Path: m[2]}); got != words[m[3]] {
			t.Errorf("%s %s: %s %q, the README says %s", m[1], m[2], got, reason, m[3])
		}
	}
	if seen["blocked"] == 0 || seen["asked"] == 0 || seen["allowed"] == 0 {
		t.Errorf("the README shows %v", seen)
	}
}

// TestGuardPathsShapes: arguments that are no text, or under a name that the tool does not have, are asked about.
func TestGuardPathsShapes(t *testing.T) {
	g := load(t, "guard-paths", nil)
	for input, want := range map[string]string{
		`{"path":["a"]}`:       "(unusual)",
		`{"path":{"a":"b"}}`:   "(unusual)",
		`{"path":1}`:           "(unusual)",
		`{"file_path":".env"}`: "(unusual)",
		`{}`:                   "",
	} {
		c := facts.New(facts.Config{Workspace: "/home/dev/project", Home: "/home/dev"})
		ev := `{"type":"tool_call","toolName":"read","toolCallId":"c","input":` + input + `,"facts":` + string(c.ToolCall("read", json.RawMessage(input)).JSON(facts.KindPaths)) + `,"context":{"cwd":"/home/dev/project"}}`
		out, err := g.Call(context.Background(), "tool_call", []byte(ev))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(out), `"ask"`); got != (want != "") || !strings.Contains(string(out), want) {
			t.Errorf("%s: %s", input, out)
		}
	}
	if out, err := g.Call(context.Background(), "tool_call", []byte(`{"type":"tool_call","toolName":"read","input":{"path":"x"},"context":{"cwd":"/"}}`)); err == nil {
		t.Errorf("without facts it answered %s", out)
	}
}

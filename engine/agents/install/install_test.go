package install_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"weir/engine/agents"
	"weir/engine/agents/install"
)

var update = flag.Bool("update", false, "write what the files become into testdata/edit")

func command() install.Command {
	return install.Command{Weir: "/opt/weir tools/weir", Set: "/home/u/it's mine/weir.toml"}
}

// env is a home folder of the test's own.
func env(t *testing.T) install.Env {
	t.Helper()
	dir := t.TempDir()
	return install.Env{Home: filepath.Join(dir, "home"), CWD: filepath.Join(dir, "project"), Getenv: func(string) string { return "" }}
}

func find(t *testing.T, agent string, scope install.Scope, e install.Env) *install.Place {
	t.Helper()
	p, err := install.Find(agent, scope, e)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func write(t *testing.T, path string, raw []byte, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw, mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func apply(t *testing.T, p *install.Place, records string, cmd install.Command) *install.Change {
	t.Helper()
	c, err := p.Install(cmd, records)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Apply(records); err != nil {
		t.Fatal(err)
	}
	return c
}

func remove(t *testing.T, p *install.Place, records string) {
	t.Helper()
	c, err := p.Uninstall(records)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Remove(records); err != nil {
		t.Fatal(err)
	}
}

// TestEdit: what each file of testdata/edit becomes, that a second installation has nothing to do, and that it goes back to the
// same bytes with its record. Without one, weir's entries go and the rest stays. The first line of a file's comment names the
// agent; the word "inexact" says that without a record white space may differ.
func TestEdit(t *testing.T) {
	files, err := filepath.Glob("testdata/edit/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			words := strings.Fields(string(archive.Comment))
			before := archive.Files[0].Data
			if strings.Contains(file, "crlf") {
				before = bytes.ReplaceAll(before, []byte("\n"), []byte("\r\n"))
			}
			e := env(t)
			p := find(t, words[0], install.User, e)
			write(t, p.Path, before, 0o640)
			records := filepath.Join(e.Home, "records")
			c := apply(t, p, records, command())
			after := read(t, p.Path)
			shown := bytes.ReplaceAll(after, []byte("\r\n"), []byte("\n"))
			if *update {
				archive.Files = append(archive.Files[:1], txtar.File{Name: "after", Data: shown})
				if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if d := cmp.Diff(string(archive.Files[1].Data), string(shown)); d != "" {
				t.Errorf("after (-want +got)\n%s", d)
			}
			if strings.Contains(file, "crlf") && bytes.Contains(bytes.ReplaceAll(after, []byte("\r\n"), nil), []byte("\n")) {
				t.Error("line breaks were mixed")
			}
			if c.Empty() != bytes.Equal(before, after) {
				t.Error("Empty is wrong")
			}
			again, err := p.Install(command(), records)
			if err != nil || !again.Empty() {
				t.Errorf("the second installation is not empty: %v\n%s", err, again.Diff())
			}
			info, err := os.Stat(p.Path)
			if err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("the mode became %v (%v)", info.Mode(), err)
			}
			want := before
			if strings.Contains(string(archive.Comment), "handwritten") {
				want = nil
			}
			remove(t, p, records)
			if got := read(t, p.Path); want != nil && !bytes.Equal(got, want) {
				t.Errorf("with its record it did not go back:\n%s", cmp.Diff(string(want), string(got)))
			} else if bytes.Contains(got, []byte("--agent")) {
				t.Errorf("weir is still there:\n%s", got)
			}
			// The same without a record.
			write(t, p.Path, after, 0o640)
			remove(t, p, records)
			got := read(t, p.Path)
			if bytes.Contains(got, []byte("weir hook")) || bytes.Contains(got, []byte("--agent")) {
				t.Errorf("without a record weir is still there:\n%s", got)
			}
			if !strings.Contains(string(archive.Comment), "inexact") && want != nil && !bytes.Equal(got, want) {
				t.Errorf("without a record it did not go back:\n%s", cmp.Diff(string(want), string(got)))
			}
		})
	}
}

// TestEveryAgent: a file that is not there is made, with its folders, and is gone afterwards; for a person and for a project.
func TestEveryAgent(t *testing.T) {
	for _, a := range agents.All() {
		for _, scope := range []install.Scope{install.User, install.Project} {
			t.Run(a.Name+" "+scope.String(), func(t *testing.T) {
				e := env(t)
				for _, dir := range []string{e.Home, e.CWD} {
					if err := os.MkdirAll(dir, 0o700); err != nil {
						t.Fatal(err)
					}
				}
				records := filepath.Join(filepath.Dir(e.Home), "records")
				p := find(t, a.Name, scope, e)
				c := apply(t, p, records, command())
				if !c.Create || !strings.HasPrefix(c.Diff(), "diff "+os.DevNull) {
					t.Errorf("the diff of a new file is\n%s", c.Diff())
				}
				if again, err := p.Install(command(), records); err != nil || !again.Empty() {
					t.Errorf("the second installation is not empty: %v", err)
				}
				// Another set takes the place of the first, and the way back stays.
				other := command()
				other.Set = "/other.toml"
				apply(t, p, records, other)
				if raw := read(t, p.Path); bytes.Contains(raw, []byte("mine")) || !bytes.Contains(raw, []byte("/other.toml")) {
					t.Errorf("the set was not replaced:\n%s", raw)
				}
				remove(t, p, records)
				for _, dir := range []string{e.Home, e.CWD, records} {
					if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
						t.Errorf("%s holds %v (%v)", dir, left, err)
					}
				}
			})
		}
	}
}

// TestChangedSince: what a person changed after the installation stays.
func TestChangedSince(t *testing.T) {
	for agent, text := range map[string][2]string{
		"claude": {"{\n  \"model\": \"opus\"\n}\n", "{\n  \"model\": \"sonnet\", // cheaper\n  \"hooks\": {"},
		"codex":  {"model = \"x\"\n", "model = \"y\" # mine\n"},
	} {
		t.Run(agent, func(t *testing.T) {
			e := env(t)
			p := find(t, agent, install.User, e)
			write(t, p.Path, []byte(text[0]), 0o600)
			records := filepath.Join(e.Home, "records")
			apply(t, p, records, command())
			raw := string(read(t, p.Path))
			if agent == "claude" {
				raw = strings.Replace(raw, "{\n  \"model\": \"opus\",\n  \"hooks\": {", text[1], 1)
			} else {
				raw = strings.Replace(raw, text[0], text[1], 1) + "\n[tui]\ntheme = \"dark\"\n"
			}
			if !strings.Contains(raw, text[1]) {
				t.Fatalf("the test's change is not in it:\n%s", raw)
			}
			write(t, p.Path, []byte(raw), 0o600)
			// A second installation does not forget what weir's entries are.
			if c, err := p.Install(command(), records); err != nil || !c.Empty() {
				t.Errorf("installed again: %v", err)
			}
			remove(t, p, records)
			want := "{\n  \"model\": \"sonnet\" // cheaper\n}\n"
			if agent == "codex" {
				want = "model = \"y\" # mine\n\n[tui]\ntheme = \"dark\"\n"
			}
			if d := cmp.Diff(want, string(read(t, p.Path))); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// TestCreatedThenFilled: a file that weir made is kept when somebody put something into it.
func TestCreatedThenFilled(t *testing.T) {
	e := env(t)
	p := find(t, "cursor", install.User, e)
	records := filepath.Join(e.Home, "records")
	apply(t, p, records, command())
	raw := bytes.Replace(read(t, p.Path), []byte(`"version": 1,`), []byte("\"version\": 1,\n  \"mine\": true,"), 1)
	write(t, p.Path, raw, 0o600)
	remove(t, p, records)
	if d := cmp.Diff("{\n  \"version\": 1,\n  \"mine\": true\n}\n", string(read(t, p.Path))); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// TestRefused: a file that cannot be read, or that weir could not change without loss, is an error that says where, and stays.
func TestRefused(t *testing.T) {
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	for name, c := range map[string]struct{ agent, text, want string }{
		"broken":           {"claude", "{\n  \"model\": \"opus\"\n  \"x\": 1}", `settings\.json:3:3: `},
		"cut off":          {"gemini", `{"hooks": {`, `settings\.json:1:12: `},
		"no object":        {"claude", `[1]`, `:1:1: the file is not a JSON object`},
		"hooks a list":     {"claude", "{\n\t\"hooks\": []}", `:2:11: "hooks" is not an object`},
		"event no list":    {"cursor", `{"hooks": {"preToolUse": {}}}`, `:1:26: "preToolUse" is not a list`},
		"key twice":        {"claude", `{"hooks": {}, "hooks": {}}`, `:1:15: the key "hooks" is there twice`},
		"not UTF-8":        {"crush", "{\"a\": \"\xff\"}", `:1:8: the file is not UTF-8 text`},
		"NUL":              {"crush", "{\"a\": \"\x00\"}", `:1:8: the file is not UTF-8 text`},
		"deep":             {"copilot", `{"a": ` + deep + `}`, `more than 1000 brackets are open`},
		"TOML broken":      {"codex", "model = \"x\"\nmodel = \n", `config\.toml:2:9: `},
		"TOML twice":       {"codex", "a = 1\na = 2\n", `config\.toml:2:`},
		"TOML deep":        {"codex", "a = " + deep, `more than 1000 brackets are open`},
		"TOML inline":      {"codex", "hooks = { PreToolUse = [] }\n", `write them as \[\[hooks\.PreToolUse\]\] tables first`},
		"TOML inline list": {"codex", "[hooks]\nPreToolUse = [ { hooks = [] } ]\n", `write them as \[\[hooks\.PreToolUse\]\] tables first`},
		"TOML by hand":     {"codex", "\n[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = 'weir hook --agent codex'\n", `config\.toml:5: the hook for PreToolUse runs weir`},
		"TOML marks":       {"codex", "a = \"\"\"\n# weir: begin\n# weir: end\n\"\"\"\n", `the change would have touched more than weir's entries`},
	} {
		t.Run(name, func(t *testing.T) {
			e := env(t)
			p := find(t, c.agent, install.User, e)
			write(t, p.Path, []byte(c.text), 0o600)
			_, err := p.Install(command(), filepath.Join(e.Home, "records"))
			if !matches(t, c.want, err) {
				t.Errorf("the error is %v, want %s", err, c.want)
			}
			if got := read(t, p.Path); string(got) != c.text {
				t.Error("the file was changed")
			}
		})
	}
}

package workbench_test

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weir/engine/workbench"
	"weir/guest-sdk/rust/cargo"
)

// TestTemplates writes each project, builds it by the command that its README shows, and runs its tests. The project is outside the
// checkout and the Go tool may not use a network.
func TestTemplates(t *testing.T) {
	needs := map[string]string{"assemblyscript": "asc", "c": "clang", "go": "go", "rust": "", "ts": "", "zig": "zig"}
	for _, lang := range workbench.Languages() {
		t.Run(lang, func(t *testing.T) {
			tool, known := needs[lang]
			if !known {
				t.Fatalf("say what %s needs", lang)
			}
			if tool != "" && (testing.Short() || missing(t, tool)) {
				t.Skip("builds a project with " + tool)
			}
			var env []string
			if lang == "rust" {
				if testing.Short() {
					t.Skip("builds a project with cargo")
				}
				env = cargo.Find(t).Env()
			}
			p, err := workbench.NewProject("my-guard", lang)
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(t.TempDir(), "my-guard")
			if err := p.Write(dir); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(p.Files["README.md"], "\n"+p.Build+"\n") {
				t.Errorf("the README does not say %s", p.Build)
			}
			if lang != "ts" { // the policy itself is run, and testscript packs it
				shell(t, dir, p.Build, env...)
			}
			if lang == "go" {
				shell(t, dir, "go vet . && go test ./...")
			}
			if lang == "rust" {
				shell(t, dir, "cargo test --offline", env...)
			}
			f, err := workbench.ReadFile(filepath.Join(dir, "policy_test.toml"))
			if err != nil {
				t.Fatal(err)
			}
			rep, err := newRunner(t).Run(context.Background(), f)
			if err != nil {
				t.Fatal(err)
			}
			if got := failures(rep); len(got) > 0 || len(rep.Cases) < 3 {
				t.Errorf("%d cases, failed: %q", len(rep.Cases), got)
			}
			for name, text := range p.Files {
				if strings.Contains(text, "{{name}}") || strings.Contains(text, "{{build}}") || strings.Contains(text, "{{module}}") {
					t.Errorf("%s: something was not filled in", name)
				}
			}
		})
	}
}

// missing says whether a tool is, which WEIR_REQUIRE_GUESTS=1 forbids.
func missing(t *testing.T, tool string) bool {
	_, err := exec.LookPath(tool)
	if err != nil && os.Getenv("WEIR_REQUIRE_GUESTS") == "1" {
		t.Fatal(err)
	}
	return err != nil
}

func shell(t *testing.T, dir, command string, env ...string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "GOWORK=off", "CARGO_NET_OFFLINE=true")
	cmd.Env = append(cmd.Env, env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
}

// TestNeverOverwrites: where one file is there already, it stays and nothing is written.
func TestNeverOverwrites(t *testing.T) {
	for _, lang := range workbench.Languages() {
		p, err := workbench.NewProject("my-guard", lang)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		// The file that is written last, so that only looking first can help.
		last := slices.Sorted(maps.Keys(p.Files))[len(p.Files)-1]
		file := filepath.Join(dir, filepath.FromSlash(last))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := p.Write(dir); err == nil || !strings.Contains(err.Error(), last) {
			t.Errorf("%s: %v does not name %s", lang, err, last)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != "mine" {
			t.Errorf("%s: %s became %q, %v", lang, last, got, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "README.md")); err == nil {
			t.Errorf("%s: something was written", lang)
		}
	}
}

func TestNewProjectRefuses(t *testing.T) {
	for _, name := range []string{"", "Guard", "../x", "1a", "a b", strings.Repeat("a", 65)} {
		if _, err := workbench.NewProject(name, "c"); err == nil {
			t.Errorf("%q was taken", name)
		}
	}
	if _, err := workbench.NewProject("a", "cobol"); err == nil || !strings.Contains(err.Error(), "there are "+strings.Join(workbench.Languages(), ", ")) {
		t.Errorf("cobol: %v", err)
	}
}

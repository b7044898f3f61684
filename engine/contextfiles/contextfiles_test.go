package contextfiles

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree writes files into a new folder and returns its real name.
func tree(t *testing.T, texts map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range texts {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// texts are the files' own words, and what is below dir of their paths.
func texts(t *testing.T, dir string, files []File) (list []string) {
	t.Helper()
	for _, f := range files {
		rel, err := filepath.Rel(dir, f.Path)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, filepath.ToSlash(rel)+": "+f.Text)
	}
	return list
}

// TestLoad: the user's first, then from the outermost folder to the nearest, one a folder.
func TestLoad(t *testing.T) {
	dir := tree(t, map[string]string{
		"config/AGENTS.md": "user", "repo/AGENTS.md": "\uFEFFrepo", "repo/CLAUDE.md": "second choice", "repo/a/README.md": "none",
		"repo/a/b/CLAUDE.md": "near", "repo/a/b/c/AGENTS.override.md": "nearest", "repo/a/b/c/AGENTS.md": "overridden", "repo/a/b/c/d/AGENTS.md": " \n",
		"repo/a/b/c/e/AGENTS.md": "aside",
	})
	files, problems := Load(filepath.Join(dir, "config"), filepath.Join(dir, "repo/a/b/c/d"))
	want := []string{"config/AGENTS.md: user", "repo/AGENTS.md: repo", "repo/a/b/CLAUDE.md: near", "repo/a/b/c/AGENTS.override.md: nearest"}
	if diff := cmp.Diff(want, texts(t, dir, files)); diff != "" || problems != nil {
		t.Error(diff, problems)
	}
	if files, _ = Load(filepath.Join(dir, "config"), filepath.Join(dir, "config")); len(files) != 1 {
		t.Errorf("one file was read %d times", len(files))
	}
	prompt := Prompt([]File{{"/r/AGENTS.md", "one\n\n"}, {"/r/a/CLAUDE.md", "two"}})
	if !strings.HasSuffix(prompt, "\n<file path=\"/r/AGENTS.md\">\none\n</file>\n\n<file path=\"/r/a/CLAUDE.md\">\ntwo\n</file>\n") {
		t.Error(prompt)
	}
	if Prompt(nil) != "" {
		t.Error("a prompt without files")
	}
}

// TestLeftOut: what cannot be used is named with the reason, and the rest is used.
func TestLeftOut(t *testing.T) {
	third := strings.Repeat("x", MaxTotal/3+1)
	dir := tree(t, map[string]string{
		"config/AGENTS.md": strings.Repeat("x", MaxFile+1), "a/AGENTS.md": third, "a/b/AGENTS.md": third, "a/b/c/AGENTS.md": third, "a/b/c/d/AGENTS.md": "\xff",
		"a/b/c/d/e/AGENTS.md": "small", "secret": "a key",
	})
	cwd := filepath.Join(dir, "a/b/c/d/e")
	want := []string{"it has 131073 bytes, more than 128 KiB", "a/b/c/AGENTS.md is left out: with those before it", "it is not UTF-8"}
	if runtime.GOOS != "windows" {
		for link, to := range map[string]string{"f/AGENTS.md": "secret", "f/g/CLAUDE.md": "a/b/c/d/e/AGENTS.md", "f/g/h/AGENTS.md": "nowhere.md"} {
			path := filepath.Join(dir, "a/b/c/d/e", link)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Join(dir, to), path); err != nil {
				t.Fatal(err)
			}
		}
		cwd = filepath.Join(cwd, "f/g/h")
		want = append(want, "secret, which is no .md file")
	}
	files, problems := Load(filepath.Join(dir, "config"), cwd)
	if len(problems) != len(want) {
		t.Fatalf("%d problems: %v", len(problems), problems)
	}
	for i, w := range want {
		if !strings.Contains(problems[i].Error(), w) {
			t.Errorf("problem %d: %v, want %s", i, problems[i], w)
		}
	}
	last := "a/b/c/d/e/AGENTS.md: small"
	if runtime.GOOS != "windows" {
		last = "a/b/c/d/e/f/g/CLAUDE.md: small"
	}
	got := texts(t, dir, files)
	if len(got) < 3 || got[len(got)-1] != last {
		t.Errorf("%d files, the last is %.60q", len(got), got[len(got)-1])
	}
}

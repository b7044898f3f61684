package install_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"weir/engine/agents/install"
)

func matches(t *testing.T, pattern string, err error) bool {
	t.Helper()
	return err != nil && regexp.MustCompile(pattern).MatchString(err.Error())
}

// TestSymlink: the link stays, and what it leads to is changed.
func TestSymlink(t *testing.T) {
	e := env(t)
	p := find(t, "claude", install.User, e)
	target := filepath.Join(e.Home, "dotfiles", "claude.json")
	write(t, target, []byte("{}\n"), 0o600)
	if err := os.MkdirAll(filepath.Dir(p.Path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("..", "dotfiles", "claude.json"), p.Path); err != nil {
		t.Skip(err)
	}
	records := filepath.Join(e.Home, "records")
	apply(t, p, records, command())
	if info, err := os.Lstat(p.Path); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
	if len(read(t, target)) < 10 {
		t.Error("the target was not changed")
	}
	remove(t, p, records)
	if got := read(t, target); string(got) != "{}\n" {
		t.Errorf("the target became %q", got)
	}
	if err := os.Remove(target); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Install(command(), records); !matches(t, "symbolic link that leads to no file", err) {
		t.Errorf("a link to nothing: %v", err)
	}
}

// TestNoFile: what is no file is not replaced.
func TestNoFile(t *testing.T) {
	e := env(t)
	p := find(t, "claude", install.User, e)
	if err := os.MkdirAll(p.Path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Install(command(), e.Home); !matches(t, "is not a regular file", err) {
		t.Errorf("a folder: %v", err)
	}
}

// TestChangedMeanwhile: a file that another program changed between the diff and the yes is not overwritten.
func TestChangedMeanwhile(t *testing.T) {
	e := env(t)
	p := find(t, "claude", install.User, e)
	records := filepath.Join(e.Home, "records")
	fresh, err := p.Install(command(), records)
	if err != nil {
		t.Fatal(err)
	}
	write(t, p.Path, []byte("{}"), 0o600)
	if err := fresh.Apply(records); !matches(t, "changed by somebody else", err) {
		t.Errorf("a file that came: %v", err)
	}
	c, err := p.Install(command(), records)
	if err != nil {
		t.Fatal(err)
	}
	write(t, p.Path, []byte(`{"a": 1}`), 0o600)
	if err := c.Apply(records); !matches(t, "changed by somebody else", err) {
		t.Errorf("a file that changed: %v", err)
	}
	if got := read(t, p.Path); string(got) != `{"a": 1}` {
		t.Errorf("the file became %q", got)
	}
}

// TestCommand: what cannot stand in a command line, or could not be told from others, is refused.
func TestCommand(t *testing.T) {
	for _, c := range []struct {
		cmd  install.Command
		want string
	}{
		{install.Command{Weir: "weir"}, "not absolute"},
		{install.Command{Weir: "/usr/bin/guard"}, "begins with weir"},
		{install.Command{Weir: "/usr/bin/weir", Set: "/a\nb"}, "characters"},
		{install.Command{Weir: "/usr/bin/weir", Set: "/" + strings.Repeat("a", 9000)}, "too many"},
		{install.Command{Weir: "/usr/bin/weir", Modules: []string{"/a\x1b[2J"}}, "characters"},
	} {
		if err := c.cmd.Validate(); !matches(t, c.want, err) {
			t.Errorf("%+v: %v", c.cmd, err)
		}
	}
	if _, err := install.Find("claude", install.User, install.Env{Getenv: os.Getenv}); err == nil {
		t.Error("no home folder was accepted")
	}
}

// TestMoved: agents whose folder is moved by a variable are found there, for a person.
func TestMoved(t *testing.T) {
	for agent, c := range map[string][2]string{
		"claude":  {"CLAUDE_CONFIG_DIR", "settings.json"},
		"codex":   {"CODEX_HOME", "config.toml"},
		"copilot": {"COPILOT_HOME", "hooks/weir.json"},
		"crush":   {"CRUSH_GLOBAL_CONFIG", "crush.json"},
	} {
		e := env(t)
		moved := filepath.Join(e.Home, "elsewhere")
		e.Getenv = func(name string) string {
			if name == c[0] {
				return moved
			}
			return ""
		}
		if p := find(t, agent, install.User, e); p.Path != filepath.Join(moved, filepath.FromSlash(c[1])) {
			t.Errorf("%s is looked for at %s", agent, p.Path)
		}
		if p := find(t, agent, install.Project, e); filepath.Dir(p.Path) == moved {
			t.Errorf("%s: the project's file was moved", agent)
		}
	}
}

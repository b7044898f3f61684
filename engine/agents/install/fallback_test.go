//go:build unix

package install

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"weir/engine/agents"
)

// TestFallback: when weir does not start, or is killed, the installed command line blocks in its place; an answer of weir's own
// goes through as it is. In every shell that is here.
func TestFallback(t *testing.T) {
	dir := t.TempDir()
	programs := map[string]string{
		"weir-killed": "kill -9 $$",
		"weir-blocks": "echo '{}'; echo why >&2; exit 2",
		"weir-warns":  "exit 1",
		"weir-passes": "exit 0",
	}
	for name, script := range programs {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "weir-no-program"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, shell := range []string{"sh", "bash", "dash", "zsh", "fish"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		for _, agent := range agents.All() {
			p := &Place{Agent: agent, layout: layouts()[agent.Name]}
			run := func(weir string) agents.Answer {
				cmd := Command{Weir: filepath.Join(dir, weir), Set: "/it's a/weir.toml"}
				c := checker{cfg: CheckConfig{Env: Env{CWD: dir}}}
				a, _, err := c.run(t.Context(), quoteWord(path)+" -c "+quoteWord(cmd.line(agent.Name, p.layout.fallback)), []byte("{}"))
				if err != nil {
					t.Fatal(err)
				}
				return a
			}
			for _, weir := range []string{"weir-not-there", "weir-no-program", "weir-killed"} {
				if v, why := p.judge(run(weir)); v != blocked || why == "" {
					t.Errorf("%s, %s: %s does not block (%q)", shell, agent.Name, weir, why)
				}
			}
			if a := run("weir-passes"); a.Exit != 0 || len(a.Stdout)+len(a.Stderr) > 0 {
				t.Errorf("%s, %s: passing became %+v", shell, agent.Name, a)
			}
			if p.layout.fallback == denyJSON {
				continue
			}
			if a := run("weir-blocks"); a.Exit != 2 || string(a.Stdout) != "{}\n" || string(a.Stderr) != "why\n" {
				t.Errorf("%s, %s: blocking became %+v", shell, agent.Name, a)
			}
			if a := run("weir-warns"); a.Exit != 1 || len(a.Stderr) > 0 {
				t.Errorf("%s, %s: exit 1 became %+v", shell, agent.Name, a)
			}
		}
	}
}

package agents_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"weir/engine/agents"
)

// TestPages: docs/agents has a page for every agent, with its table, and a configuration that can be read and calls the hook.
func TestPages(t *testing.T) {
	snippet := regexp.MustCompile("(?s)```(json|toml)\n(.*?)```")
	table := regexp.MustCompile(`(?m)^\| what \| \| how \|\n(\|.*\n)+|^<!-- table -->\n`)
	for _, agent := range agents.All() {
		file := filepath.Join("..", "..", "docs", "agents", agent.Name+".md")
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		page := string(raw)
		if *update {
			page = table.ReplaceAllLiteralString(page, agent.Markdown())
			if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
				t.Error(err)
			}
		}
		if !strings.Contains(page, agent.Markdown()) {
			t.Errorf("%s does not hold the table of the agent; it is\n%s", file, agent.Markdown())
		}
		found := snippet.FindAllStringSubmatch(page, -1)
		if len(found) == 0 {
			t.Errorf("%s holds no configuration", file)
		}
		for _, s := range found {
			var v map[string]any
			var err error
			if s[1] == "json" {
				err = json.Unmarshal([]byte(s[2]), &v)
			} else {
				err = toml.Unmarshal([]byte(s[2]), &v)
			}
			if err != nil {
				t.Errorf("%s: %v", file, err)
			}
			if !strings.Contains(s[2], "weir hook --agent "+agent.Name+" ") {
				t.Errorf("%s: the configuration does not call the hook", file)
			}
		}
	}
}

// TestExplain: every row of the table is printed, and says something.
func TestExplain(t *testing.T) {
	for _, agent := range agents.All() {
		text := agent.Explain()
		for _, r := range agent.Rows {
			if r.Subject == "" || r.Detail == "" || r.Level == "" || strings.Contains(r.Subject+r.Detail, "|") {
				t.Errorf("%s: row %+v", agent.Name, r)
			}
			if !strings.Contains(text, r.Subject+": "+string(r.Level)+"\n    "+r.Detail+"\n") {
				t.Errorf("%s: not explained: %s", agent.Name, r.Subject)
			}
		}
	}
}

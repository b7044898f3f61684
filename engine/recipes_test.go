package engine_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
	"weir/engine"
	"weir/engine/set"
	"weir/engine/wire"
	"weir/wasmhost"
)

// TestRecipes runs every policy of docs/recipes.md on the event below it.
func TestRecipes(t *testing.T) {
	page, err := os.ReadFile("../docs/recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	host, err := wasmhost.New(t.Context(), wasmhost.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := host.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	recipe := regexp.MustCompile("(?s)^(.*?)\n.*?```ts\n(.*?)```\n\n`(\\w+)`\n\n```json\n(.*?)```\n\n```json\n(.*?)```\n")
	sections := strings.Split(string(page), "\n## ")[1:]
	for _, section := range sections {
		m := recipe.FindStringSubmatch(section)
		if m == nil {
			t.Errorf("%.40q is no recipe: a policy, a hook, an event and an answer", section)
			continue
		}
		t.Run(m[1], func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "policy.ts")
			if err := os.WriteFile(file, []byte(m[2]), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := set.Modules([]string{file}, set.Limits{}, set.Grant{})
			if err != nil {
				t.Fatal(err)
			}
			got := answerOf(t, host, s, m[3], m[4])
			var have, want any
			if err := json.Unmarshal([]byte(got), &have); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(m[5]), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, have); diff != "" {
				t.Errorf("(-page +got):\n%s", diff)
			}
		})
	}
	if len(sections) < 7 {
		t.Errorf("only %d recipes", len(sections))
	}
}

// answerOf is what the one extension of a set answers to an event, or what its one tool returns.
func answerOf(t *testing.T, host *wasmhost.Host, s *set.Set, hook, event string) string {
	t.Helper()
	if hook == wire.ExportToolExecute {
		e, err := engine.Open(t.Context(), engine.Config{Host: host, Set: s})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := e.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}()
		result, err := e.Tools()[0].Execute(t.Context(), "c1", json.RawMessage(event), func(*agentcore.ToolResult) {})
		if err != nil {
			t.Fatal(err)
		}
		block, err := agentcore.MarshalBlock(result.Content[0])
		if err != nil {
			t.Fatal(err)
		}
		return `{"content":[` + string(block) + `]}`
	}
	p, err := engine.OpenProbe(t.Context(), engine.Config{Host: host}, &s.Extensions[0])
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	for e := wire.Event(1); int(e) <= wire.EventCount; e++ {
		if e.String() != hook {
			continue
		}
		out, _, err := p.Call(t.Context(), e, []byte(event))
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	t.Fatalf("%s is no event", hook)
	return ""
}

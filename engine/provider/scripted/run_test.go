package scripted_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/agentcore"
	"weir/engine/provider/scripted"
	"weir/engine/tools"
)

// A whole run: a scripted model, the loop and real tools in a real folder.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	script, err := scripted.Parse("run.toml", `
[[response]]
expect = "write a poem"
thinking = "A short one."
[[response.call]]
tool = "write"
args = { path = "poem.txt", content = "roses are red\n" }

[[response]]
expect = "created poem.txt"
[[response.call]]
tool = "edit"
args = { path = "poem.txt", edits = [{ oldText = "red", newText = "blue" }] }
[[response.call]]
tool = "read"
args = { path = "missing.txt" }

[[response]]
expect = "(?s)changed 1 place.*no such file"
[[response.call]]
tool = "grep"
args = { pattern = "roses" }

[[response]]
expect = "poem.txt:1: roses are blue"
text = "Done."
`)
	if err != nil {
		t.Fatal(err)
	}
	list, err := tools.New(tools.Config{Cwd: dir})
	if err != nil {
		t.Fatal(err)
	}
	model := script.Provider()
	agent, err := agentcore.New(agentcore.Config{Provider: model, Model: script.Model(), Tools: list, ToolExecution: agentcore.ExecutionSequential})
	if err != nil {
		t.Fatal(err)
	}
	var log []string
	agent.Subscribe(func(_ context.Context, ev agentcore.Event) error {
		if end, ok := ev.(*agentcore.MessageEnd); ok && end.Message.Assistant() != nil {
			m := end.Message.Assistant()
			log = append(log, string(m.StopReason)+m.ErrorMessage)
		}
		return nil
	})
	if err := agent.PromptText(t.Context(), "write a poem"); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(log, " "); got != "toolUse toolUse toolUse stop" || model.Left() != 0 {
		t.Errorf("responses %s, %d left", got, model.Left())
	}
	poem, err := os.ReadFile(filepath.Join(dir, "poem.txt"))
	if err != nil || string(poem) != "roses are blue\n" {
		t.Errorf("%q, %v", poem, err)
	}
	if n := len(model.Requests()); n != 4 {
		t.Errorf("%d requests", n)
	}
}

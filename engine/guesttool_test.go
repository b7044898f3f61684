package engine_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"weir/agentcore"
	"weir/engine"
	"weir/engine/set"
	"weir/wasmhost"
)

// buildGuest builds a guest in Go. It needs nothing but Go itself.
func buildGuest(t *testing.T, pkg string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a guest")
	}
	out := filepath.Join(t.TempDir(), "guest.wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-buildmode=c-shared", "-o", out, pkg)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", pkg, err, text)
	}
	return out
}

func openSet(t *testing.T, text string) (*engine.Engine, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "weir.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := set.Load(file)
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
	e, err := engine.Open(t.Context(), engine.Config{Host: host, Set: s})
	if err == nil {
		t.Cleanup(func() {
			if err := e.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	return e, err
}

func TestGuestToolsAndCommands(t *testing.T) {
	wasm := buildGuest(t, "weir/guest-sdk/go/internal/testguest")
	extension := func(name, mode string) string {
		return "[[extension]]\nname = \"" + name + "\"\nmodule = " + string(mustJSON(t, wasm)) + "\nmode = \"" + mode + "\"\ngrant = { kv = true }\n"
	}
	e, err := openSet(t, "version = 1\n"+extension("one", "enforce")+extension("two", "monitor"))
	if err != nil {
		t.Fatal(err)
	}
	tools := e.Tools()
	if len(tools) != 1 || tools[0].Name != "shout" || tools[0].ExecutionMode != agentcore.ExecutionParallel || !strings.Contains(string(tools[0].Parameters), "text") {
		t.Fatalf("tools: %+v", tools)
	}
	var partial []string
	result, err := tools[0].Execute(t.Context(), "c1", json.RawMessage(`{"text":"hé"}`), func(r *agentcore.ToolResult) {
		partial = append(partial, r.Content[0].(*agentcore.TextBlock).Text)
	})
	if err != nil || result.Content[0].(*agentcore.TextBlock).Text != "HÉ" || strings.Join(partial, "|") != "…" {
		t.Errorf("result %+v, partial %q, %v", result, partial, err)
	}
	commands := e.Commands()
	if len(commands) != 1 || commands[0].Name != "hello" || commands[0].Extension != "one" {
		t.Fatalf("commands: %+v", commands)
	}
	if message, err := commands[0].Run(t.Context(), "you"); err != nil || message != "hello you" {
		t.Errorf("command: %q, %v", message, err)
	}
	_, err = openSet(t, "version = 1\n"+extension("one", "enforce")+extension("two", "enforce"))
	if err == nil || !strings.Contains(err.Error(), `extension "two" brings the tool "shout", which "one" brings already`) {
		t.Errorf("two tools of one name: %v", err)
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

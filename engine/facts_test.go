package engine_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/agentcore"
	"weir/engine"
	"weir/engine/facts"
	"weir/engine/set"
	"weir/engine/wire"
	"weir/extensions"
	"weir/wasmhost"
)

// asking makes a fake ask for facts.
func asking(f *fake, event wire.Event, names ...string) *fake {
	f.hooks = map[wire.Event]*wire.Hook{event: {Event: event, Facts: names}}
	return f
}

// factsSeen are the facts that a fake was given, "" for none.
func factsSeen(f *fake) []string {
	var list []string
	for _, ev := range f.seen {
		switch p := ev.Payload.(type) {
		case *wire.ToolCallEvent:
			list = append(list, string(p.Facts))
		case *wire.ToolResultEvent:
			list = append(list, string(p.Facts))
		}
	}
	return list
}

func keys(t *testing.T, raw string) string {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(raw), &m); err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	out := ""
	for _, n := range wire.FactNames() {
		if m[n] != nil {
			out += n + " "
		}
	}
	return out
}

// TestFactsAreGivenToThoseWhoAsk: each gets the kinds that it asked for, of the arguments as they are when it is asked.
func TestFactsAreGivenToThoseWhoAsk(t *testing.T) {
	first := asking(allow("first"), wire.EventToolCall, "shell", "net")
	silent := allow("silent")
	change := rewriter("change", `{"command":"ls"}`, `{"command":"rm x"}`)
	last := asking(allow("last"), wire.EventToolCall, "shell")
	e := open(t, engine.Config{CWD: "/home/dev/project"}, first, silent, change, last)
	e.ToolCall(t.Context(), wire.ToolCallEvent{ToolName: "bash", Input: json.RawMessage(`{"command":"ls"}`)}, nil)

	got := factsSeen(first)
	if len(got) != 2 || keys(t, got[0]) != "shell net " || !strings.Contains(got[0], `"argv":["ls"]`) {
		t.Errorf("first saw %q", got)
	}
	if len(got) == 2 && !strings.Contains(got[1], `"argv":["rm","x"]`) {
		t.Errorf("the recheck came with the facts of other arguments: %q", got[1])
	}
	if got := factsSeen(last); len(got) != 1 || keys(t, got[0]) != "shell " || !strings.Contains(got[0], `"argv":["rm","x"]`) {
		t.Errorf("last saw %q", got)
	}
	for _, s := range factsSeen(silent) {
		if s != "" {
			t.Errorf("who did not ask got %q", s)
		}
	}
}

// TestFactsOfResults: spans are of the content as the extension sees it.
func TestFactsOfResults(t *testing.T) {
	result := func(name string, answer *wire.ToolResultResult) *fake {
		f := &fake{name: name, do: func(*engine.Event) (any, error) {
			if answer == nil {
				return nil, nil
			}
			return answer, nil
		}}
		return asking(f, wire.EventToolResult, "secrets")
	}
	first := result("first", &wire.ToolResultResult{Content: []agentcore.Block{&agentcore.TextBlock{Text: "clean"}}})
	second := result("second", nil)
	e := open(t, engine.Config{}, first, second)
	e.ToolResult(t.Context(), wire.ToolResultEvent{ToolName: "bash", Content: []agentcore.Block{&agentcore.TextBlock{Text: "API_TOKEN=zq81xK77bQmw92LpRt"}}})
	if got := factsSeen(first); len(got) != 1 || !strings.Contains(got[0], `"start":10,"end":28`) {
		t.Errorf("first saw %q", got)
	}
	if got := factsSeen(second); len(got) != 1 || strings.Contains(got[0], "start") {
		t.Errorf("second saw %q", got)
	}
}

// TestFactsKnowWeirsOwnFiles: the set, its modules and the workspace's .weir are weir's own without anybody having said so.
func TestFactsKnowWeirsOwnFiles(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	wasm, _ := extensions.Bundled("guard-paths")
	if err := os.WriteFile(filepath.Join(dir, "mine.wasm"), wasm, 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "policies.toml")
	if err := os.WriteFile(file, []byte("version = 1\n[[extension]]\nname = \"mine\"\nmodule = \"mine.wasm\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := set.Open(set.Discovery{SetFile: file}, nil)
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
	e := open(t, engine.Config{Host: host, Set: s, CWD: dir, Facts: facts.Config{Own: []string{filepath.Join(dir, "also")}}})
	for _, path := range []string{"mine.wasm", "policies.toml", ".weir/x", "also"} {
		d := e.ToolCall(t.Context(), wire.ToolCallEvent{ToolName: "write", Input: json.RawMessage(`{"path":"` + path + `"}`)}, nil)
		if !d.Block || !strings.Contains(d.Reason, "(own)") {
			t.Errorf("%s: %+v", path, d)
		}
	}
	if d := e.ToolCall(t.Context(), wire.ToolCallEvent{ToolName: "write", Input: json.RawMessage(`{"path":"src/x"}`)}, nil); d.Block {
		t.Errorf("src/x: %+v", d)
	}
}

// BenchmarkFacts is a tool call through a gate in Go that asks for facts, and through one that does not: the difference is
// what facts cost, and nobody who does not ask pays.
func BenchmarkFacts(b *testing.B) {
	ev := wire.ToolCallEvent{ToolName: "bash", Input: json.RawMessage(`{"command":"cd packages/api && npm test 2>&1 | tail -20"}`)}
	for _, c := range []struct {
		name  string
		asked []string
	}{{"nobody-asks", nil}, {"shell", []string{"shell"}}, {"shell-paths-net", []string{"shell", "paths", "net"}}} {
		b.Run(c.name, func(b *testing.B) {
			f := &quiet{hook: &wire.Hook{Event: wire.EventToolCall, Facts: c.asked}}
			e, err := engine.Open(context.Background(), engine.Config{CWD: "/home/dev/project", Native: []engine.Extension{f}})
			if err != nil {
				b.Fatal(err)
			}
			ctx := context.Background()
			b.ReportAllocs()
			for b.Loop() {
				if d := e.ToolCall(ctx, ev, nil); d.Block {
					b.Fatal(d.Reason)
				}
			}
		})
	}
}

// quiet is a gate in Go that never has an opinion.
type quiet struct{ hook *wire.Hook }

func (q *quiet) Name() string { return "quiet" }
func (q *quiet) Hook(e wire.Event) *wire.Hook {
	if e == q.hook.Event {
		return q.hook
	}
	return nil
}
func (q *quiet) Close(context.Context) error { return nil }
func (q *quiet) Handle(context.Context, *engine.Event) (any, engine.Usage, error) {
	return nil, engine.Usage{}, nil
}

package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"weir/agentcore"
	"weir/engine"
	"weir/engine/set"
	"weir/engine/wire"
	"weir/extensions"
	"weir/wasmhost"
)

// openBundled opens n extensions of one bundled module.
func openBundled(b testing.TB, module string, n int) *engine.Engine {
	b.Helper()
	return openModule(b, "bundled:"+module, n)
}

// openModule opens n extensions of one module.
func openModule(b testing.TB, module string, n int) *engine.Engine {
	b.Helper()
	return openMetered(b, module, n, nil)
}

func openMetered(b testing.TB, module string, n int, prompt func(engine.PromptChange)) *engine.Engine {
	b.Helper()
	ctx := context.Background()
	host, err := wasmhost.New(ctx, wasmhost.Config{})
	if err != nil {
		b.Fatal(err)
	}
	text := "version = 1\n"
	for i := range n {
		text += fmt.Sprintf("[[extension]]\nname = \"x%d\"\nmodule = %q\n", i, module)
	}
	s, err := set.Parse("weir.toml", []byte(text))
	if err != nil {
		b.Fatal(err)
	}
	e, err := engine.Open(ctx, engine.Config{Host: host, Set: s, Bundled: extensions.Bundled, CWD: "/home/dev/project", Prompt: prompt})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := e.Close(ctx); err != nil {
			b.Error(err)
		}
		if err := host.Close(ctx); err != nil {
			b.Error(err)
		}
	})
	return e
}

// longHistory is 10,000 messages, about 10 MB of JSON: questions, calls and their results.
func longHistory(tb testing.TB) []*agentcore.Message {
	tb.Helper()
	const n, size = 10_000, 10 << 20
	text := strings.Repeat("all work and no play ", size/n/21+1)
	var list []*agentcore.Message
	for i := 0; len(list) < n; i++ {
		id := fmt.Sprintf("call_%d", i)
		list = append(list,
			agentcore.NewMessage(&agentcore.UserMessage{Content: agentcore.Content{Text: text}, Timestamp: int64(i)}),
			agentcore.NewMessage(&agentcore.AssistantMessage{Content: []agentcore.Block{&agentcore.ToolCall{ID: id, Name: "read", Arguments: json.RawMessage(`{"path":"x"}`)}}, StopReason: agentcore.StopToolUse, Timestamp: int64(i)}),
			agentcore.NewMessage(&agentcore.ToolResultMessage{ToolCallID: id, ToolName: "read", Content: []agentcore.Block{&agentcore.TextBlock{Text: text}}, Timestamp: int64(i)}),
		)
	}
	for _, m := range list {
		if _, err := m.JSON(); err != nil { // encoded once, at append
			tb.Fatal(err)
		}
	}
	return list[:n-n%3]
}

// BenchmarkContext is the context hook over a long history, in the table view. An append between two calls is part of it, as
// in a run.
func BenchmarkContext(b *testing.B) {
	for _, n := range []int{1, 10} {
		b.Run(fmt.Sprintf("10k-messages-10MB/%d-extensions", n), func(b *testing.B) {
			e := openBundled(b, "prune-context", n)
			history := longHistory(b)
			ctx := context.Background()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Context(ctx, history); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkModelCall is what the hooks of one model call take in a session of 10,000 messages and 10 MB with three extensions in the
// table view: a message more than in the call before, the context, the prompt meter. At most 2 ms are wanted.
func BenchmarkModelCall(b *testing.B) {
	for _, c := range []struct {
		name  string
		meter func(engine.PromptChange)
	}{{"without-meter", nil}, {"with-meter", func(c engine.PromptChange) {
		if c.Part != 0 {
			b.Errorf("the prefix changed: %+v", c)
		}
	}}} {
		b.Run("10k-messages-10MB/3-extensions/"+c.name, func(b *testing.B) {
			e := openMetered(b, "bundled:prune-context", 3, c.meter)
			history := longHistory(b)
			ctx := context.Background()
			hook := e.Hooks().TransformContext
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				more := user("go on")
				if _, err := more.JSON(); err != nil {
					b.Fatal(err)
				}
				history = append(history, more)
				b.StartTimer()
				messages, err := hook(ctx, history)
				if err != nil {
					b.Fatal(err)
				}
				e.Sent(&agentcore.Request{Messages: messages})
			}
		})
	}
}

// BenchmarkPromptMeter is the meter alone: all messages as before, and all of them anew with the same content.
func BenchmarkPromptMeter(b *testing.B) {
	for _, anew := range []bool{false, true} {
		b.Run(fmt.Sprintf("10k-messages-10MB/anew=%v", anew), func(b *testing.B) {
			e := openMetered(b, "bundled:prune-context", 0, func(engine.PromptChange) {})
			requests := []*agentcore.Request{{Messages: longHistory(b)}, {Messages: longHistory(b)}}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if anew {
					e.Sent(requests[i%2])
				} else {
					e.Sent(requests[0])
				}
			}
		})
	}
}

// BenchmarkToolCall is one tool call through the chain with a bundled gate: event encoded, guest called, answer parsed.
func BenchmarkToolCall(b *testing.B) {
	ev := wire.ToolCallEvent{ToolName: "bash", ToolCallID: "toolu_017qEkVzzPb7b7o4FkgJLF23", Input: json.RawMessage(`{"command":"find packages/coding-agent/src -name \"*selector.ts\" -type f | head -20","timeout":30}`)}
	for _, n := range []int{1, 5} {
		b.Run(fmt.Sprintf("guard-shell/%d-extensions", n), func(b *testing.B) {
			e := openBundled(b, "guard-shell", n)
			ctx := context.Background()
			b.ReportAllocs()
			for b.Loop() {
				if d := e.ToolCall(ctx, ev, nil); d.Block {
					b.Fatal(d.Reason)
				}
			}
		})
	}
	b.Run("no-extension", func(b *testing.B) {
		e, err := engine.Open(context.Background(), engine.Config{})
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

// BenchmarkObserver is an event that nobody observes: wasm is not entered.
func BenchmarkObserver(b *testing.B) {
	e := openBundled(b, "guard-shell", 1)
	l := e.Listener()
	ctx := context.Background()
	ev := &agentcore.MessageUpdate{}
	b.ReportAllocs()
	for b.Loop() {
		if err := l(ctx, ev); err != nil {
			b.Fatal(err)
		}
	}
}

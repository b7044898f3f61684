package agentcore_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"weir/agentcore"
)

// The shape of the benchmarks, the same as in testdata/conformance/bench/loop.mjs.
const (
	benchDeltas = 10_000
	benchCalls  = 1_000
)

// streamer answers every request with one text of n deltas.
func streamer(n int) agentcore.Provider {
	return agentcore.ProviderFunc(func(
		_ context.Context, _ *agentcore.Request, emit func(agentcore.AssistantEvent) error,
	) (*agentcore.AssistantMessage, error) {
		if err := emit(agentcore.AssistantEvent{Type: agentcore.StreamStart}); err != nil {
			return nil, err
		}
		if err := emit(agentcore.AssistantEvent{Type: agentcore.StreamTextStart}); err != nil {
			return nil, err
		}
		for range n {
			if err := emit(agentcore.AssistantEvent{Type: agentcore.StreamTextDelta, Delta: "delta "}); err != nil {
				return nil, err
			}
		}
		if err := emit(agentcore.AssistantEvent{Type: agentcore.StreamTextEnd}); err != nil {
			return nil, err
		}
		return nil, emit(agentcore.AssistantEvent{Type: agentcore.StreamDone, Reason: agentcore.StopStop})
	})
}

// caller asks for one tool call a turn, n times, and then answers. The response comes whole, so that only the calls cost.
func caller(n int) agentcore.Provider {
	turn := 0
	return agentcore.ProviderFunc(func(
		_ context.Context, _ *agentcore.Request, emit func(agentcore.AssistantEvent) error,
	) (*agentcore.AssistantMessage, error) {
		m := &agentcore.AssistantMessage{StopReason: agentcore.StopStop, Content: []agentcore.Block{&agentcore.TextBlock{Text: "done"}}}
		if turn < n {
			m.StopReason = agentcore.StopToolUse
			m.Content = []agentcore.Block{&agentcore.ToolCall{
				ID: fmt.Sprintf("c%d", turn), Name: "noop", Arguments: json.RawMessage(`{"path":"a/b"}`),
			}}
		}
		turn++
		return m, emit(agentcore.AssistantEvent{Type: agentcore.StreamDone, Message: m})
	})
}

// batcher asks for n calls in one message.
func batcher(n int) agentcore.Provider {
	first := true
	return agentcore.ProviderFunc(func(
		_ context.Context, _ *agentcore.Request, emit func(agentcore.AssistantEvent) error,
	) (*agentcore.AssistantMessage, error) {
		m := &agentcore.AssistantMessage{StopReason: agentcore.StopStop, Content: []agentcore.Block{&agentcore.TextBlock{Text: "done"}}}
		if first {
			first = false
			m.StopReason, m.Content = agentcore.StopToolUse, nil
			for i := range n {
				m.Content = append(m.Content, &agentcore.ToolCall{
					ID: fmt.Sprintf("c%d", i), Name: "noop", Arguments: json.RawMessage(`{"path":"a/b"}`),
				})
			}
		}
		return m, emit(agentcore.AssistantEvent{Type: agentcore.StreamDone, Message: m})
	})
}

func noop() *agentcore.Tool {
	result := &agentcore.ToolResult{Content: []agentcore.Block{&agentcore.TextBlock{Text: "ok"}}, Details: json.RawMessage("{}")}
	return &agentcore.Tool{
		Name:       "noop",
		Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`),
		Execute: func(context.Context, string, json.RawMessage, func(*agentcore.ToolResult)) (*agentcore.ToolResult, error) {
			return result, nil
		},
	}
}

func listen(a *agentcore.Agent, n int, seen *int) {
	for range n {
		a.Subscribe(func(_ context.Context, ev agentcore.Event) error {
			if u, ok := ev.(*agentcore.MessageUpdate); ok {
				*seen += len(u.AssistantEvent.Delta)
			}
			return nil
		})
	}
}

func BenchmarkDelta(b *testing.B) {
	for _, listeners := range []int{0, 5} {
		b.Run(fmt.Sprintf("listeners=%d", listeners), func(b *testing.B) {
			b.ReportAllocs()
			seen := 0
			for b.Loop() {
				a, err := agentcore.New(agentcore.Config{Provider: streamer(benchDeltas)})
				if err != nil {
					b.Fatal(err)
				}
				listen(a, listeners, &seen)
				if err := a.PromptText(b.Context(), "go"); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchDeltas, "ns/delta")
		})
	}
}

func BenchmarkToolCall(b *testing.B) {
	for _, shape := range []string{"one-a-turn", "sequential", "parallel"} {
		b.Run(shape, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				cfg := agentcore.Config{Provider: batcher(benchCalls), Tools: []*agentcore.Tool{noop()}}
				switch shape {
				case "one-a-turn":
					cfg.Provider = caller(benchCalls)
				case "sequential":
					cfg.ToolExecution = agentcore.ExecutionSequential
				}
				a, err := agentcore.New(cfg)
				if err != nil {
					b.Fatal(err)
				}
				if err := a.PromptText(b.Context(), "go"); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchCalls, "ns/call")
		})
	}
}

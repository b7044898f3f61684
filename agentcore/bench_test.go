package agentcore_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

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

// shape is one benchmark: what it runs and how many units (deltas or calls) a run has.
type shape struct {
	name      string
	unit      string
	units     int
	listeners int
	config    func() agentcore.Config
}

func shapes() []shape {
	deltas := func() agentcore.Config { return agentcore.Config{Provider: streamer(benchDeltas)} }
	batch := func(mode agentcore.ExecutionMode) func() agentcore.Config {
		return func() agentcore.Config {
			return agentcore.Config{Provider: batcher(benchCalls), Tools: []*agentcore.Tool{noop()}, ToolExecution: mode}
		}
	}
	return []shape{
		{"delta/listeners=0", "ns/delta", benchDeltas, 0, deltas},
		{"delta/listeners=5", "ns/delta", benchDeltas, 5, deltas},
		{"call/one-a-turn", "ns/call", benchCalls, 0, func() agentcore.Config {
			return agentcore.Config{Provider: caller(benchCalls), Tools: []*agentcore.Tool{noop()}}
		}},
		{"call/sequential", "ns/call", benchCalls, 0, batch(agentcore.ExecutionSequential)},
		{"call/parallel", "ns/call", benchCalls, 0, batch(agentcore.ExecutionParallel)},
	}
}

// run performs the shape once and says how long the run took.
func (s shape) run(tb testing.TB) time.Duration {
	a, err := agentcore.New(s.config())
	if err != nil {
		tb.Fatal(err)
	}
	seen := 0
	listen(a, s.listeners, &seen)
	began := time.Now()
	if err := a.PromptText(tb.Context(), "go"); err != nil {
		tb.Fatal(err)
	}
	return time.Since(began)
}

func BenchmarkLoop(b *testing.B) {
	for _, s := range shapes() {
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			var total time.Duration
			for b.Loop() {
				total += s.run(b)
			}
			b.ReportMetric(float64(total.Nanoseconds())/float64(b.N)/float64(s.units), s.unit)
		})
	}
}

// TestAllocationsPerDelta holds the bound of two allocations a delta, and that a message of twice the deltas does not
// allocate more than about twice the bytes.
func TestAllocationsPerDelta(t *testing.T) {
	measure := func(deltas int) (allocs, bytes float64) {
		var before, after runtime.MemStats
		s := shape{config: func() agentcore.Config { return agentcore.Config{Provider: streamer(deltas)} }, listeners: 1}
		runtime.ReadMemStats(&before)
		s.run(t)
		runtime.ReadMemStats(&after)
		return float64(after.Mallocs - before.Mallocs), float64(after.TotalAlloc - before.TotalAlloc)
	}
	_, once := measure(20_000)
	allocs, twice := measure(40_000)
	if perDelta := allocs / 40_000; perDelta > 2 {
		t.Errorf("%.2f allocations a delta, want at most 2", perDelta)
	}
	if twice > 3*once {
		t.Errorf("20,000 deltas allocate %.0f bytes, 40,000 deltas %.0f: more than linear", once, twice)
	}
}

// TestManyBlocks holds that a message of many blocks costs O(n) too.
func TestManyBlocks(t *testing.T) {
	measure := func(blocks int) float64 {
		events := []agentcore.AssistantEvent{{Type: agentcore.StreamStart}}
		for i := range blocks {
			for _, kind := range []agentcore.AssistantEventType{agentcore.StreamTextStart, agentcore.StreamTextDelta, agentcore.StreamTextEnd} {
				events = append(events, agentcore.AssistantEvent{Type: kind, ContentIndex: i, Delta: "x"})
			}
		}
		events = append(events, agentcore.AssistantEvent{Type: agentcore.StreamDone})
		var before, after runtime.MemStats
		s := shape{config: func() agentcore.Config { return agentcore.Config{Provider: stream(events)} }, listeners: 1}
		runtime.ReadMemStats(&before)
		s.run(t)
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	once, twice := measure(5_000), measure(10_000)
	if twice > 3*once {
		t.Errorf("5,000 blocks allocate %.0f bytes, 10,000 blocks %.0f: more than linear", once, twice)
	}
}

// TestPeer runs the same scripts on the reference under Node, in the same minute, and prints the ratios. WEIR_NODE names
// Node 22 (default: node) and PI_MODULES the folder @earendil-works of the reference's packages. Without them the test
// skips, unless WEIR_REQUIRE_PEERS is set.
func TestPeer(t *testing.T) {
	missing := t.Skipf
	if os.Getenv("WEIR_REQUIRE_PEERS") != "" {
		missing = t.Fatalf
	}
	modules := os.Getenv("PI_MODULES")
	if modules == "" {
		missing("PI_MODULES is not set: install @earendil-works/pi-coding-agent@0.85.0 and name its folder @earendil-works")
	}
	node := os.Getenv("WEIR_NODE")
	if node == "" {
		node = "node"
	}
	command, err := exec.LookPath(node)
	if err != nil {
		missing("%v: set WEIR_NODE to Node 22 (npm package node@22)", err)
	}
	const rounds = 15
	cmd := exec.CommandContext(t.Context(), command, filepath.Join(ownConformance, "bench", "loop.mjs"), fmt.Sprint(rounds))
	cmd.Env = append(os.Environ(), "PI_MODULES="+modules)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the reference's benchmark: %v", err)
	}
	peer := map[string]float64{}
	if err := json.Unmarshal(out, &peer); err != nil {
		t.Fatalf("the reference's benchmark printed %q: %v", out, err)
	}
	for _, s := range shapes() {
		s.run(t) // warm up, as the peer does
		all := make([]float64, rounds)
		for i := range all {
			all[i] = float64(s.run(t).Nanoseconds()) / float64(s.units)
		}
		slices.Sort(all)
		ours := all[rounds/2]
		if peer[s.name] <= 0 {
			t.Fatalf("the reference's benchmark has no figure for %s: %s", s.name, out)
		}
		t.Logf("%-18s ours %6.0f %s, reference %6.0f, ratio %.1f", s.name, ours, s.unit, peer[s.name], peer[s.name]/ours)
	}
}

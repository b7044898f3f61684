package engine_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"weir/agentcore"
	"weir/engine"
	"weir/engine/wire"
)

// reference is the reference under Node, which runs its hooks in its own process: testdata/hooks.mjs.
type reference struct {
	in  *json.Encoder
	out *bufio.Reader
}

// referenceRequest is what hooks.mjs reads.
type referenceRequest struct {
	Hook       string `json:"hook"`
	Extensions int    `json:"extensions"`
	Rounds     int    `json:"rounds"`
	Calls      int    `json:"calls"`
	Flush      bool   `json:"flush"`
}

// startReference starts it with a history. WEIR_NODE names Node 22 (default: node), PI_MODULES the folder @earendil-works of the
// reference's packages. Without them the benchmark skips, unless WEIR_REQUIRE_PEERS is set.
func startReference(b *testing.B, history []*agentcore.Message) *reference {
	b.Helper()
	missing := b.Skipf
	if os.Getenv("WEIR_REQUIRE_PEERS") != "" {
		missing = b.Fatalf
	}
	if os.Getenv("PI_MODULES") == "" {
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
	text := []byte("[")
	for i, m := range history {
		if i > 0 {
			text = append(text, ',')
		}
		raw, err := m.JSON()
		if err != nil {
			b.Fatal(err)
		}
		text = append(text, raw...)
	}
	file := filepath.Join(b.TempDir(), "history.json")
	if err := os.WriteFile(file, append(text, ']'), 0o600); err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(command, "testdata/hooks.mjs", file) //nolint:gosec // the developer's own Node
	cmd.Stderr = os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil {
		b.Fatal(err1, err2)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := in.Close(); err != nil {
			b.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			b.Errorf("the reference: %v", err)
		}
	})
	return &reference{json.NewEncoder(in), bufio.NewReader(out)}
}

// ask has it run one benchmark, and gives the time of each round.
func (r *reference) ask(b *testing.B, request referenceRequest) []time.Duration {
	b.Helper()
	if err := r.in.Encode(request); err != nil {
		b.Fatal(err)
	}
	line, err := r.out.ReadBytes('\n')
	if err != nil {
		b.Fatalf("the reference: %v", err)
	}
	var ns []float64
	if err := json.Unmarshal(bytes.TrimSpace(line), &ns); err != nil || len(ns) != request.Rounds {
		b.Fatalf("the reference answered %.200q: %v", line, err)
	}
	took := make([]time.Duration, len(ns))
	for i, n := range ns {
		took[i] = time.Duration(n)
	}
	return took
}

// BenchmarkHooks compares hooks in the sandbox with the reference's, which are closures in its own process under Node: the same decision
// about the same event, through the whole engine on either side. Of many rounds the fastest, the median and the 90th percentile are given; on a busy
// machine the fastest is the one to compare. hot repeats a call at once; cold writes 64 MiB before each single call, so that no cache holds anything of what runs: a hook of a real
// agent is called once a model call.
func BenchmarkHooks(b *testing.B) {
	history := longHistory(b)
	reference := startReference(b, history)
	ctx := context.Background()
	ev := wire.ToolCallEvent{ToolName: "bash", ToolCallID: "toolu_017qEkVzzPb7b7o4FkgJLF23", Input: json.RawMessage(`{"command":"find packages/coding-agent/src -name \"*selector.ts\" -type f | head -20","timeout":30}`)}
	junk := make([]byte, 64<<20)
	for _, hook := range []struct {
		name, module string
		extensions   []int
		rounds       int // when hot
		calls        int // of such a round: few, so that some round runs undisturbed
		call         func(e *engine.Engine) error
	}{
		{"tool_call", "../wasmhost/testdata/bench/policy.wasm", []int{1, 5}, 401, 100, func(e *engine.Engine) error {
			if d := e.ToolCall(ctx, ev, nil); d.Block {
				return fmt.Errorf("blocked: %s", d.Reason)
			}
			return nil
		}},
		{"context", "bundled:prune-context", []int{1, 10}, 41, 1, func(e *engine.Engine) error {
			_, err := e.Context(ctx, history)
			return err
		}},
	} {
		for _, n := range hook.extensions {
			for _, heat := range []string{"hot", "cold"} {
				cold, calls, rounds := heat == "cold", hook.calls, hook.rounds
				if cold {
					calls, rounds = 1, 41
				}
				name := fmt.Sprintf("%s/%s/%d-extensions/", hook.name, heat, n)
				b.Run(name+"weir", func(b *testing.B) {
					e := openModule(b, hook.module, n)
					run := func() time.Duration {
						start := time.Now()
						for range calls {
							if err := hook.call(e); err != nil {
								b.Fatal(err)
							}
						}
						return time.Since(start) / time.Duration(calls)
					}
					for range 3 {
						run()
					}
					for b.Loop() {
						var took []time.Duration
						for range rounds {
							if cold {
								for at := 0; at < len(junk); at += 64 {
									junk[at]++
								}
							}
							took = append(took, run())
						}
						reportCalls(b, took)
					}
				})
				b.Run(name+"pi", func(b *testing.B) {
					for b.Loop() {
						reportCalls(b, reference.ask(b, referenceRequest{hook.name, n, rounds, calls, cold}))
					}
				})
			}
		}
	}
}

// reportCalls gives the fastest, the median and the 90th percentile of a call.
func reportCalls(b *testing.B, took []time.Duration) {
	b.Helper()
	slices.Sort(took)
	b.ReportMetric(0, "ns/op") // of a whole set of rounds, which says nothing
	b.ReportMetric(float64(took[0].Nanoseconds()), "min-ns/call")
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns/call")
	b.ReportMetric(float64(took[len(took)*9/10].Nanoseconds()), "p90-ns/call")
}

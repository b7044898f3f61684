package wasmhost_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"weir/wasmhost"
)

var errRC = errors.New("the call failed")

// The benchmarks compare the host with others on one event, a policy that parses it as JSON (testdata/bench/policy.c),
// and one answer. Sub-benchmarks of one name are to be paired: weir against extism-timeout, and so on.

const benchEvent = `{"type":"tool_call","toolCallId":"toolu_01A09q90qw90lq917835lq9","toolName":"bash","input":{"command":"cd /home/me/project && go test ./... 2>&1 | tail -40","timeout":120},"context":{"sessionId":"0193b7c1","extension":"policy","cwd":"/home/me/project","mode":"text","hasUI":false,"turnIndex":3,"callIndex":1}}`

const benchAnswer = `{}`

func benchGuest(b *testing.B, file string, limits wasmhost.Limits) *wasmhost.Guest {
	b.Helper()
	g, err := compile(b, newHost(b, wasmhost.Config{}), wasmFile(b, file)).NewGuest(b.Context(), wasmhost.GuestConfig{Name: "policy", Entries: []string{"tool_call"}, Limits: limits})
	if err != nil {
		b.Fatal(err)
	}
	return g
}

// callTool is what an engine does: call, and look at the answer.
func callTool(ctx context.Context, g *wasmhost.Guest, event []byte) error {
	_, err := g.Call(ctx, "tool_call", wasmhost.Input{Bytes: event}, checkAnswer)
	return err
}

func checkAnswer(out []byte) error {
	if string(out) != benchAnswer {
		return fmt.Errorf("answered %q", out)
	}
	return nil
}

// measured loops like b.Loop and reports, beside the wall clock, the processor time of a call: on a machine that does
// other things as well it is the number to compare.
func measured(b *testing.B) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		b.ReportAllocs()
		n, start := 0, cpuTime()
		for b.Loop() {
			if n++; !yield(struct{}{}) {
				return
			}
		}
		if used := cpuTime() - start; used > 0 {
			b.ReportMetric(float64(used.Nanoseconds())/float64(n), "cpu-ns/op")
		}
	}
}

func BenchmarkToolCall(b *testing.B) {
	event := []byte(benchEvent)
	b.Run("weir", func(b *testing.B) {
		g := benchGuest(b, "bench/policy", wasmhost.Limits{})
		ctx := b.Context()
		for range measured(b) {
			if err := callTool(ctx, g, event); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("weir-extism-abi", func(b *testing.B) { // a plain Extism module on our kernel
		g := benchGuest(b, "bench/policy_extism", wasmhost.Limits{})
		ctx := b.Context()
		for range measured(b) {
			if err := callTool(ctx, g, event); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("extism-runtime", func(b *testing.B) { // the same on go-sdk, metered: runtime = "extism" in a set
		g := onExtism(b, newHost(b, wasmhost.Config{}), wasmFile(b, "bench/policy_extism"), wasmhost.GuestConfig{Name: "policy", Entries: []string{"tool_call"}})
		ctx := b.Context()
		for range measured(b) {
			if err := callTool(ctx, g, event); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, timeout := range map[string]time.Duration{"extism-timeout": time.Second, "extism": 0} {
		b.Run(name, func(b *testing.B) {
			p := newExtism(b, wasmFile(b, "bench/policy_extism"), timeout, nil)
			for range measured(b) {
				out, err := p.call("tool_call", event)
				if err != nil {
					b.Fatal(err)
				}
				if err := checkAnswer(out); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("wazero-closeonctx", func(b *testing.B) {
		w := newPlain(b, wasmFile(b, "bench/policy"), true)
		for range measured(b) {
			ctx, cancel := context.WithTimeout(b.Context(), time.Second)
			if err := w.call(ctx, event); err != nil {
				b.Fatal(err)
			}
			cancel()
		}
	})
	b.Run("wazero", func(b *testing.B) { // nothing ends it
		w := newPlain(b, wasmFile(b, "bench/policy"), false)
		ctx := b.Context()
		for range measured(b) {
			if err := w.call(ctx, event); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("go-closure", func(b *testing.B) {
		policy := func(event []byte) ([]byte, error) {
			var e struct {
				Input struct {
					Command string `json:"command"`
				} `json:"input"`
			}
			if err := json.Unmarshal(event, &e); err != nil {
				return nil, err
			}
			if strings.Contains(e.Input.Command, "rm -rf /") {
				return []byte(`{"block":true,"reason":"that removes everything"}`), nil
			}
			return []byte(benchAnswer), nil
		}
		for range measured(b) {
			out, err := policy(event)
			if err != nil {
				b.Fatal(err)
			}
			if err := checkAnswer(out); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("process", func(b *testing.B) {
		if _, err := exec.LookPath("sh"); err != nil {
			b.Skip(err)
		}
		for range measured(b) {
			cmd := exec.CommandContext(b.Context(), "sh", "-c", `read -r event; case "$event" in *"rm -rf /"*) printf '{"block":true}';; *) printf "{}";; esac`)
			cmd.Stdin = bytes.NewReader(event)
			out, err := cmd.Output()
			if err != nil {
				b.Fatal(err)
			}
			if err := checkAnswer(out); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkToolCallCold runs single calls, with 64 MiB written in between so that no cache holds anything of the host or
// the guest. A real hook runs like that: once a model call.
func BenchmarkToolCallCold(b *testing.B) {
	event := []byte(benchEvent)
	junk := make([]byte, 64<<20)
	calls := map[string]func(b *testing.B) func() error{
		"weir": func(b *testing.B) func() error {
			g := benchGuest(b, "bench/policy", wasmhost.Limits{})
			return func() error { return callTool(b.Context(), g, event) }
		},
		"extism-timeout": func(b *testing.B) func() error {
			p := newExtism(b, wasmFile(b, "bench/policy_extism"), time.Second, nil)
			return func() error { _, err := p.call("tool_call", event); return err }
		},
	}
	for _, name := range []string{"weir", "extism-timeout"} {
		b.Run(name, func(b *testing.B) {
			call := calls[name](b)
			var took []time.Duration
			for b.Loop() {
				for i := range junk {
					junk[i]++
				}
				start := time.Now()
				err := call()
				took = append(took, time.Since(start))
				if err != nil {
					b.Fatal(err)
				}
			}
			report(b, took, "ns/call")
		})
	}
}

// report gives median, 90th percentile and maximum instead of the mean.
func report(b *testing.B, took []time.Duration, unit string) {
	slices.Sort(took)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-"+unit)
	b.ReportMetric(float64(took[len(took)*9/10].Nanoseconds()), "p90-"+unit)
	b.ReportMetric(float64(took[len(took)-1].Nanoseconds()), "max-"+unit)
}

// plain is wazero with nothing of ours: the two functions that the policy uses, looked up once.
type plain struct {
	in     []byte
	out    []byte
	failed bool
	fn     api.Function
	stack  [1]uint64
}

func newPlain(b *testing.B, wasm []byte, closeOnDone bool) *plain {
	b.Helper()
	w := &plain{}
	r := wazero.NewRuntimeWithConfig(b.Context(), wazero.NewRuntimeConfigCompiler().WithCloseOnContextDone(closeOnDone))
	b.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			b.Error(err)
		}
	})
	i32 := api.ValueTypeI32
	builder := r.NewHostModuleBuilder("extism:host/user")
	builder.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, m api.Module, s []uint64) {
		ptr, offset, n := uint32(s[0]), uint32(s[1]), uint32(s[2])
		s[0] = uint64(len(w.in))
		if n > 0 {
			mem, _ := m.Memory().Read(ptr, n)
			s[0] = uint64(copy(mem, w.in[offset:]))
		}
	}), []api.ValueType{i32, i32, i32}, []api.ValueType{i32}).Export("weir_input_read")
	builder.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, m api.Module, s []uint64) {
		mem, _ := m.Memory().Read(uint32(s[0]), uint32(s[1]))
		w.out = append(w.out[:0], mem...)
	}), []api.ValueType{i32, i32}, nil).Export("weir_output_write")
	builder.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(context.Context, api.Module, []uint64) {
		w.failed = true
	}), []api.ValueType{i32, i32}, nil).Export("weir_error")
	if _, err := builder.Instantiate(b.Context()); err != nil {
		b.Fatal(err)
	}
	mod, err := r.Instantiate(b.Context(), wasm)
	if err != nil {
		b.Fatal(err)
	}
	w.fn = mod.ExportedFunction("tool_call")
	return w
}

func (w *plain) call(ctx context.Context, event []byte) error {
	w.in, w.out = event, w.out[:0]
	if err := w.fn.CallWithStack(ctx, w.stack[:]); err != nil {
		return err
	}
	if w.failed || w.stack[0] != 0 {
		return errRC
	}
	return checkAnswer(w.out)
}

// BenchmarkDeadline measures how long after its deadline a guest ends that would never end by itself.
func BenchmarkDeadline(b *testing.B) {
	const timeout = 20 * time.Millisecond
	for _, name := range []string{"spin_br", "tree_calls", "spin_fill", "spin_memory", "flood_random", "tree_table_fill"} {
		b.Run(strings.ReplaceAll(name, "_", "-"), func(b *testing.B) {
			g := benchGuest(b, "hostile/"+name, wasmhost.Limits{Timeout: timeout, Fuel: 1 << 40, Quarantine: 1 << 30})
			var over []time.Duration
			for b.Loop() {
				stats, err := g.Call(b.Context(), "tool_call", wasmhost.Input{}, ignore)
				if !errors.Is(err, context.DeadlineExceeded) {
					b.Fatal(err)
				}
				over = append(over, stats.Duration-timeout)
			}
			report(b, over, "ns-late")
		})
	}
}

// BenchmarkGC measures how long a goroutine that calls runtime.GC waits for it: while nothing else runs (idle), while a
// loop in Go keeps a processor busy, and while a guest does its worst. A guest that could not be interrupted would make it
// wait until its deadline.
func BenchmarkGC(b *testing.B) {
	collect := func(b *testing.B) {
		var took []time.Duration
		for b.Loop() {
			start := time.Now()
			runtime.GC()
			took = append(took, time.Since(start))
		}
		report(b, took, "ns/GC")
	}
	b.Run("idle", collect)
	b.Run("go-loop", func(b *testing.B) { // Go's own code, which the runtime can interrupt anywhere
		var stop atomic.Bool
		done := make(chan int)
		go func() {
			n := 0
			for !stop.Load() {
				n++
			}
			done <- n
		}()
		collect(b)
		stop.Store(true)
		<-done
	})
	for _, name := range []string{"spin_br", "tree_calls", "spin_fill", "spin_copy", "spin_table_fill", "spin_memory", "flood_random", "flood_stdout_lines"} {
		b.Run(strings.ReplaceAll(name, "_", "-"), func(b *testing.B) {
			g := benchGuest(b, "hostile/"+name, wasmhost.Limits{Timeout: time.Hour, Fuel: 1 << 50, HostCalls: 1 << 31})
			ctx, cancel := context.WithCancel(b.Context())
			done := make(chan error)
			var running atomic.Bool
			go func() {
				running.Store(true)
				_, err := g.Call(ctx, "tool_call", wasmhost.Input{}, func([]byte) error { return io.EOF })
				done <- err
			}()
			for !running.Load() {
				runtime.Gosched()
			}
			collect(b)
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkInstantiate makes an instance and closes it.
func BenchmarkInstantiate(b *testing.B) {
	for name, file := range map[string]string{"weir": "bench/policy", "weir-extism-abi": "bench/policy_extism"} {
		b.Run(name, func(b *testing.B) {
			m := compile(b, newHost(b, wasmhost.Config{}), wasmFile(b, file))
			b.ReportAllocs()
			for b.Loop() {
				g, err := m.NewGuest(b.Context(), wasmhost.GuestConfig{Name: "policy", Entries: []string{"tool_call"}})
				if err != nil {
					b.Fatal(err)
				}
				if err := g.Close(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkStart makes a host and loads a module, as a command does when it starts: with what an earlier process left in the
// cache, and without a cache.
func BenchmarkStart(b *testing.B) {
	for name, dir := range map[string]string{"warm": b.TempDir(), "cold": ""} {
		b.Run(name, func(b *testing.B) {
			wasm := wasmFile(b, "bench/policy")
			b.ReportAllocs()
			for b.Loop() {
				h, err := wasmhost.New(b.Context(), wasmhost.Config{CacheDir: dir})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := h.Compile(b.Context(), "policy", wasm, wasmhost.Limits{}); err != nil {
					b.Fatal(err)
				}
				if err := h.Close(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

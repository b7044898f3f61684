package meter_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"weir/wasmhost/meter"
)

// buildC compiles the C guest, or skips when clang is missing.
func buildC(t testing.TB) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "guest.wasm")
	cmd := exec.Command("clang", "--target=wasm32", "-O2", "-nostdlib", "-fno-builtin", "-Wl,--no-entry", "-o", out, filepath.Join("testdata", "bench", "guest.c"))
	return build(t, cmd, out)
}

// buildGo compiles the Go guest.
func buildGo(t testing.TB) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "guest.wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-buildmode=c-shared", "-o", out, "./testdata/bench/goguest")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	return build(t, cmd, out)
}

func build(t testing.TB, cmd *exec.Cmd, out string) []byte {
	t.Helper()
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("no toolchain for this guest: %v\n%s", err, b)
	}
	wasm, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

// guest instantiates a module in a runtime of its own, instrumented or not.
func guest(t testing.TB, wasm []byte, metered bool) api.Module {
	t.Helper()
	ctx := context.Background()
	m := newMachine(ctx, t, api.CoreFeaturesV2, metered, true)
	// 0.2 ms, the slice of the host.
	m.slice = 400_000
	t.Cleanup(func() { m.close(ctx) })
	wasi_snapshot_preview1.MustInstantiate(ctx, m.rt)
	if metered {
		var err error
		if wasm, _, err = meter.Instrument(wasm, meter.Config{}); err != nil {
			t.Fatal(err)
		}
	}
	mod, err := m.rt.InstantiateWithConfig(ctx, wasm, wazero.NewModuleConfig().WithStartFunctions("_initialize"))
	if err != nil {
		t.Fatal(err)
	}
	return mod
}

// BenchmarkGuest runs real guests with and without the meter in turns; the metric "x" is the ratio of their times.
func BenchmarkGuest(b *testing.B) {
	for _, g := range []struct {
		name    string
		build   func(testing.TB) []byte
		exports map[string]uint64 // rounds that take about a millisecond
	}{
		{"c", buildC, map[string]uint64{"json": 5, "scan": 10, "fib": 8, "hash": 10, "sort": 4}},
		{"go", buildGo, map[string]uint64{"json": 1, "regex": 1, "sort": 2}},
	} {
		b.Run(g.name, func(b *testing.B) {
			wasm := g.build(b)
			plain, metered := guest(b, wasm, false), guest(b, wasm, true)
			for name, rounds := range g.exports {
				b.Run(name, func(b *testing.B) {
					compare(b, plain.ExportedFunction(name), metered.ExportedFunction(name), rounds)
				})
			}
		})
	}
}

// compare times both functions in turns and reports the ratio of the fastest runs, which noise disturbs least.
func compare(b *testing.B, plain, metered api.Function, rounds uint64) {
	b.Helper()
	ctx := context.Background()
	var best [2]float64
	var result [2]uint64
	for b.Loop() {
		for i, f := range []api.Function{plain, metered} {
			start := b.Elapsed()
			r, err := f.Call(ctx, rounds)
			if err != nil {
				b.Fatal(err)
			}
			if took := float64(b.Elapsed() - start); best[i] == 0 || took < best[i] {
				best[i] = took
			}
			result[i] = r[0]
		}
		if result[0] != result[1] {
			b.Fatalf("plain %d, metered %d", result[0], result[1])
		}
	}
	b.ReportMetric(best[0]/1e3, "plain-us")
	b.ReportMetric(best[1]/1e3, "metered-us")
	b.ReportMetric(best[1]/best[0], "x")
}

// BenchmarkInstrument measures the rewrite itself on a Go guest of about 3 MB, and how much longer it becomes.
func BenchmarkInstrument(b *testing.B) {
	wasm := buildGo(b)
	b.SetBytes(int64(len(wasm)))
	b.ReportAllocs()
	size := 0
	for b.Loop() {
		out, _, err := meter.Instrument(wasm, meter.Config{})
		if err != nil {
			b.Fatal(err)
		}
		size = len(out)
	}
	b.ReportMetric(float64(size)/float64(len(wasm)), "x-size")
}

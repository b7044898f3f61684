package wasmhost_test

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"weir/wasmhost"
)

// size gives the number of rounds: small enough for every run, or the full size when WEIR_FULL=1.
func size(small, full int) int {
	if os.Getenv("WEIR_FULL") == "1" {
		return full
	}
	return small
}

// footprint is what a process may leak.
type footprint struct {
	heap       uint64 // bytes that the collector cannot free
	goroutines int
	resident   int // bytes; 0 where it cannot be read
	mappings   int // of memory; 0 where it cannot be read
}

func measure(t *testing.T) footprint {
	t.Helper()
	runtime.GC()
	runtime.GC() // finalizers of the first run
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	f := footprint{heap: m.HeapAlloc, goroutines: runtime.NumGoroutine()}
	if statm, err := os.ReadFile("/proc/self/statm"); err == nil {
		pages, err := strconv.Atoi(string(bytes.Fields(statm)[1]))
		if err != nil {
			t.Fatal(err)
		}
		f.resident = pages * os.Getpagesize()
	}
	if maps, err := os.ReadFile("/proc/self/maps"); err == nil {
		f.mappings = bytes.Count(maps, []byte("\n"))
	}
	return f
}

// wantNoGrowth compares with an earlier state; slack is for what Go's runtime keeps for itself.
func (f footprint) wantNoGrowth(t *testing.T, before footprint) {
	t.Helper()
	t.Logf("heap %d → %d, resident %d → %d, goroutines %d → %d, mappings %d → %d", before.heap, f.heap, before.resident, f.resident, before.goroutines, f.goroutines, before.mappings, f.mappings)
	const slack = 8 << 20
	if f.heap > before.heap+slack {
		t.Errorf("the heap grew from %d to %d bytes", before.heap, f.heap)
	}
	if f.goroutines > before.goroutines {
		t.Errorf("%d goroutines, before %d", f.goroutines, before.goroutines)
	}
	if f.mappings > before.mappings+50 {
		t.Errorf("%d memory mappings, before %d", f.mappings, before.mappings)
	}
	// A guest of the suite that is not given back is 64 MiB; what Go keeps for itself varies by as much.
	if !underRace && before.resident > 0 && f.resident > before.resident+128<<20 {
		t.Errorf("resident memory grew from %d to %d bytes", before.resident, f.resident)
	}
}

func TestCallsLeakNothing(t *testing.T) {
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{})
	script := p.script(t, block("x"), op("weir_log", 1, 0, 4), op("weir_output_write", 0, 100))
	call := func(n int) {
		for range n {
			if _, err := p.Call(t.Context(), "call", wasmhost.Input{Bytes: script}, ignore); err != nil {
				t.Fatal(err)
			}
		}
	}
	call(1000)
	before := measure(t)
	call(size(200_000, 1_000_000))
	measure(t).wantNoGrowth(t, before)
}

// TestGuestsLeakNothing makes and closes guests, half of them after a fault, some of them in their start function.
func TestGuestsLeakNothing(t *testing.T) {
	h := newHost(t, wasmhost.Config{})
	m, failing, slow := compile(t, h, wasmFile(t, "wat/probe")), compile(t, h, wasmFile(t, "wat/start_fails")), compile(t, h, wasmFile(t, "wat/slow"))
	p := probeOn(t, h, wasmhost.GuestConfig{})
	good, bad := p.script(t, op("fill", 0, 1, 4096), block("x")), p.script(t, op("alloc", 1<<20), op("grow", 16), op("trap"))
	cycle := func(n int) {
		for i := range n {
			g, err := m.NewGuest(t.Context(), wasmhost.GuestConfig{Name: "x", Entries: []string{"call"}, Capabilities: grants(), Limits: wasmhost.Limits{Timeout: time.Minute}})
			if err != nil {
				t.Fatal(err)
			}
			input := good
			if i%2 == 0 {
				input = bad
			}
			if _, err := g.Call(t.Context(), "call", wasmhost.Input{Bytes: input}, ignore); (err != nil) != (i%2 == 0) {
				t.Fatal(err)
			}
			if err := g.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if i%10 > 0 {
				continue
			}
			if _, err := failing.NewGuest(t.Context(), wasmhost.GuestConfig{Name: "x", Entries: []string{"call"}}); err == nil {
				t.Fatal("it started")
			}
			if i%100 > 0 {
				continue
			}
			s, err := slow.NewGuest(t.Context(), wasmhost.GuestConfig{Name: "x", Entries: []string{"call"}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Call(t.Context(), "call", wasmhost.Input{Bytes: []byte("trap")}, ignore); err == nil {
				t.Fatal("it did not trap")
			}
			if err := s.Close(t.Context()); err != nil { // with its spare instance
				t.Fatal(err)
			}
		}
	}
	cycle(100)
	before := measure(t)
	cycle(size(2000, 10_000))
	measure(t).wantNoGrowth(t, before)
}

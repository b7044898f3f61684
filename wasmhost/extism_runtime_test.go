package wasmhost_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"weir/wasmhost"
)

// onExtism makes a guest that extism/go-sdk runs.
func onExtism(t testing.TB, h *wasmhost.Host, wasm []byte, cfg wasmhost.GuestConfig) *wasmhost.Guest {
	t.Helper()
	m, err := h.CompileExtism(t.Context(), cfg.Name, wasm, cfg.Limits)
	if err != nil {
		t.Fatal(err)
	}
	if !m.Extism() {
		t.Error("the module does not say which runtime it is for")
	}
	g, err := m.NewGuest(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestExtismRuntimeRefuses: what go-sdk cannot serve, or only without our limits, is refused in plain words.
func TestExtismRuntimeRefuses(t *testing.T) {
	h := newHost(t, wasmhost.Config{})
	for _, test := range []struct{ file, want string }{
		{"wat/describes", `the module exports weir_describe, so it is a weir extension, which weir's own runtime has to run; leave out runtime = "extism"`},
		{"bench/policy", "cannot serve functions that take pointers"},
		{"hostile/import_http_not_granted", "own HTTP client does not keep to what is granted here"},
		{"hostile/import_reset", "no such function here"},
		{"hostile/table_declared", "elements"},
	} {
		_, err := h.CompileExtism(t.Context(), "plain", wasmFile(t, test.file), wasmhost.Limits{})
		if wantFault(t, err, wasmhost.KindLoad); !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "plain: load: load: runtime extism: ") {
			t.Errorf("%s: %v, want %q in it", test.file, err, test.want)
		}
	}
}

// TestExtismRuntimeHostileGuests runs those of the hostile guests that are plain Extism modules: on go-sdk too each must end in
// the same way.
func TestExtismRuntimeHostileGuests(t *testing.T) {
	if testing.Short() {
		t.Skip("go-sdk's kernel takes seconds for some")
	}
	// go-sdk's kernel is less strict with offsets, fails otherwise where memory is refused, and takes longer. A fault it is all the same.
	other := map[string]string{
		"kernel_alloc_all": "output", "kernel_alloc_negative": "output", "kernel_alloc_blocks": "deadline", "kernel_output_foreign": "output",
		"kernel_output_before": "output", "kernel_output_freed": "output", "kernel_output_null": "output", "kernel_output_negative": "output",
		"flood_var": "deadline", "flood_var_large": "host",
	}
	h := newHost(t, wasmhost.Config{})
	ran := 0
	for _, g := range hostileGuests() {
		wasm := wasmFile(t, "hostile/"+g.name)
		if _, err := h.CompileExtism(t.Context(), "hostile", wasm, hostileLimits()); err != nil && (strings.Contains(err.Error(), "weir extension") || strings.Contains(err.Error(), "take pointers") || strings.Contains(err.Error(), "HTTP client")) {
			continue
		}
		t.Run(g.name, func(t *testing.T) {
			want := g.want
			if w, ok := other[g.name]; ok {
				want = w
			}
			late := hostile(t, h.CompileExtism, false, wasm, want)
			if late > slack {
				late = min(late, hostile(t, h.CompileExtism, false, wasm, want))
			}
			if late > slack {
				t.Errorf("it ended %v after its deadline", late)
			}
		})
		ran++
	}
	if ran < 50 {
		t.Errorf("only %d guests were run", ran)
	}
}

// TestExtismRuntimeKeepsTheRules: fuel is the same for the same calls, faults in a row end in quarantine, a cancelled call ends, and nothing
// is left of guests that were closed.
func TestExtismRuntimeKeepsTheRules(t *testing.T) {
	h := newHost(t, wasmhost.Config{})
	cfg := wasmhost.GuestConfig{Name: "env", Entries: []string{"input", "trap", "vars"}}
	wasm := wasmFile(t, "wat/env")
	call := func(g *wasmhost.Guest, export string) (wasmhost.Stats, error) {
		return g.Call(t.Context(), export, wasmhost.Input{Bytes: []byte("0123456789abcdef")}, ignore)
	}
	var fuel []uint64
	for range 2 {
		g := onExtism(t, h, wasm, cfg)
		for range 3 {
			stats, err := call(g, "input")
			if err != nil || stats.Fuel == 0 || stats.Memory == 0 {
				t.Fatalf("%+v %v", stats, err)
			}
			fuel = append(fuel, stats.Fuel)
		}
		for range 3 {
			_, err := call(g, "trap")
			wantFault(t, err, wasmhost.KindTrap)
		}
		_, err := call(g, "input")
		if wantFault(t, err, wasmhost.KindHost); !errors.Is(err, wasmhost.ErrQuarantined) {
			t.Error(err)
		}
	}
	for _, f := range fuel[1:] {
		if f != fuel[0] {
			t.Errorf("fuel of the same call: %v", fuel)
			break
		}
	}

	spin := onExtism(t, h, wasmFile(t, "hostile/spin_br"), wasmhost.GuestConfig{Name: "spin", Entries: []string{"tool_call"}, Limits: wasmhost.Limits{Fuel: 1 << 40, Timeout: time.Minute}})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := spin.Call(ctx, "tool_call", wasmhost.Input{}, ignore)
	if wantFault(t, err, wasmhost.KindDeadline); time.Since(start) > slack {
		t.Errorf("cancelled after 50ms, it ended after %v", time.Since(start))
	}

	cycle := func(n int) {
		for range n {
			g := onExtism(t, h, wasm, cfg)
			if _, err := call(g, "vars"); err != nil {
				t.Fatal(err)
			}
			_, err := call(g, "trap")
			wantFault(t, err, wasmhost.KindTrap)
			if err := g.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	cycle(20)
	before := measure(t)
	cycle(size(200, 2000))
	measure(t).wantNoGrowth(t, before)
}

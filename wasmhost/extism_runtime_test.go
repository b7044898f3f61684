package wasmhost_test

import (
	"strings"
	"testing"

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

package meter_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"weir/wasmhost/meter"
	"weir/wasmhost/screen"
)

// FuzzSame changes bytes of modules of the core suite. Whatever remains valid must give the same results and traps with and without the meter, on both
// engines, and the same fuel on both.
func FuzzSame(f *testing.F) {
	for _, m := range suiteModules(f) {
		f.Add(m, uint64(1))
	}
	own, err := filepath.Glob(filepath.Join("testdata", "wat", "*.wasm"))
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range own {
		if filepath.Base(name) != "endless.wasm" {
			f.Add(readModule(f, filepath.Base(name)), uint64(2))
		}
	}
	f.Fuzz(func(t *testing.T, wasm []byte, seed uint64) {
		if len(wasm) > 1<<16 || screen.Check(wasm, screen.Limits{CompileCost: 500_000}) != nil {
			return
		}
		sameEverywhere(t, wasm, seed)
	})
}

// suiteModules returns the modules of the second version of the core suite.
func suiteModules(t testing.TB) [][]byte {
	files, err := filepath.Glob(filepath.Join(suiteDir(t), "*", "testdata", "*.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) < 1<<16 {
			out = append(out, b)
		}
	}
	return out
}

// TestMutations runs a fixed number of mutations without the fuzzer.
func TestMutations(t *testing.T) {
	modules := suiteModules(t)
	rng := rand.New(rand.NewPCG(1, 2))
	n, valid := 3_000, 0
	if testing.Short() {
		n = 300
	}
	for range n {
		wasm := slices.Clone(modules[rng.IntN(len(modules))])
		for range rng.IntN(4) {
			if len(wasm) > 8 {
				wasm[8+rng.IntN(len(wasm)-8)] ^= byte(1 << rng.IntN(8))
			}
		}
		if screen.Check(wasm, screen.Limits{CompileCost: 500_000}) == nil && sameEverywhere(t, wasm, rng.Uint64()) {
			valid++
		}
	}
	if valid < n/20 {
		t.Errorf("only %d of %d mutated modules could be run", valid, n)
	}
	t.Logf("%d of %d mutated modules could be run", valid, n)
}

// trial is what one way of running a module showed.
type trial struct {
	Outcomes []string
	Results  [][]uint64
	Fuel     int64
}

// sameEverywhere runs a module in four ways and compares. It reports whether the module could be instantiated.
func sameEverywhere(t *testing.T, wasm []byte, seed uint64) bool {
	t.Helper()
	if bytes.Contains(wasm, []byte{0xfc, 15}) {
		// Without the meter nothing stops table.grow from asking for 32 GB, which ends the process.
		return false
	}
	var trials []trial
	for _, compiler := range []bool{false, true} {
		for _, metered := range []bool{true, false} {
			tr, ok := attempt(t, wasm, seed, metered, compiler)
			if !ok {
				return false
			}
			trials = append(trials, tr)
		}
	}
	meteredFuel := []int64{trials[0].Fuel, trials[2].Fuel}
	for i := range trials {
		trials[i].Fuel = 0
		if d := cmp.Diff(trials[0], trials[i]); d != "" {
			t.Errorf("trial %d differs from trial 0 (-interpreter and metered, +other): %s\n%x", i, d, wasm)
		}
	}
	// The interpreter overflows at its own depth.
	if meteredFuel[0] != meteredFuel[1] && !slices.Contains(trials[0].Outcomes, "wasm error: stack overflow") {
		t.Errorf("fuel differs: interpreter %d, compiler %d\n%x", meteredFuel[0], meteredFuel[1], wasm)
	}
	return true
}

// attempt instantiates a module and calls each of its exported functions once. It reports false for a module that is not valid, imports something unknown, or
// uses up its fuel (the plain run would not end).
func attempt(t *testing.T, wasm []byte, seed uint64, metered, compiler bool) (trial, bool) {
	t.Helper()
	ctx := context.Background()
	var tr trial
	m := newLimitedMachine(ctx, t, api.CoreFeaturesV2|experimental.CoreFeaturesTailCall, metered, compiler, 64)
	defer m.close(ctx)
	// Small, so that slices end everywhere; the limit is below what the plain run can do in no time.
	m.slice, m.limit = 100, 100_000
	compiled, err := m.check.CompileModule(ctx, wasm)
	if err != nil {
		return tr, false
	}
	if len(compiled.ImportedFunctions())+len(compiled.ImportedMemories()) > 0 {
		return tr, false
	}
	mod, err := m.instantiate(ctx, wasm, "")
	switch {
	case errors.Is(err, errRefused):
		t.Fatalf("refused a valid module: %v\n%x", err, wasm)
	case errors.Is(err, errFuel):
		return tr, false
	case err != nil:
		tr.Outcomes = []string{classify(err)}
		return tr, metered || classify(err) != "other error"
	}
	rng := rand.New(rand.NewPCG(seed, 7))
	definitions := mod.ExportedFunctionDefinitions()
	var names []string
	for name := range definitions {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		d := definitions[name]
		var args []uint64
		for _, p := range d.ParamTypes() {
			switch p {
			case api.ValueTypeI32:
				// Small or enormous, so that growing by it either costs little or fails.
				v := rng.Uint32N(64)
				if rng.IntN(3) == 0 {
					v |= 0xffffff00
				}
				args = append(args, uint64(v))
			case api.ValueTypeF32:
				args = append(args, uint64(rng.Uint32()))
			case api.ValueTypeI64, api.ValueTypeF64:
				args = append(args, rng.Uint64()>>rng.IntN(64))
			default:
				args = append(args, 0)
				if p == 0x7b {
					args = append(args, 0)
				}
			}
		}
		m.reset()
		results, err := mod.ExportedFunction(name).Call(ctx, args...)
		if errors.Is(err, errFuel) {
			return tr, false
		}
		slot := 0
		for _, r := range d.ResultTypes() {
			if err != nil {
				break
			}
			switch r {
			case api.ValueTypeI32, api.ValueTypeF32:
				results[slot] &= 0xffffffff // the rest is not defined
			case 0x70:
				results[slot] = min(results[slot], 1) // an address or null
			case 0x7b:
				slot++
			}
			slot++
		}
		if len(results) == 0 {
			results = nil
		}
		tr.Outcomes = append(tr.Outcomes, classify(err))
		tr.Results = append(tr.Results, results)
	}
	if metered {
		tr.Fuel = m.used()
	}
	return tr, true
}

// FuzzInstrument feeds bytes that nobody has validated: an error or an output, never a panic, and never much more memory than the input.
func FuzzInstrument(f *testing.F) {
	for _, m := range suiteModules(f) {
		f.Add(m)
	}
	f.Fuzz(func(t *testing.T, wasm []byte) {
		out, _, err := meter.Instrument(wasm, meter.Config{})
		var e *meter.Error
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("an error of type %T: %v", err, err)
		}
		if len(out) > 64*len(wasm)+4096 {
			t.Fatalf("%d bytes became %d", len(wasm), len(out))
		}
	})
}

package screen_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/wasmhost/screen"
)

// TestSummarize reads a module with one of everything; its source lies beside it.
func TestSummarize(t *testing.T) {
	wasm, err := os.ReadFile(filepath.Join("testdata", "everything.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := screen.Summarize(wasm)
	if err != nil {
		t.Fatal(err)
	}
	if got.CompileCost <= 0 || got.FunctionCost <= 0 {
		t.Errorf("no cost: %+v", got)
	}
	if both, err := screen.Screen(wasm, screen.Limits{}); err != nil || !cmp.Equal(both, got) {
		t.Errorf("Screen: %v, %s", err, cmp.Diff(got, both))
	}
	if _, err := screen.Screen(wasm, screen.Limits{MemoryBytes: 1}); err == nil || err.Error() != screen.Check(wasm, screen.Limits{MemoryBytes: 1}).Error() {
		t.Errorf("Screen refuses otherwise than Check: %v", err)
	}
	got.CompileCost, got.FunctionCost = 0, 0
	want := screen.Summary{
		Imports: []screen.Import{
			{Module: "env", Name: "f", Kind: screen.Function, Type: "(i32, i64) -> f32", Params: []byte{0x7f, 0x7e}, Results: []byte{0x7d}},
			{Module: "env", Name: "none", Kind: screen.Function, Type: "()", Params: []byte{}, Results: []byte{}},
			{Module: "env", Name: "t", Kind: screen.Table, Type: "externref 1..16"},
			{Module: "env", Name: "g", Kind: screen.Global, Type: "mut i64"},
		},
		Exports: []screen.Export{
			{Name: "_start", Kind: screen.Function, Type: "()", Params: []byte{}, Results: []byte{}},
			{Name: "two", Kind: screen.Function, Type: "(f64) -> (i32, v128)", Params: []byte{0x7c}, Results: []byte{0x7f, 0x7b}},
			{Name: "again", Kind: screen.Function, Type: "(i32, i64) -> f32", Params: []byte{0x7f, 0x7e}, Results: []byte{0x7d}},
			{Name: "memory", Kind: screen.Memory},
			{Name: "table", Kind: screen.Table},
			{Name: "global", Kind: screen.Global},
		},
		Memory: screen.Range{Min: 2, Max: -1}, HasMemory: true,
		Tables: []screen.Range{{Min: 1, Max: 16}, {Min: 3, Max: -1}},
		Start:  true, Command: true, Functions: 2, CustomSections: []string{"name"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if screen.Component(wasm) || !screen.Component([]byte("\x00asm\x0d\x00\x01\x00")) {
		t.Error("components are not told apart")
	}
}

// FuzzCheck looks for panics and for errors of another type, and compares the two readers: what Check lets through, Summarize can read.
func FuzzCheck(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.wasm"))
	if err != nil {
		f.Fatal(err)
	}
	more, err := filepath.Glob(filepath.Join("..", "meter", "testdata", "wat", "*.wasm"))
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range append(files, more...) {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add(nestedLoops(5, 3))
	f.Add(dispatch(5, 3))
	f.Fuzz(func(t *testing.T, wasm []byte) {
		err := screen.Check(wasm, screen.Limits{})
		var e *screen.Error
		if err != nil && (!errors.As(err, &e) || e.Offset < 0 || e.Offset > len(wasm) || e.Reason == "") {
			t.Fatalf("bad error %#v", err)
		}
		s, serr := screen.Summarize(wasm)
		if err == nil && serr != nil {
			t.Fatalf("checked but not summarised: %v", serr)
		}
		if len(s.Imports)+len(s.Exports)+len(s.Tables)+len(s.CustomSections) > len(wasm) {
			t.Fatalf("%d bytes hold too much", len(wasm))
		}
	})
}

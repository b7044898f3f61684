package meter_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"weir/wasmhost/internal/wasmbin"
	"weir/wasmhost/meter"
)

// readModule returns a module whose source lies beside it: wat2wasm --enable-tail-call --debug-names testdata/wat/NAME.wat -o testdata/wat/NAME.wasm.
func readModule(t testing.TB, name string) []byte {
	t.Helper()
	wasm, err := os.ReadFile(filepath.Join("testdata", "wat", name))
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

// instance is an instrumented module and the machine it runs on.
type instance struct {
	*machine
	api.Module
	info meter.Info
}

func instrumented(t testing.TB, wasm []byte, compiler bool) *instance {
	t.Helper()
	ctx := context.Background()
	m := newMachine(ctx, t, api.CoreFeaturesV2|experimental.CoreFeaturesTailCall, true, compiler)
	t.Cleanup(func() { m.close(ctx) })
	mod, err := m.instantiate(ctx, wasm, "")
	if err != nil {
		t.Fatal(err)
	}
	return &instance{m, mod, m.loaded[0].info}
}

// cost calls a function and returns what it charged.
func (i *instance) cost(t testing.TB, name string, args ...uint64) int64 {
	t.Helper()
	before := i.used()
	if _, err := i.ExportedFunction(name).Call(context.Background(), args...); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return i.used() - before
}

// TestCosts checks what functions of known content are charged, on both engines and with slices of any size.
func TestCosts(t *testing.T) {
	const entry, call, slow = 3, 3, 8 // as in the price list: entry, call, division
	cases := []struct {
		name string
		args []uint64
		want int64
	}{
		{"empty", nil, entry},
		{"four", nil, entry + 4},
		{"divide", []uint64{1}, entry + 2 + slow},
		{"call", nil, entry + call + entry},
		{"small_if", []uint64{0}, entry + 1 + 1 + 2}, // the arm is charged though it is skipped
		{"small_if", []uint64{1}, entry + 1 + 1 + 2},
		{"large_if", []uint64{0}, entry + 1 + 1}, // the arm has a site of its own
		{"large_if", []uint64{1}, entry + 1 + 1 + 20},
		{"after_branch", []uint64{1}, entry + 2}, // what is skipped costs nothing
		{"after_branch", []uint64{0}, entry + 2 + 20},
		{"loop", []uint64{1}, entry + 1*(1+5)},
		{"loop", []uint64{1000}, entry + 1000*(1+5)},
		{"fill", []uint64{0}, entry + 3 + 8 + 0},
		{"fill", []uint64{4096}, entry + 3 + 8 + 512},
		{"fill", []uint64{3 << 20}, entry + 3 + 8 + 3<<17},
		{"grow", []uint64{0}, entry + 2 + 64},
		{"grow", []uint64{3}, entry + 2 + 64 + 3*1024},
		{"table_fill", []uint64{5}, entry + 3 + 8 + 5},
	}
	wasm := readModule(t, "costs.wasm")
	for _, compiler := range []bool{true, false} {
		for _, slice := range []int64{7, 1 << 20} {
			for _, c := range cases {
				i := instrumented(t, wasm, compiler)
				i.slice = slice
				if got := i.cost(t, c.name, c.args...); got != c.want {
					t.Errorf("compiler %v, slice %d: %s(%v) cost %d, want %d", compiler, slice, c.name, c.args, got, c.want)
				}
			}
		}
	}
}

// TestTurns leaves for the host in the middle of loops without calls, at any turn: the results are right and the charge is the same.
func TestTurns(t *testing.T) {
	wasm := readModule(t, "turns.wasm")
	for _, compiler := range []bool{true, false} {
		for _, name := range []string{"through", "branch", "table", "return", "counted"} {
			var cost int64
			for _, slice := range []int64{1 << 20, 1, 7, 40, 1000} {
				i := instrumented(t, wasm, compiler)
				i.slice = slice
				got, err := i.ExportedFunction(name).Call(context.Background(), 100)
				if err != nil || got[0] != 5050 {
					t.Errorf("compiler %v, slice %d: %s: %v %v, want 5050", compiler, slice, name, got, err)
				}
				if cost == 0 {
					cost = i.used()
				}
				if used := i.used(); used != cost {
					t.Errorf("compiler %v, slice %d: %s cost %d, want %d", compiler, slice, name, used, cost)
				}
			}
		}
	}
}

// TestInterrupts ends guests that never return, in every way of going on for ever.
func TestInterrupts(t *testing.T) {
	for _, name := range []string{"spin", "branch_table", "inner", "tree", "indirect", "fills", "copies", "tables", "tail", "tail_indirect", "arms"} {
		for _, compiler := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/%v", name, compiler), func(t *testing.T) {
				i := instrumented(t, readModule(t, "endless.wasm"), compiler)
				i.slice, i.limit = 10_000, 5_000_000
				_, err := i.ExportedFunction(name).Call(context.Background())
				if !errors.Is(err, errFuel) {
					t.Errorf("got %v, want the fuel to be used up", err)
				}
			})
		}
	}
}

// TestBulk compares bulk operations around the size of a piece, overlapping and out of bounds, with the original ones: result, trap, and all of the memory.
func TestBulk(t *testing.T) {
	const page, piece, size = 1 << 16, meter.BulkPiece, 64 << 16
	wasm := bulkModule()
	cases := []struct {
		name      string
		dst, b, n uint64
	}{
		{"fill", 0, 7, 0},
		{"fill", 5, 7, 100},
		{"fill", 5, 7, piece},
		{"fill", 5, 7, piece + 1},
		{"fill", 5, 7, 3*piece + 17},
		{"fill", size, 7, 0},
		{"fill", size + 1, 7, 0},
		{"fill", size - 10, 7, 11},
		{"fill", 100, 7, size - 99},
		{"fill", 0, 7, size},
		{"fill", 1 << 31, 7, 1 << 31},
		{"fill", 0xffffffff, 7, 0xffffffff},
		{"copy", 3, 50, 100},
		{"copy", 50, 3, 100},
		{"copy", 1000, 3, 2*piece + 5},
		{"copy", 3, 1000, 2*piece + 5},
		{"copy", 3, 3, 2*piece + 5},
		{"copy", piece, 0, 3 * piece},
		{"copy", 0, piece, 3 * piece},
		{"copy", 1, 0, size - 1},
		{"copy", 1, 0, size},
		{"copy", 0, 1, size},
		{"copy", size - 1, 0, 2},
		{"copy", 0, size, 1},
		{"copy", 0xffffffff, 1, piece + 1},
		{"copy", 1, 0xffffffff, piece + 1},
		{"init", 10, 0, 5},
		{"init", 10, 2, 3},
		{"init", 10, 2, 4},
		{"init", size - 2, 0, 3},
		{"init", 0, 0, piece + 1},
		{"init", 0, 0xffffffff, 0xffffffff},
		{"init_large", 10, 0, 2*piece + 10},
		{"init_large", 10, 1, 2*piece + 10},
		{"init_large", size - 5, 0, piece + 100},
		{"init_large", 7, 5, 2*piece + 5},
	}
	for _, compiler := range []bool{true, false} {
		for _, c := range cases {
			t.Run(fmt.Sprintf("%v/%s_%d_%d_%d", compiler, c.name, c.dst, c.b, c.n), func(t *testing.T) {
				ctx := context.Background()
				m := newMachine(ctx, t, api.CoreFeaturesV2, false, compiler)
				defer m.close(ctx)
				plain, err := m.instantiate(ctx, wasm, "")
				if err != nil {
					t.Fatal(err)
				}
				metered := instrumented(t, wasm, compiler)
				metered.slice = 1000
				_, want := plain.ExportedFunction(c.name).Call(ctx, c.dst, c.b, c.n)
				_, got := metered.ExportedFunction(c.name).Call(ctx, c.dst, c.b, c.n)
				if classify(got) != classify(want) {
					t.Errorf("metered: %v, plain: %v", got, want)
				}
				a, _ := plain.Memory().Read(0, size)
				b, _ := metered.Memory().Read(0, size)
				if !bytes.Equal(a, b) {
					t.Error("the memories differ")
				}
				if want == nil && c.n > 2*page && c.name != "init" && metered.used() < int64(c.n/8) {
					t.Errorf("%d units for %d bytes", metered.used(), c.n)
				}
			})
		}
	}
}

// bulkModule returns a module of 64 pages that exports each bulk operation. Its second data segment is longer than two pieces, which is why
// it is made here and not kept as a file.
func bulkModule() []byte {
	large := make([]byte, 2*meter.BulkPiece+10)
	for i := range large {
		large[i] = byte(i * 7 >> 3)
	}
	out := []byte("\x00asm\x01\x00\x00\x00")
	out = wasmbin.AppendSection(out, wasmbin.Type, []byte{1, 0x60, 3, 0x7f, 0x7f, 0x7f, 0})
	out = wasmbin.AppendSection(out, wasmbin.Function, []byte{4, 0, 0, 0, 0})
	out = wasmbin.AppendSection(out, wasmbin.Memory, []byte{1, 0, 64})
	exports := append(wasmbin.AppendName([]byte{5}, "memory"), 2, 0)
	for i, name := range []string{"fill", "copy", "init", "init_large"} {
		exports = append(wasmbin.AppendName(exports, name), 0, byte(i))
	}
	out = wasmbin.AppendSection(out, wasmbin.Export, exports)
	out = wasmbin.AppendSection(out, wasmbin.DataCount, []byte{3})
	code := []byte{4}
	for _, op := range [][]byte{{11, 0}, {10, 0, 0}, {8, 0, 0}, {8, 1, 0}} {
		body := append([]byte{0, 0x20, 0, 0x20, 1, 0x20, 2, 0xfc}, op...)
		code = append(append(code, byte(len(body)+1)), append(body, 0x0b)...)
	}
	out = wasmbin.AppendSection(out, wasmbin.Code, code)
	data := append([]byte{3, 1, 5}, "hello"...)
	data = append(wasmbin.AppendU32(append(data, 1), uint32(len(large))), large...)
	// An active segment, so that there is something to copy.
	data = append(data, 0, 0x41, 0, 0x0b)
	data = append(wasmbin.AppendU32(data, uint32(len(large))), large...)
	return wasmbin.AppendSection(out, wasmbin.Data, data)
}

// TestIndexes runs a module that names functions in every place where a module can: imports, exports, all kinds of element segment, start, globals, tables.
func TestIndexes(t *testing.T) {
	wasm := readModule(t, "indexes.wasm")
	ctx := context.Background()
	var results [2][]uint64
	for k, metered := range []bool{false, true} {
		m := newMachine(ctx, t, api.CoreFeaturesV2, metered, true)
		defer m.close(ctx)
		if _, err := m.rt.NewHostModuleBuilder("env").NewFunctionBuilder().WithFunc(func(x int32) int32 { return x * 3 }).Export("triple").Instantiate(ctx); err != nil {
			t.Fatal(err)
		}
		mod, err := m.instantiate(ctx, wasm, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"started", "by_import", "by_global", "legacy", "passive", "explicit", "declared", "expressions"} {
			r, err := mod.ExportedFunction(name).Call(ctx)
			if err != nil {
				t.Fatalf("metered %v: %s: %v", metered, name, err)
			}
			results[k] = append(results[k], r...)
		}
	}
	if d := cmp.Diff(results[0], results[1]); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]uint64{1, 21, 10, 11, 12, 13, 14, 15}, results[0]); d != "" {
		t.Errorf("the test module itself: %s", d)
	}
}

// TestNames looks at a stack trace, which must name the guest's own function.
func TestNames(t *testing.T) {
	i := instrumented(t, readModule(t, "names.wasm"), true)
	_, err := i.ExportedFunction("f").Call(context.Background())
	if err == nil || !strings.Contains(err.Error(), "culprit") {
		t.Errorf("the trace does not name the function: %v", err)
	}
}

// TestGuestOwnsNames instruments a module that already exports the meter's names.
func TestGuestOwnsNames(t *testing.T) {
	i := instrumented(t, readModule(t, "taken.wasm"), true)
	if i.info.FuelGlobal == "weir:fuel" || i.info.DepthGlobal == "weir:depth" || i.info.FuelGlobal == i.info.DepthGlobal {
		t.Errorf("names %q and %q", i.info.FuelGlobal, i.info.DepthGlobal)
	}
	if got := i.ExportedGlobal("weir:fuel").Get(); got != 42 {
		t.Errorf("the guest's own export is %d", got)
	}
	r, err := i.ExportedFunction("weir:depth").Call(context.Background())
	if err != nil || r[0] != 43 {
		t.Errorf("the guest's own function: %d, %v", r, err)
	}
}

// TestTableLimit checks that a table cannot grow beyond the configured size.
func TestTableLimit(t *testing.T) {
	wasm, _, err := meter.Instrument(readModule(t, "tables.wasm"), meter.Config{TableElements: 100})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	m := newMachine(ctx, t, api.CoreFeaturesV2, true, true)
	defer m.close(ctx)
	mod, err := m.rt.InstantiateWithConfig(ctx, wasm, wazero.NewModuleConfig())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		by   uint64
		want int32
	}{{91, -1}, {90, 10}, {1, -1}} {
		r, err := mod.ExportedFunction("grow").Call(ctx, c.by)
		if err != nil || int32(r[0]) != c.want {
			t.Errorf("growing by %d: %d, %v, want %d", c.by, int32(r[0]), err, c.want)
		}
	}
}

// TestRefusals checks the offset and the reason of what is not supported.
func TestRefusals(t *testing.T) {
	const header = "\x00asm\x01\x00\x00\x00"
	one := func(code string) string {
		return header + "\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x0a" + string([]byte{byte(len(code) + 4), 1, byte(len(code) + 2), 0}) + code + "\x0b"
	}
	for _, c := range []struct {
		name, wasm string
		offset     int
		reason     string
	}{
		{"empty", "", 0, "not a WebAssembly module"},
		{"component", "\x00asm\x0d\x00\x01\x00", 4, "component"},
		{"threads", one("\x01\xfe\x00"), 24, "threads"},
		{"exceptions", one("\x06\x40"), 23, "exception handling"},
		{"typed references", one("\x14\x00"), 23, "typed function references"},
		{"relaxed", one("\xfd\x80\x02"), 23, "relaxed"},
		{"memory 1", one("\x3f\x01"), 24, "memory index 1"},
		{"tags", header + "\x0d\x00", 10, "exception handling"},
		{"memory64", header + "\x05\x03\x01\x04\x01", 11, "64-bit"},
		{"two memories", header + "\x05\x05\x02\x00\x01\x00\x01", 15, "2 memories"},
		{"reserved", header + "\x01\x04\x01\x60\x00\x00\x02\x10\x01\x0aweir:meter\x01x\x00\x00", 17, "reserved"},
		{"unknown function", one("\x10\x07"), 23, "unknown function 7"},
		{"cut", header + "\x01\x04\x01\x60", 9, "4 section bytes claimed"},
		{"many types", header + "\x01\x05\xff\xff\xff\xff\x0f", 10, "4294967295 types claimed, 0 bytes left"},
	} {
		_, _, err := meter.Instrument([]byte(c.wasm), meter.Config{})
		var e *meter.Error
		if !errors.As(err, &e) || e.Offset != c.offset || !strings.Contains(e.Reason, c.reason) {
			t.Errorf("%s: %v, want %q at %#x", c.name, err, c.reason, c.offset)
		}
	}
	if _, _, err := meter.Instrument([]byte(header), meter.Config{Depth: -1}); err == nil {
		t.Error("a negative depth was accepted")
	}
}

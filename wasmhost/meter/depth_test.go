package meter_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"weir/wasmhost/internal/wasmbin"
	"weir/wasmhost/meter"
)

// oneFunction returns a module with one memory page and one exported function "f" of the given type and body (locals and the last end included).
func oneFunction(params, results, body []byte) []byte {
	vector := func(b []byte) []byte { return append(wasmbin.AppendU32(nil, uint32(len(b))), b...) }
	typ := append([]byte{1, 0x60}, vector(params)...)
	out := []byte("\x00asm\x01\x00\x00\x00")
	out = wasmbin.AppendSection(out, wasmbin.Type, append(typ, vector(results)...))
	out = wasmbin.AppendSection(out, wasmbin.Function, []byte{1, 0})
	out = wasmbin.AppendSection(out, wasmbin.Memory, []byte{1, 0, 1})
	out = wasmbin.AppendSection(out, wasmbin.Export, append(wasmbin.AppendName([]byte{1}, "f"), 0, 0))
	return wasmbin.AppendSection(out, wasmbin.Code, append([]byte{1}, vector(body)...))
}

// TestDepth recurses without end in functions of many shapes. The meter's own limit must end it, at most when the native stack of wazero, which reports
// an overflow by itself between 50 and 100 MB, is full.
func TestDepth(t *testing.T) {
	const i32 = 0x7f
	load := func(b []byte, i int) []byte {
		return wasmbin.AppendU32(append(b, 0x41, 0, 0x28, 2), uint32(i%1000)*4)
	}
	bodies := map[string][]byte{
		"no locals": {0, 0x10, 0, 0x0b},
	}
	for _, n := range []int{1, 10, 100, 1_000, 5_000} {
		// Each local is written from memory before the call and added up after it, so all of them wait for the call.
		b := append(wasmbin.AppendU32([]byte{1}, uint32(n)), i32)
		for i := range n {
			b = wasmbin.AppendU32(append(load(b, i), 0x21), uint32(i))
		}
		b = append(b, 0x10, 0, 0x41, 0)
		for i := range n {
			b = append(wasmbin.AppendU32(append(b, 0x20), uint32(i)), 0x6a)
		}
		bodies[fmt.Sprintf("%d locals", n)] = append(b, 0x1a, 0x0b)

		// Each value waits on the operand stack.
		b = []byte{0}
		for i := range n {
			b = load(b, i)
		}
		b = append(b, 0x10, 0)
		for range n {
			b = append(b, 0x1a)
		}
		bodies[fmt.Sprintf("%d operands", n)] = append(b, 0x0b)

		// One local written again and again, each value kept as an operand's source across a call.
		b = []byte{1, 1, i32}
		for i := range n {
			b = append(load(b, i), 0x22, 0)
		}
		b = append(b, 0x10, 0, 0x41, 0, 0x21, 0)
		for range n {
			b = append(b, 0x20, 0, 0x6a, 0x21, 0)
		}
		bodies[fmt.Sprintf("%d rewrites", n)] = append(b, 0x0b)
	}
	ctx := context.Background()
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			wasm, info, err := meter.Instrument(oneFunction(nil, nil, body), meter.Config{})
			if err != nil {
				t.Fatal(err)
			}
			m := newMachine(ctx, t, api.CoreFeaturesV2, true, true)
			defer m.close(ctx)
			mod, err := m.rt.InstantiateWithConfig(ctx, wasm, wazero.NewModuleConfig())
			if err != nil {
				t.Fatal(err)
			}
			_, err = mod.ExportedFunction("f").Call(ctx)
			if !errors.Is(err, errDepth) {
				t.Errorf("estimated frame %d: %v, want the meter's own overflow", info.MaxFrame, err)
			}
		})
	}
}

// TestDepthRestored calls functions that leave in every way and looks at the depth global afterwards.
func TestDepthRestored(t *testing.T) {
	ctx := context.Background()
	wasm, info, err := meter.Instrument(readModule(t, "exits.wasm"), meter.Config{Depth: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	m := newMachine(ctx, t, api.CoreFeaturesV2, true, true)
	defer m.close(ctx)
	mod, err := m.rt.InstantiateWithConfig(ctx, wasm, wazero.NewModuleConfig())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]uint64{
		"fall": {7}, "return": {8}, "branch": {9}, "branch_if": {10}, "table": {11}, "two": {1, 2}, "nested": {12}, "loop_return": {13},
	} {
		got, err := mod.ExportedFunction(name).Call(ctx, 1)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s returned %d, want %d", name, got, want)
		}
		if d := mod.ExportedGlobal(info.DepthGlobal).Get(); d != 100_000 {
			t.Errorf("%s left a depth of %d", name, d)
		}
	}
}

package wasmhost_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"weir/wasmhost"
)

func uleb(v uint64) []byte { return binary.AppendUvarint(nil, v) }

func vec(items ...[]byte) []byte { return append(uleb(uint64(len(items))), bytes.Join(items, nil)...) }

func name(s string) []byte { return append(uleb(uint64(len(s))), s...) }

func section(id byte, body ...[]byte) []byte {
	b := bytes.Join(body, nil)
	return append(append([]byte{id}, uleb(uint64(len(b)))...), b...)
}

func moduleOf(sections ...[]byte) []byte {
	return append([]byte("\x00asm\x01\x00\x00\x00"), bytes.Join(sections, nil)...)
}

// Sections of a module with one function () -> i32, exported as tool_call.
func hookType() []byte   { return section(1, vec([]byte{0x60, 0, 1, 0x7f})) }
func hookFunc() []byte   { return section(3, vec([]byte{0})) }
func hookExport() []byte { return section(7, vec(append(name("tool_call"), 0, 0))) }

// hookCode is a function body; locals are encoded groups.
func hookCode(locals []byte, code ...[]byte) []byte {
	body := slices.Concat(locals, bytes.Join(code, nil))
	return section(10, vec(append(uleb(uint64(len(body))), body...)))
}

func hookModule(code ...[]byte) []byte {
	return moduleOf(hookType(), hookFunc(), hookExport(), hookCode([]byte{0}, append(code, []byte{0x41, 0, 0x0b})...))
}

const huge = 0xffffffff

// bombs are modules that no text format can write, or that are too long to keep: false counts, invalid structure, and
// code that is costly to compile. All must be refused.
func bombs() map[string][]byte {
	nested := func(open []byte, depth int) []byte {
		return append(append(bytes.Repeat(open, depth), 0x0c), append(uleb(uint64(depth-1)), bytes.Repeat([]byte{0x0b}, depth)...)...)
	}
	all := map[string][]byte{
		"nothing":                   {},
		"magic alone":               []byte("\x00asm"),
		"a later version":           []byte("\x00asm\x02\x00\x00\x00"),
		"a component":               []byte("\x00asm\x0d\x00\x01\x00"),
		"text":                      []byte("(module)"),
		"an export twice":           moduleOf(hookType(), hookFunc(), section(7, vec(append(name("tool_call"), 0, 0), append(name("tool_call"), 0, 0))), hookCode([]byte{0}, []byte{0x41, 0, 0x0b})),
		"an export of nothing":      moduleOf(hookType(), hookFunc(), section(7, vec(append(name("tool_call"), 0, 7))), hookCode([]byte{0}, []byte{0x41, 0, 0x0b})),
		"sections out of order":     moduleOf(hookFunc(), hookType(), hookExport(), hookCode([]byte{0}, []byte{0x41, 0, 0x0b})),
		"a section twice":           moduleOf(hookType(), hookType(), hookFunc(), hookExport(), hookCode([]byte{0}, []byte{0x41, 0, 0x0b})),
		"code without functions":    moduleOf(hookType(), hookCode([]byte{0}, []byte{0x41, 0, 0x0b})),
		"functions without code":    moduleOf(hookType(), hookFunc(), hookExport()),
		"a type that is not there":  moduleOf(hookType(), section(3, vec([]byte{9})), hookExport(), hookCode([]byte{0}, []byte{0x41, 0, 0x0b})),
		"a section beyond the end":  append(moduleOf(hookType()), 10, 0xff, 0xff, 0xff, 0xff, 0x0f),
		"a name that is not UTF-8":  moduleOf(hookType(), hookFunc(), section(7, vec(append(append(uleb(2), 0xff, 0xfe), 0, 0))), hookCode([]byte{0}, []byte{0x41, 0, 0x0b})),
		"code that does not end":    moduleOf(hookType(), hookFunc(), hookExport(), hookCode([]byte{0}, []byte{0x41, 0})),
		"no value on the stack":     moduleOf(hookType(), hookFunc(), hookExport(), hookCode([]byte{0}, []byte{0x0b})),
		"an unknown instruction":    hookModule([]byte{0xff}),
		"a threads instruction":     hookModule([]byte{0xfe, 0x03, 0}),
		"a local that is not there": hookModule([]byte{0x20, 5, 0x1a}),
		// The module below becomes valid if a meter adds its global before anybody validates: global 0 is nobody's.
		"the meter's global":            hookModule([]byte{0x42, 1, 0x24, 0}),
		"the meter's function":          hookModule([]byte{0x10, 1, 0x1a}),
		"a start that is not there":     moduleOf(hookType(), hookFunc(), hookExport(), section(8, uleb(5)), hookCode([]byte{0}, []byte{0x41, 0, 0x0b})),
		"a start with a result":         moduleOf(hookType(), hookFunc(), hookExport(), section(8, uleb(0)), hookCode([]byte{0}, []byte{0x41, 0, 0x0b})),
		"two memories":                  moduleOf(hookType(), hookFunc(), section(5, vec([]byte{0, 1}, []byte{0, 1})), hookExport(), hookCode([]byte{0}, []byte{0x41, 0, 0x0b})),
		"a 64-bit memory":               moduleOf(hookType(), hookFunc(), section(5, vec([]byte{4, 1})), hookExport(), hookCode([]byte{0}, []byte{0x41, 0, 0x0b})),
		"a shared memory":               moduleOf(hookType(), hookFunc(), section(5, vec([]byte{3, 1, 1})), hookExport(), hookCode([]byte{0}, []byte{0x41, 0, 0x0b})),
		"4 billion locals":              moduleOf(hookType(), hookFunc(), hookExport(), hookCode(append([]byte{1}, append(uleb(huge), 0x7e)...), []byte{0x41, 0, 0x0b})),
		"4 billion locals in parts":     moduleOf(hookType(), hookFunc(), hookExport(), hookCode(append(uleb(16), bytes.Repeat(append(uleb(0x0fffffff), 0x7e), 16)...), []byte{0x41, 0, 0x0b})),
		"50,000 locals":                 moduleOf(hookType(), hookFunc(), hookExport(), hookCode(append([]byte{1}, append(uleb(50_000), 0x7e)...), []byte{0x41, 0, 0x0b})),
		"1,000 nested loops":            hookModule(nested([]byte{0x03, 0x40}, 1000)),
		"30,000 nested blocks":          hookModule(nested([]byte{0x02, 0x40}, 30_000)),
		"a br_table with false targets": hookModule([]byte{0x41, 0, 0x0e}, uleb(huge)),
		"a br_table of 30,000 targets":  hookModule([]byte{0x02, 0x40, 0x41, 0, 0x0e}, uleb(30_000), bytes.Repeat([]byte{0}, 30_001), []byte{0x0b}),
		"5 MiB of straight code":        hookModule(bytes.Repeat([]byte{0x41, 1, 0x1a}, 5<<20/3)),
		"33 MiB":                        moduleOf(section(0, name("x"), make([]byte, 33<<20))),
		"a body beyond its section":     moduleOf(hookType(), hookFunc(), hookExport(), section(10, uleb(1), uleb(huge), []byte{0, 0x41, 0, 0x0b})),
		"false names":                   moduleOf(hookType(), hookFunc(), hookExport(), hookCode([]byte{0}, []byte{0x41, 0, 0x0b}), section(0, name("name"), []byte{1}, uleb(5), uleb(huge))),
		"data of 4 GiB":                 moduleOf(hookType(), hookFunc(), section(5, vec([]byte{0, 1})), hookExport(), hookCode([]byte{0}, []byte{0x41, 0, 0x0b}), section(11, uleb(1), []byte{0, 0x41, 0, 0x0b}, uleb(huge))),
		"2,000 imports":                 moduleOf(section(1, vec([]byte{0x60, 0, 1, 0x7f})), section(2, vec(slicesOf(2000, append(append(name("wasi_snapshot_preview1"), name("sched_yield")...), 0, 0))...))),
	}
	// Vectors that claim four billion items, in every section that has one.
	for id, what := range map[byte]string{1: "types", 2: "imports", 3: "functions", 4: "tables", 5: "memories", 6: "globals", 7: "exports", 9: "element segments", 10: "bodies", 11: "data segments", 12: "data segments, counted"} {
		all["4 billion "+what] = moduleOf(section(id, uleb(huge)))
	}
	for i, claim := range []uint64{100_000, 1 << 20, 1 << 24, 1 << 31} {
		all[fmt.Sprintf("parameters %d", i)] = moduleOf(section(1, uleb(1), []byte{0x60}, uleb(claim), []byte{0x7f}))
		all[fmt.Sprintf("elements %d", i)] = moduleOf(hookType(), hookFunc(), section(4, vec([]byte{0x70, 0, 1})), hookExport(), section(9, uleb(1), []byte{0, 0x41, 0, 0x0b}, uleb(claim)), hookCode([]byte{0}, []byte{0x41, 0, 0x0b}))
	}
	return all
}

func slicesOf(n int, item []byte) [][]byte {
	items := make([][]byte, n)
	for i := range items {
		items[i] = item
	}
	return items
}

func TestBombs(t *testing.T) {
	h := newHost(t, wasmhost.Config{})
	for what, wasm := range bombs() {
		t.Run(what, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err := h.Compile(t.Context(), "bomb", wasm, wasmhost.Limits{})
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			wantFault(t, err, wasmhost.KindLoad)
			if took > time.Second {
				t.Errorf("refused after %v", took)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 256<<20 {
				t.Errorf("it took %d MiB", used>>20)
			}
			if text := err.Error(); !strings.HasPrefix(text, "bomb: load: load: ") || len(text) > 1000 {
				t.Errorf("the error is %q", text)
			}
		})
	}
}

// TestLargeButFair: what is large and not hostile is taken, in reasonable time.
func TestLargeButFair(t *testing.T) {
	h := newHost(t, wasmhost.Config{})
	for what, wasm := range map[string][]byte{
		"60 KB of straight code":  hookModule(bytes.Repeat([]byte{0x41, 1, 0x1a}, 20_000)),
		"50 nested loops":         hookModule(append(append(bytes.Repeat([]byte{0x03, 0x40}, 50), 0x41, 0, 0x0d, 49), bytes.Repeat([]byte{0x0b}, 50)...)),
		"1,000 nested blocks":     hookModule(append(bytes.Repeat([]byte{0x02, 0x40}, 1000), bytes.Repeat([]byte{0x0b}, 1000)...)),
		"2 MiB of custom section": moduleOf(hookType(), hookFunc(), hookExport(), hookCode([]byte{0}, []byte{0x41, 0, 0x0b}), section(0, name("x"), make([]byte, 2<<20))),
	} {
		m, err := h.Compile(t.Context(), "fair", wasm, wasmhost.Limits{})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		g, err := m.NewGuest(t.Context(), wasmhost.GuestConfig{Name: "fair", Entries: []string{"tool_call"}})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if _, err := g.Call(t.Context(), "tool_call", wasmhost.Input{}, ignore); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

package screen_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"weir/wasmhost/internal/wasmbin"
	"weir/wasmhost/meter"
	"weir/wasmhost/screen"
)

const header = "\x00asm\x01\x00\x00\x00"

// huge is the number 4,294,967,295 as a count.
const huge = "\xff\xff\xff\xff\x0f"

// void is a module's beginning with one type () -> () and one function of it.
const void = header + "\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00"

func section(id byte, data string) string {
	return string(wasmbin.AppendSection(nil, id, []byte(data)))
}

// function returns a module with one function of the given body, locals and last end included.
func function(body string) string {
	return void + section(wasmbin.Code, "\x01"+string(wasmbin.AppendU32(nil, uint32(len(body))))+body)
}

// TestRefusals checks what is refused, where, and in which words.
func TestRefusals(t *testing.T) {
	small := screen.Limits{
		ModuleBytes: 4096, MemoryBytes: 1 << 20, TableElements: 10, Types: 3, Imports: 2, Functions: 2, Params: 3, Results: 3, Locals: 20, BodyBytes: 200,
		Nesting: 5, BranchTargets: 4, Globals: 2, Exports: 2, Tables: 2, Segments: 2, CustomSections: 2,
	}
	nest := func(n int) string { return strings.Repeat("\x02\x40", n) + strings.Repeat("\x0b", n) }
	for _, c := range []struct{ name, wasm, want string }{
		{"empty", "", "module: offset 0x0: not a WebAssembly module: shorter than its header"},
		{"text", "(module) (func)", "module: offset 0x0: not a WebAssembly module: it does not begin with \\0asm"},
		{"component", "\x00asm\x0d\x00\x01\x00", "module: offset 0x4: a WebAssembly component, not a core module"},
		{"version", "\x00asm\x02\x00\x00\x00", "module: offset 0x4: WebAssembly version 2"},
		{"size", header + section(0, "\x01x"+strings.Repeat("a", 5000)), "module: offset 0x0: 5013 bytes, more than the limit of 4096"},
		{"cut", header + "\x01\x7f", "module: offset 0x9: 127 section bytes claimed, 0 bytes left"},
		{"unknown section", header + "\x0e\x00", "module: offset 0x8: unknown section 14"},
		{"order", header + section(3, "\x00") + section(1, "\x00"), "module: offset 0xb: section 1 out of order or repeated"},
		{"repeated", header + section(1, "\x00") + section(1, "\x00"), "module: offset 0xb: section 1 out of order or repeated"},
		{"custom sections", header + strings.Repeat(section(0, "\x01x"), 3), "module: offset 0x10: more than 2 custom sections"},
		{"trailing bytes", header + section(1, "\x00\x00"), "module: type section at offset 0xb: 1 bytes behind the end"},

		{"types claimed", header + section(1, huge), "module: type section at offset 0xa: 4294967295 types claimed, 0 bytes left"},
		{"types", header + section(1, "\x04"+strings.Repeat("\x60\x00\x00", 4)), "module: type section at offset 0xa: 4 types, more than the limit of 3"},
		{"params claimed", header + section(1, "\x01\x60"+huge), "module: type section at offset 0xc: 4294967295 parameters claimed"},
		{"params", header + section(1, "\x01\x60\x04\x7f\x7f\x7f\x7f\x00"), "module: type section at offset 0xc: 4 parameters, more than the limit of 3"},
		{"results", header + section(1, "\x01\x60\x00\x04\x7f\x7f\x7f\x7f"), "module: type section at offset 0xd: 4 results, more than the limit of 3"},
		{"value type", header + section(1, "\x01\x60\x01\x10\x00"), "module: type section at offset 0xd: unknown value type 0x10"},
		{"gc type", header + section(1, "\x01\x5f\x00\x00"), "module: type section at offset 0xb: type 0 has the form 0x5f"},
		{"imports claimed", header + section(2, huge), "module: import section at offset 0xa: 4294967295 imports claimed"},
		{"import name", header + section(2, "\x01"+huge), "module: import section at offset 0xb: 4294967295 name bytes claimed"},
		{"import name claimed", header + section(2, "\x01"+huge+"\x00\x00\x00"), "module: import section at offset 0xb: 4294967295 name bytes claimed"},
		{"import kind", header + section(2, "\x01\x00\x00\x04\x00\x00"), "module: import section at offset 0xd: import of kind 4"},
		{"import type", header + section(2, "\x01\x00\x00\x00\x05"), "module: import section at offset 0xe: type 5 does not exist"},
		{"functions claimed", header + section(3, huge), "module: function section at offset 0xa: 4294967295 functions claimed"},
		{"function type", header + section(3, "\x01\x00"), "module: function section at offset 0xb: type 0 does not exist"},
		{"table", header + section(4, "\x01\x70\x00\x0b"), "module: table section at offset 0xb: tables of 11 elements at least, more than the limit of 10"},
		{"two tables", header + section(4, "\x02\x70\x00\x06\x70\x00\x06"), "module: table section at offset 0xe: tables of 12 elements at least"},
		{"table minimum", header + section(4, "\x01\x70\x01\x05\x04"), "module: table section at offset 0xc: table with a minimum of 5 and a maximum of 4"},
		{"memory", header + section(5, "\x01\x00\x11"), "module: memory section at offset 0xb: a memory of 1114112 bytes at least, more than the limit of 1048576"},
		{"memory pages", header + section(5, "\x01\x00\x81\x80\x04"), "module: memory section at offset 0xb: a memory of more than 65536 pages"},
		{"memory64", header + section(5, "\x01\x04\x01"), "module: memory section at offset 0xb: 64-bit memory"},
		{"shared", header + section(5, "\x01\x03\x01\x01"), "module: memory section at offset 0xb: shared memory"},
		{"memories", header + section(5, "\x02\x00\x01\x00\x01"), "module: memory section at offset 0xa: 2 memories, more than the limit of 1"},
		{"globals claimed", header + section(6, huge), "module: global section at offset 0xa: 4294967295 globals claimed"},
		{"global expression", header + section(6, "\x01\x7f\x00"+strings.Repeat("\x41\x00", 80)+"\x0b"), "module: global section at offset 0xe: a constant expression of more than 64 instructions"},
		{"exports claimed", header + section(7, huge), "module: export section at offset 0xa: 4294967295 exports claimed"},
		{"export", header + section(7, "\x01\x01x\x00\x00"), "module: export section at offset 0xd: export of func 0, which does not exist"},
		{"start", header + section(8, "\x00"), "module: start section at offset 0xa: function 0 does not exist"},
		{"elements claimed", header + section(9, huge), "module: element section at offset 0xa: 4294967295 element segments claimed"},
		{"element count", header + section(9, "\x01\x01\x00"+huge), "module: element section at offset 0xd: 4294967295 elements claimed"},
		{"data count", header + section(12, huge), "module: data count section at offset 0xa: 4294967295 data segments, more than the limit of 2"},
		{"data claimed", header + section(11, huge), "module: data section at offset 0xa: 4294967295 data segments claimed"},
		{"data bytes", header + section(11, "\x01\x01"+huge), "module: data section at offset 0xc: 4294967295 name bytes claimed"},
		{"tags", header + section(13, "\x01\x00\x00"), "module: tag section at offset 0xa: exception handling is not supported"},

		{"bodies claimed", void + section(10, huge), "module: code section at offset 0x14: 4294967295 function bodies claimed"},
		{"bodies", void + section(10, "\x00"), "module: code section at offset 0x14: 0 function bodies for 1 functions"},
		{"local runs", function(huge), "module: function 0 at offset 0x16: 4294967295 runs of locals claimed"},
		{"locals", function("\x01" + huge + "\x7f\x0b"), "module: function 0 at offset 0x17: 4294967295 locals, more than the limit of 20"},
		{"locals in runs", function("\x02\x0a\x7f\x0b\x7e\x0b"), "module: function 0 at offset 0x19: 21 locals, more than the limit of 20"},
		{"body", function("\x00" + strings.Repeat("\x01", 300) + "\x0b"), "module: function 0 at offset 0x16: 302 body bytes, more than the limit of 200"},
		{"nesting", function("\x00" + nest(6) + "\x0b"), "module: function 0 at offset 0x21: 6 nested blocks, more than the limit of 5"},
		{"targets claimed", function("\x00\x0e" + huge + "\x0b"), "module: function 0 at offset 0x18: 4294967295 branch targets claimed"},
		{"targets", function("\x00\x41\x00\x0e\x05\x00\x00\x00\x00\x00\x00\x0b"), "module: function 0 at offset 0x19: br_table with 5 targets, more than the limit of 4"},
		{"label", function("\x00\x0c\x01\x0b"), "module: function 0 at offset 0x17: branch to label 1, which does not exist"},
		{"call", function("\x00\x10\x01\x0b"), "module: function 0 at offset 0x17: call of function 1, which does not exist"},
		{"open block", function("\x00\x02\x40\x0b"), "module: function 0 at offset 0x1a: unexpected end"},
		{"after the end", function("\x00\x0b\x0b"), "module: function 0 at offset 0x18: 1 bytes behind the end of the function"},
		{"opcode", function("\x00\xfe\x00\x0b"), "module: function 0 at offset 0x17: opcode 0xfe belongs to threads"},

		{"names claimed", header + section(0, "\x04name\x01\x05"+huge), "module: name section at offset 0x11: 4294967295 names claimed"},
		{"local names claimed", header + section(0, "\x04name\x02\x07\x01\x00"+huge), "module: name section at offset 0x13: 4294967295 names claimed"},
		{"name bytes", header + section(0, "\x04name\x00"+huge), "module: name section at offset 0x10: 4294967295 name bytes claimed"},
	} {
		err := screen.Check([]byte(c.wasm), small)
		var e *screen.Error
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
	}
	if err := screen.Check([]byte(header), screen.Limits{Nesting: -1}); err == nil || !strings.Contains(err.Error(), "Nesting") {
		t.Errorf("a negative limit: %v", err)
	}
}

// TestAllocation feeds the false counts once more and looks at what they make the process allocate.
func TestAllocation(t *testing.T) {
	for _, wasm := range []string{
		header + section(1, huge), header + section(3, huge), function("\x01" + huge + "\x7f\x0b"), function("\x00\x0e" + huge + "\x0b"),
		header + section(0, "\x04name\x01\x05"+huge), header + strings.Repeat("\x00\x01\x00", 1000),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_ = screen.Check([]byte(wasm), screen.Limits{}) // only what it takes is of interest
		_, _ = screen.Summarize([]byte(wasm))           // likewise
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("a module of %d bytes took %d", len(wasm), n)
		}
	}
}

// TestBombs checks that modules made to keep a compiler busy are refused at once, and that what is just let through compiles in a bounded time.
func TestBombs(t *testing.T) {
	for _, c := range []struct {
		name           string
		make           func(n, locals int) []byte
		good, goodVars int
		bad, badVars   int
	}{
		{"nested loops", nestedLoops, 65, 300, 100, 300},
		{"more nested loops", nestedLoops, 140, 30, 1000, 300},
		{"nested loops, each writing", nestedLoopsEachWriting, 100, 30, 1000, 10},
		{"loops in sequence", loopsInSequence, 500, 300, 4000, 300},
		{"nested ifs", nestedIfs, 300, 100, 1000, 1000},
		{"ifs in sequence", ifsInSequence, 600, 300, 10_000, 1000},
		{"nested blocks", nestedBlocks, 300, 500, 1000, 1000},
		{"dispatch", dispatch, 2000, 17, 2000, 300},
		{"tables", tables, 1000, 10, 1000, 1000},
		{"branches to the end", branchesToEnd, 4000, 10, 10_000, 10},
		{"loads", loads, 20_000, 10, 400_000, 10},
		{"many functions", manyFunctions, 50_000, 0, 300_000, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			err := screen.Check(c.make(c.bad, c.badVars), screen.Limits{})
			if took := time.Since(start); err == nil || took > time.Second && !raceDetector {
				t.Errorf("%d with %d locals: %v after %v", c.bad, c.badVars, err, took)
			}
			wasm := c.make(c.good, c.goodVars)
			if err := screen.Check(wasm, screen.Limits{}); err != nil {
				t.Fatalf("%d with %d locals: %v", c.good, c.goodVars, err)
			}
			if testing.Short() || raceDetector {
				return
			}
			start = time.Now()
			compile(t, wasm)
			// Measured: 2 s at most. Other work on the machine slows this down many times.
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("compiling took %v", took)
			}
		})
	}
}

// compile validates, instruments and compiles a module.
func compile(t testing.TB, wasm []byte) {
	t.Helper()
	ctx := context.Background()
	features := api.CoreFeaturesV2 | experimental.CoreFeaturesTailCall
	check := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(features))
	defer func() { _ = check.Close(ctx) }() // nothing to lose in a test
	if _, err := check.CompileModule(ctx, wasm); err != nil {
		t.Fatal(err)
	}
	out, _, err := meter.Instrument(wasm, meter.Config{})
	if err != nil {
		t.Fatal(err)
	}
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler().WithCoreFeatures(features))
	defer func() { _ = rt.Close(ctx) }() // likewise
	if _, err := rt.CompileModule(ctx, out); err != nil {
		t.Fatal(err)
	}
}

// TestRealGuest builds a Go guest and asks for a wide margin.
func TestRealGuest(t *testing.T) {
	out := filepath.Join(t.TempDir(), "guest.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-o", out, "../meter/testdata/bench/goguest")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("cannot build a Go guest: %v\n%s", err, b)
	}
	wasm, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := screen.Check(wasm, screen.Limits{}); err != nil {
		t.Fatal(err)
	}
	s, err := screen.Summarize(wasm)
	if err != nil {
		t.Fatal(err)
	}
	d := screen.Limits{}.WithDefaults()
	if s.FunctionCost*2 > d.FunctionCost || s.CompileCost*2 > min(d.CompileCost, 1_000_000+3*int64(len(wasm))) {
		t.Errorf("costs %d, %d in the largest function: less than half is left", s.CompileCost, s.FunctionCost)
	}
	if !hasExport(s, "_initialize") || s.Command || s.Functions < 100 || !s.HasMemory {
		t.Errorf("summary: %d functions, command %v, memory %v", s.Functions, s.Command, s.Memory)
	}
}

func hasExport(s screen.Summary, name string) bool {
	for _, e := range s.Exports {
		if e.Name == name && e.Kind == screen.Function {
			return true
		}
	}
	return false
}

// BenchmarkCheck measures the screen on dense code.
func BenchmarkCheck(b *testing.B) {
	wasm := manyFunctions(100_000, 0)
	b.SetBytes(int64(len(wasm)))
	b.ReportAllocs()
	for b.Loop() {
		if err := screen.Check(wasm, screen.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

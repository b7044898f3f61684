package meter

import (
	"fmt"

	"weir/wasmhost/internal/wasmbin"
)

// Version belongs into the key of any cache of instrumented modules: it changes whenever the same input would give another output.
const Version = "4"

// What an instrumented module imports from the host. All functions belong to the module named Module.
const (
	// Module is the name of the module that the functions are imported from. A guest that imports from it itself is refused.
	Module = "weir:meter"
	// Refill is the function () -> i64 that the guest calls when its fuel is used up. It returns the size of the next slice, which must be positive, or panics.
	Refill = "refill"
	// Overflow is the function () -> () that the guest calls when its depth is used up. It must not return.
	Overflow = "overflow"
	// Refused is the function () -> () that the guest calls when it asks for a table of more than Config.TableElements. When it returns, table.grow answers
	// -1, as the format has it.
	Refused = "refused"
)

// DefaultDepth is the native stack that a guest may use when Config.Depth is zero, in bytes.
const DefaultDepth = 8 << 20

// DefaultTableElements is the size that a table may grow to when Config.TableElements is zero.
const DefaultTableElements = 100_000

// Config holds the choices that end up in the rewritten module. The zero value is usable.
type Config struct {
	// Depth is how much native stack the guest's calls may take, in bytes; 0 means DefaultDepth, and negative is an error. It is the initial value of the
	// depth global.
	Depth int64
	// TableElements lowers the declared maximum of the guest's own tables, in elements, so that table.grow beyond it returns -1; 0 means
	// DefaultTableElements. wazero itself sets no limit: one table.grow can ask Go for 32 GB, which ends the process. A table whose declared minimum
	// is larger keeps its minimum as maximum: refusing it is the screen's job. An imported table is limited by the module that defines it.
	TableElements uint32
	// Enter adds a function () -> () and exports it as Info.Enter: it calls Refill and sets the fuel to what that returns. It is for a host that cannot
	// reach the instance otherwise, and learns from that call of Refill which one it is.
	Enter bool
}

// Info says what the host needs to know about an instrumented module.
type Info struct {
	// FuelGlobal and DepthGlobal are the names under which the two mutable i64 globals are exported. They differ from every export of the guest. Fuel
	// starts at 0, depth at Config.Depth. Both are to be read and set between calls only.
	FuelGlobal, DepthGlobal string
	// Enter is the name of the function that Config.Enter asks for; "" without it.
	Enter string
	// Functions is the number of functions that the guest defines itself.
	Functions int
	// Leaves is how many of them are not counted in depth.
	Leaves int
	// Sites is the number of places where fuel is charged.
	Sites int
	// MaxFrame is the largest estimate of a native frame, in bytes.
	MaxFrame int64
}

// Error is why a module cannot be instrumented.
type Error struct {
	Offset int // in the original module, in bytes
	Reason string
}

func (e *Error) Error() string { return fmt.Sprintf("meter: offset %#x: %s", e.Offset, e.Reason) }

// Instrument returns a copy of a module that counts fuel and depth as the package documentation says. The input must have been validated; for other bytes the
// result is an *Error or a module that need not be valid. Any error is an *Error. The input is neither changed nor kept.
func Instrument(wasm []byte, cfg Config) ([]byte, Info, error) {
	if cfg.Depth < 0 {
		return nil, Info{}, &Error{Reason: fmt.Sprintf("negative depth %d", cfg.Depth)}
	}
	if cfg.Depth == 0 {
		cfg.Depth = DefaultDepth
	}
	if cfg.TableElements == 0 {
		cfg.TableElements = DefaultTableElements
	}
	m, err := parse(wasm)
	if err != nil {
		return nil, Info{}, &Error{Offset: err.Offset, Reason: err.Reason}
	}
	out, info, err := m.rewrite(cfg)
	if err != nil {
		return nil, Info{}, &Error{Offset: err.Offset, Reason: err.Reason}
	}
	return out, info, nil
}

// addedImports is the number of function imports that are inserted, and so the shift of every function that the guest defines.
const addedImports = 3

// funcType is a signature; both slices alias the module.
type funcType struct{ params, results []byte }

// module is what the rewrite needs to know before it begins.
type module struct {
	sections []wasmbin.Section
	size     int

	types       []funcType
	importFuncs uint32
	importTypes []uint32
	globals     uint32   // imported and defined
	funcTypes   []uint32 // type index of each defined function
	dataSizes   []uint32 // length of each data segment
	exports     map[string]bool
}

// shift maps a function index of the guest to the one it has after the rewrite.
func (m *module) shift(f uint32) uint32 {
	if f >= m.importFuncs {
		return f + addedImports
	}
	return f
}

// maxCustom bounds the number of custom sections.
const maxCustom = 10_000

func parse(wasm []byte) (*module, *wasmbin.Error) {
	sections, err := wasmbin.Sections(wasm, maxCustom)
	if err != nil {
		return nil, err
	}
	m := &module{sections: sections, size: len(wasm), exports: map[string]bool{}}
	for i := range sections {
		s := &sections[i]
		r := s.Reader()
		switch s.ID {
		case wasmbin.Type:
			m.parseTypes(r)
		case wasmbin.Import:
			m.parseImports(r)
		case wasmbin.Function:
			n := r.Count("functions", 1)
			m.funcTypes = make([]uint32, 0, n)
			for range n {
				at := r.Offset()
				t := r.U32()
				if r.Err() == nil && int(t) >= len(m.types) {
					r.FailAt(at, "function of unknown type %d", t)
				}
				m.funcTypes = append(m.funcTypes, t)
			}
		case wasmbin.Global:
			m.globals += r.U32()
		case wasmbin.Export:
			for range r.Count("exports", 3) {
				m.exports[string(r.Name())] = true
				r.Byte()
				r.U32()
			}
		case wasmbin.Data:
			m.parseData(r)
		case wasmbin.Tag:
			r.Fail("a tag section belongs to exception handling, which is not supported")
		}
		if r.Err() != nil {
			return nil, r.Err()
		}
	}
	return m, nil
}

func (m *module) parseTypes(r *wasmbin.Reader) {
	n := r.Count("types", 3)
	m.types = make([]funcType, 0, n)
	for range n {
		at := r.Offset()
		if form := r.Byte(); r.Err() == nil && form != 0x60 {
			r.FailAt(at, "type form %#x is not supported", form)
			return
		}
		params := r.Bytes(r.Count("parameters", 1))
		results := r.Bytes(r.Count("results", 1))
		m.types = append(m.types, funcType{params, results})
	}
}

func (m *module) parseImports(r *wasmbin.Reader) {
	for range r.Count("imports", 4) {
		at := r.Offset()
		if string(r.Name()) == Module {
			r.FailAt(at, "imports from %q, which is reserved for the meter", Module)
			return
		}
		r.Name()
		switch kind := r.Byte(); kind {
		case 0:
			m.importTypes = append(m.importTypes, r.U32())
			m.importFuncs++
		case 1:
			r.Byte()
			skipLimits(r, "table")
		case 2:
			skipLimits(r, "memory")
		case 3:
			r.Byte()
			r.Byte()
			m.globals++
		default:
			r.FailAt(at, "import of kind %d is not supported", kind)
		}
	}
}

// skipLimits moves past limits and refuses the kinds that the meter does not know.
func skipLimits(r *wasmbin.Reader, what string) (minimum, maximum uint32, bounded bool) {
	at := r.Offset()
	flags := r.Byte()
	if flags > 1 {
		r.FailAt(at, "%s limits %#x: shared and 64-bit ones are not supported", what, flags)
		return 0, 0, false
	}
	minimum = r.U32()
	if flags == 1 {
		maximum = r.U32()
	}
	return minimum, maximum, flags == 1
}

func (m *module) parseData(r *wasmbin.Reader) {
	n := r.Count("data segments", 2)
	m.dataSizes = make([]uint32, 0, n)
	for range n {
		at := r.Offset()
		switch mode := r.U32(); mode {
		case 0:
			m.skipConstExpr(r)
		case 1:
		case 2:
			if r.U32() != 0 {
				r.FailAt(at, "data segment for a memory other than 0")
			}
			m.skipConstExpr(r)
		default:
			r.FailAt(at, "data segment of kind %d", mode)
		}
		size := r.Count("data bytes", 1)
		r.Bytes(size)
		m.dataSizes = append(m.dataSizes, uint32(size))
	}
}

// skipConstExpr moves past a constant expression.
func (m *module) skipConstExpr(r *wasmbin.Reader) {
	var in wasmbin.Instr
	for r.Err() == nil {
		if r.Instr(&in); in.Op == wasmbin.OpEnd {
			return
		}
	}
}

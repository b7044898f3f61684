package screen

import (
	"fmt"

	"weir/wasmhost/internal/wasmbin"
)

// Error is why a module is not let through.
type Error struct {
	Offset int    // in the module, in bytes
	Where  string // the part of the module, such as "function 3" or "data section"; may be empty
	Reason string
}

func (e *Error) Error() string {
	if e.Where == "" {
		return fmt.Sprintf("module: offset %#x: %s", e.Offset, e.Reason)
	}
	return fmt.Sprintf("module: %s at offset %#x: %s", e.Where, e.Offset, e.Reason)
}

// Check refuses a module that is malformed in its structure, exceeds a limit, or would take too long to compile. It does not type-check. Any error is an
// *Error, apart from one for invalid limits. The module is neither changed nor kept.
func Check(wasm []byte, limits Limits) error {
	if err := limits.Validate(); err != nil {
		return err
	}
	c := &checker{limits: limits.WithDefaults()}
	if err := c.run(wasm); err != nil {
		return err
	}
	return nil
}

// Screen is Check and Summarize in one walk: it gives the summary of a module that Check lets through.
func Screen(wasm []byte, limits Limits) (Summary, error) {
	if err := limits.Validate(); err != nil {
		return Summary{}, err
	}
	return summarize(wasm, limits.WithDefaults())
}

// maxPages is the number of 64 KiB pages that a 32-bit memory can have.
const maxPages = 1 << 16

// checker carries what later sections need to know of earlier ones.
type checker struct {
	limits Limits
	where  string

	types     []signature
	functions int      // imported and defined
	funcTypes []uint32 // of all functions, in the order of their indexes
	imported  int      // imported functions
	globals   int
	tables    int
	elements  int64 // declared minimum of all tables
	memories  int
	labels    []uint32 // reused by every function
	open      []label  // reused by every function
	size      int
	cost      estimate

	summary *Summary // filled as the module is read, nil for Check
}

// signature is a function type; both slices alias the module.
type signature struct{ params, results []byte }

func (c *checker) run(wasm []byte) *Error {
	c.size = len(wasm)
	if len(wasm) > c.limits.ModuleBytes {
		return &Error{Reason: fmt.Sprintf("%d bytes, more than the limit of %d", len(wasm), c.limits.ModuleBytes)}
	}
	sections, err := wasmbin.Sections(wasm, c.limits.CustomSections)
	if err != nil {
		return &Error{Offset: err.Offset, Reason: err.Reason}
	}
	for i := range sections {
		s := &sections[i]
		r := s.Reader()
		c.section(s, r)
		if r.Err() == nil && r.Len() > 0 {
			r.Fail("%d bytes behind the end", r.Len())
		}
		if err := r.Err(); err != nil {
			return &Error{Offset: err.Offset, Where: c.where, Reason: err.Reason}
		}
	}
	return nil
}

// vector reads a count that may not exceed limit and whose items take at least size bytes each.
func (c *checker) vector(r *wasmbin.Reader, what string, size, limit int) int {
	at := r.Offset()
	n := r.Count(what, size)
	if n > limit {
		r.FailAt(at, "%d %s, more than the limit of %d", n, what, limit)
		return 0
	}
	return n
}

func (c *checker) section(s *wasmbin.Section, r *wasmbin.Reader) {
	switch s.ID {
	case wasmbin.Custom:
		c.where = "custom section"
		c.custom(r)
	case wasmbin.Type:
		c.where = "type section"
		c.typeSection(r)
	case wasmbin.Import:
		c.where = "import section"
		c.importSection(r)
	case wasmbin.Function:
		c.where = "function section"
		n := c.vector(r, "functions", 1, c.limits.Functions)
		for i := 0; i < n && r.Err() == nil; i++ {
			c.funcTypes = append(c.funcTypes, c.typeRef(r))
		}
		c.functions += n
	case wasmbin.Table:
		c.where = "table section"
		for n := c.vector(r, "tables", 3, c.limits.Tables); n > 0 && r.Err() == nil; n-- {
			c.table(r)
		}
	case wasmbin.Memory:
		c.where = "memory section"
		for n := c.vector(r, "memories", 2, 1); n > 0 && r.Err() == nil; n-- {
			c.memory(r)
		}
	case wasmbin.Global:
		c.where = "global section"
		n := c.vector(r, "globals", 4, c.limits.Globals)
		for i := 0; i < n && r.Err() == nil; i++ {
			c.globalType(r)
			c.constExpr(r)
		}
		c.globals += n
	case wasmbin.Export:
		c.where = "export section"
		c.exportSection(r)
	case wasmbin.Start:
		c.where = "start section"
		c.functionRef(r)
		if c.summary != nil {
			c.summary.Start = true
		}
	case wasmbin.Element:
		c.where = "element section"
		c.elementSection(r)
	case wasmbin.DataCount:
		c.where = "data count section"
		at := r.Offset()
		if n := r.U32(); r.Err() == nil && int64(n) > int64(c.limits.Segments) {
			r.FailAt(at, "%d data segments, more than the limit of %d", n, c.limits.Segments)
		}
	case wasmbin.Code:
		c.where = "code section"
		c.codeSection(r)
	case wasmbin.Data:
		c.where = "data section"
		c.dataSection(r)
	case wasmbin.Tag:
		c.where = "tag section"
		r.Fail("exception handling is not supported")
	}
}

func (c *checker) typeSection(r *wasmbin.Reader) {
	n := c.vector(r, "types", 3, c.limits.Types)
	c.types = make([]signature, 0, n)
	for i := 0; i < n && r.Err() == nil; i++ {
		at := r.Offset()
		if form := r.Byte(); r.Err() == nil && form != 0x60 {
			r.FailAt(at, "type %d has the form %#x, only functions (0x60) are supported", i, form)
			return
		}
		params := c.valueTypes(r, "parameters", c.limits.Params)
		results := c.valueTypes(r, "results", c.limits.Results)
		c.types = append(c.types, signature{params, results})
	}
}

// valueTypes reads a vector of value types, which alias the module.
func (c *checker) valueTypes(r *wasmbin.Reader, what string, limit int) []byte {
	n := c.vector(r, what, 1, limit)
	at := r.Offset()
	b := r.Bytes(n)
	for i, t := range b {
		if valueTypeName(t) == "" {
			r.FailAt(at+i, "unknown value type %#x", t)
			return nil
		}
	}
	return b
}

func (c *checker) valueType(r *wasmbin.Reader) byte {
	at := r.Offset()
	t := r.Byte()
	if r.Err() == nil && valueTypeName(t) == "" {
		r.FailAt(at, "unknown value type %#x", t)
	}
	return t
}

func (c *checker) refType(r *wasmbin.Reader) byte {
	at := r.Offset()
	t := r.Byte()
	if r.Err() == nil && t != funcref && t != externref {
		r.FailAt(at, "unknown reference type %#x", t)
	}
	return t
}

func (c *checker) typeRef(r *wasmbin.Reader) uint32 {
	at := r.Offset()
	t := r.U32()
	if r.Err() == nil && int64(t) >= int64(len(c.types)) {
		r.FailAt(at, "type %d does not exist", t)
		return 0
	}
	return t
}

func (c *checker) functionRef(r *wasmbin.Reader) {
	at := r.Offset()
	f := r.U32()
	if r.Err() == nil && int64(f) >= int64(c.functions) {
		r.FailAt(at, "function %d does not exist", f)
	}
}

func (c *checker) importSection(r *wasmbin.Reader) {
	n := c.vector(r, "imports", 4, c.limits.Imports)
	for i := 0; i < n && r.Err() == nil; i++ {
		module, name := r.Name(), r.Name()
		at := r.Offset()
		im := Import{}
		switch kind := r.Byte(); kind {
		case kindFunction:
			t := c.typeRef(r)
			c.funcTypes = append(c.funcTypes, t)
			c.functions++
			c.imported++
			if r.Err() == nil && c.summary != nil {
				im.Kind, im.Params, im.Results = Function, c.types[t].params, c.types[t].results
				im.Type = signatureText(c.types[t])
			}
		case kindTable:
			im.Kind, im.Type = Table, c.table(r)
		case kindMemory:
			im.Kind, im.Type = Memory, c.memory(r)
		case kindGlobal:
			im.Kind, im.Type = Global, c.globalType(r)
			c.globals++
		default:
			r.FailAt(at, "import of kind %d is not supported", kind)
		}
		if r.Err() == nil && c.summary != nil {
			im.Module, im.Name = string(module), string(name)
			c.summary.Imports = append(c.summary.Imports, im)
		}
	}
}

// limit reads the flags and bounds of a table or memory.
func (c *checker) limit(r *wasmbin.Reader, what string) (minimum, maximum int64) {
	at := r.Offset()
	flags := r.Byte()
	switch {
	case flags == 0:
		return int64(r.U32()), -1
	case flags == 1:
		minimum, maximum = int64(r.U32()), int64(r.U32())
		if r.Err() == nil && minimum > maximum {
			r.FailAt(at, "%s with a minimum of %d and a maximum of %d", what, minimum, maximum)
		}
		return minimum, maximum
	case flags&4 != 0:
		r.FailAt(at, "64-bit %s (limits %#x) is not supported", what, flags)
	case flags&2 != 0:
		r.FailAt(at, "shared %s (limits %#x) is not supported", what, flags)
	default:
		r.FailAt(at, "%s with unknown limits %#x", what, flags)
	}
	return 0, 0
}

func (c *checker) table(r *wasmbin.Reader) string {
	at := r.Offset()
	t := c.refType(r)
	minimum, maximum := c.limit(r, "table")
	c.tables++
	if c.elements += minimum; c.elements > int64(c.limits.TableElements) {
		r.FailAt(at, "tables of %d elements at least, more than the limit of %d", c.elements, c.limits.TableElements)
	}
	if c.summary != nil {
		c.summary.Tables = append(c.summary.Tables, Range{minimum, maximum})
	}
	return valueTypeName(t) + " " + Range{minimum, maximum}.String()
}

func (c *checker) memory(r *wasmbin.Reader) string {
	at := r.Offset()
	minimum, maximum := c.limit(r, "memory")
	if c.memories++; c.memories > 1 {
		r.FailAt(at, "%d memories, only one is supported", c.memories)
	}
	if minimum > maxPages || maximum > maxPages {
		r.FailAt(at, "a memory of more than %d pages (4 GiB)", maxPages)
	}
	if minimum<<16 > c.limits.MemoryBytes {
		r.FailAt(at, "a memory of %d bytes at least, more than the limit of %d", minimum<<16, c.limits.MemoryBytes)
	}
	if c.summary != nil {
		c.summary.Memory, c.summary.HasMemory = Range{minimum, maximum}, true
	}
	return Range{minimum, maximum}.String()
}

func (c *checker) globalType(r *wasmbin.Reader) string {
	t := c.valueType(r)
	at := r.Offset()
	switch mutable := r.Byte(); mutable {
	case 0:
		return valueTypeName(t)
	case 1:
		return "mut " + valueTypeName(t)
	default:
		r.FailAt(at, "unknown mutability %#x", mutable)
		return ""
	}
}

// constExpr moves past a constant expression, which is one instruction and an end in nearly all modules.
func (c *checker) constExpr(r *wasmbin.Reader) {
	at := r.Offset()
	var in wasmbin.Instr
	for i := 0; r.Err() == nil; i++ {
		if i > maxConstInstrs {
			r.FailAt(at, "a constant expression of more than %d instructions", maxConstInstrs)
		}
		if r.Instr(&in); in.Op == wasmbin.OpEnd {
			return
		}
	}
}

// maxConstInstrs bounds a constant expression.
const maxConstInstrs = 64

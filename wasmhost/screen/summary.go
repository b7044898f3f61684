package screen

import (
	"fmt"
	"math"
)

// Kind is what an import or export refers to. Its String is the word of the text format.
type Kind byte

// The kinds; the zero value is unset.
const (
	Function Kind = iota + 1
	Table
	Memory
	Global
)

func (k Kind) String() string {
	switch k {
	case Function:
		return "func"
	case Table:
		return "table"
	case Memory:
		return "memory"
	case Global:
		return "global"
	}
	return "unset"
}

// The kinds as the binary format numbers them.
const (
	kindFunction = iota
	kindTable
	kindMemory
	kindGlobal
)

// Range is the declared size of a memory in pages of 64 KiB, or of a table in elements. Max is -1 where none is declared.
type Range struct{ Min, Max int64 }

func (r Range) String() string {
	if r.Max < 0 {
		return fmt.Sprintf("%d..", r.Min)
	}
	return fmt.Sprintf("%d..%d", r.Min, r.Max)
}

// Import is one thing that a module asks for.
type Import struct {
	Module, Name string
	Kind         Kind
	// Type is text: "(i32, i32) -> i32" for a function, "mut i64" for a global, "1..16" for a memory, "funcref 1..16" for a table.
	Type string
	// Params and Results are the value types of a function, as in the binary format (0x7f is i32). They alias the module.
	Params, Results []byte
}

// Export is one thing that a module offers.
type Export struct {
	Name string
	Kind Kind
	// Type, Params and Results are as for an import, of functions only.
	Type            string
	Params, Results []byte
}

// Summary is what can be seen of a module without compiling it. Its byte slices alias the module.
type Summary struct {
	Imports []Import // in the module's order
	Exports []Export // in the module's order
	// Memory is the memory that the module defines or imports, if HasMemory.
	Memory    Range
	HasMemory bool
	Tables    []Range // imported ones first
	// Start says that a function runs when the module is instantiated.
	Start bool
	// Command says that the module is a WASI command (exports _start and no _initialize): it can be run once and not be called.
	Command        bool
	Functions      int      // defined, without the imported ones
	CustomSections []string // names, in order
	// CompileCost is the estimated time of compiling, in microseconds, and FunctionCost that of the most expensive function.
	CompileCost, FunctionCost int64
}

// Component reports whether the bytes begin like a WebAssembly component. Weir runs core modules only, and Check and Summarize refuse components with a
// reason that says so.
func Component(wasm []byte) bool {
	return len(wasm) >= 8 && string(wasm[:4]) == "\x00asm" && wasm[6] == 1
}

// Summarize reads a module without compiling it. It is safe on hostile bytes: it makes all the structural checks of Check, with no limit on memory or compile
// cost and the format's own bounds elsewhere, and returns an *Error for what is malformed.
func Summarize(wasm []byte) (Summary, error) {
	limits := Limits{MemoryBytes: 1 << 32, TableElements: math.MaxInt32, CompileCost: math.MaxInt64, FunctionCost: math.MaxInt64}.WithDefaults()
	return summarize(wasm, limits)
}

func summarize(wasm []byte, limits Limits) (Summary, error) {
	c := &checker{limits: limits, summary: &Summary{}}
	if err := c.run(wasm); err != nil {
		return Summary{}, err
	}
	s := c.summary
	s.Functions = c.functions - c.imported
	s.CompileCost, s.FunctionCost = c.cost.total, c.cost.largest
	var start, initialize bool
	for _, e := range s.Exports {
		start = start || e.Name == "_start" && e.Kind == Function
		initialize = initialize || e.Name == "_initialize" && e.Kind == Function
	}
	s.Command = start && !initialize
	return *s, nil
}

package screen

import (
	"errors"
	"fmt"
)

// Limits bounds what a module may contain. A zero field stands for its default, so the zero value is usable; there is no way to say "unlimited".
type Limits struct {
	ModuleBytes    int   // size of the file; default 32 MiB
	MemoryBytes    int64 // declared minimum of the memory; default 64 MiB. A larger declared maximum is no error: growing is limited where it happens.
	TableElements  int   // declared minimum of all tables together; default 100,000
	Types          int   // default 10,000
	Imports        int   // default 1,000
	Functions      int   // defined functions; default 200,000
	Params         int   // of one function; default 255
	Results        int   // of one function or block; default 255
	Locals         int   // of one function, parameters included; default 10,000
	BodyBytes      int   // of one function; default 4 MiB
	Nesting        int   // of blocks in one function; default 20,000
	BranchTargets  int   // of one br_table; default 20,000
	Globals        int   // default 20,000
	Exports        int   // default 20,000
	Tables         int   // default 16
	Segments       int   // element and data segments, each; default 100,000
	CustomSections int   // default 1,000
	// CompileCost and FunctionCost bound the estimated time of compiling the module and its most expensive function, in microseconds; the
	// package documentation has the formula. Defaults 60,000,000 and 1,000,000, several times what the largest real guests come to. A small
	// module may cost less than CompileCost.
	CompileCost, FunctionCost int64
}

const mib = 1 << 20

// Validate reports fields that are negative or larger than what the binary format or the engine can hold.
func (l Limits) Validate() error {
	var errs []error
	for _, f := range l.fields() {
		if *f.value < 0 {
			errs = append(errs, fmt.Errorf("screen limit %s is negative: %d", f.name, *f.value))
		}
	}
	if l.MemoryBytes < 0 || l.MemoryBytes > 1<<32 {
		errs = append(errs, fmt.Errorf("screen limit MemoryBytes must lie between 0 and 4 GiB, not %d", l.MemoryBytes))
	}
	if l.CompileCost < 0 || l.FunctionCost < 0 {
		errs = append(errs, fmt.Errorf("screen limit CompileCost or FunctionCost is negative: %d, %d", l.CompileCost, l.FunctionCost))
	}
	return errors.Join(errs...)
}

type field struct {
	name     string
	value    *int
	standard int
}

// fields lists the limits that are plain counts, with their defaults.
func (l *Limits) fields() []field {
	return []field{
		{"ModuleBytes", &l.ModuleBytes, 32 * mib},
		{"TableElements", &l.TableElements, 100_000},
		{"Types", &l.Types, 10_000},
		{"Imports", &l.Imports, 1_000},
		{"Functions", &l.Functions, 200_000},
		{"Params", &l.Params, 255},
		{"Results", &l.Results, 255},
		{"Locals", &l.Locals, 10_000},
		{"BodyBytes", &l.BodyBytes, 4 * mib},
		{"Nesting", &l.Nesting, 20_000},
		{"BranchTargets", &l.BranchTargets, 20_000},
		{"Globals", &l.Globals, 20_000},
		{"Exports", &l.Exports, 20_000},
		{"Tables", &l.Tables, 16},
		{"Segments", &l.Segments, 100_000},
		{"CustomSections", &l.CustomSections, 1_000},
	}
}

// WithDefaults returns the limits with every zero field replaced by its default.
func (l Limits) WithDefaults() Limits {
	for _, f := range l.fields() {
		if *f.value == 0 {
			*f.value = f.standard
		}
	}
	if l.MemoryBytes == 0 {
		l.MemoryBytes = 64 * mib
	}
	if l.CompileCost == 0 {
		l.CompileCost = 60_000_000
	}
	if l.FunctionCost == 0 {
		l.FunctionCost = 1_000_000
	}
	return l
}

package screen

import (
	"math"
	"strconv"

	"weir/wasmhost/internal/wasmbin"
)

// estimate adds up the compile cost of a module.
type estimate struct{ total, largest int64 }

// A module of n bytes may cost baseCost + n*byteCost microseconds: real guests cost 0.3 to 2 a byte, and a small module has no reason to cost much.
const (
	baseCost = 1_000_000
	byteCost = 3
)

// functionCost is what any function takes, in microseconds: its entry, and the meter's code there.
const functionCost = 20

// body is what a function's compile cost is estimated from.
type body struct {
	locals  int64
	instrs  int64
	blocks  int64 // blocks, loops, ifs
	loops   int64
	targets int64 // of all br_tables
	nested  int64 // sum over loops of their depth among loops, 1 for an outermost one
	ifs     int64 // the same for ifs
	// branches is the sum over labels of the square of the number of branches to it, those of br_table apart.
	branches int64
}

// label is an open block, loop or if.
type label struct {
	loops    int64 // open loops, itself included
	ifs      int64 // open ifs, itself included
	branches int64 // to it so far
}

func (c *checker) codeSection(r *wasmbin.Reader) {
	at := r.Offset()
	n := c.vector(r, "function bodies", 2, c.limits.Functions)
	if r.Err() == nil && n != c.functions-c.imported {
		r.FailAt(at, "%d function bodies for %d functions", n, c.functions-c.imported)
	}
	b := &wasmbin.Reader{}
	for i := 0; i < n && r.Err() == nil; i++ {
		at := r.Offset()
		size := c.vector(r, "body bytes", 1, c.limits.BodyBytes)
		r.SubInto(b, size)
		f := body{}
		c.function(b, &f, c.types[c.funcTypes[c.imported+i]])
		if err := b.Err(); err != nil {
			c.where = functionName(c.imported + i)
			r.FailAt(err.Offset, "%s", err.Reason)
			return
		}
		if r.Err() != nil {
			return
		}
		cost := f.cost()
		c.cost.total += cost
		c.cost.largest = max(c.cost.largest, cost)
		if cost > c.limits.FunctionCost {
			c.where = functionName(c.imported + i)
			r.FailAt(at, "would take about %d ms to compile, more than the limit of %d ms for one function (%d instructions, %d blocks, %d loops, %d branch targets, %d locals)",
				cost/1000, c.limits.FunctionCost/1000, f.instrs, f.blocks, f.loops, f.targets, f.locals)
			return
		}
	}
	limit := min(c.limits.CompileCost, baseCost+int64(c.size)*byteCost)
	if c.summary == nil && r.Err() == nil && c.cost.total > limit {
		r.FailAt(at, "would take about %d ms to compile, more than the limit of %d ms for a module of %d bytes", c.cost.total/1000, limit/1000, c.size)
	}
}

// function reads one body. It checks the structure: locals, nesting, targets, function indexes and the last end.
func (c *checker) function(r *wasmbin.Reader, f *body, t signature) {
	f.locals = int64(len(t.params))
	for n := r.Count("runs of locals", 2); n > 0 && r.Err() == nil; n-- {
		at := r.Offset()
		if f.locals += int64(r.U32()); f.locals > int64(c.limits.Locals) {
			r.FailAt(at, "%d locals, more than the limit of %d", f.locals, c.limits.Locals)
			return
		}
		c.valueType(r)
	}
	labels := append(c.open[:0], label{})
	in := wasmbin.Instr{Labels: c.labels}
	for r.Err() == nil && len(labels) > 0 {
		at := r.Offset()
		r.Instr(&in)
		f.instrs++
		switch in.Op {
		case wasmbin.OpBlock, wasmbin.OpLoop, wasmbin.OpIf:
			open := labels[len(labels)-1]
			open.branches = 0
			f.blocks++
			switch in.Op {
			case wasmbin.OpLoop:
				open.loops++
				f.loops++
				f.nested += open.loops
			case wasmbin.OpIf:
				open.ifs++
				f.ifs += open.ifs
			}
			if labels = append(labels, open); len(labels)-1 > c.limits.Nesting {
				r.FailAt(at, "%d nested blocks, more than the limit of %d", len(labels)-1, c.limits.Nesting)
			}
			if in.Block >= int64(len(c.types)) {
				r.FailAt(at, "block of type %d, which does not exist", in.Block)
			}
		case wasmbin.OpEnd:
			labels = labels[:len(labels)-1]
		case wasmbin.OpBr, wasmbin.OpBrIf:
			if int64(in.A) >= int64(len(labels)) {
				r.FailAt(at, "branch to label %d, which does not exist", in.A)
				break
			}
			// (n+1)² - n²
			l := &labels[len(labels)-1-int(in.A)]
			f.branches += 2*l.branches + 1
			l.branches++
		case wasmbin.OpBrTable:
			f.targets += int64(len(in.Labels))
			if len(in.Labels)-1 > c.limits.BranchTargets {
				r.FailAt(at, "br_table with %d targets, more than the limit of %d", len(in.Labels)-1, c.limits.BranchTargets)
			}
			for _, l := range in.Labels {
				if int64(l) >= int64(len(labels)) {
					r.FailAt(at, "branch to label %d, which does not exist", l)
				}
			}
		case wasmbin.OpCall, wasmbin.OpReturnCall:
			if int64(in.A) >= int64(c.functions) {
				r.FailAt(at, "call of function %d, which does not exist", in.A)
			}
		}
	}
	c.open, c.labels = labels, in.Labels
	if r.Err() == nil && r.Len() > 0 {
		r.Fail("%d bytes behind the end of the function", r.Len())
	}
}

// cost is the estimate for one function, in microseconds; the package documentation says where the terms come from.
func (f *body) cost() int64 {
	values := f.locals + 4 // the compiler keeps four more: two contexts, the memory's address and length
	merges := f.blocks * values
	loops := f.nested * values
	return functionCost + f.instrs*6/10 + square(f.instrs)/10_000 +
		3*merges + square(merges)/100_000 +
		loops + square(loops)/2_000_000 + f.ifs*values/100 +
		3*f.targets + square(f.targets)/200 +
		f.branches/40
}

// square saturates: counts are bounded by the size of the module, but their products need not be.
func square(n int64) int64 {
	if n > 1<<31 {
		return math.MaxInt64 / 8
	}
	return n * n
}

func functionName(i int) string { return "function " + strconv.Itoa(i) }

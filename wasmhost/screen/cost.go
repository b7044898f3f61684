package screen

import (
	"strconv"

	"weir/wasmhost/internal/wasmbin"
)

// estimate adds up the compile cost of a module.
type estimate struct{ total int64 }

// body is what a function's compile cost is estimated from.
type body struct {
	bytes   int
	locals  int64
	instrs  int64
	blocks  int64 // blocks, loops, ifs
	loops   int64
	targets int64 // of all br_tables
	nested  int64 // sum over loops of the number of loops around them
	params  int64 // parameters and results of all blocks
}

func (c *checker) codeSection(r *wasmbin.Reader) {
	at := r.Offset()
	n := c.vector(r, "function bodies", 2, c.limits.Functions)
	if r.Err() == nil && n != c.functions-c.imported {
		r.FailAt(at, "%d function bodies for %d functions", n, c.functions-c.imported)
	}
	for i := 0; i < n && r.Err() == nil; i++ {
		at := r.Offset()
		size := c.vector(r, "body bytes", 1, c.limits.BodyBytes)
		b := r.Sub(size)
		f := body{bytes: size}
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
		if c.cost.total += cost; c.cost.total > c.limits.CompileCost {
			if cost > c.limits.CompileCost/2 {
				c.where = functionName(c.imported + i)
				r.FailAt(at, "an estimated compile cost of %d (%d instructions, %d loops, %d locals), more than the limit of %d for the module",
					cost, f.instrs, f.loops, f.locals, c.limits.CompileCost)
			} else {
				r.FailAt(at, "an estimated compile cost of %d for the first %d functions, more than the limit of %d", c.cost.total, i+1, c.limits.CompileCost)
			}
			return
		}
	}
}

// function reads one body. It checks the structure: locals, nesting, targets, function indexes and the last end.
func (c *checker) function(r *wasmbin.Reader, f *body, t signature) {
	f.locals = int64(len(t.params))
	for range r.Count("runs of locals", 2) {
		at := r.Offset()
		if f.locals += int64(r.U32()); f.locals > int64(c.limits.Locals) {
			r.FailAt(at, "%d locals, more than the limit of %d", f.locals, c.limits.Locals)
			return
		}
		c.valueType(r)
	}
	// loops[i] is the number of loops among the i+1 outermost open blocks.
	loops := c.loops[:0]
	loops = append(loops, 0)
	in := wasmbin.Instr{Labels: c.labels}
	for r.Err() == nil && len(loops) > 0 {
		at := r.Offset()
		r.Instr(&in)
		f.instrs++
		switch in.Op {
		case wasmbin.OpBlock, wasmbin.OpLoop, wasmbin.OpIf:
			open := loops[len(loops)-1]
			f.blocks++
			if in.Op == wasmbin.OpLoop {
				open++
				f.loops++
				f.nested += int64(open)
			}
			if loops = append(loops, open); len(loops)-1 > c.limits.Nesting {
				r.FailAt(at, "%d nested blocks, more than the limit of %d", len(loops)-1, c.limits.Nesting)
			}
			if in.Block >= 0 {
				if in.Block >= int64(len(c.types)) {
					r.FailAt(at, "block of type %d, which does not exist", in.Block)
					return
				}
				f.params += int64(len(c.types[in.Block].params) + len(c.types[in.Block].results))
			}
		case wasmbin.OpEnd:
			loops = loops[:len(loops)-1]
		case wasmbin.OpBr, wasmbin.OpBrIf:
			if int64(in.A) >= int64(len(loops)) {
				r.FailAt(at, "branch to label %d, which does not exist", in.A)
			}
		case wasmbin.OpBrTable:
			f.targets += int64(len(in.Labels))
			if len(in.Labels)-1 > c.limits.BranchTargets {
				r.FailAt(at, "br_table with %d targets, more than the limit of %d", len(in.Labels)-1, c.limits.BranchTargets)
			}
			for _, l := range in.Labels {
				if int64(l) >= int64(len(loops)) {
					r.FailAt(at, "branch to label %d, which does not exist", l)
				}
			}
		case wasmbin.OpCall, wasmbin.OpReturnCall:
			if int64(in.A) >= int64(c.functions) {
				r.FailAt(at, "call of function %d, which does not exist", in.A)
			}
		}
	}
	c.loops, c.labels = loops, in.Labels
	if r.Err() == nil && r.Len() > 0 {
		r.Fail("%d bytes behind the end of the function", r.Len())
	}
}

// cost is the estimate for one function.
func (f *body) cost() int64 {
	return (f.instrs + f.targets + (f.nested+f.blocks/8)*f.locals) / 1000
}

func functionName(i int) string { return "function " + strconv.Itoa(i) }

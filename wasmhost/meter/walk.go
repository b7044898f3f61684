package meter

import "weir/wasmhost/internal/wasmbin"

// planBody reads a function body whose locals are behind it and fills the plan.
func (w *rewriter) planBody(r *wasmbin.Reader) {
	p := &planner{plan: &w.plan, frames: w.frames[:0], place: -1}
	p.sites, p.edits = p.sites[:0], p.edits[:0]
	p.tight, p.calls, p.joins, p.argBytes = false, false, 0, 0
	p.code = r.Pos()
	p.checkpoint(r.Pos(), entryCost)
	p.clock++
	p.open(0, 0)
	var in wasmbin.Instr
	in.Labels = w.labels
	for r.Err() == nil && len(p.frames) > 0 {
		at := r.Offset()
		r.Instr(&in)
		if r.Err() != nil {
			break
		}
		w.planInstr(p, r, &in, at)
	}
	w.frames, w.labels = p.frames, in.Labels
	if r.Err() == nil && r.Len() > 0 {
		r.Fail("%d bytes behind the end of the function", r.Len())
	}
}

func (w *rewriter) planInstr(p *planner, r *wasmbin.Reader, in *wasmbin.Instr, at int) {
	p.clock++
	off, end := in.Start, r.Pos()
	switch in.Op {
	case wasmbin.OpBlock:
		p.joins++
		p.flush()
		p.open(w.blockArity(in))
	case wasmbin.OpLoop:
		p.joins++
		p.flush()
		params, results := w.blockArity(in)
		p.openLoop(off, end, params, results)
	case wasmbin.OpIf:
		p.joins++
		p.add(off, 1)
		p.flush()
		p.effect(1, 0, 0)
		p.open(w.blockArity(in))
		p.cur.must = false
	case wasmbin.OpElse:
		p.flush()
		f := &p.frames[len(p.frames)-1]
		p.cur, p.dead = region{site: f.saved.site}, f.dead
		p.height = f.base
	case wasmbin.OpEnd:
		p.flush()
		if top := len(p.frames) - 1; p.frames[top].loop == top {
			p.closeLoop(off)
		}
		p.close()
	case wasmbin.OpBr, wasmbin.OpBrIf:
		p.add(off, 1)
		p.flush()
		if !p.branch(in.A) {
			r.FailAt(at, "branch to unknown label %d", in.A)
		}
		p.cur.must = false
		p.leavesLoop(in, end)
		p.dead = p.dead || in.Op == wasmbin.OpBr
	case wasmbin.OpBrTable:
		p.add(off, 1)
		p.flush()
		for _, l := range in.Labels {
			if !p.branch(l) {
				r.FailAt(at, "branch to unknown label %d", l)
			}
		}
		p.leavesLoop(in, end)
		p.dead = true
	case wasmbin.OpReturn:
		p.add(off, 1)
		p.leave()
		p.edits = append(p.edits, edit{off, end, editReturn, uint32(len(p.frames) - 1)})
	case wasmbin.OpUnreachable:
		p.add(off, 1)
		p.flush()
		p.dead = true
	case wasmbin.OpCall, wasmbin.OpReturnCall:
		w.planCall(p, r, in, at)
	case wasmbin.OpCallIndirect, wasmbin.OpReturnCallIndirect:
		if int(in.A) >= len(w.types) {
			r.FailAt(at, "call of unknown type %d", in.A)
			return
		}
		p.add(off, indirectCost)
		p.called(w.types[in.A], 1)
		if in.Op == wasmbin.OpReturnCallIndirect {
			p.leave()
			p.edits = append(p.edits, edit{off, end, editTailCallIn, 0})
		}
	case wasmbin.OpRefFunc:
		p.add(off, refFuncCost)
		p.call()
		p.busy()
		p.effect(0, 1, 0)
		p.edits = append(p.edits, edit{off, end, editRefFunc, w.shift(in.A)})
	default:
		switch {
		case in.Op == wasmbin.OpLocalSet || in.Op == wasmbin.OpLocalTee:
			p.write(in.A, p.frames)
		case in.Op >= wasmbin.PrefixFD:
			p.wide = true
		}
		pop, push := stackEffect(in.Op)
		p.effect(pop, push, p.frames[len(p.frames)-1].base)
		p.add(off, opCost(in.Op))
		w.planBulk(p, r, in, at)
	}
}

// busy marks the innermost frame as one that calls something.
func (p *planner) busy() { p.frames[len(p.frames)-1].busy = true }

// leave ends the segment in front of an instruction that leaves the function.
func (p *planner) leave() {
	p.flush()
	p.branch(uint32(len(p.frames) - 1))
	p.dead = true
}

func (w *rewriter) planCall(p *planner, r *wasmbin.Reader, in *wasmbin.Instr, at int) {
	t, ok := w.typeOf(in.A)
	if !ok {
		r.FailAt(at, "call of unknown function %d", in.A)
		return
	}
	cost := int64(callCost)
	if in.A < w.importFuncs {
		cost = importCost
	}
	off, end := in.Start, r.Pos()
	p.add(off, cost)
	p.called(t, 0)
	if in.Op == wasmbin.OpReturnCall {
		p.leave()
		p.edits = append(p.edits, edit{off, end, editTailCall, w.shift(in.A)})
	} else if in.A >= w.importFuncs {
		p.edits = append(p.edits, edit{off, end, editReplace, w.shift(in.A)})
	}
}

// called notes what a call needs of the caller's frame. extra is the number of operands beside the arguments.
func (p *planner) called(t funcType, extra int) {
	p.calls = true
	p.busy()
	p.effect(len(t.params)+extra, 0, 0)
	p.call()
	p.effect(0, len(t.results), 0)
	p.argBytes = max(p.argBytes, valueBytes(t.params)+valueBytes(t.results))
}

// planBulk handles the instructions whose cost depends on an operand, which is the topmost one in all of them.
func (w *rewriter) planBulk(p *planner, r *wasmbin.Reader, in *wasmbin.Instr, at int) {
	off, end := in.Start, r.Pos()
	switch in.Op {
	case wasmbin.OpMemoryGrow:
		p.edits = append(p.edits, edit{off, off, editInsert, w.helpers.index(helper{kind: helperGrowCharge})})
	case wasmbin.OpMemoryFill:
		p.edits = append(p.edits, edit{off, end, editReplace, w.helpers.index(helper{kind: helperFill})})
	case wasmbin.OpMemoryCopy:
		p.edits = append(p.edits, edit{off, end, editReplace, w.helpers.index(helper{kind: helperCopy})})
	case wasmbin.OpMemoryInit:
		if int(in.A) >= len(w.dataSizes) {
			r.FailAt(at, "unknown data segment %d", in.A)
			return
		}
		p.edits = append(p.edits, edit{off, end, editReplace, w.helpers.index(helper{helperInit, in.A})})
	case wasmbin.OpTableInit:
		// Its immediates are the element segment and the table.
		p.edits = append(p.edits, edit{off, off, editInsert, w.helpers.index(helper{helperTableCharge, in.B})})
	case wasmbin.OpTableCopy, wasmbin.OpTableFill:
		p.edits = append(p.edits, edit{off, off, editInsert, w.helpers.index(helper{helperTableCharge, in.A})})
	case wasmbin.OpTableGrow:
		p.edits = append(p.edits, edit{off, off, editInsert, w.helpers.index(helper{helperTableGrowCharge, in.A})})
	default:
		return
	}
	p.calls = true
	p.busy()
	p.call()
}

// blockArity returns the number of parameters and results of a block.
func (w *rewriter) blockArity(in *wasmbin.Instr) (params, results int) {
	switch {
	case in.Block >= 0 && in.Block < int64(len(w.types)):
		t := w.types[in.Block]
		return len(t.params), len(t.results)
	case in.Block == blockEmpty:
		return 0, 0
	default:
		return 0, 1
	}
}

// blockEmpty is how the block type 0x40 reads as a signed number.
const blockEmpty = -64

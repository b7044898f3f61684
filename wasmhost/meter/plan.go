package meter

import "weir/wasmhost/internal/wasmbin"

// plan is what one pass over a function finds: where to charge how much, and which instructions change. It is reused from function to function.
type plan struct {
	sites []site
	edits []edit
	code  int // position of the first instruction

	tight      bool // contains a tight loop
	calls      bool // contains an instruction that becomes or is a call
	joins      int  // blocks, loops and ifs
	argBytes   int  // the largest stack area that a call needs for its arguments and results
	paramBytes int
	localBytes int
	pressure
}

// site is a place where fuel is charged.
type site struct {
	cost    int64
	slack   int64 // how much code that may be skipped it can still take on
	checked bool
	// tight says that this is the head of a loop without calls and loops inside, and head and body are the loop instruction's bounds.
	tight      bool
	head, body int
	inside     bool // lies in a tight loop, at its head included
}

// edit changes the bytes [off, end) of a body. Edits are in order and do not overlap.
type edit struct {
	off, end int
	kind     editKind
	arg      uint32
}

type editKind uint8

const (
	editNone        editKind = iota // a reserved place that was not needed
	editSite                        // insert the charge of site arg
	editReplace                     // replace by a call of function arg
	editInsert                      // insert a call of function arg
	editRefFunc                     // replace by ref.func arg
	editReturn                      // a return inside arg open blocks
	editTailCall                    // a return_call of function arg
	editTailCallIn                  // a return_call_indirect
	editEnd                         // insert an end
	editBranch                      // a br or br_if to label arg
	editTable                       // a br_table whose labels from arg on grow by one
	editMaybeBranch                 // would become editBranch if the loop around it is tight
	editMaybeTable                  // likewise editTable
)

// frame is an open block, loop or if (or the function, outermost) during the pass.
type frame struct {
	saved  region
	dead   bool // opened in code that cannot be reached
	escape int  // outermost frame that a branch inside this one leaves to
	opened int  // on the clock
	base   int  // height of the operand stack below it
	arity  int  // number of its results
	loop   int  // the innermost loop around what is inside, -1 for none
	busy   bool // contains a call or a loop
	edit   int  // of a loop that can be reached: the edit of its site, else -1
}

// region says which site pays for the code that follows.
type region struct {
	site int
	must bool // the code that follows runs whenever the site has run
}

// planner runs the pass.
type planner struct {
	*plan
	frames []frame
	cur    region
	dead   bool
	cost   int64 // of the current segment, not yet assigned
	place  int   // edit reserved at the beginning of the segment, -1 if it has none yet
	run    int64 // cost of plain sites since the last check, in order of the code
}

// add counts the cost of an instruction at position off.
func (p *planner) add(off int, cost int64) {
	if p.dead || cost == 0 {
		return
	}
	if p.place < 0 && !p.cur.must {
		p.place = len(p.edits)
		p.edits = append(p.edits, edit{off: off, end: off})
	}
	p.cost += cost
}

// flush ends the current segment and lets a site pay for it.
func (p *planner) flush() {
	if p.cost > 0 {
		s := &p.sites[p.cur.site]
		switch {
		case p.cur.must:
			s.cost += p.cost
		case p.cost <= s.slack:
			s.cost += p.cost
			s.slack -= p.cost
		default:
			p.edits[p.place].kind = editSite
			p.edits[p.place].arg = uint32(len(p.sites))
			p.cur = region{site: len(p.sites), must: true}
			p.run += p.cost
			p.sites = append(p.sites, site{cost: p.cost, slack: Slack, checked: p.run > longRun})
			if p.run > longRun {
				p.run = 0
			}
		}
	}
	p.cost = 0
	p.place = -1
}

// checkpoint begins a site that tests the fuel, at position off.
func (p *planner) checkpoint(off int, cost int64) {
	p.edits = append(p.edits, edit{off: off, end: off, kind: editSite, arg: uint32(len(p.sites))})
	p.cur = region{site: len(p.sites), must: true}
	p.sites = append(p.sites, site{cost: cost, slack: Slack, checked: true})
}

func (p *planner) open(params, results int) {
	p.frames = append(p.frames, frame{
		saved: p.cur, dead: p.dead, escape: len(p.frames), opened: p.clock,
		base: max(p.height-params, 0), arity: results, loop: p.loop(), edit: -1,
	})
}

// loop returns the innermost open loop, -1 if there is none.
func (p *planner) loop() int {
	if len(p.frames) == 0 {
		return -1
	}
	return p.frames[len(p.frames)-1].loop
}

// openLoop opens a frame for the loop instruction at [off, end).
func (p *planner) openLoop(off, end, params, results int) {
	p.open(params, results)
	f := &p.frames[len(p.frames)-1]
	f.loop = len(p.frames) - 1
	if p.dead {
		return
	}
	p.call()
	f.edit = len(p.edits)
	p.checkpoint(end, loopCost)
	s := &p.sites[p.cur.site]
	s.head, s.body = off, end
}

// closeLoop ends a loop whose end instruction is at off. A tight one becomes two loops, see charge, so that branches out of it have one block more to leave.
func (p *planner) closeLoop(off int) {
	f := &p.frames[len(p.frames)-1]
	if f.edit < 0 || f.busy {
		return
	}
	first := int(p.edits[f.edit].arg)
	p.sites[first].tight = true
	p.tight = true
	// Sites are numbered in order, so all later ones lie in the loop.
	for i := first; i < len(p.sites); i++ {
		p.sites[i].inside = true
	}
	for i := f.edit; i < len(p.edits); i++ {
		switch e := &p.edits[i]; e.kind {
		case editMaybeBranch:
			e.kind = editBranch
		case editMaybeTable:
			e.kind = editTable
		case editReturn:
			e.arg++
		}
	}
	p.edits = append(p.edits, edit{off: off, end: off, kind: editEnd})
}

// leavesLoop records a branch that would have to change if the loop around it turned out to be tight.
func (p *planner) leavesLoop(in *wasmbin.Instr, end int) {
	top := len(p.frames) - 1
	loop := p.loop()
	if loop < 0 {
		return
	}
	if in.Op == wasmbin.OpBrTable {
		p.edits = append(p.edits, edit{in.Start, end, editMaybeTable, uint32(top - loop + 1)})
	} else if top-int(in.A) < loop {
		p.edits = append(p.edits, edit{in.Start, end, editMaybeBranch, in.A + 1})
	}
}

// branch records a branch to a label as seen from the current frame. It reports whether the label exists.
func (p *planner) branch(label uint32) bool {
	top := len(p.frames) - 1
	if uint64(label) > uint64(top) {
		return false
	}
	if target := top - int(label); !p.dead && target < p.frames[top].escape {
		p.frames[top].escape = target
	}
	return true
}

// close ends the innermost frame: the code that follows belongs to the site in front of the frame.
func (p *planner) close() {
	top := len(p.frames) - 1
	f := p.frames[top]
	p.frames = p.frames[:top]
	p.cur, p.dead = f.saved, f.dead
	p.height = f.base + f.arity
	p.low = min(p.low, f.base)
	if top > 0 {
		p.frames[top-1].busy = p.frames[top-1].busy || f.busy || f.loop == top
	}
	if f.escape < top {
		p.cur.must = false
		if top > 0 && f.escape < p.frames[top-1].escape {
			p.frames[top-1].escape = f.escape
		}
	}
}

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

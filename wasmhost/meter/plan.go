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
	editTightEnd                    // insert the end of a tight loop, but for that of the outermost block
	editBranch                      // a br or br_if to label arg
	editTable                       // a br_table whose labels from arg on grow by tightBlocks
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

// closeLoop ends a loop whose end instruction is at off. A tight one gets tightBlocks blocks around it, which branches out of it have to leave as well.
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
			e.arg += tightBlocks
		}
	}
	p.edits = append(p.edits, edit{off: off, end: off, kind: editTightEnd})
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
		p.edits = append(p.edits, edit{in.Start, end, editMaybeBranch, in.A + tightBlocks})
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

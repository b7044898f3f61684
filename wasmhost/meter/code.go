package meter

import "weir/wasmhost/internal/wasmbin"

// maxLocals bounds the locals of a function; wazero allows 50,000 declared ones.
const maxLocals = 50_000

// code returns the new code section.
func (w *rewriter) code() ([]byte, *wasmbin.Error) {
	var r *wasmbin.Reader
	for i := range w.sections {
		if w.sections[i].ID == wasmbin.Code {
			r = w.sections[i].Reader()
		}
	}
	if r == nil {
		r = wasmbin.NewReader([]byte{0}, 0)
	}
	at := r.Offset()
	n := r.Count("function bodies", 2)
	if r.Err() == nil && n != len(w.funcTypes) {
		r.FailAt(at, "%d function bodies for %d functions", n, len(w.funcTypes))
	}
	w.helpers.index(helper{kind: helperSlow})
	if w.cfg.Enter {
		w.helpers.index(helper{kind: helperEnter})
	}
	out := make([]byte, 0, r.Len()+r.Len()/2)
	b := &wasmbin.Reader{}
	for i := 0; i < n && r.Err() == nil; i++ {
		r.SubInto(b, r.Count("body bytes", 1))
		w.body = w.function(w.body[:0], b, w.types[w.funcTypes[i]])
		if b.Err() != nil {
			return nil, b.Err()
		}
		out = append(wasmbin.AppendU32(out, uint32(len(w.body))), w.body...)
	}
	if r.Err() != nil {
		return nil, r.Err()
	}
	for i := range w.helpers.list {
		body := w.helperBody(w.helpers.list[i])
		out = append(wasmbin.AppendU32(out, uint32(len(body))), body...)
	}
	count := wasmbin.AppendU32(make([]byte, 0, len(out)+5), uint32(n+len(w.helpers.list)))
	return append(count, out...), nil
}

// typeOf returns the signature of a function of the guest.
func (w *rewriter) typeOf(f uint32) (funcType, bool) {
	var t uint32
	if f < w.importFuncs {
		t = w.importTypes[f]
	} else if i := f - w.importFuncs; int(i) < len(w.funcTypes) {
		t = w.funcTypes[i]
	} else {
		return funcType{}, false
	}
	if int(t) >= len(w.types) {
		return funcType{}, false
	}
	return w.types[t], true
}

// function appends the rewritten body of one function, locals included.
func (w *rewriter) function(b []byte, r *wasmbin.Reader, t funcType) []byte {
	w.plan.localBytes, w.plan.paramBytes, w.plan.wide = 0, valueBytes(t.params), false
	total := uint64(0)
	runs := r.Count("runs of locals", 2)
	first := r.Pos()
	for range runs {
		at := r.Offset()
		n := r.U32()
		typ := r.Byte()
		if total += uint64(n); total > maxLocals {
			r.FailAt(at, "more than %d locals", maxLocals)
			return b
		}
		w.plan.localBytes += int(n) * valueBytes([]byte{typ})
		w.plan.wide = w.plan.wide || typ == v128Type
	}
	w.plan.begin(len(t.params) + int(total))
	w.planBody(r)
	if r.Err() != nil {
		return b
	}
	src := r.Since(0)
	size := frameSize(&w.plan, t)
	counted := w.plan.calls || size > leafFrame
	added := byte(0)
	if counted {
		w.saved = uint32(len(t.params)) + uint32(total)
		added++
	}
	if w.plan.tight {
		w.left = uint32(len(t.params)) + uint32(total) + uint32(added)
		added++
	}
	if added > 0 {
		b = wasmbin.AppendU32(b, uint32(runs+1))
		b = append(b, src[first:w.plan.code]...)
		b = append(b, added, i64Type)
	} else {
		b = append(b, src[:w.plan.code]...)
	}
	w.info.MaxFrame = max(w.info.MaxFrame, size)
	if !counted {
		w.info.Leaves++
	}
	last := w.plan.code
	for i := range w.plan.edits {
		e := &w.plan.edits[i]
		switch e.kind {
		case editNone, editMaybeBranch, editMaybeTable:
			continue
		case editReturn:
			if !counted {
				continue
			}
		}
		b = append(b, src[last:e.off]...)
		last = e.end
		switch e.kind {
		case editSite:
			w.info.Sites++
			if e.arg == 0 && counted {
				b = w.enter(b, w.plan.sites[0], size)
				b = w.blockType(append(b, byte(wasmbin.OpBlock)), t.results)
			} else if s := w.plan.sites[e.arg]; s.tight {
				b = w.tightLoop(b, s, src[s.head:s.body])
			} else {
				b = w.charge(b, s)
			}
		case editReplace, editInsert:
			b = wasmbin.AppendU32(append(b, byte(wasmbin.OpCall)), e.arg)
		case editRefFunc:
			b = wasmbin.AppendU32(append(b, byte(wasmbin.OpRefFunc)), e.arg)
		case editReturn:
			b = wasmbin.AppendU32(append(b, byte(wasmbin.OpBr)), e.arg)
		case editTightEnd:
			b = w.tightEnd(b)
		case editBranch:
			b = wasmbin.AppendU32(append(b, src[e.off]), e.arg)
		case editTable:
			b = growTable(b, src[e.off:e.end], e.arg)
		case editTailCall:
			b = w.leave(b, size)
			b = wasmbin.AppendU32(append(b, byte(wasmbin.OpReturnCall)), e.arg)
		case editTailCallIn:
			b = w.leave(b, size)
			b = append(b, src[e.off:e.end]...)
		}
	}
	b = append(b, src[last:]...)
	if counted {
		// The original's own end closes the block.
		b = append(w.leave(b, size), byte(wasmbin.OpEnd))
	}
	return b
}

// growTable appends a br_table with the labels from a first one on raised by tightBlocks.
func growTable(b, instr []byte, first uint32) []byte {
	r := wasmbin.NewReader(instr, 0)
	var in wasmbin.Instr
	r.Instr(&in)
	b = wasmbin.AppendU32(append(b, byte(wasmbin.OpBrTable)), uint32(len(in.Labels)-1))
	for _, l := range in.Labels {
		if l >= first {
			l += tightBlocks
		}
		b = wasmbin.AppendU32(b, l)
	}
	return b
}

// blockType appends the type of a block without parameters.
func (w *rewriter) blockType(b []byte, results []byte) []byte {
	switch len(results) {
	case 0:
		return append(b, empty)
	case 1:
		return append(b, results[0])
	default:
		return wasmbin.AppendS64(b, int64(w.typeIndex(nil, results)))
	}
}

func getGlobal(b []byte, g uint32) []byte {
	return wasmbin.AppendU32(append(b, byte(wasmbin.OpGlobalGet)), g)
}

func setGlobal(b []byte, g uint32) []byte {
	return wasmbin.AppendU32(append(b, byte(wasmbin.OpGlobalSet)), g)
}

func getLocal(b []byte, l uint32) []byte {
	return wasmbin.AppendU32(append(b, byte(wasmbin.OpLocalGet)), l)
}

func setLocal(b []byte, l uint32) []byte {
	return wasmbin.AppendU32(append(b, byte(wasmbin.OpLocalSet)), l)
}

func i64Const(b []byte, v int64) []byte {
	return wasmbin.AppendS64(append(b, byte(wasmbin.OpI64Const)), v)
}

// Instructions that only generated code uses by name.
const (
	i32LtU  = 0x49
	i32GtU  = 0x4b
	i32LeU  = 0x4d
	i64LtS  = 0x53
	i64GtU  = 0x56
	i32Add  = 0x6a
	i32Sub  = 0x6b
	i64Add  = 0x7c
	i64Sub  = 0x7d
	i64Mul  = 0x7e
	i32Or   = 0x72
	i64Or   = 0x84
	i64Shl  = 0x86
	i64ShrU = 0x88
	extendU = 0xad // i64.extend_i32_u
)

// subtract appends global -= by.
func subtract(b []byte, global uint32, by int64) []byte {
	b = i64Const(getGlobal(b, global), by)
	return setGlobal(append(b, i64Sub), global)
}

// leave appends depth = saved + size.
func (w *rewriter) leave(b []byte, size int64) []byte {
	return setGlobal(append(i64Const(getLocal(b, w.saved), size), i64Add), w.depth)
}

// ifNegative appends a call of the slow path if the i64 on the stack is negative.
func (w *rewriter) ifNegative(b []byte) []byte {
	b = append(i64Const(b, 0), i64LtS, byte(wasmbin.OpIf), empty)
	b = wasmbin.AppendU32(append(b, byte(wasmbin.OpCall)), w.helpers.base)
	return append(b, byte(wasmbin.OpEnd))
}

// charge appends the code of a site that is not the entry of a counted function.
func (w *rewriter) charge(b []byte, s site) []byte {
	if s.inside {
		return w.chargeInside(b, s)
	}
	b = subtract(b, w.fuel, s.cost)
	if s.checked {
		b = w.ifNegative(getGlobal(b, w.fuel))
	}
	return b
}

// tightBlocks is how many blocks and loops tightLoop puts around a loop.
const tightBlocks = 3

// tightLoop appends the code at the head of a loop without calls, whose instruction has just been copied. A call of the slow path inside the loop would make
// the compiler store every variable of the loop on every turn, and one in front of it takes longer than a short loop. So the loop L becomes
//
//	(block $done (loop $again (block $slow (loop L ... br_if $slow if the fuel is used up, charge ...) (br $done)) (call slow path) (br $again)))
//
// which leaves only for a call. The test comes before the charge, lest a turn be charged twice.
//
// Inside, the fuel is in a local as well. The global is written at each charge and never read, since reading back what has just been written takes
// longer than a turn of a short loop.
func (w *rewriter) tightLoop(b []byte, s site, loop []byte) []byte {
	b = b[:len(b)-len(loop)]
	b = append(append(b, byte(wasmbin.OpBlock)), loop[1:]...)
	b = append(b, loop...)
	b = w.passing(append(b, byte(wasmbin.OpBlock)), loop)
	b = setLocal(getGlobal(b, w.fuel), w.left)
	b = append(b, loop...)
	b = append(i64Const(getLocal(b, w.left), 0), i64LtS, byte(wasmbin.OpBrIf), 1)
	return w.chargeInside(b, s)
}

// tightEnd appends the end of a tight loop; the original's own end closes the outermost block.
func (w *rewriter) tightEnd(b []byte) []byte {
	b = append(b, byte(wasmbin.OpEnd), byte(wasmbin.OpBr), 2, byte(wasmbin.OpEnd))
	b = wasmbin.AppendU32(append(b, byte(wasmbin.OpCall)), w.helpers.base)
	return append(b, byte(wasmbin.OpBr), 0, byte(wasmbin.OpEnd))
}

// passing appends the type of a block that takes the parameters of a loop instruction and leaves them as they are.
func (w *rewriter) passing(b, loop []byte) []byte {
	var in wasmbin.Instr
	wasmbin.NewReader(loop, 0).Instr(&in)
	if in.Block < 0 || in.Block >= int64(len(w.types)) || len(w.types[in.Block].params) == 0 {
		return append(b, empty)
	}
	params := w.types[in.Block].params
	return wasmbin.AppendS64(b, int64(w.typeIndex(params, params)))
}

// chargeInside appends a charge inside a tight loop, which has no calls that could change the global.
func (w *rewriter) chargeInside(b []byte, s site) []byte {
	b = append(i64Const(getLocal(b, w.left), s.cost), i64Sub)
	return setGlobal(wasmbin.AppendU32(append(b, byte(wasmbin.OpLocalTee)), w.left), w.fuel)
}

// enter appends the code at the entry of a function that counts depth. One test serves both globals: the sign of their union.
func (w *rewriter) enter(b []byte, s site, size int64) []byte {
	b = subtract(b, w.fuel, s.cost)
	b = i64Const(getGlobal(b, w.depth), size)
	b = wasmbin.AppendU32(append(b, i64Sub, byte(wasmbin.OpLocalTee)), w.saved)
	b = setGlobal(b, w.depth)
	b = getGlobal(getGlobal(b, w.fuel), w.depth)
	return w.ifNegative(append(b, i64Or))
}

package meter

import "weir/wasmhost/internal/wasmbin"

// helper names a function added to the module, with the segment or table it works on.
type helper struct {
	kind  helperKind
	index uint32
}

type helperKind uint8

const (
	helperSlow            helperKind = iota // () : fuel or depth is used up
	helperFill                              // (dst, value, n): memory.fill
	helperCopy                              // (dst, src, n): memory.copy
	helperInit                              // (dst, src, n): memory.init of a data segment
	helperGrowCharge                        // (pages) -> pages: charges memory.grow
	helperTableCharge                       // (n) -> n: charges an operation on n elements of a table
	helperTableGrowCharge                   // (n) -> n: charges table.grow by n
	helperEnter                             // () : begins a slice
)

// helpers hands out the indexes of the functions that are added, in order of first use. The slow path is always the first.
type helpers struct {
	base uint32
	list []helper
	at   map[helper]uint32
}

func (h *helpers) index(k helper) uint32 {
	if i, ok := h.at[k]; ok {
		return i
	}
	if h.at == nil {
		h.at = map[helper]uint32{}
	}
	i := h.base + uint32(len(h.list))
	h.at[k] = i
	h.list = append(h.list, k)
	return i
}

// helperTypes returns the type index of every helper.
func (w *rewriter) helperTypes() []uint32 {
	out := make([]uint32, len(w.helpers.list))
	for i, h := range w.helpers.list {
		switch h.kind {
		case helperSlow, helperEnter:
			out[i] = w.typeIndex(nil, nil)
		case helperFill, helperCopy, helperInit:
			out[i] = w.typeIndex([]byte{i32Type, i32Type, i32Type}, nil)
		default:
			out[i] = w.typeIndex([]byte{i32Type}, []byte{i32Type})
		}
	}
	return out
}

// asm writes generated code.
type asm struct {
	w *rewriter
	b []byte
}

func (a *asm) op(ops ...wasmbin.Op) {
	for _, o := range ops {
		a.b = append(a.b, byte(o))
	}
}

func (a *asm) get(local uint32) {
	a.b = wasmbin.AppendU32(append(a.b, byte(wasmbin.OpLocalGet)), local)
}

func (a *asm) set(local uint32) {
	a.b = wasmbin.AppendU32(append(a.b, byte(wasmbin.OpLocalSet)), local)
}

func (a *asm) i32(v int64)        { a.b = wasmbin.AppendS64(append(a.b, byte(wasmbin.OpI32Const)), v) }
func (a *asm) i64(v int64)        { a.b = i64Const(a.b, v) }
func (a *asm) block(o wasmbin.Op) { a.b = append(a.b, byte(o), empty) }
func (a *asm) br(o wasmbin.Op, label uint32) {
	a.b = wasmbin.AppendU32(append(a.b, byte(o)), label)
}

// misc appends an instruction behind the prefix 0xfc with its index immediates.
func (a *asm) misc(o wasmbin.Op, immediates ...uint32) {
	a.b = wasmbin.AppendU32(append(a.b, 0xfc), uint32(o-wasmbin.PrefixFC))
	for _, i := range immediates {
		a.b = wasmbin.AppendU32(a.b, i)
	}
}

// pay charges the i64 on the stack and tests the fuel. scratch is an i64 local.
func (a *asm) pay(scratch uint32) {
	a.set(scratch)
	a.b = getGlobal(a.b, a.w.fuel)
	a.get(scratch)
	a.op(i64Sub)
	a.b = setGlobal(a.b, a.w.fuel)
	a.b = a.w.ifNegative(getGlobal(a.b, a.w.fuel))
}

// helperBody returns the body of a helper, locals included.
func (w *rewriter) helperBody(h helper) []byte {
	a := &asm{w: w}
	switch h.kind {
	case helperSlow:
		a.slow()
	case helperEnter:
		a.b = append(a.b, 0) // no locals
		a.br(wasmbin.OpCall, w.refill)
		a.b = setGlobal(a.b, w.fuel)
		a.op(wasmbin.OpEnd)
	case helperFill:
		a.bulk(func() { a.misc(wasmbin.OpMemoryFill, 0) }, 0, false, false)
	case helperCopy:
		a.bulk(func() { a.misc(wasmbin.OpMemoryCopy, 0, 0) }, 1<<32, true, true)
	case helperInit:
		a.bulk(func() { a.misc(wasmbin.OpMemoryInit, h.index, 0) }, int64(w.dataSizes[h.index]), true, false)
	case helperGrowCharge:
		a.chargeTop(func() { a.i64(1 << 16) }, PageCost)
	case helperTableCharge:
		a.chargeTop(func() { a.misc(wasmbin.OpTableSize, h.index); a.op(extendU) }, 1)
	case helperTableGrowCharge:
		// More than the largest table allowed fails at once, so no more than that is charged.
		a.chargeTop(func() { a.i64(int64(w.cfg.TableElements)) }, 1)
		a.b = a.b[:len(a.b)-1] // the end of the body
		a.refusedAbove(h.index)
		a.op(wasmbin.OpEnd)
	}
	return a.b
}

// slow calls Overflow if the depth is used up and Refill if the fuel is.
func (a *asm) slow() {
	w := a.w
	a.b = append(a.b, 0) // no locals
	a.b = append(i64Const(getGlobal(a.b, w.depth), 0), i64LtS, byte(wasmbin.OpIf), empty)
	a.br(wasmbin.OpCall, w.overflow)
	a.op(wasmbin.OpUnreachable, wasmbin.OpEnd)
	a.b = append(i64Const(getGlobal(a.b, w.fuel), 0), i64LtS, byte(wasmbin.OpIf), empty)
	a.br(wasmbin.OpCall, w.refill)
	a.b = append(getGlobal(a.b, w.fuel), i64Add)
	a.b = setGlobal(a.b, w.fuel)
	a.op(wasmbin.OpEnd, wasmbin.OpEnd)
}

// chargeTop charges price times the parameter, of which no more than limit is counted, and returns it.
func (a *asm) chargeTop(limit func(), price int64) {
	const n, counted = 0, 1
	a.b = append(a.b, 1, 1, i64Type)
	a.get(n)
	a.op(extendU)
	a.set(counted)
	a.get(counted)
	limit()
	a.op(i64GtU)
	a.block(wasmbin.OpIf)
	limit()
	a.set(counted)
	a.op(wasmbin.OpEnd)
	a.get(counted)
	a.i64(price)
	a.op(i64Mul)
	a.pay(counted)
	a.get(n)
	a.op(wasmbin.OpEnd)
}

// refusedAbove calls Refused if table.grow by the first local would take the table above the limit.
func (a *asm) refusedAbove(table uint32) {
	const n = 0
	a.get(n)
	a.op(extendU)
	a.misc(wasmbin.OpTableSize, table)
	a.op(extendU, i64Add)
	a.i64(int64(a.w.cfg.TableElements))
	a.op(i64GtU)
	a.block(wasmbin.OpIf)
	a.br(wasmbin.OpCall, a.w.refused)
	a.op(wasmbin.OpEnd)
}

// bulk does a memory operation with the operands (dst, src or value, n) in pieces. With source, the second operand is an address below sourceSize, and
// backward says that the areas may overlap, so that the last piece must be moved first if dst lies above src.
//
// One piece or less is done at once: the instruction tests its own bounds. Beyond that the bounds are tested first; where they fail, the original instruction
// is executed, so that its own trap is raised and nothing has been written.
func (a *asm) bulk(instruction func(), sourceSize int64, source, backward bool) {
	const dst, src, n, piece, size = 0, 1, 2, 3, 4
	a.b = append(a.b, 2, 1, i32Type, 1, i64Type)
	operands := func(length uint32) {
		a.get(dst)
		a.get(src)
		a.get(length)
		instruction()
	}
	price := func(length uint32) {
		a.get(length)
		a.op(extendU)
		a.i64(3)
		a.op(i64ShrU)
		a.pay(size)
	}
	// tooFar leaves whether address + n lies beyond the i64 that limit pushes.
	tooFar := func(address uint32, limit func()) {
		a.get(address)
		a.op(extendU)
		a.get(n)
		a.op(extendU, i64Add)
		limit()
		a.op(i64GtU)
	}
	memorySize := func() {
		a.b = append(a.b, byte(wasmbin.OpMemorySize), 0)
		a.op(extendU)
		a.i64(16)
		a.op(i64Shl)
	}

	a.get(n)
	a.i32(BulkPiece)
	a.op(i32LeU)
	a.block(wasmbin.OpIf)
	price(n)
	operands(n)
	a.op(wasmbin.OpReturn, wasmbin.OpEnd)

	tooFar(dst, memorySize)
	if source {
		limit := memorySize
		if !backward {
			limit = func() { a.i64(sourceSize) }
		}
		tooFar(src, limit)
		a.op(i32Or)
	}
	a.block(wasmbin.OpIf)
	operands(n)
	a.op(wasmbin.OpReturn, wasmbin.OpEnd)

	a.i32(BulkPiece)
	a.set(piece)
	if backward {
		a.get(dst)
		a.get(src)
		a.op(i32GtU)
		a.block(wasmbin.OpIf)
		a.loopBackward(price, instruction)
		a.op(wasmbin.OpReturn, wasmbin.OpEnd)
	}
	a.block(wasmbin.OpLoop)
	a.smallerPiece()
	price(piece)
	operands(piece)
	a.advance(dst, i32Add)
	if source {
		a.advance(src, i32Add)
	}
	a.advance(n, i32Sub)
	a.get(n)
	a.br(wasmbin.OpBrIf, 0)
	a.op(wasmbin.OpEnd, wasmbin.OpEnd)
}

// loopBackward moves pieces from the end: dst+n and src+n are the ends of what is left.
func (a *asm) loopBackward(price func(uint32), instruction func()) {
	const dst, src, n, piece = 0, 1, 2, 3
	a.block(wasmbin.OpLoop)
	a.smallerPiece()
	price(piece)
	a.advance(n, i32Sub)
	for _, address := range []uint32{dst, src} {
		a.get(address)
		a.get(n)
		a.op(i32Add)
	}
	a.get(piece)
	instruction()
	a.get(n)
	a.br(wasmbin.OpBrIf, 0)
	a.op(wasmbin.OpEnd)
}

// smallerPiece makes the piece as small as what is left.
func (a *asm) smallerPiece() {
	const n, piece = 2, 3
	a.get(n)
	a.get(piece)
	a.op(i32LtU)
	a.block(wasmbin.OpIf)
	a.get(n)
	a.set(piece)
	a.op(wasmbin.OpEnd)
}

// advance adds the piece to a local or subtracts it.
func (a *asm) advance(local uint32, op wasmbin.Op) {
	const piece = 3
	a.get(local)
	a.get(piece)
	a.op(op)
	a.set(local)
}

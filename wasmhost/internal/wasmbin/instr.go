package wasmbin

// Op names an instruction: the opcode byte, or the number after a prefix added to PrefixFC or PrefixFD.
type Op uint16

// Where the instructions behind a prefix byte begin.
const (
	PrefixFC Op = 0x100
	PrefixFD Op = 0x200
)

// Instructions that the meter or the screen treat by name.
const (
	OpUnreachable        Op = 0x00
	OpNop                Op = 0x01
	OpBlock              Op = 0x02
	OpLoop               Op = 0x03
	OpIf                 Op = 0x04
	OpElse               Op = 0x05
	OpEnd                Op = 0x0b
	OpBr                 Op = 0x0c
	OpBrIf               Op = 0x0d
	OpBrTable            Op = 0x0e
	OpReturn             Op = 0x0f
	OpCall               Op = 0x10
	OpCallIndirect       Op = 0x11
	OpReturnCall         Op = 0x12
	OpReturnCallIndirect Op = 0x13
	OpDrop               Op = 0x1a
	OpSelect             Op = 0x1b
	OpSelectTyped        Op = 0x1c
	OpLocalGet           Op = 0x20
	OpLocalSet           Op = 0x21
	OpLocalTee           Op = 0x22
	OpGlobalGet          Op = 0x23
	OpGlobalSet          Op = 0x24
	OpTableGet           Op = 0x25
	OpTableSet           Op = 0x26
	OpI32Load            Op = 0x28
	OpI64Store32         Op = 0x3e
	OpMemorySize         Op = 0x3f
	OpMemoryGrow         Op = 0x40
	OpI32Const           Op = 0x41
	OpI64Const           Op = 0x42
	OpF32Const           Op = 0x43
	OpF64Const           Op = 0x44
	OpI32Eqz             Op = 0x45
	OpI64Extend32S       Op = 0xc4
	OpRefNull            Op = 0xd0
	OpRefIsNull          Op = 0xd1
	OpRefFunc            Op = 0xd2

	OpMemoryInit = PrefixFC + 8
	OpDataDrop   = PrefixFC + 9
	OpMemoryCopy = PrefixFC + 10
	OpMemoryFill = PrefixFC + 11
	OpTableInit  = PrefixFC + 12
	OpElemDrop   = PrefixFC + 13
	OpTableCopy  = PrefixFC + 14
	OpTableGrow  = PrefixFC + 15
	OpTableSize  = PrefixFC + 16
	OpTableFill  = PrefixFC + 17

	OpV128Const = PrefixFD + 12
)

// Instr is one instruction as read by Reader.Instr.
type Instr struct {
	Op    Op
	Start int // position of its first byte in the reader
	// A and B hold the indexes among the immediates: label, function, local, global, table or segment; type and table of call_indirect; element and
	// table of table.init; destination and source of table.copy; alignment and offset of a load or store.
	A, B uint32
	// Block is the block type of block, loop and if: negative for a value type or 0x40 (as its signed 7-bit value), else a type index.
	Block int64
	// Labels are the targets of br_table, the default last. They are overwritten by the next br_table.
	Labels []uint32
}

// Instr reads one instruction with its immediates into in.
func (r *Reader) Instr(in *Instr) {
	in.Start = r.pos
	at := r.Offset()
	c := r.Byte()
	op := Op(c)
	in.Op = op
	switch {
	case op == OpLocalGet || op == OpLocalSet || op == OpLocalTee || op == OpGlobalGet || op == OpGlobalSet:
		in.A = r.U32()
	case op >= OpI32Load && op <= OpI64Store32:
		r.memarg(in)
	case op == OpI32Const:
		r.S32()
	case op == OpI64Const:
		r.S64()
	case op >= OpI32Eqz && op <= OpI64Extend32S:
	case op == OpUnreachable || op == OpNop || op == OpElse || op == OpEnd || op == OpReturn || op == OpDrop || op == OpSelect || op == OpRefIsNull:
	case op == OpBlock || op == OpLoop || op == OpIf:
		in.Block = r.S33()
	case op == OpBr || op == OpBrIf || op == OpCall || op == OpReturnCall || op == OpTableGet || op == OpTableSet || op == OpRefFunc:
		in.A = r.U32()
	case op == OpBrTable:
		n := r.Count("branch targets", 1)
		in.Labels = in.Labels[:0]
		for i := 0; i <= n && r.err == nil; i++ {
			in.Labels = append(in.Labels, r.U32())
		}
	case op == OpCallIndirect || op == OpReturnCallIndirect:
		in.A = r.U32()
		in.B = r.U32()
	case op == OpSelectTyped:
		if n := r.U32(); r.err == nil && n != 1 {
			r.FailAt(at, "select with %d types", n)
		}
		r.Byte()
	case op == OpMemorySize || op == OpMemoryGrow:
		r.memoryIndex()
	case op == OpF32Const:
		r.Bytes(4)
	case op == OpF64Const:
		r.Bytes(8)
	case op == OpRefNull:
		r.Byte()
	case c == 0xfc:
		r.instrFC(in, at)
	case c == 0xfd:
		r.instrFD(in, at)
	default:
		r.FailAt(at, "%s", unsupported(c))
	}
}

// unsupported names the proposal that an opcode belongs to, so that an author knows which compiler switch to turn off.
func unsupported(c byte) string {
	switch {
	case c >= 0x06 && c <= 0x0a || c == 0x18 || c == 0x19 || c == 0x1f:
		return hexOp(c) + " belongs to exception handling, which is not supported"
	case c == 0x14 || c == 0x15 || c >= 0xd3 && c <= 0xd6:
		return hexOp(c) + " belongs to typed function references, which are not supported"
	case c == 0xfb:
		return hexOp(c) + " belongs to garbage collection, which is not supported"
	case c == 0xfe:
		return hexOp(c) + " belongs to threads, which are not supported"
	default:
		return hexOp(c) + " is unknown"
	}
}

func hexOp(c byte) string {
	const digits = "0123456789abcdef"
	return "opcode 0x" + string([]byte{digits[c>>4], digits[c&15]})
}

func (r *Reader) memarg(in *Instr) {
	at := r.Offset()
	in.A = r.U32()
	if in.A >= 64 {
		r.FailAt(at, "alignment %d: memory indexes (multi-memory) are not supported", in.A)
	}
	in.B = r.U32()
}

func (r *Reader) memoryIndex() {
	at := r.Offset()
	if i := r.Byte(); i != 0 {
		r.FailAt(at, "memory index %d: only memory 0 is supported", i)
	}
}

func (r *Reader) instrFC(in *Instr, at int) {
	sub := r.U32()
	if sub > 17 {
		r.FailAt(at, "opcode 0xfc %#x is unknown", sub)
		return
	}
	in.Op = PrefixFC + Op(sub)
	switch in.Op {
	case OpMemoryInit:
		in.A = r.U32()
		r.memoryIndex()
	case OpDataDrop, OpElemDrop, OpTableGrow, OpTableSize, OpTableFill:
		in.A = r.U32()
	case OpMemoryCopy:
		r.memoryIndex()
		r.memoryIndex()
	case OpMemoryFill:
		r.memoryIndex()
	case OpTableInit, OpTableCopy:
		in.A = r.U32()
		in.B = r.U32()
	}
}

func (r *Reader) instrFD(in *Instr, at int) {
	sub := r.U32()
	if sub > 0xff {
		r.FailAt(at, "opcode 0xfd %#x is unknown (relaxed SIMD is not supported)", sub)
		return
	}
	in.Op = PrefixFD + Op(sub)
	switch {
	case sub <= 11 || sub == 92 || sub == 93: // loads and stores, with splat, extension or zeroes
		r.memarg(in)
	case sub == 12 || sub == 13: // v128.const, i8x16.shuffle
		r.Bytes(16)
	case sub >= 21 && sub <= 34: // extract_lane, replace_lane
		r.Byte()
	case sub >= 84 && sub <= 91: // load and store of a lane
		r.memarg(in)
		r.Byte()
	}
}

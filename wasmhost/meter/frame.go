package meter

import "weir/wasmhost/internal/wasmbin"

// leafFrame is the largest frame, in bytes, of a function without calls that need not be counted in depth.
const leafFrame = 1024

// valueBytes is how much stack values of the given types take in wazero: eight bytes each, sixteen for a vector.
func valueBytes(types []byte) int {
	n := 8 * len(types)
	for _, t := range types {
		if t == v128Type {
			n += 8
		}
	}
	return n
}

// pressure counts what wazero's register allocator may have to keep on the stack. It gives every value that does not stay in a register a place of its
// own, for the whole function, so a frame grows with the number of values and not only with the number of locals.
type pressure struct {
	defs  int // values written to locals
	phis  int // pairs of a block and a local written inside it: at most one merged value each
	temps int // operands that wait while something is called, or for which there are not enough registers
	wide  bool

	height, low int // of the operand stack: now, and the lowest since the last call
	clock       int // counts instructions, over all functions
	written     []int
}

// registers is how many operands are taken to fit into registers.
const registers = 8

// begin starts a function.
func (p *pressure) begin(locals int) {
	p.defs, p.phis, p.temps = 0, 0, 0
	p.height, p.low = 0, 0
	for len(p.written) < locals {
		p.written = append(p.written, 0)
	}
	// What is left in written is older than the clock and so counts as never written.
}

// write records a write to a local inside the open frames.
func (p *pressure) write(local uint32, frames []frame) {
	p.defs++
	if int64(local) >= int64(len(p.written)) {
		return
	}
	last := p.written[local]
	// Frames that were open at the last write have been counted then. The outermost is the function, which merges nothing.
	for i := len(frames) - 1; i > 0 && frames[i].opened > last; i-- {
		p.phis++
	}
	p.written[local] = p.clock
}

// effect applies what an instruction does to the operand stack.
func (p *pressure) effect(pop, push, base int) {
	p.height = max(p.height-pop, base)
	p.low = min(p.low, p.height)
	p.height += push
	if over := p.height - p.low - registers; over > 0 && push > 0 {
		p.temps += min(push, over)
	}
}

// call records that the operands on the stack wait for a call.
func (p *pressure) call() {
	if n := p.height - p.low; n > 0 {
		p.temps += n
	}
	p.low = p.height
}

// frameSize estimates the native frame of a function, in bytes.
//
// A slot for every parameter, local, argument, waiting operand, write to a local and merged value would bound the frame from above. But most of
// the writes and merges need none, so a quarter of them is counted. Measured with wazero 1.12.0 on amd64, over the 25,100 functions of QuickJS, Haskell and four Go
// guests of 1.8 to 19 MB: the estimate is 2.1 to 2.9 times the frame on average, and seven frames, none above 1.4 KB, exceed it, by 28 % at most. A
// function made for the purpose can be about four times its estimate; wazero's own limit, at which it reports a stack overflow itself, is over five times
// the default depth.
func frameSize(p *plan, t funcType) int64 {
	slot := int64(8)
	if p.wide {
		slot = 16
	}
	n := int64(p.temps) + int64(p.defs+p.phis+p.joins)/4
	return 128 + int64(p.paramBytes+p.localBytes+valueBytes(t.results)+p.argBytes) + slot*n
}

// stackEffect returns how many operands an instruction takes and leaves; calls and structure are not its business.
func stackEffect(op wasmbin.Op) (pop, push int) {
	switch {
	case op == wasmbin.OpDrop, op == wasmbin.OpLocalSet, op == wasmbin.OpGlobalSet:
		return 1, 0
	case op == wasmbin.OpSelect, op == wasmbin.OpSelectTyped:
		return 3, 1
	case op == wasmbin.OpLocalGet, op == wasmbin.OpGlobalGet, op == wasmbin.OpMemorySize, op >= wasmbin.OpI32Const && op <= wasmbin.OpF64Const,
		op == wasmbin.OpRefNull, op == wasmbin.OpRefFunc, op == wasmbin.OpTableSize, op == wasmbin.OpV128Const:
		return 0, 1
	case op == wasmbin.OpTableSet, op >= 0x36 && op <= wasmbin.OpI64Store32, op == wasmbin.PrefixFD+11,
		op >= wasmbin.PrefixFD+88 && op <= wasmbin.PrefixFD+91: // stores
		return 2, 0
	case op >= 0x46 && op <= 0x4f, op >= 0x51 && op <= 0x66, op >= 0x6a && op <= 0x78, op >= 0x7c && op <= 0x8a,
		op >= 0x92 && op <= 0x98, op >= 0xa0 && op <= 0xa6, op == wasmbin.OpTableGrow: // binary operators
		return 2, 1
	case op == wasmbin.OpDataDrop, op == wasmbin.OpElemDrop:
		return 0, 0
	case op >= wasmbin.OpMemoryInit && op <= wasmbin.OpTableFill:
		return 3, 0
	case op >= wasmbin.PrefixFD:
		// Most take two. Where one takes less or more, the count is off by one until the end of the block, which does not matter to an estimate.
		return 2, 1
	case op < wasmbin.OpDrop:
		return 0, 0
	default:
		return 1, 1 // loads, unary operators, conversions
	}
}

package screen_test

import "weir/wasmhost/internal/wasmbin"

// These functions build modules of one shape each, of any size, for the compile bombs.

// bodies returns a module with a memory whose functions all have the type (i32) -> i32.
func bodies(list ...[]byte) []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	out = wasmbin.AppendSection(out, wasmbin.Type, []byte{1, 0x60, 1, 0x7f, 1, 0x7f})
	types := wasmbin.AppendU32(nil, uint32(len(list)))
	code := wasmbin.AppendU32(nil, uint32(len(list)))
	for _, b := range list {
		types = append(types, 0)
		code = append(wasmbin.AppendU32(code, uint32(len(b))), b...)
	}
	out = wasmbin.AppendSection(out, wasmbin.Function, types)
	out = wasmbin.AppendSection(out, wasmbin.Memory, []byte{1, 0, 1})
	return wasmbin.AppendSection(out, wasmbin.Code, code)
}

// shape is a body in the making.
type shape struct{ b []byte }

func newShape(locals int) *shape {
	return &shape{append(wasmbin.AppendU32([]byte{1}, uint32(locals)), 0x7f)}
}

func (s *shape) add(b ...byte) { s.b = append(s.b, b...) }

// increment adds one to a local beside the parameter.
func (s *shape) increment(local int) {
	s.b = wasmbin.AppendU32(append(s.b, 0x20), uint32(local+1))
	s.add(0x41, 1, 0x6a)
	s.b = wasmbin.AppendU32(append(s.b, 0x21), uint32(local+1))
}

func (s *shape) module() []byte {
	s.add(0x20, 0, 0x0b)
	return bodies(s.b)
}

func nestedLoops(n, locals int) []byte {
	s := newShape(locals)
	for range n {
		s.add(3, 0x40)
	}
	for i := range locals {
		s.increment(i)
	}
	for range n {
		s.add(0x20, 0, 0x0d, 0, 0x0b)
	}
	return s.module()
}

func nestedLoopsEachWriting(n, locals int) []byte {
	s := newShape(locals)
	for i := range n {
		s.add(3, 0x40)
		s.increment(i % locals)
	}
	for range n {
		s.add(0x20, 0, 0x0d, 0, 0x0b)
	}
	return s.module()
}

func loopsInSequence(n, locals int) []byte {
	s := newShape(locals)
	for i := range n {
		s.add(3, 0x40)
		s.increment(i % locals)
		s.add(0x20, 0, 0x0d, 0, 0x0b)
	}
	return s.module()
}

func nestedIfs(n, locals int) []byte {
	s := newShape(locals)
	for i := range n {
		s.add(0x20, 0, 4, 0x40)
		s.increment(i % locals)
	}
	for range n {
		s.add(0x0b)
	}
	for i := range locals {
		s.increment(i)
	}
	return s.module()
}

func ifsInSequence(n, locals int) []byte {
	s := newShape(locals)
	for i := range n {
		s.add(0x20, 0, 4, 0x40)
		s.increment(i % locals)
		s.add(5)
		s.increment(i * 3 % locals)
		s.add(0x0b)
	}
	return s.module()
}

func nestedBlocks(n, locals int) []byte {
	s := newShape(locals)
	for range n {
		s.add(2, 0x40)
	}
	for i := range locals {
		s.add(0x20, 0, 0x0d)
		s.b = wasmbin.AppendU32(s.b, uint32(i*7%n))
		s.increment(i)
	}
	for i := range n {
		s.add(0x0b)
		s.increment(i % locals)
	}
	return s.module()
}

// dispatch is a loop around a br_table over n blocks, as Go's compiler makes of each function.
func dispatch(n, locals int) []byte {
	s := newShape(locals)
	s.add(3, 0x40)
	for range n {
		s.add(2, 0x40)
	}
	s.add(0x20, 0, 0x0e)
	s.b = wasmbin.AppendU32(s.b, uint32(n-1))
	for i := range n {
		s.b = wasmbin.AppendU32(s.b, uint32(i))
	}
	for i := range n {
		s.add(0x0b)
		s.increment(i % locals)
		s.increment(i * 5 % locals)
	}
	s.add(0x20, 0, 0x0d, 0, 0x0b)
	return s.module()
}

func tables(n, targets int) []byte {
	s := newShape(1)
	for range n {
		s.add(2, 0x40, 0x20, 0, 0x0e)
		s.b = wasmbin.AppendU32(s.b, uint32(targets))
		for range targets + 1 {
			s.add(0)
		}
		s.add(0x0b)
	}
	return s.module()
}

func branchesToEnd(n, locals int) []byte {
	s := newShape(locals)
	for i := range n {
		s.add(0x20, 0, 0x20, 0, 0x0d, 0, 0x1a)
		s.increment(i % locals)
	}
	return s.module()
}

func loads(n, locals int) []byte {
	s := newShape(locals)
	for i := range n {
		s.b = wasmbin.AppendU32(append(s.b, 0x20, 0, 0x28, 2), uint32(i*4))
		s.b = wasmbin.AppendU32(append(s.b, 0x21), uint32(i%locals+1))
	}
	return s.module()
}

func manyFunctions(n, _ int) []byte {
	list := make([][]byte, n)
	for i := range list {
		list[i] = []byte{0, 0x20, 0, 0x41, 1, 0x6a, 0x0b}
	}
	return bodies(list...)
}

// Package wasmbin reads the WebAssembly binary format: LEB128 numbers, sections and instructions with their immediates.
//
// It is shared by the meter and the screen, which look at bytes that nobody has checked yet. Nothing here panics on foreign bytes, and nothing allocates
// by a number found in the input: a count is first compared with the bytes that are left.
//
// It knows the instructions of the WebAssembly core specification 2.0 (sign extension, saturating conversion, multi-value, bulk memory, reference types, SIMD)
// and of the tail-call proposal. Every other opcode is an error.
package wasmbin

import (
	"encoding/binary"
	"fmt"
)

// Error says what is wrong with the bytes, and where.
type Error struct {
	Offset int // from the start of the module
	Reason string
}

func (e *Error) Error() string { return fmt.Sprintf("offset %#x: %s", e.Offset, e.Reason) }

// Reader walks over a part of a module. The first error sticks: later reads return zero values and leave the position at the end, so that a loop over a
// bounded count ends by itself and the caller checks Err once. A Reader is not safe for concurrent use.
type Reader struct {
	buf  []byte
	pos  int
	base int // offset of buf[0] in the module, for errors
	err  *Error
}

// NewReader reads buf, which begins at offset base of the module. The reader keeps buf and never writes to it.
func NewReader(buf []byte, base int) *Reader { return &Reader{buf: buf, base: base} }

// Err returns the first error, or nil.
func (r *Reader) Err() *Error { return r.err }

// Fail records an error at the current position unless there is one already.
func (r *Reader) Fail(format string, args ...any) { r.FailAt(r.Offset(), format, args...) }

// FailAt is Fail with an offset in the module.
func (r *Reader) FailAt(offset int, format string, args ...any) {
	if r.err == nil {
		r.err = &Error{Offset: offset, Reason: fmt.Sprintf(format, args...)}
	}
	r.pos = len(r.buf)
}

// Offset is the position in the module.
func (r *Reader) Offset() int { return r.base + r.pos }

// Pos is the position in the reader's own bytes.
func (r *Reader) Pos() int { return r.pos }

// Len is the number of bytes left.
func (r *Reader) Len() int { return len(r.buf) - r.pos }

// Since returns the bytes from an earlier position up to the current one. They alias the input.
func (r *Reader) Since(pos int) []byte { return r.buf[pos:r.pos:r.pos] }

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if r.pos >= len(r.buf) {
		r.Fail("unexpected end")
		return 0
	}
	c := r.buf[r.pos]
	r.pos++
	return c
}

// Bytes returns the next n bytes, which alias the input.
func (r *Reader) Bytes(n int) []byte {
	if n < 0 || n > r.Len() {
		r.Fail("%d bytes wanted, %d left", n, r.Len())
		return nil
	}
	b := r.buf[r.pos : r.pos+n : r.pos+n]
	r.pos += n
	return b
}

// U32 reads an unsigned LEB128 number of at most 32 bits.
func (r *Reader) U32() uint32 {
	if r.pos < len(r.buf) {
		if c := r.buf[r.pos]; c < 0x80 {
			r.pos++
			return uint32(c)
		}
	}
	start := r.Offset()
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		c := r.Byte()
		if r.err != nil {
			return 0
		}
		if shift == 28 && c > 0x0f {
			break
		}
		v |= uint32(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
	r.FailAt(start, "malformed unsigned 32-bit number")
	return 0
}

// signed reads a signed LEB128 number of the given width.
func (r *Reader) signed(bits int) int64 {
	start := r.Offset()
	var v int64
	for shift := 0; shift < bits; shift += 7 {
		c := r.Byte()
		v |= int64(c&0x7f) << shift
		if c >= 0x80 {
			continue
		}
		if used := bits - shift; used < 7 {
			// The bits past the width must repeat the sign.
			top := int8(c<<1) >> used
			if top != 0 && top != -1 {
				break
			}
		}
		if shift+7 < 64 && c&0x40 != 0 {
			v |= -1 << (shift + 7)
		}
		return v
	}
	r.FailAt(start, "malformed signed %d-bit number", bits)
	return 0
}

// S32 reads a signed LEB128 number of at most 32 bits.
func (r *Reader) S32() int32 { return int32(r.signed(32)) }

// S33 reads a block type's number.
func (r *Reader) S33() int64 { return r.signed(33) }

// S64 reads a signed LEB128 number of at most 64 bits.
func (r *Reader) S64() int64 { return r.signed(64) }

// Count reads the length of a vector whose items take at least size bytes each, and refuses one that cannot fit in the bytes that are left.
func (r *Reader) Count(what string, size int) int {
	start := r.Offset()
	n := r.U32()
	if r.err == nil && uint64(n)*uint64(size) > uint64(r.Len()) {
		r.FailAt(start, "%d %s claimed, %d bytes left", n, what, r.Len())
	}
	if r.err != nil { // also where the count itself was cut off: what was read of it means nothing
		return 0
	}
	return int(n)
}

// Name reads a length and that many bytes, which alias the input and need not be UTF-8.
func (r *Reader) Name() []byte { return r.Bytes(r.Count("name bytes", 1)) }

// Sub returns a reader over the next n bytes and moves past them.
func (r *Reader) Sub(n int) *Reader {
	s := &Reader{}
	r.SubInto(s, n)
	return s
}

// SubInto is Sub with a reader that the caller reuses.
func (r *Reader) SubInto(sub *Reader, n int) {
	base := r.Offset()
	*sub = Reader{buf: r.Bytes(n), base: base}
}

// header is the magic number and version 1 of a core module.
const header = "\x00asm\x01\x00\x00\x00"

// Header reads the eight bytes in front of every module.
func (r *Reader) Header() {
	b := r.Bytes(len(header))
	switch {
	case r.err != nil:
		r.err = &Error{Offset: r.base, Reason: "not a WebAssembly module: shorter than its header"}
	case string(b) == header:
	case string(b[:4]) != header[:4]:
		r.FailAt(r.base, "not a WebAssembly module: it does not begin with \\0asm")
	case b[6] == 1:
		r.FailAt(r.base+4, "a WebAssembly component, not a core module: extract or build the core module")
	default:
		r.FailAt(r.base+4, "WebAssembly version %d, only version 1 is supported", binary.LittleEndian.Uint32(b[4:]))
	}
}

// Section is one section of a module. Data aliases the input.
type Section struct {
	ID     byte
	Offset int // of Data in the module
	Data   []byte
}

// Reader reads the section's contents.
func (s *Section) Reader() *Reader { return NewReader(s.Data, s.Offset) }

// Section identifiers.
const (
	Custom byte = iota
	Type
	Import
	Function
	Table
	Memory
	Global
	Export
	Start
	Element
	Code
	Data
	DataCount
	Tag
)

// order ranks sections as they must follow each other; custom sections may stand anywhere.
func order(id byte) int {
	switch id {
	case DataCount:
		return int(Element)*2 + 1
	case Tag:
		return int(Memory)*2 + 1
	default:
		return int(id) * 2
	}
}

// Sections splits a module into its sections and checks their order and bounds. The number of sections is bounded by the bytes of the module; maxCustom
// bounds the number of custom sections (0 means no bound).
func Sections(wasm []byte, maxCustom int) ([]Section, *Error) {
	r := NewReader(wasm, 0)
	r.Header()
	var out []Section
	last, custom := 0, 0
	for r.err == nil && r.Len() > 0 {
		at := r.Offset()
		id := r.Byte()
		size := r.Count("section bytes", 1)
		off := r.Offset()
		data := r.Bytes(size)
		if r.err != nil {
			break
		}
		if id == Custom {
			if custom++; maxCustom > 0 && custom > maxCustom {
				r.FailAt(at, "more than %d custom sections", maxCustom)
				break
			}
		} else {
			if id > Tag {
				r.FailAt(at, "unknown section %d", id)
				break
			}
			if order(id) <= last {
				r.FailAt(at, "section %d out of order or repeated", id)
				break
			}
			last = order(id)
		}
		out = append(out, Section{ID: id, Offset: off, Data: data})
	}
	return out, r.err
}

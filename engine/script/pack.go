package script

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"

	js "weir/guest-sdk/js"
)

// capabilityNames are the capabilities by the names of their imports, weir_NAME, in alphabetical order.
func capabilityNames() []string { return []string{"file", "http", "journal", "kv", "session", "ui"} }

// Engine is the engine module that s runs on, which asks for the capabilities that s imports and no others. Policies with
// the same capabilities have the same engine, byte for byte. The caller owns it.
func (s *Script) Engine() ([]byte, error) { return rewrite(js.Engine(), s.capabilities, nil) }

// Pack makes a module of its own: the engine with s in its slot. The same script gives the same bytes.
func Pack(s *Script) ([]byte, error) { return rewrite(js.Engine(), s.capabilities, s.source) }

var errEngine = errors.New("the engine module is damaged")

// The sections that are rewritten.
const (
	importSection = 2
	dataSection   = 11
)

// slotMark starts the data segment for the source; its length as four bytes and the source follow.
const slotMark = "WEIRJS01"

// rewrite narrows the imports of an engine to capabilities and, with a source, fills its slot.
func rewrite(engine []byte, capabilities []string, source []byte) ([]byte, error) {
	const header = 8
	if len(engine) < header {
		return nil, errEngine
	}
	out := append(make([]byte, 0, len(engine)+len(source)+64), engine[:header]...)
	r := reader{b: engine[header:]}
	for len(r.b) > 0 && !r.bad {
		id := r.byte()
		body := r.bytes()
		switch {
		case id == importSection:
			body = narrow(body, capabilities)
		case id == dataSection && source != nil:
			body = fill(body, source)
		}
		if body == nil {
			return nil, errEngine
		}
		out = appendBytes(append(out, id), body)
	}
	if r.bad {
		return nil, errEngine
	}
	return out, nil
}

// narrow gives every capability that is not wanted the name of a WASI function of the same type that does nothing. The
// numbers of all functions stay as they are, which removing an import would change throughout the code.
func narrow(body []byte, capabilities []string) []byte {
	r := reader{b: body}
	n := r.uint()
	out := binary.AppendUvarint(nil, n)
	for range n {
		module, name := r.bytes(), r.bytes()
		kind, index := r.byte(), r.uint()
		if r.bad || kind != 0 { // functions are all that the engine imports
			return nil
		}
		if c, ok := bytes.CutPrefix(name, []byte("weir_")); ok && slices.Contains(capabilityNames(), string(c)) && !slices.Contains(capabilities, string(c)) {
			module, name = []byte("wasi_snapshot_preview1"), []byte("args_get")
		}
		out = appendBytes(appendBytes(out, module), name)
		out = binary.AppendUvarint(append(out, kind), index)
	}
	return out
}

// fill puts the source into the slot.
func fill(body, source []byte) []byte {
	r := reader{b: body}
	n := r.uint()
	out := binary.AppendUvarint(nil, n)
	filled := false
	for range n {
		start := r.b
		mode := r.uint()
		if mode == 0 { // at a constant offset: i32.const N, end
			if r.byte() != 0x41 {
				return nil
			}
			for r.byte()&0x80 != 0 && !r.bad {
			}
			if r.byte() != 0x0b {
				return nil
			}
		}
		data := r.bytes()
		if r.bad || mode > 1 {
			return nil
		}
		if mode == 1 && bytes.HasPrefix(data, []byte(slotMark)) {
			segment := binary.LittleEndian.AppendUint32([]byte(slotMark), uint32(len(source)))
			out = appendBytes(binary.AppendUvarint(out, mode), append(segment, source...))
			filled = true
			continue
		}
		out = append(out, start[:len(start)-len(r.b)]...)
	}
	if !filled {
		return nil
	}
	return out
}

// reader reads the engine's sections. After a read past the end, bad is set and everything reads as zero.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) bytes() []byte {
	n := r.uint()
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

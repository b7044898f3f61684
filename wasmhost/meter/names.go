package meter

import (
	"bytes"

	"weir/wasmhost/internal/wasmbin"
)

// Subsections of the name section whose items are keyed by function.
const (
	functionNames = 1
	localNames    = 2
	labelNames    = 3
)

// nameSection returns a custom section with its functions renumbered. It reports false for one that is not the names or is malformed: names are for people
// only, so a bad section is dropped and not a reason to refuse a module.
func (w *rewriter) nameSection(s *wasmbin.Section) ([]byte, bool) {
	r := s.Reader()
	if !bytes.Equal(r.Name(), []byte("name")) {
		return nil, false
	}
	b := wasmbin.AppendName(make([]byte, 0, len(s.Data)+len(s.Data)/16), "name")
	for r.Err() == nil && r.Len() > 0 {
		id := r.Byte()
		sub := r.Sub(r.Count("name bytes", 1))
		var body []byte
		switch id {
		case functionNames:
			body = w.functionNames(sub)
		case localNames, labelNames:
			body = w.nestedNames(sub)
		default:
			body = sub.Bytes(sub.Len())
		}
		if sub.Err() != nil {
			return nil, false
		}
		b = wasmbin.AppendSection(b, id, body)
	}
	return b, r.Err() == nil
}

func (w *rewriter) functionNames(r *wasmbin.Reader) []byte {
	n := r.Count("names", 2)
	b := wasmbin.AppendU32(make([]byte, 0, r.Len()+r.Len()/16), uint32(n))
	for i := 0; i < n && r.Err() == nil; i++ {
		b = wasmbin.AppendU32(b, w.shift(r.U32()))
		at := r.Pos()
		r.Name()
		b = append(b, r.Since(at)...)
	}
	if r.Len() > 0 {
		r.Fail("bytes behind the names")
	}
	return b
}

func (w *rewriter) nestedNames(r *wasmbin.Reader) []byte {
	n := r.Count("functions", 2)
	b := wasmbin.AppendU32(make([]byte, 0, r.Len()+r.Len()/16), uint32(n))
	for i := 0; i < n && r.Err() == nil; i++ {
		b = wasmbin.AppendU32(b, w.shift(r.U32()))
		at := r.Pos()
		for j := r.Count("names", 2); j > 0 && r.Err() == nil; j-- {
			r.U32()
			r.Name()
		}
		b = append(b, r.Since(at)...)
	}
	if r.Len() > 0 {
		r.Fail("bytes behind the names")
	}
	return b
}

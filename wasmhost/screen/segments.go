package screen

import (
	"strings"

	"weir/wasmhost/internal/wasmbin"
)

func (c *checker) exportSection(r *wasmbin.Reader) {
	n := c.vector(r, "exports", 3, c.limits.Exports)
	for i := 0; i < n && r.Err() == nil; i++ {
		name := r.Name()
		at := r.Offset()
		kind, index := r.Byte(), r.U32()
		if r.Err() != nil {
			return
		}
		ex := Export{}
		var known int
		switch kind {
		case kindFunction:
			known, ex.Kind = c.functions, Function
		case kindTable:
			known, ex.Kind = c.tables, Table
		case kindMemory:
			known, ex.Kind = c.memories, Memory
		case kindGlobal:
			known, ex.Kind = c.globals, Global
		default:
			r.FailAt(at, "export of kind %d is not supported", kind)
			return
		}
		if int64(index) >= int64(known) {
			r.FailAt(at, "export of %s %d, which does not exist", ex.Kind, index)
			return
		}
		if c.summary != nil {
			ex.Name = string(name)
			if kind == kindFunction {
				t := c.types[c.funcTypes[index]]
				ex.Params, ex.Results, ex.Type = t.params, t.results, signatureText(t)
			}
			c.summary.Exports = append(c.summary.Exports, ex)
		}
	}
}

// elementSection reads segments. The three low bits of a segment's flags: passive or declarative; explicit table (or declarative); expressions.
func (c *checker) elementSection(r *wasmbin.Reader) {
	n := c.vector(r, "element segments", 2, c.limits.Segments)
	for i := 0; i < n && r.Err() == nil; i++ {
		at := r.Offset()
		flags := r.U32()
		if flags > 7 {
			r.FailAt(at, "element segment of kind %d", flags)
			return
		}
		active, explicit, expressions := flags&1 == 0, flags&2 != 0, flags&4 != 0
		if active && explicit {
			r.U32()
		}
		if active {
			c.constExpr(r)
		}
		if !active || explicit {
			r.Byte()
		}
		for count := r.Count("elements", 1); count > 0 && r.Err() == nil; count-- {
			if expressions {
				c.constExpr(r)
			} else {
				c.functionRef(r)
			}
		}
	}
}

func (c *checker) dataSection(r *wasmbin.Reader) {
	n := c.vector(r, "data segments", 2, c.limits.Segments)
	for i := 0; i < n && r.Err() == nil; i++ {
		at := r.Offset()
		mode := r.U32()
		if mode > 2 {
			r.FailAt(at, "data segment of kind %d", mode)
			return
		}
		if mode == 2 && r.U32() != 0 {
			r.FailAt(at, "data segment for a memory other than 0")
		}
		if mode != 1 {
			c.constExpr(r)
		}
		r.Name()
	}
}

// custom reads a custom section. Only the names are looked into: wazero sizes its tables by the counts in them.
func (c *checker) custom(r *wasmbin.Reader) {
	name := string(r.Name())
	if r.Err() != nil {
		return
	}
	if c.summary != nil {
		c.summary.CustomSections = append(c.summary.CustomSections, name)
	}
	if name != "name" {
		r.Bytes(r.Len())
		return
	}
	c.where = "name section"
	for r.Err() == nil && r.Len() > 0 {
		id := r.Byte()
		sub := r.Sub(r.Count("name bytes", 1))
		switch id {
		case 0: // module
			sub.Name()
		case 1: // functions
			nameMap(sub)
		case 2: // locals by function
			for n := sub.Count("functions", 2); n > 0 && sub.Err() == nil; n-- {
				sub.U32()
				nameMap(sub)
			}
		default: // skipped by wazero
			sub.Bytes(sub.Len())
		}
		if sub.Err() == nil && sub.Len() > 0 {
			sub.Fail("%d bytes behind the names", sub.Len())
		}
		if err := sub.Err(); err != nil {
			r.FailAt(err.Offset, "%s", err.Reason)
		}
	}
}

func nameMap(r *wasmbin.Reader) {
	for n := r.Count("names", 2); n > 0 && r.Err() == nil; n-- {
		r.U32()
		r.Name()
	}
}

// signatureText writes a signature as in "(i32, i32) -> i32".
func signatureText(t signature) string {
	var b strings.Builder
	b.WriteByte('(')
	writeTypes(&b, t.params)
	b.WriteString(")")
	switch len(t.results) {
	case 0:
	case 1:
		b.WriteString(" -> ")
		writeTypes(&b, t.results)
	default:
		b.WriteString(" -> (")
		writeTypes(&b, t.results)
		b.WriteByte(')')
	}
	return b.String()
}

func writeTypes(b *strings.Builder, types []byte) {
	for i, t := range types {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(valueTypeName(t))
	}
}

const (
	funcref   = 0x70
	externref = 0x6f
)

// valueTypeName returns the text form of a value type, empty for an unknown one.
func valueTypeName(t byte) string {
	switch t {
	case 0x7f:
		return "i32"
	case 0x7e:
		return "i64"
	case 0x7d:
		return "f32"
	case 0x7c:
		return "f64"
	case 0x7b:
		return "v128"
	case funcref:
		return "funcref"
	case externref:
		return "externref"
	}
	return ""
}

package meter

import (
	"weir/wasmhost/internal/wasmbin"
)

// Value types and other bytes of the binary format.
const (
	i32Type  = 0x7f
	i64Type  = 0x7e
	v128Type = 0x7b
	empty    = 0x40

	funcref   = 0x70
	externref = 0x6f
)

// rewriter carries the state of one rewrite.
type rewriter struct {
	*module
	cfg  Config
	info Info

	fuel, depth               uint32 // global indexes
	refill, overflow, refused uint32 // function indexes

	extraTypes []funcType
	helpers    helpers
	frames     []frame  // reused by every function
	labels     []uint32 // reused by every function
	plan       plan     // reused by every function
	body       []byte   // reused by every function
	saved      uint32   // local of the current function that holds the depth inside it
	left       uint32   // local of the current function that holds the fuel inside tight loops
}

func (m *module) rewrite(cfg Config) ([]byte, Info, *wasmbin.Error) {
	w := &rewriter{module: m, cfg: cfg}
	w.fuel, w.depth = m.globals, m.globals+1
	w.refill, w.overflow, w.refused = m.importFuncs, m.importFuncs+1, m.importFuncs+2
	w.helpers.base = m.importFuncs + addedImports + uint32(len(m.funcTypes))
	w.info = Info{
		FuelGlobal:  m.freeName("weir:fuel"),
		DepthGlobal: m.freeName("weir:depth"),
		Functions:   len(m.funcTypes),
	}

	if cfg.Enter {
		w.info.Enter = m.freeName("weir:enter")
	}

	// The code comes first: it decides which types and helper functions are added.
	code, err := w.code()
	if err != nil {
		return nil, Info{}, err
	}
	refillType := w.typeIndex(nil, []byte{i64Type})
	voidType := w.typeIndex(nil, nil)
	helperTypes := w.helperTypes()

	out := make([]byte, 0, m.size+m.size/2+1024)
	out = append(out, "\x00asm\x01\x00\x00\x00"...)
	emitted := byte(0)
	var names []byte
	emitUpTo := func(id byte) {
		for _, missing := range []byte{wasmbin.Type, wasmbin.Import, wasmbin.Function, wasmbin.Global, wasmbin.Export, wasmbin.Code} {
			if missing > emitted && missing < id {
				out = wasmbin.AppendSection(out, missing, w.section(missing, nil, refillType, voidType, helperTypes, code))
				emitted = missing
			}
		}
	}
	for i := range m.sections {
		s := &m.sections[i]
		switch s.ID {
		case wasmbin.Custom:
			if b, ok := w.nameSection(s); ok {
				names = b
			}
			continue
		case wasmbin.DataCount:
			emitUpTo(wasmbin.Element)
			out = wasmbin.AppendSection(out, s.ID, s.Data)
			continue
		}
		emitUpTo(s.ID)
		r := s.Reader()
		b := w.section(s.ID, r, refillType, voidType, helperTypes, code)
		if r.Err() != nil {
			return nil, Info{}, r.Err()
		}
		out = wasmbin.AppendSection(out, s.ID, b)
		emitted = s.ID
	}
	emitUpTo(wasmbin.Code + 1)
	if names != nil {
		out = wasmbin.AppendSection(out, wasmbin.Custom, names)
	}
	return out, w.info, nil
}

// freeName returns base, lengthened until the guest does not export anything of that name.
func (m *module) freeName(base string) string {
	for m.exports[base] {
		base += "'"
	}
	return base
}

// typeIndex returns the index of a signature, which it adds if no type of the guest has it.
func (w *rewriter) typeIndex(params, results []byte) uint32 {
	same := func(t funcType) bool {
		return string(t.params) == string(params) && string(t.results) == string(results)
	}
	for i, t := range w.extraTypes {
		if same(t) {
			return uint32(len(w.types) + i)
		}
	}
	w.extraTypes = append(w.extraTypes, funcType{params, results})
	return uint32(len(w.types) + len(w.extraTypes) - 1)
}

// section returns the new contents of a section. A nil reader means that the guest has none of that kind.
func (w *rewriter) section(id byte, r *wasmbin.Reader, refillType, voidType uint32, helperTypes []uint32, code []byte) []byte {
	switch id {
	case wasmbin.Type:
		b := grownVector(r, len(w.extraTypes))
		for _, t := range w.extraTypes {
			b = append(b, 0x60)
			b = append(wasmbin.AppendU32(b, uint32(len(t.params))), t.params...)
			b = append(wasmbin.AppendU32(b, uint32(len(t.results))), t.results...)
		}
		return b
	case wasmbin.Import:
		// Function imports are numbered among themselves, so appending ours after all others puts them after the guest's functions.
		b := grownVector(r, addedImports)
		b = wasmbin.AppendName(wasmbin.AppendName(b, Module), Refill)
		b = wasmbin.AppendU32(append(b, 0), refillType)
		b = wasmbin.AppendName(wasmbin.AppendName(b, Module), Overflow)
		b = wasmbin.AppendU32(append(b, 0), voidType)
		b = wasmbin.AppendName(wasmbin.AppendName(b, Module), Refused)
		return wasmbin.AppendU32(append(b, 0), voidType)
	case wasmbin.Function:
		b := grownVector(r, len(helperTypes))
		for _, t := range helperTypes {
			b = wasmbin.AppendU32(b, t)
		}
		return b
	case wasmbin.Table:
		return w.tables(r)
	case wasmbin.Global:
		return w.globalSection(r)
	case wasmbin.Export:
		return w.exportSection(r)
	case wasmbin.Start:
		return wasmbin.AppendU32(nil, w.shift(r.U32()))
	case wasmbin.Element:
		return w.elements(r)
	case wasmbin.Code:
		return code
	case wasmbin.Memory:
		b := r.Bytes(r.Len())
		c := wasmbin.NewReader(b, r.Offset()-len(b))
		n := c.Count("memories", 2)
		if n > 1 {
			r.Fail("%d memories: only one is supported", n)
		}
		for range n {
			skipLimits(c, "memory")
		}
		if err := c.Err(); err != nil {
			r.FailAt(err.Offset, "%s", err.Reason)
		}
		return b
	default:
		return r.Bytes(r.Len())
	}
}

// grownVector copies a vector and raises its count.
func grownVector(r *wasmbin.Reader, by int) []byte {
	if r == nil {
		return wasmbin.AppendU32(nil, uint32(by))
	}
	n := r.U32()
	rest := r.Bytes(r.Len())
	b := make([]byte, 0, len(rest)+64)
	return append(wasmbin.AppendU32(b, n+uint32(by)), rest...)
}

func (w *rewriter) tables(r *wasmbin.Reader) []byte {
	n := r.Count("tables", 3)
	b := wasmbin.AppendU32(nil, uint32(n))
	for i := 0; i < n && r.Err() == nil; i++ {
		at := r.Offset()
		typ := r.Byte()
		if typ != funcref && typ != externref {
			r.FailAt(at, "table of type %#x is not supported", typ)
		}
		b = append(b, typ)
		minimum, maximum, bounded := skipLimits(r, "table")
		if limit := max(w.cfg.TableElements, minimum); !bounded || maximum > limit {
			maximum = limit
		}
		b = wasmbin.AppendU32(append(b, 1), minimum)
		b = wasmbin.AppendU32(b, maximum)
	}
	return b
}

func (w *rewriter) globalSection(r *wasmbin.Reader) []byte {
	var b []byte
	if r == nil {
		b = wasmbin.AppendU32(nil, 2)
	} else {
		n := r.Count("globals", 4)
		b = wasmbin.AppendU32(make([]byte, 0, r.Len()+32), uint32(n+2))
		for range n {
			b = append(b, r.Byte(), r.Byte())
			b = w.constExpr(b, r)
		}
	}
	b = append(b, i64Type, 1, 0x42, 0, 0x0b)
	b = wasmbin.AppendS64(append(b, i64Type, 1, 0x42), w.cfg.Depth)
	return append(b, 0x0b)
}

func (w *rewriter) exportSection(r *wasmbin.Reader) []byte {
	var b []byte
	added := uint32(2)
	if w.cfg.Enter {
		added++
	}
	if r == nil {
		b = wasmbin.AppendU32(nil, added)
	} else {
		n := r.Count("exports", 3)
		b = wasmbin.AppendU32(make([]byte, 0, r.Len()+64), uint32(n)+added)
		for range n {
			b = wasmbin.AppendName(b, string(r.Name()))
			kind := r.Byte()
			i := r.U32()
			if kind == 0 {
				i = w.shift(i)
			}
			b = wasmbin.AppendU32(append(b, kind), i)
		}
	}
	if w.cfg.Enter {
		b = wasmbin.AppendU32(append(wasmbin.AppendName(b, w.info.Enter), 0), w.helpers.index(helper{kind: helperEnter}))
	}
	b = wasmbin.AppendU32(append(wasmbin.AppendName(b, w.info.FuelGlobal), 3), w.fuel)
	return wasmbin.AppendU32(append(wasmbin.AppendName(b, w.info.DepthGlobal), 3), w.depth)
}

// constExpr copies a constant expression and renumbers its functions.
func (w *rewriter) constExpr(b []byte, r *wasmbin.Reader) []byte {
	var in wasmbin.Instr
	for r.Err() == nil {
		at := r.Pos()
		r.Instr(&in)
		if in.Op == wasmbin.OpRefFunc {
			b = wasmbin.AppendU32(append(b, byte(in.Op)), w.shift(in.A))
		} else {
			b = append(b, r.Since(at)...)
		}
		if in.Op == wasmbin.OpEnd {
			break
		}
	}
	return b
}

// elements copies the element section. The three low bits of a segment's flags: passive or declarative; explicit table (or declarative); expressions.
func (w *rewriter) elements(r *wasmbin.Reader) []byte {
	n := r.Count("element segments", 2)
	b := wasmbin.AppendU32(make([]byte, 0, r.Len()+r.Len()/4), uint32(n))
	for range n {
		at := r.Offset()
		flags := r.U32()
		if flags > 7 {
			r.FailAt(at, "element segment of kind %d", flags)
			return nil
		}
		b = wasmbin.AppendU32(b, flags)
		active, explicit, expressions := flags&1 == 0, flags&2 != 0, flags&4 != 0
		if active && explicit {
			b = wasmbin.AppendU32(b, r.U32())
		}
		if active {
			b = w.constExpr(b, r)
		}
		if !active || explicit {
			b = append(b, r.Byte()) // element kind or reference type
		}
		count := r.Count("elements", 1)
		b = wasmbin.AppendU32(b, uint32(count))
		for i := 0; i < count && r.Err() == nil; i++ {
			if expressions {
				b = w.constExpr(b, r)
			} else {
				b = wasmbin.AppendU32(b, w.shift(r.U32()))
			}
		}
	}
	return b
}

package wasmhost_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"weir/wasmhost"
)

// wasmFile is a committed guest.
func wasmFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + path + ".wasm")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// interpreted says whether all tests are to run in the interpreter.
func interpreted() bool { return os.Getenv("WEIR_INTERPRETER") == "1" }

// newHost makes a host that is closed after the test.
func newHost(t testing.TB, cfg wasmhost.Config) *wasmhost.Host {
	t.Helper()
	cfg.Interpreter = cfg.Interpreter || interpreted()
	h, err := wasmhost.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Errorf("closing the host: %v", err)
		}
	})
	return h
}

func compile(t testing.TB, h *wasmhost.Host, wasm []byte) *wasmhost.Module {
	t.Helper()
	m, err := h.Compile(t.Context(), "test", wasm, wasmhost.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// probe is a guest of testdata/wat/probe.wat: it does what scripts say.
type probe struct {
	*wasmhost.Guest
	ops map[string]uint64
}

// grants are capabilities that answer nothing, for a module that imports them all.
func grants() map[string]wasmhost.Capability {
	all := map[string]wasmhost.Capability{}
	for _, name := range []string{"kv", "http", "file", "ui", "session"} {
		all[name] = wasmhost.Capability{Handle: func(context.Context, []byte) ([]byte, error) { return nil, errors.New("nothing here") }}
	}
	return all
}

func newProbe(t testing.TB, hostCfg wasmhost.Config, cfg wasmhost.GuestConfig) *probe {
	t.Helper()
	return probeOn(t, newHost(t, hostCfg), cfg)
}

func probeOn(t testing.TB, h *wasmhost.Host, cfg wasmhost.GuestConfig) *probe {
	t.Helper()
	m, err := h.Compile(t.Context(), "probe", wasmFile(t, "wat/probe"), cfg.Limits)
	if err != nil {
		t.Fatal(err)
	}
	p := &probe{ops: map[string]uint64{"end": 0, "emit": 1, "save": 2, "return": 3, "store": 4, "grow": 5, "trap": 6, "spin": 7, "fill": 8, "deep": 9, "count": 10}}
	for i, f := range m.Summary().Imports {
		p.ops[f.Name] = 16 + uint64(i)
	}
	if cfg.Name == "" {
		cfg.Name = "probe"
	}
	if cfg.Entries == nil {
		cfg.Entries = []string{"call", "other"}
	}
	if cfg.Capabilities == nil {
		cfg.Capabilities = grants()
	}
	if cfg.Limits.Timeout == 0 {
		cfg.Limits.Timeout = time.Minute // what is no test of the deadline must not depend on how busy the machine is
	}
	g, err := m.NewGuest(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(context.Background()); err != nil {
			t.Errorf("closing the guest: %v", err)
		}
	})
	p.Guest = g
	return p
}

// step is one instruction of a script.
type step struct {
	op         string
	a, b, c, d uint64
	e          uint64
	plusA      bool // add the saved result to a
	plusB      bool // and to b
}

// op calls an import, or one of the probe's own instructions.
func op(name string, args ...uint64) step {
	s := step{op: name}
	for i, v := range args {
		*[]*uint64{&s.a, &s.b, &s.c, &s.d}[i] = v
	}
	return s
}

// plus adds the saved result to the first argument.
func (s step) plus() step { s.plusA = true; return s }

// plus2 adds the saved result to the second argument.
func (s step) plus2() step { s.plusB = true; return s }

// poke writes bytes into the guest's memory.
func poke(at uint64, data string) []step {
	var steps []step
	for i := range len(data) {
		steps = append(steps, step{op: "store", a: at + uint64(i), b: uint64(data[i]), e: 1})
	}
	return steps
}

func pokeU32(at uint64, v uint32) step { return step{op: "store", a: at, b: uint64(v), e: 4} }
func pokeU64(at, v uint64) step        { return step{op: "store", a: at, b: v, e: 8} }

// block makes a kernel block that holds text and saves its offset.
func block(text string) []step {
	steps := []step{op("alloc", uint64(len(text))), {op: "save"}}
	for i := range len(text) {
		steps = append(steps, op("store_u8", uint64(i), uint64(text[i])).plus())
	}
	return steps
}

// emit appends guest memory to the report.
func emit(at, n uint64) step { return op("emit", at, n) }

func (p *probe) script(t testing.TB, parts ...any) []byte {
	t.Helper()
	var out []byte
	add := func(s step) {
		code, ok := p.ops[s.op]
		if !ok {
			t.Fatalf("no op %q", s.op)
		}
		if s.plusA {
			code |= 0x100
		}
		if s.plusB {
			code |= 0x200
		}
		for _, v := range []uint64{code, s.a, s.b, s.c, s.d, s.e} {
			out = binary.LittleEndian.AppendUint64(out, v)
		}
	}
	for _, part := range parts {
		switch part := part.(type) {
		case step:
			add(part)
		case []step:
			for _, s := range part {
				add(s)
			}
		default:
			t.Fatalf("not a step: %T", part)
		}
	}
	return out
}

// try runs a script and gives the report.
func (p *probe) try(t testing.TB, parts ...any) ([]byte, wasmhost.Stats, error) {
	t.Helper()
	return p.tryWith(t, wasmhost.Input{}, parts...)
}

func (p *probe) tryWith(t testing.TB, input wasmhost.Input, parts ...any) ([]byte, wasmhost.Stats, error) {
	t.Helper()
	input.Bytes = p.script(t, parts...)
	var out []byte
	stats, err := p.Call(t.Context(), "call", input, func(b []byte) error {
		out = bytes.Clone(b)
		return nil
	})
	return out, stats, err
}

// do is try for a script that must not fault.
func (p *probe) do(t testing.TB, parts ...any) []byte {
	t.Helper()
	out, _, err := p.try(t, parts...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// words reads a report as the results of imports.
func words(t testing.TB, report []byte) []int64 {
	t.Helper()
	if len(report)%8 != 0 {
		t.Fatalf("a report of %d bytes is not a list of numbers: %q", len(report), report)
	}
	var w []int64
	for b := range slices.Chunk(report, 8) {
		w = append(w, int64(binary.LittleEndian.Uint64(b)))
	}
	return w
}

// wantFault checks the kind of a fault.
func wantFault(t testing.TB, err error, kind wasmhost.Kind) {
	t.Helper()
	_ = faultOf(t, err, kind)
}

// faultOf gives a fault of that kind.
func faultOf(t testing.TB, err error, kind wasmhost.Kind) *wasmhost.Fault {
	t.Helper()
	var f *wasmhost.Fault
	if !errors.As(err, &f) {
		t.Fatalf("got %v, want a fault of kind %v", err, kind)
	}
	if f.Kind != kind {
		t.Fatalf("got %v, want kind %v", f, kind)
	}
	return f
}

package engine_test

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// code is what an export of an assembled module does; see assembly.
type code []step

// step is one thing that it does: an answer, a request, a line of the log.
type step struct{ what, text string }

// answer gives text as the output. first gives one text the first time and another from then on, for as long as the instance lives.
func answer(text string) code         { return code{{"answer", text}} }
func first(text, later string) code   { return code{{"first", text}, {"later", later}} }
func (c code) kv(request string) code { return append(code{{"kv", request}, {"log", ""}}, c...) }

// assembly is a module of a few hundred bytes that is made here: each export is a function () -> i32 that gives what it is told to.
// It needs no toolchain, and each is another module.
type assembly struct {
	describe string // of weir_describe; "" makes a plain Extism module
	exports  map[string]code
}

// uleb is a number in LEB128; all that stands here is small.
func uleb(n int) []byte { return binary.AppendUvarint(nil, uint64(n)) }

// sleb is a number that is not negative in signed LEB128.
func sleb(n int) []byte {
	var b []byte
	for {
		c := byte(n & 0x7f)
		n >>= 7
		if n == 0 && c&0x40 == 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func section(id byte, items ...[]byte) []byte {
	body := uleb(len(items))
	for _, i := range items {
		body = append(body, i...)
	}
	return append(append([]byte{id}, uleb(len(body))...), body...)
}

func named(s string) []byte { return append(uleb(len(s)), s...) }

// wasm is the module's bytes.
func (a assembly) wasm() []byte {
	const (
		output, kv, response, log = 0, 1, 2, 3
		flag, heap, data          = 0, 16384, 1024
	)
	imports := []struct {
		name string
		typ  byte
	}{{"weir_output_write", 0}, {"weir_kv", 1}, {"weir_response_read", 2}, {"weir_log", 3}}
	exports := map[string]code{}
	uses := 1
	for name, c := range a.exports {
		exports[name] = c
		for _, s := range c {
			if s.what == "kv" {
				uses = 4
			}
		}
	}
	if a.describe != "" {
		exports["weir_describe"] = answer(a.describe)
	}
	var names []string
	for _, n := range strings.Fields("weir_describe tool_call tool_result input session_start session_shutdown tool_execute command_execute toolCall") {
		if _, ok := exports[n]; ok {
			names = append(names, n)
		}
	}
	if len(names) != len(exports) {
		panic("assembly: an export that it does not know")
	}
	constant := func(n int) []byte { return append([]byte{0x41}, sleb(n)...) }
	call := func(f byte) []byte { return []byte{0x10, f} }
	var text []byte
	at := func(s string) []byte { // puts s into memory and pushes pointer and length
		p := data + len(text)
		text = append(text, s...)
		return append(constant(p), constant(len(s))...)
	}
	var functions, bodies, exported [][]byte
	for i, name := range names {
		body := []byte{1, 1, 0x7f} // a local i32
		for _, s := range exports[name] {
			switch s.what {
			case "answer":
				body = append(append(body, at(s.text)...), call(output)...)
			case "first": // if the flag is not set
				body = append(append(append(body, constant(flag)...), 0x28, 2, 0, 0x45, 0x04, 0x40), at(s.text)...)
				body = append(append(body, call(output)...), 0x05)
			case "later": // else; then the flag is set
				body = append(append(append(body, at(s.text)...), call(output)...), 0x0b)
				body = append(append(append(body, constant(flag)...), constant(1)...), 0x36, 2, 0)
			case "kv":
				body = append(append(append(body, at(s.text)...), call(kv)...), 0x21, 0)
			case "log": // response_read(heap, 0, length), then log(info, heap, length)
				body = append(append(append(body, constant(heap)...), constant(0)...), 0x20, 0)
				body = append(append(append(body, call(response)...), 0x1a), constant(1)...)
				body = append(append(append(body, constant(heap)...), 0x20, 0), call(log)...)
			}
		}
		body = append(append(body, constant(0)...), 0x0b)
		functions = append(functions, []byte{4})
		bodies = append(bodies, append(uleb(len(body)), body...))
		exported = append(exported, append(named(name), 0, byte(uses+i)))
	}
	exported = append(exported, append(named("memory"), 2, 0))
	var imported [][]byte
	for _, i := range imports[:uses] {
		imported = append(imported, append(append(named("extism:host/user"), named(i.name)...), 0, i.typ))
	}
	return bytes.Join([][]byte{
		[]byte("\x00asm\x01\x00\x00\x00"),
		section(1, []byte{0x60, 2, 0x7f, 0x7f, 0}, []byte{0x60, 2, 0x7f, 0x7f, 1, 0x7f}, []byte{0x60, 3, 0x7f, 0x7f, 0x7f, 1, 0x7f}, []byte{0x60, 3, 0x7f, 0x7f, 0x7f, 0}, []byte{0x60, 0, 1, 0x7f}),
		section(2, imported...),
		section(3, functions...),
		section(5, []byte{0, 1}),
		section(7, exported...),
		section(10, bodies...),
		section(11, append(append([]byte{0}, append(constant(data), 0x0b)...), named(string(text))...)),
	}, nil)
}

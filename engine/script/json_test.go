package script_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"weir/engine/wire"
	"weir/wasmhost"
)

// FuzzJSON: a policy reads JSON as the host does. What one took and the other refused, or read otherwise, would be a way
// past a policy.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`{}`, `[]`, `null`, `""`, `0`, `-0`, `1.50e+3`, `01`, `1.`, `.5`, `+1`, `0x10`, `1e400`, `123456789012345678901`, `NaN`, `Infinity`, `undefined`,
		`{"a":1,"a":2}`, `{"a":1,"A":2}`, `{"__proto__":{"x":1},"constructor":1}`, `{"b":1,"a":2,"1":3}`, `{"a":1,}`, `[1,]`, `[,]`, `{a:1}`, `{'a':1}`, `'a'`,
		`"\u0072m"`, `"\ud83d\ude00"`, `"\ud800"`, `"\udc00\ud800"`, `"\x41"`, `"\u00g0"`, `"\u{41}"`, `"\v"`, `"\/"`, "\"\t\"", "\"\u2028\"", `"\u0000"`, `"a`, `"\`, `"\u12`, "{}\x00", "{}\x00x", "\x00",
		"// c\n1", "/* c */1", "#1", "1 2", "[1]x", " \n\r\t1 ", "\u00a01", "\ufeff1", "\v1", "[[[[[[[[]]]]]]]]", `{"":{"":""}}`, `tru`, `truee`, `-`, `--1`, `1e`, `1e+`, ``,
	} {
		f.Add(s)
	}
	s := load(f, write(f, "p.js", `export const tool_call = (e) => {
  let ok;
  try { ok = JSON.parse(e.text); } catch { return {}; }
  return { ok };
};`))
	g := guest(f, host(f), s, wasmhost.GuestConfig{Entries: []string{"tool_call"}})
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1000 || !utf8.ValidString(text) { // an event is valid UTF-8, and nested at most as deep as the host allows
			return
		}
		out, err := call(t, g, "tool_call", `{"text":`+string(wire.AppendString(nil, text))+`}`)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		ok, taken := got["ok"]
		if taken != json.Valid([]byte(text)) {
			t.Fatalf("%q: the policy takes it: %v, the host: %v", text, taken, !taken)
		}
		var want any
		if json.Unmarshal([]byte(text), &want) != nil {
			return // refused by both, or a number too large for a double, which JavaScript has as Infinity
		}
		if diff := cmp.Diff(want, ok); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	})
}

// FuzzContextApart: an event is the same whether its context was taken apart from it or not.
func FuzzContextApart(f *testing.F) {
	const context = `"context":{"sessionId":"s","model":{"id":"}"},"turnIndex":7,"callIndex":12}`
	for _, s := range []string{
		`{"input":{"command":"ls"},` + context + `}`, `{` + context + `,"input":{"callIndex":3}}`, `{"input":{"a":1,` + context + `},` + context + `}`,
		`{"a":{"b":1,` + context + `}}`, `{"context":1,` + context + `}`, `{"context":{"sessionId":1}}`, `{"a":1,"context":{"sessionId":"}"}}`, `{"a":1,"context":{"sessionId":"\\"}}`,
		`{"a":",\"context\":{\"sessionId\":\"x\"}}` + `"}`, `[1,"context":{"sessionId":1}}`, `{"a":[{"b":1,"context":{"sessionId":1}}]}`, `{"a":1,"context":{"sessionId":1}x}`,
		`{"a":1,"context":{"sessionId":{}}}`, `{"a":1 ,"context":{"sessionId":1} }`, `{"a":"\u0022,"context":{"sessionId":1}}`,
		"{}\x00", "{}\x00x", "\x00{}", `{"a":1,"context":{"sessionId":1}}` + "\x00",
	} {
		f.Add(s)
	}
	s := load(f, write(f, "p.js", `export const tool_call = (e) => ({ all: JSON.stringify(e) });`))
	g := guest(f, host(f), s, wasmhost.GuestConfig{Entries: []string{"tool_call"}, Limits: wasmhost.Limits{Quarantine: 1 << 31}})
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1000 || !utf8.ValidString(text) || strings.HasPrefix(text, "W") {
			return
		}
		out, err := call(t, g, "tool_call", text)
		if err == nil != json.Valid([]byte(text)) {
			t.Fatalf("%q: %s, %v", text, out, err)
		}
		var got struct{ All string }
		var want, all any
		if err != nil || json.Unmarshal([]byte(text), &want) != nil {
			return
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if err := json.Unmarshal([]byte(got.All), &all); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if diff := cmp.Diff(want, all); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	})
}

// Package jsontest compares the JSON readers of the SDKs with encoding/json: over documents that readers get wrong, and damaged ones.
//
// An SDK brings a driver: an export of a guest that reads its input and shows each value as its accessors see it. A string stands
// for itself; a number is {"raw":"1e2","int":null,"bits":"4059000000000000"}; an object is an array of "object" and a pair of key
// and value for each key; null, booleans and arrays are themselves. What is no document it refuses.
package jsontest

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// show says what the driver's "read" answers for a decoded document.
func show(v any) any {
	switch v := v.(type) {
	case json.Number:
		d, err := strconv.ParseFloat(string(v), 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			panic(err)
		}
		var i any
		if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			i = json.Number(strconv.FormatInt(n, 10))
		}
		return map[string]any{"raw": string(v), "int": i, "value": d}
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = show(e)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = show(e)
		}
		return out
	}
	return v
}

// seen turns the driver's answer into the same shape.
func seen(t testing.TB, v any) any {
	switch v := v.(type) {
	case []any:
		if len(v) > 0 && v[0] == "object" {
			out := map[string]any{}
			for _, e := range v[1:] {
				pair := e.([]any)
				if _, twice := out[pair[0].(string)]; twice {
					t.Fatalf("key %q comes twice", pair[0])
				}
				out[pair[0].(string)] = seen(t, pair[1])
			}
			return out
		}
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = seen(t, e)
		}
		return out
	case map[string]any:
		u, err := strconv.ParseUint(v["bits"].(string), 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		return map[string]any{"raw": v["raw"], "int": v["int"], "value": math.Float64frombits(u)}
	}
	return v
}

// hasArrayLikeObject: an array that begins with "object" would be mistaken for an object by seen.
func hasArrayLikeObject(v any) bool {
	switch v := v.(type) {
	case []any:
		if len(v) > 0 && v[0] == "object" {
			return true
		}
		for _, e := range v {
			if hasArrayLikeObject(e) {
				return true
			}
		}
	case map[string]any:
		for _, e := range v {
			if hasArrayLikeObject(e) {
				return true
			}
		}
	}
	return false
}

// Accepts says whether an SDK must accept a document: valid JSON and UTF-8, whole surrogate pairs, 64 levels at most.
func Accepts(doc []byte) bool {
	if !json.Valid(doc) || !utf8.Valid(doc) {
		return false
	}
	depth, inString := 0, false
	for i := 0; i < len(doc); i++ {
		switch c := doc[i]; {
		case inString && c == '\\':
			if doc[i+1] != 'u' {
				i++
				continue
			}
			u, err := strconv.ParseUint(string(doc[i+2:i+6]), 16, 16)
			if err != nil {
				panic(err)
			}
			i += 5
			if u >= 0xdc00 && u <= 0xdfff {
				return false
			}
			if u < 0xd800 || u > 0xdfff {
				continue
			}
			if i+6 >= len(doc) || doc[i+1] != '\\' || doc[i+2] != 'u' {
				return false
			}
			if low, err := strconv.ParseUint(string(doc[i+3:i+7]), 16, 16); err != nil || low < 0xdc00 || low > 0xdfff {
				return false
			}
			i += 6
		case c == '"':
			inString = !inString
		case !inString && (c == '{' || c == '['):
			if depth++; depth > 64 {
				return false
			}
		case !inString && (c == '}' || c == ']'):
			depth--
		}
	}
	return true
}

func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-14*math.Max(math.Abs(a), math.Abs(b)) || (math.Abs(a) < 1e-300 && math.Abs(b) < 1e-300)
}

// same is by hand because go-cmp takes exponential time on nested slices.
func same(a, b any) bool {
	switch a := a.(type) {
	case float64:
		b, ok := b.(float64)
		return ok && near(a, b)
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !same(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k := range a {
			other, ok := b[k]
			if !ok || !same(a[k], other) {
				return false
			}
		}
		return true
	}
	return a == b
}

// Check hands the driver a document and compares with encoding/json. read returns what the driver answered, or an error with its
// text; a trap is none of what may happen.
func Check(t testing.TB, doc []byte, read func([]byte) ([]byte, error)) {
	t.Helper()
	out, err := read(doc)
	if want := Accepts(doc); want != (err == nil) {
		t.Fatalf("%.300q: accepted %v, want %v (%v)", doc, err == nil, want, err)
	}
	if err != nil {
		if strings.Contains(err.Error(), "wasm error") {
			t.Fatalf("%.300q: %v", doc, err)
		}
		return
	}
	want, got := decode(t, doc), decode(t, out)
	if hasArrayLikeObject(want) {
		return
	}
	if a, b := show(want), seen(t, got); !same(a, b) {
		t.Fatalf("%.300q: encoding/json reads %.600v, the SDK %.600v", doc, a, b)
	}
}

func decode(t testing.TB, doc []byte) (v any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%.300q: %v", doc, err)
	}
	return v
}

// Documents are those that readers of JSON get wrong, good and bad ones.
func Documents() []string {
	docs := []string{
		``, ` `, `null`, `true`, `false`, `nul`, `nulll`, `truefalse`, `tru`, `TRUE`, `{}`, `[]`, `[ ]`, `{ }`, `[,]`, `[1,]`, `{,}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{"a" 1}`, `{a:1}`, `{'a':1}`, `{"a":1 "b":2}`,
		`[1 2]`, `[1`, `{"a":1`, `]`, `}`, `[}`, `{]`, `[[]`, `"`, `"a`, `"a\`, `"\"`, `"\\"`, `"\x"`, `"\u"`, `"\u12"`, `"\u123g"`, `"\u0041"`, `"\u0000"`, "\"\x00\"", "\"\n\"", "\"\t\"", "\"\x1f\"", "\"\x7f\"",
		`"\ud83d\ude00"`, `"\ud83d"`, `"\ud83dx"`, `"\ude00"`, `"\ude00\ud83d"`, `"\ud83d\ud83d\ude00"`, `"\ud83d\n"`, `"\uD83D\uDE00"`, `"\/\b\f\n\r\t\"\\"`, `{"\ud800":1}`,
		"\"\xff\"", "\"\xc0\x80\"", "\"\xc3\"", "\"\xc3(\"", "\"\xe0\x80\x80\"", "\"\xed\xa0\x80\"", "\"\xf0\x80\x80\x80\"", "\"\xf4\x90\x80\x80\"", "\"\xf5\x80\x80\x80\"", "\"\xf0\x9f\x98\x80\"", "\"\xe2\x82\"", "\"é€😀\"",
		"\xef\xbb\xbf{}", "\xff", "{\"a\":\"\xff\"}",
		`0`, `-0`, `00`, `01`, `-01`, `-`, `+1`, `1.`, `.5`, `1.5`, `1e5`, `1E+5`, `1e-5`, `1e`, `1e+`, `1.e5`, `0x10`, `NaN`, `Infinity`, `-Infinity`, `1_000`, `9223372036854775807`, `9223372036854775808`,
		`-9223372036854775808`, `-9223372036854775809`, `18446744073709551616`, `123456789012345678901234567890`, `0.1`, `1e308`, `1e309`, `-1e309`, `1e-308`, `5e-324`, `1e-400`, `1e99999999999`, `0e99999999999`,
		`1.7976931348623157e308`, `0.000000000000000000000000000001`, `1000000000000000000000000000000.5`, `3.141592653589793`, `2.2250738585072014e-308`, `1e22`, `1e23`, `12345678901234567890e-10`,
		`{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"\u0061":1,"a":2,"b":3}`, `{"a":{"b":1},"a":{"c":2}}`, `{"":1}`, `{"a":1,"A":2}`, `{"a\u0000b":1,"a\u0000c":2}`,
		`[1]x`, `{} {}`, "{}\x00", "{}\n\t\r ", "\n{}", "\x0b{}", "\u00a0{}", `/**/{}`, `{}//`, `[[[[]]]]`, `{"a":[{"b":[]}]}`,
		strings.Repeat("[", 64) + strings.Repeat("]", 64), strings.Repeat("[", 65) + strings.Repeat("]", 65), strings.Repeat("[", 100_000), strings.Repeat(`{"a":`, 64) + "1" + strings.Repeat("}", 64),
		strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65), `[` + strings.Repeat(`{"k":"v"},`, 3000) + `{}]`, `"` + strings.Repeat("a", 40_000) + `"`, `"` + strings.Repeat(`\n`, 20_000) + `"`,
		`{"type":"tool_call","toolName":"bash","input":{"command":"ls \"-la\" | grep 'x'"},"context":{"cwd":"/w"}}`,
	}
	// The eight-byte steps of the reader: every special byte at every place.
	for i := range 20 {
		for _, c := range []string{`"`, `\`, `\"`, "\x01", "\x80", "é", "\x7f", " "} {
			docs = append(docs, `"`+strings.Repeat("a", i)+c+strings.Repeat("b", 19-i)+`"`)
		}
	}
	return docs
}

// Mutations are n documents that were changed at random, always the same.
func Mutations(n int) [][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	seeds := Documents()
	bits := []string{`"`, `\`, `\u`, `d83d`, `{`, `}`, `[`, `]`, `,`, `:`, `0`, `-`, `e`, `.`, ` `, "\xff", "\xc3", "null", `"a":`, "\x00", "\\ud83d\\ude00"}
	var out [][]byte
	for len(out) < n {
		doc := []byte(seeds[r.IntN(len(seeds))])
		if len(doc) > 400 {
			continue
		}
		for range 1 + r.IntN(4) {
			at := r.IntN(len(doc) + 1)
			switch r.IntN(4) {
			case 0:
				doc = append(doc[:at:at], append([]byte(bits[r.IntN(len(bits))]), doc[at:]...)...)
			case 1:
				if at < len(doc) {
					doc = append(doc[:at:at], doc[at+1:]...)
				}
			case 2:
				if at < len(doc) {
					doc[at] = byte(r.IntN(256))
				}
			case 3:
				other := seeds[r.IntN(len(seeds))]
				if len(other) < 200 {
					doc = append(doc[:at:at], append([]byte(other), doc[at:]...)...)
				}
			}
		}
		out = append(out, doc)
	}
	return out
}

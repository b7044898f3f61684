package scan

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/bits"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

func TestValueRefuses(t *testing.T) {
	for text, want := range map[string]string{
		``:                        "byte 0: a value is missing",
		`  `:                      "byte 2: a value is missing",
		`{"a":1}x`:                "byte 7: text after the value",
		`{"a":1,}`:                "byte 7: a key in quotes is missing",
		`{a:1}`:                   "byte 1: a key in quotes is missing",
		`{"a" 1}`:                 "byte 5: no colon after a key",
		`{"a":1`:                  "byte 6: an object does not end",
		`{"a":1 "b":2}`:           "byte 7: no comma or } after a member",
		`[1 2]`:                   "byte 3: no comma or ] after an element",
		`[1,]`:                    "byte 3: not the start of a value",
		`[1`:                      "byte 2: an array does not end",
		`tru`:                     "byte 0: not the start of a value",
		`01`:                      "byte 1: text after the value",
		`-`:                       "byte 1: a number without digits",
		`1.`:                      "byte 2: a number without digits after its point",
		`1e+`:                     "byte 3: a number without digits in its exponent",
		`"abcdefghijk`:            "byte 12: a string does not end",
		`"abcdefgh\`:              "byte 9: a string does not end",
		"\"abcdefghi\n\"":         "byte 10: a control character in a string",
		"\"\xff\"":                "byte 1: not valid UTF-8",
		"\"\xed\xa0\x80\"":        "byte 1: not valid UTF-8",
		"\"\xc0\xaf\"":            "byte 1: not valid UTF-8",
		`"\x"`:                    "byte 1: an unknown escape",
		`"\u12g4"`:                "byte 1: not four hex digits after \\u",
		`"\u12"`:                  "byte 1: not four hex digits after \\u",
		`"\ud800"`:                "byte 1: half a surrogate pair",
		`"\udc00\ud800"`:          "byte 1: half a surrogate pair",
		`"\ud800\ud800"`:          "byte 1: half a surrogate pair",
		`"\ud800\n00000"`:         "byte 1: half a surrogate pair",
		nested(MaxDepth + 1):      "byte 64: nested too deeply",
		"{\"a\":\"\x00\"}":        "byte 6: a control character in a string",
		"\ufeff{}":                "byte 0: not the start of a value",
		`{"a":1}{"a":2}`:          "byte 7: text after the value",
		`{"a":NaN}`:               "byte 5: not the start of a value",
		`{"` + "\x80" + `":true}`: "byte 2: not valid UTF-8",
	} {
		_, err := Value(text)
		var at *Error
		if !errors.As(err, &at) || err.Error() != "invalid JSON at "+want {
			t.Errorf("Value(%q): %v, want %s", text, err, want)
		}
		if _, err := Members(text, nil); err == nil {
			t.Errorf("Members(%q) accepts it", text)
		}
	}
	for _, text := range []string{nested(MaxDepth), ` {"a" : [ 1 , -0.5e+3 ] } `, `"\u0000"`, `-0`} {
		got, err := Value(text)
		if err != nil || got != strings.TrimSpace(text) {
			t.Errorf("Value(%q) = %q, %v", text, got, err)
		}
	}
}

// TestValueStopsEverywhere cuts a valid text at every byte: each part must be
// refused, none may be read past its end.
func TestValueStopsEverywhere(t *testing.T) {
	whole := `{"a":[true,false,null,-1.5e-7,"\ud83d\ude00é€𝄞"],"b":{"c":{}},"longer than eight":[]}`
	if _, err := Value(whole); err != nil {
		t.Fatal(err)
	}
	for i := range len(whole) {
		if _, err := Value(whole[:i]); err == nil {
			t.Errorf("accepted when cut at %d: %s", i, whole[:i])
		}
	}
}

func TestSpecial(t *testing.T) {
	for n := range 8 {
		for c := range 256 {
			b := []byte("~~~~  ~~")
			b[n] = byte(c)
			want := c < 0x20 || c == '"' || c == '\\' || c >= 0x80
			got := special(Load64(string(b), 0))
			if (got != 0) != want || want && bits.TrailingZeros64(got)>>3 != n {
				t.Fatalf("special(%q) = %x", b, got)
			}
		}
	}
}

func TestGet(t *testing.T) {
	text := `{"a":1,"\u0061":2, "b" : {"a":3} ,"a":[4],"":5}`
	for name, want := range map[string]string{"a": "[4]", "b": `{"a":3}`, "": "5", "A": "", `\u0061`: ""} {
		if got := Get(text, name); got != want {
			t.Errorf("Get(%q) = %q, want %q", name, got, want)
		}
	}
	if got := Get(`{"a":1,"\u0061":2}`, "a"); got != "2" {
		t.Errorf("an escaped duplicate that comes last: %q", got)
	}
	if got := Get(`[1]`, "a"); got != "" {
		t.Errorf("Get in an array: %q", got)
	}
}

func TestQuoteAndReadable(t *testing.T) {
	all := make([]byte, 128)
	for i := range all {
		all[i] = byte(i)
	}
	text := string(all) + "é€𝄞\u2028"
	var back string
	if err := json.Unmarshal(AppendQuoted(nil, text), &back); err != nil || back != text {
		t.Errorf("encoding/json reads %q, %v", back, err)
	}
	if got, _ := String(string(AppendQuoted(nil, text))); got != text {
		t.Errorf("read back as %q", got)
	}
	if _, err := Value(string(AppendQuoted(nil, "a\xffb"))); err == nil {
		t.Error("a quoted text that is not UTF-8 is accepted")
	}
	if got := Readable("a\x00b\xffc é"); got != "a\ufffdb\ufffdc é" {
		t.Errorf("Readable: %q", got)
	}
}

var (
	pair = regexp.MustCompile(`(?i)\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}`)
	half = regexp.MustCompile(`(?i)\\ud[89a-f][0-9a-f]{2}`)
)

// readable is the rule of this package stated over encoding/json: what that
// accepts, without bad UTF-8, half surrogate pairs and deep nesting.
func readable(text string) bool {
	if !json.Valid([]byte(text)) || !utf8.ValidString(text) {
		return false
	}
	escapes := strings.ReplaceAll(text, `\\`, "")
	if half.MatchString(pair.ReplaceAllString(escapes, "")) {
		return false
	}
	depth, deepest := 0, 0
	d := json.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if err != nil {
			return deepest <= MaxDepth
		}
		switch token {
		case json.Delim('['), json.Delim('{'):
			depth++
			deepest = max(deepest, depth)
		case json.Delim(']'), json.Delim('}'):
			depth--
		}
	}
}

// decode builds what encoding/json builds, by this package alone.
func decode(s string) any {
	switch s[0] {
	case '{':
		members, err := Members(s, nil)
		if err != nil {
			panic(err)
		}
		m := map[string]any{}
		for _, member := range members {
			m[member.Key] = decode(Find(members, member.Key))
		}
		return m
	case '[':
		elements, err := Elements(s, nil)
		if err != nil {
			panic(err)
		}
		list := []any{}
		for _, e := range elements {
			list = append(list, decode(e.Value))
		}
		return list
	case '"':
		text, _ := String(s)
		return text
	case 't', 'f':
		return s == "true"
	case 'n':
		return nil
	}
	return json.Number(s)
}

func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		`{"type":"tool_call","input":{"command":"rm -rf /","command":"ls"},"a":[1,-2.5e10,true,null]}`,
		`{"\u0061":"\ud83d\ude00 \n\t\/ é","a":{"b":[[],{}]}}`, `"\ud800"`, `[1e400,0.1,-0,1E+2]`, nested(65), "\"\xff\"",
		` [ "\\ud800" , "\\\ud800" ] `, `{"a":1,"a":{"a":2},"a":[3]}`, `01`, `[1,]`, "\"a\u2028\"",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value, err := Value(text)
		r := reader{s: text}
		if end := r.value(space(text, 0), 0); (err == nil) != (end >= 0 && space(text, end) == len(text)) {
			t.Fatalf("the machine (%v) and the reader (%v) disagree: %q", err, r.problem, text)
		}
		if want := readable(text); want != (err == nil) {
			t.Fatalf("accepted: %v (%v), want %v: %q", err == nil, err, want, text)
		}
		if err != nil {
			return
		}
		var want any
		d := json.NewDecoder(bytes.NewReader([]byte(text)))
		d.UseNumber()
		if err := d.Decode(&want); err != nil {
			t.Fatal(err)
		}
		// Not cmp, whose time doubles with each nested array.
		if got := decode(value); !reflect.DeepEqual(want, got) {
			t.Fatalf("encoding/json reads %q as\n%#v, scan as\n%#v", text, want, got)
		}
		number, ok := want.(json.Number)
		if !ok {
			return
		}
		wantFloat, wantErr := number.Float64()
		gotFloat, gotErr := strconv.ParseFloat(value, 64)
		if (wantErr == nil) != (gotErr == nil) || math.Float64bits(wantFloat) != math.Float64bits(gotFloat) {
			t.Fatalf("number %q: %v, %v; want %v, %v", value, gotFloat, gotErr, wantFloat, wantErr)
		}
	})
}

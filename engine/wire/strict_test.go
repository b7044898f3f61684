package wire

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestStrict(t *testing.T) {
	deep := func(n int) string { // n objects and arrays, the outermost counted
		return `{"input":{"a":` + strings.Repeat("[", n-2) + strings.Repeat("]", n-2) + `}}`
	}
	tests := []struct {
		name, out string
		err       string // "" accepts
	}{
		{"no opinion", `{}`, ""},
		{"white space around", " \t\r\n{ \"block\" : false }\n", ""},
		{"key written with an escape", `{"bl\u006fck":true}`, ""},
		{"surrogate pair", `{"reason":"\ud83d\ude00"}`, ""},
		{"depth 64", deep(64), ""},
		{"largest number", `{"input":{"n":1.7976931348623157e308}}`, ""},

		{"empty", ``, "empty output; want a JSON object, at least {} (at byte 0)"},
		{"blank", "  \n", "empty output; want a JSON object, at least {} (at byte 3)"},
		{"null", `null`, "want an object, got null (at byte 0)"},
		{"array", `[]`, "want an object, got an array (at byte 0)"},
		{"string", `"{}"`, "want an object, got a string (at byte 0)"},
		{"word", `true`, "want an object, got a boolean (at byte 0)"},
		{"byte order mark", "\ufeff{}", "unexpected '\\ufeff' (at byte 0)"},
		{"trailing bytes", `{} {}`, "trailing bytes after the JSON object (at byte 3)"},
		{"trailing NUL", "{}\x00", "trailing bytes after the JSON object (at byte 2)"},
		{"NUL between tokens", "{\x00}", "NUL byte in an object, where a key belongs (at byte 1)"},
		{"NUL in a string", "{\"reason\":\"a\x00b\"}", "reason: NUL byte in a string (at byte 12)"},
		{"escaped NUL", `{"reason":"a\u0000"}`, "reason: NUL in a string (at byte 12)"},
		{"escaped NUL deep down", `{"input":{"a":[1,"\u0000"]}}`, "input.a[1]: NUL in a string (at byte 18)"},
		{"invalid UTF-8", "{\"reason\":\"a\xffb\"}", "reason: invalid UTF-8 (at byte 12)"},
		{"surrogate in UTF-8", "{\"reason\":\"\xed\xa0\x80\"}", "reason: invalid UTF-8 (at byte 11)"},
		{"high surrogate alone", `{"reason":"\ud800"}`, "reason: high surrogate without a low one after it (at byte 11)"},
		{"high surrogate before text", `{"reason":"\ud800xxxxxx"}`, "reason: high surrogate without a low one after it (at byte 11)"},
		{"two high surrogates", `{"reason":"\ud800\ud800"}`, "reason: high surrogate without a low one after it (at byte 11)"},
		{"high surrogate before another escape", `{"reason":"\ud800\ue000"}`, "reason: high surrogate without a low one after it (at byte 11)"},
		{"low surrogate alone", `{"reason":"\udc00"}`, "reason: low surrogate without a high one before it (at byte 11)"},
		{"swapped pair", `{"reason":"\ude00\ud83d"}`, "reason: low surrogate without a high one before it (at byte 11)"},
		{"lone surrogate in a key", `{"input":{"\ud800":1}}`, "input: high surrogate without a low one after it (at byte 11)"},
		{"unknown key", `{"blok":true}`, `blok: unknown key (did you mean "block"?) (at byte 1)`},
		{"unknown key, far off", `{"decision":"allow"}`, "decision: unknown key; known are block, reason, terminate, ask, input (at byte 1)"},
		{"key in another case", `{"Block":true}`, `Block: unknown key; keys are case-sensitive, want "block" (at byte 1)`},
		{"unknown key deep down", `{"ask":{"title":"t","body":"b"}}`, "ask.body: unknown key; known are title, message (at byte 20)"},
		{"duplicate key", `{"block":false,"block":true}`, "block: duplicate key (at byte 15)"},
		{"duplicate key with an escape", `{"block":false,"\u0062lock":true}`, "block: duplicate key (at byte 15)"},
		{"duplicate key in input", `{"input":{"a":1,"b":{"a":1},"\u0061":2}}`, "input.a: duplicate key (at byte 28)"},
		{"the same key at two depths", `{"input":{"a":{"b":1},"b":{"a":2}}}`, ""},
		{"the same key in two elements", `{"input":{"l":[{"a":1},{"a":2}],"a":3}}`, ""},
		{"wrong type", `{"block":"true"}`, "block: want a boolean, got a string (at byte 9)"},
		{"null for a key", `{"reason":null}`, "reason: want a string, got null (at byte 10)"},
		{"number for a boolean", `{"block":1}`, "block: want a boolean, got a number (at byte 9)"},
		{"input is no object", `{"input":[]}`, "input: want an object, got an array (at byte 9)"},
		{"missing key", `{"ask":{"message":"m"}}`, `ask: missing key "title" (at byte 7)`},
		{"empty title", `{"ask":{"title":""}}`, "ask.title: must not be empty (at byte 16)"},
		{"depth 65", deep(65), "input.a" + strings.Repeat("[0]", 62) + ": nested deeper than 64 (at byte 76)"},
		{"unclosed", `{"block":true`, "block: the output ends in the middle in an object (at byte 13)"},
		{"unclosed string", `{"reason":"x`, "reason: the output ends in the middle of a string (at byte 12)"},
		{"comma at the end", `{"block":true,}`, "unexpected '}' in an object, where a key belongs (at byte 14)"},
		{"comma at the end of an array", `{"input":{"a":[1,]}}`, "input.a[1]: unexpected ']' in an array, after a comma (at byte 17)"},
		{"comma at the start of an array", `{"input":{"a":[,1]}}`, "input.a[0]: unexpected ',' (at byte 15)"},
		{"two values", `{"input":{"a":[1 2]}}`, "input.a[0]: unexpected '2' in an array (at byte 17)"},
		{"comment", `{/**/}`, "unexpected '/' in an object, where a key belongs (at byte 1)"},
		{"single quotes", `{'block':true}`, "unexpected '\\'' in an object, where a key belongs (at byte 1)"},
		{"longer word", `{"block":truex}`, "block: unexpected 'x' (at byte 13)"},
		{"leading zero", `{"input":{"n":01}}`, "input.n: unexpected '1' in a number (at byte 15)"},
		{"leading plus", `{"input":{"n":+1}}`, "input.n: unexpected '+' (at byte 14)"},
		{"no digit after the point", `{"input":{"n":1.}}`, "input.n: unexpected '}' in a number (at byte 16)"},
		{"NaN", `{"input":{"n":NaN}}`, "input.n: unexpected 'N' (at byte 14)"},
		{"number out of range", `{"input":{"n":1e999}}`, "input.n: number out of range (at byte 14)"},
		{"long number out of range", `{"input":{"n":1` + strings.Repeat("0", 400) + `}}`, "input.n: number out of range (at byte 14)"},
		{"control character", "{\"reason\":\"a\nb\"}", "reason: control character in a string; it must be escaped (at byte 12)"},
		{"unknown escape", `{"reason":"\x41"}`, "reason: unknown escape in a string (at byte 11)"},
		{"malformed escape", `{"reason":"\u00g1"}`, `reason: malformed \u escape in a string (at byte 11)`},
		{"odd key in the path", `{"input":{"a.b":{"c":tru}}}`, `input."a.b".c: unexpected 't' (at byte 21)`},

		{"terminate without block", `{"terminate":true}`, "terminate: counts only together with block (at byte 13)"},
		{"terminate with block false", `{"terminate":true,"block":false}`, "terminate: counts only together with block (at byte 13)"},
		{"terminate false", `{"block":false,"terminate":false}`, ""},
		{"terminate before block", `{"terminate":true,"block":true}`, ""},
		{"block and ask", `{"ask":{"title":"t"},"block":true}`, "ask: a call that is blocked cannot be asked about (at byte 7)"},
		{"block and input", `{"block":true,"input":{}}`, "input: a call that is blocked cannot be rewritten (at byte 22)"},
		{"ask and input", `{"ask":{"title":"t"},"input":{}}`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := ParseToolCall([]byte(test.out))
			switch {
			case test.err == "" && err != nil:
				t.Errorf("refused: %v", err)
			case test.err != "" && err == nil:
				t.Errorf("accepted, want %q", test.err)
			case test.err != "" && err.Error() != test.err:
				t.Errorf("got  %s\nwant %s", err, test.err)
			}
			var out *OutputError
			if err != nil && !errors.As(err, &out) {
				t.Errorf("the error is a %T", err)
			}
		})
	}
}

// Every prefix of a valid output is refused, and never with a panic.
func TestStrictPrefixes(t *testing.T) {
	const whole = `{"reason":"a\u00e9\ud83d\ude00","block":false,"ask":{"title":"t"},"input":{"a":[1,-2.5e3,null,true,{"b":""}]}}`
	if _, err := ParseToolCall([]byte(whole)); err != nil {
		t.Fatal(err)
	}
	for i := range len(whole) {
		if _, err := ParseToolCall([]byte(whole[:i])); err == nil {
			t.Errorf("accepted %q", whole[:i])
		}
	}
}

// An object of very many keys must not cost the square of their number. With pairwise comparison this takes minutes.
func TestManyKeys(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"input":{`)
	const n = 200_000
	for i := range n {
		fmt.Fprintf(&b, `"k%d":0,`, i)
	}
	if _, err := ParseToolCall([]byte(b.String() + `"last":0}}`)); err != nil {
		t.Error(err)
	}
	if _, err := ParseToolCall([]byte(b.String() + `"k7":0}}`)); err == nil || !strings.Contains(err.Error(), "input.k7: duplicate key") {
		t.Errorf("got %v", err)
	}
}

// A guest's text must not make the error text as long as the output.
func TestErrorsAreShort(t *testing.T) {
	long := strings.Repeat("x", 1<<16)
	for _, out := range []string{
		`{"` + long + `":1}`,
		`{"input":{"` + long + `":{"` + long + `":tru}}}`,
	} {
		_, err := ParseToolCall([]byte(out))
		if err == nil || len(err.Error()) > 400 {
			t.Errorf("error of %d bytes", len(fmt.Sprint(err)))
		}
	}
	_, err := ParseInput([]byte(`{"action":"` + long + `"}`))
	if err == nil || len(err.Error()) > 400 {
		t.Errorf("error of %d bytes", len(fmt.Sprint(err)))
	}
}

// The host reuses the buffer of the output.
func TestResultOwnsItsMemory(t *testing.T) {
	out := []byte(`{"reason":"because","input":{"a":1}}`)
	res, err := ParseToolCall(out)
	if err != nil {
		t.Fatal(err)
	}
	clear(out)
	if res.Reason != "because" || string(res.Input) != `{"a":1}` {
		t.Errorf("the result changed with the output: %+v", res)
	}
}

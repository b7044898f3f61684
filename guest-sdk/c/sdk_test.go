// Package c tests the C and C++ header: compiled to wasm and run against encoding/json, and compiled natively under sanitizers.
package c

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"weir/guest-sdk/c/guesttest"
)

// buildLine is the one the README shows.
var buildLine = []string{"clang", "--target=wasm32", "-O2", "-nostdlib", "-Wl,--no-entry", "-Wl,--strip-all"}

// need skips a test when a tool is missing, and fails it where guests are required.
func need(t testing.TB, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err == nil {
			continue
		}
		if os.Getenv("WEIR_REQUIRE_GUESTS") == "1" {
			t.Fatalf("WEIR_REQUIRE_GUESTS is set, but this machine has no %s", tool)
		}
		t.Skipf("building a C guest needs %s", tool)
	}
}

// build compiles source with the README's line and more flags, and returns the module.
func build(t testing.TB, source string, flags ...string) []byte {
	t.Helper()
	need(t, "clang", "wasm-ld")
	out := filepath.Join(t.TempDir(), "guest.wasm")
	args := append(append([]string{}, buildLine[1:]...), "-I.", "-Wall", "-Wextra", "-pedantic", "-Werror", "-o", out)
	args = append(append(args, flags...), source)
	if b, err := exec.Command(buildLine[0], args...).CombinedOutput(); err != nil {
		t.Fatalf("clang %s: %v\n%s", strings.Join(args, " "), err, b)
	}
	wasm, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

func load(t testing.TB, wasm []byte, config string) *guesttest.Guest {
	t.Helper()
	g, err := guesttest.Load(context.Background(), wasm, []byte(config))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return g
}

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

// accepts says whether the header must accept a document: valid JSON and UTF-8, whole surrogate pairs, 64 levels at most.
func accepts(doc []byte) bool {
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

// checkRead runs the driver on a document and compares with encoding/json.
func checkRead(t testing.TB, g *guesttest.Guest, doc []byte) {
	t.Helper()
	out, err := g.Call(context.Background(), "read", doc)
	if want := accepts(doc); want != (err == nil) {
		t.Fatalf("%q: accepted %v, want %v (%v)", doc, err == nil, want, err)
	}
	if err != nil {
		if errors.Is(err, guesttest.ErrNoOutput) || strings.Contains(err.Error(), "wasm error") {
			t.Fatalf("%q: %v", doc, err)
		}
		return
	}
	want, got := decode(t, doc), decode(t, out)
	if hasArrayLikeObject(want) {
		return
	}
	if a, b := show(want), seen(t, got); !same(a, b) {
		t.Fatalf("%q: encoding/json reads %v, weir.h %v", doc, a, b)
	}
}

func decode(t testing.TB, doc []byte) (v any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%q: %v", doc, err)
	}
	return v
}

func nasty() []string {
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

// mutations changes documents at random, deterministically.
func mutations(n int) [][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	seeds := nasty()
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

func TestReaderAgreesWithEncodingJSON(t *testing.T) {
	g := load(t, build(t, "testdata/driver.c", "-std=c11"), "")
	accepted := 0
	for _, doc := range nasty() {
		checkRead(t, g, []byte(doc))
	}
	for _, doc := range mutations(20_000) {
		checkRead(t, g, doc)
		if accepts(doc) {
			accepted++
		}
	}
	if accepted < 2000 {
		t.Errorf("only %d of the mutations are valid: the comparison of values is thin", accepted)
	}
	if g.MemoryBytes() > 8<<20 {
		t.Errorf("the arena grew to %d bytes over many small calls", g.MemoryBytes())
	}
}

func FuzzReader(f *testing.F) {
	for _, doc := range nasty() {
		f.Add([]byte(doc))
	}
	g := load(f, build(f, "testdata/driver.c", "-std=c11"), "")
	f.Fuzz(func(t *testing.T, doc []byte) { checkRead(t, g, doc) })
}

// TestReaderUnderSanitizers runs the same documents through a native build with address and undefined-behaviour checks.
func TestReaderUnderSanitizers(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "native")
	args := []string{"-std=c11", "-O1", "-g", "-DWEIR_NATIVE", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-o", bin, "testdata/native.c"}
	var tried []string
	built := false
	for _, cc := range []string{"clang", "gcc"} {
		b, err := exec.Command(cc, args...).CombinedOutput()
		if built = err == nil; built {
			break
		}
		tried = append(tried, fmt.Sprintf("%s: %v\n%s", cc, err, b))
	}
	if !built {
		t.Skipf("no compiler here has the sanitizers' libraries:\n%s", strings.Join(tried, "\n"))
	}
	var in bytes.Buffer
	docs := mutations(5000)
	for _, s := range nasty() {
		docs = append(docs, []byte(s))
	}
	for _, doc := range docs {
		in.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(doc))))
		in.Write(doc)
	}
	cmd := exec.Command(bin)
	cmd.Stdin = &in
	cmd.Env = append(os.Environ(), "ASAN_OPTIONS=detect_leaks=0") // arena pages live as long as the program
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != len(docs) {
		t.Fatalf("%d answers to %d documents", len(lines), len(docs))
	}
	for i, doc := range docs {
		if (lines[i] != "error") != accepts(doc) {
			t.Errorf("%q: %s", doc, lines[i])
		}
	}
}

func event(t testing.TB, input map[string]any) []byte {
	t.Helper()
	b, err := json.Marshal(map[string]any{"type": "tool_call", "toolName": "x", "toolCallId": "c", "input": input, "context": map[string]any{"cwd": "/w"}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAnswers(t *testing.T) {
	for _, lang := range [][]string{{"-std=c11"}, {"-x", "c++", "-std=c++17"}} {
		g := load(t, build(t, "testdata/driver.c", lang...), "")
		odd := "a \"b\" \\ \n\t\r\x01\x1f\x7f é 😀 </script>\u2028"
		for _, c := range []struct {
			input map[string]any
			want  any
		}{
			{map[string]any{}, map[string]any{}},
			{map[string]any{"answer": "block", "text": odd}, map[string]any{"block": true, "reason": odd}},
			{map[string]any{"answer": "ask", "text": odd}, map[string]any{"ask": map[string]any{"title": odd}}},
			{map[string]any{"answer": "ask", "text": "t", "message": odd}, map[string]any{"ask": map[string]any{"title": "t", "message": odd}}},
			{map[string]any{"answer": "result", "text": odd}, map[string]any{"content": []any{map[string]any{"type": "text", "text": odd}}}},
			{map[string]any{"answer": "raw bytes"}, map[string]any{"block": true, "reason": "\ufffd\ufffd a\ufffd( \x01"}},
			{map[string]any{"answer": "rewrite", "text": "old", "n": json.Number("1.50"), "deep": []any{nil}}, map[string]any{"input": map[string]any{"answer": "rewrite", "text": "new \"text\"\n", "n": json.Number("1.50"), "deep": []any{nil}}}},
			{map[string]any{"answer": "grow"}, map[string]any{}},
		} {
			out, err := g.Call(context.Background(), "tool_call", event(t, c.input))
			if err != nil {
				t.Fatalf("%v: %v", c.input, err)
			}
			if diff := cmp.Diff(c.want, decode(t, out)); diff != "" {
				t.Errorf("%v: %s", c.input, diff)
			}
		}
		if _, err := g.Call(context.Background(), "tool_call", event(t, map[string]any{"answer": "fail"})); err == nil || !strings.Contains(err.Error(), "cannot decide") {
			t.Errorf("fail: %v", err)
		}
		if _, err := g.Call(context.Background(), "tool_call", event(t, map[string]any{"answer": "nothing"})); !errors.Is(err, guesttest.ErrNoOutput) {
			t.Errorf("nothing: %v", err)
		}
		for _, bad := range []string{"", "{", "[]", "null", `{"input":"` + "\xff" + `"}`} {
			if out, err := g.Call(context.Background(), "tool_call", []byte(bad)); err == nil {
				t.Errorf("%q: answered %s", bad, out)
			}
		}
	}
}

// TestOutOfMemory: a refused growth ends the call with a trap, whatever the policy would have answered.
func TestOutOfMemory(t *testing.T) {
	g := load(t, build(t, "testdata/driver.c", "-std=c11"), "")
	if out, err := g.Call(context.Background(), "tool_call", event(t, map[string]any{"answer": "exhaust"})); err == nil {
		t.Errorf("answered %s", out)
	}
}

func TestSetup(t *testing.T) {
	wasm := build(t, "testdata/driver.c", "-std=c11")
	g := load(t, wasm, `{"greeting":"h\u00e9llo"}`)
	for range 3 {
		out, err := g.Call(context.Background(), "input", []byte(`{"type":"input","text":"`+strings.Repeat("x", 50_000)+`"}`))
		if err != nil || string(out) != `{"greeting":"héllo","setups":1}` {
			t.Fatalf("%s %v", out, err)
		}
	}
	if out, err := load(t, wasm, "").Call(context.Background(), "input", []byte(`{}`)); err != nil || string(out) != `{"greeting":"","setups":1}` {
		t.Errorf("without settings: %s %v", out, err)
	}
	if _, err := load(t, wasm, `{"broken":true}`).Call(context.Background(), "input", []byte(`{}`)); err == nil || !strings.Contains(err.Error(), "broken settings") {
		t.Errorf("broken settings: %v", err)
	}
}

// table lays messages out as the table view (abi.md, section 7).
func table(records [][]byte, names []string) []byte {
	strs := binary.LittleEndian.AppendUint16(nil, uint16(len(names)))
	for _, n := range names {
		strs = append(binary.LittleEndian.AppendUint16(strs, uint16(len(n))), n...)
	}
	b := binary.LittleEndian.AppendUint32([]byte("WMT1"), uint32(len(records)))
	at := uint32(32 + 32*len(records))
	for _, part := range [][]byte{[]byte(`{}`), strs} {
		b = binary.LittleEndian.AppendUint32(b, at)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(part)))
		at += uint32(len(part))
	}
	b = binary.LittleEndian.AppendUint64(b, 0)
	return append(append(append(b, bytes.Join(records, nil)...), `{}`...), strs...)
}

func record(role, name byte, pair uint32) []byte {
	b := make([]byte, 32)
	b[0], b[2] = role, name
	binary.LittleEndian.PutUint32(b[12:], pair)
	return b
}

func TestTable(t *testing.T) {
	g := load(t, build(t, "testdata/driver.c", "-std=c11"), "")
	g.Messages = [][]byte{[]byte(`{"role":"user"}`), []byte(`{"role":"assistant"}`), []byte(`{"role":"toolResult","mark":false,"big":"` + strings.Repeat("y", 40_000) + `"}`), []byte(`{"role":"custom"}`), []byte(`{"role":"custom"}`)}
	none := uint32(0xffffffff)
	good := table([][]byte{record(1, 0, none), record(2, 0, none), record(3, 1, 1), record(4, 2, none), record(4, 3, none)}, []string{"", "bash", "stale", "fresh"})
	out, err := g.Call(context.Background(), "context", good)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"drop":    []any{json.Number("3")},
		"replace": []any{map[string]any{"at": json.Number("2"), "message": map[string]any{"role": "toolResult", "big": strings.Repeat("y", 40_000), "mark": true}}},
		"insert":  []any{map[string]any{"at": json.Number("5"), "message": map[string]any{"role": "user", "content": "x", "timestamp": json.Number("1")}}},
	}
	if diff := cmp.Diff(want, decode(t, out)); diff != "" {
		t.Error(diff)
	}
	if out, err := g.Call(context.Background(), "context", table(nil, []string{""})); err != nil || string(out) != "{}" {
		t.Errorf("an empty table: %s %v", out, err)
	}
	// Damaged tables are refused or read within their bounds; a trap here would be a read outside them.
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		bad := bytes.Clone(good)
		for range 1 + r.IntN(3) {
			bad[r.IntN(len(bad))] = byte(r.IntN(256))
		}
		bad = bad[:r.IntN(len(bad)+1)]
		if _, err := g.Call(context.Background(), "context", bad); err != nil && strings.Contains(err.Error(), "out of bounds") {
			t.Fatalf("%x: %v", bad, err)
		}
	}
}

// TestImports: a module imports what its policy uses, and nothing else.
func TestImports(t *testing.T) {
	wasm := build(t, "example/policy.c", "-std=c11")
	for name, want := range map[string]bool{
		"weir_input_read": true, "weir_output_write": true, "weir_error": true, "weir_config_read": false, "weir_message_read": false, "weir_log": false, "weir_tool_update": false,
		"weir_response_read": false, "weir_kv": false, "weir_http": false, "weir_file": false, "weir_ui": false, "weir_session": false,
	} {
		if got := bytes.Contains(wasm, []byte(name)); got != want {
			t.Errorf("%s: imported %v, want %v", name, got, want)
		}
	}
	t.Logf("the example is %d bytes", len(wasm))
}

// TestReadme: the README shows the example and the build line that the tests use, and the example decides as it says.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	policy, err := os.ReadFile("example/policy.c")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(readme, policy) {
		t.Error("the README does not hold example/policy.c as it is")
	}
	if !bytes.Contains(readme, []byte(strings.Join(buildLine, " "))) {
		t.Error("the README does not hold the build line")
	}
	for _, lang := range [][]string{{"-std=c11"}, {"-x", "c++", "-std=c++17"}} {
		g := load(t, build(t, "example/policy.c", lang...), "")
		for command, want := range map[string]string{"git push origin": `{"block":true,"reason":"push by hand, please"}`, "git status": `{}`} {
			out, err := g.Call(context.Background(), "tool_call", event(t, map[string]any{"command": command}))
			if err != nil || string(out) != want {
				t.Errorf("%s: %s %v", command, out, err)
			}
		}
		var d map[string]any
		out, err := g.Call(context.Background(), "weir_describe", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out, &d); err != nil || d["name"] != "no-push" {
			t.Errorf("%s %v", out, err)
		}
	}
}

// TestWasiLibc: the header and malloc share one memory. Skipped without wasi-libc, which no bundled extension needs.
func TestWasiLibc(t *testing.T) {
	need(t, "clang", "wasm-ld")
	source := filepath.Join(t.TempDir(), "libc.c")
	text := `#include <stdlib.h>
#include <string.h>
#include "weir.h"
static char *kept[64];
WEIR_ON(tool_call) {
  for (int i = 0; i < 64; i++) {
    if (kept[i]) {
      for (int k = 0; k < 50000; k++) if (kept[i][k] != i) return weir_fail("malloc and the arena overlap");
      free(kept[i]);
    }
    kept[i] = malloc(50000);
    memset(kept[i], i, 50000);
    memset(weir_alloc(30000), 255, 30000);
  }
  return weir_block_str(weir_get_string(weir_get(ev, "input"), "command"));
}
`
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "libc.wasm")
	if b, err := exec.Command("clang", "--target=wasm32-wasi", "-mexec-model=reactor", "-O2", "-I.", "-o", out, source).CombinedOutput(); err != nil {
		t.Skipf("wasi-libc is not installed: %v\n%.300s", err, b)
	}
	wasm, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	g := load(t, wasm, "")
	for range 20 {
		out, err := g.Call(context.Background(), "tool_call", event(t, map[string]any{"command": "x y"}))
		if err != nil || string(out) != `{"block":true,"reason":"x y"}` {
			t.Fatalf("%s %v", out, err)
		}
	}
}

func BenchmarkToolCall(b *testing.B) {
	g := load(b, build(b, "example/policy.c", "-std=c11"), "")
	ev := []byte(`{"type":"tool_call","toolName":"bash","toolCallId":"toolu_01ABCDEFGHIJKLMNOP","input":{"command":"cd packages/app && npm run build 2>&1 | tail -20","timeout":120},"context":{"sessionId":"0193d0c8","extension":"no-push","cwd":"/home/dev/project","mode":"text","hasUI":true,"model":{"provider":"x","id":"y"},"thinkingLevel":"off","turnIndex":3,"callIndex":0}}`)
	b.ReportMetric(float64(len(ev)), "event-bytes")
	call, err := g.Function("tool_call", ev)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := call(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

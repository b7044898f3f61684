// Package c tests the C and C++ header: compiled to wasm and run against encoding/json, and compiled natively under sanitizers.
package c

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/guest-sdk/c/guesttest"
	"weir/guest-sdk/internal/jsontest"
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

// checkRead runs the driver on a document and compares with encoding/json.
func checkRead(t testing.TB, g *guesttest.Guest, doc []byte) {
	t.Helper()
	jsontest.Check(t, doc, func(doc []byte) ([]byte, error) {
		out, err := g.Call(context.Background(), "read", doc)
		if errors.Is(err, guesttest.ErrNoOutput) {
			t.Fatalf("%q: %v", doc, err)
		}
		return out, err
	})
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

func TestReaderAgreesWithEncodingJSON(t *testing.T) {
	g := load(t, build(t, "testdata/driver.c", "-std=c11"), "")
	accepted := 0
	for _, doc := range jsontest.Documents() {
		checkRead(t, g, []byte(doc))
	}
	for _, doc := range jsontest.Mutations(20_000) {
		checkRead(t, g, doc)
		if jsontest.Accepts(doc) {
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
	for _, doc := range jsontest.Documents() {
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
	docs := jsontest.Mutations(5000)
	for _, s := range jsontest.Documents() {
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
		if (lines[i] != "error") != jsontest.Accepts(doc) {
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

// shown returns the README, which must hold a file as it is.
func shown(t *testing.T, file string) []byte {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(readme, source) {
		t.Errorf("the README does not hold %s as it is", file)
	}
	return readme
}

// TestReadme: the README shows the example and the build line that the tests use, and the example decides as it says.
func TestReadme(t *testing.T) {
	readme := shown(t, "example/policy.c")
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

// Package assemblyscript holds the AssemblyScript SDK and tests it: compiled to wasm, and run against encoding/json and the tck.
package assemblyscript

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"weir/guest-sdk/c/guesttest"
	"weir/guest-sdk/internal/jsontest"
	"weir/guest-sdk/tck/tcktest"
	"weir/wasmhost"
)

// buildLine is the one the README shows.
const buildLine = "asc policy.ts -O3 --runtime minimal --use abort=weir/index/weirAbort -o policy.wasm"

// built keeps modules by their source: the compiler takes seconds.
var built sync.Map

// build compiles a source by the README's line, as policy.ts beside the SDK, and returns the module. Without the compiler the
// test skips, or fails where guests are required.
func build(t testing.TB, file string) []byte {
	t.Helper()
	if _, err := exec.LookPath("asc"); err != nil {
		if os.Getenv("WEIR_REQUIRE_GUESTS") == "1" {
			t.Fatal("WEIR_REQUIRE_GUESTS is set, but this machine has no asc (npm install --global assemblyscript)")
		}
		t.Skip("building an AssemblyScript guest needs asc (npm install --global assemblyscript)")
	}
	if wasm, ok := built.Load(file); ok {
		return wasm.([]byte)
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "weir"), os.DirFS("weir")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "policy.ts"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", buildLine)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%s: %v\n%s", buildLine, err, out)
	}
	wasm, err := os.ReadFile(filepath.Join(dir, "policy.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	built.Store(file, wasm)
	return wasm
}

// guest instantiates a module in the host, without grants.
func guest(t testing.TB, wasm []byte, entries ...string) *wasmhost.Guest {
	t.Helper()
	ctx := context.Background()
	host, err := wasmhost.New(ctx, wasmhost.Config{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := host.Compile(ctx, "policy.wasm", wasm, wasmhost.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	g, err := m.NewGuest(ctx, wasmhost.GuestConfig{Name: "policy", Entries: entries, Limits: wasmhost.Limits{Quarantine: 100}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(g.Close(ctx), host.Close(ctx)); err != nil {
			t.Error(err)
		}
	})
	return g
}

// call returns what a hook answers.
func call(t testing.TB, g *wasmhost.Guest, hook, event string) (string, error) {
	t.Helper()
	var answer string
	_, err := g.Call(context.Background(), hook, wasmhost.Input{Bytes: []byte(event)}, func(out []byte) error {
		answer = string(out)
		return nil
	})
	return answer, err
}

// TestReadmeShowsTheExample: a policy that does what the README says, built by its line.
func TestReadmeShowsTheExample(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("example/policy.ts")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"```ts\n" + string(example) + "```", "```sh\n" + buildLine + "\n```"} {
		if !strings.Contains(string(readme), part) {
			t.Errorf("the README does not show\n%s", part)
		}
	}
	g := guest(t, build(t, "example/policy.ts"), "tool_call")
	for event, want := range map[string]string{
		`{"toolName":"bash","input":{"command":"git add . && git push"}}`:   `{"block":true,"reason":"push by hand, please"}`,
		`{"toolName":"bash","input":{"command":"git \u0070ush"}}`:           `{"block":true,"reason":"push by hand, please"}`,
		`{"toolName":"bash","input":{"command":"git status"}}`:              `{}`,
		`{"toolName":"bash","input":{"command":"ls","note":"git push"}}`:    `{}`,
		`{"toolName":"bash","input":{"command":"git push","command":"ls"}}`: `{}`,
	} {
		if got, err := call(t, g, "tool_call", event); err != nil || got != want {
			t.Errorf("%s: %s, %v", event, got, err)
		}
	}
}

// TestTCK runs the kit that every SDK passes.
func TestTCK(t *testing.T) {
	tcktest.Run(t, map[string][]byte{"tck": build(t, "tck/tck.ts"), "tck-json": build(t, "tck/tck-json.ts")})
}

// reader runs the driver on plain wazero, which is quick to call and has no limits.
func reader(t testing.TB) func([]byte) ([]byte, error) {
	t.Helper()
	g, err := guesttest.Load(context.Background(), build(t, "testdata/driver.ts"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if g.MemoryBytes() > 32<<20 {
			t.Errorf("the guest grew to %d bytes over many small calls", g.MemoryBytes())
		}
		if err := g.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return func(doc []byte) ([]byte, error) { return g.Call(context.Background(), "read_json", doc) }
}

func TestReaderAgreesWithEncodingJSON(t *testing.T) {
	read, accepted := reader(t), 0
	for _, doc := range jsontest.Documents() {
		jsontest.Check(t, []byte(doc), read)
	}
	for _, doc := range jsontest.Mutations(10_000) {
		jsontest.Check(t, doc, read)
		if jsontest.Accepts(doc) {
			accepted++
		}
	}
	if accepted < 1000 {
		t.Errorf("only %d of the mutations are valid: the comparison of values is thin", accepted)
	}
}

func FuzzReader(f *testing.F) {
	for _, doc := range jsontest.Documents() {
		f.Add([]byte(doc))
	}
	read := reader(f)
	f.Fuzz(func(t *testing.T, doc []byte) { jsontest.Check(t, doc, read) })
}

// TestThrowNamesThePlace: a throw, and what the language itself throws, end the call with the text and the place in the source.
func TestThrowNamesThePlace(t *testing.T) {
	source, err := os.ReadFile("testdata/driver.ts")
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(source), `throw new Error("it is broken`)
	line := 1 + strings.Count(before, "\n")
	g := guest(t, build(t, "testdata/driver.ts"), "tool_call")
	for event, want := range map[string]string{
		`{"input":{"do":"throw"}}`:           fmt.Sprintf("it is broken: é at policy.ts:%d:24", line),
		`{"input":{"do":"index","index":3}}`: "Index out of range at ~lib/array.ts:",
		`{"input":{"do":"fail"}}`:            "cannot decide",
		`{"input":{"do":"throw"}`:            "the event cannot be read: the document ends early, behind 23 bytes",
		`[]`:                                 "the event is no JSON object",
	} {
		if got, err := call(t, g, "tool_call", event); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v, want a fault that says %q", event, got, err, want)
		}
	}
}

// TestMemoryStays: what calls leave behind is collected, and a large event does not cost the small ones after it their memory.
func TestMemoryStays(t *testing.T) {
	g, err := guesttest.Load(context.Background(), build(t, "example/policy.ts"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := g.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	event := func(n int) []byte {
		return []byte(`{"toolName":"bash","input":{"command":"` + strings.Repeat("é\\n", n/4) + `"}}`)
	}
	var after uint32
	for i := range 20_000 {
		size := 200
		if i%1000 == 0 {
			size = 1 << 20
		}
		if _, err := g.Call(context.Background(), "tool_call", event(size)); err != nil {
			t.Fatal(err)
		}
		if i == 2000 {
			after = g.MemoryBytes()
		}
	}
	if now := g.MemoryBytes(); now != after || now > 16<<20 {
		t.Errorf("the memory grew from %d to %d bytes", after, now)
	}
}

// BenchmarkToolCall is the round trip of the example through the host, metered and with a deadline.
func BenchmarkToolCall(b *testing.B) {
	g := guest(b, build(b, "example/policy.ts"), "tool_call")
	event := []byte(`{"type":"tool_call","toolName":"bash","toolCallId":"toolu_01ABCDEFGHIJKLMNOP","input":{"command":"cd packages/app && npm run build 2>&1 | tail -20","timeout":120},"context":{"sessionId":"0193d0c8","extension":"no-push","cwd":"/home/dev/project","mode":"text","hasUI":true,"model":{"provider":"x","id":"y"},"thinkingLevel":"off","turnIndex":3,"callIndex":0}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := g.Call(context.Background(), "tool_call", wasmhost.Input{Bytes: event}, func([]byte) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// Package sdktest has what the tests of SDKs for other languages share: finding a compiler, building a policy by the line that the
// README shows, and running it in the host.
package sdktest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"weir/engine/facts"
	"weir/guest-sdk/c/guesttest"
	"weir/guest-sdk/internal/jsontest"
	"weir/wasmhost"
)

// SDK is one that is a folder named weir beside the policy. Safe for concurrent use.
type SDK struct {
	Compiler string // its command, looked for on the PATH
	Install  string // how to get it
	Line     string // makes policy.wasm of Policy
	Policy   string // the name of the source that Line names

	built sync.Map
}

// Build makes a module of a source in the SDK's folder; what else is in the source's folder lies beside it. Without the compiler the
// test skips, and fails where guests are required. A module is made once: compilers take their time.
func (s *SDK) Build(t testing.TB, source string) []byte {
	t.Helper()
	if _, err := exec.LookPath(s.Compiler); err != nil {
		message := fmt.Sprintf("building this guest needs %s (%s)", s.Compiler, s.Install)
		if os.Getenv("WEIR_REQUIRE_GUESTS") == "1" {
			t.Fatal("WEIR_REQUIRE_GUESTS is set, but " + message)
		}
		t.Skip(message)
	}
	if wasm, ok := s.built.Load(source); ok {
		return wasm.([]byte)
	}
	dir := t.TempDir()
	for to, from := range map[string]string{dir: filepath.Dir(source), filepath.Join(dir, "weir"): "weir"} {
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	if filepath.Base(source) != s.Policy {
		if err := os.Rename(filepath.Join(dir, filepath.Base(source)), filepath.Join(dir, s.Policy)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("sh", "-c", s.Line)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%s: %v\n%s", s.Line, err, out)
	}
	wasm, err := os.ReadFile(filepath.Join(dir, "policy.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	s.built.Store(source, wasm)
	return wasm
}

// Guest instantiates a module in the host, without grants.
func Guest(t testing.TB, wasm []byte, entries ...string) *wasmhost.Guest {
	t.Helper()
	return guest(t, wasm, wasmhost.GuestConfig{Entries: entries})
}

func guest(t testing.TB, wasm []byte, config wasmhost.GuestConfig) *wasmhost.Guest {
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
	config.Name, config.Limits.Quarantine = "policy", 100
	g, err := m.NewGuest(ctx, config)
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

// Call returns what tool_call answers.
func Call(g *wasmhost.Guest, event string) (answer string, err error) {
	_, err = g.Call(context.Background(), "tool_call", wasmhost.Input{Bytes: []byte(event)}, func(out []byte) error {
		answer = string(out)
		return nil
	})
	return answer, err
}

// NoPush checks the README: that it shows the example, fenced as language, and the build line, and that the example stops git push.
func (s *SDK) NoPush(t *testing.T, language, example string) {
	t.Helper()
	shown(t, language, example, "```sh\n"+s.Line+"\n```")
	decides(t, s.Build(t, example), map[string]string{
		`{"toolName":"bash","input":{"command":"git add . && git push"}}`:   `{"block":true,"reason":"push by hand, please"}`,
		`{"toolName":"bash","input":{"command":"git \u0070ush"}}`:           `{"block":true,"reason":"push by hand, please"}`,
		`{"toolName":"bash","input":{"command":"git status"}}`:              `{}`,
		`{"toolName":"bash","input":{"command":"ls","note":"git push"}}`:    `{}`,
		`{"toolName":"bash","input":{"command":"git push","command":"ls"}}`: `{}`,
	})
}

// NoPushByFacts is NoPush for the example that decides on what the host worked out. The facts are the host's own.
func (s *SDK) NoPushByFacts(t *testing.T, language, example string) {
	t.Helper()
	shown(t, language, example)
	events := map[string]string{`{"toolName":"bash","input":{"command":"ls"}}`: `{"ask":{"title":"Run a command of which nothing is known?"}}`}
	for command, want := range map[string]string{
		`ls`:                    `{}`,
		`echo git push`:         `{}`,
		`cd x && git p''ush`:    `{"block":true,"reason":"pushing is for people"}`,
		`sudo sh -c "git push"`: `{"block":true,"reason":"pushing is for people"}`,
		`git "$VERB"`:           `{"ask":{"title":"Run a command that is not known before it runs?"}}`,
	} {
		input, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		shell := facts.New(facts.Config{}).ToolCall("bash", input).JSON(facts.KindShell)
		events[fmt.Sprintf(`{"toolName":"bash","input":%s,"facts":%s}`, input, shell)] = want
	}
	decides(t, s.Build(t, example), events)
}

// shown checks that the README shows the source, fenced as language, and the parts.
func shown(t *testing.T, language, source string, parts ...string) {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range append(parts, "```"+language+"\n"+string(text)+"```") {
		if !strings.Contains(string(readme), part) {
			t.Errorf("the README does not show\n%s", part)
		}
	}
}

// decides checks what a policy answers to events.
func decides(t *testing.T, wasm []byte, answers map[string]string) {
	t.Helper()
	g := Guest(t, wasm, "tool_call")
	for event, want := range answers {
		if got, err := Call(g, event); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", event, got, err, want)
		}
	}
}

// Reader runs the export read_json of a driver on plain wazero, which is quick to call and has no limits.
func Reader(t testing.TB, driver []byte) func([]byte) ([]byte, error) {
	t.Helper()
	g, err := guesttest.Load(context.Background(), driver, nil)
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

// ReaderAgrees compares a driver with encoding/json.
func ReaderAgrees(t *testing.T, driver []byte) {
	t.Helper()
	read, accepted := Reader(t, driver), 0
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

// FuzzReader fuzzes a driver.
func FuzzReader(f *testing.F, driver []byte) {
	for _, doc := range jsontest.Documents() {
		f.Add([]byte(doc))
	}
	read := Reader(f, driver)
	f.Fuzz(func(t *testing.T, doc []byte) { jsontest.Check(t, doc, read) })
}

// MemoryStays calls the example with large and small events: what calls leave behind is taken back.
func MemoryStays(t *testing.T, wasm []byte) {
	t.Helper()
	g, err := guesttest.Load(context.Background(), wasm, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := g.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	var after uint32
	for i := range 20_000 {
		size := 200
		if i%1000 == 0 {
			size = 1 << 20
		}
		event := `{"toolName":"bash","input":{"command":"` + strings.Repeat("é\\n", size/4) + `"}}`
		if _, err := g.Call(context.Background(), "tool_call", []byte(event)); err != nil {
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

// BenchmarkToolCall is the round trip of an example through the host, metered and with a deadline.
func BenchmarkToolCall(b *testing.B, wasm []byte) {
	g := Guest(b, wasm, "tool_call")
	event := []byte(`{"type":"tool_call","toolName":"bash","toolCallId":"toolu_01ABCDEFGHIJKLMNOP","input":{"command":"cd packages/app && npm run build 2>&1 | tail -20","timeout":120},"context":{"sessionId":"0193d0c8","extension":"no-push","cwd":"/home/dev/project","mode":"text","hasUI":true,"model":{"provider":"x","id":"y"},"thinkingLevel":"off","turnIndex":3,"callIndex":0}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := g.Call(context.Background(), "tool_call", wasmhost.Input{Bytes: event}, func([]byte) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

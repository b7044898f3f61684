package rust

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/guest-sdk/c/guesttest"
	"weir/guest-sdk/rust/cargo"
	"weir/guest-sdk/tck/tcktest"
	"weir/wasmhost"
	"weir/wasmhost/screen"
)

// buildLine is the one that the README shows.
const buildLine = "cargo build --release --target wasm32-unknown-unknown"

// target is the folder that all tests build into, so that the SDK is compiled once for all of its users of one profile.
var target string

func TestMain(m *testing.M) {
	var err error
	if target, err = os.MkdirTemp("", "weir-rust-"); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := os.RemoveAll(target); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// build makes the module of a crate in this folder.
func build(t testing.TB, crate, module string) []byte {
	t.Helper()
	c := cargo.Find(t)
	c.Run(t, crate, target, append(strings.Fields(buildLine)[1:], "--offline")...)
	wasm, err := os.ReadFile(filepath.Join(target, "wasm32-unknown-unknown", "release", module))
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

// TestTCK runs the kit that every SDK passes.
func TestTCK(t *testing.T) {
	tcktest.Run(t, map[string][]byte{"tck": build(t, "tck", "tck.wasm"), "tck-json": build(t, "tck/json", "tck_json.wasm")})
}

// TestCargo runs the SDK's own tests and those of the example, on the machine itself.
func TestCargo(t *testing.T) {
	c := cargo.Find(t)
	for _, crate := range []string{".", "example"} {
		if out := c.Run(t, crate, target, "test", "--offline"); !strings.Contains(out, "test result: ok.") {
			t.Errorf("%s: no tests ran:\n%s", crate, out)
		}
	}
}

// TestReadme: the README shows the example, its tests and the build line as they are, and what else it shows builds.
func TestReadme(t *testing.T) {
	readme := read(t, "README.md")
	policy, tests, _ := strings.Cut(read(t, "example/src/lib.rs"), "\n#[cfg(test)]")
	if !strings.Contains(readme, policy) {
		t.Error("the README does not hold the policy of example/src/lib.rs as it is")
	}
	first, _, _ := strings.Cut(tests, "\n\n    #[test]\n    fn lets_the_rest_pass")
	if !strings.Contains(readme, "#[cfg(test)]"+first) {
		t.Error("the README does not hold the first test of example/src/lib.rs as it is")
	}
	if !strings.Contains(readme, "\n"+buildLine+"\n") {
		t.Error("the README does not hold the build line")
	}
	blocks := strings.Split(readme, "```rust\n")
	for i, holds := range []string{"fn prune(", ".facts()"} {
		policy, _, _ := strings.Cut(blocks[len(blocks)-2+i], "```")
		if !strings.Contains(policy, holds) {
			t.Fatalf("the last two policies of the README are not those about context and about facts: %s is missing", holds)
		}
		dir := t.TempDir()
		project(t, "example", "shown", dir, map[string]string{"src/lib.rs": policy})
		cargo.Find(t).Run(t, dir, target, append(strings.Fields(buildLine)[1:], "--offline")...)
	}
}

// TestExample: the example decides as it says, and imports what it uses and nothing else.
func TestExample(t *testing.T) {
	wasm := build(t, "example", "no_push.wasm")
	g := load(t, wasm)
	for command, want := range map[string]string{`git \u0070ush origin`: `{"block":true,"reason":"push by hand, please"}`, "git status": `{"block":false}`} {
		out, err := g.Call(t.Context(), "tool_call", []byte(`{"type":"tool_call","toolName":"bash","input":{"command":"`+command+`"}}`))
		if err != nil || string(out) != want {
			t.Errorf("%s: %s %v", command, out, err)
		}
	}
	s, err := screen.Summarize(wasm)
	if err != nil {
		t.Fatal(err)
	}
	var imports []string
	for _, i := range s.Imports {
		imports = append(imports, i.Name)
	}
	slices.Sort(imports)
	if diff := cmp.Diff([]string{"weir_error", "weir_input_read", "weir_output_write"}, imports); diff != "" {
		t.Errorf("imports (-want +got):\n%s", diff)
	}
	t.Logf("the example is %d bytes", len(wasm))
}

// TestPanic: what a panic says is the fault's text.
func TestPanic(t *testing.T) {
	ctx := t.Context()
	host, err := wasmhost.New(ctx, wasmhost.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := host.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	dir := t.TempDir()
	project(t, "example", "panics", dir, map[string]string{"src/lib.rs": `weir::extension! { weir::Extension::new("panics", "1.0.0"); tool_call: decide }
fn decide(call: &weir::ToolCall) -> weir::Decision {
    panic!("there is no {}", call.text("what"))
}
`})
	module, err := host.Compile(ctx, "panics", build(t, dir, "panics.wasm"), wasmhost.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	guest, err := module.NewGuest(ctx, wasmhost.GuestConfig{Name: "panics", Entries: []string{"tool_call"}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = guest.Call(ctx, "tool_call", wasmhost.Input{Bytes: []byte(`{"input":{"what":"way \"out\""}}`)}, func([]byte) error { return nil })
	if err == nil || !strings.Contains(err.Error(), `there is no way "out"`) || !strings.Contains(err.Error(), "src/lib.rs:3") {
		t.Errorf("the fault is %v", err)
	}
}

// TestSerde builds the example with serde from Debian's packages, which stand in for crates.io, and runs its tests.
func TestSerde(t *testing.T) {
	c := cargo.Find(t)
	const registry = "/usr/share/cargo/registry"
	if found, err := filepath.Glob(registry + "/serde_json-1*"); err != nil || len(found) == 0 {
		const missing = "the example with serde needs Debian's librust-serde-json-dev and librust-serde-derive-dev"
		if os.Getenv("WEIR_REQUIRE_GUESTS") == "1" {
			t.Fatal("WEIR_REQUIRE_GUESTS is set, but this machine lacks them: " + missing)
		}
		t.Skip(missing)
	}
	readme := read(t, "README.md")
	_, config, found := strings.Cut(readme, "```toml\n[source.crates-io]")
	config, _, ended := strings.Cut(config, "```")
	if !found || !ended {
		t.Fatal("the README does not show the configuration for Debian's packages")
	}
	dir := t.TempDir()
	project(t, "example/serde", "no-force-push", dir, map[string]string{".cargo/config.toml": "[source.crates-io]" + config})
	c.Run(t, dir, target, "test", "--offline")
	g := load(t, build(t, dir, "no_force_push.wasm"))
	for event, want := range map[string]string{
		`{"input":{"command":"git push --force origin main"}}`:  `{"block":true,"reason":"main is protected"}`,
		`{"input":{"command":"git push --force origin topic"}}`: `{"block":false}`,
	} {
		if out, err := g.Call(t.Context(), "tool_call", []byte(event)); err != nil || string(out) != want {
			t.Errorf("%s: %s %v", event, out, err)
		}
	}
	if out, err := g.Call(t.Context(), "tool_call", []byte(`{"input":{"command":7}}`)); err == nil || !strings.Contains(err.Error(), "expected a string") {
		t.Errorf("a command that is no text: %s %v", out, err)
	}
}

// project copies a crate elsewhere under a name, which names its module too, with some files replaced.
func project(t *testing.T, crate, name, dir string, files map[string]string) {
	t.Helper()
	sdk, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	manifest := regexp.MustCompile(`path = "[./]+"`).ReplaceAllString(read(t, filepath.Join(crate, "Cargo.toml")), `path = '`+sdk+`'`)
	manifest = regexp.MustCompile(`(?m)^name = ".*"$`).ReplaceAllString(manifest, `name = "`+name+`"`)
	all := map[string]string{"Cargo.toml": manifest, "src/lib.rs": read(t, filepath.Join(crate, "src/lib.rs"))}
	maps.Copy(all, files)
	for name, text := range all {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t testing.TB, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func load(t testing.TB, wasm []byte) *guesttest.Guest {
	t.Helper()
	g, err := guesttest.Load(context.Background(), wasm, nil)
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

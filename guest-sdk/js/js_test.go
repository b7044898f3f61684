package js_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/engine/script"
	"weir/engine/wire"
	js "weir/guest-sdk/js"
	"weir/wasmhost"
	"weir/wasmhost/screen"
)

// required says whether a missing toolchain is a failure, as on the machine that checks the project.
func required() bool { return os.Getenv("WEIR_REQUIRE_GUESTS") == "1" }

func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestEngineMatchesItsSource rebuilds the engine. It fetches two npm packages, so it runs where that is asked for.
func TestEngineMatchesItsSource(t *testing.T) {
	sum := sha256.Sum256(js.Engine())
	if want := read(t, "dist/SHA256SUMS"); want != hex.EncodeToString(sum[:])+"  weir-js.wasm\n" {
		t.Errorf("dist/SHA256SUMS says %s, the engine has %x", want, sum)
	}
	if !required() {
		t.Skip("set WEIR_REQUIRE_GUESTS=1 to rebuild the engine; needs clang-22, lld-22, wabt, node, npm and the npm registry")
	}
	dir := t.TempDir()
	if out, err := exec.Command("engine/build-engine.sh", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%.2000s", err, out)
	}
	if !bytes.Equal([]byte(read(t, filepath.Join(dir, "weir-js.wasm"))), js.Engine()) {
		t.Error("dist/weir-js.wasm differs from what engine/ gives")
	}
}

// TestEngineShape: the entry points of the ABI and nothing else.
func TestEngineShape(t *testing.T) {
	s, err := screen.Summarize(js.Engine())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range s.Exports {
		if e.Kind == screen.Function {
			got[e.Name] = e.Type
		}
	}
	want := map[string]string{wire.ExportInitialize: "()"}
	for _, name := range append(eventNames(), wire.ExportDescribe, wire.ExportToolExecute, wire.ExportCommandExecute, wire.ExportDecision) {
		want[name] = "() -> i32"
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func eventNames() []string {
	var names []string
	for e := wire.Event(1); int(e) <= wire.EventCount; e++ {
		names = append(names, e.String())
	}
	return names
}

// TestNumbers: glue.c and prelude.js number the entry points alike.
func TestNumbers(t *testing.T) {
	var glue []string
	for _, m := range regexp.MustCompile(`HOOK\((\d+), "([a-z_]+)"\)`).FindAllStringSubmatch(read(t, "engine/glue.c"), -1) {
		glue = append(glue, m[2])
	}
	list := regexp.MustCompile(`(?s)const entries = \((.*?)\)\.split`).FindStringSubmatch(read(t, "engine/prelude.js"))
	if list == nil {
		t.Fatal("prelude.js has no list of entries")
	}
	var prelude []string
	for _, m := range regexp.MustCompile(`"([a-z_ ]+)"`).FindAllStringSubmatch(list[1], -1) {
		prelude = append(prelude, strings.Fields(m[1])...)
	}
	want := append(eventNames(), wire.ExportDescribe, wire.ExportToolExecute, wire.ExportCommandExecute, wire.ExportDecision)
	if diff := cmp.Diff(want, glue); diff != "" {
		t.Errorf("glue.c: %s", diff)
	}
	if diff := cmp.Diff(want, prelude); diff != "" {
		t.Errorf("prelude.js: %s", diff)
	}
}

// TestTypes: every event has its type, every event with an answer an answer, and the library has what is declared.
func TestTypes(t *testing.T) {
	body := func(name string) []string {
		m := regexp.MustCompile(`(?ms)^  export interface ` + name + ` \{\n(.*?)^  \}`).FindStringSubmatch(js.Types())
		if m == nil {
			t.Fatalf("no interface %s", name)
		}
		var keys []string
		for _, k := range regexp.MustCompile(`(?m)^    ([a-z_]+):`).FindAllStringSubmatch(m[1], -1) {
			keys = append(keys, k[1])
		}
		return keys
	}
	if diff := cmp.Diff(eventNames(), body("Events")); diff != "" {
		t.Errorf("Events: %s", diff)
	}
	results := map[string]bool{}
	for _, name := range body("Results") {
		results[name] = true
	}
	for e := wire.Event(1); int(e) <= wire.EventCount; e++ {
		if results[e.String()] == e.Observes() {
			t.Errorf("%s: has a result: %v", e, results[e.String()])
		}
	}
	for _, m := range regexp.MustCompile(`(?ms)^  export namespace (\w+) \{\n(.*?)^  \}`).FindAllStringSubmatch(js.Types(), -1) {
		lib, err := js.Library(m[1] + ".js")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range regexp.MustCompile(`function (\w+)`).FindAllStringSubmatch(m[2], -1) {
			if !strings.Contains(lib, "const "+f[1]+" = ") {
				t.Errorf("%s.%s is declared and not there", m[1], f[1])
			}
		}
	}
}

// allHooks uses every type of weir.d.ts the way an author would.
const allHooks = `import * as weir from "weir";
import { config, kv, http, file, ui, session, toolUpdate } from "weir";
import type { Hook, Events } from "weir";
export const turn_end: Hook<"turn_end"> = (e) => { console.log(e.turnIndex, e.message.role, config, e.context.model?.id); };
export const tool_call: Hook<"tool_call"> = (e) => { if (e.input.x) return { block: true }; kv.set("a", "b"); kv.delete("a"); return {}; };
export const tool_result: Hook<"tool_result"> = (e) => ({ content: [...e.content, { type: "text", text: "x" }] });
export const input: Hook<"input"> = (e) => ({ action: "transform", text: e.text + http.request({ url: "x" }).body + file.read("a") + ui.confirm("a") + session.request("b") });
export const project_trust: Hook<"project_trust"> = () => ({ trusted: "no" });
export const session_before_tree: Hook<"session_before_tree"> = () => ({ cancel: true });
export function tool_execute(e: weir.ToolExecute): weir.ToolExecuteResult { toolUpdate({ content: [] }); return { content: [] }; }
export const message_end: Hook<"message_end"> = (e) => {
  const { leaf, aborted } = session.state();
  const { more, entries } = session.entries({ after: leaf ?? "", limit: 10 });
  const id: string = session.append("note", { aborted, more, first: entries[0]?.type, tools: session.setTools(session.tools().map((t) => t.name)) });
  session.label(id, "here");
  session.send({ customType: "note", content: "x", deliver: "nextTurn" });
  if (session.setThinkingLevel("low") === "off") session.new();
};
export const user_bash: Hook<"user_bash"> = () => {};
export const before = (e: weir.ToolCall): boolean => {
  const shell = e.facts?.shell;
  if (!shell?.understood) return shell !== undefined && shell.reason !== "";
  const outside = e.facts?.paths?.paths.some((p) => (p.dynamic ? p.op !== "read" : !p.inside && p.kind === "file"));
  return outside || shell.commands.some((c) => c.argv[0] === "rm" && c.unknown?.includes(1)) || e.facts?.net?.hosts.some((h) => h.scope === "linklocal") === true;
};
// @ts-expect-error there is no such right
session.navigate("a", { sumarize: true });
export const name = <E extends keyof Events>(e: Events[E]): string => e.type;
// @ts-expect-error a hook is not async
export const agent_end: Hook<"agent_end"> = async () => {};
// @ts-expect-error block is a boolean
export const wrong: Hook<"tool_call"> = () => ({ block: "yes" });
// @ts-expect-error an observer returns nothing
export const turn_start: Hook<"turn_start"> = () => ({ block: true });
`

// TestTypesCheck has TypeScript's own compiler check the declarations with the README's policies. It fetches an npm package,
// so it runs where that is asked for.
func TestTypesCheck(t *testing.T) {
	if !required() {
		t.Skip("set WEIR_REQUIRE_GUESTS=1 to check the types; needs node, npm and the npm registry")
	}
	dir := t.TempDir()
	files := map[string]string{
		"weir.d.ts": js.Types(), "hooks.ts": allHooks,
		"tsconfig.json": `{"compilerOptions":{"noEmit":true,"strict":true,"target":"es2022","lib":["es2023"],"types":[],"module":"esnext","moduleResolution":"bundler"},"include":["*.ts"]}`,
	}
	for i, text := range blocks(t, "ts") {
		files["readme"+strconv.Itoa(i)+".ts"] = text
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range [][]string{
		{"npm", "install", "--ignore-scripts", "--no-fund", "--no-audit", "--silent", "typescript@5.9.3"},
		{"node_modules/.bin/tsc", "-p", "."},
	} {
		cmd := exec.Command(line[0], line[1:]...)
		cmd.Dir = dir
		if line[0] != "npm" {
			cmd.Path = filepath.Join(dir, line[0])
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line[0], err, out)
		}
	}
}

// blocks are the README's code blocks of a language.
func blocks(t *testing.T, lang string) []string {
	t.Helper()
	var list []string
	for _, m := range regexp.MustCompile("(?ms)^```"+lang+"\n(.*?)^```$").FindAllStringSubmatch(read(t, "README.md"), -1) {
		list = append(list, m[1])
	}
	return list
}

// TestReadmePolicies: the first policy is the example, and all of them load and describe themselves.
func TestReadmePolicies(t *testing.T) {
	policies := blocks(t, "ts")
	if len(policies) < 3 {
		t.Fatalf("%d policies", len(policies))
	}
	if diff := cmp.Diff(read(t, "example/policy.ts"), policies[0]); diff != "" {
		t.Error(diff)
	}
	h, err := wasmhost.New(t.Context(), wasmhost.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := h.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	for i, text := range policies {
		path := filepath.Join(t.TempDir(), "policy.ts")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := script.Load(path)
		if err != nil {
			t.Fatalf("policy %d: %v", i, err)
		}
		wasm, err := s.Engine()
		if err != nil {
			t.Fatal(err)
		}
		m, err := h.Compile(t.Context(), "policy", wasm, wasmhost.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		out, err := m.WithSource(s.Source()).Describe(t.Context(), "policy")
		if err != nil {
			t.Fatalf("policy %d: %v", i, err)
		}
		if _, err := wire.ParseDescribe(out); err != nil {
			t.Errorf("policy %d: %v", i, err)
		}
	}
}

// TestReadmeCommands runs every command of the README as a new user would: in a folder with the README's files.
func TestReadmeCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	dir := t.TempDir()
	weir := filepath.Join(dir, "bin", "weir")
	if out, err := exec.Command("go", "build", "-o", weir, "weir/cmd/weir").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, text := range map[string]string{"policy.ts": blocks(t, "ts")[0], "weir.toml": blocks(t, "toml")[0]} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(line string) string {
		cmd := exec.Command("sh", "-ec", line)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(weir)+":"+os.Getenv("PATH"), "WEIR_CACHE_DIR="+filepath.Join(dir, "cache"), "XDG_CONFIG_HOME="+dir)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
		return string(out)
	}
	var said strings.Builder
	for _, block := range blocks(t, "sh") {
		for _, line := range strings.Split(strings.TrimSpace(block), "\n") {
			said.WriteString(run(line))
		}
	}
	for _, want := range []string{"{\"block\":true,\"reason\":\"rm -rf is not allowed\"}\n", "no-rm-rf 1.0.0", "policy.wasm: no-rm-rf 1.0.0, hooks tool_call, no capabilities"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("nothing said %q:\n%s", want, said.String())
		}
	}
	if types := read(t, filepath.Join(dir, "weir.d.ts")); types != js.Types() {
		t.Error("--types printed something else than weir.d.ts")
	}
	if out := run("weir check weir.toml"); !strings.Contains(out, "no-rm-rf") {
		t.Errorf("check: %s", out)
	}
}

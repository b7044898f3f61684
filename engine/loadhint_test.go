package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/engine"
	"weir/engine/set"
	"weir/wasmhost"
)

// module joins sections to a module.
func module(sections ...[]byte) []byte {
	wasm := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range sections {
		wasm = append(wasm, s...)
	}
	return wasm
}

// imports is a module that imports one thing and exports a hook: kind 0 is a function of a type () -> i32, 2 a memory, 3 a global.
func imports(from, name string, kind byte) []byte {
	what := []byte{kind, 0}
	switch kind {
	case 2:
		what = []byte{2, 0, 1}
	case 3:
		what = []byte{3, 0x7f, 0}
	}
	n := byte(1)
	if kind != 0 {
		n = 0
	}
	return module(entryType, section(2, append(append(named(from), named(name)...), what...)), section(3, []byte{0}), section(7, append(named("tool_call"), 0, n)), section(10, zero))
}

var (
	entryType = section(1, []byte{0x60, 0, 1, 0x7f})
	zero      = []byte{4, 0, 0x41, 0, 0x0b} // a body: i32.const 0
)

// exports is a module that exports functions () -> i32 that give 0, and a memory.
func exports(names ...string) []byte {
	var functions, bodies, exported [][]byte
	for i, n := range names {
		functions = append(functions, []byte{0})
		bodies = append(bodies, zero)
		exported = append(exported, append(named(n), 0, byte(i)))
	}
	exported = append(exported, append(named("memory"), 2, 0))
	return module(entryType, section(3, functions...), section(5, []byte{0, 1}), section(7, exported...), section(10, bodies...))
}

// typed is a module whose hook has a type of its own, with a body.
func typed(typ, body []byte) []byte {
	return module(section(1, typ), section(3, []byte{0}), section(7, append(named("tool_call"), 0, 0)), section(10, append(uleb(len(body)), body...)))
}

// custom appends a custom section.
func custom(wasm []byte, name, content string) []byte {
	body := append(named(name), content...)
	return append(append(wasm, append([]byte{0}, uleb(len(body))...)...), body...)
}

// producers names the toolchain as compilers do.
func producers(wasm []byte, by string) []byte {
	return custom(wasm, "producers", "\x01\x0cprocessed-by\x01"+string(named(by))+"\x031.0")
}

// TestLoadHints: each module that does not load is told with its file, what is wrong, and how to build it right.
func TestLoadHints(t *testing.T) {
	describes := func(hooks string, names ...string) []byte {
		a := assembly{describe: `{"abi":1,"name":"x","version":"1.0.0","hooks":` + hooks + `}`, exports: map[string]code{}}
		for _, n := range names {
			a.exports[n] = answer(`{}`)
		}
		return a.wasm()
	}
	for name, c := range map[string]struct {
		wasm []byte
		want string // joined by " … "
	}{
		// not WebAssembly
		"empty":     {[]byte{}, "the file is empty"},
		"text":      {[]byte("(module)"), "WebAssembly text … wat2wasm"},
		"comment":   {[]byte("\n;; a comment\n(module)"), "WebAssembly text"},
		"gzip":      {[]byte("\x1f\x8b\x08\x00"), "gunzip"},
		"zip":       {[]byte("PK\x03\x04"), "unpack it"},
		"elf":       {[]byte("\x7fELF\x02\x01\x01"), "GOOS=wasip1 GOARCH=wasm … wasm32-unknown-unknown"},
		"mach-o":    {[]byte("\xcf\xfa\xed\xfe"), "not WebAssembly: build for wasm"},
		"windows":   {[]byte("MZ\x90\x00"), "not WebAssembly: build for wasm"},
		"bitcode":   {[]byte("BC\xc0\xde"), "LLVM bitcode"},
		"archive":   {[]byte("!<arch>\n"), `crate-type = ["cdylib"]`},
		"lfs":       {[]byte("version https://git-lfs.github.com/spec/v1\n"), "git lfs pull"},
		"web page":  {[]byte("<!DOCTYPE html>"), "download the file itself"},
		"policy":    {[]byte("export default {}"), "ends in .ts or .js"},
		"junk":      {[]byte("\x01\x02\x03\x04\x05\x06\x07\x08"), `begins with \0asm`},
		"component": {[]byte("\x00asm\x0d\x00\x01\x00"), "a WebAssembly component … wasm32-unknown-unknown"},
		"cut off":   {exports("tool_call")[:30], "the file is cut off"},
		"object":    {custom(imports("env", "x", 0), "linking", "\x02"), "an object file that was not linked"},

		// programs instead of libraries
		"go program":     {custom(exports("_start", "tool_call"), "go:buildid", "x"), "WASI command … GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared"},
		"go, stripped":   {producers(exports("_start"), "Go cmd/compile"), "go build -buildmode=c-shared"},
		"tinygo program": {producers(exports("_start"), "TinyGo"), "tinygo build -target=wasip1 -buildmode=c-shared"},
		"rust program":   {producers(exports("_start", "main"), "rustc"), `crate-type = ["cdylib"]`},
		"rust bin":       {producers(exports("main"), "rustc"), `not an extension … crate-type = ["cdylib"]`},
		"c program":      {producers(exports("_start"), "clang"), "-mexec-model=reactor"},
		"as program":     {exports("_start", "__new"), "leave out --exportStart _start"},
		"some program":   {exports("_start"), "-buildmode=c-shared … cdylib … reactor … -fno-entry"},

		// imports
		"newer weir":        {imports("extism:host/user", "weir_teleport", 0), "no such function here … a newer ABI … weir_kv"},
		"misspelled import": {imports("extism:host/user", "weir_outputwrite", 0), `did you mean "weir_output_write"?`},
		"import's type":     {imports("extism:host/user", "weir_kv", 0), "its type is (i32, i32) -> i32 … declare it with that type"},
		"env typo":          {imports("extism:host/env", "input_lngth", 0), `did you mean "input_length"?`},
		"module typo":       {imports("extism:host/envs", "alloc", 0), `did you mean "extism:host/env"?`},
		"undefined":         {imports("env", "parse_url", 0), "nothing defines parse_url … --allow-undefined"},
		"emscripten":        {imports("env", "emscripten_notify_memory_growth", 0), "-sSTANDALONE_WASM --no-entry"},
		"c++ exceptions":    {imports("env", "__cxa_throw", 0), "-fno-exceptions"},
		"side module":       {imports("env", "__memory_base", 3), "leave out -shared"},
		"abort":             {imports("env", "abort", 0), "AssemblyScript … --use abort="},
		"imported memory":   {imports("env", "memory", 2), "must bring its memory … --import-memory"},
		"old wasi":          {imports("wasi_unstable", "fd_write", 0), "WASI before preview 1"},
		"wasi's newer":      {imports("wasi_snapshot_preview1", "fd_wrte", 0), `did you mean "fd_write"?`},
		"wasix":             {imports("wasix_32v1", "thread_spawn", 0), "build for plain WASI"},
		"wasi 2":            {imports("wasi:cli/environment@0.2.0", "get", 0), "component model"},
		"browser go":        {imports("gojs", "runtime.wasmExit", 0), "GOOS=wasip1"},
		"wasm-bindgen":      {imports("__wbindgen_placeholder__", "__wbindgen_throw", 0), "wasm-bindgen"},

		// exports
		"go's type":    {producers(typed([]byte{0x60, 0, 1, 0x7e}, []byte{0, 0x42, 0, 0x0b}), "Go cmd/compile"), `export "tool_call" has the type () -> i64 … //go:wasmexport tool_call above func toolCall() int32`},
		"parameters":   {producers(typed([]byte{0x60, 2, 0x7f, 0x7f, 1, 0x7f}, []byte{0, 0x41, 0, 0x0b}), "rustc"), `(i32, i32) -> i32 … extern "C" fn tool_call() -> i32 … and no parameter`},
		"no result":    {typed([]byte{0x60, 0, 0}, []byte{0, 0x0b}), "has the type () … a 32-bit integer"},
		"not exported": {describes(`{"tool_call":{}}`), `names the hook tool_call: no export "tool_call" … export it`},
		"in c":         {producers(describes(`{"tool_call":{}}`), "clang"), `export_name("tool_call")`},
		"other name":   {describes(`{"tool_call":{}}`, "toolCall"), `it exports "toolCall": name it tool_call`},
		"camel case":   {exports("toolCall"), `not an extension … it exports "toolCall": name it tool_call`},
		"dashes":       {exports("tool-call"), `it exports "tool-call": name it tool_call`},
		"handler":      {exports("onToolCall"), `it exports "onToolCall": name it tool_call`},
		"one letter":   {exports("tool_cal"), `it exports "tool_cal": name it tool_call`},
		"describe":     {exports("weirDescribe"), `name it weir_describe`},
		"mangled":      {exports("_Z9tool_callv"), `extern "C"`},
		"other":        {exports("count_vowels"), "export a function named like an event"},

		// features
		"shared memory": {module(section(5, []byte{3, 1, 2})), "shared memory … without threads"},
		"atomics":       {typed([]byte{0x60, 0, 1, 0x7f}, []byte{0, 0xfe, 3, 0, 0x0b}), "without threads"},
		"exceptions":    {typed([]byte{0x60, 0, 1, 0x7f}, []byte{0, 0x06, 0x40, 0x0b, 0x41, 0, 0x0b}), "without exceptions"},
		"tags":          {module(section(1, []byte{0x60, 0, 0}), section(13, []byte{0, 0})), "without exceptions"},
		"gc types":      {module(section(1, []byte{0x5f, 1, 0x7f, 0})), "garbage collection … TypeScript"},
		"gc":            {typed([]byte{0x60, 0, 1, 0x7f}, []byte{0, 0xfb, 0, 0, 0x0b}), "garbage collection"},
		"memory64":      {module(section(5, []byte{4, 1})), "for wasm32"},
		"two memories":  {module(section(5, []byte{0, 1}, []byte{0, 1})), "with one memory"},
		"large memory":  {module(section(5, append([]byte{0}, uleb(20000)...))), "raise the limit memory"},
		"invalid":       {typed([]byte{0x60, 0, 1, 0x7f}, []byte{0, 0x42, 0, 0x0b}), "not a valid module"},
	} {
		t.Run(name, func(t *testing.T) {
			host, err := wasmhost.New(t.Context(), wasmhost.Config{})
			if err != nil {
				t.Fatal(err)
			}
			defer host.Close(t.Context()) //nolint:errcheck // nothing runs
			file := filepath.Join(t.TempDir(), "policy.wasm")
			if err := os.WriteFile(file, c.wasm, 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := set.Parse("weir.toml", fmt.Appendf(nil, "version = 1\n[[extension]]\nname = \"x\"\nmodule = %q\n", file))
			if err != nil {
				t.Fatal(err)
			}
			_, loading := engine.Open(t.Context(), engine.Config{Host: host, Set: s})
			_, inspecting := engine.Inspect(t.Context(), engine.Config{Host: host}, &s.Extensions[0])
			for how, err := range map[string]error{"load": loading, "inspect": inspecting} {
				if err == nil {
					t.Fatalf("%s: it was taken", how)
				}
				rest := err.Error()
				for _, want := range append([]string{"x: load: load: " + file + ": "}, strings.Split(c.want, " … ")...) {
					_, after, ok := strings.Cut(rest, want)
					if !ok {
						t.Errorf("%s: %v\ndoes not say %q there", how, err, want)
						break
					}
					rest = after
				}
			}
		})
	}
}

// What is right is not explained: a memory need not be exported.
func TestNoHint(t *testing.T) {
	for name, wasm := range map[string][]byte{
		"exported memory": exports("tool_call"),
		"own memory":      module(entryType, section(3, []byte{0}), section(5, []byte{0, 1}), section(7, append(named("tool_call"), 0, 0)), section(10, zero)),
	} {
		s := openShop(t, engine.Config{}, "", nil)
		s.module("a.wasm", wasm)
		if _, err := s.reload(lines("a")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package engine

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"weir/engine/set"
	"weir/engine/wire"
	"weir/wasmhost"
	"weir/wasmhost/screen"
)

// loadHint says what to do about a module that does not load: wasm is what the file holds, err why it was refused. "" when err says
// it all. It goes by what can be seen in the module; err decides only between things that are wrong with it.
func loadHint(wasm []byte, err error) string {
	if wasm == nil {
		return ""
	}
	if !bytes.HasPrefix(wasm, []byte("\x00asm")) {
		return foreignHint(wasm)
	}
	if screen.Component(wasm) {
		return "build a core module: for Rust the target wasm32-unknown-unknown or wasm32-wasip1 instead of wasm32-wasip2, for Go GOOS=wasip1, and no wasm-tools component new"
	}
	m := look(wasm)
	var missing *wasmhost.ImportError
	var entry *wasmhost.EntryError
	var shape *screen.Error
	switch {
	case slices.Contains(m.CustomSections, "linking"):
		return "this is an object file that was not linked: clang without -c, or wasm-ld --no-entry -o policy.wasm FILE"
	case errors.As(err, &missing):
		return importHint(missing)
	case errors.As(err, &shape):
		return shapeHint(shape)
	case m.Command:
		return commandHint(m)
	case errors.As(err, &entry):
		return entryHint(m, entry)
	case errors.Is(err, errNoHook):
		return noHookHint(m)
	default:
		return ""
	}
}

// foreignHint recognises what is no WebAssembly by how it begins.
func foreignHint(b []byte) string {
	text := strings.TrimLeft(string(b[:min(len(b), 512)]), " \t\r\n\uFEFF")
	starts := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(text, p) })
	}
	switch {
	case len(b) == 0:
		return "the file is empty; did the build fail?"
	case starts("\x1f\x8b"):
		return "it is compressed: gunzip it"
	case starts("PK\x03\x04"):
		return "it is a zip archive: unpack it"
	case starts("\x28\xb5\x2f\xfd"):
		return "it is compressed: unzstd it"
	case starts("\x7fELF", "MZ", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe"):
		return "it is a program for this kind of machine, not WebAssembly: build for wasm (Go: GOOS=wasip1 GOARCH=wasm, Rust: --target wasm32-unknown-unknown, clang: --target=wasm32, TinyGo: -target=wasip1)"
	case starts("BC\xc0\xde"):
		return "it is LLVM bitcode: leave out -emit-llvm and -flto, and link it"
	case starts("!<arch>"):
		return `it is a static library: for Rust crate-type = ["cdylib"] instead of "staticlib", for C link it with clang --target=wasm32 -nostdlib -Wl,--no-entry`
	case starts("(module", "(component", ";;"):
		return "it is WebAssembly text: wat2wasm FILE.wat -o FILE.wasm"
	case starts("version https://git-lfs"):
		return "it is the pointer of a file in Git LFS: git lfs pull"
	case starts("<!DOCTYPE", "<!doctype", "<html", "<HTML"):
		return "it is a web page: download the file itself"
	case starts("{", "#!", "import ", "export ", "//", "/*", "const ", "function "):
		return "it is source text: a policy in TypeScript or JavaScript has a name that ends in .ts or .js"
	default:
		return "it is not WebAssembly: a module begins with \\0asm"
	}
}

// seen is what can be seen of a module that does not load.
type seen struct {
	screen.Summary
	toolchain toolchain
}

type toolchain int

const (
	someToolchain toolchain = iota
	goToolchain
	tinyGo
	rust
	clang
	assemblyScript
)

func look(wasm []byte) seen {
	s, err := screen.Summarize(wasm)
	if err != nil {
		s = screen.Summary{} // its structure is what is wrong; the toolchain may be seen all the same
	}
	m := seen{Summary: s}
	// The producers section is a list of names and versions, short and never compressed.
	_, producers, _ := bytes.Cut(wasm, []byte("\x09producers"))
	producers = producers[:min(len(producers), 512)]
	says := func(name string) bool { return bytes.Contains(producers, []byte(name)) }
	switch {
	case says("TinyGo"):
		m.toolchain = tinyGo
	case says("Go cmd/compile"), slices.Contains(s.CustomSections, "go:buildid"):
		m.toolchain = goToolchain
	case says("rustc"):
		m.toolchain = rust
	case says("clang"):
		m.toolchain = clang
	case m.exports("__new"), slices.ContainsFunc(s.Imports, func(i screen.Import) bool { return i.Module == "env" && i.Name == "abort" }):
		m.toolchain = assemblyScript
	}
	return m
}

func (m *seen) exports(name string) bool {
	return slices.ContainsFunc(m.Exports, func(x screen.Export) bool { return x.Name == name })
}

// importHint is about an import that nobody here provides.
func importHint(e *wasmhost.ImportError) string {
	has := func(part string) bool { return strings.Contains(e.Name, part) }
	switch {
	case e.ModuleKnown && e.Kind == screen.Function && e.Provided != "":
		return "declare it with that type, or take the SDK that belongs to this weir"
	case e.ModuleKnown && e.Kind == screen.Function:
		if hint := nearestHint(e.Name, e.Known); hint != "" {
			return hint
		}
		return "it may be a function of a newer ABI, or of another host: this weir has " + strings.Join(e.Known, ", ")
	case e.Kind == screen.Memory:
		return "the module must bring its memory: leave out -Wl,--import-memory, --importMemory or -sIMPORTED_MEMORY"
	case e.Module == "env" && e.Name == "abort":
		return "AssemblyScript aborts through the host: build with --use abort=FILE/FUNCTION that logs and traps, as the SDK for AssemblyScript does, or with --use abort="
	case e.Module == "env" && has("emscripten"), e.Module == "env" && strings.HasPrefix(e.Name, "invoke_"), e.Module == "env" && strings.HasPrefix(e.Name, "__cxa_"),
		e.Module == "env" && strings.HasPrefix(e.Name, "__syscall"), e.Module == "env" && e.Name == "_emscripten_memcpy_js", e.Module == "a":
		return "emscripten expects its JavaScript beside the module: build with -sSTANDALONE_WASM --no-entry -fno-exceptions, or use clang --target=wasm32 and wasi-libc"
	case e.Module == "env" && (e.Name == "__memory_base" || e.Name == "__table_base" || e.Name == "__stack_pointer" || e.Name == "__indirect_function_table"):
		return "it was linked as a shared library: leave out -shared, -fPIC and -sSIDE_MODULE"
	case e.Module == "env":
		return fmt.Sprintf("nothing defines %s, and the linker let that pass: define it, link the library that has it, or, if a host function was meant, give its module by import_module(\"extism:host/user\"); leave out -Wl,--allow-undefined to hear of it when linking", e.Name)
	case e.Module == "wasi_unstable":
		return "that is WASI before preview 1: build with a newer toolchain (clang with wasi-sdk 8 or newer, Rust's target wasm32-wasip1)"
	case strings.HasPrefix(e.Module, "wasix"):
		return "that is WASIX: build for plain WASI (wasm32-wasip1)"
	case strings.HasPrefix(e.Module, "wasi:"), strings.Contains(e.Module, "@"):
		return "that is the component model: build for WASI preview 1 (Rust: wasm32-wasip1, TinyGo: -target=wasip1)"
	case e.Module == "gojs", e.Module == "go":
		return "that is Go for a browser: build with GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared"
	case strings.Contains(e.Module, "wbindgen"), e.Module == "wbg", strings.HasSuffix(e.Module, "_bg.js"):
		return "wasm-bindgen expects JavaScript beside the module: leave out wasm-bindgen and what needs it (js-sys, web-sys, features named js), and build with cargo build --target wasm32-unknown-unknown"
	default:
		return nearestHint(e.Module, e.Known)
	}
}

// nearestHint names the known word that was probably meant; "" when none is near.
func nearestHint(word string, known []string) string {
	if hint := set.Suggest(word, known); strings.HasPrefix(hint, "did you mean") {
		return hint
	}
	return ""
}

// shapeHint is about what the structure check refuses.
func shapeHint(e *screen.Error) string {
	for _, h := range []struct{ reason, hint string }{
		{"shared memory", threadsHint},
		{"belongs to threads", threadsHint},
		{"exception handling", "build without exceptions: -fno-exceptions, or Rust's panic = \"abort\""},
		{"only functions (0x60) are supported", collectorHint},
		{"garbage collection", collectorHint},
		{"unknown value type 0x6", collectorHint}, // those of references
		{"typed function references", collectorHint},
		{"64-bit", "build for wasm32, not for wasm64"},
		{"memories, ", "build with one memory: leave out --enable-multimemory and wasm-merge"},
		{"relaxed SIMD", "build without -mrelaxed-simd"},
		{"to compile, more than the limit", "build for size (-Os, Rust's opt-level = \"z\", wasm-opt -Oz), and split what generates large functions"},
		{"bytes at least, more than the limit", "raise the limit memory in the set, or ask for less (-Wl,--initial-memory, AssemblyScript's --initialMemory)"},
		{"elements at least, more than the limit", "raise the limit table in the set"},
		{"bytes, more than the limit", "strip it (-ldflags=\"-s -w\", -Wl,--strip-all, wasm-strip), or raise the limit module in the set"},
		{"section bytes claimed", "the file is cut off: build or download it again"},
		{"unexpected end", "the file is cut off: build or download it again"},
		{"more than the limit", "no module that a compiler made was found to need that much"},
	} {
		if strings.Contains(e.Reason, h.reason) {
			return h.hint
		}
	}
	return "was it changed after it was built? wasm-validate FILE says more"
}

const (
	threadsHint   = "build without threads: no -pthread or -matomics, and no target feature atomics in Rust"
	collectorHint = "it needs WebAssembly's garbage collection or typed references (Kotlin, Dart, Java, OCaml, Scheme), which is not here yet: use a language that compiles to linear memory, or a policy in TypeScript"
)

// commandHint is about a program that is run once and cannot be called.
func commandHint(m seen) string {
	switch m.toolchain {
	case goToolchain:
		return "build it with GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o policy.wasm ."
	case tinyGo:
		return "build it with tinygo build -target=wasip1 -buildmode=c-shared -o policy.wasm ."
	case rust:
		return rustLibrary
	case clang:
		return "link it with -mexec-model=reactor, or without WASI by --target=wasm32 -nostdlib -Wl,--no-entry"
	case assemblyScript:
		return "leave out --exportStart _start (--exportStart _initialize is right)"
	default:
		return "build it as a library (Go and TinyGo: -buildmode=c-shared, Rust: crate-type = [\"cdylib\"], clang: -mexec-model=reactor, Zig: -fno-entry)"
	}
}

const rustLibrary = "it is a program, not a library: in Cargo.toml write [lib] crate-type = [\"cdylib\"], move the code to src/lib.rs, and build with cargo build --release --target wasm32-unknown-unknown"

// entryHint is about an entry point that is not exported, or is something else.
func entryHint(m seen, e *wasmhost.EntryError) string {
	if e.Kind == 0 {
		for _, x := range m.Exports {
			if x.Kind == screen.Function && (meant(x.Name) == e.Export || set.Suggest(x.Name, []string{e.Export}) == fmt.Sprintf("did you mean %q?", e.Export)) {
				return renameHint(x.Name, e.Export)
			}
		}
	}
	how := declaration(m.toolchain, e.Export)
	if e.Kind == 0 {
		return "export it: " + how
	}
	hint := "it takes nothing and returns a 32-bit integer, 0 for success: " + how
	if strings.HasPrefix(e.Type, "(i") {
		hint += "; the event is read by a function of the SDK, and no parameter"
	}
	return hint
}

// declaration is how an entry point is written in a language.
func declaration(t toolchain, export string) string {
	switch t {
	case goToolchain, tinyGo:
		return fmt.Sprintf("//go:wasmexport %s above func %s() int32", export, camel(export))
	case rust:
		return fmt.Sprintf("#[no_mangle] pub extern \"C\" fn %s() -> i32", export)
	case clang:
		return fmt.Sprintf("__attribute__((export_name(%q))) int %s(void), in C++ with extern \"C\"", export, export)
	case assemblyScript:
		return fmt.Sprintf("export function %s(): i32 in the entry file", export)
	default:
		return fmt.Sprintf("a function %s of type () -> i32 (Go: //go:wasmexport, Rust: #[no_mangle] pub extern \"C\", C: export_name)", export)
	}
}

// noHookHint is about a module that exports nothing that could be called.
func noHookHint(m seen) string {
	for _, x := range m.Exports {
		if hook := meant(x.Name); x.Kind == screen.Function && hook != "" && hook != x.Name {
			return renameHint(x.Name, hook)
		}
	}
	switch {
	case m.toolchain == rust && m.exports("main"):
		return rustLibrary
	default:
		return "export a function named like an event: " + declaration(m.toolchain, "tool_call")
	}
}

func renameHint(name, hook string) string {
	if strings.HasPrefix(name, "_Z") {
		return fmt.Sprintf("the compiler mangled the name to %s: in C++ declare it extern \"C\", in Rust #[no_mangle]", name)
	}
	return fmt.Sprintf("it exports %q: name it %s", name, hook)
}

// meant is the hook, or other entry point, that an export was probably meant to be; "" when there is none.
func meant(export string) string {
	plain := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' {
				return r
			}
			return -1
		}, strings.ToLower(s))
	}
	var names []string
	for _, k := range Kinds() {
		names = append(names, k.Event.String())
	}
	names = append(names, wasmhost.DescribeExport, wire.ExportToolExecute, wire.ExportCommandExecute)
	for _, n := range names {
		if p := plain(export); p == plain(n) || p == "on"+plain(n) || p == "handle"+plain(n) {
			return n
		}
	}
	if strings.HasPrefix(export, "_Z") {
		// The longest name that occurs with its length before it is the function's own.
		best := ""
		for _, n := range names {
			if strings.Contains(export, fmt.Sprint(len(n), n)) && len(n) > len(best) {
				best = n
			}
		}
		return best
	}
	const short = 6 // of shorter words too many are near
	if len(export) >= short {
		for _, n := range names {
			if len(n) >= short && set.Suggest(export, []string{n}) == fmt.Sprintf("did you mean %q?", n) {
				return n
			}
		}
	}
	return ""
}

// camel is a hook's name as Go code has it.
func camel(name string) string {
	parts := strings.Split(name, "_")
	for i := 1; i < len(parts); i++ {
		if parts[i] != "" {
			parts[i] = strings.ToUpper(parts[i][:1]) + parts[i][1:]
		}
	}
	return strings.Join(parts, "")
}

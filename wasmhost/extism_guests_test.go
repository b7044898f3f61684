package wasmhost_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"weir/wasmhost"
)

// missing skips a test for which the machine lacks something, or fails it where that must not be.
func missing(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("WEIR_REQUIRE_GUESTS") == "1" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// run runs a command in a folder and gives what went wrong.
func run(t *testing.T, dir string, env []string, name string, args ...string) error {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%.2000s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

func buildPlainGo(t *testing.T, out string) error { return buildGo(t, out, "") }

// buildFetchingGo is the same module with one export more, which makes it import HTTP.
func buildFetchingGo(t *testing.T, out string) error { return buildGo(t, out, "http") }

func buildGo(t *testing.T, out, tags string) error {
	return run(t, "testdata/extism/go", []string{"GOOS=wasip1", "GOARCH=wasm", "GOWORK=off"}, "go", "build", "-tags="+tags, "-trimpath", "-ldflags=-s -w", "-buildmode=c-shared", "-o", out, ".")
}

func buildPlainC(t *testing.T, out string) error {
	return run(t, "testdata/extism/c", nil, "clang", "--target=wasm32", "-O2", "-nostdlib", "-Wl,--no-entry", "-Wl,-z,stack-size=16384", "-o", out, "plain.c")
}

// buildPlainRust tries the system's compiler as well: the one on the PATH may lack the target.
func buildPlainRust(t *testing.T, out string) (err error) {
	for _, rustc := range []string{"rustc", "/usr/bin/rustc"} {
		err = run(t, "testdata/extism/rust", nil, rustc, "--target", "wasm32-unknown-unknown", "--crate-type", "cdylib", "-O", "-C", "panic=abort", "-C", "strip=symbols", "-o", out, "plain.rs")
		if err == nil {
			return nil
		}
	}
	return err
}

// buildPlainAssemblyScript takes the packages from the folder node_modules that WEIR_AS names, or installs them where guests are
// required.
func buildPlainAssemblyScript(t *testing.T, out string) error {
	dir := t.TempDir()
	source, err := os.ReadFile("testdata/extism/as/index.ts")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "index.ts"), source, 0o600); err != nil {
		return err
	}
	node := "node"
	if n := os.Getenv("WEIR_NODE"); n != "" {
		node = n
	}
	modules := filepath.Join(dir, "node_modules")
	switch from := os.Getenv("WEIR_AS"); {
	case from != "":
		err = os.Symlink(from, modules)
	case os.Getenv("WEIR_REQUIRE_GUESTS") == "1":
		err = run(t, dir, nil, "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", "assemblyscript@0.28.20", "@extism/as-pdk@1.0.0")
	default:
		err = fmt.Errorf("set WEIR_AS to a folder node_modules with assemblyscript and @extism/as-pdk@1.0.0")
	}
	if err != nil {
		return err
	}
	return run(t, dir, nil, node, "node_modules/assemblyscript/bin/asc.js", "index.ts", "--outFile", out, "-O", "--use", "abort=index/abort")
}

// TestExtismLane builds plain Extism modules in four languages, two of them on the real development kits, and runs each on our host,
// on extism/go-sdk as we run it, and on go-sdk as it comes: outputs, failures, error texts and logs must be the same.
func TestExtismLane(t *testing.T) {
	h := newHost(t, wasmhost.Config{})
	imported := map[string]bool{}
	complete := true
	for _, test := range []struct {
		language string
		build    func(t *testing.T, out string) error
		try      func(t *testing.T, h *wasmhost.Host, wasm []byte)
	}{
		{"go", buildPlainGo, tryPlain},
		{"go-http", buildFetchingGo, tryFetch},
		{"assemblyscript", buildPlainAssemblyScript, tryPlain},
		{"rust", buildPlainRust, tryPlain},
		{"c", buildPlainC, tryPlain},
	} {
		t.Run(test.language, func(t *testing.T) {
			if underRace && strings.HasPrefix(test.language, "go") {
				complete = false
				t.Skip("wazero compiles it three times, which takes minutes under the race detector")
			}
			out := filepath.Join(t.TempDir(), "plain.wasm")
			if err := test.build(t, out); err != nil {
				complete = false
				missing(t, "the guest was not built: %v", err)
			}
			wasm, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range compile(t, h, wasm).Summary().Imports {
				if i.Module == "extism:host/env" {
					imported[i.Name] = true
				}
			}
			test.try(t, h, wasm)
		})
	}
	if complete {
		for _, name := range envFunctions() {
			if !imported[name] {
				t.Errorf("no guest imports %s", name)
			}
		}
	}
}

// tryPlain calls all that the guests have in common.
func tryPlain(t *testing.T, h *wasmhost.Host, wasm []byte) {
	config := map[string]string{"greeting": "hello", "empty": "", "ümläut": "é😀", "number": "12"}
	l := newLane(t, h, wasm, config, 0, "echo", "settings", "counter", "forget", "logs", "fails", "bytes")
	for _, c := range [][2]string{
		{"echo", "hello"},
		{"echo", "é😀\x00ÿ"},
		{"echo", strings.Repeat("0123456789", 2_000)},
		{"settings", "greeting"},
		{"settings", "greeting\nempty\nümläut\nnumber\nno such key"},
		{"counter", "first"},
		{"counter", "second"},
		{"counter", strings.Repeat("é", 1000)},
		{"forget", ""},
		{"counter", "third"},
		{"logs", "of mine"},
		{"fails", "on purpose: é😀"},
		{"counter", "after a fault"}, // variables outlive it
		{"fails", ""},
		{"bytes", "0123456789abcdef"},
		{"bytes", "12345"},
		{"bytes", strings.Repeat("x", 7_000)},
	} {
		l.call(t, c[0], c[1])
	}
	if l.failed != 2 || l.answered < 12 {
		t.Error(l.counts())
	}
}

// tryFetch calls what makes HTTP requests. go-sdk as we run it refuses the module.
func tryFetch(t *testing.T, h *wasmhost.Host, wasm []byte) {
	if _, err := h.CompileExtism(t.Context(), "plain", wasm, wasmhost.Limits{}); err == nil || !strings.Contains(err.Error(), "HTTP client") {
		t.Errorf("runtime extism: %v", err)
	}
	at, port := answering(t)
	l := newLane(t, h, wasm, nil, port, "fetch")
	for _, path := range []string{"/", "/empty", "/missing", "/echo?x=1"} {
		l.call(t, "fetch", at+path)
	}
	if l.answered != 4 {
		t.Error(l.counts())
	}
}

// envFunctions are Extism's functions as ABI section 2 has them.
func envFunctions() []string {
	return []string{
		"alloc", "free", "length", "length_unsafe", "load_u8", "load_u64", "store_u8", "store_u64", "input_length", "input_offset", "input_load_u8", "input_load_u64",
		"output_set", "error_set", "config_get", "var_get", "var_set", "log_trace", "log_debug", "log_info", "log_warn", "log_error", "get_log_level",
		"http_request", "http_status_code", "http_headers",
	}
}

// answering is an HTTP server whose answers are always the same. It gives its URL and port.
func answering(t *testing.T) (at string, port int) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Date"] = nil
		w.Header().Set("X-Answer", r.Header.Get("X-Asked"))
		switch r.URL.Path {
		case "/":
			_, _ = io.WriteString(w, "a body é")
		case "/echo":
			_, _ = io.WriteString(w, r.URL.RawQuery)
		case "/empty":
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, "not here")
		}
	}))
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	if port, err = strconv.Atoi(u.Port()); err != nil {
		t.Fatal(err)
	}
	return s.URL, port
}

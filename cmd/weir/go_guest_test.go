package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGoGuest builds the example of guest-sdk/go as its README says and calls it. A Go guest is large enough to be compiled
// in a process of its own, and the second call finds it in the cache.
func TestGoGuest(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a Go guest, which takes seconds")
	}
	dir := t.TempDir()
	module := filepath.Join(dir, "no-rm-rf.wasm")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-buildmode=c-shared", "-o", module, ".")
	build.Dir = "../../guest-sdk/go/example"
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("WEIR_CACHE_DIR", filepath.Join(dir, "cache"))
	for _, c := range []struct{ command, want string }{
		{"rm -rf /", `{"block":true,"reason":"rm -rf is not allowed"}`},
		{"ls", `{"block":false}`},
	} {
		cmd := exec.Command("weir", "ext", "call", module, "tool_call")
		cmd.Stdin = strings.NewReader(`{"toolName":"bash","input":{"command":"` + c.command + `"}}`)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", c.command, err)
		}
		if got := strings.TrimSpace(string(out)); got != c.want {
			t.Errorf("%s: %s, want %s", c.command, got, c.want)
		}
	}
}

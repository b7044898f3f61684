// Package cargo finds a Rust that can build guests, for tests.
package cargo

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Cargo is a cargo with its rustc.
type Cargo struct{ cargo, rustc string }

// Find looks for a cargo whose rustc has the standard library for wasm32-unknown-unknown: the one of the distribution first, then the
// one in PATH, which may lack it. Without one the test is skipped, and fails where guests are required.
func Find(t testing.TB) *Cargo {
	t.Helper()
	for _, dir := range append([]string{"/usr/bin"}, filepath.SplitList(os.Getenv("PATH"))...) {
		c := &Cargo{filepath.Join(dir, "cargo"), filepath.Join(dir, "rustc")}
		if c.works() {
			return c
		}
	}
	const missing = "building a Rust guest needs cargo, rustc and its wasm32-unknown-unknown (Debian: rustc cargo libstd-rust-dev-wasm32 lld)"
	if os.Getenv("WEIR_REQUIRE_GUESTS") == "1" {
		t.Fatal("WEIR_REQUIRE_GUESTS is set, but this machine cannot: " + missing)
	}
	t.Skip(missing)
	return nil
}

func (c *Cargo) works() bool {
	if _, err := os.Stat(c.cargo); err != nil {
		return false
	}
	out, err := exec.Command(c.rustc, "--print", "target-libdir", "--target", "wasm32-unknown-unknown").Output()
	if err != nil {
		return false
	}
	libs, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "libstd-*.rlib"))
	return err == nil && len(libs) > 0
}

// Env is what to add to the environment of a command that calls cargo.
func (c *Cargo) Env() []string {
	return []string{"RUSTC=" + c.rustc, "RUSTFLAGS=-Dwarnings", "PATH=" + filepath.Dir(c.cargo) + string(filepath.ListSeparator) + os.Getenv("PATH")}
}

// Run runs cargo in a folder, which must succeed, and returns what it said. It builds into target, and warnings are errors.
func (c *Cargo) Run(t testing.TB, dir, target string, args ...string) string {
	t.Helper()
	cmd := exec.Command(c.cargo, args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), c.Env()...), "CARGO_TARGET_DIR="+target)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("cargo %s in %s: %v\n%s", strings.Join(args, " "), dir, err, out)
	}
	return string(out)
}

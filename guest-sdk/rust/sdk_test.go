// Package rust tests the SDK for Rust: its own tests by cargo, and guests built with it on the host, against encoding/json and against
// the kit that every SDK passes.
package rust

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/guest-sdk/rust/cargo"
	"weir/guest-sdk/tck/tcktest"
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
	wasm, err := os.ReadFile(filepath.Join(target, "wasm32-unknown-unknown", "release", module)))
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

// TestTCK runs the kit that every SDK passes.
func TestTCK(t *testing.T) {
	tcktest.Run(t, map[string][]byte{"tck": build(t, "tck", "tck.wasm"), "tck-json": build(t, "tck/json", "tck_json.wasm")})
}

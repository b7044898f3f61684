package wasmhost_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestGuestsMatchSource rebuilds every .wasm that stands beside a .wat.
func TestGuestsMatchSource(t *testing.T) {
	tool, err := exec.LookPath("wat2wasm")
	if err != nil {
		if os.Getenv("WEIR_REQUIRE_GUESTS") == "1" {
			t.Fatal("wat2wasm (wabt 1.0.32) is needed: apt-get install wabt")
		}
		t.Skip("needs wat2wasm (wabt 1.0.32)")
	}
	sources := []string{"kernel.wat"}
	err = filepath.WalkDir("testdata", func(path string, _ os.DirEntry, err error) error {
		if filepath.Ext(path) == ".wat" {
			sources = append(sources, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, source := range sources {
		out := filepath.Join(dir, "out.wasm")
		if said, err := exec.CommandContext(t.Context(), tool, "--enable-tail-call", source, "-o", out).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", source, err, said)
			continue
		}
		want, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		have, err := os.ReadFile(source[:len(source)-len(".wat")] + ".wasm")
		if err != nil || !bytes.Equal(have, want) {
			t.Errorf("%s: the .wasm beside it is not what it builds (%v); run wat2wasm", source, err)
		}
	}
}

// TestBenchGuestsMatchSource rebuilds the benchmarks' guests with the committed Makefile.
func TestBenchGuestsMatchSource(t *testing.T) {
	for _, tool := range []string{"make", "clang", "wasm-ld"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("WEIR_REQUIRE_GUESTS") == "1" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "make", "-B", "-C", "testdata/bench", "OUT="+dir)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	for _, name := range []string{"policy.wasm", "policy_extism.wasm"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		have, err := os.ReadFile(filepath.Join("testdata", "bench", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(have, want) {
			if os.Getenv("WEIR_REQUIRE_GUESTS") != "1" { // another clang builds other bytes
				t.Skipf("%s is not what its source builds with this clang", name)
			}
			t.Errorf("%s is not what its source builds; run make in testdata/bench", name)
		}
	}
}

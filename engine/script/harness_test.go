package script_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"weir/engine/script"
	"weir/wasmhost"
)

// cacheDir keeps compiled engines for all tests of a run.
var cacheDir string

func TestMain(m *testing.M) {
	var err error
	if cacheDir, err = os.MkdirTemp("", "weir-script-"); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := os.RemoveAll(cacheDir); err != nil {
		panic(err)
	}
	os.Exit(code)
}

func load(t testing.TB, path string) *script.Script {
	t.Helper()
	s, err := script.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// write writes files, given as name and text in turn, and returns the path of the first.
func write(t testing.TB, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, files[0])
}

func host(t testing.TB) *wasmhost.Host {
	t.Helper()
	h, err := wasmhost.New(t.Context(), wasmhost.Config{CacheDir: cacheDir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return h
}

// module binds a script to its engine as the engine of sets does.
func module(t testing.TB, h *wasmhost.Host, s *script.Script) *wasmhost.Module {
	t.Helper()
	wasm, err := s.Engine()
	if err != nil {
		t.Fatal(err)
	}
	m, err := h.Compile(t.Context(), "policy", wasm, wasmhost.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return m.WithSource(s.Source())
}

func guest(t testing.TB, h *wasmhost.Host, s *script.Script, cfg wasmhost.GuestConfig) *wasmhost.Guest {
	t.Helper()
	cfg.Name = "policy"
	if cfg.Limits.Timeout == 0 {
		cfg.Limits.Timeout = time.Minute // what is no test of the deadline must not depend on how busy the machine is
	}
	g, err := module(t, h, s).NewGuest(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

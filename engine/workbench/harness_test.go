package workbench_test

import (
	"context"
	"os"
	"testing"

	"weir/engine/workbench"
	"weir/extensions"
	"weir/wasmhost"
)

// cacheDir keeps compiled modules for all tests of a run: the engine for scripts takes half a second, under the race detector much
// longer.
var cacheDir string

func TestMain(m *testing.M) {
	var err error
	if cacheDir, err = os.MkdirTemp("", "weir-workbench-"); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := os.RemoveAll(cacheDir); err != nil {
		panic(err)
	}
	os.Exit(code)
}

func newRunner(t testing.TB) *workbench.Runner {
	t.Helper()
	ctx := context.Background()
	host, err := wasmhost.New(ctx, wasmhost.Config{CacheDir: cacheDir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := host.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return &workbench.Runner{Host: host, Bundled: extensions.Bundled}
}

package filewatch_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir/internal/filewatch"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func watch(t *testing.T, paths ...string) *filewatch.Watcher {
	t.Helper()
	w, err := filewatch.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := w.Track(paths); err != nil {
		t.Fatal(err)
	}
	return w
}

// next is what changes, which must be noticed before long.
func next(t *testing.T, w *filewatch.Watcher, want ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	got, err := w.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
}

// nothing is for changes that do not count.
func nothing(t *testing.T, w *filewatch.Watcher) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond) // longer than a look
	defer cancel()
	if got, err := w.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "sub", "b")
	write(t, a, "1")
	w := watch(t, a, b)
	write(t, a, "two")
	next(t, w, a)
	// As editors do: a new file in the place of the old one.
	write(t, filepath.Join(dir, ".a.swp"), "three!")
	if err := os.Rename(filepath.Join(dir, ".a.swp"), a); err != nil {
		t.Fatal(err)
	}
	next(t, w, a)
	write(t, filepath.Join(dir, "other"), "x")
	nothing(t, w)
	// One that did not exist, and its folder neither.
	write(t, b, "x")
	next(t, w, b)
	if err := os.Remove(a); err != nil {
		t.Fatal(err)
	}
	next(t, w, a)
	// What changed before anybody waited.
	write(t, b, "other")
	time.Sleep(10 * time.Millisecond)
	next(t, w, b)
	// What is tracked later counts from then on; what no longer is, does not.
	if err := w.Track([]string{a}); err != nil {
		t.Fatal(err)
	}
	write(t, b, "something else")
	nothing(t, w)
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for _, name := range []string{"main.go", "sub/x.go", "out.wasm", "target/y", ".git/z"} {
		write(t, file(name), "1")
	}
	w := watch(t)
	w.Ignore = func(path string) bool { return filepath.Ext(path) == ".wasm" }
	if err := w.Track([]string{dir}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"out.wasm", "target/y", ".git/z", ".hidden"} {
		write(t, file(name), "other")
	}
	nothing(t, w)
	write(t, file("sub/x.go"), "other")
	write(t, file("main.go"), "other")
	next(t, w, file("main.go"), file("sub/x.go"))
	// A new folder is watched, and one that is gone, too.
	write(t, file("new/deep/f"), "1")
	next(t, w, file("new/deep/f"))
	write(t, file("new/deep/f"), "other")
	next(t, w, file("new/deep/f"))
	if err := os.RemoveAll(file("sub")); err != nil {
		t.Fatal(err)
	}
	next(t, w, file("sub/x.go"))
}

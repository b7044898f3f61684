package wasmhost_test

import (
	"context"
	"encoding/binary"
	"sync"
	"testing"

	"weir/wasmhost"
)

// variant is the test guest with a custom section of its own, and so with a digest of its own.
func variant(t *testing.T, n int) []byte {
	t.Helper()
	section := binary.LittleEndian.AppendUint32([]byte{1, 'v'}, uint32(n))
	return append(append(wasmFile(t, "wat/no_memory"), 0, byte(len(section))), section...)
}

// A module that all have released is freed, and comes back when it is compiled again; one that somebody holds keeps running.
func TestRelease(t *testing.T) {
	h := newHost(t, wasmhost.Config{})
	wasm := variant(t, 0)
	first, second := compile(t, h, wasm), compile(t, h, wasm)
	if first != second {
		t.Fatal("the same bytes were compiled twice")
	}
	if err := first.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if third := compile(t, h, wasm); third != second {
		t.Error("a module was freed while somebody held it")
	}
	for range 2 {
		if err := second.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if fourth := compile(t, h, wasm); fourth == second {
		t.Error("a module that all had released was kept")
	}
}

// Reloading for a day must not fill the memory.
func TestReleaseLeaksNothing(t *testing.T) {
	h := newHost(t, wasmhost.Config{})
	round := func(n int) {
		m := compile(t, h, variant(t, n))
		g, err := m.WithSource([]byte("x")).NewGuest(t.Context(), wasmhost.GuestConfig{Name: "x"})
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := m.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 50 {
		round(n)
	}
	before := measure(t)
	for n := range size(500, 20_000) {
		round(50 + n)
	}
	measure(t).wantNoGrowth(t, before)
}

// Compiling, using and releasing the same bytes from several places at once.
func TestReleaseIsRaceFree(t *testing.T) {
	h := newHost(t, wasmhost.Config{})
	wasm := variant(t, 1)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range size(50, 2000) {
				ctx := context.Background()
				m, err := h.Compile(ctx, "x", wasm, wasmhost.Limits{})
				if err != nil {
					t.Error(err)
					return
				}
				g, err := m.NewGuest(ctx, wasmhost.GuestConfig{Name: "x"})
				if err != nil {
					t.Error(err)
					return
				}
				if err := g.Close(ctx); err != nil {
					t.Error(err)
				}
				if err := m.Release(ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

package wasmhost_test

import (
	"context"
	"sync"
	"testing"

	"weir/wasmhost"
)

// variant is a module whose only function has a number of its own in its code: what the meter and wazero see differs as well.
func variant(n int) []byte {
	number := []byte{byte(n) | 0x80, byte(n>>7) | 0x80, byte(n>>14) | 0x80, byte(n>>21) | 0x80, 0} // LEB128 of a fixed length
	body := append(append([]byte{0, 0x41}, number...), 0x1a, 0x41, 0, 0x0b)                        // i32.const n, drop, i32.const 0, end
	wasm := []byte("\x00asm\x01\x00\x00\x00" +
		"\x01\x05\x01\x60\x00\x01\x7f" + // a type: () -> i32
		"\x03\x02\x01\x00" + // a function of it
		"\x07\x08\x01\x04call\x00\x00") // its export
	wasm = append(wasm, 10, byte(len(body)+2), 1, byte(len(body)))
	return append(wasm, body...)
}

// A module that all have released is freed, and comes back when it is compiled again; one that somebody holds keeps running.
func TestRelease(t *testing.T) {
	h := newHost(t, wasmhost.Config{})
	wasm := variant(0)
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
		m := compile(t, h, variant(n))
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
	rounds := size(500, 20_000)
	for n := range rounds {
		round(50 + n)
	}
	after := measure(t)
	after.wantNoGrowth(t, before)
	// A module of this size that is kept takes 3 KB of Go's heap.
	if after.heap > before.heap+uint64(rounds)<<10 {
		t.Errorf("the heap grew from %d to %d bytes in %d rounds", before.heap, after.heap, rounds)
	}
}

// Compiling, using and releasing the same bytes from several places at once.
func TestReleaseIsRaceFree(t *testing.T) {
	h := newHost(t, wasmhost.Config{})
	wasm := variant(1)
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

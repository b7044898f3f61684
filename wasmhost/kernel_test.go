package wasmhost_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/wasmhost"
)

// firstBlock is where the kernel's blocks begin: below it is its own bookkeeping.
const firstBlock = 1 << 20

func TestKernelBlocks(t *testing.T) {
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{})
	run := func(steps ...any) []int64 { t.Helper(); return words(t, p.do(t, steps...)) }

	got := run(op("alloc", 5), op("alloc", 8), op("alloc", 0), op("alloc", 1),
		op("length", firstBlock), op("length", firstBlock+8), op("length", firstBlock+16), op("length_unsafe", firstBlock),
		op("length", firstBlock+1), op("length", 0), op("length", 1), op("length", math.MaxUint64), op("length", 1<<32+firstBlock))
	want := []int64{firstBlock, firstBlock + 8, 0, firstBlock + 16, 5, 8, 1, 5, 0, 0, 0, 0, 0}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("alloc and length (-want +got):\n%s", d)
	}

	// Freed blocks are gone. Their space comes back when nothing live stands above it, and is used again when something does.
	got = run(op("alloc", 8), op("alloc", 8), op("alloc", 8),
		op("free", firstBlock+8), op("length", firstBlock+8), op("length", firstBlock), op("alloc", 8),
		op("free", firstBlock+24), op("free", firstBlock+16), op("alloc", 8),
		op("free", firstBlock+8), op("free", firstBlock+8), op("free", 12345), op("free", 0), op("free", math.MaxUint64), op("length", firstBlock))
	want = []int64{firstBlock, firstBlock + 8, firstBlock + 16, 0, 0, 8, firstBlock + 8, 0, 0, firstBlock + 16, 0, 0, 0, 0, 0, 8}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("free (-want +got):\n%s", d)
	}

	// A block that is used again has its new length, and no more room than it had.
	got = run(op("alloc", 21), op("alloc", 1), op("free", firstBlock), op("alloc", 25), op("alloc", 24), op("length", firstBlock), op("load_u8", firstBlock+23),
		op("free", firstBlock), op("alloc", 3), op("length", firstBlock), op("free", firstBlock), op("alloc", 24))
	want = []int64{firstBlock, firstBlock + 24, 0, firstBlock + 32, firstBlock, 24, 0, 0, firstBlock, 3, 0, firstBlock}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("use again (-want +got):\n%s", d)
	}

	// The search looks at no more than 32 blocks below the last.
	for above, want := range map[int]bool{32: true, 33: false} {
		steps := []any{op("alloc", 8)}
		for range above {
			steps = append(steps, op("alloc", 8))
		}
		found := run(append(steps, op("free", firstBlock), op("alloc", 8))...)
		if last := found[len(found)-1]; (last == firstBlock) != want {
			t.Errorf("a freed block below %d others was used again: %v", above, !want)
		}
	}

	got = run(op("alloc", 16), op("store_u64", firstBlock, 0x0102030405060708), op("load_u8", firstBlock), op("load_u8", firstBlock+7), op("load_u64", firstBlock),
		op("store_u8", firstBlock+15, 0xab), op("load_u64", firstBlock+8))
	want = []int64{firstBlock, 0, 8, 1, 0x0102030405060708, 0, -0x5500000000000000}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("load and store (-want +got):\n%s", d)
	}
}

// TestKernelResets: nothing is left of an earlier call, neither blocks nor bytes.
func TestKernelResets(t *testing.T) {
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{})
	const size = 3 << 20
	if got := words(t, p.do(t, op("alloc", size), op("store_u64", firstBlock, 0xdeadbeef), op("store_u64", firstBlock+size-8, 0xdeadbeef), op("output_set", firstBlock, 8), op("count", 0))); got[0] != firstBlock {
		t.Fatalf("got %v", got)
	}
	got := words(t, p.do(t, op("length", firstBlock), op("alloc", size), op("load_u64", firstBlock), op("load_u64", firstBlock+size-8)))
	if d := cmp.Diff([]int64{0, firstBlock, 0, 0}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	// Space that was freed before the call ended is cleared as well.
	p.do(t, op("alloc", 64), op("store_u64", firstBlock+56, 7), op("free", firstBlock))
	if got := words(t, p.do(t, op("alloc", 64), op("load_u64", firstBlock+56))); got[1] != 0 {
		t.Errorf("%d is left", got[1])
	}
}

// TestKernelResetIsFree: what a call costs does not depend on what the call before left to clear.
func TestKernelResetIsFree(t *testing.T) {
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Limits: wasmhost.Limits{Fuel: 30_000}})
	fuel := func(n uint64) uint64 {
		t.Helper()
		_, stats, err := p.try(t, op("alloc", n))
		if err != nil {
			t.Fatal(err)
		}
		return stats.Fuel
	}
	first := fuel(8)
	if fuel(1 << 20); fuel(8) != first { // clearing a mebibyte costs 131,072 units
		t.Errorf("a call used %d units, after a large one %d", first, fuel(8))
	}
}

func TestKernelFaults(t *testing.T) {
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Limits: wasmhost.Limits{Quarantine: 1000}})
	// Offsets that are no byte of a block: the bookkeeping, both ends, and numbers that wrap.
	outside := []uint64{0, 1, 69, firstBlock - 1, firstBlock - 8, firstBlock + 16, firstBlock + 17, 1 << 31, 1<<32 + firstBlock, 1 << 40, math.MaxInt64, math.MaxUint64, math.MaxUint64 - 7, 1<<64 - 1<<20}
	for _, o := range outside {
		for _, s := range []step{op("load_u8", o), op("load_u64", o), op("store_u8", o, 1), op("store_u64", o, 1)} {
			_, _, err := p.try(t, op("alloc", 16), s)
			wantFault(t, err, wasmhost.KindHost)
		}
		for _, s := range []step{op("output_set", o, 4), op("log_info", o), op("config_get", o), op("var_get", o), op("error_set", o), op("http_request", o, 0), op("var_set", o, firstBlock)} {
			if o == 0 && s.op != "output_set" { // 0 is Extism's empty text
				continue
			}
			if _, _, err := p.try(t, op("alloc", 16), s); err == nil {
				t.Fatalf("%s(%#x) was served", s.op, o)
			}
		}
	}
	for _, c := range [][2]uint64{{firstBlock + 9, 8}, {firstBlock + 15, 2}, {firstBlock + 12, 8}} {
		_, _, err := p.try(t, op("alloc", 16), op("load_u64", c[0]))
		wantFault(t, err, wasmhost.KindHost)
	}
	for _, c := range []struct{ offset, n uint64 }{
		{firstBlock, 17},
		{firstBlock + 8, 9},
		{firstBlock + 33, 1},
		{firstBlock, math.MaxUint64},
		{firstBlock, 1<<32 + 8},
		{firstBlock, 1 << 63},
		{math.MaxUint64 - 7, 16},
	} {
		_, _, err := p.try(t, op("alloc", 16), op("alloc", 16), op("output_set", c.offset, c.n))
		wantFault(t, err, wasmhost.KindHost)
	}
	_, _, err := p.try(t, op("alloc", 16), op("alloc", 16), op("free", firstBlock), op("output_set", firstBlock, 4))
	wantFault(t, err, wasmhost.KindHost)
	_, _, err = p.try(t, op("alloc", 16), op("output_set", firstBlock+16, 0)) // an empty output may be anywhere
	if err != nil {
		t.Error(err)
	}
}

// TestKernelOutputAfterFree: the bytes that count are those in the kernel's memory when the call ends, of this call alone.
func TestKernelOutputAfterFree(t *testing.T) {
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{})
	out := p.do(t, block("kernel"), op("output_set", 0, 6).plus(), op("free", 0).plus(), op("return", 0))
	if string(out) != "kernel" {
		t.Errorf("got %q", out)
	}
	out = p.do(t, block("kernel"), op("output_set", 0, 6).plus(), op("free", 0).plus(), block("KER"), op("return", 0))
	if string(out) != "KERnel" {
		t.Errorf("got %q", out)
	}
}

func TestKernelInput(t *testing.T) {
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{})
	steps := []any{
		op("alloc", 8), op("input_length"), op("input_offset"), op("length", firstBlock+8), op("input_load_u8", 48), op("input_load_u64", 48),
		op("input_load_u8", 100_000), op("input_load_u64", 100_000), op("input_load_u8", math.MaxUint64), op("input_load_u64", math.MaxUint64-63),
	}
	script := p.script(t, steps...)
	n := int64(len(script))
	got := words(t, p.do(t, steps...))
	want := []int64{firstBlock, n, firstBlock + 8, n, int64(script[48]), int64(p.ops["input_length"]), 0, 0, 0, 0}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	// The last bytes: eight that fit, then fewer than eight.
	got = words(t, p.do(t, op("input_load_u64", 48*3-8), op("input_load_u64", 48*3-7), op("input_load_u8", 48*3-1)))
	if got[0] != 0 || got[1] != 0 || got[2] != 0 {
		t.Errorf("got %v", got)
	}
	// The guest may free the input; the host does not mind.
	got = words(t, p.do(t, op("input_offset"), op("save"), op("free").plus(), op("length").plus(), op("alloc", 8), op("input_load_u8", 0), op("input_offset")))
	if got[2] != 0 || got[3] != firstBlock {
		t.Errorf("got %v", got)
	}
	// An input larger than the memory is a fault of the guest that loads it, and of no other.
	p = newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Limits: wasmhost.Limits{Memory: 1 << 20}})
	big := wasmhost.Input{Bytes: append(p.script(t, op("input_length")), make([]byte, 2<<20)...)}
	_, err := p.Call(t.Context(), "call", big, func([]byte) error { return nil })
	wantFault(t, err, wasmhost.KindMemory)
	p.do(t, op("count", 1))
}

func TestKernelTooManyBlocks(t *testing.T) {
	wasm := wasmFile(t, "wat/blocks")
	m := compile(t, newHost(t, wasmhost.Config{}), wasm)
	g, err := m.NewGuest(t.Context(), wasmhost.GuestConfig{Name: "blocks", Entries: []string{"all", "one_more"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Call(t.Context(), "all", wasmhost.Input{}, func([]byte) error { return nil }); err != nil {
		t.Fatalf("131072 blocks: %v", err)
	}
	_, err = g.Call(t.Context(), "one_more", wasmhost.Input{}, func([]byte) error { return nil })
	if f := faultOf(t, err, wasmhost.KindMemory); f.Err.Error() != "more than 131072 blocks" {
		t.Errorf("got %v", f)
	}
}

func TestConfigGet(t *testing.T) {
	config := `{"name":"a\"b","n":1.50,"list":[1, 2],"on":true,"none":null,"empty":"","weir.config":"shadowed"}`
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Config: json.RawMessage(config)})
	for key, want := range map[string]string{"name": `a"b`, "n": "1.50", "list": "[1, 2]", "on": "true", "none": "null", "weir.config": config, "empty": "", "HOME": "", "": ""} {
		if want == "" {
			out := words(t, p.do(t, block(key), op("config_get").plus()))
			if out[len(out)-1] != 0 {
				t.Errorf("%q gave a block", key)
			}
			continue
		}
		out := p.do(t, block(key), op("config_get").plus(), op("save"), op("output_set", 0, uint64(len(want))).plus(), op("return", 0))
		if string(out) != want {
			t.Errorf("config_get(%q) = %q, want %q", key, out, want)
		}
	}
	m := compile(t, newHost(t, wasmhost.Config{}), wasmFile(t, "wat/probe"))
	for _, bad := range []string{"[]", "null", "1", "{", `{"a":1} x`} {
		_, err := m.NewGuest(t.Context(), wasmhost.GuestConfig{Name: "x", Config: json.RawMessage(bad), Capabilities: grants()})
		wantFault(t, err, wasmhost.KindLoad)
	}
}

func TestVariables(t *testing.T) {
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{})
	// The value stands 8 bytes above the key: both are short.
	set := func(key, value string) []any {
		return []any{block(key), op("alloc", uint64(len(value))), valueAt(8, value), op("var_set", 0, 8).plus().plus2()}
	}
	get := func(key, want string) {
		t.Helper()
		out := p.do(t, block(key), op("var_get").plus(), op("save"), op("output_set", 0, uint64(len(want))).plus(), op("return", 0))
		if string(out) != want {
			t.Errorf("var_get(%q) = %q, want %q", key, out, want)
		}
	}
	p.do(t, set("k", "v1")...)
	get("k", "v1")
	p.do(t, set("k", "value2")...)
	get("k", "value2")
	// They outlive the instance.
	_, _, err := p.try(t, op("trap"))
	wantFault(t, err, wasmhost.KindTrap)
	get("k", "value2")
	p.do(t, block("k"), op("var_set", 0, 0).plus())
	if out := words(t, p.do(t, block("k"), op("var_get").plus())); out[len(out)-1] != 0 {
		t.Error("a deleted variable is still there")
	}
	p.do(t, block("k"), op("var_set", 0, 0).plus()) // again
	// The limit of 1 MiB is for all, keys and what an entry costs included; replacing and deleting give space back.
	big := func(key string, n uint64) []any {
		return []any{block(key), op("alloc", n), op("var_set", 0, 8).plus().plus2()}
	}
	for range 3 {
		p.do(t, big("a", 900<<10)...)
	}
	_, _, err = p.try(t, big("b", 200<<10)...)
	if f := faultOf(t, err, wasmhost.KindMemory); !strings.Contains(f.Err.Error(), "more than the limit of 1048576") {
		t.Errorf("got %v", f)
	}
	_, _, err = p.try(t, big("a", 2<<20)...)
	wantFault(t, err, wasmhost.KindMemory)
	p.do(t, block("a"), op("var_set", 0, 0).plus())
	p.do(t, big("b", 1<<20-64-1)...)
	_, _, err = p.try(t, set("c", "1")...)
	wantFault(t, err, wasmhost.KindMemory)
}

// valueAt writes text into a block that lies skip bytes above the saved one.
func valueAt(skip uint64, text string) []step {
	var steps []step
	for i := range len(text) {
		steps = append(steps, op("store_u8", skip+uint64(i), uint64(text[i])).plus())
	}
	return steps
}

func TestExtismHTTP(t *testing.T) {
	var requests []string
	caps := grants()
	answer := `{"status":201,"headers":{"x-a":"b"},"body":"aGVsbG8="}`
	caps["http"] = wasmhost.Capability{Handle: func(_ context.Context, r []byte) ([]byte, error) {
		requests = append(requests, string(r))
		return []byte(answer), nil
	}}
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Capabilities: caps})
	out := p.do(t, op("http_status_code"), op("http_headers"), block(`{"url":"https://a.example/","headers":{"A":"b"}}`), op("http_request", 0, 0).plus(), op("save"), op("http_status_code"),
		op("output_set", 0, 5).plus(), op("return", 0))
	if string(out) != "hello" {
		t.Errorf("got %q", out)
	}
	out = p.do(t, block(`{"url":"https://a.example/","method":"PUT"}`), op("alloc", 4), op("store_u8", 48, 'x').plus(), op("http_request", 0, 48).plus().plus2(), op("http_status_code"), op("http_headers"), op("save"),
		op("output_set", 0, 11).plus(), op("return", 0))
	if string(out) != `{"x-a":"b"}` {
		t.Errorf("headers: %q", out)
	}
	want := []string{`{"op":"request","url":"https://a.example/","headers":{"A":"b"}}`, `{"op":"request","url":"https://a.example/","method":"PUT","body":"eAAAAA=="}`}
	if d := cmp.Diff(want, requests); d != "" {
		t.Errorf("requests (-want +got):\n%s", d)
	}
	answer = `{"status":204,"headers":{},"body":null}`
	got := words(t, p.do(t, block(`{"url":"https://a.example/"}`), op("http_request", 0, 0).plus(), op("http_status_code")))
	if d := cmp.Diff([]int64{0, 204}, got[len(got)-2:]); d != "" {
		t.Errorf("an empty body (-want +got):\n%s", d)
	}
	for _, bad := range []string{`nonsense`, `{"url":5}`} {
		_, _, err := p.try(t, block(bad), op("http_request", 0, 0).plus())
		wantFault(t, err, wasmhost.KindHost)
	}
	// Extism knows no failed request: a refusal is a fault.
	caps["http"] = grants()["http"]
	_, _, err := p.try(t, block(`{"url":"https://a.example/"}`), op("http_request", 0, 0).plus())
	if f := faultOf(t, err, wasmhost.KindHost); f.Err.Error() != "http_request: nothing here" {
		t.Errorf("got %v", f)
	}
}

// TestKernelCopiesLargeInput: pieces are joined again.
func TestKernelCopiesLargeInput(t *testing.T) {
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{})
	head := p.script(t, op("input_offset"), op("save"), op("output_set", 0, 3<<20).plus(), op("return", 0))
	in := append(head, bytes.Repeat([]byte("0123456789abcdef"), 3<<16)...)[:3<<20]
	var got []byte
	_, err := p.Call(t.Context(), "call", wasmhost.Input{Bytes: in}, func(b []byte) error { got = bytes.Clone(b); return nil })
	if err != nil || !bytes.Equal(got, in) {
		t.Errorf("%v; equal: %v", err, bytes.Equal(got, in))
	}
}

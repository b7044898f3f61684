package wasmhost_test

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir/wasmhost"
)

// write makes one fd_write with an iovec a part. It uses memory from 4096 on.
func write(fd uint64, parts ...string) []step {
	const list, text, result = 4096, 8192, 4000
	var steps []step
	at := uint64(text)
	for i, p := range parts {
		steps = append(steps, poke(at, p)...)
		steps = append(steps, pokeU32(list+uint64(i)*8, uint32(at)), pokeU32(list+uint64(i)*8+4, uint32(len(p))))
		at += uint64(len(p))
	}
	return append(steps, op("fd_write", fd, list, uint64(len(parts)), result))
}

const (
	errBadFD = 8
	errInval = 28
)

func TestWASIStreams(t *testing.T) {
	var l logged
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Logger: l.logger()})
	out := p.do(t, write(1, "one\ntw", "o\n"), emit(4000, 4), write(2, "warning"), write(0, "x"), write(3, "x"), write(0xffffffff, "x"))
	if w := binary.LittleEndian.Uint64(out); w != 0 {
		t.Errorf("fd_write: %d", w)
	}
	if n := binary.LittleEndian.Uint32(out[8:]); n != 8 {
		t.Errorf("fd_write wrote %d bytes, want 8", n)
	}
	if d := cmp.Diff([]int64{0, errBadFD, errBadFD, errBadFD}, words(t, out[12:])); d != "" {
		t.Errorf("other descriptors (-want +got):\n%s", d)
	}
	want := "level=INFO msg=one export=call\nlevel=INFO msg=two export=call\nlevel=WARN msg=warning export=call\n"
	if d := cmp.Diff(want, l.take()); d != "" {
		t.Errorf("log (-want +got):\n%s", d)
	}
	got := words(t, p.do(t, op("fd_write", 1, 0, 1025, 4000), op("fd_write", 1, 0, 0, 4000), pokeU32(4000, 99), pokeU32(4096, 64), pokeU32(4100, 10), op("fd_read", 0, 4096, 1, 4000),
		op("fd_read", 1, 4096, 1, 4000), op("fd_close", 0), op("fd_close", 1), op("fd_close", 2), op("fd_close", 3), op("fd_fdstat_set_flags", 1, 4), op("fd_fdstat_set_flags", 9, 4),
		op("fd_prestat_get", 3, 64), op("fd_seek", 1, 0, 0, 64)))
	if d := cmp.Diff([]int64{errInval, 0, 0, errBadFD, 0, 0, 0, errBadFD, 0, errBadFD, errBadFD, errBadFD}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if out := p.do(t, pokeU32(4000, 99), op("fd_read", 0, 4096, 1, 4000), emit(4000, 4)); binary.LittleEndian.Uint32(out[8:]) != 0 {
		t.Error("stdin is not empty")
	}
	// stdout still works after it was closed: the guest cannot close what is the host's.
	p.do(t, op("fd_close", 1), write(1, "still here"))
	if got := l.take(); got != "level=INFO msg=\"still here\" export=call\n" {
		t.Errorf("got %q", got)
	}
}

func TestWASIFacts(t *testing.T) {
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{})
	junk := op("fill", 64, 0xee, 64)
	zero8 := make([]byte, 8)
	for _, name := range []string{"args_sizes_get", "environ_sizes_get"} {
		if out := p.do(t, junk, op(name, 64, 68), emit(64, 8)); !bytes.Equal(out, append(zero8, zero8...)) {
			t.Errorf("%s: %x", name, out)
		}
	}
	if got := words(t, p.do(t, op("args_get", 64, 64), op("environ_get", 64, 64), op("sched_yield"), op("fd_fdstat_get", 3, 64), op("fd_filestat_get", 7, 64))); cmp.Diff([]int64{0, 0, 0, errBadFD, errBadFD}, got) != "" {
		t.Errorf("got %v", got)
	}
	for fd := range uint64(3) {
		stat := append([]byte{2, 0, 0, 0, 0, 0, 0, 0, 0x42}, make([]byte, 15)...)
		if out := p.do(t, junk, op("fd_fdstat_get", fd, 64), emit(64, 24)); !bytes.Equal(out[8:], stat) {
			t.Errorf("fd_fdstat_get(%d): %x", fd, out)
		}
		file := make([]byte, 64)
		file[16] = 2
		if out := p.do(t, junk, op("fd_filestat_get", fd, 64), emit(64, 64)); !bytes.Equal(out[8:], file) {
			t.Errorf("fd_filestat_get(%d): %x", fd, out)
		}
	}
}

// frozen is what the clock of a guest without the clock grant starts from.
var frozen = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// sleep makes a subscription to a clock at 1024 and polls it; the events land at 2048, their number at 3000.
func sleep(d time.Duration) []step {
	return append(subscription(1024, 7, d, false), op("poll_oneoff", 1024, 2048, 1, 3000))
}

func subscription(at, user uint64, d time.Duration, absolute bool) []step {
	flags := uint64(0)
	if absolute {
		flags = 1
	}
	return []step{pokeU64(at, user), pokeU64(at+8, 0), pokeU64(at+16, 1), pokeU64(at+24, uint64(d)), pokeU64(at+32, 0), pokeU64(at+40, flags)}
}

func clockAt(at uint64) []any { return []any{op("clock_time_get", 0, 1, at), emit(at, 8)} }

func TestFrozenClock(t *testing.T) {
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{})
	read := func(steps ...any) time.Time {
		t.Helper()
		out := p.do(t, append(steps, clockAt(64)...)...)
		return time.Unix(0, int64(binary.LittleEndian.Uint64(out[len(out)-8:]))).UTC()
	}
	if now := read(); !now.Equal(frozen) {
		t.Errorf("the clock starts at %v", now)
	}
	start := time.Now()
	if now := read(sleep(time.Hour)); !now.Equal(frozen.Add(time.Hour)) {
		t.Errorf("after an hour of sleep it is %v", now)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("virtual sleep took %v", took)
	}
	if now := read(); !now.Equal(frozen.Add(time.Hour)) {
		t.Errorf("in the next call it is %v", now)
	}
	// An absolute time in the past ends at once; the clock never goes back nor overflows.
	if now := read(subscription(1024, 7, time.Second, true), op("poll_oneoff", 1024, 2048, 1, 3000)); !now.Equal(frozen.Add(time.Hour)) {
		t.Errorf("after a time in the past it is %v", now)
	}
	before := read()
	for range 5 {
		now := read(sleep(1<<63 - 1))
		if now.Before(before) {
			t.Fatalf("the clock went back from %v to %v", before, now)
		}
		before = now
	}
	_, _, err := p.try(t, op("trap"))
	wantFault(t, err, wasmhost.KindTrap)
	if now := read(); !now.Equal(frozen) {
		t.Errorf("a new instance starts at %v", now)
	}
	if out := p.do(t, op("clock_res_get", 0, 64), emit(64, 8)); binary.LittleEndian.Uint64(out[8:]) != 1 {
		t.Errorf("resolution: %x", out)
	}
}

func TestPoll(t *testing.T) {
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{})
	// Two timers and a descriptor: the descriptor is ready, with an error, and nobody waits.
	out := p.do(t, subscription(1024, 1, time.Second, false), pokeU64(1072, 2), pokeU64(1080, 1), pokeU64(1088, 0), op("poll_oneoff", 1024, 2048, 2, 3000), emit(3000, 4), emit(2048, 32))
	if n := binary.LittleEndian.Uint32(out[8:]); n != 1 {
		t.Fatalf("%d events, want 1", n)
	}
	event := out[12:]
	if user, code, kind := binary.LittleEndian.Uint64(event), binary.LittleEndian.Uint16(event[8:]), event[10]; user != 2 || code != errBadFD || kind != 1 {
		t.Errorf("event: user %d, error %d, type %d", user, code, kind)
	}
	// Of several timers those that are due are reported.
	out = p.do(t, subscription(1024, 1, 2*time.Second, false), subscription(1072, 2, time.Second, false), subscription(1120, 3, time.Second, false), op("poll_oneoff", 1024, 2048, 3, 3000), emit(3000, 4), emit(2048, 64))
	if n := binary.LittleEndian.Uint32(out[8:]); n != 2 || out[12] != 2 || out[12+32] != 3 {
		t.Errorf("%d events: %x", n, out[12:])
	}
	got := words(t, p.do(t, op("poll_oneoff", 1024, 2048, 0, 3000), op("poll_oneoff", 1024, 2048, 1025, 3000), op("poll_oneoff", 1024, 2048, 0xffffffff, 3000)))
	if d := cmp.Diff([]int64{errInval, errInval, errInval}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestRealClock(t *testing.T) {
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{RealClock: true, Limits: wasmhost.Limits{Timeout: 100 * time.Millisecond, Quarantine: 10}})
	before := time.Now()
	out := p.do(t, append([]any{sleep(20 * time.Millisecond)}, clockAt(64)...)...)
	now := time.Unix(0, int64(binary.LittleEndian.Uint64(out[len(out)-8:])))
	if d := now.Sub(before); d < 20*time.Millisecond || d > 10*time.Second {
		t.Errorf("the clock moved %v over a sleep of 20ms", d)
	}
	start := time.Now()
	_, _, err := p.try(t, sleep(time.Hour))
	wantFault(t, err, wasmhost.KindDeadline)
	if took := time.Since(start); took < 90*time.Millisecond || took > 1100*time.Millisecond {
		t.Errorf("an hour of sleep ended after %v", took)
	}
}

func TestRandom(t *testing.T) {
	h := newHost(t, wasmhost.Config{})
	draw := func(p *probe) []byte {
		t.Helper()
		return p.do(t, op("random_get", 64, 32), emit(64, 32))[8:]
	}
	p := probeOn(t, h, wasmhost.GuestConfig{})
	first, second := draw(p), draw(p)
	if bytes.Equal(first, second) {
		t.Error("the same numbers twice in one instance")
	}
	if other := draw(probeOn(t, h, wasmhost.GuestConfig{})); !bytes.Equal(first, other) {
		t.Error("two instances start with different numbers")
	}
	_, _, err := p.try(t, op("trap"))
	wantFault(t, err, wasmhost.KindTrap)
	if again := draw(p); !bytes.Equal(first, again) {
		t.Error("a new instance starts with different numbers")
	}
	real := probeOn(t, h, wasmhost.GuestConfig{RealRandom: true})
	if a, b := draw(real), draw(probeOn(t, h, wasmhost.GuestConfig{RealRandom: true})); bytes.Equal(a, first) || bytes.Equal(a, b) {
		t.Error("real randomness repeats")
	}
}

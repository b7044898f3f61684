package wasmhost_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir/wasmhost"
	"weir/wasmhost/meter"
)

func ignore([]byte) error { return nil }

// TestDeterminism runs the same calls on several hosts, with both engines: outputs and fuel must be the same.
func TestDeterminism(t *testing.T) {
	type trace struct {
		Outputs [][]byte
		Fuel    []uint64
		Faults  []string
	}
	run := func(cfg wasmhost.Config) trace {
		p := newProbe(t, cfg, wasmhost.GuestConfig{Limits: wasmhost.Limits{Quarantine: 100, Fuel: 3_000_000, Timeout: time.Minute}})
		var tr trace
		for _, script := range [][]any{
			{op("count", 3), op("random_get", 64, 500), emit(64, 500)},
			append([]any{sleep(time.Minute), op("deep", 500)}, clockAt(64)...),
			{block("text"), op("output_set", 0, 4).plus(), op("return", 0)},
			{op("alloc", 1<<20), op("grow", 4), op("fill", 0, 1, 300_000)},
			{op("trap")},
			{op("count", 1), op("random_get", 64, 8), emit(64, 8)},
			{op("spin")}, // ends by fuel
			{op("count", 1)},
			{op("grow", 10_000)},
			{op("input_length"), op("input_load_u64", 8)},
		} {
			out, stats, err := p.try(t, script...)
			tr.Outputs = append(tr.Outputs, out)
			tr.Fuel = append(tr.Fuel, stats.Fuel)
			tr.Faults = append(tr.Faults, fmt.Sprint(err))
		}
		return tr
	}
	first := run(wasmhost.Config{})
	for i, cfg := range []wasmhost.Config{{}, {Interpreter: true}} {
		if d := cmp.Diff(first, run(cfg)); d != "" {
			t.Errorf("run %d differs (-first +this):\n%s", i+2, d)
		}
	}
	// The numbers themselves are part of the promise: another process, another machine and a later build give them too.
	want := []uint64{first.Fuel[0], first.Fuel[0]}
	if out, stats, err := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{}).try(t, op("count", 3), op("random_get", 64, 500), emit(64, 500)); err != nil || stats.Fuel != want[0] || !bytes.Equal(out, first.Outputs[0]) {
		t.Errorf("with other limits the first call uses %d units, was %d (%v)", stats.Fuel, want[0], err)
	}
}

// TestDeterminismAcrossProcesses compares this process with a second one.
func TestDeterminismAcrossProcesses(t *testing.T) {
	const marker = "WEIR_TEST_PRINT_CALL"
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{})
	out, stats, err := p.try(t, op("random_get", 64, 16), emit(64, 16), op("deep", 100), block("x"))
	if err != nil {
		t.Fatal(err)
	}
	line := fmt.Sprintf("call: %x fuel %d\n", out, stats.Fuel)
	if os.Getenv(marker) != "" {
		fmt.Print(line)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	second, err := runSelf(t, self, marker)
	if err != nil {
		t.Fatalf("%v\n%s", err, second)
	}
	if !strings.Contains(second, line) {
		t.Errorf("the other process printed\n%s\nthis one\n%s", second, line)
	}
}

// TestArrivalOrder: calls that wait are served in the order in which they came.
func TestArrivalOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{})
		inside, leave := make(chan struct{}), make(chan struct{})
		var done sync.WaitGroup
		done.Go(func() {
			_, _, err := p.tryWith(t, wasmhost.Input{Messages: 1, Message: func(int) []byte { close(inside); <-leave; return nil }}, op("weir_message_read", 0, 0, 0, 0))
			if err != nil {
				t.Error(err)
			}
		})
		<-inside
		const n = 20
		var order []int // guarded by the guest: calls run one at a time
		for i := range n {
			done.Go(func() {
				_, err := p.Call(t.Context(), "call", wasmhost.Input{}, func([]byte) error { order = append(order, i); return nil })
				if err != nil {
					t.Error(err)
				}
			})
			synctest.Wait() // it has taken its place before the next one comes
		}
		close(leave)
		done.Wait()
		for i, v := range order {
			if i != v {
				t.Fatalf("served in the order %v", order)
			}
		}
		if len(order) != n {
			t.Fatalf("%d of %d served", len(order), n)
		}
	})
}

func TestWaitEndsWithContext(t *testing.T) {
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Limits: wasmhost.Limits{Timeout: time.Minute, Quarantine: 1}})
	inside, leave := make(chan struct{}), make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		_, _, err := p.tryWith(t, wasmhost.Input{Messages: 1, Message: func(int) []byte { close(inside); <-leave; return nil }}, op("weir_message_read", 0, 0, 0, 0))
		if err != nil {
			t.Error(err)
		}
	})
	<-inside
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := p.Call(ctx, "call", wasmhost.Input{}, ignore)
	if wantFault(t, err, wasmhost.KindDeadline); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	close(leave)
	done.Wait()
	p.do(t, op("count", 1)) // the wait was no fault of the guest's
}

func TestReentrancy(t *testing.T) {
	h := newHost(t, wasmhost.Config{})
	other := probeOn(t, h, wasmhost.GuestConfig{Name: "other"})
	var p *probe
	var direct, through, update, closing error
	caps := grants()
	caps["kv"] = wasmhost.Capability{Handle: func(ctx context.Context, _ []byte) ([]byte, error) {
		_, direct = p.Call(ctx, "call", wasmhost.Input{}, ignore)
		closing = p.Close(ctx)
		// By way of another guest's host call it is the same.
		_, err := other.Call(ctx, "call", wasmhost.Input{
			Bytes: other.script(t, op("weir_tool_update", 0, 0)),
			Update: func(ctx context.Context, _ []byte) {
				_, through = p.Call(ctx, "call", wasmhost.Input{}, ignore)
			},
		}, ignore)
		return nil, err
	}}
	p = probeOn(t, h, wasmhost.GuestConfig{Capabilities: caps, Limits: wasmhost.Limits{Quarantine: 1}})
	_, _, err := p.tryWith(t, wasmhost.Input{Update: func(ctx context.Context, _ []byte) {
		_, update = p.Call(ctx, "call", wasmhost.Input{}, ignore)
	}}, op("weir_kv", 0, 0), op("weir_tool_update", 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{"call": direct, "call through another guest": through, "call from an update": update, "close": closing} {
		if wantFault(t, err, wasmhost.KindHost); !errors.Is(err, wasmhost.ErrReentrant) {
			t.Errorf("%s: %v", what, err)
		}
	}
	p.do(t, op("count", 1))
}

// TestCapabilityTime: a capability's time counts and is cut off, unless a person is waited for.
func TestCapabilityTime(t *testing.T) {
	caps := grants()
	block := func(ctx context.Context, _ []byte) ([]byte, error) { <-ctx.Done(); return nil, ctx.Err() }
	caps["http"] = wasmhost.Capability{Handle: block}
	caps["ui"] = wasmhost.Capability{Handle: func(ctx context.Context, _ []byte) ([]byte, error) {
		return []byte("yes"), wasmhost.WaitForPerson(ctx, func(ctx context.Context) error {
			if _, ok := ctx.Deadline(); ok {
				return errors.New("it has a deadline")
			}
			<-time.After(60 * time.Millisecond) // a person who takes longer than the guest has
			return ctx.Err()
		})
	}}
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Capabilities: caps, Limits: wasmhost.Limits{Timeout: 30 * time.Millisecond}})
	start := time.Now()
	_, _, err := p.try(t, op("weir_http", 0, 0))
	wantFault(t, err, wasmhost.KindDeadline)
	if took := time.Since(start); took > time.Second {
		t.Errorf("a blocked host call was cut off after %v", took)
	}
	out, _, err := p.try(t, op("weir_ui", 0, 0), op("deep", 10))
	if err != nil || words(t, out)[0] != 3 {
		t.Errorf("waiting for a person counted: %v %v", out, err)
	}
}

func TestClose(t *testing.T) {
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Limits: wasmhost.Limits{Timeout: time.Minute, Fuel: 1 << 45}})
	inside, leave := make(chan struct{}), make(chan struct{})
	result := make(chan error)
	input := wasmhost.Input{Messages: 1, Message: func(int) []byte { close(inside); <-leave; return nil }, Bytes: p.script(t, op("weir_message_read", 0, 0, 0, 0))}
	go func() {
		_, err := p.Call(t.Context(), "call", input, ignore)
		result <- err
	}()
	<-inside
	closed := make(chan error)
	go func() { closed <- p.Close(t.Context()) }()
	close(leave)
	if err := <-result; err != nil {
		t.Errorf("the call under way: %v", err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if _, err := p.Call(t.Context(), "call", wasmhost.Input{}, ignore); !errors.Is(err, wasmhost.ErrClosed) {
		t.Errorf("a call after Close: %v", err)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

// TestCloseCutsOff: a Close that cannot wait ends the call, whether the guest runs or waits in a host call.
func TestCloseCutsOff(t *testing.T) {
	for _, what := range []string{"spin", "weir_ui", "poll_oneoff"} {
		t.Run(what, func(t *testing.T) {
			inside := make(chan struct{})
			caps := grants()
			caps["ui"] = wasmhost.Capability{Handle: func(ctx context.Context, _ []byte) ([]byte, error) {
				return nil, wasmhost.WaitForPerson(ctx, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
			}}
			p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{RealClock: true, Capabilities: caps, Limits: wasmhost.Limits{Timeout: time.Minute, Fuel: 1 << 45}})
			last := []step{op(what)}
			if what == "poll_oneoff" {
				last = sleep(time.Hour)
			}
			input := wasmhost.Input{Messages: 1, Message: func(int) []byte { close(inside); return nil }, Bytes: p.script(t, op("weir_message_read", 0, 0, 0, 0), last)}
			result := make(chan error)
			go func() {
				_, err := p.Call(t.Context(), "call", input, ignore)
				result <- err
			}()
			<-inside
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			go func() { _ = p.Close(ctx) }() // its own error is checked when the test ends
			err := <-result
			if wantFault(t, err, wasmhost.KindHost); !errors.Is(err, wasmhost.ErrClosed) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestHostCloseJoins: closing a host while guests run neither crashes nor leaves anything.
func TestHostCloseJoins(t *testing.T) {
	h, err := wasmhost.New(t.Context(), wasmhost.Config{})
	if err != nil {
		t.Fatal(err)
	}
	m := compile(t, h, wasmFile(t, "wat/probe"))
	var done sync.WaitGroup
	for range 4 {
		p := probeOn(t, h, wasmhost.GuestConfig{Limits: wasmhost.Limits{Timeout: time.Minute, Fuel: 1 << 45}})
		script := p.script(t, op("fill", 0, 1, 1000), op("spin"))
		running := make(chan struct{})
		done.Go(func() {
			close(running)
			_, err := p.Call(t.Context(), "call", wasmhost.Input{Bytes: script}, ignore)
			if !errors.Is(err, wasmhost.ErrClosed) {
				t.Errorf("a call of a closed host: %v", err)
			}
		})
		<-running
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := h.Close(ctx); err != nil {
		t.Error(err)
	}
	done.Wait()
	if err := h.Close(t.Context()); err != nil {
		t.Errorf("a second Close: %v", err)
	}
	if _, err := h.Compile(t.Context(), "late", wasmFile(t, "wat/probe"), wasmhost.Limits{}); !errors.Is(err, wasmhost.ErrClosed) {
		t.Errorf("Compile on a closed host: %v", err)
	}
	if _, err := m.NewGuest(t.Context(), wasmhost.GuestConfig{Name: "late", Capabilities: grants()}); !errors.Is(err, wasmhost.ErrClosed) {
		t.Errorf("NewGuest on a closed host: %v", err)
	}
}

func TestLoadFaults(t *testing.T) {
	h := newHost(t, wasmhost.Config{})
	var l logged
	for _, c := range []struct {
		file string
		kind wasmhost.Kind
		text string
	}{
		{"start_fails", wasmhost.KindTrap, "x: load: trap: unreachable"},
		{"initialize_type", wasmhost.KindLoad, `x: load: load: export "_initialize" has parameters or results; its type is () -> ()`},
		{"command", wasmhost.KindLoad, "WASI command"},
	} {
		_, err := compile(t, h, wasmFile(t, "wat/"+c.file)).NewGuest(t.Context(), wasmhost.GuestConfig{Name: "x", Entries: []string{"call"}, Logger: l.logger()})
		if f := faultOf(t, err, c.kind); !strings.Contains(f.Error(), c.text) {
			t.Errorf("%s: %v", c.file, f)
		}
	}
	if got := l.take(); got != "level=ERROR msg=\"last words\" export=load\n" {
		t.Errorf("what a guest logs before it fails to start: %q", got)
	}
	m := compile(t, h, wasmFile(t, "wat/probe"))
	for _, c := range []struct {
		cfg  wasmhost.GuestConfig
		text string
	}{
		{wasmhost.GuestConfig{Name: "x", Capabilities: map[string]wasmhost.Capability{"http": {}, "kv": {}, "ui": {}, "session": {}}}, `the module uses the capability "file", which is not granted; to grant it, add to its [extension.grant]: read = ["./docs"]`},
		{wasmhost.GuestConfig{Name: "x", Capabilities: grants(), Entries: []string{"nothing"}}, `no export "nothing"`},
		{wasmhost.GuestConfig{Name: "x", Capabilities: grants(), Entries: []string{"memory"}}, `export "memory" is a memory; an entry point is a function of type () -> i32`},
		{wasmhost.GuestConfig{Name: "x", Capabilities: grants(), Limits: wasmhost.Limits{Depth: 1 << 20}}, "limit depth: the module was compiled with 8388608, not 1048576"},
		{wasmhost.GuestConfig{Name: "x", Capabilities: grants(), Limits: wasmhost.Limits{Table: 5}}, "limit table: the module was compiled with 100000, not 5"},
		{wasmhost.GuestConfig{Name: "x", Capabilities: grants(), Limits: wasmhost.Limits{Timeout: -1}}, "limit timeout: -1ns is not between"},
	} {
		_, err := m.NewGuest(t.Context(), c.cfg)
		if f := faultOf(t, err, wasmhost.KindLoad); !strings.Contains(f.Error(), c.text) {
			t.Errorf("got %v\nwant %s", f, c.text)
		}
	}
	_, err := m.NewGuest(t.Context(), wasmhost.GuestConfig{Name: "x", Capabilities: grants(), Limits: wasmhost.Limits{Memory: 64 << 10}})
	if f := faultOf(t, err, wasmhost.KindMemory); f.Export != "load" {
		t.Errorf("got %v", f)
	}
}

func TestGuestWithoutMemory(t *testing.T) {
	h := newHost(t, wasmhost.Config{})
	g, err := compile(t, h, wasmFile(t, "wat/no_memory")).NewGuest(t.Context(), wasmhost.GuestConfig{Name: "x", Entries: []string{"call"}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = g.Call(t.Context(), "call", wasmhost.Input{}, ignore)
	if f := faultOf(t, err, wasmhost.KindHost); f.Err.Error() != "a pointer from a module without memory" {
		t.Errorf("got %v", f)
	}
}

// TestExportedImport: an entry point may be a function of ours, which wazero calls without a net.
func TestExportedImport(t *testing.T) {
	g, err := compile(t, newHost(t, wasmhost.Config{}), wasmFile(t, "wat/exports_import")).NewGuest(t.Context(), wasmhost.GuestConfig{Name: "x", Entries: []string{"call"}})
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	if _, err = g.Call(t.Context(), "call", wasmhost.Input{}, func(b []byte) error { out = b; return nil }); err != nil || len(out) > 0 {
		t.Errorf("%q %v", out, err)
	}
}

func TestDescribe(t *testing.T) {
	dir := t.TempDir()
	for range 2 { // the second host reads it from the cache
		m := compile(t, newHost(t, wasmhost.Config{CacheDir: dir}), wasmFile(t, "wat/describes"))
		for range 2 {
			out, err := m.Describe(t.Context(), "x")
			if err != nil || string(out) != `{"code":2}` { // -2: not granted
				t.Errorf("%q %v", out, err)
			}
		}
	}
	m := compile(t, newHost(t, wasmhost.Config{}), wasmFile(t, "wat/probe"))
	_, err := m.Describe(t.Context(), "x")
	wantFault(t, err, wasmhost.KindLoad)
}

// cacheFiles lists the files of a module cache with their sizes and times.
func cacheFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files[path] = fmt.Sprint(info.Size(), info.ModTime().UnixNano())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestModuleCache(t *testing.T) {
	if interpreted() {
		t.Skip("the interpreter has no machine code to keep")
	}
	dir := filepath.Join(t.TempDir(), "cache")
	compiled := 0
	cfg := wasmhost.Config{CacheDir: dir, Precompile: func(context.Context, []byte, wasmhost.Limits) error { compiled++; return nil }}
	use := func() {
		t.Helper()
		p := newProbe(t, cfg, wasmhost.GuestConfig{})
		p.do(t, op("count", 1))
		if err := p.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	use()
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the cache folder: %v %v", info.Mode(), err)
	}
	first := cacheFiles(t, dir)
	if compiled != 1 || len(first) < 2 {
		t.Fatalf("compiled %d times; files %v", compiled, first)
	}
	metered := filepath.Join(dir, fmt.Sprintf("%x-m%s-t100000-d8388608.wasm", sha256.Sum256(wasmFile(t, "wat/probe")), meter.Version))
	if first[metered] == "" {
		t.Errorf("the metered form is not kept under the meter's version: %v", slices.Sorted(maps.Keys(first)))
	}
	use()
	if d := cmp.Diff(first, cacheFiles(t, dir)); d != "" || compiled != 1 {
		t.Errorf("the second host compiled again (%d) (-first +second):\n%s", compiled, d)
	}
	for path := range first {
		for name, damage := range map[string]func([]byte) []byte{
			"cut":     func(b []byte) []byte { return b[:len(b)/2] },
			"empty":   func([]byte) []byte { return nil },
			"flipped": func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		} {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, damage(bytes.Clone(b)), 0o600); err != nil {
				t.Fatal(err)
			}
			use()
			use() // emptying wazero's part takes good files along: the next host brings them back
			after, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(after, b) {
				t.Errorf("%s, %s: it was not made anew (%v)", filepath.Base(path), name, err)
			}
		}
	}
	// Limits that the meter writes into the module are part of the key.
	before := len(cacheFiles(t, dir))
	h := newHost(t, cfg)
	if _, err := h.Compile(t.Context(), "x", wasmFile(t, "wat/probe"), wasmhost.Limits{Depth: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	if after := len(cacheFiles(t, dir)); after <= before {
		t.Errorf("%d files before, %d after another depth", before, after)
	}
}

func TestPrecompileRefuses(t *testing.T) {
	bad := errors.New("it ran wild")
	h := newHost(t, wasmhost.Config{CacheDir: t.TempDir(), Precompile: func(context.Context, []byte, wasmhost.Limits) error { return bad }})
	_, err := h.Compile(t.Context(), "x", wasmFile(t, "wat/probe"), wasmhost.Limits{})
	if wantFault(t, err, wasmhost.KindLoad); !errors.Is(err, bad) {
		t.Errorf("got %v", err)
	}
}

// TestCompileOnce: many callers, one compilation; who gives up does not spoil it for the others.
func TestCompileOnce(t *testing.T) {
	var mu sync.Mutex
	compiled := 0
	started := make(chan struct{})
	h := newHost(t, wasmhost.Config{CacheDir: t.TempDir(), Precompile: func(ctx context.Context, _ []byte, _ wasmhost.Limits) error {
		mu.Lock()
		compiled++
		first := compiled == 1
		mu.Unlock()
		if first {
			close(started)
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	}})
	wasm := wasmFile(t, "wat/probe")
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		if _, err := h.Compile(ctx, "gives up", wasm, wasmhost.Limits{}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	<-started
	modules := make([]*wasmhost.Module, 8)
	for i := range modules {
		done.Go(func() {
			var err error
			if modules[i], err = h.Compile(t.Context(), "stays", wasm, wasmhost.Limits{}); err != nil {
				t.Error(err)
			}
		})
	}
	cancel()
	done.Wait()
	if compiled != 2 {
		t.Errorf("compiled %d times, want 2", compiled)
	}
	for _, m := range modules {
		if m != modules[0] {
			t.Error("two modules of the same bytes")
		}
	}
}

func TestCompileFile(t *testing.T) {
	h := newHost(t, wasmhost.Config{})
	m, err := h.CompileFile(t.Context(), "x", "testdata/wat/probe.wasm", wasmhost.Limits{})
	if err != nil || m.Size() != len(wasmFile(t, "wat/probe")) || len(m.Digest()) != 64 {
		t.Errorf("%v", err)
	}
	for path, text := range map[string]string{"testdata/none.wasm": "no such file", "testdata": "is not a file", "testdata/wat/probe.wat": "not a WebAssembly module"} {
		_, err := h.CompileFile(t.Context(), "x", path, wasmhost.Limits{})
		if f := faultOf(t, err, wasmhost.KindLoad); !strings.Contains(f.Error(), text) {
			t.Logf("%s: %v", path, f)
		}
	}
	_, err = h.CompileFile(t.Context(), "x", "testdata/wat/probe.wasm", wasmhost.Limits{Module: 100})
	if f := faultOf(t, err, wasmhost.KindLoad); !strings.Contains(f.Error(), "more than the limit of 100") {
		t.Errorf("got %v", f)
	}
}

// TestConcurrentGuests makes, calls, faults and closes guests from many goroutines at once.
func TestConcurrentGuests(t *testing.T) {
	h := newHost(t, wasmhost.Config{})
	m := compile(t, h, wasmFile(t, "wat/probe"))
	p := probeOn(t, h, wasmhost.GuestConfig{})
	good, bad := p.script(t, op("count", 1), block("x")), p.script(t, op("trap"))
	var done sync.WaitGroup
	for range 16 {
		done.Go(func() {
			for range 20 {
				g, err := m.NewGuest(t.Context(), wasmhost.GuestConfig{Name: "x", Entries: []string{"call"}, Capabilities: grants(), Limits: wasmhost.Limits{Timeout: time.Minute}})
				if err != nil {
					t.Error(err)
					return
				}
				for _, b := range [][]byte{good, bad, good} {
					if _, err := g.Call(t.Context(), "call", wasmhost.Input{Bytes: b}, ignore); (err != nil) != (&b[0] == &bad[0]) {
						t.Error(err)
					}
				}
				if err := g.Close(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done.Wait()
}

func TestSpare(t *testing.T) {
	var l logged
	g, err := compile(t, newHost(t, wasmhost.Config{}), wasmFile(t, "wat/slow")).NewGuest(t.Context(), wasmhost.GuestConfig{Name: "x", Entries: []string{"call"}, Logger: l.logger(), Limits: wasmhost.Limits{Quarantine: 3}})
	if err != nil {
		t.Fatal(err)
	}
	call := func(input string) (uint32, wasmhost.Stats, error) {
		var n uint32
		stats, err := g.Call(t.Context(), "call", wasmhost.Input{Bytes: []byte(input)}, func(b []byte) error { n = binary.LittleEndian.Uint32(b); return nil })
		return n, stats, err
	}
	for range 3 {
		_, _, err := call("trap")
		wantFault(t, err, wasmhost.KindTrap)
		if n, stats, err := call(""); n != 1 || !stats.Fresh || err != nil {
			t.Errorf("after a fault: %d, fresh %v, %v", n, stats.Fresh, err)
		}
		if n, stats, err := call(""); n != 2 || stats.Fresh || err != nil {
			t.Errorf("then: %d, fresh %v, %v", n, stats.Fresh, err)
		}
	}
	if starts := strings.Count(l.take(), "msg=started"); starts != 4 {
		t.Errorf("%d instances were made, want 4", starts)
	}
	// One that is not used is closed with the guest.
	_, _, err = call("trap")
	wantFault(t, err, wasmhost.KindTrap)
	if err := g.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestNoAllocations: the host allocates nothing in a call, by either ABI.
func TestNoAllocations(t *testing.T) {
	if underRace {
		t.Skip("the race detector allocates")
	}
	if interpreted() {
		t.Skip("the interpreter allocates")
	}
	for _, file := range []string{"bench/policy", "bench/policy_extism"} {
		g, err := compile(t, newHost(t, wasmhost.Config{}), wasmFile(t, file)).NewGuest(t.Context(), wasmhost.GuestConfig{Name: "policy", Entries: []string{"tool_call"}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, event := t.Context(), []byte(benchEvent)
		if n := testing.AllocsPerRun(200, func() {
			if err := callTool(ctx, g, event); err != nil {
				t.Error(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations a call", file, n)
		}
	}
}

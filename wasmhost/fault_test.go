package wasmhost_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"weir/wasmhost"
)

// engines runs a test with wazero's compiler and with its interpreter.
func engines(t *testing.T, run func(t *testing.T, cfg wasmhost.Config)) {
	t.Run("compiler", func(t *testing.T) { run(t, wasmhost.Config{}) })
	t.Run("interpreter", func(t *testing.T) { run(t, wasmhost.Config{Interpreter: true}) })
}

func TestFaultKinds(t *testing.T) {
	limits := wasmhost.Limits{Timeout: 50 * time.Millisecond, Memory: 4 << 20, Depth: 64 << 10, Quarantine: 1000}
	for _, c := range []struct {
		name   string
		limits func(*wasmhost.Limits)
		script []any
		kind   wasmhost.Kind
		text   string
	}{
		{"trap", nil, []any{op("trap")}, wasmhost.KindTrap, "unreachable"},
		{"trap behind a text", nil, []any{poke(64, "no rules"), op("weir_error", 64, 8), op("trap")}, wasmhost.KindTrap, "no rules (unreachable)"},
		{"trap out of bounds", nil, []any{step{op: "store", a: 0xffffffff, e: 8}}, wasmhost.KindTrap, "out of bounds memory access"},
		{"deadline", nil, []any{op("spin")}, wasmhost.KindDeadline, "50ms exceeded"},
		{"fuel", func(l *wasmhost.Limits) { l.Fuel = 100_000; l.Timeout = 10 * time.Second }, []any{op("spin")}, wasmhost.KindFuel, "100000 units used up"},
		{"memory", nil, []any{op("grow", 100)}, wasmhost.KindMemory, "asked for 7077888 bytes of memory, more than the limit of 4194304"},
		{"memory in the kernel", nil, []any{op("alloc", 5<<20)}, wasmhost.KindMemory, "more than the limit of 4194304"},
		{"memory in the kernel, absurd", nil, []any{op("alloc", 1<<40)}, wasmhost.KindMemory, "limit of 4194304"},
		{"memory together", nil, []any{op("alloc", 2<<20), op("grow", 40)}, wasmhost.KindMemory, "more than the limit of 4194304"},
		{"depth", nil /* the interpreter has a limit of its own before ours */, []any{op("deep", 1_000_000)}, wasmhost.KindDepth, "stack"},
		{"exit 0", nil, []any{op("proc_exit", 0)}, wasmhost.KindExit, "proc_exit(0)"},
		{"exit like wazero's cancellation", nil, []any{op("proc_exit", 0xffffffff)}, wasmhost.KindExit, "proc_exit(4294967295)"},
		{"exit like wazero's deadline", nil, []any{op("proc_exit", 0xefffffff)}, wasmhost.KindExit, "proc_exit(4026531839)"},
		{"raise", nil, []any{op("proc_raise", 6)}, wasmhost.KindExit, "proc_raise(6)"},
		{"error by result", nil, []any{op("return", 7)}, wasmhost.KindError, "returned 7"},
		{"error by a result that is 0 in its low byte", nil, []any{op("return", 256)}, wasmhost.KindError, "returned 256"},
		{"error by weir_error", nil, []any{poke(64, "no rules"), op("weir_error", 64, 8)}, wasmhost.KindError, "no rules"},
		{"error by error_set", nil, []any{block("no rules"), op("error_set").plus()}, wasmhost.KindError, "no rules"},
		{"error without a text", nil, []any{op("weir_error", 0, 0)}, wasmhost.KindError, "an error without a text"},
		{"error that is wiped", nil, []any{block("no rules"), op("error_set").plus(), op("error_set", 0)}, wasmhost.KindError, "no rules"},
		{"error before its result", nil, []any{poke(64, "why"), op("weir_error", 64, 3), op("return", 9)}, wasmhost.KindError, "why"},
		{"output", func(l *wasmhost.Limits) { l.Output = 100 }, []any{op("weir_output_write", 0, 101)}, wasmhost.KindOutput, "101 bytes of output, more than the limit of 100"},
		{"output in the kernel", func(l *wasmhost.Limits) { l.Output = 100 }, []any{op("alloc", 101), op("save"), op("output_set", 0, 101).plus(), op("return", 0)}, wasmhost.KindOutput, "101 bytes of output, more than the limit of 100"},
		{"host", nil, []any{op("weir_log", 1, 0xfffffff0, 32)}, wasmhost.KindHost, "pointer 0xfffffff0 with length 32 is outside the guest's 524288 bytes of memory"},
		{"host calls", func(l *wasmhost.Limits) { l.HostCalls = 5 }, []any{op("sched_yield"), op("sched_yield"), op("sched_yield"), op("sched_yield")}, wasmhost.KindHost, "more than 5 host calls"},
	} {
		t.Run(c.name, func(t *testing.T) {
			engines(t, func(t *testing.T, cfg wasmhost.Config) {
				l := limits
				if c.limits != nil {
					c.limits(&l)
				}
				p := newProbe(t, cfg, wasmhost.GuestConfig{Limits: l})
				p.do(t, op("count", 5))
				start := time.Now()
				_, stats, err := p.try(t, c.script...)
				f := faultOf(t, err, c.kind)
				if took := time.Since(start); took > l.Timeout+time.Second {
					t.Errorf("it took %v", took)
				}
				if f.Extension != "probe" || f.Export != "call" || !strings.Contains(f.Err.Error(), c.text) {
					t.Errorf("got %v, want probe: call: … %s", f, c.text)
				}
				if stats.Duration <= 0 || stats.Fuel == 0 || stats.Fresh {
					t.Errorf("stats of the failed call: %+v", stats)
				}
				if got := errors.Is(err, context.DeadlineExceeded); got != (c.kind == wasmhost.KindDeadline) {
					t.Errorf("errors.Is(err, DeadlineExceeded) = %v", got)
				}
				if errors.Is(err, context.Canceled) {
					t.Error("it is not a cancellation")
				}
				out, stats, err := p.try(t, op("count", 1))
				if err != nil {
					t.Fatalf("the call after the fault: %v", err)
				}
				if n := words(t, out)[0]; n != 1 || !stats.Fresh {
					t.Errorf("the call after the fault counts %d, fresh %v; want the state of a new instance", n, stats.Fresh)
				}
				if _, stats, _ = p.try(t, op("count", 1)); stats.Fresh {
					t.Error("the call after that was given a new instance again")
				}
			})
		})
	}
}

func TestDecodeErrorIsOutputFault(t *testing.T) {
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{})
	bad := errors.New("not a decision")
	_, err := p.Call(t.Context(), "call", wasmhost.Input{}, func([]byte) error { return bad })
	if wantFault(t, err, wasmhost.KindOutput); !errors.Is(err, bad) {
		t.Errorf("%v does not wrap the decoder's error", err)
	}
}

func TestCancellation(t *testing.T) {
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Limits: wasmhost.Limits{Timeout: 10 * time.Second, Fuel: 1 << 40, Quarantine: 1}})
	input := wasmhost.Input{Bytes: p.script(t, op("spin"))}
	why := errors.New("the user pressed a key")
	for _, cause := range []error{nil, why} {
		ctx, cancel := context.WithCancelCause(t.Context())
		running := make(chan struct{})
		input.Message, input.Messages = func(int) []byte { close(running); return nil }, 1
		input.Bytes = p.script(t, op("weir_message_read", 0, 0, 0, 8), op("spin"))
		go func() {
			<-running
			cancel(cause)
		}()
		_, err := p.Call(ctx, "call", input, func([]byte) error { return nil })
		wantFault(t, err, wasmhost.KindDeadline)
		if !errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v must be a cancellation and nothing else", err)
		}
		if cause != nil && !errors.Is(err, cause) {
			t.Errorf("%v does not say why", err)
		}
	}
	// Neither was the guest's fault, so that it is not quarantined after one.
	p.do(t, op("count", 1))

	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := p.Call(ctx, "call", wasmhost.Input{Bytes: p.script(t, op("spin"))}, func([]byte) error { return nil })
	if wantFault(t, err, wasmhost.KindDeadline); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v is not a deadline", err)
	}
	p.do(t, op("count", 1))

	done, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = p.Call(done, "call", wasmhost.Input{}, func([]byte) error { return nil })
	if wantFault(t, err, wasmhost.KindDeadline); !errors.Is(err, context.Canceled) {
		t.Errorf("%v is not a cancellation", err)
	}
}

// A trap that follows the cancellation is reported as the cancellation.
func TestCancellationWinsOverTrap(t *testing.T) {
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	input := wasmhost.Input{Bytes: p.script(t, op("weir_message_read", 0, 0, 0, 8), op("trap")), Messages: 1, Message: func(int) []byte { cancel(); return nil }}
	_, err := p.Call(ctx, "call", input, func([]byte) error { return nil })
	if wantFault(t, err, wasmhost.KindDeadline); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestQuarantine(t *testing.T) {
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Limits: wasmhost.Limits{Quarantine: 3, Timeout: 20 * time.Millisecond}})
	trap := func() error { _, _, err := p.try(t, op("trap")); return err }
	// A success in between starts the count anew.
	for range 2 {
		wantFault(t, trap(), wasmhost.KindTrap)
		wantFault(t, trap(), wasmhost.KindTrap)
		p.do(t, op("count", 1))
	}
	wantFault(t, trap(), wasmhost.KindTrap)
	wantFault(t, trap(), wasmhost.KindTrap)
	if _, _, err := p.try(t, op("spin")); errors.Is(err, wasmhost.ErrQuarantined) {
		t.Fatal("quarantined after two faults")
	}
	_, _, err := p.try(t, op("count", 1))
	f := faultOf(t, err, wasmhost.KindHost)
	if !errors.Is(err, wasmhost.ErrQuarantined) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want a quarantine and not a deadline", err)
	}
	if want := "quarantined after 3 faults in a row, the last one: probe: call: deadline: 20ms exceeded"; f.Err.Error() != want {
		t.Errorf("got  %v\nwant %s", f.Err, want)
	}
}

func TestUnknownEntry(t *testing.T) {
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Entries: []string{"call"}, Limits: wasmhost.Limits{Quarantine: 1}})
	for range 2 {
		_, err := p.Call(t.Context(), "other", wasmhost.Input{}, func([]byte) error { return nil })
		wantFault(t, err, wasmhost.KindHost)
	}
	p.do(t, op("count", 1))
}

// TestPanicInDecode: an instance that a call did not come back from is not used again.
func TestPanicInDecode(t *testing.T) {
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{})
	p.do(t, op("count", 5))
	func() {
		defer func() {
			if r := recover(); r != "decode" {
				t.Errorf("recovered %v", r)
			}
		}()
		_, err := p.Call(t.Context(), "call", wasmhost.Input{}, func([]byte) error { panic("decode") })
		t.Errorf("it returned %v", err)
	}()
	out, stats, err := p.try(t, op("count", 1))
	if err != nil || !stats.Fresh || words(t, out)[0] != 1 {
		t.Errorf("the next call: %v, fresh %v, %v", out, stats.Fresh, err)
	}
}

package wasmhost_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/wasmhost"
)

// memoryEnd is where the probe's memory ends.
const memoryEnd = 8 * 64 << 10

// edges are ranges around the end of the guest's memory and of the number space.
func edges() []struct {
	ptr, n uint64
	ok     bool
} {
	return []struct {
		ptr, n uint64
		ok     bool
	}{
		{0, 0, true},
		{memoryEnd, 0, true},
		{memoryEnd - 1, 1, true},
		{memoryEnd - 16, 16, true},
		{memoryEnd, 1, false},
		{memoryEnd - 15, 16, false},
		{memoryEnd + 1, 0, false},
		{0xffffffff, 1, false},
		{0xffffffff, 0, false},
		{0xfffffff0, 0x20, false}, // wraps to 0x10
		{0, 0xffffffff, false},
		{8, 0xfffffff8, false}, // wraps to 0
	}
}

// TestPointerRanges gives every function that takes a guest pointer good and bad ranges.
func TestPointerRanges(t *testing.T) {
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Limits: wasmhost.Limits{Quarantine: 10_000}})
	input := wasmhost.Input{Message: func(int) []byte { return make([]byte, 64) }, Messages: 1, Update: func(context.Context, []byte) {}}
	calls := map[string]func(ptr, n uint64) step{
		"weir_output_write": func(ptr, n uint64) step { return op("weir_output_write", ptr, n) },
		"weir_log":          func(ptr, n uint64) step { return op("weir_log", 1, ptr, n) },
		"weir_tool_update":  func(ptr, n uint64) step { return op("weir_tool_update", ptr, n) },
		"weir_kv":           func(ptr, n uint64) step { return op("weir_kv", ptr, n) },
		"weir_http":         func(ptr, n uint64) step { return op("weir_http", ptr, n) },
		"weir_file":         func(ptr, n uint64) step { return op("weir_file", ptr, n) },
		"weir_ui":           func(ptr, n uint64) step { return op("weir_ui", ptr, n) },
		"weir_session":      func(ptr, n uint64) step { return op("weir_session", ptr, n) },
		"random_get":        func(ptr, n uint64) step { return op("random_get", ptr, n) },
		// These do not look at the pointer when there is nothing to copy: n = 0 asks for the length.
		"weir_input_read":   func(ptr, n uint64) step { return op("weir_input_read", ptr, 0, n) },
		"weir_config_read":  func(ptr, n uint64) step { return op("weir_config_read", ptr, 0, n) },
		"weir_message_read": func(ptr, n uint64) step { return op("weir_message_read", 0, ptr, 0, n) },
		"weir_response_read": func(ptr, n uint64) step {
			return op("weir_response_read", ptr, 0, n)
		},
	}
	for name, call := range calls {
		for _, e := range edges() {
			_, _, err := p.tryWith(t, input, call(e.ptr, e.n))
			if e.ok || e.n == 0 && strings.HasSuffix(name, "_read") {
				if err != nil {
					t.Errorf("%s(%#x, %#x): %v", name, e.ptr, e.n, err)
				}
				continue
			}
			if err == nil {
				t.Errorf("%s(%#x, %#x) was served", name, e.ptr, e.n)
				continue
			}
			wantFault(t, err, wasmhost.KindHost)
		}
	}
	// weir_error with a good range is an error, so that it is looked at alone.
	for _, e := range edges() {
		_, _, err := p.try(t, op("weir_error", e.ptr, e.n))
		want := wasmhost.KindHost
		if e.ok {
			want = wasmhost.KindError
		}
		wantFault(t, err, want)
	}
}

func TestReadFunctions(t *testing.T) {
	config := `{"protect":["/","~"]}`
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Config: json.RawMessage(config)})
	messages := []string{`{"role":"user"}`, ``, `{"role":"assistant","text":"` + strings.Repeat("x", 3<<20) + `"}`}
	input := wasmhost.Input{Messages: len(messages), Message: func(i int) []byte { return []byte(messages[i]) }}
	read := func(steps ...any) []byte {
		t.Helper()
		out, _, err := p.tryWith(t, input, steps...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	const at = 1024
	for _, c := range []struct {
		offset, n uint64
		want      string
	}{
		{0, 100, config},
		{0, 5, config[:5]},
		{3, 4, config[3:7]},
		{uint64(len(config)), 10, ""},
		{uint64(len(config)) - 1, 10, "}"},
		{0xffffffff, 10, ""},
		{0x80000000, 10, ""},
	} {
		out := read(op("weir_config_read", at, c.offset, c.n), emit(at, uint64(len(c.want))))
		if n := binary.LittleEndian.Uint64(out); n != uint64(len(c.want)) || string(out[8:]) != c.want {
			t.Errorf("weir_config_read(offset %d, len %d) = %d %q, want %q", c.offset, c.n, n, out[8:], c.want)
		}
	}
	out := words(t, read(op("weir_config_read", 0, 7, 0), op("weir_input_read", 0xffffffff, 0, 0),
		op("weir_message_read", 0, 0, 0, 0), op("weir_message_read", 1, 0, 0, 0), op("weir_message_read", 2, 0, 0, 0), op("weir_message_read", 2, at, 1<<20, 8), op("weir_message_read", 1, at, 0, 8)))
	want := []int64{int64(len(config)), 8*48 - 48, int64(len(messages[0])), 0, int64(len(messages[2])), 8, 0}
	if d := cmp.Diff(want, out); d != "" {
		t.Errorf("lengths (-want +got):\n%s", d)
	}
	if out := read(op("weir_message_read", 0, at, 1, 6), emit(at, 6)); string(out[8:]) != `"role"` {
		t.Errorf("message 0 from 1: %q", out[8:])
	}
	for _, index := range []uint64{3, 0x7fffffff, 0x80000000, 0xffffffff} {
		_, _, err := p.tryWith(t, input, op("weir_message_read", index, at, 0, 4))
		wantFault(t, err, wasmhost.KindHost)
		p.do(t, op("count", 1)) // so that it is not quarantined
	}
	_, _, err := p.try(t, op("weir_message_read", 0, 0, 0, 0)) // not in context
	if f := faultOf(t, err, wasmhost.KindHost); f.Err.Error() != "weir_message_read: message 0 of 0" {
		t.Errorf("got %v", f)
	}
}

func TestOutput(t *testing.T) {
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{})
	const at = 64
	call := func(steps ...any) string { t.Helper(); return string(p.do(t, steps...)) }
	if got := call(op("return", 0)); got != "" {
		t.Errorf("no output: %q", got)
	}
	if got := call(poke(at, "old"), op("weir_output_write", at, 3), poke(at, "new"), op("return", 0)); got != "old" {
		t.Errorf("weir_output_write copies at once: %q", got)
	}
	if got := call(poke(at, "abc"), op("weir_output_write", at, 3), op("weir_output_write", at, 1), op("return", 0)); got != "a" {
		t.Errorf("the last write counts: %q", got)
	}
	if got := call(poke(at, "direct"), block("kernel"), op("weir_output_write", at, 6), op("output_set", 0, 6).plus(), op("return", 0)); got != "kernel" {
		t.Errorf("output_set after weir_output_write: %q", got)
	}
	if got := call(poke(at, "direct"), block("kernel"), op("output_set", 0, 6).plus(), op("weir_output_write", at, 6), op("return", 0)); got != "direct" {
		t.Errorf("weir_output_write after output_set: %q", got)
	}
	if got := call(poke(at, "direct"), op("weir_output_write", at, 6), op("output_set", 0, 0), op("return", 0)); got != "" {
		t.Errorf("an empty output_set after weir_output_write: %q", got)
	}
	if got := call(block("kernel"), op("output_set", 0, 6).plus(), op("weir_output_write", 0, 0), op("return", 0)); got != "" {
		t.Errorf("an empty weir_output_write after output_set: %q", got)
	}
	if got := call(block("kernel"), op("output_set", 2, 3).plus(), op("return", 0)); got != "rne" {
		t.Errorf("part of a block: %q", got)
	}
	if got := call(op("return", 0)); got != "" {
		t.Errorf("the output of the call before is still there: %q", got)
	}
}

func TestToolUpdate(t *testing.T) {
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{})
	var got []string
	input := wasmhost.Input{Update: func(_ context.Context, b []byte) { got = append(got, string(b)) }}
	_, _, err := p.tryWith(t, input, poke(64, "12"), op("weir_tool_update", 64, 1), op("weir_tool_update", 64, 2), op("weir_tool_update", 64, 0))
	if d := cmp.Diff([]string{"1", "12", ""}, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	_, _, err = p.try(t, op("weir_tool_update", 64, 1))
	if f := faultOf(t, err, wasmhost.KindHost); f.Err.Error() != "weir_tool_update: not in a tool's execution" {
		t.Errorf("got %v", f)
	}
}

// logged collects what a guest logs.
type logged struct{ bytes.Buffer }

func (l *logged) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(&l.Buffer, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}

func (l *logged) take() string {
	s := l.String()
	l.Reset()
	return s
}

func TestLog(t *testing.T) {
	var l logged
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Logger: l.logger()})
	var steps []any
	for level := range uint64(5) {
		steps = append(steps, poke(64, fmt.Sprintf("w%d", level)), op("weir_log", level, 64, 2))
	}
	for _, f := range []string{"log_trace", "log_debug", "log_info", "log_warn", "log_error"} {
		steps = append(steps, block(f[4:]), op(f).plus())
	}
	steps = append(steps, op("log_info", 0), op("get_log_level"), poke(64, "\xff\x1b"), op("weir_log", 1, 64, 2))
	p.do(t, steps...)
	want := `level=DEBUG msg=w0 export=call
level=INFO msg=w1 export=call
level=WARN msg=w2 export=call
level=ERROR msg=w3 export=call
level=ERROR msg=w4 export=call
level=DEBUG msg=debug export=call
level=INFO msg=info export=call
level=WARN msg=warn export=call
level=ERROR msg=error export=call
level=INFO msg="" export=call
level=INFO msg="�\x1b" export=call
`
	if d := cmp.Diff(want, l.take()); d != "" {
		t.Errorf("log (-want +got):\n%s", d)
	}
	// What a call logged before it failed is kept.
	_, _, err := p.try(t, poke(64, "last words"), op("weir_log", 2, 64, 10), op("trap"))
	wantFault(t, err, wasmhost.KindTrap)
	if got := l.take(); got != "level=WARN msg=\"last words\" export=call\n" {
		t.Errorf("got %q", got)
	}
}

func TestLogLimits(t *testing.T) {
	var l logged
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Logger: l.logger(), Limits: wasmhost.Limits{LogLines: 3, LogBytes: 20}})
	for _, c := range []struct {
		name  string
		steps []any
		want  []string
		lost  int
	}{
		{"lines", []any{op("fill", 64, 'x', 10), op("weir_log", 1, 64, 1), op("weir_log", 1, 64, 1), op("weir_log", 1, 64, 1), op("weir_log", 1, 64, 1), op("weir_log", 1, 64, 1)}, []string{"x", "x", "x"}, 2},
		{"bytes", []any{op("fill", 64, 'x', 30), op("weir_log", 1, 64, 15), op("weir_log", 1, 64, 6), op("weir_log", 1, 64, 5), op("weir_log", 1, 64, 1)}, []string{strings.Repeat("x", 15), "xxxxx"}, 2},
		{"one line too long", []any{op("weir_log", 1, 0, 21)}, nil, 1},
		{"kernel", []any{block("12345678901"), op("log_info").plus(), op("log_info").plus()}, []string{"12345678901"}, 1},
		{"stdout", []any{write(1, "a\nb", "c\n\nd", "e\nf\n")}, []string{"a", "bc", "de"}, 1},
		{"a line of stdout that is too long is one lost line", []any{write(1, "0123456789", "0123456789", "0123456789", "tail\nnext\n")}, []string{"next"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, stats, err := p.try(t, c.steps...)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for line := range strings.Lines(l.take()) {
				_, line, _ = strings.Cut(line, "msg=")
				line, _, _ = strings.Cut(line, " export=")
				got = append(got, line)
			}
			if d := cmp.Diff(c.want, got); d != "" || stats.LogLost != c.lost {
				t.Errorf("lost %d, want %d; lines (-want +got):\n%s", stats.LogLost, c.lost, d)
			}
		})
	}
}

// TestErrorText keeps error texts short and valid.
func TestErrorText(t *testing.T) {
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Limits: wasmhost.Limits{ErrorText: 8}})
	for text, want := range map[string]string{"12345678": "12345678", "123456789": "12345678…", "a\xffb": "a\uFFFDb", "1234567é": "1234567\uFFFD…"} {
		_, _, err := p.try(t, poke(64, text), op("weir_error", 64, uint64(len(text))))
		if f := faultOf(t, err, wasmhost.KindError); f.Err.Error() != want {
			t.Errorf("%q became %q, want %q", text, f.Err, want)
		}
		p.do(t, op("return", 0))
	}
}

func TestCapabilityCalls(t *testing.T) {
	var asked []string
	answer := func(ctx context.Context, request []byte) ([]byte, error) {
		asked = append(asked, string(request))
		if _, ok := ctx.Deadline(); !ok {
			return nil, errors.New("no deadline")
		}
		switch string(request) {
		case "fail":
			return nil, errors.New("it failed: \xff")
		case "huge":
			return make([]byte, 65<<20), nil
		case "panic":
			panic("oops")
		case "fault":
			var p *int
			_ = *p
		case "empty":
			return nil, nil
		}
		return []byte("answer"), nil
	}
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Capabilities: map[string]wasmhost.Capability{
		"kv": {Handle: answer}, "http": {Handle: answer}, "file": {Handle: answer}, "ui": {Handle: answer}, "session": {Handle: answer},
	}})
	const at = 1024
	for _, name := range []string{"kv", "http", "file", "ui", "session"} {
		for _, c := range []struct {
			request  string
			result   int64
			response string
		}{{"ask", 6, "answer"}, {"empty", 0, ""}, {"fail", -1, "it failed: \uFFFD"}, {"huge", -1, "a response of 68157440 bytes, more than the limit of 67108864"}} {
			asked = nil
			out := p.do(t, poke(64, c.request), op("weir_"+name, 64, uint64(len(c.request))), op("weir_response_read", 0, 0, 0), op("weir_response_read", at, 0, 100), emit(at, uint64(len(c.response))))
			w := words(t, out[:24])
			if w[0] != c.result || w[1] != int64(len(c.response)) || w[2] != w[1] || string(out[24:]) != c.response {
				t.Errorf("%s %s: %v %q", name, c.request, w, out[24:])
			}
			if d := cmp.Diff([]string{c.request}, asked); d != "" {
				t.Errorf("requests (-want +got):\n%s", d)
			}
		}
		for request, text := range map[string]string{"panic": "capability " + name + ": panic: oops", "fault": "nil pointer"} {
			_, _, err := p.try(t, poke(64, request), op("weir_"+name, 64, uint64(len(request))))
			if f := faultOf(t, err, wasmhost.KindHost); !strings.Contains(f.Err.Error(), text) {
				t.Errorf("got %v, want %s", f, text)
			}
			p.do(t, op("return", 0))
		}
	}
	// The response is the last one, and nothing is left of it in the next call.
	out := words(t, p.do(t, op("weir_response_read", 0, 0, 0)))
	if out[0] != 0 {
		t.Errorf("a response of %d bytes is left from an earlier call", out[0])
	}
}

func TestPanicInCallbacks(t *testing.T) {
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{})
	_, _, err := p.tryWith(t, wasmhost.Input{Messages: 1, Message: func(int) []byte { panic("message") }}, op("weir_message_read", 0, 0, 0, 0))
	wantFault(t, err, wasmhost.KindHost)
	_, _, err = p.tryWith(t, wasmhost.Input{Update: func(context.Context, []byte) { panic("update") }}, op("weir_tool_update", 0, 0))
	wantFault(t, err, wasmhost.KindHost)
	p.do(t, op("count", 1))
}

package wasmhost_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	extism "github.com/extism/go-sdk"
	"github.com/google/go-cmp/cmp"

	"weir/wasmhost"
)

// extismPlugin is a plain Extism module on the reference host, as go-sdk's users run it. No other test file imports it.
type extismPlugin struct {
	plugin *extism.Plugin
	logs   *[]string
}

func newExtism(t testing.TB, wasm []byte, timeout time.Duration, config map[string]string, hosts ...string) extismPlugin {
	t.Helper()
	extism.SetLogLevel(extism.LogLevelOff)
	manifest := extism.Manifest{Wasm: []extism.Wasm{extism.WasmData{Data: wasm}}, Timeout: uint64(timeout.Milliseconds()), Config: config, AllowedHosts: hosts}
	p, err := extism.NewPlugin(t.Context(), manifest, extism.PluginConfig{EnableWasi: true, EnableHttpResponseHeaders: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return extismPlugin{plugin: p, logs: new([]string)}
}

// listen keeps what the guest logs.
func (p extismPlugin) listen() {
	extism.SetLogLevel(extism.LogLevelDebug)
	p.plugin.SetLogger(func(level extism.LogLevel, text string) {
		if !strings.HasPrefix(text, "Calling ") && !strings.HasPrefix(text, "Initializing ") { // go-sdk's own
			*p.logs = append(*p.logs, strings.ToLower(level.String())+" "+text)
		}
	})
}

func (p extismPlugin) call(export string, input []byte) ([]byte, error) {
	rc, out, err := p.plugin.Call(export, input)
	if err == nil && rc != 0 {
		return nil, errRC
	}
	return out, err
}

// said is the error text that the guest gave in its last call, "" if none.
func (p extismPlugin) said() string { return p.plugin.GetError() }

// lane is a plain Extism module on the reference host, on ours, and on go-sdk as we run it.
type lane struct {
	theirs extismPlugin
	ours   []laneGuest
	// answered counts the outputs that were compared, and failed the errors.
	answered, failed int
}

type laneGuest struct {
	runtime string
	guest   *wasmhost.Guest
	logs    *logLines
}

// logLines is a slog.Handler that keeps level and text.
type logLines struct {
	slog.Handler
	lines []string
}

func (l *logLines) Enabled(context.Context, slog.Level) bool { return true }
func (l *logLines) Handle(_ context.Context, r slog.Record) error {
	l.lines = append(l.lines, strings.ToLower(r.Level.String())+" "+r.Message)
	return nil
}

// newLane loads a module on all three. With http, the port of a server here, it is not loaded on go-sdk as we run it, which refuses modules that import it.
func newLane(t *testing.T, h *wasmhost.Host, wasm []byte, config map[string]string, http int, exports ...string) *lane {
	t.Helper()
	if config == nil {
		config = map[string]string{}
	}
	settings, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	cfg := wasmhost.GuestConfig{
		Name: "plain", Entries: exports, Config: settings,
		Limits: wasmhost.Limits{Quarantine: 1000, Timeout: 10 * time.Second, LoadTimeout: 30 * time.Second},
	}
	l := &lane{}
	run := func(runtime string, m *wasmhost.Module) {
		logs := &logLines{Handler: slog.DiscardHandler}
		cfg.Logger = slog.New(logs)
		g, err := m.NewGuest(t.Context(), cfg)
		if err != nil {
			t.Fatalf("%s: %v", runtime, err)
		}
		l.ours = append(l.ours, laneGuest{runtime, g, logs})
	}
	var hosts []string
	if http != 0 {
		cfg.Capabilities = map[string]wasmhost.Capability{"http": wasmhost.HTTP([]wasmhost.HTTPRule{{Methods: []string{"GET"}, Scheme: "http", Host: "127.0.0.1", Port: http}})}
		hosts = []string{"127.0.0.1"}
	} else {
		m, err := h.CompileExtism(t.Context(), "plain", wasm, wasmhost.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		run("extism", m)
	}
	run("weir", compile(t, h, wasm))
	l.theirs = newExtism(t, wasm, 0, config, hosts...)
	l.theirs.listen()
	return l
}

// call makes the same call on all and compares what comes of it: output, failure, the guest's error text, what it logged.
func (l *lane) call(t *testing.T, export string, input string) {
	t.Helper()
	*l.theirs.logs = nil
	want, wantErr := l.theirs.call(export, []byte(input))
	said := l.theirs.said()
	for _, o := range l.ours {
		o.logs.lines = nil
		var got []byte
		_, err := o.guest.Call(t.Context(), export, wasmhost.Input{Bytes: []byte(input)}, func(b []byte) error { got = bytes.Clone(b); return nil })
		if (wantErr == nil) != (err == nil) || wantErr == nil && !bytes.Equal(got, want) {
			t.Errorf("%s: %s(%.80s)\nwe:   %q %v\nthey: %q %v", o.runtime, export, input, got, err, want, wantErr)
		}
		if said != "" {
			var f *wasmhost.Fault
			if !errors.As(err, &f) || f.Kind != wasmhost.KindError || f.Err.Error() != said {
				t.Errorf("%s: %s(%.80s): %v, want an error with the text %q", o.runtime, export, input, err, said)
			}
		}
		if d := cmp.Diff(*l.theirs.logs, o.logs.lines); d != "" {
			t.Errorf("%s: %s(%.80s): logs differ (-they +we):\n%s", o.runtime, export, input, d)
		}
	}
	if wantErr != nil {
		l.failed++
	} else if len(want) > 0 {
		l.answered++
	}
}

func (l *lane) counts() string { return fmt.Sprintf("%d answered, %d failed", l.answered, l.failed) }

// TestAgreesWithExtism runs a policy that is a plain Extism module on both hosts: they must give the same answers and fail alike.
func TestAgreesWithExtism(t *testing.T) {
	l := newLane(t, newHost(t, wasmhost.Config{}), wasmFile(t, "bench/policy_extism"), nil, 0, "tool_call")
	for _, input := range []string{
		benchEvent, `{"input":{"command":"sudo rm -rf / --no-preserve-root"}}`, `{"input":{"command":""}}`, `{}`, ``, `null`, `not JSON`, `{"input":{"command":"é😀"}}`, strings.Repeat(" ", 100_000) + benchEvent,
	} {
		l.call(t, "tool_call", input)
	}
	if l.answered == 0 || l.failed == 0 {
		t.Error(l.counts())
	}
}

// TestEnvAgreesWithExtism tries Extism's env on both hosts, function by function.
func TestEnvAgreesWithExtism(t *testing.T) {
	engines(t, func(t *testing.T, cfg wasmhost.Config) {
		exports := []string{"blocks", "input", "config", "vars", "var_delete", "logs", "output_twice", "output_none", "output_part", "error", "result", "trap"}
		l := newLane(t, newHost(t, cfg), wasmFile(t, "wat/env"), map[string]string{"greeting": "hello", "_number!!": "1"}, 0, exports...)
		for _, export := range append(exports[:len(exports)-1:len(exports)-1], "vars", "vars", "blocks", "var_delete", "vars", "trap") {
			for _, input := range []string{"0123456789abcdef", "12345678", strings.Repeat("x", 300)} {
				l.call(t, export, input)
			}
		}
		// Three inputs each, for 7 exports that answer something and 5 calls that repeat one.
		if l.answered != 36 {
			t.Error(l.counts())
		}
	})
}

package wasmhost_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	extism "github.com/extism/go-sdk"

	"weir/wasmhost"
)

// extismPlugin is a plain Extism module on the reference host. No other file imports it.
type extismPlugin struct{ plugin *extism.Plugin }

func newExtism(t testing.TB, wasm []byte, timeout time.Duration, config map[string]string) extismPlugin {
	t.Helper()
	extism.SetLogLevel(extism.LogLevelOff)
	manifest := extism.Manifest{Wasm: []extism.Wasm{extism.WasmData{Data: wasm}}, Timeout: uint64(timeout.Milliseconds()), Config: config}
	p, err := extism.NewPlugin(t.Context(), manifest, extism.PluginConfig{EnableWasi: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return extismPlugin{p}
}

func (p extismPlugin) call(export string, input []byte) ([]byte, error) {
	rc, out, err := p.plugin.Call(export, input)
	if err == nil && rc != 0 {
		return nil, errRC
	}
	return out, err
}

// TestAgreesWithExtism runs a plain Extism module on both hosts: they must give the same answers and fail alike.
func TestAgreesWithExtism(t *testing.T) {
	wasm := wasmFile(t, "bench/policy_extism")
	theirs := newExtism(t, wasm, 0, nil)
	g, err := compile(t, newHost(t, wasmhost.Config{}), wasm).NewGuest(t.Context(), wasmhost.GuestConfig{Name: "policy", Entries: []string{"tool_call"}, Limits: wasmhost.Limits{Quarantine: 100}})
	if err != nil {
		t.Fatal(err)
	}
	for _, input := range []string{
		benchEvent, `{"input":{"command":"sudo rm -rf / --no-preserve-root"}}`, `{"input":{"command":""}}`, `{}`, ``, `null`, `not JSON`, `{"input":{"command":"é😀"}}`, strings.Repeat(" ", 100_000) + benchEvent,
	} {
		want, wantErr := theirs.call("tool_call", []byte(input))
		var got []byte
		_, gotErr := g.Call(t.Context(), "tool_call", wasmhost.Input{Bytes: []byte(input)}, func(b []byte) error { got = bytes.Clone(b); return nil })
		if (wantErr == nil) != (gotErr == nil) || wantErr == nil && !bytes.Equal(got, want) {
			t.Errorf("%.80s\nwe:   %q %v\nthey: %q %v", input, got, gotErr, want, wantErr)
		}
	}
}

// TestEnvAgreesWithExtism tries Extism's env on both hosts, function by function.
func TestEnvAgreesWithExtism(t *testing.T) {
	wasm := wasmFile(t, "wat/env")
	theirs := newExtism(t, wasm, 0, map[string]string{"greeting": "hello", "_number!!": "1"})
	entries := []string{"blocks", "input", "config", "vars", "var_delete", "logs", "output_twice", "output_none", "output_part", "error", "result", "trap"}
	g, err := compile(t, newHost(t, wasmhost.Config{}), wasm).NewGuest(t.Context(), wasmhost.GuestConfig{
		Name: "env", Entries: entries, Config: json.RawMessage(`{"greeting":"hello","_number!!":"1"}`), Limits: wasmhost.Limits{Quarantine: 100},
	})
	if err != nil {
		t.Fatal(err)
	}
	answered := 0
	for _, export := range append(entries[:len(entries)-1:len(entries)-1], "vars", "vars", "blocks", "var_delete", "vars", "trap") {
		for _, input := range []string{"0123456789abcdef", "12345678", strings.Repeat("x", 300)} {
			want, wantErr := theirs.call(export, []byte(input))
			var got []byte
			_, gotErr := g.Call(t.Context(), export, wasmhost.Input{Bytes: []byte(input)}, func(b []byte) error { got = bytes.Clone(b); return nil })
			if (wantErr == nil) != (gotErr == nil) || wantErr == nil && !bytes.Equal(got, want) {
				t.Errorf("%s(%.20s)\nwe:   %x %v\nthey: %x %v", export, input, got, gotErr, want, wantErr)
			}
			if len(got) > 0 {
				answered++
			}
		}
	}
	if answered != 36 { // three inputs each, for 7 exports that answer something and 5 calls that repeat one
		t.Errorf("%d calls were answered", answered)
	}
}

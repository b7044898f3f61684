package wasmhost_test

import (
	"context"
	"testing"
	"time"

	extism "github.com/extism/go-sdk"
)

// extismPlugin is a plain Extism module on the reference host. No other file imports it.
type extismPlugin struct{ plugin *extism.Plugin }

func newExtism(t testing.TB, wasm []byte, timeout time.Duration) extismPlugin {
	t.Helper()
	extism.SetLogLevel(extism.LogLevelOff)
	manifest := extism.Manifest{Wasm: []extism.Wasm{extism.WasmData{Data: wasm}}, Timeout: uint64(timeout.Milliseconds())}
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

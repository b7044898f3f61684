package wasmhost_test

import (
	"context"
	"encoding/json"
	"testing"

	"weir/wasmhost"
)

// TestSource: the source of a module reaches its guests as weir.source, and is no setting.
func TestSource(t *testing.T) {
	h := newHost(t, wasmhost.Config{})
	plain := probeOn(t, h, wasmhost.GuestConfig{})
	m := compile(t, h, wasmFile(t, "wat/probe"))
	source := []byte("export const a = 1;")
	bound := m.WithSource(source)
	want := string(source)
	source[0] = 'X' // the module has its own copy
	g, err := bound.NewGuest(t.Context(), wasmhost.GuestConfig{Name: "probe", Entries: []string{"call"}, Capabilities: grants(), Config: json.RawMessage(`{"n":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	p := &probe{Guest: g, ops: plain.ops}
	for key, want := range map[string]string{"weir.source": want, "weir.config": `{"n":1}`} {
		out := p.do(t, block(key), op("config_get").plus(), op("save"), op("output_set", 0, uint64(len(want))).plus(), op("return", 0))
		if string(out) != want {
			t.Errorf("config_get(%q) = %q, want %q", key, out, want)
		}
	}
	if out := words(t, plain.do(t, block("weir.source"), op("config_get").plus())); out[len(out)-1] != 0 {
		t.Error("a module without a source has one")
	}
	other := m.WithSource([]byte("export const a = 2;"))
	if bound.Digest() == m.Digest() || bound.Digest() == other.Digest() || bound.Digest() != m.WithSource([]byte(want)).Digest() {
		t.Errorf("digests %s, %s, %s", m.Digest(), bound.Digest(), other.Digest())
	}
	if m.WithSource(nil) != m || bound.Size() != m.Size()+len(want) {
		t.Errorf("sizes %d and %d", m.Size(), bound.Size())
	}
}

package rust

import (
	"context"
	"errors"
	"testing"

	"weir/guest-sdk/c/guesttest"
	"weir/guest-sdk/internal/jsontest"
)

// driver is a guest whose "read" shows how the SDK reads a document.
func driver(t testing.TB) *guesttest.Guest {
	t.Helper()
	return load(t, build(t, "testdata/driver", "driver.wasm"))
}

func checkRead(t testing.TB, g *guesttest.Guest, doc []byte) {
	t.Helper()
	jsontest.Check(t, doc, func(doc []byte) ([]byte, error) {
		out, err := g.Call(context.Background(), "read", doc)
		if errors.Is(err, guesttest.ErrNoOutput) {
			t.Fatalf("%q: %v", doc, err)
		}
		return out, err
	})
}

func TestReaderAgreesWithEncodingJSON(t *testing.T) {
	g := driver(t)
	accepted := 0
	for _, doc := range jsontest.Documents() {
		checkRead(t, g, []byte(doc))
	}
	for _, doc := range jsontest.Mutations(20_000) {
		checkRead(t, g, doc)
		if jsontest.Accepts(doc) {
			accepted++
		}
	}
	if accepted < 2000 {
		t.Errorf("only %d of the mutations are valid: the comparison of values is thin", accepted)
	}
	if g.MemoryBytes() > 8<<20 {
		t.Errorf("memory grew to %d bytes over many small calls", g.MemoryBytes())
	}
}

func FuzzReader(f *testing.F) {
	for _, doc := range jsontest.Documents() {
		f.Add([]byte(doc))
	}
	g := driver(f)
	f.Fuzz(func(t *testing.T, doc []byte) { checkRead(t, g, doc) })
}

package wiretest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"weir/agentcore"
)

// Fuzz gives a provider any bytes for a stream, beginning with those of the fixtures: it must make well-formed events and
// a message of them.
func Fuzz(f *testing.F, w *Wire, pattern string) {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		f.Fatalf("no fixtures: %s: %v", pattern, err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if _, body, ok := strings.Cut(string(part(archive, "response")), "\n\n"); ok && len(body) < 10_000 {
			f.Add([]byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		p := w.Provide("http://x.example", answering(body), nil)
		var events []agentcore.AssistantEvent
		m, err := p.Stream(context.Background(), Ask(t, w.Model, nil), func(ev agentcore.AssistantEvent) error {
			events = append(events, ev)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		Check(t, events, m)
		if _, err := agentcore.NewMessage(m).JSON(); err != nil {
			t.Errorf("the message has no JSON: %v", err)
		}
		if strings.ContainsAny(m.ErrorMessage, "\n\x1b\x00") {
			t.Errorf("error message %q", m.ErrorMessage)
		}
	})
}

// answering is a network that answers every request with a stream.
type answering []byte

// RoundTrip implements [http.RoundTripper].
func (body answering) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: req,
		Body: io.NopCloser(bytes.NewReader(body)),
	}, nil
}

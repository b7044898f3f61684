package wiretest

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"weir/agentcore"
)

// Wire is what a provider's tests give [Behave].
type Wire struct {
	Model agentcore.Model
	// Provide makes a provider for a server, with a key from key.
	Provide func(base string, transport http.RoundTripper, key func(context.Context) (string, error)) agentcore.Provider
	// Head is a response up to its first text delta. Delta is the event of another one.
	Head  string
	Delta func(text string) string
	// Tail ends the response.
	Tail string
	// Key is how the server sees a key k.
	Key func(h http.Header) string
}

const secret = "sk-very-secret-0123456789"

func (w *Wire) provider(s *Server) agentcore.Provider {
	return w.Provide(s.URL, s.Transport, func(context.Context) (string, error) { return secret, nil })
}

// Behave tests what every provider must do, beyond what events it makes of a stream.
func Behave(t *testing.T, w *Wire) {
	t.Run("cancel", w.cancel)
	t.Run("cancel before", w.cancelBefore)
	t.Run("emit fails", w.emitFails)
	t.Run("huge deltas", w.huge)
	t.Run("endless", w.endless)
	t.Run("huge event", w.hugeEvent)
	t.Run("keys", w.keys)
	t.Run("unreachable", w.unreachable)
	t.Run("tls", w.tls)
	t.Run("proxy", w.proxy)
}

// cancel shows that cancelling closes the connection and keeps what was said.
func (w *Wire) cancel(t *testing.T) {
	server := Serve(t, w.Head+w.Delta("so far")+"@hang\n")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var events []agentcore.AssistantEvent
	m, err := w.provider(server).Stream(ctx, Ask(t, w.Model, nil), func(ev agentcore.AssistantEvent) error {
		events = append(events, ev)
		if ev.Delta == "so far" {
			time.AfterFunc(10*time.Millisecond, cancel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	Check(t, events, m)
	if m.StopReason != agentcore.StopAborted || !strings.HasSuffix(text(m), "so far") {
		t.Errorf("%s with %q: %s", m.StopReason, text(m), m.ErrorMessage)
	}
	server.Gone(t)
}

func (w *Wire) cancelBefore(t *testing.T) {
	server := Serve(t, w.Head+w.Tail)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	m, err := w.provider(server).Stream(ctx, Ask(t, w.Model, nil), func(agentcore.AssistantEvent) error { return nil })
	if err != nil || m.StopReason != agentcore.StopAborted || len(server.Requests()) != 0 {
		t.Errorf("%+v, %v, %d requests", m, err, len(server.Requests()))
	}
}

// emitFails shows that an error of emit is returned at once, and the connection closed.
func (w *Wire) emitFails(t *testing.T) {
	server := Serve(t, w.Head+w.Delta("so far")+"@hang\n")
	stop, after := errors.New("stop"), 0
	m, err := w.provider(server).Stream(context.Background(), Ask(t, w.Model, nil), func(ev agentcore.AssistantEvent) error {
		if after > 0 || ev.Delta == "so far" {
			after++
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || m != nil || after != 1 {
		t.Errorf("%v, %v, emit was called %d times", m, err, after)
	}
	server.Gone(t)
}

// huge shows that deltas of a megabyte arrive whole.
func (w *Wire) huge(t *testing.T) {
	piece := strings.Repeat("wörd ", 200_000)
	server := Serve(t, w.Head+w.Delta(piece)+w.Delta(piece)+w.Tail)
	m, err := w.provider(server).Stream(context.Background(), Ask(t, w.Model, nil), func(agentcore.AssistantEvent) error { return nil })
	if err != nil || m.StopReason != agentcore.StopStop || !strings.HasSuffix(text(m), piece+piece) {
		t.Errorf("%v, %s, %d bytes: %s", err, m.StopReason, len(text(m)), m.ErrorMessage)
	}
}

// endless shows that a response without an end does not fill the memory.
func (w *Wire) endless(t *testing.T) {
	piece := w.Delta(strings.Repeat("x", 8<<20))
	server := Serve(t, w.Head+strings.Repeat(piece, 9)+w.Tail)
	m, err := w.provider(server).Stream(context.Background(), Ask(t, w.Model, nil), func(agentcore.AssistantEvent) error { return nil })
	if err != nil || m.StopReason != agentcore.StopError || m.ErrorMessage != "the response is over 64 MiB and was cut" || Class(m, 0) != "final" {
		t.Errorf("%v, %s: %s", err, m.StopReason, m.ErrorMessage)
	}
}

// hugeEvent shows what becomes of one event that is larger than the SDKs take.
func (w *Wire) hugeEvent(t *testing.T) {
	server := Serve(t, w.Head+w.Delta(strings.Repeat("x", 33<<20))+w.Tail)
	m, err := w.provider(server).Stream(context.Background(), Ask(t, w.Model, nil), func(agentcore.AssistantEvent) error { return nil })
	if err != nil || m.ErrorMessage != "the server sent an event of more than 32 MiB" || Class(m, 0) != "final" {
		t.Errorf("%v, %s: %s", err, m.StopReason, m.ErrorMessage)
	}
}

// keys shows where keys come from, and that they are in no text.
func (w *Wire) keys(t *testing.T) {
	broken := errors.New("no key for [provider.x]: not set")
	for _, c := range []struct {
		name, request, from string
		err                 error
		want                string
	}{
		{"from the request", "sk-of-request-012345", secret, broken, "sk-of-request-012345"},
		{"from the configuration", "", secret, nil, secret},
		{"none", "", "", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := Serve(t, "HTTP/1.1 401 Unauthorized\ncontent-type: text/plain\n\nyour key "+c.want+" is bad\n")
			req := Ask(t, w.Model, nil)
			req.APIKey = c.request
			p := w.Provide(server.URL, server.Transport, func(context.Context) (string, error) { return c.from, c.err })
			m, err := p.Stream(context.Background(), req, func(agentcore.AssistantEvent) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			if got := w.Key(server.Requests()[0].Header); got != c.want {
				t.Errorf("the server got key %q", got)
			}
			if c.want != "" && strings.Contains(m.ErrorMessage, c.want) || Class(m, 0) != "final" {
				t.Errorf("%s: %s", Class(m, 0), m.ErrorMessage)
			}
		})
	}
	t.Run("cannot be had", func(t *testing.T) {
		server := Serve(t, "HTTP/1.1 200 OK\na: b\n\n")
		p := w.Provide(server.URL, server.Transport, func(context.Context) (string, error) { return "", broken })
		m, err := p.Stream(context.Background(), Ask(t, w.Model, nil), func(agentcore.AssistantEvent) error { return nil })
		if err != nil || m.ErrorMessage != broken.Error() || len(server.Requests()) != 0 {
			t.Errorf("%v, %+v", err, m)
		}
	})
}

// fails makes a request that gets no response, and checks its error.
func (w *Wire) fails(t *testing.T, base string, transport http.RoundTripper, class, want string) {
	t.Helper()
	p := w.Provide(base, transport, func(context.Context) (string, error) { return secret, nil })
	m, err := p.Stream(context.Background(), Ask(t, w.Model, nil), func(agentcore.AssistantEvent) error { return nil })
	switch {
	case err != nil:
		t.Error(err)
	case !strings.Contains(m.ErrorMessage, want) || Class(m, 0) != class || strings.Contains(m.ErrorMessage, secret):
		t.Errorf("%s: %s\nwant %s: %s", Class(m, 0), m.ErrorMessage, class, want)
	case strings.Contains(m.ErrorMessage, "\n"):
		t.Errorf("more than one line: %q", m.ErrorMessage)
	}
}

func (w *Wire) unreachable(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	w.fails(t, closed.URL, transport, "transient", "connection refused; is the server at base_url of [provider.x] up?")
	w.fails(t, "http://nowhere.invalid", transport, "transient", "network error: host nowhere.invalid was not found (ENOTFOUND); check base_url of [provider.x]")
}

func (w *Wire) tls(t *testing.T) {
	t.Cleanup(func() { goleak.VerifyNone(t) })
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = discard()
	server.StartTLS()
	defer server.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	w.fails(t, server.URL, transport, "final", "TLS: the server's certificate was refused: ")
	w.fails(t, strings.Replace(server.URL, "https:", "http:", 1), transport, "final", "400 Bad Request: ")
	w.fails(t, "https://x.example", failing{x509.HostnameError{Certificate: &x509.Certificate{}, Host: "x.example"}}, "final", "TLS: ")
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	w.fails(t, strings.Replace(plain.URL, "http:", "https:", 1), transport, "final", "TLS: the server does not speak it: should base_url of [provider.x] start with http:// ?")
}

func (w *Wire) proxy(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	proxy, err := url.Parse(closed.URL)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{Proxy: http.ProxyURL(proxy)}
	defer transport.CloseIdleConnections()
	w.fails(t, "http://x.example", transport, "transient", "connection error: the proxy did not carry the request: ")
}

type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

// text is what a message says.
func text(m *agentcore.AssistantMessage) string {
	var out strings.Builder
	for _, b := range m.Content {
		if t, ok := b.(*agentcore.TextBlock); ok {
			out.WriteString(t.Text)
		}
	}
	return out.String()
}

// benchDeltas is how many deltas a response of a benchmark has.
const benchDeltas = 10_000

func (w *Wire) burst(b *testing.B) *Server {
	var body strings.Builder
	for i := range benchDeltas {
		body.WriteString(w.Delta(fmt.Sprintf(" word%d", i)))
	}
	return Burst(b, w.Head+body.String()+w.Tail)
}

// measure runs once again and again, and reports the cost of a delta. The server's part is in it, since it is of the same
// process.
func measure(b *testing.B, once func() (events int, err error)) {
	b.ReportAllocs()
	for b.Loop() {
		if events, err := once(); err != nil || events < benchDeltas {
			b.Fatalf("%d events, %v", events, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchDeltas, "ns/delta")
}

// Bench measures what a delta costs from the socket to emit.
func Bench(b *testing.B, w *Wire) {
	server := w.burst(b)
	p, req := w.provider(server), Ask(b, w.Model, nil)
	measure(b, func() (events int, err error) {
		m, err := p.Stream(context.Background(), req, func(agentcore.AssistantEvent) error { events++; return nil })
		if err == nil && m.StopReason != agentcore.StopStop {
			err = errors.New(m.ErrorMessage)
		}
		return events, err
	})
}

// BenchPeer measures the same stream read by other means.
func BenchPeer(b *testing.B, w *Wire, once func(base string, client *http.Client) (events int, err error)) {
	server := w.burst(b)
	client := &http.Client{Transport: server.Transport}
	measure(b, func() (int, error) { return once(server.URL, client) })
}

// BenchRequest measures what it takes to send a history of 1,000 turns, each a call and its result of a kilobyte.
func BenchRequest(b *testing.B, w *Wire) {
	server := Burst(b, w.Head+w.Delta("x")+w.Tail)
	p, req := w.provider(server), Ask(b, w.Model, nil)
	result := strings.Repeat("0123456789abcdef", 64)
	for i := range 1000 {
		id := fmt.Sprintf("call_%d", i)
		req.Messages = append(req.Messages, agentcore.NewMessage(&agentcore.AssistantMessage{
			API: w.Model.API, Provider: w.Model.Provider, Model: w.Model.ID, StopReason: agentcore.StopToolUse,
			Content: []agentcore.Block{&agentcore.ToolCall{ID: id, Name: "read", Arguments: []byte(`{"path":"a/b/c.go","limit":20}`)}},
		}), agentcore.NewMessage(&agentcore.ToolResultMessage{
			ToolCallID: id, ToolName: "read", Content: []agentcore.Block{&agentcore.TextBlock{Text: result}},
		}))
	}
	b.ReportAllocs()
	for b.Loop() {
		if m, err := p.Stream(context.Background(), req, func(agentcore.AssistantEvent) error { return nil }); err != nil || m.StopReason != agentcore.StopStop {
			b.Fatalf("%v, %+v", err, m)
		}
	}
}

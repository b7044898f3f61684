package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir/engine/provider"
	"weir/engine/provider/internal/wiretest"
	"weir/engine/wire"
)

const plain = "HTTP/1.1 200 OK\ncontent-type: text/event-stream\nrequest-id: req_1\nset-cookie: a=b\nx-ratelimit-remaining-tokens: 5\n\nhello\n"

// post sends a request with keys, and gives the body that comes back.
func post(t *testing.T, transport http.RoundTripper, url, body string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", secret)
	req.Header.Set("Authorization", "Bearer "+secret)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Beta", "one")
	res, err := transport.RoundTrip(req)
	if err != nil {
		return "", err
	}
	raw, err := io.ReadAll(res.Body)
	return string(raw), errors.Join(err, res.Body.Close())
}

func text(s string) *string { return &s }

// TestHooks shows the order of the hooks, that they act on what the server gets, and that they see no key.
func TestHooks(t *testing.T) {
	server := wiretest.Serve(t, plain)
	var seen []string
	transport := &provider.Transport{Next: server.Transport, Hooks: provider.Hooks{
		BeforeHeaders: func(_ context.Context, headers []wire.HeaderEdit) ([]wire.HeaderEdit, error) {
			for _, h := range headers {
				seen = append(seen, h.Name+"="+*h.Value)
			}
			return []wire.HeaderEdit{{Name: "x-beta", Value: text("two")}, {Name: "Content-Type"}, {Name: "X-New", Value: text("n")}}, nil
		},
		BeforeRequest: func(_ context.Context, payload json.RawMessage) (json.RawMessage, error) {
			seen = append(seen, string(payload))
			return json.RawMessage(`{"longer": "than before"}`), nil
		},
		AfterResponse: func(_ context.Context, status int, headers map[string]string) {
			delete(headers, "date")
			seen = append(seen, fmt.Sprint(status, headers))
		},
	}}
	if body, err := post(t, transport, server.URL, `{"a":1}`); err != nil || body != "hello\n" {
		t.Errorf("body %q, %v", body, err)
	}
	want := []string{
		"content-type=application/json", "x-beta=one", `{"a":1}`,
		"200 map[content-type:text/event-stream request-id:req_1 x-ratelimit-remaining-tokens:5]",
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("hooks saw (-want +got):\n%s", diff)
	}
	got := server.Requests()[0]
	if string(got.Body) != `{"longer": "than before"}` || got.Header.Get("Content-Length") != "25" {
		t.Errorf("the server got %s, length %s", got.Body, got.Header.Get("Content-Length"))
	}
	h := got.Header
	if h.Get("X-Beta") != "two" || h.Get("X-New") != "n" || h.Values("Content-Type") != nil || h.Get("X-Api-Key") != secret {
		t.Errorf("the server got headers %v", h)
	}
}

func TestHookKeepsPayload(t *testing.T) {
	server := wiretest.Serve(t, plain)
	for reply, want := range map[string]string{"": `{"a":1}`, "null": "null"} {
		transport := &provider.Transport{Next: server.Transport, Hooks: provider.Hooks{
			BeforeRequest: func(context.Context, json.RawMessage) (json.RawMessage, error) {
				if reply == "" {
					return nil, nil
				}
				return json.RawMessage(reply), nil
			},
		}}
		if _, err := post(t, transport, server.URL, `{"a":1}`); err != nil {
			t.Fatal(err)
		}
		requests := server.Requests()
		if got := string(requests[len(requests)-1].Body); got != want {
			t.Errorf("hook gave %q: the server got %s, want %s", reply, got, want)
		}
	}
}

func TestHookErrors(t *testing.T) {
	server := wiretest.Serve(t, plain)
	broken := errors.New("no")
	for name, c := range map[string]struct {
		hooks provider.Hooks
		want  string
	}{
		"headers": {
			provider.Hooks{BeforeHeaders: func(context.Context, []wire.HeaderEdit) ([]wire.HeaderEdit, error) { return nil, broken }},
			"before_provider_headers: no",
		},
		"host": {provider.Hooks{BeforeHeaders: func(context.Context, []wire.HeaderEdit) ([]wire.HeaderEdit, error) {
			return []wire.HeaderEdit{{Name: "Host", Value: text("evil")}}, nil
		}}, `before_provider_headers: header "Host" cannot be changed: the connection needs it as it is`},
		"request": {
			provider.Hooks{BeforeRequest: func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, broken }},
			"before_provider_request: no",
		},
		"payload": {
			provider.Hooks{BeforeRequest: func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage("{"), nil }},
			"before_provider_request: the payload is not valid JSON",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := post(t, &provider.Transport{Next: server.Transport, Hooks: c.hooks}, server.URL, "{}")
			var hook *provider.HookError
			if !errors.As(err, &hook) || err.Error() != c.want {
				t.Errorf("%v; want %s", err, c.want)
			}
		})
	}
	if n := len(server.Requests()); n != 0 {
		t.Errorf("%d requests were sent all the same", n)
	}
}

// TestIdle shows that a server that falls silent is given up, before and within its answer, and that one that is slow, or
// whose reader is slow, is not.
func TestIdle(t *testing.T) {
	const head = "HTTP/1.1 200 OK\ncontent-type: text/event-stream\n\n"
	t.Run("silent", func(t *testing.T) {
		server := wiretest.Serve(t, head+"one\n@hang\n")
		body, err := post(t, &provider.Transport{Next: server.Transport, Idle: 100 * time.Millisecond}, server.URL, "{}")
		var idle *provider.IdleError
		if !errors.As(err, &idle) || body != "one\n" {
			t.Errorf("%q, %v", body, err)
		}
		server.Gone(t)
	})
	t.Run("before the answer", func(t *testing.T) {
		stuck := roundTripper(func(req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		})
		_, err := post(t, &provider.Transport{Next: stuck, Idle: 50 * time.Millisecond}, "http://host.example/", "{}")
		if err == nil || err.Error() != "timed out: host.example sent nothing for 50ms" {
			t.Errorf("error %v", err)
		}
	})
	t.Run("slow", func(t *testing.T) {
		server := wiretest.Serve(t, head+"one\n@pause 700ms\ntwo\n@pause 700ms\nthree\n@pause 700ms\nfour\n") // 2.1 s in all
		body, err := post(t, &provider.Transport{Next: server.Transport, Idle: 2 * time.Second}, server.URL, "{}")
		if err != nil || !strings.HasSuffix(body, "four\n") {
			t.Errorf("%q, %v", body, err)
		}
	})
	t.Run("slow reader", func(t *testing.T) {
		network := roundTripper(func(req *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("one")), Request: req}, nil
		})
		body, err := post(t, &provider.Transport{Next: network, Idle: 200 * time.Millisecond, Hooks: provider.Hooks{
			AfterResponse: func(context.Context, int, map[string]string) { time.Sleep(300 * time.Millisecond) },
		}}, "http://host.example/", "{}")
		if err != nil || body != "one" {
			t.Errorf("%q, %v", body, err)
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

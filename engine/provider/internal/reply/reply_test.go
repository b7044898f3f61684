package reply_test

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	"weir/engine/provider/internal/reply"
)

func TestComplete(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 `{}`,
		"null":                             `{}`,
		"[1":                               `{}`,
		"{":                                `{}`,
		`{"`:                               `{}`,
		`{"pa`:                             `{}`,
		`{"path"`:                          `{}`,
		`{"path":`:                         `{}`,
		`{"path":"`:                        `{"path":""}`,
		`{"path":"a.t`:                     `{"path":"a.t"}`,
		`{"path":"a\`:                      `{"path":"a"}`,
		`{"path":"a\n`:                     `{"path":"a\n"}`,
		`{"path":"a\u00`:                   `{"path":"a"}`,
		`{"path":"a","b`:                   `{"path":"a"}`,
		`{"path":"a","b":t`:                `{"path":"a"}`,
		`{"path":"a","b":true`:             `{"path":"a","b":true}`,
		`{"path":"a","n":12`:               `{"path":"a"}`,
		`{"path":"a","n":12,`:              `{"path":"a","n":12}`,
		`{"a":[1,2`:                        `{"a":[1]}`,
		`{"a":[1,{"b":"c`:                  `{"a":[1,{"b":"c"}]}`,
		`{"a":[`:                           `{"a":[]}`,
		`{"a":{"b":{}`:                     `{"a":{"b":{}}}`,
		`{"a":"wörd 🌊`:                     `{"a":"wörd 🌊"}`,
		`{"a":1}`:                          `{"a":1}`,
		`{"a":1}}`:                         `{}`,
		`{"a":oops,"b":1}`:                 `{}`,
		strings.Repeat("{", 100):           `{}`,
		`{"a":` + strings.Repeat("[", 100): `{}`,
	} {
		if got := string(reply.Complete(text)); got != want {
			t.Errorf("Complete(%s) = %s, want %s", text, got, want)
		}
	}
}

// FuzzComplete cuts valid objects anywhere: the result must be valid, and never hold a string that the whole does not.
func FuzzComplete(f *testing.F) {
	f.Add(`{"path": "a \"b\" \\ \u00e9", "n": [1, -2.5e3, true, null], "deep": {"x": {"y": "z"}}}`, 20)
	f.Add(`{}`, 1)
	f.Add(`{"a":[[[{"b":"`, 12)
	f.Fuzz(func(t *testing.T, text string, at int) {
		if at < 0 || at > len(text) {
			at = len(text)
		}
		got := reply.Complete(text[:at])
		var object map[string]any
		if err := json.Unmarshal(got, &object); err != nil || object == nil {
			t.Fatalf("Complete(%q) = %s: %v", text[:at], got, err)
		}
		var whole map[string]any
		if json.Unmarshal([]byte(text), &whole) == nil {
			for k := range object {
				if _, ok := whole[k]; !ok && len(object) > len(whole) {
					t.Errorf("Complete(%q) = %s has a key that %s has not", text[:at], got, text)
				}
			}
		}
		if at == len(text) && whole != nil && depth(whole) < 60 && len(object) != len(whole) {
			t.Errorf("Complete(%q) = %s", text, got)
		}
	})
}

func depth(v any) int {
	deepest := 0
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			deepest = max(deepest, depth(x))
		}
	case []any:
		for _, x := range v {
			deepest = max(deepest, depth(x))
		}
	default:
		return 0
	}
	return deepest + 1
}

// TestTexts shows that a server's words become one line without a key, whatever they are.
func TestTexts(t *testing.T) {
	h := reply.Hints{Where: "[provider.x]"}
	for _, c := range []struct{ got, want string }{
		{h.HTTP(400, nil, []byte("a\n\tb\x1b[31m\x00 c\xff")), "400 Bad Request: a b[31m c\uFFFD"},
		{h.HTTP(401, nil, nil), "401 status code (no body); [provider.x] has no key: give it key_env, key_file or key_command"},
		{h.HTTP(429, http.Header{"Retry-After": {"Wed, 21 Oct 2026 07:28:00 GMT"}}, []byte(`{"error":{"message":"slow"}}`)), "429 Too Many Requests: slow (retry after Wed, 21 Oct 2026 07:28:00 GMT)"},
		{h.HTTP(499, nil, []byte(`"x"`)), `499 : "x"`},
		{h.HTTP(500, nil, []byte(strings.Repeat("ü", 2000))), "500 Internal Server Error: " + strings.Repeat("ü", 600) + "…"},
		{h.HTTP(302, nil, nil), "302 Found: the server redirects to an unknown place; weir does not follow, so that no key goes to a place that was not configured: set base_url of [provider.x] to where the API is"},
		{h.HTTP(400, nil, []byte(`{"message":"use Bearer abcdefghijkl or gsk_0123456789"}`)), "400 Bad Request: use [key] or [key]"},
		{h.HTTP(400, nil, []byte(`{"error":{"type":"invalid_request_error","message":"input length and `+"`max_tokens`"+` exceed context limit: 195000 + 8192 > 200000"}}`)), "400 invalid_request_error: prompt is too long: input length and `max_tokens` exceed context limit: 195000 + 8192 > 200000"},
		{reply.Event([]byte("not JSON")), "provider returned error: not JSON"},
		{reply.Event([]byte(`{"error":null,"type":"x"}`)), "x"},
		{h.Network(errors.New("dial tcp: lookup a.example on 1.1.1.1:53: no such host")), "network error: host a.example was not found (ENOTFOUND); check base_url of [provider.x] and the connection"},
		{h.Network(errors.New("tls: failed to verify certificate: x509: certificate has expired")), "TLS: the server's certificate was refused: tls: failed to verify certificate: x509: certificate has expired; check base_url of [provider.x], or add the authority to the system's (SSL_CERT_FILE)"},
		{
			h.Network(&net.OpError{Op: "proxyconnect", Net: "tcp", Err: errors.New("dial tcp 10.0.0.1:3128: connect: connection refused")}),
			"connection error: the proxy did not carry the request: dial tcp 10.0.0.1:3128: connect: connection refused; it comes from HTTPS_PROXY or HTTP_PROXY in the environment (NO_PROXY names the hosts that need none)",
		},
		{h.Network(errors.New("net/http: TLS handshake timeout")), "timed out: net/http: TLS handshake timeout"},
		{h.Network(reply.FinalError("stop")), "stop"},
	} {
		if c.got != c.want {
			t.Errorf("got  %q\nwant %q", c.got, c.want)
		}
	}
}

func FuzzErrorBody(f *testing.F) {
	f.Add(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)
	f.Add(`{"error":"x"}`)
	f.Add(`{"detail":[{"loc":["a"]}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		text := reply.Hints{}.HTTP(http.StatusServiceUnavailable, nil, []byte(body))
		if !strings.HasPrefix(text, "503 ") || strings.ContainsAny(text, "\n\r\x1b\x00") || len(text) > 8000 {
			t.Errorf("%q", text)
		}
	})
}

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestProviderErrors: what is wrong with a key, a model, a server or the way to it is said in one line, with where that was
// configured and what to try; and what another attempt cannot mend is not tried again.
func TestProviderErrors(t *testing.T) {
	answers := map[string]http.HandlerFunc{
		"key": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s.","type":"invalid_request_error","code":"invalid_api_key"}}`, testKey)
		},
		"model": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"error":{"message":"The model 'm' does not exist","type":"invalid_request_error","code":"model_not_found"}}`)
		},
		"page": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>It works!</html>") },
		"quota": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "86400")
			w.WriteHeader(http.StatusTooManyRequests)
		},
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.example/v1", http.StatusFound)
		},
	}
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if answers[name] == nil {
			t.Errorf("a request for %s", r.URL)
			return
		}
		answers[name](w, r)
	}))
	t.Cleanup(plain.Close)
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			t.Errorf("the proxy got %s", r.Method)
		}
		w.WriteHeader(http.StatusProxyAuthRequired)
	}))
	t.Cleanup(proxy.Close)
	bad := strings.Replace(secure.URL, "https:", "http:", 1)
	for _, c := range []struct {
		name, url string
		env       []string
		want      string
	}{
		{"a wrong key", plain.URL + "/key", nil, `401 invalid_api_key: Incorrect API key provided: [key]; the key of [provider.work] comes from the environment variable WEIR_TEST_KEY`},
		{"an unknown model", plain.URL + "/model", nil, `404 model_not_found: The model 'm' does not exist; check the model's id and base_url of [provider.work]`},
		{"no API", plain.URL + "/page", nil, `is base_url of [provider.work] that of the API? It begins: <html>It works!</html>`},
		{"a quota", plain.URL + "/quota", nil, `429 status code (no body) (retry after 86400s)`},
		{"a redirect", plain.URL + "/redirect", nil, `302 Found: the server redirects to https://elsewhere.example/v1; weir does not follow`},
		{"a certificate", secure.URL, nil, `TLS: the server's certificate was refused: `},
		{"https without TLS", strings.Replace(plain.URL, "http:", "https:", 1), nil, `TLS: the server does not speak it: should base_url of [provider.work] start with http:// ?`},
		{"TLS without https", bad, nil, "400 Bad Request: "},
		{
			"a proxy", "https://models.example",
			[]string{"HTTPS_PROXY=" + proxy.URL, "https_proxy=", "NO_PROXY=", "no_proxy="},
			`407 Proxy Authentication Required: the proxy 127.0.0.1 would not connect; it comes from HTTPS_PROXY or HTTP_PROXY in the environment, which can hold a name and a password`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHome(t, strings.Replace(chatModels, "http://127.0.0.1:9/v1", c.url, 1))
			h.env = append(h.env, c.env...)
			begin := time.Now()
			out, errOut := h.weir(exitFailed, "run", "hello")
			if took := time.Since(begin); took > 10*time.Second {
				t.Errorf("it took %v: it was tried again", took)
			}
			found := false
			for _, line := range strings.Split(out, "\n") {
				found = found || strings.HasPrefix(line, "  error ") && strings.Contains(line, c.want)
			}
			if !found {
				t.Errorf("no line says %q:\n%s", c.want, out)
			}
			h.noKey(out, errOut)
		})
	}
}

// TestNobodyThere: a server or a proxy that does not answer may be up soon, so it is tried again; the line that says so says what
// to look at.
func TestNobodyThere(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	for _, c := range []struct {
		name, url string
		env       []string
		want      string
	}{
		{"a server", gone.URL, nil, "connect: connection refused; is the server at base_url of [provider.work] up?"},
		{
			"a proxy", "https://models.example",
			[]string{"HTTPS_PROXY=" + gone.URL, "https_proxy=", "NO_PROXY=", "no_proxy="},
			"the proxy did not carry the request: dial tcp ",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHome(t, strings.Replace(chatModels, "http://127.0.0.1:9/v1", c.url, 1))
			cmd := exec.Command("weir", "run", "--output", "json", "hello")
			cmd.Dir, cmd.Env = h.project, append(h.env, c.env...)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines, told := newLineReader(out), false
			for !told {
				line, err := lines.read(t.Context())
				if err != nil {
					t.Fatalf("it ended without a retry: %v", err)
				}
				if strings.HasPrefix(line, `{"type":"auto_retry_start",`) {
					told = true
					contains(t, line, c.want)
				}
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if cmd.Wait() == nil {
				t.Error("it was not killed")
			}
		})
	}
}

package wasmhost_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir/wasmhost"
)

// rule allows requests to a test server, which has a loopback address: it is named literally.
func rule(t *testing.T, server *httptest.Server, path string, methods ...string) wasmhost.HTTPRule {
	t.Helper()
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	return wasmhost.HTTPRule{Methods: methods, Scheme: u.Scheme, Host: u.Hostname(), Port: port, Path: path}
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func fetch(method, address string) string {
	return fmt.Sprintf(`{"op":"request","method":%q,"url":%q}`, method, address)
}

func TestHTTP(t *testing.T) {
	var got []string
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = append(got, fmt.Sprintf("%s %s %s %q agent=%s encoding=%q close=%v", r.Method, r.URL.RequestURI(), r.Header.Get("X-Key"), body, r.Header.Get("User-Agent"), r.Header.Get("Accept-Encoding"), r.Close))
		w.Header().Add("X-Two", "1")
		w.Header().Add("X-Two", "2")
		w.Header()["Date"] = nil
		if r.URL.Path == "/v1/none" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		fmt.Fprint(w, "ok\xff")
	})
	c := wasmhost.HTTP([]wasmhost.HTTPRule{rule(t, s, "/v1", "GET", "POST")})
	talk(
		t, c,
		exchange{`{"op":"request","url":"` + s.URL + `/v1"}`, `{"status":200,"headers":{"content-length":"3","content-type":"text/plain; charset=utf-8","x-two":"1, 2"},"body":"b2v/"}`},
		exchange{`{"op":"request","method":"POST","url":"` + s.URL + `/v1/x?q=1","headers":{"x-key":"k"},"body":"aGk="}`, `{"status":200,"headers":{"content-length":"3","content-type":"text/plain; charset=utf-8","x-two":"1, 2"},"body":"b2v/"}`},
		exchange{fetch("GET", s.URL+"/v1/none"), `{"status":404,"headers":{"content-length":"0","x-two":"1, 2"},"body":""}`},
		exchange{`{"op":"request","url":"` + s.URL + `/v1","headers":{"user-agent":"mine"}}`, `{"status":200,"headers":{"content-length":"3","content-type":"text/plain; charset=utf-8","x-two":"1, 2"},"body":"b2v/"}`},
	)
	want := []string{`GET /v1  "" agent=weir encoding="" close=true`, `POST /v1/x?q=1 k "hi" agent=weir encoding="" close=true`, `GET /v1/none  "" agent=weir encoding="" close=true`, `GET /v1  "" agent=mine encoding="" close=true`}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("what the server saw (-want +got):\n%s", d)
	}
	got = nil
	host := strings.TrimPrefix(s.URL, "http://")
	_, port, _ := strings.Cut(host, ":")
	for request, want := range map[string]string{
		fetch("DELETE", s.URL+"/v1"):                                       "request: DELETE " + s.URL + "/v1 is not granted",
		fetch("get", s.URL+"/v1"):                                          "request: get " + s.URL + "/v1 is not granted",
		fetch("GET", s.URL+"/v10"):                                         "request: GET " + s.URL + "/v10 is not granted",
		fetch("GET", s.URL):                                                "request: GET " + s.URL + " is not granted",
		fetch("GET", s.URL+"/"):                                            "request: GET " + s.URL + "/ is not granted",
		fetch("GET", s.URL+"/V1"):                                          "request: GET " + s.URL + "/V1 is not granted",
		fetch("GET", s.URL+"//v1"):                                         "request: GET " + s.URL + "//v1 is not granted",
		fetch("GET", "https://"+host+"/v1"):                                "request: GET https://" + host + "/v1 is not granted",
		fetch("GET", "http://127.0.0.1/v1"):                                "request: GET http://127.0.0.1/v1 is not granted",
		fetch("GET", "http://localhost:"+port+"/v1"):                       "request: GET http://localhost:" + port + "/v1 is not granted",
		fetch("GET", "http://2130706433:"+port+"/v1"):                      "request: GET http://2130706433:" + port + "/v1 is not granted",
		fetch("GET", "http://[::ffff:127.0.0.1]:"+port+"/v1"):              "request: GET http://[::ffff:127.0.0.1]:" + port + "/v1 is not granted",
		fetch("GET", s.URL+"/v1/../secret"):                                `request: the URL has a path with ., .., \ or an escaped slash`,
		fetch("GET", s.URL+"/v1/%2e%2e/secret"):                            `request: the URL has a path with ., .., \ or an escaped slash`,
		fetch("GET", s.URL+"/v1%2fx"):                                      `request: the URL has a path with ., .., \ or an escaped slash`,
		fetch("GET", s.URL+`/v1\..\x`):                                     `request: the URL has a path with ., .., \ or an escaped slash`,
		fetch("GET", "http://user:pw@"+host+"/v1"):                         "request: the URL has a user name; use the header Authorization",
		fetch("GET", "http://"+host+"@evil.example/v1"):                    "request: the URL has a user name; use the header Authorization",
		fetch("GET", "file:///etc/passwd"):                                 "request: the URL starts neither with https:// nor with http://",
		fetch("GET", "http:/v1"):                                           "request: the URL has no host",
		fetch("GET", "http:opaque"):                                        "request: the URL has no host",
		fetch("GET", "/v1"):                                                "request: the URL starts neither with https:// nor with http://",
		fetch("GET", "http://127.0.0.1:99999/v1"):                          `request: the URL has the port "99999"`,
		fetch("GET", "http://[::1/v1"):                                     "request: the URL does not parse",
		`{"op":"request"}`:                                                 `request: key "url" is missing`,
		`{"op":"get","url":"` + s.URL + `"}`:                               `unknown op "get" (known: request)`,
		`{"op":"request","url":"` + s.URL + `/v1","body":"?"}`:             `request: key "body": not base64`,
		`{"op":"request","url":"` + s.URL + `/v1","headers":{"Host":"a"}}`: `request: the header "Host" is not the guest's to set`,
		`{"op":"request","url":"` + s.URL + `/v1","headers":{"transfer-encoding":"chunked"}}`:                                 `request: the header "transfer-encoding" is not the guest's to set`,
		`{"op":"request","url":"` + s.URL + `/v1","headers":{"Proxy-Authorization":"a"}}`:                                     `request: the header "Proxy-Authorization" is not the guest's to set`,
		`{"op":"request","url":"` + s.URL + `/v1","headers":{"a":1}}`:                                                         `request: key "headers": "a": want a text`,
		`{"op":"request","url":"` + s.URL + `/v1","headers":{"a":"b","a":"c"}}`:                                               `request: key "headers": key "a" is given twice`,
		`{"op":"request","url":"` + s.URL + `/v1","headers":[]}`:                                                              `request: key "headers": want a JSON object`,
		`{"op":"request","url":"` + s.URL + `/v1","timeout":1}`:                                                               `request: unknown key "timeout"; known are body, headers, method, op, url`,
		`{"op":"request","url":"` + s.URL + `/v1","body":"` + base64.StdEncoding.EncodeToString(make([]byte, 1<<20+1)) + `"}`: "request: a body of 1048577 bytes, more than the limit of 1048576",
	} {
		if answer := ask(t, c, request); answer != "error: "+want {
			t.Errorf("%s\ngot  %s\nwant error: %s", short(request), short(answer), want)
		}
	}
	// Headers that would break out of their line are refused by net/http.
	for _, bad := range []string{`{"a":"b\r\nc: d"}`, `{"a b":"c"}`, `{"":"c"}`, `{"a\n":"c"}`, `{"A":"1","a":"2"}`} {
		if answer := ask(t, c, `{"op":"request","url":"`+s.URL+`/v1","headers":`+bad+`}`); !strings.HasPrefix(answer, "error: request: ") {
			t.Errorf("%s: %s", bad, answer)
		}
	}
	if len(got) > 0 {
		t.Errorf("what is refused reached the server: %q", got)
	}
}

func TestHTTPRedirects(t *testing.T) {
	other := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the other host was asked") })
	var s *httptest.Server
	hops := 0
	s = serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/same":
			http.Redirect(w, r, "/v1/end", http.StatusFound)
		case "/v1/post":
			http.Redirect(w, r, "/v1/end", http.StatusSeeOther)
		case "/v1/out":
			http.Redirect(w, r, "/v2/end", http.StatusFound)
		case "/v1/other":
			http.Redirect(w, r, other.URL+"/v1/end", http.StatusTemporaryRedirect)
		case "/v1/private":
			http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/", http.StatusFound)
		case "/v1/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case "/v1/loop":
			hops++
			http.Redirect(w, r, "/v1/loop", http.StatusFound)
		case "/v1/end":
			fmt.Fprint(w, r.Method)
		default:
			t.Errorf("%s was asked", r.URL.Path)
		}
	})
	c := wasmhost.HTTP([]wasmhost.HTTPRule{rule(t, s, "/v1", "GET"), rule(t, s, "/v1/post", "POST"), rule(t, s, "/v1/other", "POST"), {Methods: []string{"GET", "POST"}, Scheme: "http", Host: "169.254.169.254", Port: 80, Path: "/"}, rule(t, other, "/", "GET", "POST")})
	for path, want := range map[string]string{
		"GET /v1/same":    "GET",
		"POST /v1/post":   "GET",
		"GET /v1/out":     "error: request: GET " + s.URL + "/v2/end is not granted",
		"GET /v1/other":   "error: request: it redirects to another host: " + other.URL,
		"POST /v1/other":  "error: request: it redirects to another host: " + other.URL,
		"GET /v1/private": "error: request: it redirects to another host: http://169.254.169.254",
		"GET /v1/file":    "error: request: it redirects to another host: file://",
		"GET /v1/loop":    "error: request: more than 5 redirects",
	} {
		method, path, _ := strings.Cut(path, " ")
		got := ask(t, c, fetch(method, s.URL+path))
		var answer struct{ Body []byte }
		if json.Unmarshal([]byte(got), &answer) == nil {
			got = string(answer.Body)
		}
		if got != want {
			t.Errorf("%s %s\ngot  %s\nwant %s", method, path, got, want)
		}
	}
	if hops != 6 {
		t.Errorf("a loop was followed %d times", hops)
	}
}

func TestHTTPLimits(t *testing.T) {
	release := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		size, _ := strconv.Atoi(r.URL.Query().Get("size"))
		switch r.URL.Path {
		case "/hang":
			select {
			case <-release:
			case <-r.Context().Done():
			}
		case "/drip":
			for i := range size {
				if _, err := fmt.Fprint(w, i); err != nil {
					return
				}
				w.(http.Flusher).Flush()
				select {
				case <-time.After(20 * time.Millisecond):
				case <-r.Context().Done():
					return
				}
			}
		case "/headers":
			w.Header().Set("X-Large", strings.Repeat("x", size))
		default:
			_, _ = w.Write(make([]byte, size)) // the client may not want it all
		}
	})
	c := wasmhost.HTTP([]wasmhost.HTTPRule{rule(t, s, "/", "GET")})
	if got := ask(t, c, fetch("GET", s.URL+"/?size=1048576")); !strings.HasPrefix(got, `{"status":200`) {
		t.Errorf("1 MiB: %s", short(got))
	}
	for path, want := range map[string]string{
		"/?size=1048577":       "the response is larger than the limit of 1048576 bytes",
		"/?size=50000000":      "the response is larger than the limit of 1048576 bytes",
		"/headers?size=100000": "server response headers exceeded 65536 bytes",
	} {
		if got := ask(t, c, fetch("GET", s.URL+path)); !strings.HasPrefix(got, "error: request: ") || !strings.HasSuffix(strings.TrimSuffix(got, "; aborted"), want) {
			t.Errorf("%s: %s", path, short(got))
		}
	}
	// A guest's deadline is the request's, whether the server hangs or drips.
	for _, path := range []string{"/hang", "/drip?size=1000000"} {
		caps := grants()
		caps["http"] = c
		p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Capabilities: caps, Limits: wasmhost.Limits{Timeout: 100 * time.Millisecond}})
		request := fetch("GET", s.URL+path)
		start := time.Now()
		_, _, err := p.try(t, poke(64, request), op("weir_http", 64, uint64(len(request))))
		wantFault(t, err, wasmhost.KindDeadline)
		if took := time.Since(start); took > 100*time.Millisecond+slack {
			t.Errorf("%s ended after %v", path, took)
		}
	}
	close(release)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Handle(ctx, []byte(fetch("GET", s.URL+"/"))); err == nil {
		t.Error("a cancelled request was made")
	}
	s.Close()
	if got := ask(t, c, fetch("GET", s.URL+"/")); !strings.Contains(got, "refused") {
		t.Errorf("a server that is gone: %s", got)
	}
}

// TestHTTPNames: a name that resolves to a private address is refused, whatever its rule says.
func TestHTTPNames(t *testing.T) {
	s := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the server was reached by a name") })
	r := rule(t, s, "/", "GET")
	r.Host = "localhost"
	got := ask(t, wasmhost.HTTP([]wasmhost.HTTPRule{r}), fetch("GET", fmt.Sprintf("http://LocalHost:%d/", r.Port)))
	if !strings.Contains(got, "LocalHost has the address ") || !strings.Contains(got, ", which is not a public one") {
		if _, err := net.DefaultResolver.LookupHost(t.Context(), "localhost"); err != nil {
			t.Skip(err)
		}
		t.Errorf("got %s", got)
	}
}

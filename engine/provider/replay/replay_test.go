package replay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"go.uber.org/goleak"

	"weir/agentcore"
	"weir/engine/provider/anthropic"
	"weir/engine/provider/internal/wiretest"
	"weir/engine/provider/openai"
	"weir/engine/provider/replay"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "sk-live-0123456789abcdef"

// wires are the providers, each with its fixtures.
func wires() map[string]func(base string, transport http.RoundTripper) agentcore.Provider {
	key := func(context.Context) (string, error) { return secret, nil }
	config := func(base string, transport http.RoundTripper) openai.Config {
		return openai.Config{BaseURL: base + "/v1", Transport: transport, Now: wiretest.Clock, Key: key, Effort: true}
	}
	return map[string]func(string, http.RoundTripper) agentcore.Provider{
		"anthropic/testdata": func(base string, transport http.RoundTripper) agentcore.Provider {
			return anthropic.New(anthropic.Config{BaseURL: base, Transport: transport, Now: wiretest.Clock, Key: key})
		},
		"openai/testdata/chat": func(base string, transport http.RoundTripper) agentcore.Provider {
			return openai.NewChat(config(base, transport))
		},
		"openai/testdata/responses": func(base string, transport http.RoundTripper) agentcore.Provider {
			return openai.NewResponses(config(base, transport))
		},
	}
}

func model() agentcore.Model {
	return agentcore.Model{ID: "m", API: "a", Provider: "p", Input: []string{"text", "image"}, ContextWindow: 200_000, MaxTokens: 32_000}
}

// TestEveryFixture records each fixture of every provider and plays it back through the real SDK: the events and the
// message must be the same, and the key must not be in the recording.
func TestEveryFixture(t *testing.T) {
	for dir, provide := range wires() {
		files, err := filepath.Glob("../" + dir + "/*.txtar")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no fixtures: %v", dir, err)
		}
		for _, file := range files {
			t.Run(dir+"/"+filepath.Base(file), func(t *testing.T) { recordAndPlay(t, file, provide) })
		}
	}
}

func recordAndPlay(t *testing.T, file string, provide func(string, http.RoundTripper) agentcore.Provider) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string][]byte{}
	for _, f := range archive.Files {
		parts[f.Name] = f.Data
	}
	server := wiretest.Serve(t, string(parts["response"]))
	req := wiretest.Ask(t, model(), parts["request"])
	path := filepath.Join(t.TempDir(), "run.jsonl")
	recorder, err := replay.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	recorder.Next = server.Transport
	want := wiretest.Play(t, provide(server.URL, recorder), req)
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the recording has mode %v, %v", info.Mode(), err)
	}
	if bytes.Contains(text, []byte(secret)) {
		t.Errorf("the recording holds the key:\n%s", text)
	}
	player, err := replay.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	// Another host: a recording does not depend on where the server was.
	got := wiretest.Play(t, provide("http://elsewhere.example", player), req)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-live +replayed):\n%s", diff)
	}
	if player.Left() != 0 {
		t.Errorf("%d exchanges are left", player.Left())
	}
	again := wiretest.Play(t, provide("http://elsewhere.example", player), req)
	if !strings.Contains(again, "the recording has 1 requests, and this is one more") || !strings.Contains(again, "class: final") {
		t.Errorf("a request too many: %s", again)
	}
}

const head = `{"format":"weir provider recording","version":1}` + "\n"

// recording is one exchange with a small request.
func recording(lines ...string) string {
	return head + `{"exchange":1,"request":{"method":"POST","url":"http://a.example/v1/x?b=1","headers":{"Content-Type":["application/json"],"X-Beta":["one"],"User-Agent":["old"]},` +
		`"body":{"model":"m","n":1.0,"messages":[{"role":"user","content":"What is the answer to everything that anybody has ever asked, please?"},{"role":"user"}]}}}` + "\n" +
		strings.Join(lines, "\n")
}

// play sends a request to a recording, and gives what a header X-A and the body say.
func play(t *testing.T, text string, change func(*http.Request), body string) (header, got string, err error) {
	t.Helper()
	player, err := replay.Read("run.jsonl", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://b.example/v1/x?b=1", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Beta", "one")
	req.Header.Set("User-Agent", "new")
	req.Header.Set("X-Api-Key", secret)
	if change != nil {
		change(req)
	}
	res, err := player.RoundTrip(req)
	if err != nil {
		return "", "", err
	}
	raw, err := io.ReadAll(res.Body)
	return res.Header.Get("X-A"), string(raw), errors.Join(err, res.Body.Close())
}

const same = `{"n":1.0, "model":"m","messages":[{"role":"user","content":"What is the answer to everything that anybody has ever asked, please?"},{"role":"user"}]}`

func TestMismatch(t *testing.T) {
	const response = `{"exchange":1,"response":{"status":200,"headers":{}}}` + "\n" + `{"exchange":1,"end":{}}` + "\n"
	if _, _, err := play(t, recording(response), nil, same); err != nil {
		t.Errorf("the same request: %v", err)
	}
	for _, c := range []struct {
		name   string
		change func(*http.Request)
		body   string
		want   string
	}{
		{"path", func(r *http.Request) { r.URL.Path = "/v1/y" }, same, `path: recorded "/v1/x?b=1", now "/v1/y?b=1"`},
		{"method", func(r *http.Request) { r.Method = "PUT" }, same, `method: recorded "POST", now "PUT"`},
		{"header", func(r *http.Request) { r.Header.Set("X-Beta", "two") }, same, `header x-beta: recorded "one", now "two"`},
		{"header more", func(r *http.Request) { r.Header.Set("X-More", "1") }, same, `header x-more: recorded "", now "1"`},
		{
			"deep", nil, strings.Replace(same, "ever asked, please", "never asked, please", 1),
			`body.messages[0].content: recorded …"ng that anybody has ever asked, please?", now …"ng that anybody has never asked, please?"`,
		},
		{"number", nil, strings.Replace(same, "1.0", "2", 1), `body.n: recorded "1.0", now "2"`},
		{"gone", nil, strings.Replace(same, `"model":"m",`, "", 1), `body.model: recorded "\"m\"", now absent`},
		{"new", nil, strings.Replace(same, `{"n"`, `{"z":null,"n"`, 1), `body.z: not recorded, now "null"`},
		{"length", nil, strings.Replace(same, `,{"role":"user"}]`, "]", 1), `body.messages: recorded 2 elements, now 1`},
		{"type", nil, strings.Replace(same, `"m"`, `["m"]`, 1), `body.model: recorded "\"m\"", now "[\"m\"]"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := play(t, recording(response), c.change, c.body)
			var mismatch *replay.MismatchError
			if !errors.As(err, &mismatch) {
				t.Fatalf("error %v", err)
			}
			if want := "replay: request 1 is not the recorded one; " + c.want; err.Error() != want {
				t.Errorf("got  %s\nwant %s", err, want)
			}
		})
	}
	_, _, err := play(t, recording(response), nil, `{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}`)
	if err == nil || !strings.HasSuffix(err.Error(), "; and more") {
		t.Errorf("many differences: %v", err)
	}
}

func TestBadRecording(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "x: empty; is it a recording?"},
		{"other", "{}\n", "x:1: not a weir provider recording of version 1"},
		{"version", `{"format":"weir provider recording","version":2}` + "\n", "x:1: not a weir provider recording of version 1"},
		{"no JSON", head + "oops\n" + head, `x:2: invalid character 'o' looking for beginning of value`},
		{"unknown", head + `{"exchange":1,"what":1}` + "\n", `x:2: json: unknown field "what"`},
		{"order", head + `{"exchange":2,"request":{}}` + "\n", "x:2: request of exchange 2, expected 1"},
		{"no request", head + `{"exchange":1,"end":{}}` + "\n", "x:2: exchange 1 has no request"},
		{"no response", recording(`{"exchange":1,"chunk":"a"}`), "x:3: exchange 1: a body without a response"},
		{"nothing", recording(`{"exchange":1}`), "x:3: neither request, response, chunk nor end"},
		{"status", recording(`{"exchange":1,"response":{"status":7,"headers":{}}}`), "x:3: exchange 1: a response that cannot be"},
		{"base64", recording(`{"exchange":1,"response":{"status":200,"headers":{}}}`, `{"exchange":1,"base64":"!"}`, ""), "x:4: base64: illegal base64 data at input byte 0"},
		{"after the end", recording(`{"exchange":1,"end":{}}`, `{"exchange":1,"end":{}}`), "x:4: exchange 1 goes on after its end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := replay.Read("x", strings.NewReader(c.text))
			var typed *replay.Error
			if !errors.As(err, &typed) || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
	if _, err := replay.Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// TestTorn shows that a recording whose program was killed plays as far as it goes.
func TestTorn(t *testing.T) {
	header, body, err := play(t, recording(`{"exchange":1,"response":{"status":200,"headers":{"x-a":["b"]}}}`, `{"exchange":1,"chunk":"so "}`, `{"exchange":1,"chu`), nil, same)
	if body != "so " || !errors.Is(err, io.ErrUnexpectedEOF) || header != "b" {
		t.Errorf("%q, %v, %q", body, err, header)
	}
}

func TestNetworkErrors(t *testing.T) {
	_, _, err := play(t, recording(`{"exchange":1,"end":{"error":"dial tcp: lookup a.example: no such host"}}`), nil, same)
	var network *replay.NetworkError
	if !errors.As(err, &network) || err.Error() != "dial tcp: lookup a.example: no such host" {
		t.Errorf("error %v", err)
	}
}

// TestPace shows that a player can keep the time of the recording, and stops when the request is cancelled.
func TestPace(t *testing.T) {
	player, err := replay.Read("x", strings.NewReader(recording(
		`{"exchange":1,"ms":40,"response":{"status":200,"headers":{}}}`, `{"exchange":1,"ms":80,"chunk":"a"}`,
		`{"exchange":1,"ms":60000,"chunk":"b"}`, `{"exchange":1,"end":{}}`)))
	if err != nil {
		t.Fatal(err)
	}
	player.Pace = true
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://a.example/v1/x?b=1", strings.NewReader(same))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Beta", "one")
	start := time.Now()
	res, err := player.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	buf := make([]byte, 8)
	if n, err := res.Body.Read(buf); err != nil || string(buf[:n]) != "a" {
		t.Errorf("%q, %v", buf[:n], err)
	}
	if took := time.Since(start); took < 80*time.Millisecond {
		t.Errorf("the first piece came after %s", took)
	}
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := res.Body.Read(buf); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestSecrets shows what is taken out of a recording, wherever it stands.
func TestSecrets(t *testing.T) {
	var out bytes.Buffer
	recorder := replay.NewRecorder(&out)
	recorder.Next = roundTripper(func(req *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: http.StatusUnauthorized, Header: http.Header{"Set-Cookie": {"id=" + secret}, "X-Echo": {"got " + secret}},
			Body: io.NopCloser(strings.NewReader("bad key " + secret + "\xff")), Request: req,
		}, nil
	})
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost,
		"https://user:"+secret+"@a.example/v1?key="+secret+"&b=1", strings.NewReader(`{"oops":"`+secret+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"X-Api-Key", "Api-Key", "Cookie", "X-Goog-Api-Key", "X-My-Token"} {
		req.Header.Set(name, secret)
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	res, err := recorder.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(res.Body); err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), secret) {
		t.Errorf("the recording holds the key:\n%s", out.String())
	}
	if !strings.Contains(out.String(), `{"oops":"[key]"}`) || !strings.Contains(out.String(), "got [key]") {
		t.Errorf("the recording misses what it should hold:\n%s", out.String())
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

type failing struct{ left int }

func (f *failing) Write(p []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

// TestFullDisk shows that a recording that fails does not stop the run, and is not passed over in silence.
func TestFullDisk(t *testing.T) {
	recorder := replay.NewRecorder(&failing{left: 2})
	recorder.Next = roundTripper(func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("ok")), Request: req}, nil
	})
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://a.example/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := recorder.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(res.Body); err != nil || string(body) != "ok" {
		t.Errorf("%q, %v", body, err)
	}
	_ = res.Body.Close()
	if err := recorder.Close(); err == nil || err.Error() != "disk full" {
		t.Errorf("Close: %v", err)
	}
}

func TestCreateDoesNotOverwrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := replay.Create(path); !errors.Is(err, os.ErrExist) {
		t.Errorf("error %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(recording(`{"exchange":1,"response":{"status":200,"headers":{}}}`, `{"exchange":1,"base64":"/w=="}`, `{"exchange":1,"end":{"error":"x"}}`, ""))
	f.Add(head)
	f.Fuzz(func(t *testing.T, text string) {
		player, err := replay.Read("x", strings.NewReader(text))
		if (player == nil) == (err == nil) {
			t.Fatalf("%v, %v", player, err)
		}
		if err != nil {
			return
		}
		for range player.Left() {
			req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://a.example/v1/x?b=1", strings.NewReader(same))
			if err != nil {
				t.Fatal(err)
			}
			res, err := player.RoundTrip(req)
			if err != nil {
				_ = fmt.Sprint(err)
				continue
			}
			// What a broken body gives does not matter, as long as it ends.
			_, _ = io.ReadAll(res.Body)
			_ = res.Body.Close()
		}
	})
}

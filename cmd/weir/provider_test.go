package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// testKey is what the tests' provider gets as a key. It must be nowhere else.
const testKey = "sk-test-cd0f1b7e5a"

// chatServer speaks OpenAI's chat protocol: it has a command run, then says what it is told to.
type chatServer struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string
	keys     []string
	policy   []string // the header x-policy of each
}

func newChatServer(t *testing.T) *chatServer {
	t.Helper()
	s := &chatServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		s.requests = append(s.requests, string(body))
		s.keys = append(s.keys, r.Header.Get("Authorization"))
		s.policy = append(s.policy, r.Header.Get("X-Policy"))
		s.mu.Unlock()
		if r.URL.Path == "/v1/models" {
			fmt.Fprint(w, `{"object":"list","data":[{"id":"m","object":"model"}]}`)
			return
		}
		if r.URL.Path != "/v1/chat/completions" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		delta, reason := `{"content":"All is well."}`, "stop"
		var request struct {
			Messages []struct {
				Role    string
				Content json.RawMessage
			}
		}
		if err := json.Unmarshal(body, &request); err != nil {
			t.Error(err)
		}
		if last := request.Messages[len(request.Messages)-1]; last.Role == "user" && strings.Contains(string(last.Content), "look around") {
			args := `"{\"command\":\"echo out; env\"}"`
			if strings.Contains(string(last.Content), "destroy") { // the home folder is the test's, in case the guard fails
				args = `"{\"command\":\"rm -rf ~/*\"}"`
			}
			delta = `{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"bash","arguments":` + args + `}}]}`
			reason = "tool_calls"
		}
		fmt.Fprintf(w, "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":null}]}\n\n", delta)
		fmt.Fprintf(w, "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3,\"total_tokens\":10}}\n\n", reason)
		fmt.Fprint(w, "data: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return s
}

// seen are the requests so far, and the keys that came with them.
func (s *chatServer) seen() (requests, keys []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.requests...), append([]string{}, s.keys...)
}

// home is a folder of the user's with a models.toml, an empty project and a module cache, in which weir runs.
type home struct {
	t            *testing.T
	dir, project string
	env          []string
}

func newHome(t *testing.T, models string) *home {
	t.Helper()
	h := &home{t: t, dir: t.TempDir()}
	h.project = filepath.Join(h.dir, "project")
	config := filepath.Join(h.dir, "config", "weir")
	for _, dir := range []string{h.project, config} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(config, "models.toml"), []byte(models), 0o600); err != nil {
		t.Fatal(err)
	}
	h.env = append(os.Environ(), "HOME="+h.dir, "XDG_CONFIG_HOME="+filepath.Join(h.dir, "config"), "XDG_DATA_HOME="+filepath.Join(h.dir, "data"),
		"WEIR_CACHE_DIR="+filepath.Join(h.dir, "cache"), "WEIR_TEST_KEY="+testKey, "ANTHROPIC_API_KEY=")
	return h
}

// weir runs the command and fails the test when its exit code is another.
func (h *home) weir(code int, args ...string) (stdout, stderr string) {
	h.t.Helper()
	cmd := exec.Command("weir", args...) // in PATH since TestMain
	var out, errOut strings.Builder
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = h.project, h.env, &out, &errOut
	err := cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != code {
		h.t.Fatalf("weir %q: exit code %d, want %d (%v)\n%s%s", args, got, code, err, out.String(), errOut.String())
	}
	return out.String(), errOut.String()
}

// sessions are the session files.
func (h *home) sessions() []string {
	h.t.Helper()
	files, err := filepath.Glob(filepath.Join(h.dir, "data", "weir", "sessions", "*", "*.jsonl"))
	if err != nil {
		h.t.Fatal(err)
	}
	return files
}

// noKey fails the test when the key is in a file or in one of the texts.
func (h *home) noKey(texts ...string) {
	h.t.Helper()
	for i, text := range texts {
		if strings.Contains(text, testKey) {
			h.t.Errorf("text %d holds the key", i+1)
		}
	}
	err := filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), testKey) {
			h.t.Errorf("%s holds the key", path)
		}
		return err
	})
	if err != nil {
		h.t.Error(err)
	}
}

const chatModels = `
default = "work/m"

[provider.work]
kind     = "openai-chat"
base_url = "http://127.0.0.1:9/v1"
key_env  = "WEIR_TEST_KEY"
`

// contains fails the test when a text lacks one of the parts.
func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in:\n%s", part, text)
		}
	}
}

// TestRunWithAServer: a model behind a server of one's own has a command run, held by a guard; the session is kept and gone
// on with; the key is where it has to be and nowhere else.
func TestRunWithAServer(t *testing.T) {
	server := newChatServer(t)
	h := newHome(t, chatModels)
	url := server.URL + "/v1"
	out, errOut := h.weir(0, "run", "--base-url", url, "-e", "bundled:guard-shell", "look around")
	contains(t, out, "▸ bash echo out; env", "✓ bash out", "model All is well.", "the session is kept in ")
	requests, keys := server.seen()
	if len(requests) != 2 || keys[0] != "Bearer "+testKey || keys[1] != keys[0] {
		t.Fatalf("%d requests with the keys %q", len(requests), keys)
	}
	if strings.Contains(strings.Join(requests, ""), "WEIR_TEST_KEY") {
		t.Error("a command got the variable that holds the key")
	}
	h.noKey(append(requests, out, errOut)...)

	out, _ = h.weir(0, "run", "--base-url", url, "-e", "bundled:guard-shell", "look around and destroy")
	contains(t, out, "guard-shell tool_call BLOCKED")

	files := h.sessions()
	if len(files) != 2 {
		t.Fatalf("%d session files, want 2", len(files))
	}
	info, err := os.Stat(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the session file has the mode %v", info.Mode())
	}
	out, _ = h.weir(0, "run", "--base-url", url, "--continue", "--output", "json", "and now?")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	contains(t, lines[0], `{"type":"session","version":3,`)
	if lines[len(lines)-1] != `{"type":"agent_settled"}` {
		t.Errorf("the last line is %s", lines[len(lines)-1])
	}
	contains(t, out, `"delta":"All is well."`)
	requests, _ = server.seen()
	contains(t, requests[len(requests)-1], "look around", "and now?")
	if n := len(h.sessions()); n != 2 {
		t.Errorf("%d session files after --continue, want 2", n)
	}
	h.weir(0, "run", "--base-url", url, "--no-session", "hello")
	if n := len(h.sessions()); n != 2 {
		t.Errorf("%d session files after --no-session, want 2", n)
	}
}

// TestInterrupted: an interrupt ends the run in order, and what was said so far is kept.
func TestInterrupted(t *testing.T) {
	begun, over := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"half a word\"}}]}\n\n")
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		close(begun)
		<-r.Context().Done() // the program closes the connection
		close(over)
	}))
	t.Cleanup(server.Close)
	h := newHome(t, strings.Replace(chatModels, "http://127.0.0.1:9", server.URL, 1))
	cmd := exec.Command("weir", "run", "--output", "json", "hello")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Dir, cmd.Env = h.project, h.env
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-begun
	var text strings.Builder
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		fmt.Fprintln(&text, lines.Text())
		if strings.Contains(lines.Text(), `"delta":"half a word"`) {
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	<-over
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitFailed {
		t.Errorf("it ended with %v, want exit code %d", err, exitFailed)
	}
	contains(t, text.String(), `"stopReason":"aborted"`, "{\"type\":\"agent_settled\"}\n")
	files := h.sessions()
	if len(files) != 1 {
		t.Fatalf("%d session files, want 1", len(files))
	}
	kept, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	contains(t, string(kept), "hello", "half a word")
}

// TestSessionsOfAFolder: sessions are listed by folder, and named by a part of the id.
func TestSessionsOfAFolder(t *testing.T) {
	server := newChatServer(t)
	h := newHome(t, strings.Replace(chatModels, "http://127.0.0.1:9", server.URL, 1))
	_, errOut := h.weir(0, "sessions", "list")
	contains(t, errOut, "there are no sessions here")
	h.weir(0, "run", "first words")
	h.weir(0, "run", "look around")
	out, _ := h.weir(0, "sessions", "list")
	contains(t, out, "   2 messages  first words\n", "   4 messages  look around\n")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d sessions are listed", len(lines))
	}
	contains(t, lines[0], "look around")
	id, _, _ := strings.Cut(lines[1], " ")
	out, _ = h.weir(0, "sessions", "show", id)
	contains(t, out, "about "+h.project, "## User\n\nfirst words\n", "## Assistant (work/m)\n\nAll is well.\n")
	h.weir(0, "sessions", "name", id, "The  first")
	h.weir(0, "sessions", "fork", id)
	out, _ = h.weir(0, "sessions", "list", "--all")
	if strings.Count(out, "The first  ("+h.project+")") != 2 {
		t.Errorf("want the named session and its fork:\n%s", out)
	}
	h.weir(0, "sessions", "delete", id)
	_, errOut = h.weir(2, "sessions", "show", id)
	contains(t, errOut, `there is no session "`+id+`"`)
	if n := len(h.sessions()); n != 2 {
		t.Errorf("%d sessions are left, want 2", n)
	}
	_, errOut = h.weir(2, "sessions", "show", "0")
	contains(t, errOut, `"0" may be several sessions`)
	out, _ = h.weir(0, "sessions", "list", "--cwd", h.dir)
	if out != "" {
		t.Errorf("another folder has sessions: %s", out)
	}
}

// TestExtensionsAtTheWire: extensions see and change what is really sent, hear of the answer, and never see the key; what they
// did at the end of the session comes before agent_settled.
func TestExtensionsAtTheWire(t *testing.T) {
	server := newChatServer(t)
	h := newHome(t, strings.Replace(chatModels, "http://127.0.0.1:9", server.URL, 1))
	policy := `
export function before_provider_headers(e) {
  console.info("headers " + JSON.stringify(e.headers));
  return { headers: { "x-policy": "here" } };
}
export function before_provider_request(e) { return { payload: { ...e.payload, temperature: 0.25 } }; }
export function after_provider_response(e) { console.info("status " + e.status); }
export function session_shutdown(e) { console.info("shutdown " + e.reason); }
`
	if err := os.WriteFile(filepath.Join(h.project, "policy.js"), []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errOut := h.weir(0, "run", "-e", "policy.js", "--output", "json", "hello")
	requests, _ := server.seen()
	contains(t, requests[0], `"temperature":0.25`)
	if server.policy[0] != "here" {
		t.Errorf("the header of the extension is %q", server.policy[0])
	}
	contains(t, errOut, "content-type", "status 200", "shutdown quit")
	contains(t, out, `"event":"before_provider_headers"`, `"event":"before_provider_request"`, `"event":"session_shutdown"`)
	if !strings.HasSuffix(out, "{\"type\":\"agent_settled\"}\n") {
		t.Errorf("the last line is another: %s", out)
	}
	h.noKey(out, errOut)
}

// TestAnonymousServer: a model of no known provider is asked for without a key, under its whole name.
func TestAnonymousServer(t *testing.T) {
	server := newChatServer(t)
	h := newHome(t, chatModels)
	h.weir(0, "run", "--base-url", server.URL+"/v1", "--model", "org/m", "--session", "talk.jsonl", "hello")
	requests, keys := server.seen()
	if len(keys) != 1 || keys[0] != "" {
		t.Errorf("keys %q, want one request without", keys)
	}
	contains(t, requests[0], `"model":"org/m"`)
	h.weir(0, "run", "--base-url", server.URL+"/v1", "--model", "org/m", "--session", "talk.jsonl", "again")
	requests, _ = server.seen()
	contains(t, requests[1], "hello", "again", "All is well.")
}

// TestRecordAndReplay: what was recorded answers in the provider's place, without a server and without a key; a run that
// asks for something else fails and says what differs.
func TestRecordAndReplay(t *testing.T) {
	server := newChatServer(t)
	h := newHome(t, chatModels)
	url := server.URL + "/v1"
	recorded, _ := h.weir(0, "run", "--base-url", url, "--no-session", "--record", "talk.rec", "--output", "json", "just say")
	h.noKey(recorded)
	server.Close()
	h.env = append(h.env, "WEIR_TEST_KEY=")
	replayed, _ := h.weir(0, "run", "--base-url", url, "--no-session", "--replay", "talk.rec", "--output", "json", "just say")
	contains(t, replayed, `"delta":"All is well."`)
	if a, b := strings.Count(recorded, "\n"), strings.Count(replayed, "\n"); a != b {
		t.Errorf("%d events recorded, %d replayed", a, b)
	}
	out, _ := h.weir(1, "run", "--no-session", "--replay", "talk.rec", "say more")
	contains(t, out, "request 1 is not the recorded one")
	_, errOut := h.weir(2, "run", "--record", "talk.rec", "--no-session", "x")
	contains(t, errOut, "no key for [provider.work]", "WEIR_TEST_KEY")
}

// TestNoKeyNoServer: what is missing is said in one line, before or when it is needed.
func TestNoKeyNoServer(t *testing.T) {
	h := newHome(t, chatModels)
	_, errOut := h.weir(2, "run", "--model", "nobody/m", "x")
	contains(t, errOut, `there is no model "nobody/m" and no provider "nobody"`)
	_, errOut = h.weir(2, "run", "--base-url", "ftp://x", "x")
	contains(t, errOut, "--base-url: ", "base_url is not a URL")
	_, errOut = h.weir(2, "run", "--continue", "x")
	contains(t, errOut, "--continue: there is no session about ")
}

// TestModels: what is configured, and whether it is there.
func TestModels(t *testing.T) {
	server := newChatServer(t)
	h := newHome(t, strings.Replace(chatModels, "http://127.0.0.1:9", server.URL, 1)+`
[[model]]
id       = "missing"
provider = "work"
`)
	out, _ := h.weir(0, "models")
	contains(t, out, "* work/m ", "  work/missing ", "work         openai-chat, "+server.URL+"/v1, key from the environment variable WEIR_TEST_KEY",
		"no key for [provider.anthropic]: the environment variable ANTHROPIC_API_KEY is not set", "ollama")
	out, _ = h.weir(0, "models", "--check", "work/m")
	contains(t, out, "* work/m ", ": ok")
	out, _ = h.weir(1, "models", "--check")
	contains(t, out, ": ok", `does not list model "missing"`)
	h.noKey(out)
	_, errOut := h.weir(2, "models", "x/y")
	contains(t, errOut, `there is no model "x/y"`)
	if err := os.WriteFile(filepath.Join(h.dir, "config", "weir", "models.toml"), []byte("standard = \"x\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, errOut = h.weir(2, "models")
	contains(t, errOut, "models.toml:1:1: ", `"standard"`)
	_, errOut = h.weir(2, "run", "x")
	contains(t, errOut, "models.toml:1:1: ", `"standard"`)
	_, errOut = newHome(t, "").weir(2, "models", "--check")
	contains(t, errOut, "no model is configured")
}

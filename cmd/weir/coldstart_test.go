package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// firstRequest is a server of OpenAI's chat protocol that notes when it was asked, and answers in deltas pieces once it may.
type firstRequest struct {
	*httptest.Server
	asked  chan time.Time
	answer chan struct{}
}

func newFirstRequest(tb testing.TB, deltas int) *firstRequest {
	tb.Helper()
	f := &firstRequest{asked: make(chan time.Time, 1), answer: make(chan struct{}, 1)}
	var b strings.Builder
	for range deltas {
		b.WriteString("data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"},\"finish_reason\":null}]}\n\n")
	}
	b.WriteString("data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3,\"total_tokens\":10}}\n\ndata: [DONE]\n\n")
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := time.Now()
		if r.URL.Path != "/v1/chat/completions" {
			http.NotFound(w, r)
			return
		}
		f.asked <- at
		select {
		case <-f.answer:
		case <-r.Context().Done():
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, b.String()) // a program that went away shows in its exit code
	}))
	tb.Cleanup(f.Close)
	return f
}

// buildWeir builds the program itself: the test's binary holds the tests too.
func buildWeir(tb testing.TB, dir string) string {
	tb.Helper()
	program := filepath.Join(dir, "weir.exe")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		tb.Fatalf("%v\n%s", err, out)
	}
	return program
}

// fiveExtensions are the bundled ones, all of them small.
const fiveExtensions = `version = 1
[[extension]]
name = "guard-shell"
module = "bundled:guard-shell"
[[extension]]
name = "guard-paths"
module = "bundled:guard-paths"
[[extension]]
name = "redact-secrets"
module = "bundled:redact-secrets"
[[extension]]
name = "prune-context"
module = "bundled:prune-context"
[[extension]]
name = "audit-log"
module = "bundled:audit-log"
[extension.grant]
journal = "audit.jsonl"
`

// theirExtensions hook in the reference what ours hook, and do nothing.
var theirExtensions = []string{
	`export default (pi) => { pi.on("tool_call", async () => undefined); };`,
	`export default (pi) => { pi.on("tool_call", async () => undefined); pi.on("tool_result", async () => undefined); };`,
	`export default (pi) => { pi.on("tool_result", async () => undefined); };`,
	`export default (pi) => { pi.on("context", async () => undefined); };`,
	`export default (pi) => { pi.on("tool_call", async () => undefined); pi.on("agent_end", async () => undefined); };`,
}

// program is something that is started to ask a server one thing.
type program struct {
	name string
	args []string
	dir  string
	env  []string
}

// weirProgram is weir with five extensions, a warm cache and a session that is kept.
func weirProgram(tb testing.TB, server string, args ...string) program {
	tb.Helper()
	dir := tb.TempDir()
	for name, text := range map[string]string{
		"config/weir/models.toml": fmt.Sprintf("default = \"work/m\"\n[provider.work]\nkind = \"openai-chat\"\nbase_url = %q\nkey_env = \"WEIR_TEST_KEY\"\n", server+"/v1"),
		"config/weir/weir.toml":   fiveExtensions, "project/README.md": "# A project\n",
	} {
		writeFile(tb, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	return program{
		name: buildWeir(tb, dir), args: append([]string{"run", "hello"}, args...), dir: filepath.Join(dir, "project"),
		env: append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+filepath.Join(dir, "config"), "XDG_DATA_HOME="+filepath.Join(dir, "data"),
			"WEIR_CACHE_DIR="+filepath.Join(dir, "cache"), "WEIR_TEST_KEY="+testKey),
	}
}

// referenceProgram is the reference with as many extensions. WEIR_NODE names Node 22 (default: node), PI_MODULES the folder
// @earendil-works of the reference's packages. Without them the benchmark skips, unless WEIR_REQUIRE_PEERS is set.
func referenceProgram(b *testing.B, server string) program {
	b.Helper()
	missing := b.Skipf
	if os.Getenv("WEIR_REQUIRE_PEERS") != "" {
		missing = b.Fatalf
	}
	modules := os.Getenv("PI_MODULES")
	if modules == "" {
		missing("PI_MODULES is not set: install @earendil-works/pi-coding-agent@0.85.0 and name its folder @earendil-works")
	}
	node := os.Getenv("WEIR_NODE")
	if node == "" {
		node = "node"
	}
	node, err := exec.LookPath(node)
	if err != nil {
		missing("%v: set WEIR_NODE to Node 22 (npm package node@22)", err)
	}
	dir := b.TempDir()
	writeFile(b, filepath.Join(dir, ".pi", "agent", "models.json"),
		fmt.Sprintf(`{"providers":{"work":{"baseUrl":%q,"api":"openai-completions","apiKey":"k","models":[{"id":"m"}]}}}`, server+"/v1"))
	writeFile(b, filepath.Join(dir, "project", "README.md"), "# A project\n")
	args := []string{filepath.Join(modules, "pi-coding-agent", "dist", "bundle", "cli.js"), "-p", "--offline", "--model", "work/m", "hello"}
	for i, text := range theirExtensions {
		path := filepath.Join(dir, fmt.Sprintf("extension%d.js", i))
		writeFile(b, path, text)
		args = append(args, "-e", path)
	}
	return program{name: node, args: args, dir: filepath.Join(dir, "project"), env: append(os.Environ(), "HOME="+dir)}
}

func writeFile(tb testing.TB, path, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// discard reads what comes through a pipe, as a program would, and drops it.
type discard struct{}

func (*discard) Write(p []byte) (int, error) { return len(p), nil }

// once runs it, and gives the time to its first request, the most memory that it had until then in bytes (0: not known here), and
// the time from there to its end.
func (p *program) once(tb testing.TB, server *firstRequest) (first time.Duration, memory int64, rest time.Duration) {
	tb.Helper()
	cmd := exec.Command(p.name, p.args...)
	var out strings.Builder
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.dir, p.env, &discard{}, &out
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case at := <-server.asked:
		first = at.Sub(begin)
	case err := <-done:
		tb.Fatalf("it asked nothing: %v\n%s", err, out.String())
	}
	memory = mostMemory(cmd.Process.Pid)
	begin = time.Now()
	server.answer <- struct{}{}
	if err := <-done; err != nil {
		tb.Fatalf("%v\n%s", err, out.String())
	}
	return first, memory, time.Since(begin)
}

// mostMemory is the most memory that a process had, in bytes; 0 where the system does not say. (Not ru_maxrss, which on Linux
// counts what the process was before exec: this test.)
func mostMemory(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	var kib int64
	if _, err := fmt.Sscan(after, &kib); err != nil {
		return 0
	}
	return kib << 10
}

// BenchmarkColdStart measures from the start of the process to its first request to the model, with five extensions and a warm
// cache, and the most memory it had. The goal is 50 ms and 64 MB, and a fifth of what the reference takes.
func BenchmarkColdStart(b *testing.B) {
	run := func(b *testing.B, server *firstRequest, p program) {
		p.once(b, server) // warms the caches
		var firsts []time.Duration
		var memory int64
		for b.Loop() {
			first, m, _ := p.once(b, server)
			firsts = append(firsts, first)
			memory = max(memory, m)
		}
		slices.Sort(firsts)
		b.ReportMetric(float64(firsts[len(firsts)/2].Microseconds())/1000, "ms/first-request")
		if memory > 0 {
			b.ReportMetric(float64(memory)/1e6, "MB")
		}
	}
	b.Run("weir", func(b *testing.B) {
		server := newFirstRequest(b, 1)
		run(b, server, weirProgram(b, server.URL))
	})
	b.Run("reference", func(b *testing.B) {
		server := newFirstRequest(b, 1)
		run(b, server, referenceProgram(b, server.URL))
	})
}

// jsonDeltas is how many deltas a long response of the benchmark has.
const jsonDeltas = 10_000

// BenchmarkJSONDeltas measures what a delta costs from the socket to the line of the JSON mode, the server's part and the event
// pipeline with five extensions included: the time of a run with 10,000 deltas less that of a run with one.
func BenchmarkJSONDeltas(b *testing.B) {
	few, many := newFirstRequest(b, 1), newFirstRequest(b, jsonDeltas)
	short, long := weirProgram(b, few.URL, "--output", "json"), weirProgram(b, many.URL, "--output", "json")
	short.once(b, few)
	long.once(b, many)
	var costs []time.Duration
	for b.Loop() {
		_, _, base := short.once(b, few)
		_, _, whole := long.once(b, many)
		costs = append(costs, whole-base)
	}
	slices.Sort(costs)
	b.ReportMetric(float64(costs[len(costs)/2].Microseconds())/jsonDeltas, "µs/delta")
}

// TestColdStart: a run with five extensions and a warm cache is far from slow, whatever the machine: the goals are for the
// benchmarks.
func TestColdStart(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program")
	}
	server := newFirstRequest(t, jsonDeltas)
	p := weirProgram(t, server.URL, "--output", "json")
	p.once(t, server)
	first, memory, whole := p.once(t, server)
	t.Logf("%s: first request after %v, %d deltas in %v, %d MB", runtime.GOOS, first, jsonDeltas, whole, memory/1e6)
	if first > 2*time.Second || whole > 10*time.Second || memory > 512e6 {
		t.Errorf("first request after %v, %d deltas in %v, %d MB", first, jsonDeltas, whole, memory/1e6)
	}
}

package backtest_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir/engine"
	"weir/engine/backtest"
	"weir/engine/set"
	"weir/engine/transcript"
	"weir/engine/wire"
	"weir/extensions"
	"weir/wasmhost"
)

// testHost is a host whose modules are compiled once for a test.
func testHost(t testing.TB) *wasmhost.Host {
	t.Helper()
	host, err := wasmhost.New(t.Context(), wasmhost.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := host.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return host
}

// modules is an engine with modules.
func modules(t testing.TB, host *wasmhost.Host, grant set.Grant, names ...string) engine.Config {
	t.Helper()
	x, err := set.Modules(names, set.Limits{}, grant)
	if err != nil {
		t.Fatal(err)
	}
	return engine.Config{Host: host, Set: x, Bundled: extensions.Bundled, Mode: wire.ModeJSON}
}

var guards = []string{"bundled:guard-shell", "bundled:guard-paths", "bundled:redact-secrets"}

// list makes the files of a folder what Config wants.
func list(t testing.TB, dir string) []backtest.File {
	t.Helper()
	paths, err := transcript.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := make([]backtest.File, len(paths))
	for i, p := range paths {
		in, err := os.Open(p)
		if err != nil {
			t.Fatal(err)
		}
		format, err := transcript.Detect(in)
		if err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		files[i] = backtest.File{Path: p, Format: format}
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func run(t testing.TB, cfg backtest.Config) *backtest.Report {
	t.Helper()
	r, err := backtest.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// want is what a report about ops says.
type want struct {
	Events                       backtest.Counted
	ToolCalls, ToolResults       backtest.Verdicts
	NewBlocks                    int
	Shell, Paths                 backtest.Answers
	Redact                       backtest.Answers
	Unreadable, Torn, Duplicates int
}

func count(c *backtest.Counts, o transcript.Outcome) {
	c.Total++
	switch o {
	case transcript.OK:
		c.OK++
	case transcript.Failed:
		c.Failed++
	case transcript.Denied:
		c.Denied++
	default:
		c.NoResult++
	}
}

// plan says what each kind of call comes to, independently of what the package does.
func plan(ops []op) want {
	var w want
	for _, o := range ops {
		count(&w.Events.Calls, o.outcome)
		if o.outcome != transcript.NoResult {
			count(&w.Events.Results, o.outcome)
		}
		switch o.kind {
		case push:
			count(&w.ToolCalls.Ask, o.outcome)
			count(&w.Shell.Asked, o.outcome)
			count(&w.Paths.Unchanged, o.outcome)
		case destroy, destroyDenied, destroyFailed:
			count(&w.ToolCalls.Block, o.outcome)
			count(&w.Shell.Blocked, o.outcome)
			w.Paths.NotAsked++
			if o.kind == destroy {
				w.NewBlocks++
			}
		case outside:
			count(&w.ToolCalls.Block, o.outcome)
			count(&w.Paths.Blocked, o.outcome)
			w.Shell.NotAsked++
			w.NewBlocks++
		default:
			count(&w.ToolCalls.Allow, o.outcome)
			count(&w.Shell.Unchanged, o.outcome)
			count(&w.Paths.Unchanged, o.outcome)
		}
		switch {
		case o.kind == secret:
			count(&w.ToolResults.Rewrite, o.outcome)
			count(&w.Redact.Rewritten, o.outcome)
		case o.outcome != transcript.NoResult:
			count(&w.ToolResults.Allow, o.outcome)
			count(&w.Redact.Unchanged, o.outcome)
		}
	}
	return w
}

// got picks from a report what plan speaks of.
func got(r *backtest.Report) want {
	return want{
		Events: r.Events, ToolCalls: r.ToolCalls, ToolResults: r.ToolResults, NewBlocks: r.NewBlocks,
		Shell: *r.Extensions[0].ToolCalls, Paths: *r.Extensions[1].ToolCalls, Redact: *r.Extensions[2].ToolResults,
		Unreadable: r.LeftOut.Unreadable, Torn: r.LeftOut.Torn,
	}
}

// write writes sessions in a format: one, a fork of it with more, and for Claude Code a subagent's.
func write(t testing.TB, dir string, f transcript.Format, r *rand.Rand, n int) []op {
	t.Helper()
	first, more, sub := generate(r, string(f)+"a", n), generate(r, string(f)+"b", n/3), generate(r, string(f)+"c", n/4)
	const garbage = "{\"type\":\n\x00\x00\x00\x00\n[1,2]\n"
	one, fork, agent := &writer{rand: r}, &writer{rand: r}, &writer{rand: r}
	all := append(append([]op{}, first...), more...)
	ops := append([]op{}, all...)
	switch f {
	case transcript.Pi:
		one.pi("one", first)
		fork.pi("two", all)
	case transcript.Codex:
		one.codex("one", first, time.Time{})
		fork.codex("two", all, time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC))
	case transcript.Claude:
		one.claude("one", "", first)
		fork.claude("two", "", all)
		agent.claude("one", "agent7", sub)
		agent.save(t, filepath.Join(dir, "one", "subagents", "agent-7.jsonl"), "")
		ops = append(ops, sub...)
	}
	one.save(t, filepath.Join(dir, "one.jsonl"), garbage)
	fork.save(t, filepath.Join(dir, "two.jsonl"), `{"type":"message","mess`)
	return ops
}

// TestPlantedCounts: what was planted is found, exactly, in each format, with forks, mirrors, noise and torn lines around it.
func TestPlantedCounts(t *testing.T) {
	host := testHost(t)
	for _, f := range transcript.Formats() {
		for _, seed := range []uint64{1, 2} {
			t.Run(string(f), func(t *testing.T) {
				dir := t.TempDir()
				ops := write(t, dir, f, rand.New(rand.NewPCG(seed, 9)), 120)
				w := plan(ops)
				w.Unreadable, w.Torn = 3, 1
				cfg := backtest.Config{Files: list(t, dir), Engine: modules(t, host, set.Grant{}, guards...)}
				report := run(t, cfg)
				if diff := cmp.Diff(w, got(report)); diff != "" {
					t.Errorf("want, got:\n%s", diff)
				}
				raw := encoded(t, report)
				if strings.Contains(raw, key) {
					t.Error("a credential is in the report")
				}
				cfg.Workers = 1
				if diff := cmp.Diff(raw, encoded(t, run(t, cfg))); diff != "" {
					t.Errorf("another number of workers, another report:\n%s", diff)
				}
			})
		}
	}
}

// TestFormatsTogether: three agents' sessions in one folder, only those of a time.
func TestFormatsTogether(t *testing.T) {
	host := testHost(t)
	dir := t.TempDir()
	var ops []op
	for _, f := range transcript.Formats() {
		ops = append(ops, write(t, filepath.Join(dir, string(f)), f, rand.New(rand.NewPCG(5, 5)), 60)...)
	}
	report := run(t, backtest.Config{Files: list(t, dir), Engine: modules(t, host, set.Grant{}, guards...)})
	w := plan(ops)
	w.Unreadable, w.Torn = 9, 3
	if diff := cmp.Diff(w, got(report)); diff != "" {
		t.Errorf("want, got:\n%s", diff)
	}
	var formats []transcript.Format
	calls := 0
	for _, f := range report.Files {
		formats, calls = append(formats, f.Format), calls+f.Calls
	}
	if diff := cmp.Diff(transcript.Formats(), formats); diff != "" || calls != len(ops) {
		t.Errorf("%d calls by format, want %d; formats:\n%s", calls, len(ops), diff)
	}

	since := time.Date(2026, 3, 1, 8, 30, 0, 0, time.UTC)
	pi := filepath.Join(dir, "pi")
	ops = nil
	for _, o := range write(t, pi, transcript.Pi, rand.New(rand.NewPCG(5, 6)), 60) {
		if !o.at.Before(since) {
			ops = append(ops, o)
		}
	}
	report = run(t, backtest.Config{Files: list(t, pi), Engine: modules(t, host, set.Grant{}, guards...), Since: since})
	w = plan(ops)
	w.Unreadable, w.Torn = 3, 1
	if diff := cmp.Diff(w, got(report)); diff != "" {
		t.Errorf("since: want, got:\n%s", diff)
	}
}

func encoded(t testing.TB, r *backtest.Report) string {
	t.Helper()
	raw, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// policy writes a policy in JavaScript.
func policy(t testing.TB, source string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.js")
	if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// session writes a Pi session with a call for each command, in a folder of its own.
func session(t testing.TB, dir, name string, commands ...string) {
	t.Helper()
	w := &writer{rand: rand.New(rand.NewPCG(1, 1))}
	ops := make([]op, len(commands))
	for i, c := range commands {
		ops[i] = op{id: name + c, command: c, outcome: transcript.OK, output: "done", at: time.Date(2026, 3, 1, 8, i, 0, 0, time.UTC)}
	}
	w.pi(name, ops)
	w.save(t, filepath.Join(dir, name+".jsonl"), "")
}

// TestOneSessionAtATime: an extension with a memory sees a session's calls in order, and nothing of another session.
func TestOneSessionAtATime(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c", "d"} {
		session(t, dir, name, "one", "two", "three")
	}
	cfg := modules(t, testHost(t), set.Grant{KV: true}, policy(t, `
import { kv } from "weir";
export const describe = { capabilities: { kv: "to count" }, hooks: { tool_call: {} } };
let seen = "";
export function tool_call(event) {
	seen += event.input.command + " ";
	const kept = (kv.get("seen") ?? "") + event.input.command + " ";
	kv.set("seen", kept);
	return { block: true, reason: seen + "/ " + kept };
}`))
	report := run(t, backtest.Config{Files: list(t, dir), Engine: cfg, Workers: 3})
	reasons := map[string]int{}
	for _, x := range report.Extensions[0].Reasons {
		reasons[x.Reason] = x.Counts.Total
	}
	if diff := cmp.Diff(map[string]int{"one / one ": 4, "one two / one two ": 4, "one two three / one two three ": 4}, reasons); diff != "" {
		t.Error(diff)
	}
}

// TestNothingHasAnEffect: grants are there, and do nothing.
func TestNothingHasAnEffect(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	session(t, dir, "a", "x")
	journal := filepath.Join(outside, "journal.jsonl")
	cfg := modules(t, testHost(t), set.Grant{
		Clock: true, Random: true, UI: true, Journal: journal,
		HTTP: []set.HTTPGrant{{Methods: []string{"GET"}, Scheme: "http", Host: "127.0.0.1", Port: 1, Path: "/"}},
	}, policy(t, `
import { http, ui, journal } from "weir";
export const describe = { capabilities: { http: "x", ui: "x", journal: "x" }, hooks: { tool_call: {} } };
export function tool_call(event) {
	let said = "";
	try { http.request({ url: "http://127.0.0.1:1/" }); } catch (e) { said = String(e); }
	const yes = ui.confirm("may I", "?");
	journal.append({ a: 1 });
	return { block: true, reason: [said, yes, Date.now()].join("|") };
}`))
	report := run(t, backtest.Config{Files: list(t, dir), Engine: cfg})
	if n := len(report.Extensions[0].Reasons); n != 1 {
		t.Fatalf("%d reasons: %s", n, encoded(t, report))
	}
	reason := report.Extensions[0].Reasons[0]
	if reason.Outcome != "block" || !strings.Contains(reason.Reason, "is not granted|false|1704067") {
		t.Errorf("%s: %s", reason.Outcome, reason.Reason)
	}
	if _, err := os.Stat(journal); !os.IsNotExist(err) {
		t.Errorf("the journal was written: %v", err)
	}
}

// TestCompare: only what differs is told, and only what is newly blocked counts.
func TestCompare(t *testing.T) {
	dir := t.TempDir()
	session(t, dir, "a", "ls", "rm -rf /", "git push origin main", "forbidden")
	host := testHost(t)
	set1 := modules(t, host, set.Grant{}, "bundled:guard-shell", policy(t, `
export function tool_call(event) {
	if (event.input.command == "forbidden") return { block: true, reason: "no \u001b[31m" };
	if (event.input.command == "ls") return { input: { command: "ls -l" } };
}`))
	other := modules(t, host, set.Grant{}, "bundled:guard-shell")
	report := run(t, backtest.Config{Files: list(t, dir), Engine: set1, Other: &other})
	type difference struct{ Event, Set, Other, Reason string }
	var got []difference
	for _, d := range report.Differences {
		got = append(got, difference{d.Event, string(d.Set.Decision), string(d.Other.Decision), d.Set.Reason})
	}
	want := []difference{{"tool_call", "block", "allow", "no \x1b[31m"}, {"tool_call", "rewrite", "allow", ""}}
	if diff := cmp.Diff(want, got); diff != "" || report.NewBlocks != 1 {
		t.Errorf("%d new blocks; differences:\n%s", report.NewBlocks, diff)
	}
	if err := report.Gate(1); err != nil {
		t.Error(err)
	}
	if err := report.Gate(0); err == nil || err.Error() != "1 new blocks, and at most 0 are allowed" {
		t.Errorf("the gate says %v", err)
	}
	other = set1
	if report := run(t, backtest.Config{Files: list(t, dir), Engine: set1, Other: &other}); len(report.Differences) != 0 || report.NewBlocks != 0 {
		t.Errorf("a set differs from itself: %s", encoded(t, report))
	}
}

// TestResultInAnotherFile: a call that was copied into a fork before it had ended is judged where it was first, and is known to have ended.
func TestResultInAnotherFile(t *testing.T) {
	dir := t.TempDir()
	o := op{id: "a", command: "rm -rf /", outcome: transcript.NoResult, output: "done", at: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)}
	for _, name := range []string{"a", "b"} {
		w := &writer{rand: rand.New(rand.NewPCG(1, 1))}
		w.pi(name, []op{o})
		w.save(t, filepath.Join(dir, name+".jsonl"), "")
		o.outcome = transcript.Failed
	}
	report := run(t, backtest.Config{Files: list(t, dir), Engine: modules(t, testHost(t), set.Grant{}, guards[0])})
	want := backtest.Counted{Calls: backtest.Counts{Total: 1, Failed: 1}, Results: backtest.Counts{Total: 1, Failed: 1}}
	if diff := cmp.Diff(want, report.Events); diff != "" || report.LeftOut.Copies != 1 || report.NewBlocks != 0 {
		t.Errorf("%d copies, %d new blocks\n%s", report.LeftOut.Copies, report.NewBlocks, diff)
	}
}

// TestFaults: an extension that fails is counted as such, and its call as blocked.
func TestFaults(t *testing.T) {
	dir := t.TempDir()
	session(t, dir, "a", "ls", "pwd")
	cfg := modules(t, testHost(t), set.Grant{}, policy(t, `export function tool_call() { throw new Error("boom"); }`))
	report := run(t, backtest.Config{Files: list(t, dir), Engine: cfg})
	if f, b, n := report.Extensions[0].ToolCalls.Faulted.Total, report.ToolCalls.Block.Total, report.NewBlocks; f != 2 || b != 2 || n != 2 {
		t.Errorf("%d faulted, %d blocked, %d new; want 2 each", f, b, n)
	}
}

// TestGateFailsClosed: without calls, or with a file that could not be read, nothing is shown.
func TestGateFailsClosed(t *testing.T) {
	dir := t.TempDir()
	session(t, dir, "a", "ls")
	cfg := backtest.Config{Files: append(list(t, dir), backtest.File{Path: filepath.Join(dir, "z.jsonl"), Format: transcript.Pi}), Engine: modules(t, testHost(t), set.Grant{}, guards[0])}
	if err := os.Mkdir(cfg.Files[1].Path, 0o700); err != nil { // unlike permissions, it keeps root out too
		t.Fatal(err)
	}
	report := run(t, cfg)
	if err := report.Gate(5); err == nil || !strings.Contains(err.Error(), "could not be read") || report.Unread != 1 {
		t.Errorf("%d unread; the gate says %v", report.Unread, err)
	}
	cfg.Files = nil
	if err := run(t, cfg).Gate(5); err == nil || !strings.Contains(err.Error(), "no tool call") {
		t.Errorf("the gate says %v", err)
	}
}

// TestHostile: whatever a transcript holds, every call in it is counted and the rest is passed over.
func TestHostile(t *testing.T) {
	var b strings.Builder
	line := func(name, input string) {
		b.WriteString(`{"type":"assistant","uuid":"u","timestamp":"2026-03-01T08:00:00Z","cwd":"/w\u0000\u001b[2J","message":{"content":[{"type":"tool_use","id":"x","name":` + name + `,"input":` + input + "}]}}\n")
	}
	const deep = 9000
	line(`"Deep"`, strings.Repeat(`{"a":[`, deep/2)+strings.Repeat(`]}`, deep/2))
	line(`"\u001b]0;pwn\u0007"`, `{"\u001b[31m":"\u202e\u0000"}`)
	line(`""`, `{}`)
	line(`"Bash"`, `"rm -rf /"`)
	line(`"Bash"`, `{"command":"ls","command":"rm -rf /"}`)
	line(`"Bash"`, "{\"command\":\"ls \xff\xfe\"}")
	line(`"Bash"`, `{"command":"`+strings.Repeat("x ", 1<<20)+`"}`)
	line(`"Bash"`, `null`)
	const calls = 8
	line(`"TooDeep"`, strings.Repeat(`[`, 20_000)+strings.Repeat(`]`, 20_000))
	line(`"TooLong"`, `"`+strings.Repeat("x", 4<<20)+`"`)
	b.WriteString(strings.Repeat("\x00", 4096) + "\n" + strings.Repeat("{", 4096))
	dir := t.TempDir()
	path := filepath.Join(dir, "x.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	report := run(t, backtest.Config{
		Files: []backtest.File{{Path: path, Format: transcript.Claude}}, Engine: modules(t, testHost(t), set.Grant{}, guards...), MaxLine: 3 << 20,
	})
	if n := report.Events.Calls.Total; n != calls {
		t.Errorf("%d calls, want %d", n, calls)
	}
	want := backtest.LeftOut{Unreadable: 2, Oversize: 1, Torn: 1, Mended: 1}
	if diff := cmp.Diff(want, report.LeftOut); diff != "" {
		t.Error(diff)
	}
	own := report.Extensions[len(report.Extensions)-1]
	if own.Name != "weir" || own.ToolCalls.Blocked.Total < 3 { // no name, a text for arguments, a key twice
		t.Errorf("%s blocked %+v", own.Name, own.ToolCalls)
	}
}

// TestSharedSessions counts the calls of real sessions, and compares with a count of its own.
func TestSharedSessions(t *testing.T) {
	shared := os.Getenv("WEIR_SHARED")
	if shared == "" {
		t.Skip("WEIR_SHARED is not set")
	}
	dir := filepath.Join(shared, "sessions")
	calls, results := map[string]int{}, 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".jsonl") {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(raw)) {
			var e struct {
				Message struct {
					Role    string
					Content []struct{ Type, ID string }
				}
			}
			if json.Unmarshal([]byte(line), &e) != nil {
				continue // a message whose content is a text, which holds no call
			}
			if e.Message.Role == "toolResult" {
				results++
			}
			for _, b := range e.Message.Content {
				if b.Type == "toolCall" {
					calls[b.ID]++
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	report := run(t, backtest.Config{Files: list(t, dir), Engine: modules(t, testHost(t), set.Grant{}, guards...)})
	if n := report.Events.Calls.Total; n != len(calls) || n == 0 {
		t.Errorf("%d calls, counted by their ids %d", n, len(calls))
	}
	if n := report.Events.Results.Total; n != results {
		t.Errorf("%d results, counted %d", n, results)
	}
	if l := report.LeftOut; l.Unreadable+l.Oversize+l.Torn+l.Unknown+l.Orphans != 0 {
		t.Errorf("left out: %+v", l)
	}
}

// speedSessions writes 10,000 calls in sessions of 500.
func speedSessions(t testing.TB, dir string) {
	for i := range 20 {
		r := rand.New(rand.NewPCG(uint64(i), 3))
		w := &writer{rand: r}
		name := string(rune('a' + i))
		switch ops := generate(r, name, 500); i % 3 {
		case 0:
			w.pi(name, ops)
		case 1:
			w.claude(name, "", ops)
		default:
			w.codex(name, ops, time.Time{})
		}
		w.save(t, filepath.Join(dir, name+".jsonl"), "")
	}
}

// TestSpeed holds a bound that only a mistake breaks, on a busy machine too: 10,000 calls through three extensions are to take less than
// 10 s on a machine of two processors, see BenchmarkBacktest.
func TestSpeed(t *testing.T) {
	if testing.Short() {
		t.Skip("10,000 calls")
	}
	dir := t.TempDir()
	speedSessions(t, dir)
	cfg := backtest.Config{Files: list(t, dir), Engine: modules(t, testHost(t), set.Grant{}, guards...)}
	start := time.Now()
	report := run(t, cfg)
	took := time.Since(start)
	t.Logf("%d calls and %d results in %v", report.Events.Calls.Total, report.Events.Results.Total, took.Round(time.Millisecond))
	if report.Events.Calls.Total != 10_000 {
		t.Errorf("%d calls", report.Events.Calls.Total)
	}
	if limit := 30 * time.Second; took > limit && !raceEnabled {
		t.Errorf("it took %v, more than %v", took, limit)
	}
}

func BenchmarkBacktest(b *testing.B) {
	dir := b.TempDir()
	speedSessions(b, dir)
	cfg := backtest.Config{Files: list(b, dir), Engine: modules(b, testHost(b), set.Grant{}, guards...)}
	b.ReportAllocs()
	for b.Loop() {
		if report := run(b, cfg); report.Events.Calls.Total != 10_000 {
			b.Fatal(report.Events.Calls.Total)
		}
	}
}

//go:build unix

package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"weir/agentcore"
)

func TestBash(t *testing.T) {
	k := newKit(t, func(c *Config) { c.Env = []string{"PATH=" + os.Getenv("PATH"), "GREETING=hi"} })
	k.file("f", "")
	for command, want := range map[string]string{
		"echo out; echo err >&2; echo end": "out\nerr\nend\n",
		"pwd":                              k.dir + "\n",
		"ls":                               "f\n",
		"echo $GREETING $HOME":             "hi\n",
		"true":                             "(the command printed nothing)",
		"printf 'a\\rb \\033[31mred'":      "a\rb \x1b[31mred",
		"cat":                              "(the command printed nothing)", // standard input is empty
		"printf '\\xff\\x00ok\\xe2\\x82'":  "\ufffd\x00ok\ufffd\ufffd",
		"[[ a == a ]] && echo bash":        "bash\n",
	} {
		if got := k.ok("bash", m{"command": command}); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

func TestBashFails(t *testing.T) {
	k := newKit(t, nil)
	err := k.failure("bash", m{"command": "echo before; exit 3"}, "before\n\nthe command exited with code 3")
	var failed *CommandError
	if !errors.As(err, &failed) || failed.ExitCode != 3 || failed.Output != "before\n" {
		t.Errorf("%#v", err)
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Errorf("no *exec.ExitError in %#v", err)
	}
	k.fails("bash", m{"command": "kill -9 $$"}, "ended by a signal: killed")
	k.fails("bash", m{"command": "nonesuch-command"}, "code 127", "nonesuch-command")
	for _, timeout := range []any{0, -1, 1e9, "soon"} {
		k.fails("bash", m{"command": "touch ran", "timeout": timeout}, "timeout")
	}
	if _, err := os.Stat(filepath.Join(k.dir, "ran")); err == nil {
		t.Error("a command ran in spite of its time-out being refused")
	}
}

// alive tells whether a process runs; one that waits to be reaped does not.
func alive(t *testing.T, pid int) bool {
	t.Helper()
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist) || runtime.GOOS != "linux"
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}

// allDie waits until none of the processes runs: init may take a moment to learn of them.
func allDie(t *testing.T, pids []int) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Second)
	for _, pid := range pids {
		for alive(t, pid) {
			if time.Now().After(deadline) {
				t.Errorf("process %d is still running", pid)
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// family is a command with a child and two grandchildren; it prints their process ids, then waits.
const family = `sh -c 'sleep 100 & echo $!; sleep 100 & echo $!; echo $$; wait' & echo $!; wait`

func pidsIn(text string) []int {
	var pids []int
	for _, field := range strings.Fields(text) {
		if pid, err := strconv.Atoi(field); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestBashAbortKillsTheWholeGroup(t *testing.T) {
	k := newKit(t, func(c *Config) { c.UpdateInterval = time.Millisecond })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var seen string
	var cancelled time.Time
	raw := json.RawMessage(`{"command":` + strconv.Quote(family) + `}`)
	_, err := k.tools["bash"].Execute(ctx, "c", raw, func(part *agentcore.ToolResult) {
		if seen = textOf(t, part); len(pidsIn(seen)) == 4 && cancelled.IsZero() {
			cancelled = time.Now()
			cancel()
		}
	})
	took := time.Since(cancelled)
	if !errors.Is(err, context.Canceled) || cancelled.IsZero() {
		t.Fatalf("error %v after output %q", err, seen)
	}
	contains(t, err.Error(), "the command was aborted")
	if took > time.Second {
		t.Errorf("it took %v to end", took)
	}
	allDie(t, pidsIn(seen))
}

func TestBashTimeoutKillsTheWholeGroup(t *testing.T) {
	k := newKit(t, nil)
	start := time.Now()
	err := k.failure("bash", m{"command": family, "timeout": 0.3}, "the command timed out after 0.3 seconds")
	if took := time.Since(start); took < 300*time.Millisecond || took > 1300*time.Millisecond {
		t.Errorf("it took %v", took)
	}
	var failed *CommandError
	if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &failed) {
		t.Fatalf("%#v", err)
	}
	pids := pidsIn(failed.Output)
	if len(pids) != 4 {
		t.Fatalf("output %q", failed.Output)
	}
	allDie(t, pids)
}

// A process in the background that keeps the pipe open must not keep the call.
func TestBashDoesNotWaitForTheBackground(t *testing.T) {
	k := newKit(t, nil)
	start := time.Now()
	got := k.ok("bash", m{"command": "sleep 30 & echo $!"})
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
	pids := pidsIn(got)
	if len(pids) != 1 || !alive(t, pids[0]) {
		t.Errorf("the background process should live on: %q", got)
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}
}

// What a child prints shortly after the shell has ended is still output of the command.
func TestBashReadsWhatComesLate(t *testing.T) {
	k := newKit(t, nil)
	k.set.drainIdle = time.Minute // the test is about the reading; on a busy machine the child may be slow
	if got := k.ok("bash", m{"command": "(sleep 0.02; echo late) & echo early"}); got != "early\nlate\n" {
		t.Errorf("got %q", got)
	}
}

func TestBashStreams(t *testing.T) {
	k := newKit(t, func(c *Config) { c.UpdateInterval = time.Millisecond })
	fifo := filepath.Join(k.dir, "go")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	// The command stops at the FIFO until the first line was seen, so that it must come as an update of its own.
	var parts []string
	result, err := k.tools["bash"].Execute(t.Context(), "c", json.RawMessage(`{"command":"echo first; read x < go; echo second"}`),
		func(part *agentcore.ToolResult) {
			text := textOf(t, part)
			if text == "first\n" && parts[len(parts)-1] == "" {
				if err := os.WriteFile(fifo, []byte("\n"), 0); err != nil {
					t.Error(err)
				}
			}
			parts = append(parts, text)
		})
	if err != nil {
		t.Fatal(err)
	}
	if len(parts) < 3 || parts[0] != "" || parts[1] != "first\n" || parts[len(parts)-1] != "first\nsecond\n" {
		t.Errorf("updates %q", parts)
	}
	if got := textOf(t, result); got != parts[len(parts)-1] {
		t.Errorf("result %q", got)
	}
}

func TestBashUpdatesAreThrottled(t *testing.T) {
	k := newKit(t, func(c *Config) { c.UpdateInterval = time.Hour })
	updates := 0
	_, err := k.tools["bash"].Execute(t.Context(), "c", json.RawMessage(`{"command":"for i in $(seq 200); do echo $i; sleep 0.001; done"}`),
		func(*agentcore.ToolResult) { updates++ })
	if err != nil || updates != 3 { // the empty one, the first, the last
		t.Errorf("%d updates, %v", updates, err)
	}
}

func TestBashIsCut(t *testing.T) {
	k := newKit(t, nil)
	full := func(result *agentcore.ToolResult) string {
		t.Helper()
		path, _ := detailsOf(t, result)["fullOutputPath"].(string)
		contains(t, textOf(t, result), "; the full output is in "+path+"]")
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v", info.Mode())
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}

	result, err := k.call(t.Context(), "bash", m{"command": "for i in $(seq 3000); do echo line $i; done"})
	if err != nil {
		t.Fatal(err)
	}
	text := textOf(t, result)
	if !strings.HasPrefix(text, "line 1001\n") {
		t.Errorf("starts with %q", text[:20])
	}
	contains(t, text, "line 3000\n\n[output cut at the last 2000 lines: lines 1001 to 3000 of 3000 are shown; ")
	if got := full(result); got != numbered(3000) {
		t.Errorf("the full output has %d bytes", len(got))
	}

	result, err = k.call(t.Context(), "bash", m{"command": "for i in $(seq 1000); do printf '%099d\\n' $i; done"})
	if err != nil {
		t.Fatal(err)
	}
	contains(t, textOf(t, result), "1000\n\n[output cut at the last 50 KB: lines 489 to 1000 of 1000 are shown; ")
	if cut := detailsOf(t, result)["truncation"].(map[string]any); cut["outputLines"] != 512.0 || cut["truncatedBy"] != "bytes" {
		t.Errorf("details %v", cut)
	}

	result, err = k.call(t.Context(), "bash", m{"command": "head -c 99999 /dev/zero | tr '\\0' x; printf é"})
	if err != nil {
		t.Fatal(err)
	}
	contains(t, textOf(t, result), "xé\n\n[output cut: only the last 50 KB of line 1, which has 97.7 KB, are shown; ")
	if cut := detailsOf(t, result)["truncation"].(map[string]any); cut["lastLinePartial"] != true || cut["outputBytes"] != float64(MaxBytes) {
		t.Errorf("details %v", cut)
	}
	k.fails("bash", m{"command": "seq 3000; exit 1"}, "[output cut at the last 2000 lines", "exited with code 1")
}

func TestBashWithholdsTheFullOutput(t *testing.T) {
	var asked []string
	out := filepath.Join(t.TempDir(), "out")
	k := newKit(t, func(c *Config) {
		c.OutputDir = out
		c.WithholdFullOutput = func(tool string) bool { asked = append(asked, tool); return true }
	})
	result, err := k.call(t.Context(), "bash", m{"command": "seq 3000"})
	if err != nil {
		t.Fatal(err)
	}
	contains(t, textOf(t, result), "the full output was not kept, because an extension checks what this tool returns]")
	if d := detailsOf(t, result); d["fullOutputPath"] != nil {
		t.Errorf("details %v", d)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("an output folder was made")
	}
	if strings.Join(asked, " ") != "bash" {
		t.Errorf("asked for %v", asked)
	}
}

func TestBashEndlessOutput(t *testing.T) {
	k := newKit(t, func(c *Config) { c.MaxFullOutput = 1 << 20 })
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	err := k.failure("bash", m{"command": "yes", "timeout": 0.5}, "timed out", "; its first 1 MB are in ")
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 8<<20 {
		t.Errorf("%d bytes more on the heap", grown)
	}
	if len(err.Error()) > MaxBytes+1000 {
		t.Errorf("%d bytes of text", len(err.Error()))
	}
	_, rest, _ := strings.Cut(err.Error(), "; its first 1 MB are in ")
	path, _, _ := strings.Cut(rest, "]")
	info, statErr := os.Stat(path)
	if statErr != nil || info.Size() != 1<<20 {
		t.Errorf("%v, %v", info, statErr)
	}
}

func TestBashFullOutputCannotBeSaved(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	k := newKit(t, func(c *Config) { c.OutputDir = filepath.Join(blocked, "out") })
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	contains(t, k.ok("bash", m{"command": "seq 3000"}), "\n3000\n", "the full output could not be saved: ")
}

func TestBashShellIsGone(t *testing.T) {
	shell := filepath.Join(t.TempDir(), "sh")
	if err := os.WriteFile(shell, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	k := newKit(t, func(c *Config) { c.Shell = shell })
	if err := os.Remove(shell); err != nil {
		t.Fatal(err)
	}
	k.fails("bash", m{"command": "true"}, "the command was not started", "no such file")
}

// However output is cut into pieces, the text is the same.
func TestOutputDoesNotDependOnPieces(t *testing.T) {
	whole := []byte("é\xff€\xe2\x82x\xf0\x9f\x98\x80\xf0\x9f\n\xc3")
	reference := newOutput(false, "", 0)
	reference.write(whole)
	reference.finish()
	want := reference.show().text
	if !utf8.ValidString(want) {
		t.Fatalf("%q", want)
	}
	for size := 1; size < len(whole); size++ {
		out := newOutput(false, "", 0)
		for at := 0; at < len(whole); at += size {
			out.write(whole[at:min(at+size, len(whole))])
			if !utf8.ValidString(out.show().text) {
				t.Errorf("size %d: %q", size, out.show().text)
			}
		}
		out.finish()
		if got := out.show().text; got != want {
			t.Errorf("size %d: %q, want %q", size, got, want)
		}
	}
}

func TestReadAndGrepDoNotWaitForFIFOs(t *testing.T) {
	k := newKit(t, nil)
	if err := syscall.Mkfifo(filepath.Join(k.dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	k.fails("read", m{"path": "pipe"}, "named pipe")
	k.fails("read", m{"path": "/dev/zero"}, "is a device")
	k.fails("write", m{"path": "pipe", "content": "x"}, "named pipe")
	k.fails("edit", m{"path": "pipe", "edits": edits("a", "b")}, "named pipe")
	k.fails("grep", m{"pattern": "x", "path": "pipe"}, "named pipe")
	if got := k.ok("grep", m{"pattern": "x"}); got != "no matches" {
		t.Errorf("grep: %q", got)
	}
	if got := k.ok("find", m{"pattern": "*"}); got != "pipe" {
		t.Errorf("find: %q", got)
	}
	k.file("sub/.gitignore", "")
	if err := os.Remove(filepath.Join(k.dir, "sub/.gitignore")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(k.dir, "sub/.gitignore"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := k.ok("find", m{"pattern": "sub"}); got != "sub/" {
		t.Errorf("find: %q", got)
	}
}

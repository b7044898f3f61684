//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// ttyRun is a weir that runs on a terminal.
type ttyRun struct {
	t   *testing.T
	cmd *exec.Cmd
	tty *os.File

	mu    sync.Mutex
	seen  bytes.Buffer
	at    int           // how far expect has looked
	more  chan struct{} // something came
	ended chan struct{} // the terminal is gone
}

// onTerminal starts weir on a terminal of 120 columns.
func (h *home) onTerminal(args ...string) *ttyRun {
	h.t.Helper()
	s := &ttyRun{t: h.t, cmd: exec.Command("weir", args...), more: make(chan struct{}, 1), ended: make(chan struct{})}
	s.cmd.Dir, s.cmd.Env = h.project, append(h.env, "TERM=xterm")
	var err error
	if s.tty, err = pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 40, Cols: 120}); err != nil {
		h.t.Fatal(err)
	}
	go func() {
		defer close(s.ended)
		buf := make([]byte, 4096)
		for {
			n, err := s.tty.Read(buf)
			s.mu.Lock()
			s.seen.Write(buf[:n])
			s.mu.Unlock()
			select {
			case s.more <- struct{}{}:
			default:
			}
			if err != nil { // EIO when the last process has closed its end
				return
			}
		}
	}()
	h.t.Cleanup(func() {
		_ = s.cmd.Process.Kill() // it has ended, or the test failed
		_ = s.tty.Close()
		<-s.ended
	})
	return s
}

// expect waits for a text that comes after what was waited for last.
func (s *ttyRun) expect(want string) {
	s.t.Helper()
	late := time.After(30 * time.Second)
	for {
		s.mu.Lock()
		i := bytes.Index(s.seen.Bytes()[s.at:], []byte(want))
		if i >= 0 {
			s.at += i + len(want)
		}
		text := s.seen.String()
		s.mu.Unlock()
		if i >= 0 {
			return
		}
		select {
		case <-s.more:
		case <-s.ended:
			s.t.Fatalf("it ended without %q:\n%q", want, text)
		case <-late:
			s.t.Fatalf("%q did not come:\n%q", want, text)
		}
	}
}

func (s *ttyRun) typed(text string) {
	s.t.Helper()
	if _, err := io.WriteString(s.tty, text); err != nil {
		s.t.Fatal(err)
	}
}

// ctrlC is what the terminal makes an interrupt of.
const ctrlC = "\x03"

// exit waits for the end, and gives everything that was shown.
func (s *ttyRun) exit(code int) string {
	s.t.Helper()
	late := time.AfterFunc(30*time.Second, func() { _ = s.cmd.Process.Kill() })
	defer late.Stop()
	err := s.cmd.Wait()
	<-s.ended
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.t.Fatalf("exit code %d, want %d (%v)\n%q", got, code, err, s.seen.String())
	}
	return s.seen.String()
}

const oneCall = `
[[response]]
[[response.call]]
tool = "bash"
args = { command = "echo was run" }

[[response]]
text = "Done."
`

// TestAskedAtTheTerminal: a question about a call is put to the person; only yes is a yes, and Ctrl-C at it is a no that the run
// survives.
func TestAskedAtTheTerminal(t *testing.T) {
	h := newHome(t, "")
	h.write("script.toml", oneCall)
	guest, err := filepath.Abs("testdata/guests/asks.wasm")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		typed string
		runs  bool
	}{{"y\n", true}, {"Yes\n", true}, {"\n", false}, {"n\n", false}, {"yy\n", false}, {ctrlC, false}, {"\x04", false}} {
		s := h.onTerminal("run", "--script", "script.toml", "-e", guest, "go")
		s.expect("asks: really?")
		s.expect(`bash {"command":"echo was run"}`)
		s.expect("allow it? [y/N] ")
		s.typed(c.typed)
		s.expect("Done.")
		if out := s.exit(0); strings.Contains(out, "✓") != c.runs {
			t.Errorf("typed %q, runs %v:\n%q", c.typed, c.runs, out)
		}
	}
}

const uiPolicy = `
import { ui } from "weir";
export function tool_call(e) {
  ui.status("watching");
  const sure = ui.confirm("Go on?", "It is early.");
  const which = ui.select("Which branch?", ["main", "next"]);
  const why = ui.input("Why?", "a sentence");
  ui.notify("noted " + JSON.stringify([sure, which, why]), "warning");
  ui.status("");
  return {};
}
`

const uiSet = `
version = 1
[[extension]]
name = "polite"
module = "polite.js"
[extension.grant]
ui = true
`

// TestExtensionsAtTheTerminal: what an extension with the grant ui wants of a person is put at the prompt, one question after
// the other; without a person it is told no.
func TestExtensionsAtTheTerminal(t *testing.T) {
	h := newHome(t, "")
	h.write("script.toml", oneCall)
	h.write("polite.js", uiPolicy)
	h.write("set.toml", uiSet)
	for _, c := range []struct{ sure, which, why, noted string }{
		{"y\n", "2\n", "because\n", `[true,"next","because"]`},
		{ctrlC, "3\n", "\n", `[false,null,null]`},
		{"no\n", ctrlC, ctrlC, `[false,null,null]`},
	} {
		s := h.onTerminal("run", "--script", "script.toml", "--set", "set.toml", "go")
		s.expect("asks: Go on?")
		s.expect("It is early.")
		s.expect("yes? [y/N] ")
		s.typed(c.sure)
		s.expect("asks: Which branch?")
		s.expect(" 2  next")
		s.expect("which? [1-2, none] ")
		s.typed(c.which)
		s.expect("asks: Why?")
		s.expect("(a sentence)")
		s.expect("> ")
		s.typed(c.why)
		s.expect("noted " + c.noted)
		s.exit(0)
	}
	out, _ := h.weir(0, "run", "--script", "script.toml", "--set", "set.toml", "go")
	if strings.Contains(out, "asks:") || strings.Contains(out, "noted") || strings.Contains(out, "\x1b") {
		t.Errorf("a question without a person, or escapes: %q", out)
	}
}

// slowServer says something, waits until it is told to go on, and ends.
func slowServer(t *testing.T) (url string, begun, goOn chan struct{}) {
	begun, goOn = make(chan struct{}, 8), make(chan struct{}, 8)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		say := func(delta, reason string) {
			fmt.Fprintf(w, "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]}\n\n", delta, reason)
			_ = http.NewResponseController(w).Flush() // the program may be gone
		}
		say(`{"reasoning_content":"Let me see."}`, "null")
		say(`{"content":"Well:\nhalf a \u001b[31mword"}`, "null")
		begun <- struct{}{}
		select {
		case <-goOn:
			say(`{"content":" and the rest\n\nNew paragraph.\n"}`, "null")
			say(`{}`, `"stop"`)
			fmt.Fprint(w, "data: [DONE]\n\n")
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, begun, goOn
}

// TestStreamsToTheTerminal: what the model says is shown as it comes, what it thinks dimmed, nothing of it twice, and nothing
// that a terminal would take for a command; a file gets the same words without escapes.
func TestStreamsToTheTerminal(t *testing.T) {
	url, _, goOn := slowServer(t)
	h := newHome(t, strings.Replace(chatModels, "http://127.0.0.1:9", url, 1))
	s := h.onTerminal("run", "hello")
	s.expect("\x1b[2mthinks\x1b[0m \x1b[2mLet me see.\x1b[0m\r\n")
	s.expect(`half a \x1b[31mword`)
	goOn <- struct{}{}
	s.expect(" and the rest\r\n        \r\n        New paragraph.\r\n")
	if out := s.exit(0); strings.Count(out, "half a") != 1 || strings.Count(out, "Let me see") != 1 {
		t.Errorf("said twice: %q", out)
	}

	s = h.onTerminal("run", "--hide-thinking", "hello")
	s.expect(`half a`)
	goOn <- struct{}{}
	if out := s.exit(0); strings.Contains(out, "Let me see") {
		t.Errorf("thinking is shown: %q", out)
	}
	h.env = append(h.env, "NO_COLOR=1")
	s = h.onTerminal("run", "hello")
	s.expect("thinks Let me see.\r\n")
	goOn <- struct{}{}
	if out := s.exit(0); strings.Contains(out, "\x1b[2m") || strings.Contains(out, "\x1b[0m") {
		t.Errorf("there are colours: %q", out)
	}
	goOn <- struct{}{}
	out, errOut := h.weir(0, "run", "hello")
	contains(t, out, "  thinks Let me see.\n  model Well:\n        half a \\x1b[31mword and the rest\n        \n        New paragraph.\n")
	if strings.Contains(out+errOut, "\x1b") {
		t.Errorf("escapes in a file: %q", out+errOut)
	}
}

// TestToolsAtTheTerminal: while a tool runs the last line says which, for how long and what it printed last, and it is gone when
// the tool is done.
func TestToolsAtTheTerminal(t *testing.T) {
	h := newHome(t, "")
	h.write("script.toml", strings.Replace(oneCall, "echo was run", "echo half way; while [ ! -e go ]; do sleep 0.05; done; echo was run", 1))
	s := h.onTerminal("run", "--script", "script.toml", "go")
	s.expect("\r\x1b[K")
	s.expect(" bash ")
	s.expect("half way")
	h.write("go", "")
	s.expect("\r\x1b[K")
	s.expect("✓")
	s.exit(0)
}

// TestCtrlC: once ends the turn in order and keeps what was said.
func TestCtrlC(t *testing.T) {
	url, begun, _ := slowServer(t)
	h := newHome(t, strings.Replace(chatModels, "http://127.0.0.1:9", url, 1))
	s := h.onTerminal("run", "hello")
	<-begun
	s.expect("half a")
	s.typed(ctrlC)
	s.expect("aborted")
	s.exit(exitFailed)
	h.kept("hello", "half a")
}

// kept fails the test when the only session lacks one of the texts.
func (h *home) kept(texts ...string) {
	h.t.Helper()
	files := h.sessions()
	if len(files) != 1 {
		h.t.Fatalf("%d session files, want 1", len(files))
	}
	kept, err := os.ReadFile(files[0])
	if err != nil {
		h.t.Fatal(err)
	}
	contains(h.t, string(kept), texts...)
}

// TestTerminated: SIGTERM keeps what was said and gives the exit code of a program that it ended; a second signal does not wait.
func TestTerminated(t *testing.T) {
	url, begun, _ := slowServer(t)
	h := newHome(t, strings.Replace(chatModels, "http://127.0.0.1:9", url, 1))
	s := h.onTerminal("run", "hello")
	<-begun
	s.expect("half a")
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.exit(exitTerminated)
	h.kept("hello", "half a")

	// A guest that does not end keeps the run from ending; a second interrupt kills it.
	h.write("stuck.toml", strings.Replace(oneCall, "echo was run", "echo begun; sleep 60", 1))
	h.write("stuck.js", "export function session_shutdown() { for (;;) {} }")
	h.write("set.toml", "version = 1\n[[extension]]\nname = \"stuck\"\nmodule = \"stuck.js\"\ntimeout = \"60s\"\nfuel = 1000000000000\n")
	s = h.onTerminal("run", "--script", "stuck.toml", "--set", "set.toml", "--no-session", "go")
	s.expect("begun")
	s.typed(ctrlC)
	s.expect("aborted")
	s.typed(ctrlC)
	err := s.cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGINT {
		t.Errorf("it ended with %v", err)
	}
}

// TestResume: a session is chosen from a list, or named.
func TestResume(t *testing.T) {
	server := newChatServer(t)
	h := newHome(t, strings.Replace(chatModels, "http://127.0.0.1:9", server.URL, 1))
	_, errOut := h.weir(2, "run", "--resume", "more")
	contains(t, errOut, "--resume: there is no session about ")
	h.weir(0, "run", "first words")
	h.weir(0, "run", "other words")
	_, errOut = h.weir(2, "run", "--resume", "more")
	contains(t, errOut, "--resume: there is nobody to choose a session; name one: --resume=ID")
	s := h.onTerminal("run", "--resume", "more of it")
	s.expect("  1  ")
	s.expect("other words")
	s.expect("  2  ")
	s.expect("first words")
	s.expect("which? [1-2] ")
	s.typed("2\n")
	s.exit(0)
	requests, _ := server.seen()
	contains(t, requests[len(requests)-1], "first words", "more of it")
	list, _ := h.weir(0, "sessions", "list")
	id, _, _ := strings.Cut(strings.Split(list, "\n")[1], " ") // the last written comes first
	for _, args := range [][]string{{"--resume=" + id, "again"}, {"--resume", id, "and again"}} {
		h.weir(0, append([]string{"run"}, args...)...)
		requests, _ = server.seen()
		contains(t, requests[len(requests)-1], "other words", args[len(args)-1])
	}
	s = h.onTerminal("run", "--resume", "more")
	s.expect("which? ")
	s.typed("x\n")
	s.expect("no session was chosen")
	s.exit(2)
	_, errOut = h.weir(2, "run", "--resume=nothing", "x")
	contains(t, errOut, `there is no session "nothing"`)
	_, errOut = h.weir(2, "run", "two", "prompts")
	contains(t, errOut, "one prompt, not 2 arguments")
}

// TestTrustAtTheTerminal: a project that was not trusted, and one that changed, is shown and asked about.
func TestTrustAtTheTerminal(t *testing.T) {
	h := newHome(t, "")
	h.write("script.toml", oneCall)
	h.write(".weir/weir.toml", "version = 1\n[[extension]]\nname = \"polite\"\nmodule = \"policy.js\"\n")
	h.write(".weir/policy.js", `export function tool_call() { return { block: true, reason: "the project says no" }; }`)
	run := func(answer string, used bool, before ...string) {
		t.Helper()
		s := h.onTerminal("run", "--script", "script.toml", "go")
		for _, b := range before {
			s.expect(b)
		}
		if answer != "" {
			s.expect("which? [1-4, none] ")
			s.typed(answer)
		}
		if out := s.exit(0); strings.Contains(out, "the project says no") != used {
			t.Errorf("answer %q: used is not %v\n%q", answer, used, out)
		}
	}
	run("3\n", false, "polite", "sha256", "hooks tool_call", "grants nothing", "it is not trusted", "Is this project trusted?")
	run("2\n", true)
	run("\n", false)
	run(ctrlC, false)
	run("1\n", true)
	run("", true)
	h.write(".weir/policy.js", `export function tool_call() { return { block: true, reason: "the project says no, anew" }; }`)
	run("3\n", false, "it changed since it was trusted on", "its module changed")
	run("4\n", false)
	run("", false, "is not used: it was refused on")
	s := h.onTerminal("trust")
	s.expect("it was refused on")
	s.expect("Is this project trusted?")
	s.expect("[y/N] ")
	s.typed("n\n")
	s.expect("nothing was changed")
	s.exit(exitFailed)
	s = h.onTerminal("trust")
	s.expect("[y/N] ")
	s.typed("y\n")
	s.expect("trusted: ")
	s.exit(0)
	run("", true)
}

// TestInterruptsAreTakenInOrder: the last who asked gets an interrupt, and nobody after the release.
func TestInterruptsAreTakenInOrder(t *testing.T) {
	var i interrupts
	var got []string
	first := i.take(func() { got = append(got, "first") })
	second := i.take(func() { got = append(got, "second") })
	offered := []bool{i.offer()}
	first()
	offered = append(offered, i.offer())
	second()
	offered = append(offered, i.offer())
	if want := "[second second] [true true false]"; fmt.Sprint(got, offered) != want {
		t.Errorf("%v %v, want %s", got, offered, want)
	}
	(*interrupts)(nil).take(nil)()
	ctx, stop := watchSignals(context.Background(), &i)
	stop()
	if ctx.Err() == nil {
		t.Error("the context outlives its watch")
	}
}

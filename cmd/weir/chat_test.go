//go:build unix

package main

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const chatScript = `
[[response]]
expect = '^one\ntwo$'
text = "Hello."
usage = { input = 20000, output = 100 }

[[response]]
[[response.call]]
tool = "bash"
args = { command = "while [ ! -e go ]; do sleep 0.05; done" }

[[response]]
expect = "be quick"
[[response.call]]
tool = "bash"
args = { command = "echo was run" }

[[response]]
text = "Done."

[[response]]
expect = "and then"
text = "Nothing."

[[response]]
expect = "half typed"
text = "Typed."
`

const chatPolicy = `
export const describe = { commands: [{ name: "greet", description: "Greets somebody" }] };
export function command_execute(e) { return { message: "Hello, " + e.args + "!\nAnd good day." }; }
export function tool_call(e) { if (e.input.command.startsWith("echo")) return { ask: { title: "Really?" } }; }
`

// TestChat: a conversation of many lines. What is typed while the agent works is queued; what was typed of a line when a question
// comes is no answer to it, and comes back.
func TestChat(t *testing.T) {
	h := newHome(t, "")
	h.write("script.toml", chatScript)
	h.write("polite.js", chatPolicy)
	s := h.onTerminal("chat", "--script", "script.toml", "-e", "polite.js", "--session", "kept.jsonl")
	s.expect("scripted/scripted · context 0% of 200.0k · 0 tokens · polite")
	s.typed("one\\\r")
	s.expect("… ")
	s.typed("two\r")
	s.expect("Hello.")
	s.expect("context 10% of 200.0k · 20.1k tokens · polite")
	s.typed("work\r")
	s.expect("▸")
	s.typed("be quick\r")
	s.expect("queued: the agent hears it before its next turn")
	s.typed("/after and then\r")
	s.expect("queued: the agent hears it when it is done")
	s.typed("half")
	h.write("go", "")
	s.expect("asks: Really?")
	s.expect("allow it? [y/N] ")
	s.typed("y\r")
	s.expect("✓")
	s.expect("Nothing.")
	s.expect("> half")
	s.typed(" typed\r")
	s.expect("Typed.")
	s.expect("tokens · polite")

	s.typed("/greet Ada\r")
	s.expect("says:\r\n    Hello, Ada!\r\n    And good day.")
	s.typed("!echo seen; exit 3\r")
	s.expect("\x1b[Kseen\r\n")
	s.expect("exit code 3")
	s.typed("!!echo not seen\r")
	s.expect("\x1b[Knot seen\r\n")
	s.typed("/nothing\r")
	s.expect("there is no command /nothing")
	s.typed("/model nobody/x\r")
	s.expect(`there is no model "nobody/x"`)
	s.typed("/thinking much\r")
	s.expect(`thinking level "much": it is one of off, `)
	s.typed("/name my talk\r")
	s.expect("the session's name: my talk")
	s.typed("/compact\r")
	s.expect("Nothing to compact")
	s.typed("/help\r")
	s.expect("/greet")
	s.expect("Greets somebody")
	s.typed("\x1b[A\x1b[A\r") // the line before the last one, once more
	s.expect("Nothing to compact")
	s.typed("/quit\r")
	s.expect("the session is kept in ")
	if out := s.exit(0); strings.Count(out, "was run") == 0 {
		t.Errorf("the answer did not count: %q", out)
	}
	kept, err := os.ReadFile(h.project + "/kept.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	contains(t, string(kept), `one\ntwo`, "half typed", `"name":"my talk"`, `"command":"echo seen; exit 3"`, `"excludeFromContext":true`)
	if strings.Contains(string(kept), `"y"`) || strings.Contains(string(kept), "halfy") {
		t.Error("an answer became part of the conversation, or the line became part of the answer")
	}
}

// TestChatCtrlC: once ends the turn, twice the conversation; a question takes it for a no. SIGTERM keeps the session.
func TestChatCtrlC(t *testing.T) {
	url, begun, _ := slowServer(t)
	h := newHome(t, strings.Replace(chatModels, "http://127.0.0.1:9", url, 1))
	s := h.onTerminal("chat")
	s.expect("> ")
	s.typed("hello\r")
	<-begun
	s.expect("Well:\r\n") // what it said has come
	s.typed(ctrlC)
	s.expect("aborting; Ctrl-C again to leave")
	s.expect("aborted")
	s.expect("tokens · no extensions")
	s.typed("again\r")
	<-begun
	s.typed("not heard\rnor this\r")
	s.expect("queued")
	s.expect("queued")
	s.typed(ctrlC + ctrlC)
	s.expect("not sent: not heard")
	s.expect("not sent: nor this")
	s.exit(0)
	h.kept("hello", "half a", "again")

	s = h.onTerminal("chat", "--continue")
	s.expect("> ")
	s.typed("more\r")
	<-begun
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.exit(exitTerminated)
	h.kept("more")

	h.write("script.toml", oneCall)
	h.write("polite.js", chatPolicy)
	s = h.onTerminal("chat", "--script", "script.toml", "-e", "polite.js")
	s.expect("> ")
	s.typed("go\r")
	s.expect("allow it? [y/N] ")
	s.typed(ctrlC)
	s.expect("Done.")
	s.expect("tokens · polite")
	s.typed("\x04") // Ctrl-D
	if out := s.exit(0); strings.Contains(out, "✓") {
		t.Errorf("Ctrl-C was a yes: %q", out)
	}
}

// TestChatPaste: a paste of many lines is one text, whatever stands around it.
func TestChatPaste(t *testing.T) {
	h := newHome(t, "")
	h.write("script.toml", "[[response]]\nexpect = '^look: a\\n/quit\\n!b at this$'\ntext = \"Seen.\"\n")
	s := h.onTerminal("chat", "--script", "script.toml")
	s.expect("> ")
	s.typed("look: \x1b[200~a\r/quit\r!b\x1b[201~ at this\r")
	s.expect("[paste 1: 3 lines]")
	s.expect("Seen.")
	s.typed("\x04")
	s.exit(0)
}

// TestChatWithoutATerminal names what else there is.
func TestChatWithoutATerminal(t *testing.T) {
	h := newHome(t, "")
	_, errOut := h.weir(2, "chat")
	contains(t, errOut, "at a terminal", "weir run PROMPT", "weir run --rpc")
	s := h.onTerminal("chat", "hello")
	s.expect(`weir chat takes no prompt ("hello")`)
	s.exit(2)
}

// TestKeyboard: marks of a paste may come in pieces; Ctrl-C within one is text.
func TestKeyboard(t *testing.T) {
	interrupts := 0
	k := &keyboard{interrupt: func() { interrupts++ }}
	var got []string
	for _, keys := range []string{
		"a\x03b", "\x1b", "[A", "x\x1b[20", "0~one", " two\x1b[2", "01~y\x1e\x1f", "\x1b[200~\x03\x1b[201~", "\x1b[200~1\r\n2\n\x1b[201~",
		"\x1b[200~" + strings.Repeat("z", maxInline+1) + "\x1b[201~",
	} {
		got = append(got, string(k.filter([]byte(keys))))
	}
	want := []string{"ab", "\x1b", "[A", "x", "", "", "one twoy", " ", "[paste 1: 2 lines]", "[paste 2: 1 lines]"}
	if diff := cmp.Diff(want, got); diff != "" || interrupts != 1 {
		t.Errorf("%d interrupts; %s", interrupts, diff)
	}
	if got := k.expand("see [paste 1: 2 lines], [paste 3: 1 lines]"); got != "see 1\n2\n, [paste 3: 1 lines]" {
		t.Errorf("%q", got)
	}
}

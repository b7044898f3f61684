//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestChatSessions goes about in a session's tree and from session to session, by what the chat lists.
func TestChatSessions(t *testing.T) {
	h := newHome(t, "")
	h.write("script.toml", `
[[response]]
text = "First."
[[response]]
text = "Second."
[[response]]
expect = "^two, once more$"
text = "Other second."
[[response]]
text = "What was tried: two, once more."
[[response]]
expect = '(?s)What was tried: two, once more.*three$'
text = "Third."
[[response]]
expect = "^two$"
text = "Copied."
`)
	h.write("watcher.js", strings.Replace(sessionsPolicy, `import { ui } from "weir";`, `const ui = { notify() {} };`, 1))
	s := h.onTerminal("chat", "--script", "script.toml", "-e", "watcher.js", "--session", "kept.jsonl")
	s.expect("tokens · watcher")
	say := func(text, answer string) {
		t.Helper()
		s.typed(text + "\r")
		s.expect(answer)
		s.expect("tokens · watcher")
	}
	say("one", "First.")
	say("two", "Second.")
	s.typed("/tree 1\r")
	s.expect("/tree 1: there is no such number in the list; /tree shows it")
	s.typed("/tree\r")
	s.expect("1 • you: one")
	s.expect("2 • agent: First.")
	s.expect("3 • you: two")
	s.expect("/tree N goes there")
	s.typed("/tree 3\r")
	s.expect("there: 2 messages")
	s.expect("there you said (↑ has it back): two")
	s.expect("tokens · watcher")
	s.typed("\x1b[A, once more\r")
	s.expect("Other second.")
	s.expect("tokens · watcher")
	s.typed("/tree\r")
	s.expect("3     you: two")
	s.expect("5 •   you: two, once more")
	s.expect("/tree N goes there")
	s.typed("/tree 2 summary be short\r")
	s.expect("what was left is summarised for the model")
	s.expect("there: 3 messages") // one, First., and the summary
	s.expect("tokens · watcher")
	say("three", "Third.")

	s.typed("/fork\r")
	s.expect("1  one")
	s.expect("2  three")
	s.expect("/fork N goes on")
	say("/refuse", "refuses true")
	s.typed("/fork 2\r")
	s.expect("an extension was against it; the session stays")
	s.expect("tokens · watcher")
	say("/refuse", "refuses false")
	s.typed("/fork 2\r")
	s.expect("a copy: session ")
	s.expect("there you said (↑ has it back): three")
	s.expect("tokens · watcher")
	s.typed("/new\r")
	s.expect("a new session: session ")
	s.expect("0 messages")
	s.expect("0 tokens · watcher")
	say("two", "Copied.")
	s.typed("/resume kept.jsonl\r")
	s.expect("gone on with: session ")
	s.expect("tokens · watcher")
	s.typed("/resume kept.jsonl\r")
	s.expect("is the present session")
	s.expect("tokens · watcher")
	s.typed("/quit\r")
	s.expect("the session is kept in ")
	s.expect("kept.jsonl")
	s.exit(0)
}

// TestChatHistory: the next program has the lines, but for answers, pastes and what begins with a space.
func TestChatHistory(t *testing.T) {
	h := newHome(t, "")
	h.write("script.toml", oneCall)
	h.write("polite.js", chatPolicy)
	s := h.onTerminal("chat", "--script", "script.toml", "-e", "polite.js")
	s.expect("tokens · polite")
	s.typed("first\r")
	s.expect("allow it? [y/N] ")
	s.typed("nonono\r")
	s.expect("tokens · polite")
	s.typed("/name kept\r")
	s.expect("the session's name: kept")
	s.typed(" /etc/passwd is secret\r")
	s.expect("tokens · polite")
	s.typed("/greet \x1b[200~a\rb\x1b[201~\r")
	s.expect("Hello, a")
	s.expect("tokens · polite")
	s.typed("/quit\r")
	s.exit(0)
	var path string
	for _, v := range h.env {
		if data, ok := strings.CutPrefix(v, "XDG_DATA_HOME="); ok {
			path = filepath.Join(data, "weir", "chat-history")
		}
	}
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := "first\n/name kept\n/quit\n"; string(kept) != want {
		t.Errorf("kept %q, want %q", kept, want)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}

	s = h.onTerminal("chat", "--script", "script.toml")
	s.expect("no extensions")
	s.typed("\x1b[A\x1b[A\r")
	s.expect("the session's name: kept")
	s.typed("/quit\r")
	s.exit(0)

	s = h.onTerminal("chat", "--script", "script.toml", "--no-history")
	s.expect("no extensions")
	s.typed("\x1b[A/name other\r")
	s.expect("the session's name: other")
	s.typed("/quit\r")
	s.exit(0)
	if again, err := os.ReadFile(path); err != nil || string(again) != string(kept)+"/name kept\n/quit\n" {
		t.Errorf("then %q, %v", again, err)
	}
}

// TestHistoryFile: it is bounded, and gives nothing that could disturb a terminal.
func TestHistoryFile(t *testing.T) {
	h := &historyFile{path: filepath.Join(t.TempDir(), "weir", "chat-history")}
	if lines, err := h.read(); len(lines) > 0 || err != nil {
		t.Error(lines, err)
	}
	h.add("a")
	h.add(" hidden")
	h.add(strings.Repeat("x", maxHistoryLine+1))
	h.add("\x1b[2J")
	if lines, err := h.read(); len(lines) != 1 || lines[0] != "a" || err != nil || h.failed != nil {
		t.Error(lines, err, h.failed)
	}
	if err := os.WriteFile(h.path, []byte(strings.Repeat("line\n", 2*maxHistory)+"last\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time it was shortened
		if lines, err := h.read(); len(lines) != maxHistory || lines[maxHistory-1] != "last" || err != nil {
			t.Error(len(lines), err)
		}
	}
	if data, err := os.ReadFile(h.path); err != nil || strings.Count(string(data), "\n") != maxHistory {
		t.Error(err)
	}
	h.path = filepath.Dir(h.path) // a folder
	if h.add("b"); h.failed == nil {
		t.Error("a line that cannot be kept is no failure")
	}
}

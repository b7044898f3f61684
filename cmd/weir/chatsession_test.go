//go:build unix

package main

import (
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

package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// write writes a file of the project.
func (h *home) write(name, text string) {
	h.t.Helper()
	writeFile(h.t, filepath.Join(h.project, filepath.FromSlash(name)), text)
}

// systemOf is the system prompt of a request.
func systemOf(t *testing.T, request string) string {
	t.Helper()
	var r struct {
		Messages []struct{ Role, Content string }
	}
	if err := json.Unmarshal([]byte(request), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Messages) == 0 || r.Messages[0].Role != "system" && r.Messages[0].Role != "developer" {
		t.Fatalf("there is no system prompt: %s", request)
	}
	return r.Messages[0].Content
}

// TestSystemPrompt: what the model is told first is the base, what is appended, the context files from the user's to the nearest,
// and the working folder; what of it comes from files is shown, and what is left out is said.
func TestSystemPrompt(t *testing.T) {
	server := newChatServer(t)
	h := newHome(t, strings.Replace(chatModels, "http://127.0.0.1:9", server.URL, 1))
	h.write("../config/weir/AGENTS.md", "of the user")
	h.write("../CLAUDE.md", "of the folder above")
	h.write("AGENTS.md", "of the project")
	h.write(".weir/AGENTS.md", "aside")
	h.write("base.md", "You are terse.\n")
	last := func() string {
		t.Helper()
		requests, _ := server.seen()
		return systemOf(t, requests[len(requests)-1])
	}
	inOrder := func(text string, parts ...string) {
		t.Helper()
		rest := text
		for _, p := range parts {
			_, after, ok := strings.Cut(rest, p)
			if !ok {
				t.Fatalf("%q is not there, or not in its place:\n%s", p, text)
			}
			rest = after
		}
	}

	out, _ := h.weir(0, "run", "hello")
	inOrder(last(), systemPrompt, "of the user", "of the folder above", "of the project", "Current working directory: "+h.project)
	inOrder(out, filepath.Join("config", "weir", "AGENTS.md")+", 11 bytes", "CLAUDE.md, 19 bytes", "AGENTS.md, 14 bytes", "turn 1")
	if strings.Contains(last(), "aside") {
		t.Error("a file of .weir is told")
	}

	h.weir(0, "run", "--system-prompt", "base.md", "--append-system-prompt", "Be kind.", "--append-system-prompt", "base.md", "--no-context-files", "hello")
	inOrder(last(), "You are terse.\n\nBe kind.\n\nYou are terse.\n", "Current working directory")
	if strings.Contains(last(), "of the project") || strings.Contains(last(), "coding agent") {
		t.Errorf("%s", last())
	}

	h.write("AGENTS.md", strings.Repeat("x", 200<<10))
	_, errOut := h.weir(0, "run", "hello")
	contains(t, errOut, "AGENTS.md is left out: it has 204800 bytes, more than 128 KiB")
	inOrder(last(), "of the user", "of the folder above")

	h.write("large.md", strings.Repeat("x", maxPromptFile+1))
	_, errOut = h.weir(2, "run", "--system-prompt", "large.md", "hello")
	contains(t, errOut, "--system-prompt: large.md has 1048577 bytes, more than 1024 KiB")
}

// TestThinkingLevel: the level goes to a model that thinks, is kept with the session, and can be changed when it goes on.
func TestThinkingLevel(t *testing.T) {
	server := newChatServer(t)
	h := newHome(t, strings.Replace(chatModels, "http://127.0.0.1:9", server.URL, 1)+`
[[model]]
id        = "thinker"
provider  = "work"
thinking  = "effort"
`)
	effort := func() string {
		t.Helper()
		requests, _ := server.seen()
		var r struct {
			Effort string `json:"reasoning_effort"`
		}
		if err := json.Unmarshal([]byte(requests[len(requests)-1]), &r); err != nil {
			t.Fatal(err)
		}
		return r.Effort
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--thinking", "low"}, "low"},
		{[]string{"--continue"}, "low"},
		{[]string{"--continue", "--thinking", "high"}, "high"},
		{[]string{"--continue"}, "high"},
	} {
		h.weir(0, append([]string{"run", "--model", "work/thinker", "hello"}, c.args...)...)
		if got := effort(); got != c.want {
			t.Errorf("%q: the effort is %q, want %q", c.args, got, c.want)
		}
	}
	_, errOut := h.weir(0, "run", "--thinking", "high", "hello")
	contains(t, errOut, "--thinking high: work/m is not known to think (thinking in models.toml says that it does)")
	if got := effort(); got != "" {
		t.Errorf("a model that does not think was asked to: %q", got)
	}
	_, errOut = h.weir(2, "run", "--thinking", "hard", "hello")
	contains(t, errOut, `--thinking "hard": it is one of off, minimal, low, medium, high`)
}

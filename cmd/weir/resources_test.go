//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const finderSet = "version = 1\n[[extension]]\nname = \"finder\"\nmodule = \"finder.js\"\n[extension.grant]\nread = [\"texts\"]\n"

// finder is an extension that names skills and templates.
func finder(skills, prompts string) string {
	return fmt.Sprintf("export const resources_discover = () => ({ skillPaths: %s, promptPaths: %s, themePaths: ['dark.json'] });\n", skills, prompts)
}

// newFinder is a project with an extension that brings a skill and a template.
func newFinder(t *testing.T) (*home, *chatServer) {
	t.Helper()
	server := newChatServer(t)
	h := newHome(t, strings.Replace(chatModels, "http://127.0.0.1:9", server.URL, 1))
	h.write("weir.toml", finderSet)
	h.write("finder.js", finder("['skills']", "['prompts']"))
	h.write("texts/skills/forms/SKILL.md", "---\nname: forms\ndescription: Fills forms.\n---\nUse a pen.\n")
	h.write("texts/prompts/greet.md", "---\ndescription: Greets somebody\nargument-hint: <name>\n---\nSay hello to ${1:-everybody}.\n")
	return h, server
}

// lastRequest is the system prompt and the last message of the last request.
func (s *chatServer) lastRequest(t *testing.T) (system, said string) {
	t.Helper()
	requests, _ := s.seen()
	last := requests[len(requests)-1]
	var r struct {
		Messages []struct{ Content json.RawMessage }
	}
	if err := json.Unmarshal([]byte(last), &r); err != nil {
		t.Fatal(err)
	}
	return systemOf(t, last), string(r.Messages[len(r.Messages)-1].Content)
}

// TestResources: skills that extensions name are listed for the model, and "/name" is the text of a template or a skill.
func TestResources(t *testing.T) {
	h, server := newFinder(t)
	_, errOut := h.weir(0, "run", "--set", "weir.toml", "/greet Ada")
	if errOut != "" {
		t.Errorf("it complains: %s", errOut)
	}
	system, said := server.lastRequest(t)
	contains(t, system, `<skill name="forms" file="`+filepath.Join(h.project, "texts", "skills", "forms", "SKILL.md")+`">Fills forms.</skill>`)
	contains(t, system, "Current working directory: "+h.project)
	contains(t, said, "Say hello to Ada.")
	if strings.Contains(system, "Use a pen") || strings.Contains(said, "/greet") {
		t.Errorf("system prompt %s\nsaid %s", system, said)
	}
	h.weir(0, "check", "--strict", "weir.toml") // the grant has a use
	h.weir(0, "run", "--set", "weir.toml", "/skill:forms in blue")
	if _, said = server.lastRequest(t); !strings.Contains(said, "Use a pen.") || !strings.Contains(said, "in blue") {
		t.Errorf("the skill is not told: %s", said)
	}
	h.weir(0, "run", "--set", "weir.toml", "/usr/bin/env is a path")
	if _, said = server.lastRequest(t); !strings.Contains(said, "/usr/bin/env is a path") {
		t.Errorf("what is no template was changed: %s", said)
	}
}

// TestResourcesOutside: an extension cannot have the host read for the model what it may not read itself. What is left out is said,
// and the run goes on.
func TestResourcesOutside(t *testing.T) {
	h, server := newFinder(t)
	const secret = "the-secret-text"
	h.write("../.ssh/key.md", "---\nname: key\ndescription: "+secret+"\n---\n"+secret+"\n")
	h.write("beside.md", secret)
	key := filepath.Join(h.dir, ".ssh", "key.md")
	h.write("finder.js", finder(fmt.Sprintf("['skills', %q, '../../.ssh/key.md']", key), fmt.Sprintf("['prompts', '../beside.md', %q]", filepath.Join(h.project, "beside.md"))))
	out, errOut := h.weir(0, "run", "--set", "weir.toml", "/beside x")
	for _, path := range []string{key, "../../.ssh/key.md", "../beside.md", filepath.Join(h.project, "beside.md")} {
		contains(t, out+errOut, fmt.Sprintf("finder: resources_discover: %q is left out: it is not below a folder that the extension is granted to read", path))
	}
	requests, _ := server.seen()
	if all := strings.Join(requests, "\n") + out + errOut; strings.Contains(all, secret) {
		t.Errorf("the secret came out: %s", all)
	}
	system, said := server.lastRequest(t)
	contains(t, system, "Fills forms.")
	contains(t, said, "/beside x")

	// Without the grant there is nothing.
	out, errOut = h.weir(0, "run", "-e", "finder.js", "/greet Ada")
	contains(t, out+errOut, `finder: resources_discover: "skills" is left out: the extension has no grant to read`)
	if system, said = server.lastRequest(t); strings.Contains(system, "skill") || !strings.Contains(said, "/greet Ada") {
		t.Errorf("system prompt %s\nsaid %s", system, said)
	}
}

// TestResourcesRPC: a program finds templates and skills among the commands, and a reload changes them.
func TestResourcesRPC(t *testing.T) {
	h, server := newFinder(t)
	c := h.rpc("--watch", "--set", "weir.toml")
	c.send(`{"id":"1","type":"get_commands"}`)
	at := func(name string) string { return filepath.Join(h.project, "texts", name) }
	want := []any{
		map[string]any{"name": "greet", "description": "Greets somebody", "source": "prompt", "path": at("prompts/greet.md")},
		map[string]any{"name": "skill:forms", "description": "Fills forms.", "source": "skill", "path": at("skills/forms/SKILL.md")},
	}
	if diff := cmp.Diff(want, c.response("1")["data"].(map[string]any)["commands"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	c.send(`{"id":"2","type":"prompt","message":"/greet"}`)
	c.typed("agent_settled")
	if _, said := server.lastRequest(t); !strings.Contains(said, "Say hello to everybody.") {
		t.Errorf("said %s", said)
	}
	h.write("texts/more/tables/SKILL.md", "---\ndescription: Makes tables.\n---\nText.\n")
	h.put("finder.js", finder("['more']", "[]"))
	late := time.Now().Add(30 * time.Second)
	for i := 0; ; i++ {
		id := fmt.Sprint("after", i)
		c.send(fmt.Sprintf(`{"id":%q,"type":"get_commands"}`, id))
		if text := fmt.Sprint(c.response(id)["data"]); strings.Contains(text, "skill:tables") {
			break
		} else if time.Now().After(late) {
			t.Fatalf("the commands are %s", text)
		}
		time.Sleep(50 * time.Millisecond)
	}
	c.send(`{"id":"3","type":"prompt","message":"/greet"}`)
	c.typed("agent_settled")
	system, said := server.lastRequest(t)
	if !strings.Contains(system, "Makes tables.") || strings.Contains(system, "Fills forms.") || !strings.Contains(said, "/greet") {
		t.Errorf("system prompt %s\nsaid %s", system, said)
	}
	c.exit(0)
}

// TestResourcesChat: a person finds them, too.
func TestResourcesChat(t *testing.T) {
	h, _ := newFinder(t)
	h.write("script.toml", "[[response]]\nexpect = '^Say hello to Ada\\.$'\ntext = \"Greeted.\"\n")
	s := h.onTerminal("chat", "--script", "script.toml", "--set", "weir.toml")
	s.expect("tokens · finder")
	s.typed("/help\r")
	s.expect("/greet <name>")
	s.expect("Greets somebody")
	s.expect("/skill:forms")
	s.typed("/greet Ada\r")
	s.expect("Greeted.")
	s.typed("\x04")
	s.exit(0)
}

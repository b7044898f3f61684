//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// greeter is an extension with one command.
func greeter(command string) string {
	return fmt.Sprintf("export const describe = { name: 'greeter', version: '1.0.0', commands: [{ name: %q, description: 'Greets.' }] };\n"+
		"export const command_execute = (call) => ({ message: %[1]q + ' says: ' + call.args });\n", command)
}

// put writes a file of the project in one step, so that a reload never sees half of it.
func (h *home) put(name, text string) {
	h.t.Helper()
	path := filepath.Join(h.project, name)
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		h.t.Fatal(err)
	}
}

// TestWatchCommandsRPC: a program finds the commands as a reload has left them.
func TestWatchCommandsRPC(t *testing.T) {
	h := newHome(t, "")
	h.put("script.toml", "[[response]]\nexpect = '^/hello Ada$'\ntext = \"Just text.\"\n")
	h.put("greeter.js", greeter("hello"))
	c := h.rpc("--watch", "--script", "script.toml", "-e", "greeter.js")
	commands := func(id string) (names []string) {
		t.Helper()
		c.send(fmt.Sprintf(`{"id":%q,"type":"get_commands"}`, id))
		for _, x := range c.response(id)["data"].(map[string]any)["commands"].([]any) {
			names = append(names, x.(map[string]any)["name"].(string))
		}
		return names
	}
	if diff := cmp.Diff([]string{"hello"}, commands("before")); diff != "" {
		t.Fatal(diff)
	}
	h.put("greeter.js", greeter("goodbye"))
	late := time.Now().Add(30 * time.Second)
	for i := 0; ; i++ {
		if names := commands(fmt.Sprint("after", i)); strings.Join(names, " ") == "goodbye" {
			break
		} else if time.Now().After(late) {
			t.Fatalf("the commands are %q", names)
		}
		time.Sleep(50 * time.Millisecond)
	}
	c.send(`{"id":"new","type":"prompt","message":"/goodbye Ada"}`)
	if line := c.typed("extension_ui_request"); line["message"] != "goodbye says: Ada" {
		t.Errorf("the command said %v", line)
	}
	c.send(`{"id":"old","type":"prompt","message":"/hello Ada"}`)
	c.typed("agent_settled")
	c.exit(0)
}

// TestWatchCommandsChat: a person does, too.
func TestWatchCommandsChat(t *testing.T) {
	h := newHome(t, "")
	h.put("script.toml", "[[response]]\ntext = \"Unused.\"\n")
	h.put("greeter.js", greeter("hello"))
	s := h.onTerminal("chat", "--watch", "--script", "script.toml", "-e", "greeter.js")
	s.expect("tokens · greeter")
	s.typed("/hello Ada\r")
	s.expect("hello says: Ada")
	h.put("greeter.js", greeter("goodbye"))
	s.expect("reloaded: changed greeter; commands changed")
	s.typed("/hello Ada\r")
	s.expect("there is no command /hello")
	s.typed("/goodbye Ada\r")
	s.expect("goodbye says: Ada")
	s.typed("\x04")
	s.exit(0)
}

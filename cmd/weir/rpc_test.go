//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir/engine/session"
)

// rpcClient is a program that talks with `weir run --rpc`.
type rpcClient struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan map[string]any // closed at the end
	errOut strings.Builder
}

func (h *home) rpc(args ...string) *rpcClient {
	h.t.Helper()
	c := &rpcClient{t: h.t, cmd: exec.Command("weir", append([]string{"run", "--rpc"}, args...)...), lines: make(chan map[string]any, 1000)}
	c.cmd.Dir, c.cmd.Env, c.cmd.Stderr = h.project, h.env, &c.errOut
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		h.t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	go func() {
		defer close(c.lines)
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			var v map[string]any
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				v = map[string]any{"no JSON": line}
			}
			c.lines <- v
		}
	}()
	h.t.Cleanup(func() { _ = c.cmd.Process.Kill() }) // it has ended, or the test failed
	return c
}

func (c *rpcClient) send(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatalf("sending %s: %v\n%s", line, err, c.errOut.String())
	}
}

// until gives the next line that is wanted.
func (c *rpcClient) until(what string, wanted func(line map[string]any) bool) map[string]any {
	c.t.Helper()
	late := time.After(60 * time.Second)
	var past []string
	for {
		select {
		case line, more := <-c.lines:
			if !more {
				c.t.Fatalf("it ended without %s; before came\n%s\n%s", what, strings.Join(past, "\n"), c.errOut.String())
			}
			text, _ := json.Marshal(line)
			past = append(past, string(text))
			if wanted(line) {
				return line
			}
		case <-late:
			c.t.Fatalf("%s did not come; before came\n%s", what, strings.Join(past, "\n"))
		}
	}
}

func (c *rpcClient) typed(kind string) map[string]any {
	c.t.Helper()
	return c.until(kind, func(line map[string]any) bool { return line["type"] == kind })
}

// response is the answer to the line with the id.
func (c *rpcClient) response(id string) map[string]any {
	c.t.Helper()
	return c.until("the response to "+id, func(line map[string]any) bool { return line["type"] == "response" && line["id"] == id })
}

// exit closes the input unless that was done, and gives the lines that were left.
func (c *rpcClient) exit(code int) (left []map[string]any) {
	c.t.Helper()
	_ = c.in.Close() // may be closed
	late := time.AfterFunc(60*time.Second, func() { _ = c.cmd.Process.Kill() })
	defer late.Stop()
	for line := range c.lines {
		left = append(left, line)
	}
	err := c.cmd.Wait()
	if got := c.cmd.ProcessState.ExitCode(); got != code {
		c.t.Fatalf("exit code %d, want %d (%v)\n%s", got, code, err, c.errOut.String())
	}
	return left
}

// rpcPage gives docs/rpc.md: its text, the blocks by language, and the lines of its conversation.
func rpcPage(t *testing.T) (text string, files map[string]string, talk []string) {
	t.Helper()
	raw, err := os.ReadFile("../../docs/rpc.md")
	if err != nil {
		t.Fatal(err)
	}
	text = string(raw)
	files = map[string]string{}
	for i, block := range strings.Split(text, "```") {
		language, body, _ := strings.Cut(block, "\n")
		switch {
		case i%2 == 0:
		case language == "":
			talk = append(talk, strings.Split(strings.TrimSpace(body), "\n")...)
		case language == "js":
			files["polite.js"] = body
		case strings.Contains(body, "[[response]]"):
			files["script.toml"] = body
		default:
			files["set.toml"] = body
		}
	}
	return text, files, talk
}

// like says whether a line is the example's; "…" in that stands for anything.
func like(example, line any) bool {
	switch example := example.(type) {
	case string:
		return example == "…" && line != nil || example == line
	case map[string]any:
		got, ok := line.(map[string]any)
		if !ok || len(got) != len(example) {
			return false
		}
		for k, v := range example {
			if !like(v, got[k]) {
				return false
			}
		}
		return true
	case []any:
		got, ok := line.([]any)
		return ok && slices.EqualFunc(example, got, like)
	default:
		return cmp.Equal(example, line)
	}
}

// TestRPCPage has the conversation of docs/rpc.md, line by line, and compares each line that the page shows with what is printed.
func TestRPCPage(t *testing.T) {
	text, files, talk := rpcPage(t)
	h := newHome(t, "")
	for name, body := range files {
		h.write(name, body)
	}
	c := h.rpc("--no-session", "--script", "script.toml", "--set", "set.toml")
	sent, shown := 0, 0
	for _, line := range talk {
		if out, ok := strings.CutPrefix(line, "→ "); ok {
			c.send(out)
			sent++
			continue
		}
		var example map[string]any
		in, ok := strings.CutPrefix(line, "← ")
		if err := json.Unmarshal([]byte(in), &example); !ok || err != nil {
			t.Fatalf("no line of a conversation: %s (%v)", line, err)
		}
		c.until(in, func(got map[string]any) bool { return like(example, got) })
		shown++
	}
	c.exit(0)
	if sent < 20 || shown < 40 {
		t.Errorf("%d lines sent and %d shown: the page's conversation was not found", sent, shown)
	}
	for i := range session.EventCount {
		if name := session.EventType(i + 1).String(); !strings.Contains(text, "`"+name+"`") {
			t.Errorf("the page does not name the event %s", name)
		}
	}
	if page, err := os.ReadFile(h.project + "/talk.html"); err != nil || !strings.Contains(string(page), "Wait for me.") {
		t.Errorf("the page that was exported: %v, %s", err, page)
	}
	for name, fields := range rpcCommands() {
		row := fmt.Sprintf("|`%s`|%s|%s|", name, quoted(fields.must), quoted(fields.may))
		if !strings.Contains(strings.ReplaceAll(text, " ", ""), row) {
			t.Errorf("the page lacks the row %s", row)
		}
	}
}

func quoted(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "`" + strings.Join(names, "`,`") + "`"
}

// TestRPCClient is a client that knows the page and no more: it allows what it is asked, says something more while the agent works,
// compacts, changes nothing by mistakes, and ends by closing its end.
func TestRPCClient(t *testing.T) {
	h := newHome(t, "")
	h.write("polite.js", `export function tool_call() { return { ask: { title: "Sure?" } }; }`)
	h.write("script.toml", `
[[response]]
[[response.call]]
tool = "bash"
args = { command = "while [ ! -e go ]; do sleep 0.05; done" }
[[response]]
expect = "also this"
text = "Both."
[[response]]
expect = "and at last"
text = "All."
[[response]]
text = "What was said before."
[[response]]
text = "After."
`)
	c := h.rpc("--session", "kept.jsonl", "--script", "script.toml", "-e", "polite.js")
	c.send(`{"id":"p","type":"prompt","message":"do it"}`)
	if r := c.response("p"); r["success"] != true {
		t.Fatal(r)
	}
	q := c.typed("extension_ui_request")
	c.send(fmt.Sprintf(`{"type":"extension_ui_response","id":%q,"value":"yes"}`, q["id"])) // no answer to confirm: it stays open
	if r := c.response(q["id"].(string)); r["success"] != false {
		t.Fatal(r)
	}
	c.send(fmt.Sprintf(`{"type":"extension_ui_response","id":%q,"confirmed":true}`, q["id"]))
	c.send(`{"id":"s","type":"prompt","message":"also this","streamingBehavior":"steer"}`)
	c.send(`{"id":"f","type":"follow_up","message":"and at last"}`)
	c.response("s")
	c.response("f")
	h.write("go", "")
	c.typed("agent_settled")
	c.send(`{"id":"t","type":"get_last_assistant_text"}`)
	if r := c.response("t"); fmt.Sprint(r["data"]) != "map[text:All.]" {
		t.Errorf("what was said last: %v", r)
	}
	c.send(`{"id":"m","type":"get_messages"}`)
	data, _ := c.response("m")["data"].(map[string]any)
	messages, _ := data["messages"].([]any)
	var roles []any
	for _, m := range messages {
		roles = append(roles, m.(map[string]any)["role"])
	}
	if want := []any{"user", "assistant", "toolResult", "user", "assistant", "user", "assistant"}; !cmp.Equal(want, roles) {
		t.Errorf("the messages: %v", roles)
	}
	long, err := json.Marshal(strings.Repeat("many words ", 20_000))
	if err != nil {
		t.Fatal(err)
	}
	c.send(`{"id":"l","type":"prompt","message":` + string(long) + `}`)
	c.typed("agent_settled")
	c.send(`{"id":"c","type":"compact","customInstructions":"be short"}`)
	r := c.response("c")
	data, _ = r["data"].(map[string]any)
	if r["success"] != true || data["summary"] == "" || data["tokensBefore"] == nil {
		t.Errorf("the compaction: %v", r)
	}
	c.send(`{"id":"x","type":"steer","message":"too late"}`)
	left := c.exit(0)
	var last string
	for _, line := range left {
		if line["type"] == "error" {
			last = fmt.Sprint(line["error"])
		}
	}
	contains(t, last, "too late")
	kept, err := os.ReadFile(h.project + "/kept.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	contains(t, string(kept), "do it", "also this", "and at last", `"type":"compaction"`)
}

// TestRPCEnds: the end of the input waits for the run and answers no; SIGTERM keeps what was said; what is wrong with the flags is
// told on standard error.
func TestRPCEnds(t *testing.T) {
	h := newHome(t, "")
	h.write("script.toml", oneCall)
	h.write("polite.js", `export function tool_call() { return { ask: { title: "Sure?" } }; }`)
	c := h.rpc("--script", "script.toml", "-e", "polite.js")
	c.send(`{"id":"p","type":"prompt","message":"go"}`)
	c.typed("extension_ui_request")
	left := fmt.Sprint(c.exit(0))
	contains(t, left, "Done.", "isError:true", "agent_settled")

	url, begun, _ := slowServer(t)
	h = newHome(t, strings.Replace(chatModels, "http://127.0.0.1:9", url, 1))
	c = h.rpc()
	c.send(`{"type":"prompt","message":"hello"}`)
	<-begun
	c.until("half a word", func(line map[string]any) bool { return strings.Contains(fmt.Sprint(line), "half a") })
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	c.typed("agent_settled")
	c.exit(exitTerminated)
	h.kept("hello", "half a")

	for want, args := range map[string][]string{
		"--rpc has its prompts from standard input": {"hello"},
		"there is nobody to choose a session":       {"--resume"},
		"were all set":                              {"--output", "json"},
	} {
		_, errOut := h.weir(2, append([]string{"run", "--rpc"}, args...)...)
		contains(t, errOut, want)
	}
}

// TestRPCLines: what makes no sense is told with its reason, and none of it ends the reading.
func TestRPCLines(t *testing.T) {
	for line, want := range map[string]string{
		`[]`:                         "not a JSON object",
		`null`:                       "it is null",
		`{"id":7,"type":"abort"}`:    "id is not a string",
		`{"id":"7"}`:                 `no "type"`,
		`{"type":"compact","x":"y"}`: `no field "x"`,
		`{"type":"prompt","message":"a","streamingBehavior":"later"}`: "steer or followUp",
		`{"type":"prompt","message":"a","images":[{"data":"x"}]}`:     "images[0]",
		`{"type":"extension_ui_response","confirmed":true}`:           `no "id"`,
	} {
		if _, err := parseRPC(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
	next := rpcLines(io.MultiReader(strings.NewReader("\n \r\na\r\n"), strings.NewReader(strings.Repeat("b", maxRPCLine+1)), strings.NewReader("\nc\u2028d")))
	var got []string
	for {
		line, err := next()
		if line == "" {
			break
		}
		got = append(got, fmt.Sprint(line, err))
	}
	if diff := cmp.Diff([]string{"a<nil>", "{}the line is longer than 64 MiB", "c\u2028d<nil>"}, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzRPCLine(f *testing.F) {
	f.Add(`{"id":"1","type":"prompt","message":"x","images":[{"type":"image","data":"","mimeType":""}]}`)
	f.Add(`{"type":"extension_ui_response","id":"1","cancelled":true}`)
	f.Fuzz(func(t *testing.T, line string) {
		if c, err := parseRPC(line); c == nil || err == nil && c.Type == "" {
			t.Errorf("%q: %+v, %v", line, c, err)
		}
	})
}

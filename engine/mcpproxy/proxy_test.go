package mcpproxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
	"weir/engine"
	"weir/engine/mcpproxy"
	"weir/engine/wire"
)

func callLine(id, tool string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, id, tool)
}

// TestUntouched: what is no tool call goes through as the bytes it came as, both ways, unknown members and methods included.
func TestUntouched(t *testing.T) {
	r := newRig(t, &fake{})
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"x","capabilities":{}},"extra":[1.50]}`,
		`{"jsonrpc":"2.0", "method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":"a\u0062","method":"tools/list","params":{"cursor":"\ud83d\ude00"}}`,
		`{"jsonrpc":"2.0","id":2,"method":"future/thing","params":[1,2,{"a":1e400}]}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`,
		`{"jsonrpc":"2.0","id":77,"result":{"roots":[]}}`,
		`{"jsonrpc":"2.0","id":"x","error":{"code":-1,"message":"no"}}`,
	} {
		r.client.say(t, line)
		r.server.want(t, line)
	}
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"name":"s"}},"more":null}`,
		`{"jsonrpc":"2.0","id":"ab","result":{ "tools": [] }}`,
		`{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"what?","data":{"a":[]}}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":0.5}}`,
		`{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[]}}`,
		`{"jsonrpc":"2.0","id":"r","method":"roots/list"}`,
	} {
		r.server.say(t, line)
		r.client.want(t, line)
	}
}

// TestCall: what becomes of a tool call and its result.
func TestCall(t *testing.T) {
	plain := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":{"progressToken":3},"name":"read","arguments":{ "path": "a" }}}`
	answer := func(result string) string { return `{"jsonrpc":"2.0","id":7,"result":` + result + `}` }
	rewrite := func(_ context.Context, ev wire.ToolCallEvent) engine.Decision {
		return engine.Decision{Input: json.RawMessage(`{"path":"b"}`), Rewritten: []string{"x"}}
	}
	for name, c := range map[string]struct {
		fake   *fake
		line   string
		server string // what the server gets; "" nothing
		says   string
		client string
		seen   []string
	}{
		"passes": {
			line: plain, server: plain, says: answer(`{"content":[{"type":"text","text":"hi"}], "x": 1}`), client: answer(`{"content":[{"type":"text","text":"hi"}], "x": 1}`),
			seen: []string{`call mcp__srv__read { "path": "a" }`, "result mcp__srv__read hi false"},
		},
		"without arguments": {
			line: `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"now"}}`, server: `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"now"}}`,
			says: answer(`{"content":[]}`), client: answer(`{"content":[]}`),
			seen: []string{"call mcp__srv__now {}", "result mcp__srv__now  false"},
		},
		"is blocked": {
			fake: &fake{call: func(context.Context, wire.ToolCallEvent) engine.Decision {
				return engine.Decision{Block: true, Reason: "not here"}
			}},
			line: plain, client: answer(`{"content":[{"text":"\"not here\"","type":"text"}],"isError":true}`),
		},
		"is blocked without a reason": {
			fake: &fake{call: func(context.Context, wire.ToolCallEvent) engine.Decision { return engine.Decision{Block: true} }},
			line: plain, client: answer(`{"content":[{"text":"\"blocked by weir\"","type":"text"}],"isError":true}`),
		},
		"with an escape in the reason": {
			fake: &fake{call: func(context.Context, wire.ToolCallEvent) engine.Decision {
				return engine.Decision{Block: true, Reason: "\x1b[2J"}
			}},
			line: plain, client: answer(`{"content":[{"text":"\"\\x1b[2J\"","type":"text"}],"isError":true}`),
		},
		"panics": {
			fake: &fake{call: func(context.Context, wire.ToolCallEvent) engine.Decision { panic("oh") }},
			line: plain, client: answer(`{"content":[{"text":"\"weir could not decide, so this is blocked: internal error: oh\"","type":"text"}],"isError":true}`),
		},
		"is rewritten": {
			fake: &fake{call: rewrite}, line: plain,
			server: `{"id":7,"jsonrpc":"2.0","method":"tools/call","params":{"_meta":{"progressToken":3},"arguments":{"path":"b"},"name":"read"}}`,
			says:   answer(`{"content":[]}`), client: answer(`{"content":[]}`),
		},
		"is rewritten to no object": {
			fake: &fake{call: func(context.Context, wire.ToolCallEvent) engine.Decision {
				return engine.Decision{Input: json.RawMessage(`[]`), Rewritten: []string{"x"}}
			}},
			line: plain, client: answer(`{"content":[{"text":"\"the rewritten arguments cannot be passed on, so the call is blocked: it is not a JSON object\"","type":"text"}],"isError":true}`),
		},
		"has a result rewritten": {
			fake: &fake{result: replaceTexts("secret")}, line: plain, server: plain,
			says: answer(`{"content":[{"type":"text","text":"a secret"},{"type":"text","text":"b","annotations":{"x":1}},{"type":"image","data":"AA","mimeType":"i/p"},` +
				`{"type":"resource","resource":{"uri":"u","text":"secret"}}],"structuredContent":{"k":"secret","n":1.50},"_meta":{"secret":1},"resultType":"complete","other":"secret"}`),
			client: `{"id":7,"jsonrpc":"2.0","result":{"content":[{"text":"a ***","type":"text"},{"type":"text","text":"b","annotations":{"x":1}},{"type":"image","data":"AA","mimeType":"i/p"},` +
				`{"text":"{\"type\":\"resource\",\"resource\":{\"uri\":\"u\",\"text\":\"***\"}}","type":"text"}],"resultType":"complete","structuredContent":{"k":"***","n":1.50}}}`,
		},
		"has structured content that is no JSON any more": {
			fake: &fake{result: replaceTexts(`"secret"`)}, line: plain, server: plain,
			says:   answer(`{"content":[],"structuredContent":{"k":"secret"}}`),
			client: `{"id":7,"jsonrpc":"2.0","result":{"content":[]}}`,
		},
		"has a result of another length": {
			fake: &fake{result: func(ev wire.ToolResultEvent) (wire.ToolResultEvent, bool) {
				ev.Content, ev.IsError = []agentcore.Block{&agentcore.TextBlock{Text: "gone"}}, true
				return ev, true
			}},
			line: plain, server: plain,
			says:   answer(`{"content":[{"type":"text","text":"a"}],"structuredContent":{"k":"secret"}}`),
			client: `{"id":7,"jsonrpc":"2.0","result":{"content":[{"text":"gone","type":"text"}],"isError":true}}`,
		},
		"has a text that hides another": {
			line: plain, server: plain,
			says:   answer(`{"content":[{"type":"text","text":"a","Text":"b"}]}`),
			client: answer(`{"content":[{"type":"text","text":"a","Text":"b"}]}`),
			seen:   []string{`call mcp__srv__read { "path": "a" }`, `result mcp__srv__read {"type":"text","text":"a","Text":"b"} false`},
		},
		"has a result that hides another": {
			line: plain, server: plain, says: answer(`{"content":[],"Content":[{"type":"text","text":"b"}]}`),
			client: `{"id":7,"jsonrpc":"2.0","result":{"content":[{"text":"\"The result of this call was withheld: the server's result cannot be read: the key \\\"Content\\\" is nearly \\\"content\\\"\"","type":"text"}],"isError":true}}`,
		},
		"has a result that is none": {
			line: plain, server: plain, says: answer(`"x"`),
			client: `{"id":7,"jsonrpc":"2.0","result":{"content":[{"text":"\"The result of this call was withheld: the server's result cannot be read: it is not a JSON object\"","type":"text"}],"isError":true}}`,
		},
		"panics about the result": {
			fake: &fake{result: func(wire.ToolResultEvent) (wire.ToolResultEvent, bool) { panic("oh") }}, line: plain, server: plain, says: answer(`{"content":[]}`),
			client: `{"id":7,"jsonrpc":"2.0","result":{"content":[{"text":"\"The result of this call was withheld: internal error: oh\"","type":"text"}],"isError":true}}`,
		},
		"fails": {
			line: plain, server: plain,
			says: `{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no such tool","data":[1]}}`, client: `{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no such tool","data":[1]}}`,
			seen: []string{`call mcp__srv__read { "path": "a" }`, "result mcp__srv__read no such tool|[1] true"},
		},
		"fails with what is rewritten": {
			fake: &fake{result: replaceTexts("secret")}, line: plain, server: plain,
			says:   `{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no secret"}}`,
			client: `{"id":7,"jsonrpc":"2.0","result":{"content":[{"text":"no ***","type":"text"}],"isError":true}}`,
		},
		"is a task": {
			line:   `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","task":{}}}`,
			client: `{"id":7,"jsonrpc":"2.0","result":{"content":[{"text":"\"weir mcp blocked the call: it is to run as a task, whose result extensions would not see; call it without\"","type":"text"}],"isError":true}}`,
			seen:   []string{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c.fake == nil {
				c.fake = &fake{}
			}
			r := newRig(t, c.fake)
			r.client.say(t, c.line)
			if c.server != "" {
				r.server.want(t, c.server)
				r.server.say(t, c.says)
			}
			got := r.client.gets(t)
			if d := cmp.Diff(sorted(t, c.client), sorted(t, got)); d != "" {
				t.Errorf("(-want +got)\n%s\n%s", d, got)
			}
			if c.server != "" && c.says == c.client && got != c.says {
				t.Errorf("not byte for byte: %s", got)
			}
			if c.seen != nil {
				if d := cmp.Diff(c.seen, c.fake.all()); d != "" {
					t.Errorf("seen (-want +got)\n%s", d)
				}
			}
			if c.server == "" {
				r.client.say(t, `{"jsonrpc":"2.0","method":"after"}`)
				r.server.want(t, `{"jsonrpc":"2.0","method":"after"}`) // and nothing before
			}
		})
	}
}

// sorted is a JSON text in which the order of keys does not matter, but numbers keep their digits.
func sorted(t *testing.T, line string) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(line))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestHostileClient: messages that readers disagree about do not reach the server.
func TestHostileClient(t *testing.T) {
	deep := strings.Repeat("[", 20000) + strings.Repeat("]", 20000)
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{}}`:                                 `the key \"method\" is there twice`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call","params":{}}`:                                 `the key \"Method\" is nearly \"method\"`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","para` + "\u017f" + `s":{},"params":{},"` + "PARAM\u017f" + `":{}}`: `is nearly \"params\"`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","result":{}}`:                                                 `a request and a response at once`,
		`{"jsonrpc":"2.0","id":1.0,"method":"tools/call","params":{"name":"a"}}`:                                     `neither a text nor a whole number`,
		`{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"a"}}`:                                    `neither a text nor a whole number`,
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`:                                                                  `neither a text nor a whole number`,
		`{"jsonrpc":"1.0","id":1,"method":"ping"}`:                                                                   `is not \"2.0\"`,
		`{"jsonrpc":"2.0","id":1,"method":["tools/call"]}`:                                                           `is not a text`,
		`{"jsonrpc":"2.0"}`:                               `neither a request`,
		`{"jsonrpc":"2.0","id":1}`:                        `neither a request`,
		`{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`: `neither a request`,
		`not json`: `not a JSON object`,
		`{"jsonrpc":"2.0","id":1,"method":"ping"} {"jsonrpc":"2.0","id":2,"method":"tools/call"}`:                  `something follows`,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\xff\"}":                                                      `not valid UTF-8`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":` + deep + `}`:                                           `nested too deeply`,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"`:                                                                 `not valid JSON`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`:                                                           `the parameters cannot be read`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`:                                               `the parameters cannot be read`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}`:                          `is there twice`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","Arguments":{"path":"/etc"}}}`:         `is nearly`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":""}}`:                                      `it names no tool`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":[1]}}`:                     `the arguments cannot be read`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"path":"a","path":"b"}}}`: `the arguments cannot be read`,
		`{"jsonrpc":"2.0","id":1,"method":"tasks/result","params":{"taskId":"x"}}`:                                 `results of tasks are not passed on`,
	} {
		t.Run("", func(t *testing.T) {
			f := &fake{}
			r := newRig(t, f)
			r.client.say(t, line)
			if got := r.client.gets(t); !strings.Contains(strings.ReplaceAll(got, `\\\"`, `\"`), want) {
				t.Errorf("%.200s\nwas answered with %.300s\nwant %s", line, got, want)
			}
			if len(f.all()) > 0 {
				t.Errorf("the set was asked: %v", f.all())
			}
			after := `{"jsonrpc":"2.0","method":"after"}`
			r.client.say(t, after)
			r.server.want(t, after)
		})
	}
}

// TestHostileServer: what the server says that was not asked for, or that cannot be read, does not reach the client.
func TestHostileServer(t *testing.T) {
	f := &fake{}
	r := newRig(t, f)
	r.client.say(t, callLine("1", "a"))
	r.server.gets(t)
	result := `"result":{"content":[{"type":"text","text":"unseen"}]}}`
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":2,` + result,
		`{"jsonrpc":"2.0","id":"1",` + result,
		`{"jsonrpc":"2.0","id":1.0,` + result,
		`{"jsonrpc":"2.0","id":null,` + result,
		`{"jsonrpc":"2.0","id":1,"ID":1,` + result,
		`{"jsonrpc":"2.0","id":1,"method":"x",` + result,
		`{"jsonrpc":"2.0","id":1,"result":{},` + result,
		`{"jsonrpc":"2.0","id":1,"error":{},` + result,
		`Server ready`,
		"{\x00}",
		`[`,
	} {
		r.server.say(t, line)
	}
	r.server.say(t, `[{"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","id":1,`+result+`]`)
	r.client.want(t, `{"jsonrpc":"2.0","method":"n"}`)
	r.client.want(t, `{"jsonrpc":"2.0","id":1,`+result)
	r.server.say(t, `{"jsonrpc":"2.0","id":1,`+result) // a second time
	r.server.say(t, `{"jsonrpc":"2.0","method":"after"}`)
	r.client.want(t, `{"jsonrpc":"2.0","method":"after"}`)
	if d := cmp.Diff([]string{"call mcp__srv__a {}", "result mcp__srv__a unseen false"}, f.all()); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.notes) != 12 {
		t.Errorf("%d notes, want 12: %s", len(r.notes), strings.Join(r.notes, "\n"))
	}
}

// TestBatch: a list of messages is as many messages.
func TestBatch(t *testing.T) {
	f := &fake{call: func(context.Context, wire.ToolCallEvent) engine.Decision {
		return engine.Decision{Block: true, Reason: "no"}
	}}
	r := newRig(t, f)
	r.client.say(t, `[{"jsonrpc":"2.0","id":1,"method":"ping"},`+callLine("2", "a")+`]`)
	r.server.want(t, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if got := r.client.gets(t); !strings.Contains(got, `"isError":true`) {
		t.Errorf("the call in the list was answered with %s", got)
	}
}

// TestSameID: a second request with the id of one that waits is refused, since its response could not be told apart.
func TestSameID(t *testing.T) {
	r := newRig(t, &fake{})
	r.client.say(t, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	r.server.gets(t)
	r.client.say(t, callLine("1", "a"))
	if got := r.client.gets(t); !strings.Contains(got, "another request with this id") {
		t.Error(got)
	}
	r.server.say(t, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	r.client.want(t, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	r.client.say(t, callLine("1", "a"))
	r.server.want(t, callLine("1", "a"))
}

// TestCancelWhileDeciding: a call that is cancelled while the set decides never reaches the server, and is not answered.
func TestCancelWhileDeciding(t *testing.T) {
	deciding := make(chan struct{}, 10)
	f := &fake{call: func(ctx context.Context, ev wire.ToolCallEvent) engine.Decision {
		if ev.ToolName == "mcp__srv__quick" {
			return engine.Decision{Input: ev.Input}
		}
		deciding <- struct{}{}
		<-ctx.Done()
		return engine.Decision{Input: ev.Input}
	}}
	r := newRig(t, f)
	r.client.say(t, callLine("1", "slow"))
	<-deciding
	r.client.say(t, callLine("2", "slow")) // waits behind it
	r.client.say(t, callLine("3", "quick"))
	r.client.say(t, `{"jsonrpc":"2.0","id":4,"method":"ping"}`) // overtakes
	r.server.want(t, `{"jsonrpc":"2.0","id":4,"method":"ping"}`)
	r.client.say(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	r.client.say(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	r.server.want(t, callLine("3", "quick"))
	cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`
	r.client.say(t, cancel)
	r.server.want(t, cancel)
	r.server.say(t, `{"jsonrpc":"2.0","id":3,"result":{"content":[]}}`) // too late
	r.server.say(t, `{"jsonrpc":"2.0","id":4,"result":{}}`)
	r.client.want(t, `{"jsonrpc":"2.0","id":4,"result":{}}`)
}

// TestServerEnds: what waits is answered.
func TestServerEnds(t *testing.T) {
	r := newRig(t, &fake{})
	r.client.say(t, callLine("1", "a"))
	r.client.say(t, `{"jsonrpc":"2.0","id":"p","method":"ping"}`)
	r.server.gets(t)
	r.server.gets(t)
	if err := r.server.in.Close(); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"1", `"p"`} {
		if got := r.client.gets(t); !strings.Contains(got, `"id":`+id+`,`) || !strings.Contains(got, "the MCP server ended") {
			t.Error(got)
		}
	}
	if err := r.ends(); !errors.Is(err, mcpproxy.ErrServerEnded) {
		t.Error(err)
	}
}

// TestClientEnds: what is under way still gets its answer.
func TestClientEnds(t *testing.T) {
	r := newRig(t, &fake{})
	r.client.say(t, callLine("1", "a"))
	r.server.gets(t)
	if err := r.client.in.Close(); err != nil {
		t.Fatal(err)
	}
	r.server.say(t, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
	r.client.want(t, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
	if err := r.ends(); err != nil {
		t.Error(err)
	}
}

// TestLarge: a message of 64 MiB passes and is judged; a longer one ends the session with an error that says so.
func TestLarge(t *testing.T) {
	f := &fake{}
	r := newRig(t, f)
	head, tail := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"text":"`, `"}}}`
	line := head + strings.Repeat("x", mcpproxy.MaxMessage-len(head)-len(tail)) + tail
	r.client.say(t, line)
	if got := r.server.gets(t); got != line {
		t.Errorf("%d bytes became %d", len(line), len(got))
	}
	if seen := f.all(); len(seen) != 1 || len(seen[0]) < mcpproxy.MaxMessage-1000 {
		t.Error("the set did not see the whole call")
	}
	go func() { _, _ = io.WriteString(r.server.in, strings.Repeat("x", mcpproxy.MaxMessage+(1<<20))) }() // ends with the pipe
	if got := r.client.gets(t); !strings.Contains(got, "reading from the MCP server: a message is longer than 64 MiB") {
		t.Error(got)
	}
	if err := r.ends(); err == nil {
		t.Error("Run ended without an error")
	}
}

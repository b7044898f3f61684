package decide_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
	"weir/engine"
	"weir/engine/decide"
	"weir/engine/wire"
)

// script is an extension that answers each event from a function.
type script struct {
	name  string
	event wire.Event
	block bool
	do    func(ev *engine.Event) (any, error)
}

func (s *script) Name() string { return s.name }
func (s *script) Hook(e wire.Event) *wire.Hook {
	if e == s.event {
		return &wire.Hook{Event: e, Block: s.block}
	}
	return nil
}
func (s *script) Close(context.Context) error { return nil }
func (s *script) Handle(_ context.Context, ev *engine.Event) (any, engine.Usage, error) {
	r, err := s.do(ev)
	if err == nil && ev.Check != nil && r != nil {
		err = ev.Check(r)
	}
	return r, engine.Usage{}, err
}

func call(name string, r *wire.ToolCallResult) *script {
	return &script{name: name, event: wire.EventToolCall, do: func(ev *engine.Event) (any, error) {
		if r == nil || r.Input != nil && string(r.Input) == string(ev.Payload.(*wire.ToolCallEvent).Input) {
			return nil, nil
		}
		return r, nil
	}}
}

func TestDecide(t *testing.T) {
	boom := errors.New("boom")
	fails := func(event wire.Event, block bool) *script {
		return &script{name: "bad", event: event, block: block, do: func(*engine.Event) (any, error) { return nil, boom }}
	}
	text := &wire.ToolResultResult{Content: []agentcore.Block{&agentcore.TextBlock{Text: "clean"}}}
	clean := func(name string) *script {
		return &script{name: name, event: wire.EventToolResult, do: func(*engine.Event) (any, error) { return text, nil }}
	}
	drop := &script{name: "drop", event: wire.EventContext, do: func(*engine.Event) (any, error) {
		return wire.ParseContext([]byte(`{"drop":[0]}`))
	}}
	rewrite := &wire.ToolCallResult{Input: json.RawMessage(`{"command":"b"}`)}
	ask := func(name string) *script {
		return call(name, &wire.ToolCallResult{Ask: &wire.Ask{Title: name + " asks", Message: "sure?"}})
	}
	const bash = `{"toolName":"bash","input":{"command":"a"}}`
	const result = `{"toolName":"bash","content":"dirty"}`
	const history = `{"messages":[{"role":"user","content":"a","timestamp":1},{"role":"user","content":"b","timestamp":2}]}`
	for name, c := range map[string]struct {
		event      string
		extensions []engine.Extension
		want       string
	}{
		"nobody":              {bash, nil, `{"decision":"allow","by":[]}`},
		"no opinion":          {bash, []engine.Extension{call("a", nil)}, `{"decision":"allow","by":[]}`},
		"block":               {bash, []engine.Extension{call("a", nil), call("b", &wire.ToolCallResult{Block: true, Reason: "no", Terminate: true})}, `{"decision":"block","reason":"no","by":["b"],"terminate":true}`},
		"questions of two":    {bash, []engine.Extension{ask("a"), ask("b")}, `{"decision":"ask","reason":"a asks: sure?\nb asks: sure?","by":["a","b"]}`},
		"block after ask":     {bash, []engine.Extension{ask("a"), call("b", &wire.ToolCallResult{Block: true, Reason: "no"})}, `{"decision":"block","reason":"no","by":["b"]}`},
		"rewrite":             {bash, []engine.Extension{call("a", rewrite)}, `{"decision":"rewrite","by":["a"],"input":{"command":"b"}}`},
		"rewrite and ask":     {bash, []engine.Extension{call("a", rewrite), ask("b")}, `{"decision":"ask","reason":"b asks: sure?","by":["b"],"input":{"command":"b"}}`},
		"rewrite and block":   {bash, []engine.Extension{call("a", rewrite), call("b", &wire.ToolCallResult{Block: true, Reason: "no"})}, `{"decision":"block","reason":"no","by":["b"]}`},
		"a gate fails":        {bash, []engine.Extension{fails(wire.EventToolCall, false)}, `{"decision":"block","reason":"boom; the call was blocked","by":["bad"],"faults":[{"extension":"bad","hook":"tool_call","kind":"error","message":"boom","decided":true}]}`},
		"result":              {result, []engine.Extension{clean("a"), clean("b")}, `{"decision":"rewrite","by":["a","b"],"content":[{"type":"text","text":"clean"}],"isError":false}`},
		"result, a fault":     {result, []engine.Extension{clean("a"), fails(wire.EventToolResult, false)}, `{"decision":"rewrite","by":["a"],"content":[{"type":"text","text":"clean"}],"isError":false,"faults":[{"extension":"bad","hook":"tool_result","kind":"error","message":"boom","decided":false}]}`},
		"result, withheld":    {result, []engine.Extension{clean("a"), fails(wire.EventToolResult, true)}, `{"decision":"block","reason":"boom","by":["bad"],"content":[{"type":"text","text":"The result of this call was withheld: boom"}],"details":{},"isError":true,"faults":[{"extension":"bad","hook":"tool_result","kind":"error","message":"boom","decided":true}]}`},
		"context":             {history, []engine.Extension{drop}, `{"decision":"rewrite","by":["drop"],"messages":[{"role":"user","content":"b","timestamp":2}]}`},
		"context, a fault":    {history, []engine.Extension{fails(wire.EventContext, false)}, `{"decision":"allow","by":[],"faults":[{"extension":"bad","hook":"context","kind":"error","message":"boom","decided":false}]}`},
		"context, held back":  {history, []engine.Extension{fails(wire.EventContext, true)}, `{"decision":"block","reason":"the request was not sent: boom","by":["bad"],"faults":[{"extension":"bad","hook":"context","kind":"error","message":"boom","decided":true}]}`},
		"context as a corpus": {`{"tool":"context","input":` + history + `}`, []engine.Extension{drop}, `{"decision":"rewrite","by":["drop"],"messages":[{"role":"user","content":"b","timestamp":2}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := decide.Open(t.Context(), engine.Config{Native: c.extensions})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // nothing of one event is left in the next
				ev, err := decide.Parse([]byte(c.event))
				if err != nil {
					t.Fatal(err)
				}
				got, err := d.Decide(t.Context(), ev)
				if err != nil {
					t.Fatal(err)
				}
				raw, err := json.Marshal(got)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(c.want, string(raw)); diff != "" {
					t.Error(diff)
				}
				if got.Undecided() != strings.Contains(c.want, `"decided":false`) {
					t.Errorf("undecided %v", got.Undecided())
				}
			}
			if err := d.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for event, want := range map[string]string{
		``:                                 "it is not an event: ",
		`null`:                             "it is not an object",
		`[]`:                               "it is not an event: ",
		`{}`:                               "toolName is missing",
		`{"type":"turn_start"}`:            `type: "turn_start" is not decided about`,
		`{"type":"nonsense"}`:              `type: "nonsense" is not decided about`,
		`{"toolName":1}`:                   "toolName",
		`{"toolName":"bash","input":[]}`:   "input: it is not an object: []",
		`{"toolName":"bash","input":"rm"}`: "input: it is not an object",
		`{"tool":"bash","content":[1]}`:    "content: ",
		`{"tool":"bash","result":3}`:       "result: ",
		`{"type":"context"}`:               "messages: ",
		`{"messages":[3]}`:                 "messages[0]: ",
		`{"tool":"bash","content":"x","usage":3}`: "usage: ",
	} {
		if _, err := decide.Parse([]byte(event)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", event, err, want)
		}
	}
}

// Package weirtest runs a policy natively, so that go test needs no wasm:
//
//	func TestPolicy(t *testing.T) {
//		ext := weirtest.Load(t)
//		if d := ext.ToolCall("bash", `{"command":"rm -rf /"}`); !d.Block {
//			t.Error("not blocked")
//		}
//	}
//
// It calls the handlers that the test binary's package main registered in init,
// with events as the host makes them, and reads the answers as strictly.
//
// It does not enforce limits, run the gate's recheck, check arguments against
// schemas or check the pairs of a context; variables of the policy keep their
// values from one test to the next. Tests must not run in parallel.
package weirtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	weir "weir/guest-sdk/go"
	"weir/guest-sdk/go/internal/hostfn"
)

// Extension is the registered extension together with a host that the test
// controls.
type Extension struct {
	// Config is the settings as JSON, by default {}.
	Config string
	// Context is the context object of each event, by default one of a session
	// called "test" with a person at it.
	Context string
	// Answer serves capabilities other than kv, which works on KV. The request
	// is {"op":…}; a negative code makes the response an error text. If it is
	// nil, a call fails the test.
	Answer func(capability, request string) (response string, code int32)
	// KV is what the extension stored.
	KV map[string]string
	// Logs are the lines logged so far, each as "info: text".
	Logs []string
	// Updates are the partial results that tools sent so far.
	Updates []string

	t           testing.TB
	description string
	input       []byte
	output      []byte
	faultText   string
	messages    []string // nil outside context
}

// Fault is an entry point that ended with an error, a panic or an answer that
// the host would refuse.
type Fault struct {
	Export string
	Text   string
}

func (f *Fault) Error() string { return f.Export + ": " + f.Text }

// Load asks the extension for its description; if that is a fault the test ends.
func Load(t testing.TB) *Extension {
	t.Helper()
	e := &Extension{
		Config:  "{}",
		Context: `{"sessionId":"test","extension":"test","cwd":"/work","mode":"text","hasUI":true,"model":{"provider":"test","id":"test"},"thinkingLevel":"off","turnIndex":0,"callIndex":0}`,
		KV:      map[string]string{},
		t:       t,
	}
	description, err := e.Call("weir_describe", "")
	if err != nil {
		t.Fatal(err)
	}
	e.description = description
	return e
}

// Description is the answer of weir_describe.
func (e *Extension) Description() string { return e.description }

// Call runs an entry point on a raw input and returns its raw output. An error
// is a *Fault.
func (e *Extension) Call(export, input string) (output string, err error) {
	e.input, e.output, e.faultText = []byte(input), nil, ""
	hostfn.Use(fakeHost{e})
	if rc := weir.Invoke(export); rc != 0 {
		return "", &Fault{export, e.faultText}
	}
	return string(e.output), nil
}

// Event calls the handler of any event with a payload, an object without type
// and context, and returns its answer. A fault ends the test.
func (e *Extension) Event(event, payload string) string {
	e.t.Helper()
	output, err := e.Try(event, payload)
	if err != nil {
		e.t.Fatal(err)
	}
	return output
}

// Try is Event for a call that is expected to be a fault.
func (e *Extension) Try(event, payload string) (string, error) {
	return e.Call(event, string(weir.JSON(payload).With("type", weir.String(event)).With("context", weir.JSON(e.Context))))
}

// Decision is the answer of a tool_call.
type Decision struct {
	Block     bool   `json:"block"`
	Reason    string `json:"reason"`
	Terminate bool   `json:"terminate"`
	Ask       *struct {
		Title   string `json:"title"`
		Message string `json:"message"`
	} `json:"ask"`
	// Input is the rewritten arguments, nil if they stay.
	Input json.RawMessage `json:"input"`
}

// ToolCall asks the gate about a call. A fault ends the test.
func (e *Extension) ToolCall(tool, args string) Decision {
	e.t.Helper()
	output := e.Event("tool_call", string(weir.Object(
		weir.Field{Key: "toolCallId", Value: `"call-1"`}, weir.Field{Key: "toolName", Value: weir.String(tool)},
		weir.Field{Key: "input", Value: weir.JSON(args)})))
	var d Decision
	e.decode("tool_call", output, &d)
	return d
}

// Result is a tool's result, before and after.
type Result struct {
	Content json.RawMessage `json:"content,omitempty"`
	Details json.RawMessage `json:"details,omitempty"`
	IsError bool            `json:"isError"`
	Usage   json.RawMessage `json:"usage,omitempty"`
}

// Text returns a result of one text block.
func Text(text string) Result { return Result{Content: json.RawMessage(weir.TextContent(text))} }

// String returns the text of the result's text blocks.
func (r Result) String() string {
	var blocks []struct{ Type, Text string }
	if err := json.Unmarshal(r.Content, &blocks); err != nil {
		return string(r.Content)
	}
	var texts []string
	for _, b := range blocks {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// ToolResult hands a result to the extension and returns it with the answer
// applied. A fault ends the test.
func (e *Extension) ToolResult(tool, args string, before Result) Result {
	e.t.Helper()
	encoded, err := json.Marshal(before)
	if err != nil {
		e.t.Fatal(err)
	}
	output := e.Event("tool_result", string(weir.JSON(encoded).With("toolName", weir.String(tool)).
		With("toolCallId", `"call-1"`).With("input", weir.JSON(args))))
	after := before
	e.decode("tool_result", output, &after)
	return after
}

// Messages lets the context hook edit messages, each a JSON object, in the view
// that it asked for, and returns what the model would see. A fault ends the
// test.
func (e *Extension) Messages(messages ...string) []string {
	e.t.Helper()
	var description struct {
		Hooks struct{ Context *struct{ View string } }
	}
	if err := json.Unmarshal([]byte(e.description), &description); err != nil {
		e.t.Fatal(err)
	}
	if description.Hooks.Context == nil {
		e.t.Fatal("weirtest: the extension has no context hook")
	}
	e.messages = messages
	if messages == nil {
		e.messages = []string{}
	}
	defer func() { e.messages = nil }()
	var output string
	var err error
	if description.Hooks.Context.View == "table" {
		var table []byte
		if table, err = encodeTable(messages, e.Context); err != nil {
			e.t.Fatal(err)
		}
		output, err = e.Call("context", string(table))
	} else {
		output, err = e.Try("context", `{"messages":[`+strings.Join(messages, ",")+`]}`)
	}
	if err != nil {
		e.t.Fatal(err)
	}
	edits := contextAnswer{}
	e.decode("context", output, &edits)
	after, err := edits.apply(messages)
	if err != nil {
		e.t.Fatal(&Fault{"context", err.Error()})
	}
	return after
}

func (e *Extension) decode(export, output string, into any) {
	e.t.Helper()
	d := json.NewDecoder(strings.NewReader(output))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			return
		}
		err = errors.New("text after the answer")
	}
	e.t.Fatal(&Fault{export, fmt.Sprintf("%v in %s", err, output)})
}

// fakeHost is an Extension as the handlers see it.
type fakeHost struct{ e *Extension }

func (h fakeHost) Input() []byte       { return h.e.input }
func (h fakeHost) Config() []byte      { return []byte(h.e.Config) }
func (h fakeHost) Output(b []byte)     { h.e.output = bytes.Clone(b) }
func (h fakeHost) Error(b []byte)      { h.e.faultText = string(b) }
func (h fakeHost) ToolUpdate(b []byte) { h.e.Updates = append(h.e.Updates, string(b)) }

func (h fakeHost) Message(index int) ([]byte, bool) {
	if index < 0 || index >= len(h.e.messages) {
		return nil, false
	}
	return []byte(h.e.messages[index]), true
}

func (h fakeHost) Log(level int32, b []byte) {
	names := []string{"debug", "info", "warn", "error"}
	h.e.Logs = append(h.e.Logs, names[level]+": "+string(b))
}

func (h fakeHost) Capability(name string, request []byte) ([]byte, int32) {
	h.e.t.Helper()
	if name == "kv" {
		return h.kv(request)
	}
	if h.e.Answer == nil {
		h.e.t.Errorf("weirtest: the policy called %s with %s: set Answer to serve it", name, request)
		return []byte("not granted"), -1
	}
	response, code := h.e.Answer(name, string(request))
	return []byte(response), code
}

func (h fakeHost) kv(request []byte) ([]byte, int32) {
	var r struct{ Op, Key, Value, Prefix string }
	if err := json.Unmarshal(request, &r); err != nil {
		return []byte(err.Error()), -1
	}
	answer := map[string]any{}
	switch r.Op {
	case "get":
		if value, ok := h.e.KV[r.Key]; ok {
			answer["value"] = value
		}
	case "set":
		h.e.KV[r.Key] = r.Value
	case "delete":
		delete(h.e.KV, r.Key)
	case "list":
		keys := []string{}
		for key := range h.e.KV {
			if strings.HasPrefix(key, r.Prefix) {
				keys = append(keys, key)
			}
		}
		slices.Sort(keys)
		answer["keys"] = keys
	}
	b, err := json.Marshal(answer)
	if err != nil {
		return []byte(err.Error()), -1
	}
	return b, 0
}

package agentcore_test

import (
	"encoding/json"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
)

func mustJSON(t *testing.T, m *agentcore.Message) string {
	t.Helper()
	raw, err := m.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestMessageJSON holds the bytes of every kind of message: the reference's order of fields, no HTML escaping, optional
// fields left out.
func TestMessageJSON(t *testing.T) {
	one := int64(1)
	for _, c := range []struct {
		name string
		body agentcore.Body
		want string
	}{
		{
			"text", &agentcore.UserMessage{Content: agentcore.Content{Text: "a<b>&\u2028\"\\\x01\n\xff"}, Timestamp: 5},
			"{\"role\":\"user\",\"content\":\"a<b>&\u2028\\\"\\\\\\u0001\\n\uFFFD\",\"timestamp\":5}",
		},
		{
			"no blocks", &agentcore.UserMessage{Content: agentcore.Content{Blocks: []agentcore.Block{}}},
			`{"role":"user","content":[],"timestamp":0}`,
		},
		{
			"image", &agentcore.UserMessage{Content: agentcore.Content{Blocks: []agentcore.Block{&agentcore.ImageBlock{Data: "QQ==", MimeType: "image/png"}}}},
			`{"role":"user","content":[{"type":"image","data":"QQ==","mimeType":"image/png"}],"timestamp":0}`,
		},
		{"assistant", &agentcore.AssistantMessage{
			Content: []agentcore.Block{
				&agentcore.ThinkingBlock{Thinking: "t", ThinkingSignature: "s", Redacted: true},
				&agentcore.TextBlock{Text: "x", TextSignature: "y"},
				&agentcore.ToolCall{ID: "i", Name: "n", Namespace: "ns", ThoughtSignature: "ts"},
				&agentcore.OpaqueBlock{Type: "odd", JSON: json.RawMessage(`{"type":"odd","z":1}`)},
			},
			API: "a", Provider: "p", Model: "m", ResponseID: "r", Usage: agentcore.Usage{Input: 1, Reasoning: &one, Cost: agentcore.Cost{Total: 0.25}},
			StopReason: agentcore.StopError, ErrorMessage: "e", Timestamp: 7,
			Extra: map[string]json.RawMessage{"b": json.RawMessage("2"), "a": json.RawMessage("1")},
		}, `{"role":"assistant","content":[{"type":"thinking","thinking":"t","thinkingSignature":"s","redacted":true},` +
			`{"type":"text","text":"x","textSignature":"y"},` +
			`{"type":"toolCall","id":"i","name":"n","arguments":{},"thoughtSignature":"ts","namespace":"ns"},{"type":"odd","z":1}],` +
			`"api":"a","provider":"p","model":"m","responseId":"r","usage":{"input":1,"output":0,"cacheRead":0,"cacheWrite":0,` +
			`"reasoning":1,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0.25}},` +
			`"stopReason":"error","errorMessage":"e","timestamp":7,"a":1,"b":2}`},
		{"result", &agentcore.ToolResultMessage{
			ToolCallID: "i", ToolName: "n", Details: json.RawMessage(`{"d":1}`), AddedToolNames: []string{"x"}, IsError: true, Timestamp: 9,
		}, `{"role":"toolResult","toolCallId":"i","toolName":"n","content":[],"details":{"d":1},"addedToolNames":["x"],"isError":true,"timestamp":9}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := agentcore.NewMessage(c.body)
			got := mustJSON(t, m)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Fatal(diff)
			}
			decoded, err := agentcore.DecodeMessage(json.RawMessage(got))
			if err != nil {
				t.Fatal(err)
			}
			if decoded.Role() != c.body.Role() {
				t.Errorf("role %s", decoded.Role())
			}
			again := mustJSON(t, agentcore.NewMessage(decoded.Body()))
			if diff := cmp.Diff(got, again); diff != "" {
				t.Errorf("decoded and encoded again:\n%s", diff)
			}
		})
	}
}

func TestDecodeKeepsWhatItDoesNotKnow(t *testing.T) {
	for _, raw := range []string{
		`{"role":"user","content":"x","timestamp":1,"extra":{"deep":[1,2]}}`,
		`{ "role" : "custom" , "customType":"n", "content":null}`,
		`{"role":"weird/role"}`,
		`{"role":"assistant","content":[{"type":"serverTool","id":1}],"deferred":true}`,
		`{"role":"toolResult","content":"old text form","timestamp":"2020-01-01T00:00:00Z"}`,
	} {
		m, err := agentcore.DecodeMessage(json.RawMessage(raw))
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if got := mustJSON(t, m); got != raw {
			t.Errorf("got %s, want %s", got, raw)
		}
	}
	m, err := agentcore.DecodeMessage(json.RawMessage(`{"role":"assistant","content":[],"deferred":true}`))
	if err != nil || string(m.Assistant().Extra["deferred"]) != "true" {
		t.Errorf("extra fields %v, %v", m.Assistant().Extra, err)
	}
}

func TestDecodeMessageErrors(t *testing.T) {
	for raw, want := range map[string]string{
		``:                            "message",
		`[]`:                          "message",
		`{}`:                          "no role",
		`{"role":""}`:                 "no role",
		`{"role":5}`:                  "message",
		`{"role":"user","content":5}`: "neither text nor a list",
		`{"role":"user","content":[{"text":"x"}]}`:                   "content block 0: no type",
		`{"role":"user","content":[{"type":"text","text":1}]}`:       "content block 0",
		`{"role":"assistant","content":[],"usage":{"input":"many"}}`: "assistant message",
	} {
		if _, err := agentcore.DecodeMessage(json.RawMessage(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", raw, err, want)
		}
	}
}

func TestEncodeErrorNamesTheField(t *testing.T) {
	m := agentcore.NewMessage(&agentcore.ToolResultMessage{Details: json.RawMessage("{")})
	if _, err := m.JSON(); err == nil || !strings.Contains(err.Error(), "toolResult message: details: not valid JSON") {
		t.Errorf("got %v", err)
	}
	m = agentcore.NewMessage(&agentcore.AssistantMessage{Content: []agentcore.Block{&agentcore.ToolCall{ID: "c9", Arguments: json.RawMessage("nope")}}})
	if _, err := m.JSON(); err == nil || !strings.Contains(err.Error(), "content block 0: arguments of tool call c9") {
		t.Errorf("got %v", err)
	}
}

func TestNumbersAreWrittenAsJavaScriptDoes(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0", math.Copysign(0, -1): "0", 1: "1", -2.5: "-2.5", 1e20: "100000000000000000000", 1e21: "1e+21", 1.5e-7: "1.5e-7",
		0.000001: "0.000001", 1e-10: "1e-10", 123456789.125: "123456789.125",
	} {
		m := agentcore.NewMessage(&agentcore.AssistantMessage{Usage: agentcore.Usage{Cost: agentcore.Cost{Total: f}}})
		if got := mustJSON(t, m); !strings.Contains(got, `"total":`+want+`}`) {
			t.Errorf("%v: want %s in %s", f, want, got)
		}
	}
}

func TestToolResultJSONKeepsForm(t *testing.T) {
	for _, raw := range []string{
		`{}`, `{"content":[]}`, `{"details":null}`, `{"content":[{"type":"text","text":"x"}],"details":{},"terminate":true}`,
		`{"terminate":false}`, `{"terminate":1}`, `{"content":null}`, `{"content":"text"}`, `{"addedToolNames":["a"],"own":{"x":1}}`,
	} {
		r, err := agentcore.DecodeToolResult(json.RawMessage(raw))
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		got, err := json.Marshal(r)
		if err != nil || string(got) != raw {
			t.Errorf("got %s, %v, want %s", got, err, raw)
		}
	}
	if r, _ := agentcore.DecodeToolResult(json.RawMessage(`{"terminate":1}`)); r.Terminate {
		t.Error("only true is true")
	}
}

// TestMessageIsSafeForConcurrentUse is for the race detector.
func TestMessageIsSafeForConcurrentUse(t *testing.T) {
	var kept []*agentcore.Message
	a := newAgent(t, agentcore.Config{Provider: streamer(50)})
	a.Subscribe(keepUpdates(&kept))
	if err := a.PromptText(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i, m := range kept {
				want := strings.Repeat("delta ", i)
				if text := m.Assistant().Content[0].(*agentcore.TextBlock).Text; text != want {
					t.Errorf("snapshot %d says %q", i, text)
				}
				if _, err := m.JSON(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

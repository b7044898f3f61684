package provider_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
	"weir/engine/provider"
	"weir/engine/provider/internal/wiretest"
	"weir/engine/provider/replay"
	"weir/engine/wire"
)

const sse = "HTTP/1.1 200 OK\ncontent-type: text/event-stream\nrequest-id: req_1\n\n"

// conversations are, for each kind, a response that calls the tool add with 1 and 2, and one that says the sum.
func conversations() map[provider.Kind][2]string {
	return map[provider.Kind][2]string{
		provider.KindAnthropic: {
			sse + `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","model":"m","usage":{"input_tokens":10,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"call_1","name":"add","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1,"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"\"b\":2}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}

event: message_stop
data: {"type":"message_stop"}

`,
			sse + `event: message_start
data: {"type":"message_start","message":{"id":"msg_2","model":"m","usage":{"input_tokens":20,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"It is 3."}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}}

event: message_stop
data: {"type":"message_stop"}

`,
		},
		provider.KindOpenAIChat: {
			sse + `data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"add","arguments":"{\"a\":1,"}}]}}]}

data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"b\":2}"}}]}}]}

data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: {"id":"c1","model":"m","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":9}}

data: [DONE]

`,
			sse + `data: {"id":"c2","model":"m","choices":[{"index":0,"delta":{"content":"It is 3."},"finish_reason":"stop"}]}

data: [DONE]

`,
		},
		provider.KindOpenAIResponses: {
			sse + `data: {"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"add","arguments":""}}

data: {"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"a\":1,\"b\":2}"}

data: {"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"add","arguments":"{\"a\":1,\"b\":2}"}}

data: {"type":"response.completed","response":{"id":"r1","model":"m","status":"completed"}}

`,
			sse + `data: {"type":"response.output_text.delta","output_index":0,"delta":"It is 3."}

data: {"type":"response.completed","response":{"id":"r2","model":"m","status":"completed"}}

`,
		},
	}
}

// run lets an agent with the tool add do its work, and prints all that happened.
func run(t *testing.T, models *provider.Models, model agentcore.Model) string {
	t.Helper()
	add := &agentcore.Tool{
		Name: "add", Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}`),
		Execute: func(_ context.Context, _ string, args json.RawMessage, _ func(*agentcore.ToolResult)) (*agentcore.ToolResult, error) {
			var n struct{ A, B int }
			if err := json.Unmarshal(args, &n); err != nil {
				return nil, err
			}
			sum, err := json.Marshal(n.A + n.B)
			return &agentcore.ToolResult{Content: []agentcore.Block{&agentcore.TextBlock{Text: string(sum)}}}, err
		},
	}
	agent, err := agentcore.New(agentcore.Config{
		Provider: models, Model: model, Tools: []*agentcore.Tool{add}, SystemPrompt: "Add.", Now: wiretest.Clock,
	})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var out strings.Builder
	var last *agentcore.Message
	agent.Subscribe(func(_ context.Context, ev agentcore.Event) error {
		mu.Lock()
		defer mu.Unlock()
		out.WriteString(ev.Type().String())
		switch ev := ev.(type) {
		case *agentcore.MessageUpdate:
			out.WriteString(" " + wiretest.Line(ev.AssistantEvent))
			last = ev.Message
		case *agentcore.MessageEnd:
			raw, err := ev.Message.JSON()
			out.WriteString(" " + string(raw))
			if err != nil {
				t.Error(err)
			}
			// What the loop assembled from the events must be what the provider returned.
			if a := ev.Message.Assistant(); a != nil && last != nil {
				if diff := cmp.Diff(last.Assistant().Content, a.Content); diff != "" {
					t.Errorf("(-assembled +returned):\n%s", diff)
				}
				last = nil
			}
		}
		out.WriteString("\n")
		return nil
	})
	if err := agent.Prompt(context.Background(), agentcore.NewMessage(&agentcore.UserMessage{
		Content: agentcore.Content{Text: "What is 1 and 2?"}, Timestamp: 1,
	})); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestAgent runs an agent with a tool on every kind of server, with hooks and a recorder between, and then plays the
// recording: the same events.
func TestAgent(t *testing.T) {
	for kind, responses := range conversations() {
		t.Run(kind.String(), func(t *testing.T) {
			server := wiretest.Serve(t, responses[0], responses[1])
			t.Setenv("WEIR_TEST_KEY", secret)
			config := provider.Config{
				Providers: []provider.Provider{{Name: "p", Kind: kind, BaseURL: server.URL, Key: provider.KeySource{Env: "WEIR_TEST_KEY"}}},
				Models:    []provider.Model{{Model: agentcore.Model{ID: "m", API: kind.API(), Provider: "p", Input: []string{"text"}}}},
			}
			path := filepath.Join(t.TempDir(), "run.jsonl")
			recorder, err := replay.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			var trace []string
			hooks := provider.Hooks{
				BeforeHeaders: func(_ context.Context, headers []wire.HeaderEdit) ([]wire.HeaderEdit, error) {
					trace = append(trace, "headers")
					for _, h := range headers {
						if strings.Contains(*h.Value, secret) {
							t.Errorf("a hook sees the key in %s", h.Name)
						}
					}
					return append(headers, wire.HeaderEdit{Name: "X-Weir", Value: text("1")}), nil
				},
				BeforeRequest: func(_ context.Context, payload json.RawMessage) (json.RawMessage, error) {
					trace = append(trace, "request")
					return bytes.Replace(payload, []byte("1 and 2"), []byte("one and two"), 1), nil
				},
				AfterResponse: func(_ context.Context, status int, headers map[string]string) {
					trace = append(trace, http.StatusText(status)+" "+headers["request-id"])
				},
			}
			models := config.Open(provider.Options{Network: server.Transport, Hooks: hooks, Now: wiretest.Clock, Wrap: func(next http.RoundTripper) http.RoundTripper {
				recorder.Next = next
				return recorder
			}})
			model, err := models.Find("")
			if err != nil {
				t.Fatal(err)
			}
			live := run(t, models, model.Model)
			models.Close()
			if err := recorder.Close(); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(live, `"text":"3"`) || !strings.Contains(live, `"text":"It is 3."`) {
				t.Errorf("the run went wrong:\n%s", live)
			}
			step := []string{"headers", "request", "OK req_1"}
			if diff := cmp.Diff(slices.Concat(step, step), trace); diff != "" {
				t.Errorf("hooks (-want +got):\n%s", diff)
			}
			for _, r := range server.Requests() {
				if !bytes.Contains(r.Body, []byte("one and two")) || r.Header.Get("X-Weir") != "1" {
					t.Errorf("the hooks' changes did not reach the server: %s", r.Body)
				}
			}
			player, err := replay.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Setenv("WEIR_TEST_KEY", "") // a replay needs no key
			played := config.Open(provider.Options{Network: player, Offline: true, Hooks: hooks, Now: wiretest.Clock})
			defer played.Close()
			if diff := cmp.Diff(live, run(t, played, model.Model)); diff != "" {
				t.Errorf("(-live +replayed):\n%s", diff)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	const list = "HTTP/1.1 200 OK\ncontent-type: application/json\n\n" + `{"object":"list","data":[{"id":"a"},{"id":"qwen3:latest"}]}` + "\n"
	for _, c := range []struct {
		name, id, response string
		kind               provider.Kind
		want               string
	}{
		{"there", "a", list, provider.KindOpenAIChat, ""},
		{"there, by Ollama's tag", "qwen3", list, provider.KindOpenAIChat, ""},
		{"there, Anthropic", "a", list, provider.KindAnthropic, ""},
		{"not there", "b", list, provider.KindOpenAIChat, `the server of [provider.p] does not list model "b"`},
		{"no list", "a", "HTTP/1.1 404 Not Found\na: b\n\n", provider.KindOpenAIChat, ""},
		{"no JSON", "a", "HTTP/1.1 200 OK\na: b\n\nhello\n", provider.KindOpenAIChat, ""},
		{
			"key", "a", "HTTP/1.1 401 Unauthorized\na: b\n\n" + `{"error":{"message":"bad key ` + secret + `"}}` + "\n", provider.KindOpenAIChat,
			"401 Unauthorized: bad key [key]; the key of [provider.p] comes from the environment variable WEIR_TEST_KEY",
		},
		{"down", "a", "HTTP/1.1 503 Service Unavailable\na: b\n\n", provider.KindOpenAIChat, "503 status code (no body)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("WEIR_TEST_KEY", secret)
			server := wiretest.Serve(t, c.response)
			config := provider.Config{Providers: []provider.Provider{{Name: "p", Kind: c.kind, BaseURL: server.URL, Key: provider.KeySource{Env: "WEIR_TEST_KEY"}}}}
			models := config.Open(provider.Options{Network: server.Transport})
			model, err := models.Find("p/" + c.id)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if err := models.Check(context.Background(), model); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			r := server.Requests()[0]
			if c.kind == provider.KindAnthropic && (r.Path != "/v1/models?limit=1000" || r.Header.Get("X-Api-Key") != secret) ||
				c.kind == provider.KindOpenAIChat && (r.Path != "/models" || r.Header.Get("Authorization") != "Bearer "+secret) {
				t.Errorf("%s with %v", r.Path, r.Header)
			}
		})
	}
}

// TestUnknownModel shows that a session whose model is gone fails with a message, not with a crash.
func TestUnknownModel(t *testing.T) {
	config := provider.Config{Providers: provider.Builtin()}
	models := config.Open(provider.Options{})
	defer models.Close()
	m, err := models.Stream(context.Background(), &agentcore.Request{Model: agentcore.Model{ID: "m", Provider: "gone"}}, func(agentcore.AssistantEvent) error { return nil })
	if err != nil || m.StopReason != agentcore.StopError || !strings.Contains(m.ErrorMessage, `there is no model "gone/m" and no provider "gone"`) {
		t.Errorf("%v, %+v", err, m)
	}
}

func TestAdd(t *testing.T) {
	c := provider.Config{Providers: provider.Builtin()}
	if err := c.Add(provider.Provider{Name: "ollama", Kind: provider.KindOpenAIChat, BaseURL: "http://10.0.0.7:8000/v1"}); err != nil {
		t.Fatal(err)
	}
	if m, err := c.Find("ollama/x"); err != nil || m.BaseURL != "http://10.0.0.7:8000/v1" || len(c.Providers) != len(provider.Builtin()) {
		t.Errorf("%+v, %v", m, err)
	}
	err := c.Add(provider.Provider{Name: "x", Kind: provider.KindOpenAIChat, BaseURL: "10.0.0.7"})
	if err == nil || err.Error() != `provider "x": base_url is not a URL that starts with http:// or https://` {
		t.Errorf("error %v", err)
	}
}

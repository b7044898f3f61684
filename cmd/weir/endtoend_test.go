package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// spoken is what a protocol's server says in one response.
type spoken struct {
	text  string
	calls []spokenCall
}

type spokenCall struct{ id, tool, args string }

// protocol is how a provider is spoken to.
type protocol struct {
	kind, path string
	key        func(http.Header) string
	// events are the data of the stream's events; with a name before them in streams that have names.
	events func(s *spoken) []string
	// results finds, in a request, the text of the result of a call.
	results func(t *testing.T, request []byte) map[string]string
}

func protocols() []protocol {
	bearer := func(h http.Header) string { return strings.TrimPrefix(h.Get("Authorization"), "Bearer ") }
	return []protocol{
		{"anthropic", "/v1/messages", func(h http.Header) string { return h.Get("X-Api-Key") }, anthropicEvents, anthropicResults},
		{"openai-chat", "/chat/completions", bearer, chatEvents, chatResults},
		{"openai-responses", "/responses", bearer, responsesEvents, responsesResults},
	}
}

// asJSON makes JSON of a value.
func asJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and maps of them
	}
	return string(raw)
}

// halves cuts arguments in two, as they come in pieces.
func halves(s string) [2]string { return [2]string{s[:len(s)/2], s[len(s)/2:]} }

func anthropicEvents(s *spoken) []string {
	events := []string{`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":11,"cache_creation_input_tokens":3,"cache_read_input_tokens":5,"output_tokens":1}}}`}
	reason := "end_turn"
	if s.text != "" {
		events = append(events, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%s}}`, asJSON(s.text)), `{"type":"content_block_stop","index":0}`)
	}
	for i, c := range s.calls {
		reason = "tool_use"
		if s.text != "" {
			i++
		}
		events = append(events, fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":%q,"name":%q,"input":{}}}`, i, c.id, c.tool))
		for _, part := range halves(c.args) {
			events = append(events, fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":%s}}`, i, asJSON(part)))
		}
		events = append(events, fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i))
	}
	return append(events, fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":7}}`, reason), `{"type":"message_stop"}`)
}

func chatEvents(s *spoken) []string {
	chunk := func(delta, reason, rest string) string {
		return fmt.Sprintf(`{"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]%s}`, delta, reason, rest)
	}
	var events []string
	reason := `"stop"`
	if s.text != "" {
		events = append(events, chunk(`{"role":"assistant","content":`+asJSON(s.text)+`}`, "null", ""))
	}
	for i, c := range s.calls {
		reason = `"tool_calls"`
		parts := halves(c.args)
		events = append(events,
			chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}]}`, i, c.id, c.tool, asJSON(parts[0])), "null", ""),
			chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, i, asJSON(parts[1])), "null", ""))
	}
	return append(events, chunk("{}", reason, `,"usage":{"prompt_tokens":16,"completion_tokens":7,"total_tokens":23,"prompt_tokens_details":{"cached_tokens":5}}`), "[DONE]")
}

func responsesEvents(s *spoken) []string {
	response := func(status, usage string) string {
		return fmt.Sprintf(`"response":{"id":"resp_1","object":"response","created_at":1,"status":%q,"error":null,"incomplete_details":null,"model":"m","output":[],"usage":%s}`, status, usage)
	}
	events := []string{`{"type":"response.created","sequence_number":0,` + response("in_progress", "null") + `}`}
	at := 0
	if s.text != "" {
		events = append(events,
			`{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}}`,
			`{"type":"response.content_part.added","sequence_number":2,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}`,
			fmt.Sprintf(`{"type":"response.output_text.delta","sequence_number":3,"item_id":"msg_1","output_index":0,"content_index":0,"delta":%s}`, asJSON(s.text)),
			fmt.Sprintf(`{"type":"response.output_item.done","sequence_number":4,"output_index":0,"item":{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":%s,"annotations":[]}]}}`, asJSON(s.text)))
		at++
	}
	for i, c := range s.calls {
		item := func(status, args string) string {
			return fmt.Sprintf(`"output_index":%d,"item":{"id":"fc_%d","type":"function_call","status":%q,"call_id":%q,"name":%q,"arguments":%s}`, at+i, i, status, c.id, c.tool, asJSON(args))
		}
		events = append(events, `{"type":"response.output_item.added","sequence_number":5,`+item("in_progress", "")+`}`)
		for _, part := range halves(c.args) {
			events = append(events, fmt.Sprintf(`{"type":"response.function_call_arguments.delta","sequence_number":6,"item_id":"fc_%d","output_index":%d,"delta":%s}`, i, at+i, asJSON(part)))
		}
		events = append(events, `{"type":"response.output_item.done","sequence_number":7,`+item("completed", c.args)+`}`)
	}
	return append(events, `{"type":"response.completed","sequence_number":8,`+
		response("completed", `{"input_tokens":16,"input_tokens_details":{"cached_tokens":5},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":23}`)+`}`)
}

func decodeRequest(t *testing.T, request []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(request, into); err != nil {
		t.Fatalf("%v in %s", err, request)
	}
}

func anthropicResults(t *testing.T, request []byte) map[string]string {
	t.Helper()
	var r struct {
		Messages []struct {
			Content []struct {
				Type    string
				ID      string          `json:"tool_use_id"`
				Content json.RawMessage `json:"content"`
			}
		}
	}
	decodeRequest(t, request, &r)
	results := map[string]string{}
	for _, m := range r.Messages {
		for _, b := range m.Content {
			if b.Type == "tool_result" {
				results[b.ID] = string(b.Content)
			}
		}
	}
	return results
}

func chatResults(t *testing.T, request []byte) map[string]string {
	t.Helper()
	var r struct {
		Messages []struct {
			Role    string
			ID      string          `json:"tool_call_id"`
			Content json.RawMessage `json:"content"`
		}
	}
	decodeRequest(t, request, &r)
	results := map[string]string{}
	for _, m := range r.Messages {
		if m.Role == "tool" {
			results[m.ID] = string(m.Content)
		}
	}
	return results
}

func responsesResults(t *testing.T, request []byte) map[string]string {
	t.Helper()
	var r struct {
		Input []struct {
			Type   string
			ID     string          `json:"call_id"`
			Output json.RawMessage `json:"output"`
		}
	}
	decodeRequest(t, request, &r)
	results := map[string]string{}
	for _, i := range r.Input {
		if i.Type == "function_call_output" {
			results[i.ID] = string(i.Output)
		}
	}
	return results
}

// leaked is a credential in the project that nobody has seen before the agent reads it.
const leaked = "AKIA" + "QZ7X2M4L9T3VB8KD"

// TestEveryProvider is a whole run with each protocol: a local server that speaks it, the real SDK, real tools, and three
// extensions, of which one blocks a call, one takes a credential out of a result, and one rewrites arguments and acts on the wire.
func TestEveryProvider(t *testing.T) {
	const policy = `
export function tool_call(e) {
  if (e.toolName === "write") return { input: { ...e.input, content: e.input.content + "checked\n" } };
  return {};
}
export function before_provider_headers(e) { return { headers: { "x-policy": "here" } }; }
export function before_provider_request(e) { return { payload: { ...e.payload, metadata: { user_id: "u1" } } }; }
`
	for _, p := range protocols() {
		t.Run(p.kind, func(t *testing.T) {
			script := []spoken{
				{text: "I look.", calls: []spokenCall{{"call_read", "read", `{"path":"service.env"}`}, {"call_bash", "bash", `{"command":"rm -rf ~/*"}`}}},
				{calls: []spokenCall{{"call_write", "write", `{"path":"out/notes.txt","content":"from the model\n"}`}}},
				{text: "All is done."},
			}
			var mu sync.Mutex
			var requests [][]byte
			var headers []http.Header
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				mu.Lock()
				n := len(requests)
				requests, headers = append(requests, body), append(headers, r.Header.Clone())
				mu.Unlock()
				if err != nil || r.URL.Path != "/base"+p.path || n >= len(script) {
					t.Errorf("request %d for %s: %v", n+1, r.URL, err)
					http.NotFound(w, r)
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				for _, data := range p.events(&script[n]) {
					var typed struct{ Type string }
					if json.Unmarshal([]byte(data), &typed) == nil && typed.Type != "" {
						fmt.Fprintf(w, "event: %s\n", typed.Type)
					}
					fmt.Fprintf(w, "data: %s\n\n", data)
				}
			}))
			t.Cleanup(server.Close)
			h := newHome(t, fmt.Sprintf("default = \"work/m\"\n[provider.work]\nkind = %q\nbase_url = %q\nkey_env = \"WEIR_TEST_KEY\"\n", p.kind, server.URL+"/base"))
			h.write("service.env", "KEY="+leaked+"\n")
			h.write("policy.js", policy)
			h.write("../precious.txt", "years of work")
			out, errOut := h.weir(0, "run", "--output", "json", "-e", "bundled:guard-shell", "-e", "bundled:redact-secrets", "-e", "policy.js", "go")

			if len(requests) != len(script) {
				t.Fatalf("%d requests, want %d", len(requests), len(script))
			}
			for i, r := range requests {
				if strings.Contains(string(r), leaked) {
					t.Errorf("request %d holds the credential", i+1)
				}
				if !strings.Contains(string(r), `"user_id":"u1"`) || headers[i].Get("X-Policy") != "here" || p.key(headers[i]) != testKey {
					t.Errorf("request %d: the policy or the key is missing: %v", i+1, headers[i])
				}
			}
			results := p.results(t, requests[2])
			contains(t, results["call_read"], "KEY=", "redact")
			contains(t, results["call_bash"], "guard-shell")
			contains(t, results["call_write"], "created out/notes.txt")
			if len(results) != 3 {
				t.Errorf("%d results went to the model: %v", len(results), results)
			}
			written, err := os.ReadFile(filepath.Join(h.project, "out", "notes.txt"))
			if diff := cmp.Diff("from the model\nchecked\n", string(written)); diff != "" || err != nil {
				t.Error(diff, err)
			}
			if _, err := os.Stat(filepath.Join(h.dir, "precious.txt")); err != nil {
				t.Error(err)
			}
			contains(t, out, `"extension":"guard-shell","event":"tool_call","toolName":"bash","toolCallId":"call_bash`, `"extension":"redact-secrets","event":"tool_result","toolName":"read"`,
				`"extension":"policy","event":"tool_call","toolName":"write"`, `"delta":"All is done."`, `"stopReason":"toolUse"`, `"cacheRead":5`)
			if strings.Contains(out, leaked) {
				t.Error("an event holds the credential")
			}
			h.noKey(out, errOut)
			files := h.sessions()
			if len(files) != 1 {
				t.Fatalf("%d session files, want 1", len(files))
			}
			kept, err := os.ReadFile(files[0])
			if err != nil || strings.Contains(string(kept), leaked) {
				t.Errorf("the session holds the credential, or cannot be read: %v", err)
			}
			shown, _ := h.weir(0, "sessions", "show", files[0])
			contains(t, shown, "I look.", "All is done.")
		})
	}
}

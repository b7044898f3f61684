package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"go.uber.org/goleak"

	"weir/agentcore"
	"weir/engine/provider/internal/reply"
	"weir/engine/provider/internal/wiretest"
	"weir/engine/provider/openai"
)

var update = wiretest.Flag()

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// secret is the key of all tests. It must never be seen.
const secret = "sk-proj-abcdefghijklmnop"

func model(api string) agentcore.Model {
	return agentcore.Model{
		ID: "gpt-test", API: api, Provider: "openai", Reasoning: true, Input: []string{"text", "image"},
		ContextWindow: 128_000, MaxTokens: 16_000,
	}
}

func config(s *wiretest.Server) openai.Config {
	return openai.Config{
		BaseURL: s.URL + "/v1", Transport: s.Transport, Now: wiretest.Clock, Effort: true,
		Key:    func(context.Context) (string, error) { return secret, nil },
		Hints:  reply.Hints{Where: "[provider.openai]", KeyFrom: "the environment variable OPENAI_API_KEY"},
		Prices: reply.Prices{Input: 1.25, Output: 10, CacheRead: 0.125},
	}
}

func TestChatFixtures(t *testing.T) {
	wiretest.Fixtures(t, update, "testdata/chat/*.txtar", model(openai.ChatAPI), func(s *wiretest.Server) agentcore.Provider {
		return openai.NewChat(config(s))
	})
}

func TestResponsesFixtures(t *testing.T) {
	wiretest.Fixtures(t, update, "testdata/responses/*.txtar", model(openai.ResponsesAPI), func(s *wiretest.Server) agentcore.Provider {
		return openai.NewResponses(config(s))
	})
}

func chatBehaviour() *wiretest.Wire {
	return &wiretest.Wire{
		Model: model(openai.ChatAPI),
		Head:  "HTTP/1.1 200 OK\ncontent-type: text/event-stream\n\n",
		Delta: func(text string) string {
			quoted, _ := json.Marshal(text) // a string always encodes
			return "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"gpt-test\",\"choices\":[{\"index\":0,\"delta\":{\"content\":" +
				string(quoted) + "},\"logprobs\":null,\"finish_reason\":null}]}\n\n"
		},
		Tail:    "data: {\"id\":\"chatcmpl-1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		Key:     bearer,
		Provide: provide(func(c openai.Config) agentcore.Provider { return openai.NewChat(c) }),
	}
}

func responsesBehaviour() *wiretest.Wire {
	return &wiretest.Wire{
		Model: model(openai.ResponsesAPI),
		Head: "HTTP/1.1 200 OK\ncontent-type: text/event-stream\n\n" +
			"event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\",\"model\":\"gpt-test\",\"status\":\"in_progress\"}}\n\n",
		Delta: func(text string) string {
			quoted, _ := json.Marshal(text) // a string always encodes
			return "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":4,\"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,\"delta\":" +
				string(quoted) + ",\"logprobs\":[]}\n\n"
		},
		Tail: "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\"status\":\"completed\"}}\n\n",
		Key:  bearer,
		Provide: provide(func(c openai.Config) agentcore.Provider {
			return openai.NewResponses(c)
		}),
	}
}

func bearer(h http.Header) string { return strings.TrimPrefix(h.Get("Authorization"), "Bearer ") }

func provide(make func(openai.Config) agentcore.Provider) func(string, http.RoundTripper, func(context.Context) (string, error)) agentcore.Provider {
	return func(base string, transport http.RoundTripper, key func(context.Context) (string, error)) agentcore.Provider {
		return make(openai.Config{BaseURL: base + "/v1", Transport: transport, Key: key, Hints: reply.Hints{Where: "[provider.x]"}})
	}
}

func TestChatBehaviour(t *testing.T)      { wiretest.Behave(t, chatBehaviour()) }
func TestResponsesBehaviour(t *testing.T) { wiretest.Behave(t, responsesBehaviour()) }

func BenchmarkChatDelta(b *testing.B)      { wiretest.Bench(b, chatBehaviour()) }
func BenchmarkResponsesDelta(b *testing.B) { wiretest.Bench(b, responsesBehaviour()) }

func BenchmarkChatRequest(b *testing.B)      { wiretest.BenchRequest(b, chatBehaviour()) }
func BenchmarkResponsesRequest(b *testing.B) { wiretest.BenchRequest(b, responsesBehaviour()) }

// BenchmarkSDKChatDelta is the peer of BenchmarkChatDelta: the same stream through the SDK's own types, and nothing made of
// it.
func BenchmarkSDKChatDelta(b *testing.B) {
	wiretest.BenchPeer(b, chatBehaviour(), func(base string, client *http.Client) (events int, err error) {
		service := sdk.NewChatCompletionService(option.WithBaseURL(base+"/v1"), option.WithHTTPClient(client), option.WithMaxRetries(0), option.WithAPIKey(secret))
		stream := service.NewStreaming(context.Background(), sdk.ChatCompletionNewParams{
			Model: "gpt-test", Messages: []sdk.ChatCompletionMessageParamUnion{sdk.UserMessage("Hi")},
		})
		for stream.Next() {
			events++
		}
		return events, errors.Join(stream.Err(), stream.Close())
	})
}

// BenchmarkSDKResponsesDelta is the peer of BenchmarkResponsesDelta.
func BenchmarkSDKResponsesDelta(b *testing.B) {
	wiretest.BenchPeer(b, responsesBehaviour(), func(base string, client *http.Client) (events int, err error) {
		service := responses.NewResponseService(option.WithBaseURL(base+"/v1"), option.WithHTTPClient(client), option.WithMaxRetries(0), option.WithAPIKey(secret))
		stream := service.NewStreaming(context.Background(), responses.ResponseNewParams{
			Model: "gpt-test", Input: responses.ResponseNewParamsInputUnion{OfString: sdk.String("Hi")},
		})
		for stream.Next() {
			events++
		}
		return events, errors.Join(stream.Err(), stream.Close())
	})
}

// TestEnvironment shows that what the SDK's client would take from the environment has no effect.
func TestEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-of-the-environment")
	t.Setenv("OPENAI_BASE_URL", "http://nowhere.invalid")
	t.Setenv("OPENAI_ORG_ID", "org-x")
	for path, w := range map[string]*wiretest.Wire{"/v1/chat/completions": chatBehaviour(), "/v1/responses": responsesBehaviour()} {
		t.Run(path, func(t *testing.T) {
			server := wiretest.Serve(t, w.Head+w.Tail)
			p := w.Provide(server.URL, server.Transport, nil)
			m, err := p.Stream(context.Background(), wiretest.Ask(t, w.Model, nil), func(agentcore.AssistantEvent) error { return nil })
			if err != nil || m.StopReason != agentcore.StopStop {
				t.Fatalf("%v, %+v", err, m)
			}
			got := server.Requests()[0]
			if got.Header.Get("Authorization") != "" || got.Header.Get("Openai-Organization") != "" || got.Path != path {
				t.Errorf("%s with %v", got.Path, got.Header)
			}
		})
	}
}

func FuzzChatStream(f *testing.F) { wiretest.Fuzz(f, chatBehaviour(), "testdata/chat/*.txtar") }

func FuzzResponsesStream(f *testing.F) {
	wiretest.Fuzz(f, responsesBehaviour(), "testdata/responses/*.txtar")
}

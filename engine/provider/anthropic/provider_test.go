package anthropic_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"go.uber.org/goleak"

	"weir/agentcore"
	"weir/engine/provider/anthropic"
	"weir/engine/provider/internal/reply"
	"weir/engine/provider/internal/wiretest"
)

var update = wiretest.Flag()

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// secret is the key of all tests. It must never be seen.
const secret = "sk-ant-api03-abcdefghijklmnop"

func model() agentcore.Model {
	return agentcore.Model{
		ID: "claude-test", API: anthropic.API, Provider: "anthropic", Reasoning: true, Input: []string{"text", "image"},
		ContextWindow: 200_000, MaxTokens: 32_000,
	}
}

func config(s *wiretest.Server) anthropic.Config {
	return anthropic.Config{
		BaseURL: s.URL, Transport: s.Transport, Now: wiretest.Clock, Thinking: anthropic.ThinkingBudget,
		Key:    func(context.Context) (string, error) { return secret, nil },
		Hints:  reply.Hints{Where: "[provider.anthropic]", KeyFrom: "the environment variable ANTHROPIC_API_KEY"},
		Prices: reply.Prices{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75},
	}
}

func TestFixtures(t *testing.T) {
	wiretest.Fixtures(t, update, "testdata/*.txtar", model(), func(s *wiretest.Server) agentcore.Provider {
		return anthropic.New(config(s))
	})
}

func behaviour() *wiretest.Wire {
	const start = "HTTP/1.1 200 OK\ncontent-type: text/event-stream\n\n" +
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"model\":\"claude-test\",\"usage\":{\"input_tokens\":1}}}\n\n" +
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
	const tail = "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":5}}\n\n" +
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	return &wiretest.Wire{
		Model: model(), Head: start, Tail: tail,
		Delta: func(text string) string {
			quoted, _ := json.Marshal(text) // a string always encodes
			return "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":" + string(quoted) + "}}\n\n"
		},
		Key: func(h http.Header) string { return h.Get("X-Api-Key") },
		Provide: func(base string, transport http.RoundTripper, key func(context.Context) (string, error)) agentcore.Provider {
			return anthropic.New(anthropic.Config{BaseURL: base, Transport: transport, Key: key, Hints: reply.Hints{Where: "[provider.x]"}})
		},
	}
}

func TestBehaviour(t *testing.T) { wiretest.Behave(t, behaviour()) }

func BenchmarkDelta(b *testing.B) { wiretest.Bench(b, behaviour()) }

func BenchmarkRequest(b *testing.B) { wiretest.BenchRequest(b, behaviour()) }

// BenchmarkSDKDelta is the peer of BenchmarkDelta: the same stream through the SDK's own types, and nothing made of it.
func BenchmarkSDKDelta(b *testing.B) {
	wiretest.BenchPeer(b, behaviour(), func(base string, client *http.Client) (events int, err error) {
		service := sdk.NewMessageService(option.WithBaseURL(base), option.WithHTTPClient(client), option.WithMaxRetries(0), option.WithAPIKey(secret))
		stream := service.NewStreaming(context.Background(), sdk.MessageNewParams{
			Model: "claude-test", MaxTokens: 10, Messages: []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock("Hi"))},
		})
		for stream.Next() {
			events++
		}
		return events, errors.Join(stream.Err(), stream.Close())
	})
}

// TestEnvironment shows that what the SDK's client would take from the environment has no effect.
func TestEnvironment(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-ant-of-the-environment")
	t.Setenv("ANTHROPIC_BASE_URL", "http://nowhere.invalid")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Custom: 1")
	w := behaviour()
	server := wiretest.Serve(t, w.Head+w.Tail)
	p := w.Provide(server.URL, server.Transport, func(context.Context) (string, error) { return secret, nil })
	m, err := p.Stream(context.Background(), wiretest.Ask(t, model(), nil), func(agentcore.AssistantEvent) error { return nil })
	if err != nil || m.StopReason != agentcore.StopStop {
		t.Fatalf("%v, %+v", err, m)
	}
	h := server.Requests()[0].Header
	if h.Get("X-Api-Key") != secret || h.Get("X-Custom") != "" || h.Get("Authorization") != "" || server.Requests()[0].Path != "/v1/messages" {
		t.Errorf("%s with %v", server.Requests()[0].Path, h)
	}
}

// TestThinking shows what a level becomes on the wire.
func TestThinking(t *testing.T) {
	for _, c := range []struct {
		thinking  anthropic.Thinking
		level     agentcore.ThinkingLevel
		maxTokens int64
		want      string
	}{
		{anthropic.ThinkingOff, "high", 32_000, `null null`},
		{anthropic.ThinkingBudget, "off", 32_000, `null null`},
		{anthropic.ThinkingBudget, "", 32_000, `null null`},
		{anthropic.ThinkingBudget, "minimal", 32_000, `{"budget_tokens":1024,"type":"enabled"} null`},
		{anthropic.ThinkingBudget, "low", 32_000, `{"budget_tokens":2048,"type":"enabled"} null`},
		{anthropic.ThinkingBudget, "high", 32_000, `{"budget_tokens":16384,"type":"enabled"} null`},
		{anthropic.ThinkingBudget, "max", 32_000, `{"budget_tokens":16384,"type":"enabled"} null`},
		{anthropic.ThinkingBudget, "high", 8192, `{"budget_tokens":7168,"type":"enabled"} null`},
		{anthropic.ThinkingBudget, "high", 1500, `null null`},
		{anthropic.ThinkingEffort, "minimal", 32_000, `{"display":"summarized","type":"adaptive"} {"effort":"low"}`},
		{anthropic.ThinkingEffort, "max", 32_000, `{"display":"summarized","type":"adaptive"} {"effort":"max"}`},
	} {
		t.Run(c.want+string(c.level), func(t *testing.T) {
			w := behaviour()
			server := wiretest.Serve(t, w.Head+w.Tail)
			cfg := config(server)
			cfg.Thinking = c.thinking
			req := wiretest.Ask(t, model(), nil)
			req.ThinkingLevel, req.Model.MaxTokens = c.level, c.maxTokens
			if _, err := anthropic.New(cfg).Stream(context.Background(), req, func(agentcore.AssistantEvent) error { return nil }); err != nil {
				t.Fatal(err)
			}
			var body struct {
				Thinking any `json:"thinking"`
				Output   any `json:"output_config"`
			}
			if err := json.Unmarshal(server.Requests()[0].Body, &body); err != nil {
				t.Fatal(err)
			}
			thinking, _ := json.Marshal(body.Thinking) // decoded JSON always encodes
			output, _ := json.Marshal(body.Output)
			if got := string(thinking) + " " + string(output); got != c.want {
				t.Errorf("%d %s of %d: %s, want %s", c.thinking, c.level, c.maxTokens, got, c.want)
			}
		})
	}
}

func FuzzStream(f *testing.F) { wiretest.Fuzz(f, behaviour(), "testdata/*.txtar") }

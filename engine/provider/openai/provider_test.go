package openai_test

import (
	"context"
	"testing"

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

package anthropic_test

import (
	"context"
	"testing"

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

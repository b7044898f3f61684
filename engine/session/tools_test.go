package session_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
	"weir/engine/session"
)

// Tools that are replaced in the middle of a turn are there from the next one on. The turn ends with those that it began with, and
// a call of one that is gone is answered with why.
func TestReplaceTools(t *testing.T) {
	var s *session.Session
	var offered []string
	made := func(name, says string, do func()) *agentcore.Tool {
		return &agentcore.Tool{
			Name: name, Parameters: json.RawMessage(`{"type":"object"}`), ExecutionMode: agentcore.ExecutionSequential,
			Execute: func(context.Context, string, json.RawMessage, func(*agentcore.ToolResult)) (*agentcore.ToolResult, error) {
				if do != nil {
					do()
				}
				return &agentcore.ToolResult{Content: []agentcore.Block{&agentcore.TextBlock{Text: says}}}, nil
			},
		}
	}
	swap := made("swap", "swapped", func() {
		if err := s.ReplaceTools(map[string]string{"old": "old was taken out", "never": "?"}, []*agentcore.Tool{made("kept", "kept two", nil), made("new", "new one", nil)}); err != nil {
			t.Error(err)
		}
	})
	turns := [][]string{{"swap", "old", "kept"}, {"old", "kept", "new", "never"}, nil}
	s = newSession(t, session.Config{Agent: agentcore.Config{
		Tools: []*agentcore.Tool{swap, made("old", "old one", nil), made("kept", "kept one", nil), made("idle", "", nil)},
		Provider: agentcore.ProviderFunc(func(_ context.Context, req *agentcore.Request, _ func(agentcore.AssistantEvent) error) (*agentcore.AssistantMessage, error) {
			var names []string
			for _, tool := range req.Tools {
				names = append(names, tool.Name)
			}
			offered = append(offered, strings.Join(names, " "))
			m := &agentcore.AssistantMessage{StopReason: agentcore.StopStop, Content: []agentcore.Block{&agentcore.TextBlock{}}}
			for _, name := range turns[0] {
				m.StopReason = agentcore.StopToolUse
				m.Content = append(m.Content, &agentcore.ToolCall{ID: name, Name: name, Arguments: json.RawMessage(`{}`)})
			}
			turns = turns[1:]
			return m, nil
		}),
	}})
	if err := s.SetActiveTools([]string{"swap", "old", "kept"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Prompt(t.Context(), "go", session.PromptOptions{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"swap old kept", "swap kept new", "swap kept new"}, offered); diff != "" {
		t.Errorf("offered (-want +got):\n%s", diff)
	}
	var results []string
	for _, line := range transcript(s) {
		if said, ok := strings.CutPrefix(line, "toolResult: "); ok {
			results = append(results, said)
		}
	}
	if diff := cmp.Diff([]string{"swapped", "old one", "kept one", "old was taken out", "kept two", "new one", "Tool never not found"}, results); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	// One that is not offered stays so; what agentcore refuses changes nothing.
	if err := s.ReplaceTools(nil, []*agentcore.Tool{made("idle", "idle two", nil)}); err != nil {
		t.Fatal(err)
	}
	broken := made("broken", "", nil)
	broken.Parameters = json.RawMessage(`{"type":7}`)
	if err := s.ReplaceTools(map[string]string{"new": "gone"}, []*agentcore.Tool{broken}); err == nil {
		t.Error("a tool with a broken schema was taken")
	}
	if got := strings.Join(s.ActiveTools(), " "); got != "swap kept new" {
		t.Errorf("active: %s", got)
	}
}

// SetCommands puts other commands in the place of those that there were.
func TestSetCommands(t *testing.T) {
	var ran []string
	command := func(name, says string) session.Command {
		return session.Command{Name: name, Run: func(_ context.Context, args string) error {
			ran = append(ran, says+" "+args)
			return nil
		}}
	}
	s := newSession(t, session.Config{Agent: agentcore.Config{Provider: say(echo)}, Commands: []session.Command{command("a", "a1"), command("b", "b1")}})
	for _, text := range []string{"/a x", "/b x"} {
		if err := s.Prompt(t.Context(), text, session.PromptOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	s.SetCommands([]session.Command{command("b", "b2")})
	for _, text := range []string{"/a y", "/b y"} {
		if err := s.Prompt(t.Context(), text, session.PromptOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"a1 x", "b1 x", "b2 y"}, ran); diff != "" {
		t.Errorf("ran (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"user: /a y", "assistant: heard /a y"}, transcript(s)); diff != "" {
		t.Errorf("what is no command any more is said (-want +got):\n%s", diff)
	}
}

package agentcore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"weir/agentcore"
)

// scripted is a provider that asks for one call of the tool "greet" and then answers with a text in pieces.
func scripted() agentcore.Provider {
	asked := false
	return agentcore.ProviderFunc(func(
		_ context.Context, _ *agentcore.Request, emit func(agentcore.AssistantEvent) error,
	) (*agentcore.AssistantMessage, error) {
		events := []agentcore.AssistantEvent{
			{Type: agentcore.StreamStart},
			{Type: agentcore.StreamTextStart},
			{Type: agentcore.StreamTextDelta, Delta: "All "},
			{Type: agentcore.StreamTextDelta, Delta: "done."},
			{Type: agentcore.StreamTextEnd},
			{Type: agentcore.StreamDone, Reason: agentcore.StopStop},
		}
		if !asked {
			asked = true
			call := &agentcore.ToolCall{ID: "call-1", Name: "greet", Arguments: json.RawMessage(`{"name":"Ada"}`)}
			events = []agentcore.AssistantEvent{
				{Type: agentcore.StreamStart},
				{Type: agentcore.StreamToolCallStart, ToolCall: &agentcore.ToolCall{ID: call.ID, Name: call.Name}},
				{Type: agentcore.StreamToolCallEnd, ToolCall: call},
				{Type: agentcore.StreamDone, Reason: agentcore.StopToolUse},
			}
		}
		for _, ev := range events {
			if err := emit(ev); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
}

func greet() *agentcore.Tool {
	return &agentcore.Tool{
		Name:       "greet",
		Parameters: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`),
		Execute: func(_ context.Context, _ string, args json.RawMessage, _ func(*agentcore.ToolResult)) (*agentcore.ToolResult, error) {
			var in struct{ Name string }
			if err := json.Unmarshal(args, &in); err != nil {
				return nil, err
			}
			return &agentcore.ToolResult{Content: []agentcore.Block{&agentcore.TextBlock{Text: "Hello, " + in.Name}}}, nil
		},
	}
}

func newExampleAgent(hooks agentcore.Hooks) *agentcore.Agent {
	agent, err := agentcore.New(agentcore.Config{Provider: scripted(), Tools: []*agentcore.Tool{greet()}, Hooks: hooks})
	if err != nil {
		panic(err)
	}
	return agent
}

// An audit listener writes a line for every tool call. Because the run waits for it, the record is written before the
// model sees the result; returning the write's error makes a lost record fail the run.
func ExampleAgent_Subscribe_audit() {
	agent := newExampleAgent(agentcore.Hooks{})
	agent.Subscribe(func(_ context.Context, ev agentcore.Event) error {
		end, ok := ev.(*agentcore.ToolExecutionEnd)
		if !ok {
			return nil
		}
		_, err := fmt.Fprintf(os.Stdout, "%s %s failed=%v\n", end.ToolCallID, end.ToolName, end.IsError)
		return err
	})
	if err := agent.PromptText(context.Background(), "greet Ada"); err != nil {
		fmt.Println(err)
	}
	// Output: call-1 greet failed=false
}

// A timing collector pairs the start and end of calls by their id: names do not tell calls apart.
func ExampleAgent_Subscribe_timing() {
	agent := newExampleAgent(agentcore.Hooks{})
	started := map[string]time.Time{}
	took := map[string]time.Duration{}
	agent.Subscribe(agentcore.Serialize(func(_ context.Context, ev agentcore.Event) error {
		switch ev := ev.(type) {
		case *agentcore.ToolExecutionStart:
			started[ev.ToolCallID] = time.Now()
		case *agentcore.ToolExecutionEnd:
			took[ev.ToolCallID] = time.Since(started[ev.ToolCallID])
		}
		return nil
	}))
	if err := agent.PromptText(context.Background(), "greet Ada"); err != nil {
		fmt.Println(err)
	}
	fmt.Println(len(took), took["call-1"] < time.Minute)
	// Output: 1 true
}

// A text streamer forwards the pieces of the model's text.
func ExampleAgent_Subscribe_text() {
	agent := newExampleAgent(agentcore.Hooks{})
	var screen strings.Builder
	agent.Subscribe(func(_ context.Context, ev agentcore.Event) error {
		if update, ok := ev.(*agentcore.MessageUpdate); ok && update.AssistantEvent.Type == agentcore.StreamTextDelta {
			screen.WriteString("[" + update.AssistantEvent.Delta + "]")
		}
		return nil
	})
	if err := agent.PromptText(context.Background(), "greet Ada"); err != nil {
		fmt.Println(err)
	}
	fmt.Println(screen.String())
	// Output: [All ][done.]
}

// A blocking hook decides before a tool runs. The model reads the reason as an error result.
func ExampleHooks_blocking() {
	agent := newExampleAgent(agentcore.Hooks{
		BeforeToolCall: func(_ context.Context, call *agentcore.ToolCallContext) (*agentcore.BeforeToolCallResult, error) {
			if strings.Contains(string(call.Args), "Ada") {
				return &agentcore.BeforeToolCallResult{Block: true, Reason: "Ada wants to be left alone"}, nil
			}
			return nil, nil
		},
	})
	agent.Subscribe(func(_ context.Context, ev agentcore.Event) error {
		if end, ok := ev.(*agentcore.ToolExecutionEnd); ok {
			fmt.Println(end.IsError, end.Result.Content[0].(*agentcore.TextBlock).Text)
		}
		return nil
	})
	if err := agent.PromptText(context.Background(), "greet Ada"); err != nil {
		fmt.Println(err)
	}
	// Output: true Ada wants to be left alone
}

// Callers who prefer pulling range over the events of a run. Leaving the loop aborts it.
func ExampleAgent_Events() {
	agent := newExampleAgent(agentcore.Hooks{})
	prompt := func(ctx context.Context) error { return agent.PromptText(ctx, "greet Ada") }
	for ev, err := range agent.Events(context.Background(), prompt) {
		if err != nil {
			fmt.Println(err)
			break
		}
		if ev.Type() == agentcore.EventToolExecutionEnd {
			break
		}
		fmt.Println(ev.Type())
	}
	err := agent.Continue(context.Background())
	fmt.Println(errors.Is(err, agentcore.ErrContinueAssistant), agent.State().Running)
	// Output:
	// agent_start
	// turn_start
	// message_start
	// message_end
	// message_start
	// message_update
	// message_update
	// message_end
	// tool_execution_start
	// true false
}

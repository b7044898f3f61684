package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"weir/agentcore"
	"weir/engine"
	"weir/engine/provider/scripted"
	"weir/engine/set"
	"weir/engine/wire"
	"weir/extensions"
	"weir/wasmhost"
)

// openGuard opens an engine with one bundled extension.
func openGuard(ctx context.Context, host *wasmhost.Host) (*engine.Engine, error) {
	return openWith(ctx, host, "guard-shell")
}

func openWith(ctx context.Context, host *wasmhost.Host, name string) (*engine.Engine, error) {
	s, err := set.Parse("weir.toml", []byte("version = 1\n[[extension]]\nname = \""+name+"\"\nmodule = \"bundled:"+name+"\"\n"))
	if err != nil {
		return nil, err
	}
	return engine.Open(ctx, engine.Config{Host: host, Set: s, Bundled: extensions.Bundled, CWD: "/home/dev/project"})
}

// A Go agent that is not weir's asks about each tool call before it runs.
func ExampleEngine_ToolCall() {
	ctx := context.Background()
	host, err := wasmhost.New(ctx, wasmhost.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer host.Close(ctx)
	eng, err := openGuard(ctx, host)
	if err != nil {
		log.Fatal(err)
	}
	defer eng.Close(ctx)

	for _, command := range []string{"go test ./...", "rm -rf /"} {
		input, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			log.Fatal(err)
		}
		d := eng.ToolCall(ctx, wire.ToolCallEvent{ToolName: "bash", ToolCallID: "1", Input: input}, nil)
		fmt.Printf("%s: blocked %v\n", command, d.Block)
	}
	// Output:
	// go test ./...: blocked false
	// rm -rf /: blocked true
}

// What a tool returned passes through the set before the model, or anybody else, sees it.
func ExampleEngine_ToolResult() {
	ctx := context.Background()
	host, err := wasmhost.New(ctx, wasmhost.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer host.Close(ctx)
	eng, err := openWith(ctx, host, "redact-secrets")
	if err != nil {
		log.Fatal(err)
	}
	defer eng.Close(ctx)

	result, changed := eng.ToolResult(ctx, wire.ToolResultEvent{
		ToolName: "bash", ToolCallID: "1", Input: json.RawMessage(`{"command":"cat service.env"}`),
		Content: []agentcore.Block{&agentcore.TextBlock{Text: "DB_PASSWORD=x9Kq-31hTzu"}},
	})
	fmt.Println(changed, result.Content[0].(*agentcore.TextBlock).Text)
	// Output:
	// true DB_PASSWORD=[redacted:secret-value:0de9bd]
}

// The set decides what the model sees of a history, which itself never changes.
func ExampleEngine_Context() {
	ctx := context.Background()
	host, err := wasmhost.New(ctx, wasmhost.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer host.Close(ctx)
	eng, err := openWith(ctx, host, "prune-context")
	if err != nil {
		log.Fatal(err)
	}
	defer eng.Close(ctx)

	history := []*agentcore.Message{agentcore.NewMessage(&agentcore.UserMessage{Content: agentcore.Content{Text: "Is it done?"}})}
	for _, progress := range []string{"10 %", "20 %"} {
		m, err := agentcore.DecodeMessage(json.RawMessage(`{"role":"custom","customType":"ephemeral-progress","content":"` + progress + `","display":false,"timestamp":1}`))
		if err != nil {
			log.Fatal(err)
		}
		history = append(history, m)
	}
	seen, err := eng.Context(ctx, history)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("of %d messages the model sees %d\n", len(history), len(seen))
	// Output:
	// of 3 messages the model sees 2
}

// An agent of agentcore is held by a set when its hooks and its first listener are the engine's.
func ExampleEngine_Hooks() {
	ctx := context.Background()
	host, err := wasmhost.New(ctx, wasmhost.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer host.Close(ctx)
	eng, err := openGuard(ctx, host)
	if err != nil {
		log.Fatal(err)
	}
	defer eng.Close(ctx)

	script, err := scripted.Parse("script.toml", `
[[response]]
[[response.call]]
tool = "bash"
args = { command = "rm -rf /" }

[[response]]
text = "I was stopped."
`)
	if err != nil {
		log.Fatal(err)
	}
	bash := &agentcore.Tool{
		Name: "bash", Parameters: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}}}`),
		Execute: func(context.Context, string, json.RawMessage, func(*agentcore.ToolResult)) (*agentcore.ToolResult, error) {
			fmt.Println("the command ran")
			return &agentcore.ToolResult{}, nil
		},
	}
	agent, err := agentcore.New(agentcore.Config{Provider: script.Provider(), Model: script.Model(), Tools: []*agentcore.Tool{bash}, Hooks: eng.Hooks()})
	if err != nil {
		log.Fatal(err)
	}
	agent.Subscribe(eng.Listener())
	agent.Subscribe(func(_ context.Context, ev agentcore.Event) error {
		if end, ok := ev.(*agentcore.ToolExecutionEnd); ok {
			fmt.Println("error result:", end.IsError)
		}
		return nil
	})
	if err := agent.PromptText(ctx, "clean up"); err != nil {
		log.Fatal(err)
	}
	messages := agent.State().Messages
	last := messages[len(messages)-1].Assistant()
	fmt.Println(last.Content[0].(*agentcore.TextBlock).Text)
	// Output:
	// error result: true
	// I was stopped.
}

// The table of events is data.
func ExampleKinds() {
	for _, k := range engine.Kinds() {
		if k.Merge == engine.MergeGate {
			fmt.Fprintf(os.Stdout, "%s may change %s; a fault: %s\n", k.Event, k.Changes, k.OnFault)
		}
	}
	// Output:
	// tool_call may change the arguments; a fault: block
}

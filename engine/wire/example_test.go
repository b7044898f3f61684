package wire_test

import (
	"errors"
	"fmt"

	"weir/agentcore"
	"weir/engine/wire"
)

// What a tool_call hook is given.
func ExampleEncoder_AppendToolCall() {
	enc := wire.NewEncoder(wire.Scope{SessionID: "s1", Extension: "guard", CWD: "/src", Mode: wire.ModeText})
	event := enc.AppendToolCall(nil, wire.Moment{TurnIndex: 2}, &wire.ToolCallEvent{
		ToolName: "bash", ToolCallID: "c1", Input: []byte(`{"command":"ls"}`),
	})
	fmt.Println(string(event))
	// Output:
	// {"type":"tool_call","toolName":"bash","toolCallId":"c1","input":{"command":"ls"},"context":{"sessionId":"s1","extension":"guard","cwd":"/src","mode":"text","hasUI":false,"thinkingLevel":"off","turnIndex":2,"callIndex":0}}
}

// What it may answer, and what becomes of a typing error: never "allow".
func ExampleParseToolCall() {
	res, err := wire.ParseToolCall([]byte(`{"block":true,"reason":"not on main"}`))
	fmt.Println(res.Block, res.Reason, err)

	_, err = wire.ParseToolCall([]byte(`{"blocked":true}`))
	var fault *wire.OutputError
	fmt.Println(errors.As(err, &fault), err)
	// Output:
	// true not on main <nil>
	// true blocked: unknown key (did you mean "block"?) (at byte 1)
}

// A context hook that leaves out a message, and one that tears a call from its result.
func ExampleContextResult() {
	call := &agentcore.ToolCall{ID: "c1", Name: "bash", Arguments: []byte(`{"command":"ls"}`)}
	before := []*agentcore.Message{
		agentcore.NewMessage(&agentcore.UserMessage{Content: agentcore.Content{Text: "list"}}),
		agentcore.NewMessage(&agentcore.AssistantMessage{Content: []agentcore.Block{call}}),
		agentcore.NewMessage(&agentcore.ToolResultMessage{ToolCallID: "c1", ToolName: "bash"}),
	}
	for _, out := range []string{`{"drop":[0]}`, `{"drop":[2]}`} {
		edits, err := wire.ParseContext([]byte(out))
		if err != nil {
			fmt.Println(err)
			continue
		}
		after, err := edits.Apply(before)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(len(after), edits.Gate(before, after))
	}
	// Output:
	// 2 <nil>
	// 2 the call "c1" (message 1 of what the extension returned) is not followed by its result
}

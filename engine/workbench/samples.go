package workbench

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"weir/engine/wire"
)

//go:embed samples.jsonl
var sampleLines string

// samples are the built-in events of a hook: some for those that decide, an object without payload for those that only report.
func samples(hook wire.Event) []json.RawMessage {
	if hook == wire.EventContext {
		return []json.RawMessage{sampleHistory()}
	}
	events, err := ParseEvents([]byte(sampleLines))
	if err != nil {
		panic("workbench: samples.jsonl: " + err.Error()) // it is part of the program, and a test reads it
	}
	if list := events[hook]; list != nil {
		return list
	}
	return []json.RawMessage{json.RawMessage("{}")}
}

// sampleHistory is a context of 60 messages, about 100 KB: a question, then calls of read with their results.
func sampleHistory() json.RawMessage {
	const calls = 29
	text := strings.Repeat("func main() { fmt.Println(\\\"hello\\\") }\\n", 80)
	var b strings.Builder
	b.WriteString(`{"type":"context","messages":[{"role":"user","content":"Find the bug, please.","timestamp":1}`)
	for i := range calls {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"text","text":"I look at file %d."},{"type":"toolCall","id":"call_%d","name":"read","arguments":{"path":"src/file%d.go"}}],`+
			`"api":"sample","provider":"sample","model":"sample","usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},`+
			`"stopReason":"toolUse","timestamp":%d}`, i, i, i, 2*i+2)
		fmt.Fprintf(&b, `,{"role":"toolResult","toolCallId":"call_%d","toolName":"read","content":[{"type":"text","text":"%s"}],"isError":false,"timestamp":%d}`, i, text, 2*i+3)
	}
	b.WriteString(`,{"role":"user","content":"Go on.","timestamp":100}]}`)
	return json.RawMessage(b.String())
}

package main

import (
	"strings"
	"testing"

	"weir/guest-sdk/go/weirtest"
)

func TestPolicy(t *testing.T) {
	ext := weirtest.Load(t)
	if !strings.Contains(ext.Description(), `"facts":["shell"]`) {
		t.Error(ext.Description())
	}
	for facts, answer := range map[string]string{
		`{"shell":{"understood":true,"commands":[{"argv":["ls"]},{"argv":["git","push","-f"],"in":["sudo"]}]}}`: `"block":true`,
		`{"shell":{"understood":true,"commands":[{"argv":["git","pull"]},{"argv":[]}]}}`:                        `"block":false`,
		`{"shell":{"understood":true,"commands":[{"argv":["git","$X"],"dynamic":true,"unknown":[1]}]}}`:         `"ask"`,
		`{"shell":{"understood":false,"reason":"no end","commands":[]}}`:                                        `"ask"`,
		`{}`: `"ask"`,
	} {
		out := ext.Event("tool_call", `{"toolName":"bash","toolCallId":"c","input":{"command":"x"},"facts":`+facts+`}`)
		if !strings.Contains(out, answer) {
			t.Errorf("%s: %s, want %s", facts, out, answer)
		}
	}
}

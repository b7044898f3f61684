package main

import (
	"testing"

	"weir/guest-sdk/go/weirtest"
)

func TestPolicy(t *testing.T) {
	ext := weirtest.Load(t)
	for command, blocked := range map[string]bool{
		`{"command":"rm -rf /"}`:      true,
		`{"command":"\u0072m -rf /"}`: true,
		`{"command":"ls"}`:            false,
		`{"note":"rm -rf /"}`:         false,
	} {
		if d := ext.ToolCall("bash", command); d.Block != blocked {
			t.Errorf("bash %s: block is %v", command, d.Block)
		}
	}
	if d := ext.ToolCall("write", `{"command":"rm -rf /"}`); d.Block {
		t.Error("another tool was blocked")
	}
}

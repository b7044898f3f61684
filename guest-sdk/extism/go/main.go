// A plain Extism module that stops git push: written with Extism's own kit for Go, and nothing of weir.
package main

import (
	"strings"

	pdk "github.com/extism/go-pdk"
)

//go:wasmexport tool_call
func toolCall() int32 {
	var event struct {
		ToolName string         `json:"toolName"`
		Input    map[string]any `json:"input"`
		Context  map[string]any `json:"context"`
	}
	if err := pdk.InputJSON(&event); err != nil {
		pdk.SetError(err) // a fault, for which the call is blocked
		return 1
	}
	command, _ := event.Input["command"].(string)
	if event.ToolName != "bash" || !strings.Contains(command, "git push") {
		pdk.OutputString(`{}`) // no opinion: it must be said
		return 0
	}
	reason, ok := pdk.GetConfig("reason")
	if !ok {
		reason = "push by hand, please"
	}
	if err := pdk.OutputJSON(map[string]any{"block": true, "reason": reason}); err != nil {
		pdk.SetError(err)
		return 1
	}
	return 0
}

func main() {}

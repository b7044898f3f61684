// An extension that blocks rm -rf.
package main

import (
	"strings"

	weir "weir/guest-sdk/go"
)

func init() {
	weir.Describe(weir.Extension{Name: "no-rm-rf", Version: "1.0.0", Description: "Blocks rm -rf."})
	weir.OnToolCall(func(c *weir.ToolCall) weir.Decision {
		if c.ToolName() == "bash" && strings.Contains(c.Str("command"), "rm -rf") {
			return weir.Block("rm -rf is not allowed")
		}
		return weir.Allow()
	})
}

func main() {}

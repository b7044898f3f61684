// A guest that writes each decision down, and blocks or rewrites as the command says.
package main

import (
	"errors"

	weir "weir/guest-sdk/go"
)

func init() {
	weir.Describe(weir.Extension{
		Name: "witness", Version: "1.0.0", Description: "Writes decisions down.",
		Capabilities: []weir.Capability{{Name: "journal", Reason: "to write decisions down"}},
	})
	weir.OnToolCall(func(c *weir.ToolCall) weir.Decision {
		switch c.Str("command") {
		case "block":
			return weir.Block("as told")
		case "ask":
			return weir.Ask("really?", "")
		case "rewrite":
			return weir.Rewrite(`{"command":"ls"}`)
		}
		return weir.Allow()
	}).Tools("bash")
	weir.OnToolResult(func(r *weir.ToolResult) weir.ToolResultEdit {
		if r.Text() == "secret" {
			return weir.ReplaceContent(weir.TextContent("***"))
		}
		return weir.Keep()
	})
	weir.OnDecision(func(e *weir.Event) error {
		if e.Get("input").Get("command").Str() == "unwritable" {
			return errors.New("the disk is full")
		}
		_, _, err := weir.JournalAppend(weir.Object(
			weir.Field{Key: "event", Value: e.Get("event").JSON()},
			weir.Field{Key: "decision", Value: e.Get("decision").JSON()},
			weir.Field{Key: "by", Value: e.Get("by").JSON()},
			weir.Field{Key: "reason", Value: e.Get("reason").JSON()},
			weir.Field{Key: "answers", Value: e.Get("answers").JSON()},
		))
		return err
	}).BlockOnError()
}

func main() {}

// The guest that tests of the host and of this SDK run: it does what the command
// of a tool call tells it to, and has a handler for each view, tools, commands,
// settings, logging and the capability kv.
//
// Commands of tool_call (the argument "command", any tool):
//
//	block, ask, terminate, rewrite, ask-rewrite, empty, fail, panic, nil, loop,
//	exit, alloc, goexit, config, log, count, kv, recheck, where, bad-rewrite;
//	anything else: allow
package main

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	weir "weir/guest-sdk/go"
)

var (
	calls int
	sink  [][]byte
)

func init() {
	weir.Describe(weir.Extension{
		Name: "testguest", Version: "1.2.3", Description: "Does what it is told.",
		Config: `{"type":"object","properties":{"greeting":{"type":"string"},"full":{"type":"boolean"}}}`,
		Capabilities: []weir.Capability{
			{Name: "kv", Reason: "to count across instances"},
		},
	})
	weir.OnToolCall(toolCall)
	weir.OnToolResult(toolResult).Tools("bash", "mcp__*").BlockOnError()
	weir.OnContextTable(context)
	weir.On("input", input)
	weir.Observe("turn_start", func(e *weir.Event) {
		weir.Log(weir.LevelInfo, "turn "+strconv.FormatInt(e.Get("turnIndex").Int(-1), 10))
	})
	weir.AddTool(weir.Tool{
		Name: "shout", Description: "Returns the text in capitals.", ExecutionMode: "parallel",
		Parameters: `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`,
		Execute: func(r *weir.ToolRun) (weir.ToolOutput, error) {
			r.Update(weir.Object(weir.Field{Key: "content", Value: weir.TextContent("…")}))
			return weir.ToolOutput{Content: weir.TextContent(strings.ToUpper(r.Args().Get("text").Str()))}, nil
		},
	})
	weir.AddCommand(weir.Command{Name: "hello", Description: "Greets.", Run: func(r *weir.CommandRun) (string, error) {
		return "hello " + r.Args().Str(), nil
	}})
}

func toolCall(c *weir.ToolCall) weir.Decision {
	calls++
	switch command := c.Str("command"); command {
	case "block":
		return weir.Block("blocked: \"" + c.ToolName() + "\" \x00\xff")
	case "terminate":
		return weir.Terminate("enough")
	case "ask":
		return weir.Ask("really?", "it asks for it")
	case "rewrite":
		return weir.Rewrite(c.Input().With("command", weir.String("ls <é>")))
	case "ask-rewrite":
		return weir.Ask("really?", "").Rewrite(`{"command":"ls"}`)
	case "bad-rewrite":
		return weir.Rewrite("[1]")
	case "empty":
		return weir.Decision{}
	case "fail":
		return weir.Fail("as told")
	case "panic":
		panic("as told")
	case "nil":
		var none *weir.Extension
		return weir.Block(none.Name)
	case "loop":
		for {
			calls++
		}
	case "exit":
		os.Exit(0)
	case "goexit":
		runtime.Goexit()
	case "alloc":
		for {
			sink = append(sink, make([]byte, 1<<20))
		}
	case "config":
		return weir.Block(weir.Config().Get("greeting").Str())
	case "log":
		weir.Log(weir.LevelDebug, "d")
		weir.Log(weir.LevelError, "e")
	case "count":
		return weir.Block(strconv.Itoa(calls))
	case "kv":
		return keep()
	case "recheck":
		return weir.Block(strconv.FormatBool(c.Recheck()))
	case "where":
		return weir.Block(c.Context().Get("cwd").Str() + " " + c.ID())
	}
	return weir.Allow()
}

func keep() weir.Decision {
	value, _, err := weir.KVGet("n")
	if err != nil {
		return weir.Fail(err.Error())
	}
	if err := weir.KVSet("n", value+"x"); err != nil {
		return weir.Fail(err.Error())
	}
	return weir.Block(value)
}

func toolResult(r *weir.ToolResult) weir.ToolResultEdit {
	if r.IsError() {
		return weir.ReplaceContent(weir.TextContent("failed")).IsError(false).Details(`{"was":"error"}`)
	}
	if strings.HasPrefix(r.Text(), "panic") {
		panic("as told")
	}
	content, changed := r.MapText(func(text string) string { return strings.ReplaceAll(text, "secret", "******") })
	if !changed {
		return weir.Keep()
	}
	return weir.ReplaceContent(content)
}

// context drops notes; a short message of the user that
// says "replace" is replaced, one that says "insert" gets one before it, and one
// that says "twice" is dropped twice.
func context(t *weir.Table) error {
	for i := range t.Len() {
		m := t.At(i)
		switch {
		case m.Role() == weir.RoleCustom && m.Name() == "note":
			t.Drop(i)
		case m.Role() == weir.RoleUser && m.TextBytes() < 10:
			body, err := t.Message(i)
			if err != nil {
				return err
			}
			switch text := body.Get("content").Str(); text {
			case "replace":
				t.Replace(i, body.With("content", weir.String("replaced")))
			case "insert":
				t.Insert(i, `{"role":"user","content":"inserted","timestamp":0}`)
			case "twice":
				t.Drop(i)
				t.Drop(i)
			}
		}
	}
	return nil
}

func input(e *weir.Event) weir.Result {
	switch e.Str("text") {
	case "transform":
		return weir.Transform("transformed")
	case "handled":
		return weir.Handled()
	case "empty":
		return weir.Result{}
	}
	return weir.None()
}

func main() {}

// The guest that shows that the SDK does what an SDK must: guest-sdk/tck/SPEC.md says what each name in it does.
package main

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	weir "weir/guest-sdk/go"
)

func init() {
	weir.Describe(weir.Extension{
		Name: "tck", Version: "1.0.0", Description: "Does what it is told, to show what the SDK can do.",
		Config: `{"type":"object","properties":{"greeting":{"type":"string"},"limit":{"type":"integer"}}}`,
		Capabilities: []weir.Capability{
			{Name: "kv", Reason: "to keep a value"},
			{Name: "http", Reason: "to ask a server"},
			{Name: "read", Reason: "to read a file"},
			{Name: "ui", Reason: "to ask a person"},
			{Name: "session", Reason: "to ask the session"},
			{Name: "journal", Reason: "to keep a record"},
		},
	})
	weir.OnToolCall(toolCall).Tools("tck_*", "bash").Facts("shell", "paths", "net")
	weir.OnToolResult(toolResult).BlockOnError().Facts("secrets")
	weir.OnContextTable(context)
	weir.On("input", input)
	weir.On("before_provider_headers", headers)
	weir.Observe("agent_start", func(*weir.Event) { weir.Log(weir.LevelInfo, "agent_start") })
	weir.Observe("turn_end", turnEnd)
	weir.OnDecision(decision)
	weir.AddTool(weir.Tool{
		Name: "tck_upper", Label: "Upper", Description: "Returns the text in capitals.", ExecutionMode: "parallel",
		Parameters: `{"type":"object","properties":{"text":{"type":"string"},"do":{"type":"string"}},"required":["text"]}`,
		Execute:    upper,
	})
	weir.AddCommand(weir.Command{Name: "tck", Description: "Says what it was given.", Run: command})
}

func main() {}

var (
	counted int
	kept    [][]byte
)

func toolCall(c *weir.ToolCall) weir.Decision {
	text := c.Str("text")
	switch c.Str("do") {
	case "block":
		return weir.Block(text)
	case "terminate":
		return weir.Terminate(text)
	case "ask":
		return weir.Ask(text, c.Str("message"))
	case "rewrite":
		return weir.Rewrite(c.Input().With("text", weir.String(c.Str("to"))))
	case "fail":
		return weir.Fail(text)
	case "panic":
		panic(text)
	case "loop":
		for {
			counted++
		}
	case "memory":
		for {
			kept = append(kept, make([]byte, 1<<20))
		}
	case "log":
		for _, level := range []weir.Level{weir.LevelDebug, weir.LevelInfo, weir.LevelWarn, weir.LevelError} {
			weir.Log(level, text)
		}
		return weir.Allow()
	}
	if answer, ok := value(c); ok {
		return weir.Block(answer)
	}
	if answer, err, ok := capability(c); ok {
		if err != nil {
			return weir.Block("refused: " + err.Error())
		}
		return weir.Block(answer)
	}
	return weir.Allow()
}

// value answers what reads an argument or the event.
func value(c *weir.ToolCall) (answer string, ok bool) {
	v := c.Get("value")
	switch c.Str("do") {
	case "hex":
		return hex.EncodeToString([]byte(c.Str("text"))), true
	case "kind":
		return kind(v), true
	case "join":
		return strings.Join(v.Strs(), ","), true
	case "keys":
		var keys []string
		for key := range v.Fields() {
			keys = append(keys, key)
		}
		return strings.Join(keys, ","), true
	case "depth":
		return strconv.Itoa(depth(v)), true
	case "integer":
		if n := v.Int(1); n == v.Int(2) {
			return strconv.FormatInt(n, 10), true
		}
		return "none", true
	case "number":
		bits := strconv.FormatUint(math.Float64bits(v.Float(math.NaN())), 16)
		return strings.Repeat("0", 16-len(bits)) + bits, true
	case "config":
		if greeting := weir.Config().Get("greeting"); greeting.Kind() == weir.KindString {
			return greeting.Str(), true
		}
		return "none", true
	case "settings":
		return string(weir.Config().JSON()), true
	case "count":
		counted++
		return strconv.Itoa(counted), true
	case "where":
		w := c.Context()
		return strings.Join([]string{
			w.Get("cwd").Str(), w.Get("mode").Str(), strconv.FormatBool(w.Get("hasUI").Bool(false)), w.Get("model").Get("id").Str(),
			strconv.FormatInt(w.Get("turnIndex").Int(-1), 10),
		}, " "), true
	case "call":
		return c.ToolName() + " " + c.ID(), true
	case "recheck":
		if c.Recheck() {
			return "yes", true
		}
		return "no", true
	case "facts":
		return facts(c.Facts(), c.Str("of")), true
	case "large":
		return strings.Repeat(c.Str("text"), int(c.Get("count").Int(0))), true
	}
	return "", false
}

func kind(v weir.Value) string {
	switch v.Kind() {
	case weir.KindNull:
		return "null"
	case weir.KindBool:
		return "bool"
	case weir.KindNumber:
		return "number"
	case weir.KindString:
		return "string"
	case weir.KindArray:
		return "array"
	case weir.KindObject:
		return "object"
	}
	return "absent"
}

func depth(v weir.Value) int {
	deepest := 0
	switch v.Kind() {
	case weir.KindArray:
		for e := range v.Elements() {
			deepest = max(deepest, depth(e))
		}
	case weir.KindObject:
		for _, e := range v.Fields() {
			deepest = max(deepest, depth(e))
		}
	default:
		return 0
	}
	return deepest + 1
}

func toolResult(r *weir.ToolResult) weir.ToolResultEdit {
	text := r.Input().Get("text").Str()
	switch r.Input().Get("do").Str() {
	case "content":
		return weir.ReplaceContent(weir.TextContent(text))
	case "mask":
		content, _ := r.MapText(func(text string) string { return strings.ReplaceAll(text, "secret", "******") })
		return weir.ReplaceContent(content)
	case "facts":
		return weir.ReplaceContent(weir.TextContent(facts(r.Facts(), "secrets")))
	case "error":
		return weir.Keep().IsError(true)
	case "replace":
		was := r.Details().JSON()
		if was == "" {
			was = "null"
		}
		return weir.ReplaceContent(weir.TextContent(text)).Details(weir.Object(weir.Field{Key: "was", Value: was})).
			IsError(!r.IsError()).Usage(r.Input().Get("usage").JSON())
	case "fail":
		return weir.FailResult(text)
	case "panic":
		panic(text)
	}
	return weir.Keep()
}

func input(e *weir.Event) weir.Result {
	switch text := e.Str("text"); {
	case strings.HasPrefix(text, "transform: "):
		return weir.Transform(strings.TrimPrefix(text, "transform: "))
	case text == "handled":
		return weir.Handled()
	case text == "fail":
		return weir.FailEvent("as told")
	}
	return weir.None()
}

func headers(e *weir.Event) weir.Result {
	if !e.Get("headers").Get("x-drop").Exists() {
		return weir.None()
	}
	return weir.Reply(weir.Field{Key: "headers", Value: weir.Object(weir.Field{Key: "x-tck", Value: weir.String("yes")}, weir.Field{Key: "x-drop", Value: "null"})})
}

func turnEnd(e *weir.Event) {
	if e.Get("message").Get("do").Is("panic") {
		panic("as told")
	}
	weir.Log(weir.LevelInfo, "turn "+strconv.FormatInt(e.Get("turnIndex").Int(-1), 10))
}

func decision(e *weir.Event) error {
	weir.Log(weir.LevelInfo, "decision of "+e.Str("event")+": "+e.Str("decision")+" by "+strings.Join(e.Get("by").Strs(), ","))
	return nil
}

func upper(r *weir.ToolRun) (weir.ToolOutput, error) {
	out := weir.ToolOutput{Content: weir.TextContent(capitals(r.Args().Get("text").Str()))}
	switch r.Args().Get("do").Str() {
	case "update":
		r.Update(weir.Object(weir.Field{Key: "content", Value: weir.TextContent("half")}))
	case "details":
		out.Details = weir.Object(weir.Field{Key: "tool", Value: weir.String(r.ToolName())}, weir.Field{Key: "id", Value: weir.String(r.ID())})
	case "error":
		return weir.ToolOutput{Content: weir.TextContent(r.Args().Get("text").Str()), IsError: true}, nil
	case "terminate":
		out.Terminate = true
	case "panic":
		panic("as told")
	}
	return out, nil
}

func capitals(text string) string {
	b := []byte(text)
	for i, c := range b {
		if 'a' <= c && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}

// told is the error of a guest that was told to fail.
type told struct{}

func (told) Error() string { return "as told" }

func command(r *weir.CommandRun) (string, error) {
	switch args := r.Args().Str(); args {
	case "fail":
		return "", told{}
	case "":
		return "", nil
	default:
		return "tck: " + args, nil
	}
}

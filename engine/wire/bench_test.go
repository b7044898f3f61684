package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"weir/agentcore"
)

// benchEvent is the small event of the goals in the design: a bash call with a short command.
func benchEvent() (*Encoder, Moment, *ToolCallEvent) {
	enc := NewEncoder(Scope{SessionID: "0198f3a2-7c1e", Extension: "guard-rm", CWD: "/home/dev/project", Mode: ModeText, HasUI: true})
	at := Moment{Provider: "anthropic", Model: "claude-x", ThinkingLevel: "medium", TurnIndex: 3, CallIndex: 1}
	ev := &ToolCallEvent{ToolName: "bash", ToolCallID: "toolu_01AbCdEfGhIj", Input: []byte(`{"command":"rm -rf build && make all"}`)}
	return enc, at, ev
}

func BenchmarkToolCallEvent(b *testing.B) {
	enc, at, ev := benchEvent()
	b.Run("weir", func(b *testing.B) {
		b.ReportAllocs()
		var buf []byte
		for b.Loop() {
			buf = enc.AppendToolCall(buf[:0], at, ev)
		}
		b.SetBytes(int64(len(buf)))
	})
	b.Run("encoding-json", func(b *testing.B) {
		var v struct {
			Type, ToolName, ToolCallID string
			Input                      json.RawMessage
			Context                    struct {
				SessionID, Extension, CWD, Mode string
				HasUI                           bool
				Model                           struct{ Provider, ID string }
				ThinkingLevel                   string
				TurnIndex, CallIndex            int
			}
		}
		v.Type, v.ToolName, v.ToolCallID, v.Input = "tool_call", ev.ToolName, ev.ToolCallID, ev.Input
		v.Context.CWD = "/home/dev/project"
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(&v); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkParseToolCall(b *testing.B) {
	for _, bench := range []struct{ name, out string }{
		{"empty", `{}`},
		{"allow", `{"block":false}`},
		{"block", `{"block":true,"reason":"rm -rf / is never right"}`},
		{"rewrite", `{"input":{"command":"rm -rf ./build && make all","timeout":120}}`},
	} {
		b.Run(bench.name+"/weir", func(b *testing.B) {
			out := []byte(bench.out)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseToolCall(out); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(bench.name+"/encoding-json", func(b *testing.B) {
			out := []byte(bench.out)
			b.ReportAllocs()
			for b.Loop() {
				var v struct {
					Block, Terminate bool
					Reason           string
					Ask              *Ask
					Input            json.RawMessage
				}
				if err := json.Unmarshal(out, &v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// benchHistory is 10,000 messages in turns of question, call, result and answer.
func benchHistory(b *testing.B) []*agentcore.Message {
	text := strings.Repeat("some text of a tool, as it comes. ", 28)
	list := make([]*agentcore.Message, 0, 10_000)
	for i := 0; len(list) < 10_000; i += 4 {
		id := fmt.Sprint("call_", i)
		list = append(list,
			agentcore.NewMessage(&agentcore.UserMessage{Content: agentcore.Content{Text: "go on"}, Timestamp: int64(i)}),
			agentcore.NewMessage(&agentcore.AssistantMessage{Content: []agentcore.Block{
				&agentcore.ToolCall{ID: id, Name: "bash", Arguments: json.RawMessage(`{"command":"ls"}`)},
			}, Timestamp: int64(i + 1)}),
			agentcore.NewMessage(&agentcore.ToolResultMessage{
				ToolCallID: id, ToolName: "bash", Content: []agentcore.Block{&agentcore.TextBlock{Text: text}}, Timestamp: int64(i + 2),
			}),
			agentcore.NewMessage(&agentcore.AssistantMessage{
				Content: []agentcore.Block{&agentcore.TextBlock{Text: text}}, Timestamp: int64(i + 3),
			}))
	}
	for _, m := range list {
		if _, err := m.JSON(); err != nil {
			b.Fatal(err)
		}
	}
	return list
}

func BenchmarkTable10000(b *testing.B) {
	list := benchHistory(b)
	context := []byte(`{"sessionId":"s"}`)
	dropped := append(append(slices.Clone(list[:1]), list[3:5001]...), list[5003:]...)
	encode := func(b *testing.B, t *Table, list []*agentcore.Message) {
		if _, err := t.Encode(list, context); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("nothing-new", func(b *testing.B) {
		b.ReportAllocs()
		var t Table
		for b.Loop() {
			encode(b, &t, list)
		}
	})
	b.Run("three-new", func(b *testing.B) {
		b.ReportAllocs()
		var t Table
		encode(b, &t, list[:len(list)-3])
		for b.Loop() {
			t.messages = t.messages[:len(list)-3]
			encode(b, &t, list)
		}
	})
	b.Run("four-dropped-and-back", func(b *testing.B) {
		b.ReportAllocs()
		var t Table
		for i := 0; b.Loop(); i++ {
			if i%2 == 0 {
				encode(b, &t, list)
			} else {
				encode(b, &t, dropped)
			}
		}
	})
	b.Run("all-new", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			encode(b, new(Table), list)
		}
	})
	b.Run("full-view", func(b *testing.B) {
		enc, at, _ := benchEvent()
		b.ReportAllocs()
		var buf []byte
		for b.Loop() {
			var err error
			if buf, err = enc.AppendMessages(buf[:0], at, list); err != nil {
				b.Fatal(err)
			}
		}
		b.SetBytes(int64(len(buf)))
	})
}

func BenchmarkContext10000(b *testing.B) {
	list := benchHistory(b)
	few := []byte(`{"drop":[1,2,2001,2002,5001,5002,9001,9002]}`)
	var many bytes.Buffer
	many.WriteString(`{"drop":[1,2`)
	for i := 5; i < 9_000; i += 4 {
		fmt.Fprintf(&many, ",%d,%d", i, i+1)
	}
	many.WriteString("]}")
	var refs bytes.Buffer
	refs.WriteString(`{"messages":[{"ref":0}`)
	for i := 3; i < len(list); i++ {
		fmt.Fprintf(&refs, `,{"ref":%d}`, i)
	}
	refs.WriteString("]}")
	var echo bytes.Buffer
	echo.WriteString(`{"messages":[`)
	for i, m := range list {
		if i == 1 || i == 2 {
			continue
		}
		if i > 0 {
			echo.WriteByte(',')
		}
		raw, err := m.JSON()
		if err != nil {
			b.Fatal(err)
		}
		echo.Write(raw)
	}
	echo.WriteString("]}")
	for _, bench := range []struct {
		name string
		out  []byte
	}{
		{"no-opinion", []byte(`{}`)},
		{"drop-8", few},
		{"drop-4500", many.Bytes()},
		{"refs", refs.Bytes()},
		{"echo", echo.Bytes()},
	} {
		c, err := ParseContext(bench.out)
		if err != nil {
			b.Fatal(err)
		}
		after, err := c.Apply(list)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(bench.name+"/parse", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseContext(bench.out); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(bench.name+"/apply", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Apply(list); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(bench.name+"/gate", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := c.Gate(list, after); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

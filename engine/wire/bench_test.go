package wire

import (
	"encoding/json"
	"testing"
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

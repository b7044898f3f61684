package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"

	"weir/agentcore"
	"weir/engine"
	"weir/engine/session"
)

// jsonSink tells a run to a program: one JSON object a line. The first is the session's header, then the events as they
// occur, with deltas only (reference: docs/json.md, 0.85.0), and between them the answers of extensions as
// "extension_decision", and for each model call "prompt_prefix". agent_settled is the last line.
type jsonSink struct {
	err io.Writer

	mu     sync.Mutex
	w      io.Writer
	failed error
	buf    bytes.Buffer
	// settled is held back until the next event or the end, so that it comes after what extensions say when the session ends.
	settled *session.AgentSettled
}

// person is nobody: what reads the lines cannot answer.
func (s *jsonSink) person() person { return nil }

func (s *jsonSink) logger() *slog.Logger {
	return slog.New(&logHandler{print: func(level slog.Level, extension, text string) {
		fmt.Fprintf(s.err, "%s: log %s: %s\n", extension, strings.ToLower(level.String()), oneLine(text, 200))
	}})
}

// line writes v as one line. A write that failed is reported by the next event, which ends the run.
func (s *jsonSink) line(v any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return s.failed
	}
	s.buf.Reset()
	enc := json.NewEncoder(&s.buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, s.failed = s.w.Write(s.buf.Bytes())
	return s.failed
}

func (s *jsonSink) begin(h session.Header, _ *opening) {
	_ = s.line(struct { // told again by the next event
		Type string `json:"type"`
		session.Header
	}{"session", h})
}

// event implements session.Subscriber.
func (s *jsonSink) event(ev session.Event) error {
	s.mu.Lock()
	held := s.settled
	s.settled = nil
	if settled, ok := ev.(*session.AgentSettled); ok {
		s.settled = settled
	}
	s.mu.Unlock()
	if held != nil { // the session went on after all
		if err := s.line(held); err != nil {
			return err
		}
	}
	switch ev := ev.(type) {
	case *session.AgentSettled:
		return nil
	case *session.RunEvent:
		if update, ok := ev.Event.(*agentcore.MessageUpdate); ok {
			return s.line(newUpdateLine(update))
		}
	}
	return s.line(ev)
}

// updateLine is a message_update without what has been sent before.
type updateLine struct {
	Type  string          `json:"type"`
	Usage agentcore.Usage `json:"usage"`
	Event updateEvent     `json:"assistantMessageEvent"`
}

type updateEvent struct {
	Type         string           `json:"type"`
	ContentIndex int              `json:"contentIndex"`
	Delta        *string          `json:"delta,omitempty"`
	Content      *string          `json:"content,omitempty"`
	ID           string           `json:"id,omitempty"`
	ToolName     string           `json:"toolName,omitempty"`
	ToolCall     *json.RawMessage `json:"toolCall,omitempty"`
}

func newUpdateLine(ev *agentcore.MessageUpdate) updateLine {
	a := &ev.AssistantEvent
	out := updateLine{Type: "message_update", Event: updateEvent{Type: a.Type.String(), ContentIndex: a.ContentIndex}}
	if m := ev.Message.Assistant(); m != nil {
		out.Usage = m.Usage
	}
	switch a.Type {
	case agentcore.StreamTextDelta, agentcore.StreamThinkingDelta, agentcore.StreamToolCallDelta:
		out.Event.Delta = &a.Delta
	case agentcore.StreamTextEnd, agentcore.StreamThinkingEnd:
		out.Event.Content = &a.Content
	case agentcore.StreamToolCallStart:
		if a.ToolCall != nil {
			out.Event.ID, out.Event.ToolName = a.ToolCall.ID, a.ToolCall.Name
		}
	case agentcore.StreamToolCallEnd:
		if a.ToolCall != nil {
			if raw, err := agentcore.MarshalBlock(a.ToolCall); err == nil {
				out.Event.ToolCall = &raw
			}
		}
	}
	return out
}

// decisionLine is an extension's answer.
type decisionLine struct {
	Type       string  `json:"type"`
	Extension  string  `json:"extension"`
	Event      string  `json:"event"`
	ToolName   string  `json:"toolName,omitempty"`
	ToolCallID string  `json:"toolCallId,omitempty"`
	Outcome    string  `json:"outcome"`
	Reason     string  `json:"reason,omitempty"`
	Monitor    bool    `json:"monitor,omitempty"`
	Recheck    int     `json:"recheck,omitempty"`
	Fresh      bool    `json:"fresh,omitempty"`
	Micros     float64 `json:"micros"`
	Fuel       uint64  `json:"fuel,omitempty"`
}

func (s *jsonSink) record(rec engine.Record) {
	_ = s.line(decisionLine{ // told again by the next event
		Type: "extension_decision", Extension: rec.Extension, Event: rec.Event.String(), ToolName: rec.Tool, ToolCallID: rec.ToolCallID,
		Outcome: rec.Outcome.String(), Reason: rec.Reason, Monitor: rec.Monitor, Recheck: rec.Round, Fresh: rec.Usage.Fresh,
		Micros: float64(rec.Usage.Duration.Nanoseconds()) / 1000, Fuel: rec.Usage.Fuel,
	})
}

// promptLine is what a model call did to the prefix of the prompt.
type promptLine struct {
	Type      string `json:"type"`
	Call      int    `json:"call"`
	Messages  int    `json:"messages"`
	Kept      int    `json:"kept"`
	Changed   string `json:"changed,omitempty"` // tools, system, messages
	Cause     string `json:"cause,omitempty"`   // extension, compaction, history, program
	Extension string `json:"extension,omitempty"`
}

func (s *jsonSink) prompt(c engine.PromptChange) {
	_ = s.line(promptLine{"prompt_prefix", c.Call, c.Messages, c.Kept, c.Part.String(), c.Cause.String(), c.Extension}) // told again by the next event
}

// end writes what was held back.
func (s *jsonSink) end(*report) {
	if s.settled != nil {
		_ = s.line(s.settled) // nothing comes after it that could tell
	}
}

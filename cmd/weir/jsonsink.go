package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"weir/agentcore"
	"weir/engine"
)

// jsonSink tells a run to a program: one JSON object a line. The first is the session's header, then the events as they
// occur, with deltas only (reference: docs/json.md, 0.85.0), and between them the answers of extensions as
// "extension_decision".
type jsonSink struct {
	err io.Writer

	mu     sync.Mutex
	w      io.Writer
	failed error
	buf    bytes.Buffer
}

func (s *jsonSink) ask() func(context.Context, []engine.Question) (bool, error) { return nil }

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

func (s *jsonSink) begin(id, cwd string) {
	_ = s.line(struct { // told again by the next event
		Type      string `json:"type"`
		Version   int    `json:"version"`
		ID        string `json:"id"`
		Timestamp string `json:"timestamp"`
		CWD       string `json:"cwd"`
	}{"session", 3, id, time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), cwd})
}

// event implements agentcore.Listener.
func (s *jsonSink) event(_ context.Context, ev agentcore.Event) error {
	switch ev := ev.(type) {
	case *agentcore.MessageUpdate:
		return s.line(newUpdateLine(ev))
	case *agentcore.AgentEnd:
		return s.line(struct {
			Type      string               `json:"type"`
			Messages  []*agentcore.Message `json:"messages"`
			WillRetry bool                 `json:"willRetry"`
		}{"agent_end", ev.Messages, false})
	default:
		return s.line(ev)
	}
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

func (s *jsonSink) end(*report) {
	_ = s.line(struct { // nothing comes after it that could tell
		Type string `json:"type"`
	}{"agent_settled"})
}

package wiretest

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"weir/agentcore"
	"weir/engine/session"
)

// Fixtures runs every fixture of a folder. model is asked; provide makes the provider for a server.
func Fixtures(t *testing.T, update *bool, pattern string, model agentcore.Model, provide func(*Server) agentcore.Provider) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %s: %v", pattern, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			server := Serve(t, string(part(archive, "response")))
			req := Ask(t, model, part(archive, "request"))
			got := Play(t, provide(server), req)
			requests := server.Requests()
			if len(requests) != 1 {
				t.Fatalf("%d requests reached the server: retries belong to the session layer", len(requests))
			}
			changed := compare(t, archive, "want", got, *update)
			if part(archive, "wire") != nil {
				changed = compare(t, archive, "wire", indent(t, requests[0].Body), *update) || changed
			}
			if changed {
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// Flag defines -update for a test package.
func Flag() *bool {
	return flag.Bool("update", false, "rewrite the fixtures' want and wire; commit only if you understand the diff")
}

func part(a *txtar.Archive, name string) []byte {
	for _, f := range a.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

func compare(t *testing.T, a *txtar.Archive, name, got string, update bool) (changed bool) {
	t.Helper()
	diff := cmp.Diff(string(part(a, name)), got)
	if diff == "" {
		return false
	}
	if !update {
		t.Errorf("%s (-fixture +got):\n%s", name, diff)
		return false
	}
	for i := range a.Files {
		if a.Files[i].Name == name {
			a.Files[i].Data = []byte(got)
			return true
		}
	}
	a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(got)})
	return true
}

// Ask makes a request from a fixture's JSON; empty text is a user who says "Hi".
func Ask(t testing.TB, model agentcore.Model, text []byte) *agentcore.Request {
	t.Helper()
	var f struct {
		System   string            `json:"system"`
		Messages []json.RawMessage `json:"messages"`
		Thinking string            `json:"thinking"`
		Input    []string          `json:"input"`
		Tools    []struct {
			Name, Description string
			Parameters        json.RawMessage
		} `json:"tools"`
	}
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte(`{"messages": [{"role": "user", "content": "Hi", "timestamp": 1}]}`)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		t.Fatalf("request: %v", err)
	}
	req := &agentcore.Request{Model: model, SystemPrompt: f.System, ThinkingLevel: agentcore.ThinkingLevel(f.Thinking)}
	if f.Input != nil {
		req.Model.Input = f.Input
	}
	for _, raw := range f.Messages {
		m, err := agentcore.DecodeMessage(raw)
		if err != nil {
			t.Fatalf("request: %v", err)
		}
		req.Messages = append(req.Messages, m)
	}
	for _, tool := range f.Tools {
		req.Tools = append(req.Tools, &agentcore.Tool{Name: tool.Name, Description: tool.Description, Parameters: tool.Parameters})
	}
	return req
}

// Clock is the time of every message in fixtures.
func Clock() time.Time { return time.UnixMilli(1_700_000_000_000) }

// Play makes a request and prints what came of it. It checks what holds for every response: the events are well formed
// and their deltas add up to the message, and the message that is returned is that of the last event.
func Play(t testing.TB, p agentcore.Provider, req *agentcore.Request) string {
	t.Helper()
	var out strings.Builder
	var events []agentcore.AssistantEvent
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	m, err := p.Stream(ctx, req, func(ev agentcore.AssistantEvent) error {
		events = append(events, ev)
		fmt.Fprintln(&out, Line(ev))
		return nil
	})
	if err != nil {
		t.Fatalf("Stream: %v", err)
	}
	Check(t, events, m)
	fmt.Fprintf(&out, "class: %s\n", Class(m, req.Model.ContextWindow))
	raw, err := agentcore.NewMessage(m).JSON()
	if err != nil {
		t.Fatalf("the message has no JSON: %v", err)
	}
	out.WriteString(indent(t, raw))
	return out.String()
}

// Line is one event in a line.
func Line(ev agentcore.AssistantEvent) string {
	line := ev.Type.String()
	switch ev.Type {
	case agentcore.StreamStart:
	case agentcore.StreamDone, agentcore.StreamError:
		line += " " + string(ev.Reason)
	default:
		line += fmt.Sprintf(" %d", ev.ContentIndex)
	}
	if ev.Delta != "" {
		line += fmt.Sprintf(" %q", ev.Delta)
	}
	if ev.Content != "" {
		line += fmt.Sprintf(" content %q", ev.Content)
	}
	if ev.Signature != "" {
		line += fmt.Sprintf(" signature %q", ev.Signature)
	}
	if ev.ToolCall != nil {
		line += fmt.Sprintf(" %s %s %s", ev.ToolCall.ID, ev.ToolCall.Name, ev.ToolCall.Arguments)
	}
	return line
}

// Class is what the session layer will do about a message.
func Class(m *agentcore.AssistantMessage, window int64) string {
	switch {
	case session.Overflow(m, window):
		return "overflow"
	case session.Retryable(m):
		return "transient"
	case m.StopReason == agentcore.StopError:
		return "final"
	default:
		return "good"
	}
}

func indent(t testing.TB, raw []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		t.Fatalf("not JSON: %v: %.200s", err, raw)
	}
	return b.String() + "\n"
}

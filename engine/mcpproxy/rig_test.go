package mcpproxy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"weir/agentcore"
	"weir/engine"
	"weir/engine/mcpproxy"
	"weir/engine/wire"
)

// fake is an engine whose decisions a test makes. A nil function has no objection.
type fake struct {
	call   func(ctx context.Context, ev wire.ToolCallEvent) engine.Decision
	result func(ev wire.ToolResultEvent) (wire.ToolResultEvent, bool)

	mu   sync.Mutex
	seen []string // "call TOOL INPUT" and "result TOOL TEXTS"
}

func (f *fake) saw(words ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = append(f.seen, strings.Join(words, " "))
}

func (f *fake) all() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string{}, f.seen...)
}

func (f *fake) ToolCall(ctx context.Context, ev wire.ToolCallEvent, _ func(json.RawMessage) (json.RawMessage, error)) engine.Decision {
	f.saw("call", ev.ToolName, string(ev.Input))
	if f.call == nil {
		return engine.Decision{Input: ev.Input}
	}
	return f.call(ctx, ev)
}

func (f *fake) ToolResult(_ context.Context, ev wire.ToolResultEvent) (wire.ToolResultEvent, bool) {
	f.saw("result", ev.ToolName, strings.Join(textsOf(ev.Content), "|"), strconv.FormatBool(ev.IsError))
	if f.result == nil {
		return ev, false
	}
	return f.result(ev)
}

func textsOf(blocks []agentcore.Block) []string {
	var list []string
	for _, b := range blocks {
		switch b := b.(type) {
		case *agentcore.TextBlock:
			list = append(list, b.Text)
		case *agentcore.ImageBlock:
			list = append(list, "image "+b.MimeType)
		}
	}
	return list
}

// replaceTexts puts *** for a part of every text of a result.
func replaceTexts(old string) func(wire.ToolResultEvent) (wire.ToolResultEvent, bool) {
	return func(ev wire.ToolResultEvent) (wire.ToolResultEvent, bool) {
		changed := false
		blocks := append([]agentcore.Block{}, ev.Content...)
		for i, b := range blocks {
			if text, ok := b.(*agentcore.TextBlock); ok && strings.Contains(text.Text, old) {
				blocks[i], changed = &agentcore.TextBlock{Text: strings.ReplaceAll(text.Text, old, "***")}, true
			}
		}
		ev.Content = blocks
		return ev, changed
	}
}

// rig is a proxy whose two sides a test plays, line by line.
type rig struct {
	t              *testing.T
	proxy          *mcpproxy.Proxy
	client, server *end
	done           chan error
	mu             sync.Mutex
	notes          []string
}

// end is one side as the test plays it.
type end struct {
	in    io.WriteCloser // what the side says
	lines chan string    // what it gets
}

func (e *end) say(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(e.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

// gets waits for a line.
func (e *end) gets(t *testing.T) string {
	t.Helper()
	select {
	case line, ok := <-e.lines:
		if !ok {
			t.Fatal("the side was closed")
		}
		return line
	case <-time.After(20 * time.Second):
		t.Fatal("no line came")
		return ""
	}
}

func (e *end) want(t *testing.T, line string) {
	t.Helper()
	if got := e.gets(t); got != line {
		t.Errorf("got  %.300s\nwant %.300s", got, line)
	}
}

func newEnd() (e *end, stream mcpproxy.Stream, closing func()) {
	fromSide, in := io.Pipe()
	out, toSide := io.Pipe()
	e = &end{in: in, lines: make(chan string, 1000)}
	go func() {
		defer close(e.lines)
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			e.lines <- strings.TrimSuffix(line, "\n")
		}
	}()
	return e, mcpproxy.Stream{In: fromSide, Out: toSide}, func() {
		_ = in.Close() // pipes of the test: closing them cannot fail
		_ = toSide.Close()
	}
}

func newRig(t *testing.T, e mcpproxy.Engine) *rig {
	t.Helper()
	r := &rig{t: t, done: make(chan error, 1)}
	r.proxy = mcpproxy.New(mcpproxy.Config{
		Server: "srv", Printable: strconv.QuoteToGraphic, Note: func(text string) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.notes = append(r.notes, text)
		},
	})
	var client, server mcpproxy.Stream
	var closeClient, closeServer func()
	r.client, client, closeClient = newEnd()
	r.server, server, closeServer = newEnd()
	ctx, cancel := context.WithCancel(t.Context())
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		r.done <- r.proxy.Run(ctx, e, client, server)
	}()
	t.Cleanup(func() {
		cancel()
		closeClient()
		closeServer()
		<-finished
	})
	return r
}

// ends waits for the end of Run.
func (r *rig) ends() error {
	r.t.Helper()
	select {
	case err := <-r.done:
		return err
	case <-time.After(20 * time.Second):
		r.t.Fatal("Run did not end")
		return errors.New("unreachable")
	}
}

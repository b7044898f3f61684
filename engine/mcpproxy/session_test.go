package mcpproxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"weir/engine"
	"weir/engine/mcpproxy"
	"weir/engine/wire"
)

type readArgs struct {
	Path string `json:"path"`
}

type readResult struct {
	Text string `json:"text"`
}

// newServer is a server from the SDK: read gives a structured result, slow waits to be cancelled, ask uses what the client
// offers, fail is a protocol error.
func newServer(ran *atomic.Int32, cancelled chan<- struct{}) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "files", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "read", Description: "reads"}, func(ctx context.Context, req *mcp.CallToolRequest, in readArgs) (*mcp.CallToolResult, readResult, error) {
		ran.Add(1)
		if token := req.Params.GetProgressToken(); token != nil {
			err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: 1, Message: "half"})
			if err != nil {
				return nil, readResult{}, err
			}
		}
		return nil, readResult{Text: "content of " + in.Path}, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "slow"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
		<-ctx.Done()
		close(cancelled)
		return nil, nil, ctx.Err()
	})
	mcp.AddTool(s, &mcp.Tool{Name: "ask"}, func(ctx context.Context, req *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
		said, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "name?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)})
		if err != nil {
			return nil, nil, err
		}
		text := fmt.Sprintf("%s %v", said.Action, said.Content["name"])
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
	})
	s.AddResource(&mcp.Resource{Name: "r", URI: "file:///r"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return nil, &jsonrpc.Error{Code: -32099, Message: "not now", Data: json.RawMessage(`{"wait":1}`)}
	})
	return s
}

// connect joins a client and a server from the SDK by a proxy.
func connect(t *testing.T, e *fake, server *mcp.Server, client *mcp.Client, version string) *mcp.ClientSession {
	t.Helper()
	clientOut, proxyOut := io.Pipe() // what the proxy says to the client
	proxyIn, clientIn := io.Pipe()
	serverIn, toServer := io.Pipe()
	fromServer, serverOut := io.Pipe()
	proxy := mcpproxy.New(mcpproxy.Config{Server: "files", Printable: func(s string) string { return s }, Note: func(text string) { t.Log("note:", text) }})
	if e.call == nil {
		e.call = func(ctx context.Context, ev wire.ToolCallEvent) engine.Decision {
			if !strings.Contains(string(ev.Input), "asked") {
				return engine.Decision{Input: ev.Input}
			}
			ok, err := proxy.Ask(ctx, []engine.Question{{Extension: "x", Title: "sure?", Tool: ev.ToolName, Input: ev.Input}})
			return engine.Decision{Input: ev.Input, Block: !ok || err != nil, Reason: fmt.Sprintf("answer %v, %v", ok, err)}
		}
	}
	done := make(chan error, 1)
	go func() {
		done <- proxy.Run(t.Context(), e, mcpproxy.Stream{In: proxyIn, Out: proxyOut}, mcpproxy.Stream{In: fromServer, Out: toServer})
		_ = toServer.Close() // pipes: closing them cannot fail
		_ = proxyOut.Close()
	}()
	ran := make(chan struct{})
	go func() {
		defer close(ran)
		err := server.Run(t.Context(), &mcp.IOTransport{Reader: serverIn, Writer: serverOut})
		if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, io.EOF) {
			t.Logf("the server: %v", err) // its client hung up
		}
	}()
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: clientOut, Writer: clientIn}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
		select {
		case err := <-done:
			if err != nil && !errors.Is(err, mcpproxy.ErrServerEnded) && !errors.Is(err, context.Canceled) {
				t.Errorf("the proxy: %v", err)
			}
		case <-time.After(20 * time.Second):
			t.Error("the proxy did not end")
		}
		<-ran
	})
	return session
}

func newClient(options *mcp.ClientOptions) *mcp.Client {
	return mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, options)
}

// TestSessionBothWays: requests of the server to the client, which the versions of MCP before 2026-07-28 have, and weir's own
// question among them.
func TestSessionBothWays(t *testing.T) {
	var ran atomic.Int32
	listChanged := make(chan struct{}, 10)
	answer := "accept"
	server := newServer(&ran, make(chan struct{}))
	client := newClient(&mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { listChanged <- struct{}{} },
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			if strings.HasPrefix(r.Params.Message, "x asks: sure?") {
				return &mcp.ElicitResult{Action: answer, Content: map[string]any{"allow": true}}, nil
			}
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}}, nil
		},
	})
	session := connect(t, &fake{}, server, client, "2025-06-18")
	got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask"})
	if err != nil || text(got) != "accept Ada" {
		t.Errorf("ask: %+v, %v", got, err)
	}
	server.RemoveTools("slow")
	select {
	case <-listChanged:
	case <-time.After(10 * time.Second):
		t.Error("the client did not hear that the tools changed")
	}
	for _, answer = range []string{"accept", "decline"} {
		got, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "read", Arguments: readArgs{"asked"}})
		if err != nil || got.IsError != (answer == "decline") {
			t.Errorf("%s: %+v, %v", answer, got, err)
		}
	}
	if ran.Load() != 1 {
		t.Errorf("the tool ran %d times, want once", ran.Load())
	}
}

// TestSession: a client and a server from the SDK, and all that MCP has between them.
func TestSession(t *testing.T) {
	var ran atomic.Int32
	cancelled, progress := make(chan struct{}), make(chan string, 1)
	e := &fake{result: replaceTexts("secret")}
	server := newServer(&ran, cancelled)
	e.call = func(_ context.Context, ev wire.ToolCallEvent) engine.Decision {
		switch {
		case strings.Contains(string(ev.Input), "/etc"):
			return engine.Decision{Block: true, Reason: "not /etc"}
		case strings.Contains(string(ev.Input), "old"):
			return engine.Decision{Input: json.RawMessage(`{"path":"new"}`), Rewritten: []string{"x"}}
		}
		return engine.Decision{Input: ev.Input}
	}
	session := connect(t, e, server, newClient(&mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { progress <- r.Params.Message },
	}), "")
	ctx := t.Context()

	tools, err := session.ListTools(ctx, nil)
	if err != nil || len(tools.Tools) != 3 {
		t.Fatalf("tools %v, %v", tools, err)
	}
	params := &mcp.CallToolParams{Name: "read", Arguments: readArgs{"a secret"}}
	params.SetProgressToken("p")
	got, err := session.CallTool(ctx, params)
	if err != nil || got.IsError {
		t.Fatalf("read: %+v, %v", got, err)
	}
	if d := cmp.Diff(map[string]any{"text": "content of a ***"}, got.StructuredContent); d != "" || text(got) != `{"text":"content of a ***"}` {
		t.Errorf("the result is %v and %q", got.StructuredContent, text(got))
	}
	select {
	case m := <-progress:
		if m != "half" {
			t.Errorf("progress %q", m)
		}
	case <-time.After(10 * time.Second):
		t.Error("no progress came")
	}
	got, err = session.CallTool(ctx, &mcp.CallToolParams{Name: "read", Arguments: readArgs{"/etc/passwd"}})
	if err != nil || !got.IsError || text(got) != "not /etc" || ran.Load() != 1 {
		t.Errorf("blocked: %+v, %v, ran %d", got, err, ran.Load())
	}
	got, err = session.CallTool(ctx, &mcp.CallToolParams{Name: "read", Arguments: readArgs{"old"}})
	if err != nil || text(got) != `{"text":"content of new"}` {
		t.Errorf("rewritten: %+v, %v", got, err)
	}
	_, err = session.CallTool(ctx, &mcp.CallToolParams{Name: "nope"})
	var protocol *jsonrpc.Error
	if !errors.As(err, &protocol) || protocol.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("an unknown tool: %v", err)
	}
	_, err = session.ReadResource(ctx, &mcp.ReadResourceParams{URI: "file:///r"})
	if !errors.As(err, &protocol) || protocol.Code != -32099 || string(protocol.Data) != `{"wait":1}` {
		t.Errorf("an error of the server: %v", err)
	}
	short, cancel := context.WithCancel(ctx)
	time.AfterFunc(200*time.Millisecond, cancel)
	if _, err := session.CallTool(short, &mcp.CallToolParams{Name: "slow"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	select {
	case <-cancelled:
	case <-time.After(10 * time.Second):
		t.Error("the server did not hear of the cancellation")
	}
	want := []string{
		`call mcp__files__read {"path":"a secret"}`, `result mcp__files__read {"text":"content of a secret"}|{"text":"content of a secret"} false`,
		`call mcp__files__read {"path":"/etc/passwd"}`,
		`call mcp__files__read {"path":"old"}`, `result mcp__files__read {"text":"content of new"}|{"text":"content of new"} false`,
		`call mcp__files__nope {}`,
	}
	if d := cmp.Diff(want, e.all()[:len(want)]); d != "" {
		t.Errorf("the set saw (-want +got)\n%s", d)
	}
}

func text(r *mcp.CallToolResult) string {
	var list []string
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			list = append(list, t.Text)
		}
	}
	return strings.Join(list, "|")
}

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serveFiles is the MCP server that the tests run as a process, made with the SDK: read returns a made-up content, exit ends
// the process in the middle of the call.
func serveFiles() {
	type args struct {
		Path string `json:"path"`
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "files", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "read"}, func(_ context.Context, _ *mcp.CallToolRequest, in args) (*mcp.CallToolResult, any, error) {
		fmt.Fprintf(os.Stderr, "reading \x1b[2J%s\n", in.Path)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "content of " + in.Path + "\nAPI_TOKEN=zq81xK77bQmw92LpRt\n"}}}, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "exit"}, func(context.Context, *mcp.CallToolRequest, any) (*mcp.CallToolResult, any, error) {
		os.Exit(3)
		return nil, nil, nil
	})
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestMCPProcesses: a client of the SDK runs weir mcp, which runs a server of the SDK, with real extensions in between.
func TestMCPProcesses(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	weir, server := filepath.Join(dir, "weir"), filepath.Join(dir, "mcp-files")
	for _, name := range []string{weir, server} {
		if err := os.Symlink(self, name); err != nil {
			t.Skip(err) // the test's binary is told by its name which program to be
		}
	}
	work := t.TempDir()
	cmd := exec.Command(weir, "mcp", "-e", "bundled:guard-paths", "-e", "bundled:redact-secrets", "--name", "files", "--", server)
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+work, "WEIR_CACHE_DIR="+filepath.Join(dir, "cache"))
	var said strings.Builder
	cmd.Stderr = &said
	ctx := t.Context()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil).Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	tools, err := session.ListTools(ctx, nil)
	if err != nil || len(tools.Tools) != 2 {
		t.Fatalf("tools: %+v, %v", tools, err)
	}
	text := func(r *mcp.CallToolResult) string { return r.Content[0].(*mcp.TextContent).Text }
	got, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "read", Arguments: map[string]string{"path": "notes.md"}})
	if err != nil || got.IsError || !strings.HasPrefix(text(got), "content of notes.md\nAPI_TOKEN=") || strings.Contains(text(got), "zq81xK77bQmw92LpRt") {
		t.Errorf("a harmless call: %+v, %v", got, err)
	}
	got, err = session.CallTool(ctx, &mcp.CallToolParams{Name: "read", Arguments: map[string]string{"path": "/etc/shadow"}})
	if err != nil || !got.IsError || !strings.Contains(text(got), "guard-paths") {
		t.Errorf("a call out of the workspace: %+v, %v", got, err)
	}
	if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "exit"}); err == nil || !strings.Contains(err.Error(), "the MCP server ended") {
		t.Errorf("a server that ends: %v", err)
	}
	if err := session.Close(); err == nil || cmd.ProcessState.ExitCode() != exitFailed {
		t.Errorf("weir ended with %v (%v)", cmd.ProcessState, err)
	}
	for _, want := range []string{`reading \x1b[2Jnotes.md` + "\n", "the MCP server " + server + " ended before the client did: exit status 3\n"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("standard error lacks %q:\n%s", want, said.String())
		}
	}
	if strings.Contains(said.String(), "/etc/shadow") {
		t.Error("the blocked call reached the server")
	}
}

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"weir/engine"
	"weir/engine/facts"
	"weir/engine/mcpproxy"
	"weir/engine/wire"
	"weir/extensions"
)

// mcpFlags are the flags of `mcp`.
type mcpFlags struct {
	set, name string
	modules   []string
}

func newMCP(s streams) *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp [flags] -- COMMAND [ARGUMENT]...",
		Short: "Put a set in front of an MCP server",
		Long: "Runs an MCP server that talks over standard input and output, and stands between it and the client: every tool call and every\n" +
			"result is put to the set; everything else goes through untouched. In the client's configuration, weir mcp takes the place of\n" +
			"the server's command.\n\n" +
			"A blocked call is answered with a tool result that is an error and holds the reason, so that the model reads it. What the set\n" +
			"asks about is put to the client's person, where the client can (elicitation); otherwise it is blocked, and so is every call\n" +
			"that weir cannot decide about. Extensions know the tools as mcp__NAME__TOOL.\n\n" +
			"The exit code is 0 when the client ended, 1 when the server did or a connection broke, 2 when the set or the server does not start.",
		Example: "  weir mcp --set weir.toml --name files -- npx -y @modelcontextprotocol/server-filesystem /data",
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() != 0 || len(args) == 0 {
				return usageError(errors.New("the server's command is missing; write it after --, as in: weir mcp --set weir.toml -- COMMAND"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), s, args)
		},
	}
	cmd.Flags().StringVar(&f.set, "set", "", "extension set, instead of the user's (never of the managed one)")
	cmd.Flags().StringArrayVarP(&f.modules, "extension", "e", nil, "a module to load after the set: a .wasm file or bundled:NAME; repeatable")
	cmd.Flags().StringVar(&f.name, "name", "", "the server's name in the names of its tools (default: that of its command)")
	return cmd
}

func (f *mcpFlags) run(ctx context.Context, s streams, command []string) (err error) {
	name, err := f.serverName(command[0])
	if err != nil {
		return err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return usageError(err)
	}
	x, err := openSet(f.set, f.modules)
	if err != nil {
		return err
	}
	if len(x.Extensions) == 0 {
		return usageError(errors.New("no set applies here and none was named: give one with --set FILE, or a module with -e MODULE"))
	}
	host, err := newHost(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, host.Close(context.WithoutCancel(ctx))) }()
	proxy := mcpproxy.New(mcpproxy.Config{
		Server: name, Printable: printable, Note: func(text string) { fmt.Fprintf(s.err, "weir mcp: %s\n", oneLine(text, 400)) },
	})
	e, err := engine.Open(ctx, engine.Config{
		Host: host, Set: x, Bundled: extensions.Bundled, SessionID: newID(), CWD: cwd, Mode: wire.ModeJSON,
		Facts: facts.Config{Own: ownFiles()}, Ask: proxy.Ask,
	})
	if err != nil {
		return usageError(err)
	}
	defer func() { err = errors.Join(err, e.Close(context.WithoutCancel(ctx))) }()
	child, err := startServer(s.err, command)
	if err != nil {
		return usageError(fmt.Errorf("the MCP server %s does not start: %w", printable(command[0]), err))
	}
	ran := proxy.Run(ctx, e, mcpproxy.Stream{In: s.in, Out: s.out}, mcpproxy.Stream{In: child.out, Out: child.in})
	ended := child.stop()
	switch {
	case ran == nil:
		return nil
	case errors.Is(ran, mcpproxy.ErrServerEnded):
		return failed(fmt.Errorf("the MCP server %s ended before the client did: %s", printable(command[0]), ended))
	case ctx.Err() != nil:
		return &silentError{exitFailed} // interrupted
	}
	return failed(ran)
}

// serverName is what the server is called in the names of its tools.
func (f *mcpFlags) serverName(command string) (string, error) {
	valid := regexp.MustCompile(`^[A-Za-z0-9.-]+(_[A-Za-z0-9.-]+)*$`)
	name := f.name
	if name == "" {
		name = strings.TrimSuffix(filepath.Base(command), ".exe")
	}
	if !valid.MatchString(name) || len(name) > 64 {
		return "", usageError(fmt.Errorf("%q cannot be the server's name: it is letters, digits, dots, dashes and single underscores, at most 64; give one with --name", name))
	}
	return name, nil
}

// server is a running MCP server.
type server struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *os.File
	exited chan struct{}
	err    error // of its exit, once exited is closed
}

// What a server has to end by itself, and then after SIGTERM; and how long what it wrote last is read after its exit.
const (
	closeGrace     = 5 * time.Second
	terminateGrace = 2 * time.Second
	drainGrace     = time.Second
)

// startServer runs a command with its standard error going to errOut, harmless for a terminal.
func startServer(errOut io.Writer, command []string) (*server, error) {
	out, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c := &server{cmd: exec.Command(command[0], command[1:]...), out: out, exited: make(chan struct{})}
	said := &printableLines{w: errOut}
	c.cmd.Stdout, c.cmd.Stderr, c.cmd.WaitDelay = write, said, drainGrace
	if c.in, err = c.cmd.StdinPipe(); err == nil {
		err = c.cmd.Start()
	}
	if err = errors.Join(err, write.Close()); err != nil {
		return nil, errors.Join(err, out.Close())
	}
	go func() {
		c.err = c.cmd.Wait()
		said.flush()
		close(c.exited)
		// A process that it left behind may hold the pipe open.
		time.AfterFunc(drainGrace, func() { _ = out.Close() }) // closed twice at most
	}()
	return c, nil
}

// stop ends the server as MCP says: its input is closed, then it is told to end, then it is killed. It returns how it ended.
func (c *server) stop() string {
	_ = c.in.Close() // a broken pipe means that it has gone
	for _, step := range []struct {
		wait time.Duration
		next os.Signal
	}{{closeGrace, syscall.SIGTERM}, {terminateGrace, os.Kill}, {terminateGrace, nil}} {
		select {
		case <-c.exited:
			_ = c.out.Close() // closed twice at most
			if c.err != nil {
				return c.err.Error()
			}
			return "exit status 0"
		case <-time.After(step.wait):
		}
		if step.next != nil {
			if err := c.cmd.Process.Signal(step.next); err != nil && !errors.Is(err, os.ErrProcessDone) {
				_ = c.cmd.Process.Kill() // where SIGTERM cannot be sent; the next round waits for it
			}
		}
	}
	return "it could not be ended"
}

// printableLines writes text on, line by line, harmless for a terminal.
type printableLines struct {
	w    io.Writer
	rest []byte
}

func (p *printableLines) Write(b []byte) (int, error) {
	const longest = 64 << 10 // of a line; a longer one is broken
	p.rest = append(p.rest, b...)
	for {
		advance, line, err := bufio.ScanLines(p.rest, len(p.rest) > longest)
		if err != nil {
			return 0, err
		}
		if advance == 0 {
			return len(b), nil
		}
		if _, err := fmt.Fprintln(p.w, printable(string(line))); err != nil {
			return 0, err
		}
		p.rest = p.rest[advance:]
	}
}

// flush writes a last line that has no end.
func (p *printableLines) flush() {
	if len(p.rest) > 0 {
		fmt.Fprintln(p.w, printable(string(p.rest)))
		p.rest = nil
	}
}

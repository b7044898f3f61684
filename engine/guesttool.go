package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"weir/agentcore"
	"weir/engine/set"
	"weir/engine/wire"
	"weir/wasmhost"
)

// Tools are the tools that the extensions bring, in the order of the set. Their calls pass through the same chains as those
// of any other tool. What a guest reports while it runs is streamed; what goes wrong in it becomes an error result that names
// the extension and the fault. Extensions that only monitor bring none. After a reload a tool calls its extension as it is then, and
// fails when that is gone, or takes other arguments than the model was told; see [Reloaded].
func (e *Engine) Tools() []*agentcore.Tool {
	var tools []*agentcore.Tool
	for x := range e.lineup.Load().bringers() {
		for i := range x.tools {
			tools = append(tools, e.guestTool(x.name, &x.tools[i]))
		}
	}
	return tools
}

// Command is a command that an extension brings.
type Command struct {
	Extension   string
	Name        string
	Description string
	// Run runs it and returns what it has to say to the user; "" is nothing.
	Run func(ctx context.Context, args string) (message string, err error)
}

// Commands are the commands that the extensions bring, in the order of the set. Two may have one name. Extensions that only
// monitor bring none. For a reload the same holds as for [Engine.Tools].
func (e *Engine) Commands() []Command {
	var commands []Command
	for x := range e.lineup.Load().bringers() {
		for _, spec := range x.commands {
			commands = append(commands, Command{
				Extension: x.name, Name: spec.Name, Description: spec.Description,
				Run: func(ctx context.Context, args string) (string, error) {
					return e.runCommand(ctx, x.name, spec.Name, args)
				},
			})
		}
	}
	return commands
}

// toolGone is what a call of a tool is answered with that an extension brought and, since a reload, brings no longer.
func toolGone(extension, tool string) string {
	return fmt.Sprintf("the extension %s, which brought the tool %s, was reloaded and brings it no longer", extension, tool)
}

func (e *Engine) guestTool(extension string, spec *wire.ToolSpec) *agentcore.Tool {
	return &agentcore.Tool{
		Name: spec.Name, Label: spec.Label, Description: spec.Description, Parameters: spec.Parameters, ExecutionMode: spec.ExecutionMode,
		Execute: func(ctx context.Context, callID string, args json.RawMessage, update func(*agentcore.ToolResult)) (*agentcore.ToolResult, error) {
			l := e.enter()
			defer e.leave(ctx, l)
			x := l.guest(extension, func(x *guestExtension) bool {
				return slices.ContainsFunc(x.tools, func(t wire.ToolSpec) bool { return t.Name == spec.Name })
			})
			if x == nil {
				return nil, errors.New(toolGone(extension, spec.Name))
			}
			if i := slices.IndexFunc(x.tools, func(t wire.ToolSpec) bool { return t.Name == spec.Name }); !bytes.Equal(x.tools[i].Parameters, spec.Parameters) {
				return nil, fmt.Errorf("the extension %s was reloaded since this call was made, and its tool %s takes other arguments now; see its description and call it again", extension, spec.Name)
			}
			w := x.pool.Get().(*encoding)
			defer x.pool.Put(w)
			w.buf = w.enc.AppendToolExecute(w.buf[:0], e.moment(), spec.Name, callID, args)
			input := wasmhost.Input{Bytes: w.buf, Timeout: x.toolTimeout, Update: func(_ context.Context, partial []byte) {
				result, err := wire.ParseToolExecute(partial)
				if err != nil {
					// It is no result yet, so the call goes on.
					e.logger.Warn("a tool reported something that is no result", "extension", x.name, "tool", spec.Name, "error", err)
					return
				}
				update(&agentcore.ToolResult{Content: result.Content, Details: result.Details})
			}}
			var result wire.ToolExecuteResult
			_, err := x.guest.Call(ctx, wire.ExportToolExecute, input, func(out []byte) (err error) {
				result, err = wire.ParseToolExecute(out)
				return err
			})
			if err != nil {
				return nil, err
			}
			if result.IsError {
				return nil, &ToolError{Extension: x.name, Tool: spec.Name, Text: resultText(result.Content)}
			}
			return &agentcore.ToolResult{Content: result.Content, Details: result.Details, Terminate: result.Terminate}, nil
		},
	}
}

// ToolError is a result of a guest's tool that says isError. Its text is all that is kept of it.
type ToolError struct {
	Extension, Tool string
	Text            string
}

// Error implements error: what the model reads.
func (e *ToolError) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("%s: the tool %s failed without saying why", e.Extension, e.Tool)
	}
	return e.Text
}

func resultText(blocks []agentcore.Block) string {
	var parts []string
	for _, b := range blocks {
		if t, ok := b.(*agentcore.TextBlock); ok {
			parts = append(parts, t.Text)
		}
	}
	return strings.Join(parts, "\n")
}

func (e *Engine) runCommand(ctx context.Context, extension, name, args string) (message string, err error) {
	l := e.enter()
	defer e.leave(ctx, l)
	x := l.guest(extension, func(x *guestExtension) bool {
		return slices.ContainsFunc(x.commands, func(c wire.CommandSpec) bool { return c.Name == name })
	})
	if x == nil {
		return "", fmt.Errorf("the extension %s, which brought the command /%s, was reloaded and brings it no longer", extension, name)
	}
	w := x.pool.Get().(*encoding)
	defer x.pool.Put(w)
	w.buf = w.enc.AppendCommandExecute(w.buf[:0], e.moment(), name, args)
	_, err = x.guest.Call(ctx, wire.ExportCommandExecute, wasmhost.Input{Bytes: w.buf, Timeout: x.toolTimeout}, func(out []byte) (err error) {
		message, err = wire.ParseCommandExecute(out)
		return err
	})
	return message, err
}

// defaultToolTimeout is the default of the set key tool_timeout (ABI section 14).
const defaultToolTimeout = time.Minute

// entries are the exports of a module that are called: hooks, and what decisions, tools and commands need. The error says that one is
// missing.
func entries(d *wire.Describe, check func(export string) error) ([]string, error) {
	names := d.HookNames()
	decisions := 0
	if d.Decisions != nil {
		decisions = 1
	}
	for _, need := range []struct {
		export, what string
		count        int
	}{{wire.ExportDecision, "decisions", decisions}, {wire.ExportToolExecute, "tools", len(d.Tools)}, {wire.ExportCommandExecute, "commands", len(d.Commands)}} {
		if need.count == 0 {
			continue
		}
		if err := check(need.export); err != nil {
			return nil, fmt.Errorf("weir_describe names %s: %w", need.what, err)
		}
		names = append(names, need.export)
	}
	return names, nil
}

// checkTools refuses a set in which two extensions bring a tool of one name, or one brings a tool of the program's: calls of it could
// not be told apart.
func checkTools(s *set.Set, members []*member, programs []string) error {
	owner := map[string]string{}
	var errs []error
	for i, m := range members {
		x, ok := m.ext.(*guestExtension)
		if !ok || m.monitor {
			continue
		}
		for _, tool := range x.tools {
			first, twice := owner[tool.Name]
			var text string
			switch {
			case slices.Contains(programs, tool.Name):
				text = fmt.Sprintf("extension %q brings the tool %q, which the program has itself", x.name, tool.Name)
			case twice:
				text = fmt.Sprintf("extension %q brings the tool %q, which %q brings already", x.name, tool.Name, first)
			default:
				owner[tool.Name] = x.name
				continue
			}
			if s != nil && i < len(s.Extensions) {
				errs = append(errs, s.Extensions[i].At("module").Error("extension.module", text, "calls of it could not be told apart; leave this extension out"))
				continue
			}
			errs = append(errs, errors.New(text))
		}
	}
	return errors.Join(errs...)
}

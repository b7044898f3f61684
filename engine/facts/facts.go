package facts

import (
	"encoding/json"
	"sync"

	"weir/agentcore"
	"weir/engine/wire"
)

// Kind is a set of kinds of facts.
type Kind uint8

// The kinds, by their names in weir_describe.
const (
	KindShell Kind = 1 << iota
	KindPaths
	KindNet
	KindSecrets
)

// ParseKinds gives the kinds that the names stand for. Names that are not known count as none: wire refused them already.
func ParseKinds(names []string) Kind {
	var k Kind
	for _, n := range names {
		switch n {
		case "shell":
			k |= KindShell
		case "paths":
			k |= KindPaths
		case "net":
			k |= KindNet
		case "secrets":
			k |= KindSecrets
		}
	}
	return k
}

// Config says what the facts are told against.
type Config struct {
	// Workspace is the folder that the tools work in, absolute. "" is not a workspace: then no path is inside, and relative
	// ones cannot be resolved.
	Workspace string
	// Home is the user's home folder, which ~ and $HOME stand for; "" leaves them unknown.
	Home string
	// Own are files and folders of weir itself, absolute: sets in use, modules, settings, cache.
	Own []string
}

// Computer computes facts. Safe for concurrent use.
type Computer struct {
	cfg     Config
	own     []string // Own with symbolic links resolved, and as given
	root    string   // the workspace with symbolic links resolved
	parsers parsers
	once    sync.Once
	table   *[128][]format // made at the first use
}

// New returns a Computer. The disk is read: links in cfg's paths are resolved once, here.
func New(cfg Config) *Computer {
	c := &Computer{cfg: cfg}
	c.resolveConfig()
	return c
}

// Event holds the facts of one event, each computed at its first use. It serves one goroutine at a time.
type Event struct {
	c       *Computer
	tool    string
	input   json.RawMessage
	content []agentcore.Block
	result  bool

	args   arguments
	shell  *Shell
	parsed bool
	raw    [4]json.RawMessage
	made   [1 << 4]json.RawMessage // by the kinds asked for
}

// ToolCall starts the facts of a tool call. input is the arguments, which must not change as long as the Event is used.
func (c *Computer) ToolCall(tool string, input json.RawMessage) *Event {
	return &Event{c: c, tool: tool, input: input}
}

// ToolResult starts the facts of a tool result; the other kinds are those of the call's arguments.
func (c *Computer) ToolResult(tool string, input json.RawMessage, content []agentcore.Block) *Event {
	return &Event{c: c, tool: tool, input: input, content: content, result: true}
}

// JSON gives the facts of the kinds as an object, nil when none is asked for. The caller must not change the bytes.
func (e *Event) JSON(kinds Kind) json.RawMessage {
	kinds &= 1<<4 - 1
	if kinds == 0 {
		return nil
	}
	if e.made[kinds] != nil {
		return e.made[kinds]
	}
	b := []byte{'{'}
	for i, name := range wire.FactNames() {
		if kinds&(1<<i) == 0 {
			continue
		}
		if e.raw[i] == nil {
			e.raw[i] = e.compute(Kind(1 << i))
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, name...)
		b = append(b, `":`...)
		b = append(b, e.raw[i]...)
	}
	e.made[kinds] = append(b, '}')
	return e.made[kinds]
}

func (e *Event) compute(k Kind) json.RawMessage {
	switch k {
	case KindShell:
		return e.Shell().appendJSON(nil)
	case KindPaths:
		return e.Paths().appendJSON(nil)
	case KindNet:
		return e.Net().appendJSON(nil)
	default:
		return e.Secrets().appendJSON(nil)
	}
}

// Shell gives the facts of the command, for a tool with an argument named command that is text. Other tools run no shell
// text, which is understood.
func (e *Event) Shell() *Shell {
	if e.shell != nil {
		return e.shell
	}
	command, ok := e.arguments().text("command")
	if !ok {
		e.shell = &Shell{Understood: true}
		return e.shell
	}
	e.shell = e.c.shellFacts(command)
	return e.shell
}

func (e *Event) arguments() arguments {
	if !e.parsed {
		e.parsed = true
		e.args = parseArguments(e.input)
	}
	return e.args
}

package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"weir/agentcore"
	"weir/engine/wire"
)

// BashOptions say how a command of the user is run.
type BashOptions struct {
	// ID is told with each piece of output.
	ID string
	// ExcludeFromContext keeps the command from the model ("!!").
	ExcludeFromContext bool
	// OnChunk gets the output as it comes; nil drops it.
	OnChunk func(text string)
	// Operations run the command; nil takes Config.Bash.
	Operations wire.BashOperations
}

// BashResult is what became of a command. ExitCode is nil when it is not known, as for one that was cancelled.
type BashResult struct {
	Output         string `json:"output"`
	ExitCode       *int   `json:"exitCode,omitempty"`
	Cancelled      bool   `json:"cancelled"`
	Truncated      bool   `json:"truncated"`
	FullOutputPath string `json:"fullOutputPath,omitempty"`
}

// How much of an output is kept, from its end: the limits of the reference's bash tool.
const (
	maxOutputBytes = 50 << 10
	maxOutputLines = 2000
)

// ErrNoBash says that the session runs no commands.
var ErrNoBash = errors.New("this session cannot run commands: no shell is configured")

// UserBash is what the user's "!command" does: extensions may answer it, change it or run it elsewhere; otherwise the session runs
// it. Errors as for [Session.ExecuteBash].
func (s *Session) UserBash(ctx context.Context, command string, opts BashOptions) (*BashResult, error) {
	out, err := ask[wire.UserBashOutcome](ctx, s.cfg.Extensions, wire.UserBashEvent{
		Command: command, ExcludeFromContext: opts.ExcludeFromContext, CWD: s.cwd,
	})
	if err != nil {
		return nil, fmt.Errorf("the command was refused: %w", err)
	}
	if out != nil {
		if r := out.Result.Result; r != nil {
			result := &BashResult{Output: r.Output, ExitCode: r.ExitCode, Cancelled: r.Cancelled, Truncated: r.Truncated}
			return result, s.recordBash(command, result, opts.ExcludeFromContext)
		}
		if out.Result.Command != "" {
			command = out.Result.Command
		}
		if out.Result.Operations != nil {
			opts.Operations = out.Result.Operations
		}
	}
	return s.ExecuteBash(ctx, command, opts)
}

// ExecuteBash runs a command and adds it to the conversation: at once or, during a run, when that has settled. A command that
// cannot be run is an error and leaves nothing; one that was aborted is a result.
func (s *Session) ExecuteBash(ctx context.Context, command string, opts BashOptions) (*BashResult, error) {
	run := opts.Operations
	if run == nil {
		run = s.cfg.Bash
	}
	if run == nil {
		return nil, ErrNoBash
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.mu.Lock()
	s.commands[&cancel] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.commands, &cancel)
	}()
	shell := command
	if s.cfg.ShellPrefix != "" {
		shell = s.cfg.ShellPrefix + "\n" + command
	}
	out := &output{session: s, opts: opts}
	code, err := run.Exec(ctx, shell, s.cwd, out.write)
	result := &BashResult{Cancelled: ctx.Err() != nil}
	result.Output, result.Truncated = out.tail()
	switch {
	case result.Cancelled:
	case err != nil:
		return nil, err
	case out.failed != nil:
		return nil, out.failed
	default:
		result.ExitCode = &code
	}
	return result, s.recordBash(command, result, opts.ExcludeFromContext)
}

// AbortBash ends the commands that run.
func (s *Session) AbortBash() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for cancel := range s.commands {
		(*cancel)(agentcore.ErrAborted)
	}
}

// recordBash adds a command to the conversation, or keeps it until the run has settled.
func (s *Session) recordBash(command string, r *BashResult, exclude bool) error {
	at := s.now().UnixMilli()
	m, err := opaque(RoleBashExecution, at, struct {
		Role           agentcore.Role `json:"role"`
		Command        string         `json:"command"`
		Output         string         `json:"output"`
		ExitCode       *int           `json:"exitCode,omitempty"`
		Cancelled      bool           `json:"cancelled"`
		Truncated      bool           `json:"truncated"`
		FullOutputPath string         `json:"fullOutputPath,omitempty"`
		Timestamp      int64          `json:"timestamp"`
		Exclude        *bool          `json:"excludeFromContext,omitempty"`
	}{RoleBashExecution, command, r.Output, r.ExitCode, r.Cancelled, r.Truncated, r.FullOutputPath, at, excluded(exclude)})
	if err != nil {
		return err
	}
	s.mu.Lock()
	if s.active {
		s.shell = append(s.shell, m)
		s.mu.Unlock()
		return nil
	}
	s.mu.Unlock()
	return s.addCommand(m)
}

func excluded(exclude bool) *bool {
	if !exclude {
		return nil
	}
	return &exclude
}

func (s *Session) addCommand(m *agentcore.Message) error {
	s.appendToTranscript(m)
	raw, err := m.JSON()
	if err != nil {
		return err
	}
	_, err = s.store.Append(EntryMessage, &EntryData{Message: json.RawMessage(raw)})
	return err
}

// flushCommands adds the commands that waited for the end of the run.
func (s *Session) flushCommands() error {
	s.mu.Lock()
	shell := s.shell
	s.shell = nil
	s.mu.Unlock()
	var errs []error
	for _, m := range shell {
		errs = append(errs, s.addCommand(m))
	}
	return errors.Join(errs...)
}

// escapes are terminal control sequences: CSI, OSC, and the two-byte ones (ECMA-48).
var escapes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[@-Z\\\\^_])")
})

// output collects what a command writes.
type output struct {
	session *Session
	opts    BashOptions

	mu     sync.Mutex
	part   []byte // bytes of a character that is not complete
	text   strings.Builder
	cut    bool
	failed error // of a subscriber
}

// write takes a piece as it comes, cleaned of control sequences and carriage returns, and passes it on.
func (o *output) write(data []byte) {
	o.mu.Lock()
	data = append(o.part, data...)
	whole := len(data)
	for back := 1; back < utf8.UTFMax && back <= len(data); back++ {
		if b := data[len(data)-back]; utf8.RuneStart(b) {
			if !utf8.FullRune(data[len(data)-back:]) {
				whole = len(data) - back
			}
			break
		}
	}
	o.part = append([]byte(nil), data[whole:]...)
	text := escapes().ReplaceAllString(strings.ToValidUTF8(string(data[:whole]), "\uFFFD"), "")
	text = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r >= ' ' && r != 0x7f {
			return r
		}
		return -1
	}, text)
	o.keep(text)
	o.mu.Unlock()
	if o.opts.OnChunk != nil {
		o.opts.OnChunk(text)
	}
	if err := o.session.emit(&BashExecutionUpdate{ID: o.opts.ID, Delta: text}); err != nil {
		o.mu.Lock()
		o.failed = err
		o.mu.Unlock()
	}
}

// keep bounds what is held of an output that does not end.
func (o *output) keep(text string) {
	if o.text.Len()+len(text) > 4*maxOutputBytes {
		held := o.text.String()
		held = held[max(0, len(held)-2*maxOutputBytes):]
		o.text.Reset()
		o.text.WriteString(held)
		o.cut = true
	}
	o.text.WriteString(text)
}

// tail is the end of the output, in whole lines where it is cut.
func (o *output) tail() (text string, truncated bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	text = o.text.String()
	truncated = o.cut
	if len(text) > maxOutputBytes {
		text, truncated = text[len(text)-maxOutputBytes:], true
		if _, rest, ok := strings.Cut(text, "\n"); ok && rest != "" {
			text = rest
		}
		text = strings.ToValidUTF8(text, "")
	}
	lines := strings.SplitAfter(text, "\n")
	if n := len(lines); n > maxOutputLines {
		if lines[n-1] == "" {
			n--
		}
		if n > maxOutputLines {
			return strings.Join(lines[n-maxOutputLines:], ""), true
		}
	}
	return text, truncated
}

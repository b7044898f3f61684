package session

import (
	"context"
	"errors"
	"fmt"

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
	t := &task{cancel}
	s.mu.Lock()
	s.commands[t] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.commands, t)
	}()
	shell := command
	if s.cfg.ShellPrefix != "" {
		shell = s.cfg.ShellPrefix + "\n" + command
	}
	out := &output{session: s, opts: opts}
	code, err := run.Exec(ctx, shell, s.cwd, out.write)
	result, failed := out.finish()
	result.Cancelled = ctx.Err() != nil
	switch {
	case result.Cancelled:
	case err != nil || failed != nil:
		return nil, errors.Join(err, failed)
	default:
		result.ExitCode = &code
	}
	return result, s.recordBash(command, result, opts.ExcludeFromContext)
}

// AbortBash ends the commands that run.
func (s *Session) AbortBash() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for t := range s.commands {
		t.cancel(agentcore.ErrAborted)
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
	raw, err := m.JSON()
	if err != nil {
		return err
	}
	s.agree.Lock()
	defer s.agree.Unlock()
	s.appendToTranscript(m)
	_, err = s.store.Append(EntryMessage, &EntryData{Message: raw})
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

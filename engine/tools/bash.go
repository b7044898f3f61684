package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"time"

	"weir/agentcore"
)

const (
	// maxTimeoutSeconds is the longest time-out that is accepted. Reference: dist/core/tools/bash.js, 0.85.0.
	maxTimeoutSeconds = math.MaxInt32 / 1000.0
	// defaultDrainIdle is how long the pipe of a command that has ended may be silent before it is given up: a process in the
	// background may hold it open for ever. Reference: dist/utils/child-process.js, 0.85.0.
	defaultDrainIdle = 100 * time.Millisecond
	// drainMax ends the reading after the command's end even if a process in the background goes on printing.
	drainMax = 5 * time.Second
	// killWait is how long a killed command may take to end; one that hangs in the kernel is left behind.
	killWait = 5 * time.Second
)

// CommandError is a bash command that did not succeed. Its text is what the model gets: the output, then the reason.
type CommandError struct {
	// Output is what the command printed, cut like a result, with the note about the cut.
	Output string
	// Reason is the last line, such as "the command exited with code 1".
	Reason string
	// ExitCode is the command's exit code; -1 when it has none (killed, never started).
	ExitCode int
	// Err is the cause: the context's error when the run was aborted, context.DeadlineExceeded for a time-out, an
	// *exec.ExitError for a code or a signal.
	Err error
}

// Error is the output and the reason.
func (e *CommandError) Error() string {
	if e.Output == "" {
		return e.Reason
	}
	return strings.TrimSuffix(e.Output, "\n") + "\n\n" + e.Reason
}

// Unwrap is Err.
func (e *CommandError) Unwrap() error { return e.Err }

type bashDetails struct {
	Truncation     *truncation `json:"truncation,omitempty"`
	FullOutputPath string      `json:"fullOutputPath,omitempty"`
}

// bashTool runs a shell command. Parameters and limits: dist/core/tools/bash.d.ts, 0.85.0. As there, the text keeps
// carriage returns and escape sequences, standard output and error are one stream, there is no standard input, and no
// time-out unless the call sets one.
func (s *toolset) bashTool() *agentcore.Tool {
	return &agentcore.Tool{
		Name: "bash",
		Description: fmt.Sprintf("Run a command with bash in the working folder and get what it prints (standard output and "+
			"standard error). Only the last %d lines or %s are returned; when something was cut, the result says where the "+
			"whole output is. timeout ends the command, and all it started, after so many seconds.", MaxLines, byteSize(MaxBytes)),
		Parameters: json.RawMessage(`{"type":"object","required":["command"],"properties":{` +
			`"command":{"type":"string","description":"The command line to run"},` +
			`"timeout":{"type":"number","description":"Seconds after which the command is ended; there is no limit without it"}}}`),
		Execute: s.bash,
	}
}

func (s *toolset) bash(ctx context.Context, _ string, raw json.RawMessage, update func(*agentcore.ToolResult)) (*agentcore.ToolResult, error) {
	args, err := parseArguments(raw)
	if err != nil {
		return nil, err
	}
	command, err := args.required("command")
	if err != nil {
		return nil, err
	}
	if err := s.refuseCommand(raw); err != nil {
		return nil, err
	}
	timeout, err := bashTimeout(args)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, &CommandError{Reason: "the command was not started: the run was aborted", ExitCode: -1, Err: ctx.Err()}
	}
	if update == nil {
		update = func(*agentcore.ToolResult) {}
	}
	update(&agentcore.ToolResult{Content: []agentcore.Block{}})

	out := newOutput(!s.withhold("bash"), s.outputDir, s.maxFullOutput)
	reported := int64(0)
	end := s.run(ctx, command, timeout, out, func() {
		part := out.show()
		if part.total == reported {
			return
		}
		reported = part.total
		// The details of a bash result always encode: they hold numbers and a path.
		result, err := textResult(part.text, bashDetailsOf(part))
		if err == nil {
			update(result)
		}
	})

	last := out.show()
	text := last.text
	if last.note != "" {
		text = withNotes(text, []string{last.note})
	}
	if end != nil {
		end.Output = text
		return nil, end
	}
	if text == "" {
		text = "(the command printed nothing)"
	}
	return textResult(text, bashDetailsOf(last))
}

func bashDetailsOf(part shown) any {
	if part.truncation == nil {
		return nil
	}
	return bashDetails{Truncation: part.truncation, FullOutputPath: part.fullPath}
}

// bashTimeout is 0 when the call sets none.
func bashTimeout(args arguments) (time.Duration, error) {
	if !args.has("timeout") {
		return 0, nil
	}
	seconds, err := args.number("timeout", 0)
	if err != nil {
		return 0, err
	}
	if seconds <= 0 || seconds > maxTimeoutSeconds {
		return 0, fmt.Errorf("timeout is %v; it must be more than 0 and at most %v seconds", seconds, maxTimeoutSeconds)
	}
	return time.Duration(seconds * float64(time.Second)), nil
}

// commandOutput takes what a command prints, from one goroutine, and hears of its end.
type commandOutput interface {
	write(p []byte)
	finish()
}

// run executes command until it has ended and all its output was read. It calls report, always from this goroutine, when
// there is new output: at once, then at most every update interval, and once at the end. nil means exit code 0.
func (s *toolset) run(ctx context.Context, command string, timeout time.Duration, out commandOutput, report func()) *CommandError {
	reader, writer, err := os.Pipe()
	if err != nil {
		return &CommandError{Reason: "the command was not started: " + err.Error(), ExitCode: -1, Err: err}
	}
	// Not CommandContext: it kills the shell alone, and what the shell started would live on.
	cmd := exec.Command(s.shell, "-c", command)
	cmd.Dir, cmd.Env = s.cwd, s.env
	cmd.Stdout, cmd.Stderr = writer, writer
	ownGroup(cmd)
	err = cmd.Start()
	// Our copy must go, or the pipe would never end. Nothing was written through it, so that closing cannot lose data.
	_ = writer.Close()
	if err != nil {
		_ = reader.Close() // nothing was read from it
		return &CommandError{Reason: "the command was not started: " + err.Error(), ExitCode: -1, Err: err}
	}

	fresh := make(chan struct{}, 1)
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		buf := make([]byte, 32<<10)
		for {
			n, err := reader.Read(buf)
			if n > 0 {
				out.write(buf[:n])
				select {
				case fresh <- struct{}{}:
				default:
				}
			}
			if err != nil { // io.EOF, or os.ErrClosed when we gave the pipe up
				return
			}
		}
	}()
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()

	end := s.follow(ctx, cmd, timeout, follow{fresh: fresh, drained: drained, exited: exited, report: report})
	// Whoever still holds the other end gets a broken pipe. Data was read up to here; there is nothing to lose.
	_ = reader.Close()
	<-drained
	out.finish()
	report()
	return end
}

// follow is what the goroutines of a running command tell.
type follow struct {
	fresh   <-chan struct{} // there is new output
	drained <-chan struct{} // the pipe has ended
	exited  <-chan error    // the command has ended
	report  func()
}

// follow waits until the command has ended and its pipe is drained or given up; it kills on abort and time-out.
func (s *toolset) follow(ctx context.Context, cmd *exec.Cmd, timeout time.Duration, f follow) *CommandError {
	var deadline, idle, giveUp, quiet <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		deadline = timer.C
	}
	aborted := ctx.Done()
	exited, drained := f.exited, f.drained
	var exit error
	var cause *CommandError
	unreported := false

	kill := func(reason *CommandError) {
		aborted, deadline = nil, nil
		cause = reason
		if err := killGroup(cmd.Process); err != nil {
			cause.Reason += "; ending it did not work: " + err.Error()
		}
		giveUp = time.After(killWait)
	}
	for exited != nil || drained != nil {
		select {
		case <-f.fresh:
			if exited == nil {
				idle = time.After(s.drainIdle)
			}
			if quiet != nil {
				unreported = true
				continue
			}
			f.report()
			quiet = time.After(s.updateInterval)
		case <-quiet:
			quiet = nil
			if unreported {
				unreported = false
				f.report()
				quiet = time.After(s.updateInterval)
			}
		case <-aborted:
			kill(&CommandError{Reason: "the command was aborted", ExitCode: -1, Err: ctx.Err()})
		case <-deadline:
			kill(&CommandError{
				Reason:   fmt.Sprintf("the command timed out after %v seconds", timeout.Seconds()),
				ExitCode: -1, Err: context.DeadlineExceeded,
			})
		case exit = <-exited:
			exited, deadline = nil, nil
			idle, giveUp = time.After(s.drainIdle), time.After(drainMax)
		case <-drained:
			drained = nil
		case <-idle:
			drained = nil
		case <-giveUp:
			if exited != nil {
				cause.Reason += fmt.Sprintf("; process %d did not end", cmd.Process.Pid)
			}
			exited, drained = nil, nil
		}
	}
	if cause != nil {
		return cause
	}
	return exitCause(exit)
}

func exitCause(err error) *CommandError {
	if err == nil {
		return nil
	}
	end := &CommandError{ExitCode: -1, Err: err}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		end.Reason = "waiting for the command: " + err.Error()
	} else if signal := signalOf(exit.ProcessState); signal != "" {
		end.Reason = "the command was ended by a signal: " + signal
	} else {
		end.ExitCode = exit.ExitCode()
		end.Reason = fmt.Sprintf("the command exited with code %d", end.ExitCode)
	}
	return end
}

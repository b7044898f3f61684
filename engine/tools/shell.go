package tools

import (
	"context"
	"errors"
	"os/exec"
)

// Shell runs the commands of the person who uses the agent, with the shell that bash runs those of the model with. It
// implements wire.BashOperations. The zero value is ready. Safe for concurrent use.
type Shell struct {
	// Shell and Env are those of [Config].
	Shell string
	Env   []string
}

// Exec runs command in the folder cwd and gives its output to onData as it comes, one piece after the other; the pieces are
// only valid during the call. When ctx ends, the command and what it started are killed. The exit code is -1 for a command
// that a signal ended. The error says that the command was not started, or was given up: a *CommandError.
func (s Shell) Exec(ctx context.Context, command, cwd string, onData func([]byte)) (int, error) {
	set, err := newToolset(Config{Cwd: cwd, Shell: s.Shell, Env: s.Env})
	if err != nil {
		return -1, err
	}
	end := set.run(ctx, command, 0, pieces(onData), func() {})
	var exit *exec.ExitError
	switch {
	case end == nil:
		return 0, nil
	case errors.As(end, &exit):
		return end.ExitCode, nil
	default:
		return -1, end
	}
}

// pieces passes output on.
type pieces func([]byte)

func (p pieces) write(piece []byte) { p(piece) }
func (pieces) finish()              {}

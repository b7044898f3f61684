package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"

	"weir/engine"
	"weir/engine/agents"
	"weir/engine/facts"
	"weir/engine/wire"
	"weir/extensions"
)

// hookMemory is from how many bytes of memory on `hook` collects garbage.
const hookMemory = 256 << 20

// hookFlags are the flags of `hook`.
type hookFlags struct {
	agent, set string
	modules    []string
	explain    bool
}

func newHook(s streams) *cobra.Command {
	var f hookFlags
	cmd := &cobra.Command{
		Use:   "hook --agent AGENT",
		Short: "Answer a hook of another coding agent with the decision of a set",
		Long: "Reads a hook event of an agent (claude, codex, copilot, crush, cursor or gemini) on standard input, puts it to the set, and\n" +
			"answers as the agent's contract says: on standard output, standard error and with the exit code. `--explain` prints what is\n" +
			"enforced in the agent and what is not; docs/agents says how to install it.\n\n" +
			"Whatever goes wrong (a set that does not load, a faulting extension, an event that cannot be read or is not known, no answer\n" +
			"within 20 s) denies, as far as the agent lets a hook deny.",
		Example: "  weir hook --agent claude -e bundled:guard-shell\n  weir hook --agent codex --explain",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return f.refuse(s, fmt.Errorf("weir hook takes no argument, but was given %q", args[0]))
			}
			return f.hook(cmd.Context(), s)
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return f.refuse(s, fmt.Errorf("%w; see %s --help", err, cmd.CommandPath()))
	})
	cmd.Flags().StringVar(&f.agent, "agent", "", "whose hook it is: claude, codex, copilot, crush, cursor or gemini")
	cmd.Flags().StringVar(&f.set, "set", "", "extension set, instead of the user's (never of the managed one)")
	cmd.Flags().StringArrayVarP(&f.modules, "extension", "e", nil, "a module to load after the set: a .wasm file or bundled:NAME; repeatable")
	cmd.Flags().BoolVar(&f.explain, "explain", false, "print what is enforced in the agent, and what is not")
	return cmd
}

// refuse answers a command line that is wrong: to the agent it must be a denial.
func (f *hookFlags) refuse(s streams, why error) error {
	agent, err := agents.Find(f.agent)
	if err != nil {
		return usageError(why) // exit 2 with a text on standard error is what most agents take for a denial
	}
	return s.give(agent.Fail(why))
}

func (f *hookFlags) hook(ctx context.Context, s streams) error {
	if f.agent == "" {
		return usageError(errors.New("--agent is missing: it is claude, codex, copilot, crush, cursor or gemini"))
	}
	agent, err := agents.Find(f.agent)
	if err != nil {
		return usageError(fmt.Errorf("--agent: %w", err))
	}
	if f.explain {
		if _, err := io.WriteString(s.out, agent.Explain()); err != nil {
			return failed(err)
		}
		return nil
	}
	// One event is answered and the process ends: collecting garbage on the way costs more than it gives back, unless the
	// event is large.
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(hookMemory)
	return s.give(agents.Run(ctx, agents.Config{Agent: agent, Open: f.open}, s.in))
}

// give writes an answer, and makes its exit code this process's.
func (s streams) give(a agents.Answer) error {
	_, errOut := s.out.Write(a.Stdout)
	_, errErr := s.err.Write(a.Stderr)
	switch {
	case a.Exit == exitOK && errOut != nil:
		return usageError(fmt.Errorf("writing the answer: %w", errOut)) // what was to be said on standard output may have been a denial
	case a.Exit == exitOK:
		return nil
	case errErr != nil:
		return &silentError{a.Exit} // there is nowhere left to say it
	}
	return &silentError{a.Exit}
}

// open loads the set for an event.
func (f *hookFlags) open(ctx context.Context, ev *agents.Event) (agents.Engine, func(context.Context) error, error) {
	cwd := ev.CWD
	if cwd == "" || !filepath.IsAbs(cwd) {
		var err error
		if cwd, err = os.Getwd(); err != nil {
			return nil, nil, err
		}
	}
	host, err := newHost(ctx)
	if err != nil {
		return nil, nil, err
	}
	x, _, err := openTrusted(ctx, host, f.set, f.modules, cwd)
	if err == nil && len(x.Extensions) == 0 {
		err = errors.New("no set applies here and none was named: give one with --set FILE, or a module with -e MODULE")
	}
	if err != nil {
		return nil, nil, errors.Join(err, host.Close(ctx))
	}
	e, err := engine.Open(ctx, engine.Config{
		Host: host, Set: x, Bundled: extensions.Bundled, SessionID: ev.Session, CWD: cwd, Mode: wire.ModeJSON,
		Facts: facts.Config{Own: ownFiles()},
		// The agent asks its person, or cannot and then the call is denied.
		Ask: func(context.Context, []engine.Question) (bool, error) { return true, nil },
	})
	if err != nil {
		return nil, nil, errors.Join(err, host.Close(ctx))
	}
	return e, func(ctx context.Context) error { return errors.Join(e.Close(ctx), host.Close(ctx)) }, nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"weir/engine/provider"
	"weir/engine/provider/scripted"
	"weir/engine/session"
	"weir/engine/set"
)

// runFlags are the flags of `run`.
type runFlags struct {
	script, set, cwd, output string
	modules                  []string
}

func newRun(s streams) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [PROMPT]",
		Short: "Run an agent, held by an extension set, over a folder",
		Long: "Runs an agent with real tools (read, bash, edit, write, grep, find, ls) in a folder. Its tool calls, tool\n" +
			"results and context pass through the extensions of the set. The model is a script (--script).\n\n" +
			"Without PROMPT the prompt is read from standard input.",
		Example: "  weir run --script script.toml --set weir.toml \"tidy up\"\n  weir run --script script.toml -e bundled:guard-shell --output json \"tidy up\"",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), s, args)
		},
	}
	cmd.Flags().StringVar(&f.script, "script", "", "file with the model's responses")
	cmd.Flags().StringVar(&f.set, "set", "", "extension set, instead of the user's (never of the managed one)")
	cmd.Flags().StringArrayVarP(&f.modules, "extension", "e", nil, "an extension to load after the set: a .wasm, .ts or .js file, or bundled:NAME; repeatable")
	cmd.Flags().StringVar(&f.cwd, "cwd", ".", "working folder of the agent")
	cmd.Flags().StringVar(&f.output, "output", "text", "text (a timeline) or json (one event a line)")
	return cmd
}

func (f *runFlags) run(ctx context.Context, s streams, args []string) error {
	if f.output != "text" && f.output != "json" {
		return usageError(fmt.Errorf("--output %q: it is text or json", f.output))
	}
	if f.script == "" {
		return usageError(errors.New("no model: give a file with its responses with --script FILE (models that are reached over a network are not built into this version)"))
	}
	text, err := os.ReadFile(f.script)
	if err != nil {
		return usageError(fmt.Errorf("--script: %w", err))
	}
	script, err := scripted.Parse(f.script, string(text))
	if err != nil {
		return usageError(err)
	}
	cwd, err := filepath.Abs(f.cwd)
	if err != nil {
		return usageError(err)
	}
	if err := checkFolder(cwd); err != nil {
		return err
	}
	extensions, err := openSet(f.set, f.modules)
	if err != nil {
		return err
	}
	prompt, err := promptText(s, args)
	if err != nil {
		return err
	}
	store, err := session.NewStore(session.StoreConfig{CWD: cwd})
	if err != nil {
		return failed(err)
	}
	r := agentRun{
		streams: s, set: extensions, connect: func(provider.Hooks) connection { return connection{Provider: script.Provider()} }, model: script.Model(),
		store: store, start: "startup", system: systemPrompt, cwd: cwd, output: f.output, prompt: prompt,
	}
	rep, err := r.do(ctx)
	switch {
	case err != nil && rep != nil:
		return failed(err)
	case err != nil:
		return err
	case rep.failure != "":
		return &silentError{exitFailed} // the timeline or the events have told it
	}
	return nil
}

// openSet finds the sets that apply and adds the modules of the command line.
func openSet(file string, modules []string) (*set.Set, error) {
	var cli *set.Set
	if len(modules) > 0 {
		var err error
		if cli, err = set.Modules(modules, set.Limits{}, set.Grant{}); err != nil {
			return nil, usageError(err)
		}
	}
	s, err := set.Open(discovery(file), cli)
	if err != nil {
		return nil, usageError(err)
	}
	return s, nil
}

// promptText is the argument or, without one, what comes on standard input.
func promptText(s streams, args []string) (string, error) {
	if len(args) == 1 {
		return args[0], nil
	}
	if !terminal(s.in) {
		const most = 10 << 20
		text, err := io.ReadAll(io.LimitReader(s.in, most))
		if err != nil {
			return "", usageError(fmt.Errorf("reading the prompt: %w", err))
		}
		if t := strings.TrimSpace(string(text)); t != "" {
			return t, nil
		}
	}
	return "", usageError(errors.New("no prompt: give it as an argument or on standard input"))
}

// systemPrompt is what the model is told first; the session adds the working folder.
const systemPrompt = "You are a coding agent. You work with the tools you are given, in the folder you are in, and you say what you did."

// writeNew writes a file that does not exist yet.
func writeNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return usageError(fmt.Errorf("%s is already there; remove it, or name another file", path))
	}
	if err != nil {
		return usageError(err)
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

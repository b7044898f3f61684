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

	"weir/engine/set"
)

// runFlags are the flags of `run`.
type runFlags struct {
	model            modelFlags
	session          sessionFlags
	set, cwd, output string
	modules          []string
}

func newRun(s streams) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [PROMPT]",
		Short: "Run an agent, held by an extension set, over a folder",
		Long: "Runs an agent with real tools (read, bash, edit, write, grep, find, ls) in a folder. Its tool calls, tool\n" +
			"results and context pass through the extensions of the set. The model is one of models.toml in weir's folder of\n" +
			"your configuration or of a provider that needs no file (see `weir models`), or a script (--script).\n\n" +
			"The session is kept in weir/sessions of your data folder, that of a script only with --session. Commands of the\n" +
			"agent do not get the environment variables that hold providers' keys.\n\n" +
			"Without PROMPT the prompt is read from standard input.",
		Example: "  weir run --model anthropic/claude-sonnet-4-5 \"What is in this folder?\"\n" +
			"  weir run --continue \"And what does it do?\"\n" +
			"  weir run --model qwen3 --base-url http://localhost:8080/v1 --set weir.toml \"tidy up\"\n" +
			"  weir run --script script.toml -e bundled:guard-shell --output json \"tidy up\"",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), s, args)
		},
	}
	f.model.register(cmd)
	f.session.register(cmd)
	cmd.Flags().StringVar(&f.set, "set", "", "extension set, instead of the user's (never of the managed one)")
	cmd.Flags().StringArrayVarP(&f.modules, "extension", "e", nil, "an extension to load after the set: a .wasm, .ts or .js file, or bundled:NAME; repeatable")
	cmd.Flags().StringVar(&f.cwd, "cwd", ".", "working folder of the agent")
	cmd.Flags().StringVar(&f.output, "output", "text", "text (a timeline) or json (one event a line)")
	return cmd
}

func (f *runFlags) run(ctx context.Context, s streams, args []string) (err error) {
	if f.output != "text" && f.output != "json" {
		return usageError(fmt.Errorf("--output %q: it is text or json", f.output))
	}
	cwd, err := filepath.Abs(f.cwd)
	if err != nil {
		return usageError(err)
	}
	if err := checkFolder(cwd); err != nil {
		return err
	}
	r := agentRun{streams: s, start: "startup", system: systemPrompt, cwd: cwd, output: f.output}
	if r.set, err = openSet(f.set, f.modules); err != nil {
		return err
	}
	if r.prompt, err = promptText(s, args); err != nil {
		return err
	}
	if r.store, err = f.session.reopen(s, cwd); err != nil {
		return err
	}
	stored := ""
	if r.store != nil {
		defer func() { err = errors.Join(err, r.store.Close()) }() // closed by then, if the run began
		r.start = "resume"
		if c := r.store.Context(); c.ModelID != "" {
			stored = c.Provider + "/" + c.ModelID
		}
	}
	model, err := f.model.open(ctx, stored)
	if err != nil {
		return err
	}
	r.model, r.models, r.connect, r.env = model.model, model.models, model.connect, model.env
	if r.store == nil {
		if r.store, err = f.session.create(cwd, f.model.script != ""); err != nil {
			return errors.Join(err, model.finish(false))
		}
	}
	ok, err := prompt(ctx, &r)
	err = errors.Join(err, model.finish(ok))
	if err == nil && !ok {
		return &silentError{exitFailed} // the timeline or the events have told it
	}
	return err
}

// prompt runs the agent; ok says that the run went well.
func prompt(ctx context.Context, r *agentRun) (ok bool, err error) {
	rep, err := r.do(ctx)
	if err != nil && rep != nil {
		err = failed(err)
	}
	return err == nil && rep.failure == "", err
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

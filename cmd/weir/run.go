package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"weir/engine/wire"
)

// runFlags are the flags of `run`.
type runFlags struct {
	agentFlags
	output       string
	hideThinking bool
	rpc          bool
}

func newRun(s streams) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [PROMPT]",
		Short: "Run an agent, held by an extension set, over a folder",
		Long: "Runs an agent with real tools (read, bash, edit, write, grep, find, ls) in a folder. Its tool calls, tool\n" +
			"results and context pass through the extensions of the set. The model is one of models.toml in weir's folder of\n" +
			"your configuration or of a provider that needs no file (see `weir models`), or a script (--script).\n\n" +
			"The set in the folder's .weir counts once you trust it (see `weir trust`). AGENTS.md or CLAUDE.md of the folder,\n" +
			"of those above it and of weir's folder of your configuration are told to the model.\n\n" +
			"The session is kept in weir/sessions of your data folder, that of a script only with --session. Commands of the\n" +
			"agent do not get the environment variables that hold providers' keys.\n\n" +
			"Without PROMPT the prompt is read from standard input. On a terminal extensions may ask you; Ctrl-C at a question\n" +
			"is a no. Else Ctrl-C ends the run in order, a second one at once.",
		Example: "  weir run --model anthropic/claude-sonnet-4-5 \"What is in this folder?\"\n" +
			"  weir run --continue \"And what does it do?\"\n" +
			"  weir run --model qwen3 --base-url http://localhost:8080/v1 --set weir.toml \"tidy up\"\n" +
			"  weir run --script script.toml -e bundled:guard-shell --output json \"tidy up\"",
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return terminated(cmd.Context(), f.run(cmd.Context(), s, args))
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&f.output, "output", "text", "text (a timeline) or json (one event a line)")
	cmd.Flags().BoolVar(&f.rpc, "rpc", false, "talk with a program: JSON lines both ways over standard input and output (docs/rpc.md)")
	cmd.MarkFlagsMutuallyExclusive("rpc", "output")
	cmd.Flags().BoolVar(&f.hideThinking, "hide-thinking", false, "do not show what the model thinks")
	return cmd
}

func (f *runFlags) run(ctx context.Context, s streams, args []string) (err error) {
	if f.output != "text" && f.output != "json" {
		return usageError(fmt.Errorf("--output %q: it is text or json", f.output))
	}
	if args, err = f.session.takeArgument(args); err != nil {
		return err
	}
	if f.rpc {
		return f.runRPC(ctx, s, args)
	}
	prompt, err := promptText(s, args)
	if err != nil {
		return err
	}
	p, err := f.prepare(ctx, s, newSink(s, f.output, f.hideThinking), wire.Mode(f.output))
	if err != nil {
		return err
	}
	rep, err := p.once(ctx, prompt)
	if err != nil && rep != nil {
		err = failed(err)
	}
	ok := err == nil && rep.failure == ""
	err = errors.Join(err, p.finish(ok))
	if err == nil && !ok {
		return &silentError{exitFailed} // the timeline or the events have told it
	}
	return err
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

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"weir/engine"
	"weir/engine/decide"
	"weir/engine/facts"
	"weir/engine/wire"
	"weir/extensions"
)

// decideFlags are the flags of `decide` and `explain`.
type decideFlags struct {
	set, cwd, home string
	modules        []string
	lines, json    bool
}

func (f *decideFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.set, "set", "", "extension set, instead of the user's (never of the managed one)")
	cmd.Flags().StringArrayVarP(&f.modules, "extension", "e", nil, "a module to load after the set: a .wasm file or bundled:NAME; repeatable")
	cmd.Flags().StringVar(&f.cwd, "cwd", ".", "the workspace that the extensions are told; it need not exist")
	cmd.Flags().StringVar(&f.home, "home", "", "the home folder that ~ stands for (default: yours)")
}

func newDecide(s streams) *cobra.Command {
	var f decideFlags
	cmd := &cobra.Command{
		Use:   "decide",
		Short: "Put an event on standard input to a set, and print the decision",
		Long: "Reads one event, or with --jsonl one a line, runs the whole set on it, and prints one decision a line. Nothing is run but\n" +
			"the extensions, and nobody is asked.\n\n" +
			"The event is a JSON object: type (tool_call, tool_result, context; by default what the other keys say), toolName (or tool),\n" +
			"toolCallId, input; of a result content (blocks or one text; or result: one text), details, isError, usage; of a context\n" +
			"messages. Other keys are not looked at.\n\n" +
			"The decision is a JSON object:\n" +
			"  decision   allow, ask, block or rewrite. A result is allowed, rewritten or (block) withheld; so is a context\n" +
			"  reason     why, for ask and block; several questions one a line\n" +
			"  by         the extensions that it comes from\n" +
			"  terminate  true: the one that blocked wants the run to stop\n" +
			"  input      the arguments that would run, where they were rewritten\n" +
			"  content, details, isError, usage   the result as the model gets it, where it was rewritten or withheld\n" +
			"  messages   what the model sees, where that was rewritten\n" +
			"  faults     [{extension, hook, kind, message, decided}]: extensions that failed; decided: it was turned into the decision\n\n" +
			"The exit code is 0 whatever was decided, 1 when an extension failed and the fault was not turned into a decision (then the\n" +
			"event passed as it was), 2 when the set does not load or an event cannot be read.",
		Example: "  echo '{\"toolName\":\"bash\",\"input\":{\"command\":\"rm -rf /\"}}' | weir decide -e bundled:guard-shell",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.decide(cmd.Context(), s)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.lines, "jsonl", false, "one event a line on one loaded set")
	return cmd
}

// config loads what the flags name. The caller closes the host.
func (f *decideFlags) config(ctx context.Context) (engine.Config, error) {
	cwd, err := filepath.Abs(f.cwd)
	if err != nil {
		return engine.Config{}, usageError(err)
	}
	host, err := newHost(ctx)
	if err != nil {
		return engine.Config{}, err
	}
	x, _, err := openTrusted(ctx, host, f.set, f.modules, cwd)
	if err == nil && len(x.Extensions) == 0 {
		err = usageError(errors.New("no set applies here and none was named: give one with --set FILE, or a module with -e MODULE"))
	}
	if err != nil {
		return engine.Config{}, errors.Join(err, host.Close(ctx))
	}
	return engine.Config{
		Host: host, Set: x, Bundled: extensions.Bundled, SessionID: newID(), CWD: cwd, Mode: wire.ModeJSON,
		Facts: facts.Config{Home: f.home, Own: ownFiles()},
	}, nil
}

// ownFiles are weir's own files on this machine; the engine adds those of the set and of the workspace.
func ownFiles() []string {
	own := []string{"/etc/weir"}
	if dir, err := os.UserConfigDir(); err == nil { // without one there is nothing of ours in it
		own = append(own, filepath.Join(dir, "weir"))
	}
	if dir := cacheDir(); dir != "" {
		if abs, err := filepath.Abs(dir); err == nil { // as above
			own = append(own, abs)
		}
	}
	return own
}

func (f *decideFlags) decide(ctx context.Context, s streams) (err error) {
	cfg, err := f.config(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cfg.Host.Close(ctx)) }()
	d, err := decide.Open(ctx, cfg)
	if err != nil {
		return usageError(err)
	}
	defer func() { err = errors.Join(err, d.Close(ctx)) }()
	out := bufio.NewWriter(s.out)
	undecided := false
	one := func(raw []byte, where string) error {
		ev, err := decide.Parse(raw)
		if err != nil {
			return usageError(fmt.Errorf("the event %s: %w", where, err))
		}
		got, err := d.Decide(ctx, ev)
		if err != nil {
			return failed(err)
		}
		for _, x := range got.Faults {
			if !x.Decided {
				undecided = true
				fmt.Fprintln(s.err, printable(x.Message))
			}
		}
		return writeLine(out, got)
	}
	if f.lines {
		err = eachLine(s.in, func(n int, line []byte) error { return one(line, fmt.Sprintf("in line %d", n)) })
	} else {
		var raw []byte
		if raw, err = io.ReadAll(s.in); err != nil {
			return usageError(fmt.Errorf("reading the event: %w", err))
		}
		err = one(raw, "on standard input")
	}
	if err = errors.Join(err, out.Flush()); err != nil {
		return err
	}
	if undecided {
		return &silentError{exitFailed} // the faults have been told
	}
	return nil
}

// writeLine writes a value as one line of JSON that is harmless for a terminal.
func writeLine(out *bufio.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return failed(err)
	}
	if _, err := out.WriteString(printableJSON(b.Bytes())); err != nil {
		return failed(err)
	}
	// A line that is read is answered before the next is waited for.
	if err := out.Flush(); err != nil {
		return failed(err)
	}
	return nil
}

// eachLine calls one for every line that is not blank, until it fails.
func eachLine(in io.Reader, one func(n int, line []byte) error) error {
	const longest = 64 << 20
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), longest)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		if err := one(n, lines.Bytes()); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return usageError(fmt.Errorf("reading events: %w", err))
	}
	return nil
}

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
	"strings"

	"github.com/spf13/cobra"

	"weir/engine"
	"weir/engine/set"
	"weir/engine/wire"
	"weir/extensions"
	"weir/wasmhost"
)

// callFlags are the flags of `ext call`.
type callFlags struct {
	config  string
	grants  []string
	timeout string
	lines   bool
}

func newCall(s streams) *cobra.Command {
	var f callFlags
	cmd := &cobra.Command{
		Use:   "call MODULE HOOK",
		Short: "Call one hook of a module with the event on standard input",
		Long: "Loads a module and hands it one event: a JSON object on standard input, with the event's payload; type and context are\n" +
			"filled in where they are missing. The guest's result is printed as JSON, for `context` the edit as it was returned.\n\n" +
			"A fault is printed to standard error as NAME: HOOK: KIND: text, and the exit code is 1; it is 2 when the module does not load.\n" +
			"With --jsonl every line is an event, every line of output a result or {\"fault\":{\"kind\",\"message\"}}, and the exit code 0.",
		Example: "  echo '{\"toolName\":\"bash\",\"input\":{\"command\":\"rm -rf /\"}}' | weir ext call bundled:guard-shell tool_call",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.call(cmd.Context(), s, args[0], args[1])
		},
	}
	cmd.Flags().StringVar(&f.config, "config", "", "the extension's settings, a JSON object")
	cmd.Flags().StringArrayVar(&f.grants, "grant", nil, "a grant, as in a set: kv, clock, \"http=GET https://api.example.com\", read=./docs; repeatable")
	cmd.Flags().StringVar(&f.timeout, "timeout", "", "time limit of a call, such as 200ms")
	cmd.Flags().BoolVar(&f.lines, "jsonl", false, "one event a line on one loaded extension")
	return cmd
}

// extension is the extension that the flags describe.
func (f *callFlags) extension(module string) (*set.Extension, error) {
	var limits set.Limits
	var grants []set.Grant
	var errs []error
	if f.timeout != "" {
		var err error
		if limits, err = set.ParseLimit("timeout", f.timeout); err != nil {
			errs = append(errs, fmt.Errorf("--timeout: %w", err))
		}
	}
	for _, g := range f.grants {
		grant, err := set.ParseGrant(g)
		if err != nil {
			errs = append(errs, fmt.Errorf("--grant %s: %w", g, err))
			continue
		}
		grants = append(grants, grant)
	}
	x, err := moduleExtension(module, limits, set.MergeGrants(grants...))
	errs = append(errs, err)
	if f.config != "" {
		config, err := compactObject(f.config)
		if err != nil {
			errs = append(errs, fmt.Errorf("--config: %w", err))
		}
		if x != nil {
			x.Config = config
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, usageError(err)
	}
	return x, nil
}

// moduleExtension is an extension for one module, named like its file.
func moduleExtension(module string, limits set.Limits, grant set.Grant) (*set.Extension, error) {
	s, err := set.Modules([]string{module}, limits, grant)
	if err != nil {
		return nil, err
	}
	return &s.Extensions[0], nil
}

func compactObject(text string) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		return nil, err
	}
	if fields == nil {
		return nil, errors.New("it is not an object")
	}
	return json.RawMessage(text), nil
}

func (f *callFlags) call(ctx context.Context, s streams, module, hook string) (err error) {
	event, ok := wire.ParseEvent(hook)
	if !ok {
		return usageError(fmt.Errorf("there is no hook %q; a tool call is tool_call, `weir ext inspect %s` shows what the module hooks", hook, module))
	}
	x, err := f.extension(module)
	if err != nil {
		return err
	}
	host, err := newHost(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, host.Close(ctx)) }()
	cwd, err := os.Getwd()
	if err != nil {
		return usageError(err)
	}
	probe, err := engine.OpenProbe(ctx, engine.Config{Host: host, Bundled: extensions.Bundled, CWD: cwd, Mode: wire.ModeText}, x)
	if err != nil {
		return usageError(err)
	}
	defer func() { err = errors.Join(err, probe.Close(ctx)) }()
	if !probe.Hooks(event) {
		return usageError(fmt.Errorf("%s: it does not hook %s; it hooks %s", x.Name, hook, strings.Join(probe.Describe().HookNames(), ", ")))
	}
	if f.lines {
		return callLines(ctx, s, probe, event)
	}
	input, err := io.ReadAll(s.in)
	if err != nil {
		return usageError(fmt.Errorf("reading the event: %w", err))
	}
	out, _, err := probe.Call(ctx, event, input)
	var fault *wasmhost.Fault
	switch {
	case errors.As(err, &fault):
		return failed(err)
	case err != nil:
		return usageError(fmt.Errorf("the event on standard input: %w", err))
	}
	fmt.Fprintln(s.out, printableJSON(compactJSON(out)))
	return nil
}

// callLines answers one event a line.
func callLines(ctx context.Context, s streams, probe *engine.Probe, event wire.Event) error {
	const longest = 64 << 20
	lines := bufio.NewScanner(s.in)
	lines.Buffer(make([]byte, 64<<10), longest)
	w := bufio.NewWriter(s.out)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		out, _, err := probe.Call(ctx, event, lines.Bytes())
		var fault *wasmhost.Fault
		switch {
		case errors.As(err, &fault):
			out, err = json.Marshal(map[string]any{"fault": map[string]string{"kind": fault.Kind.String(), "message": printable(fault.Error())}})
			if err != nil {
				return failed(err)
			}
		case err != nil:
			return usageError(fmt.Errorf("the event in line %d: %w", n, err))
		}
		if _, err := fmt.Fprintln(w, printableJSON(compactJSON(out))); err != nil {
			return failed(err)
		}
		if err := w.Flush(); err != nil {
			return failed(err)
		}
	}
	if err := lines.Err(); err != nil {
		return usageError(fmt.Errorf("reading events: %w", err))
	}
	return nil
}

// compactJSON puts a guest's JSON on one line.
func compactJSON(raw []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

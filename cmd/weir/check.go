package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"weir/engine"
	"weir/engine/set"
	"weir/engine/tools"
	"weir/extensions"
)

func newCheck(s streams) *cobra.Command {
	var modules []string
	var strict bool
	cmd := &cobra.Command{
		Use:   "check [SET]",
		Short: "Load an extension set as a run would, and say what is in it",
		Long: "Reads the set (or those that apply here), loads every module, checks settings, grants and limits, and prints what\neach extension may do. Nothing is run but what the modules say of themselves.\n\n" +
			"What loads and still has no effect is a warning: a hook for a tool that there is not, an extension that is never asked, a\n" +
			"name that is taken, a grant that the module does not use, an on_error that changes nothing, a managed module that is not\n" +
			"pinned. With --strict there must be none.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file := ""
			if len(args) == 1 {
				file = args[0]
			}
			return check(cmd.Context(), s, file, modules, strict)
		},
	}
	cmd.Flags().StringArrayVarP(&modules, "extension", "e", nil, "a module to load after the set; repeatable")
	cmd.Flags().BoolVar(&strict, "strict", false, "fail when there is a warning")
	return cmd
}

func check(ctx context.Context, s streams, file string, modules []string, strict bool) (err error) {
	out := s.out
	host, err := newHost(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, host.Close(ctx)) }()
	x, note, err := openTrusted(ctx, host, file, modules, ".")
	if err != nil {
		return err
	}
	if note != "" {
		fmt.Fprintln(s.err, printable(note))
	}
	eng, err := engine.Open(ctx, engine.Config{Host: host, Set: x, Bundled: extensions.Bundled})
	if err != nil {
		return usageError(err)
	}
	defer func() { err = errors.Join(err, eng.Close(ctx)) }()
	if len(x.Extensions) == 0 {
		fmt.Fprintln(out, "no set applies here and none was named: an agent would run without extensions (`weir init` writes a set)")
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "EXTENSION\tLAYER\tMODE\tON ERROR\tHOOKS\tGRANTS\tRUNTIME\tMODULE")
	for i, info := range eng.Extensions() {
		e := &x.Extensions[i]
		onError := e.OnError.String()
		if onError == "" {
			onError = "-"
		}
		grants := strings.Join(e.Grant.Names(), ", ")
		if grants == "" {
			grants = "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", e.Name, e.Source, e.Mode, onError, strings.Join(info.Hooks, ", "), grants, e.Runtime, e.Module)
	}
	if err := w.Flush(); err != nil {
		return failed(err)
	}
	warnings := warn(s, eng)
	if strict && warnings > 0 {
		return usageError(fmt.Errorf("%d warnings, and with --strict there must be none", warnings))
	}
	fmt.Fprintf(out, "ok: %d extensions, recheck %s, pairs %s, protect %s\n", len(x.Extensions), onOff(x.Recheck), onOff(x.Pairs), onOff(x.Protect))
	return nil
}

// warn prints what in the set has no effect, and counts it.
func warn(s streams, eng *engine.Engine) int {
	warnings := eng.Warnings(tools.Names())
	for _, w := range warnings {
		at := ""
		if p := (set.Position{File: w.File, Line: w.Line, Column: w.Column}).String(); p != "" {
			at = p + ": "
		}
		text := strings.TrimPrefix(w.Error(), at)
		fmt.Fprintln(s.err, printable(at+"warning: "+text))
	}
	return len(warnings)
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

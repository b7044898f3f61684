package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"

	"github.com/spf13/cobra"

	"weir/engine/workbench"
	"weir/extensions"
)

// testFlags are the flags of `ext test`.
type testFlags struct {
	only    string
	verbose bool
	update  bool
	asJSON  bool
	junit   string
}

func newTest(s streams) *cobra.Command {
	var f testFlags
	cmd := &cobra.Command{
		Use:   "test [PATH…]",
		Short: "Run the test files of extensions",
		Long: "Runs test files, those named and every *_test.toml below the folders named (this folder when none is): events in,\n" +
			"expected decisions out. Each case has an extension of its own, so that no case sees another's state.\n\n" +
			"  module = \"policy.wasm\"            # or bundled:NAME, or policy.ts; the path starts at this file's folder\n" +
			"  config = { protect = [\"main\"] }    # the settings; a case's own config goes over it, key by key\n" +
			"  limits = { fuel = 1_000_000 }     # and grant = [\"kv\"], cwd and home (default " + workbench.DefaultCWD + ", " + workbench.DefaultHome + ")\n\n" +
			"  [[case]]\n" +
			"  name = \"blocks rm\"\n" +
			"  hook = \"tool_call\"                # the default\n" +
			"  event = { toolName = \"bash\", input = { command = \"rm -rf /\" } }   # or event_file = \"event.json\"\n" +
			"  expect = { decision = \"block\", reason = \"/^rm/\" }\n\n" +
			"Several [[case.step]], each with event and expect, are put to the same extension in turn. expect compares decision (allow,\n" +
			"block, ask, rewrite), reason (a text, or a /regexp/), output (a table, or JSON in a string) or output_file, fault (its kind),\n" +
			"and for context dropped and kept (indexes). A context's event_file may be the array of messages alone.\n\n" +
			"Exit codes: 0 all passed, 1 a case failed, 2 a file is wrong or its module does not load.",
		Example: "  weir ext test\n  weir ext test extensions/ --run 'rm|push' -v\n  weir ext test policy_test.toml --junit report.xml",
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.test(cmd.Context(), s, args)
		},
	}
	cmd.Flags().StringVar(&f.only, "run", "", "run only the cases whose name matches this regular expression")
	cmd.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "show every case and what was answered")
	cmd.Flags().BoolVar(&f.update, "update", false, "rewrite expected outputs that differ: output_file, and output = '…' in a string")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print the report as JSON")
	cmd.Flags().StringVar(&f.junit, "junit", "", "also write the report as JUnit XML to this file")
	return cmd
}

func (f *testFlags) test(ctx context.Context, s streams, paths []string) (err error) {
	runner := workbench.Runner{Bundled: extensions.Bundled, Update: f.update}
	if f.only != "" {
		if runner.Only, err = regexp.Compile(f.only); err != nil {
			return usageError(fmt.Errorf("--run: %w", err))
		}
	}
	files, err := workbench.FindFiles(paths)
	if err != nil {
		return usageError(err)
	}
	if runner.Host, err = newHost(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runner.Host.Close(ctx)) }()
	report := workbench.Report{Files: []workbench.FileReport{}}
	for _, path := range files {
		rep, err := runFile(ctx, &runner, path)
		if ctx.Err() != nil {
			return failed(ctx.Err())
		}
		if err != nil {
			report.Problems = append(report.Problems, err.Error())
			fmt.Fprintln(s.err, printable(err.Error()))
			continue
		}
		report.Files = append(report.Files, *rep)
	}
	report.Coverage = runner.Coverage()
	if err := f.write(s, &report); err != nil {
		return failed(err)
	}
	_, bad := report.Counts()
	switch {
	case len(report.Problems) > 0:
		return &silentError{exitUsage}
	case bad > 0:
		return &silentError{exitFailed}
	case f.only != "" && !ran(&report):
		return usageError(fmt.Errorf("--run %s: no case has such a name", f.only))
	}
	return nil
}

func runFile(ctx context.Context, runner *workbench.Runner, path string) (*workbench.FileReport, error) {
	file, err := workbench.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return runner.Run(ctx, file)
}

func ran(report *workbench.Report) bool {
	for i := range report.Files {
		if len(report.Files[i].Cases) > 0 {
			return true
		}
	}
	return false
}

func (f *testFlags) write(s streams, report *workbench.Report) error {
	if f.junit != "" {
		var b bytes.Buffer
		if err := report.WriteJUnit(&b); err != nil {
			return err
		}
		if err := os.WriteFile(f.junit, b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	if f.asJSON {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(report); err != nil {
			return err
		}
		_, err := fmt.Fprint(s.out, printableJSON(b.Bytes()))
		return err
	}
	var b bytes.Buffer
	if err := report.WriteText(&b, f.verbose); err != nil {
		return err
	}
	_, err := fmt.Fprint(s.out, printable(b.String()))
	return err
}

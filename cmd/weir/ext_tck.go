package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"weir/engine/script"
	"weir/guest-sdk/tck"
	"weir/wasmhost"
)

func newTCK(s streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tck MODULE…",
		Short: "Check an SDK by the guests that are written with it",
		Long: "For those who write an SDK: runs the compatibility kit over its two guests, tck and tck-json, and prints a table of what passed\n" +
			"and what did not. guest-sdk/tck/SPEC.md says what the guests must do.\n\n" +
			"Exit codes: 0 all passed, 1 a case failed, a module does not load or one of the two is missing, 2 usage or a file that cannot be read.",
		Example: "  weir ext tck tck.wasm tck-json.wasm\n  weir ext tck tck.ts tck-json.ts",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return checkSDK(cmd.Context(), s, args, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the results as JSON")
	return cmd
}

func checkSDK(ctx context.Context, s streams, files []string, asJSON bool) (err error) {
	var modules [][]byte
	for _, file := range files {
		wasm, err := readGuest(file)
		if err != nil {
			return usageError(err)
		}
		modules = append(modules, wasm)
	}
	host, err := newHost(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, host.Close(ctx)) }()
	var reports []*tck.Report
	failures := 0
	for i, wasm := range modules {
		report, err := tck.Check(ctx, host, filepath.Base(files[i]), wasm)
		if err != nil {
			return failed(err)
		}
		reports = append(reports, report)
		failures += len(report.Failures())
		if !asJSON {
			fmt.Fprint(s.out, printable(report.Text()))
		}
	}
	if asJSON {
		enc := json.NewEncoder(s.out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(reports); err != nil {
			return err
		}
	}
	var errs []error
	if failures > 0 {
		errs = append(errs, fmt.Errorf("failed cases: %d", failures))
	}
	for _, m := range tck.Missing(reports...) {
		errs = append(errs, errors.New(m))
	}
	if err := errors.Join(errs...); err != nil {
		return failed(err)
	}
	return nil
}

// readGuest reads a module, or makes one of a policy.
func readGuest(file string) ([]byte, error) {
	if script.Is(file) {
		policy, err := script.Load(file)
		if err != nil {
			return nil, err
		}
		return script.Pack(policy)
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if limit := wasmhost.DefaultLimits().Module; info.Size() > int64(limit) {
		return nil, fmt.Errorf("%s has %d bytes, more than the limit of %d for a module", file, info.Size(), limit)
	}
	return os.ReadFile(file)
}

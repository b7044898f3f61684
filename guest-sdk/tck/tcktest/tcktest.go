// Package tcktest runs the tck as subtests.
package tcktest

import (
	"context"
	"testing"

	"weir/guest-sdk/tck"
	"weir/wasmhost"
)

// Run checks the modules of an SDK, which together leave no view of context open: a subtest for each module, chapter and case.
func Run(t *testing.T, modules map[string][]byte) {
	t.Helper()
	host, err := wasmhost.New(t.Context(), wasmhost.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := host.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	var reports []*tck.Report
	for name, wasm := range modules {
		report, err := tck.Check(t.Context(), host, name, wasm)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		reports = append(reports, report)
		for _, r := range report.Results {
			t.Run(name+"/"+r.Chapter+"/"+r.Case, func(t *testing.T) {
				switch r.Status {
				case tck.Skipped:
					t.Skip(r.Got)
				case tck.Failed:
					t.Errorf("%s\nwant %s\ngot  %s", r.Problem, r.Want, r.Got)
				}
			})
		}
	}
	for _, m := range tck.Missing(reports...) {
		t.Error(m)
	}
}

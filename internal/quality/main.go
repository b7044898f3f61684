// Command quality measures the bundled extensions on labelled cases: how much of what is dangerous they let through
// (escapes), and how much of what is harmless they stop (false alarms), by extension and family.
//
// It finds the cases in $WEIR_SHARED/corpora/open, whose README says what a row is, and decides them in process, as
// `weir decide` would. The exit code is 1 when a goal is missed, 2 when the cases cannot be read.
//
//	WEIR_SHARED=../shared go run ./internal/quality        the table
//	WEIR_SHARED=../shared go run ./internal/quality -v     and every case that was decided wrongly
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"weir/extensions"
	"weir/wasmhost"
)

func main() {
	verbose := flag.Bool("v", false, "list the cases that were decided wrongly")
	flag.Parse()
	met, err := measure(context.Background(), os.Stdout, os.Getenv("WEIR_SHARED"), *verbose)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	case !met:
		os.Exit(1)
	}
}

// goal is what an extension is to keep to on cases that nobody has seen, as shares (issue 8).
type goal struct{ escapes, alarms float64 }

// subject is one extension and the files of cases that it is measured on.
type subject struct {
	name  string
	files []string
	goal  goal
	judge func(ctx context.Context, s *stand, rows []row) ([]verdict, error)
}

func subjects() []subject {
	return []subject{
		{"guard-shell", []string{"shell-danger.jsonl", "shell-benign.jsonl"}, goal{0.03, 0.005}, judgeCalls},
		{"guard-paths", []string{"paths.jsonl"}, goal{0, 0.005}, judgePaths},
		{"redact-secrets", []string{"secrets.jsonl"}, goal{0.02, 0.01}, judgeSecrets},
		{"pair gate", []string{"contexts.jsonl"}, goal{0, 0}, judgeContexts},
	}
}

// stand is what all measurements share.
type stand struct {
	host *wasmhost.Host
	name string // of the extension
}

func measure(ctx context.Context, out io.Writer, shared string, verbose bool) (met bool, err error) {
	if shared == "" {
		return false, errors.New("quality: WEIR_SHARED is not set; it names the folder that holds corpora/open")
	}
	host, err := wasmhost.New(ctx, wasmhost.Config{})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, host.Close(ctx)) }()
	met = true
	for _, sub := range subjects() {
		var rows []row
		for _, f := range sub.files {
			more, err := readRows(filepath.Join(shared, "corpora", "open", f))
			if err != nil {
				return false, err
			}
			rows = append(rows, more...)
		}
		if _, ok := extensions.Bundled(sub.name); !ok && sub.name != "pair gate" {
			fmt.Fprintf(out, "%s: no extension (%d cases)\n\n", sub.name, len(rows))
			continue
		}
		verdicts, err := sub.judge(ctx, &stand{host, sub.name}, rows)
		if err != nil {
			return false, fmt.Errorf("%s: %w", sub.name, err)
		}
		t := newTally(rows, verdicts)
		if !t.print(out, sub.name, sub.goal) {
			met = false
		}
		if verbose {
			printWrong(out, rows, verdicts)
		}
	}
	return met, nil
}

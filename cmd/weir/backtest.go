package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"weir/engine"
	"weir/engine/backtest"
	"weir/engine/facts"
	"weir/engine/set"
	"weir/engine/transcript"
	"weir/engine/wire"
	"weir/extensions"
	"weir/wasmhost"
)

// backtestFlags are the flags of `backtest`.
type backtestFlags struct {
	set, compare, home   string
	modules, from        []string
	format, since, junit string
	maxNewBlocks         int
	workers              int
	json                 bool
}

func newBacktest(s streams) *cobra.Command {
	var f backtestFlags
	cmd := &cobra.Command{
		Use:   "backtest --from pi|claude|codex|PATH",
		Short: "Say what a set would have decided about past sessions",
		Long: "Reads the sessions that an agent has written down, puts every tool call and every result in them to the set, and says for each\n" +
			"extension and reason what was blocked, asked, rewritten or failed. Calls that had been denied or had failed at the time are counted\n" +
			"apart. What several sessions hold (forks, resumed ones) is counted once. Nothing is run but the extensions, and they have no\n" +
			"effect; docs/backtest.md says what they get instead.\n\n" +
			"--from names an agent, whose own folder is read, or a file or folder; it can be given several times.\n\n" +
			"The exit code is 0, 1 with --max-new-blocks when there are more or they cannot be known, 2 when the set does not load or there is\n" +
			"nothing to read.",
		Example: "  weir backtest -e bundled:guard-shell --from claude --since 30d\n  weir backtest -e new.wasm --compare old.wasm --from ~/sessions --max-new-blocks 0",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), s) },
	}
	cmd.Flags().StringVar(&f.set, "set", "", "extension set, instead of the user's (never of the managed one)")
	cmd.Flags().StringArrayVarP(&f.modules, "extension", "e", nil, "a module to load after the set: a .wasm file or bundled:NAME; repeatable")
	cmd.Flags().StringArrayVar(&f.from, "from", nil, "pi, claude, codex, or a file or folder; repeatable")
	cmd.Flags().StringVar(&f.home, "home", "", "the home folder that ~ stands for in the sessions (default: yours)")
	cmd.Flags().StringVar(&f.format, "format", "", "read all files as pi, claude or codex, instead of what their first lines say")
	cmd.Flags().StringVar(&f.since, "since", "", "only what is not older: 30d, 12h, or a day such as 2026-01-31")
	cmd.Flags().StringVar(&f.compare, "compare", "", "show only what is decided otherwise by OTHER: a set file, or a module in the place of those of -e")
	cmd.Flags().IntVar(&f.maxNewBlocks, "max-new-blocks", -1, "fail when more calls are blocked that were neither denied nor failed at the time")
	cmd.Flags().IntVar(&f.workers, "workers", 0, "how many sessions are worked on at a time (default: one for each processor)")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the report as a JSON object")
	cmd.Flags().StringVar(&f.junit, "junit", "", "write JUnit XML to a file")
	return cmd
}

func (f *backtestFlags) run(ctx context.Context, s streams) (err error) {
	cfg := backtest.Config{Workers: f.workers}
	if len(f.from) == 0 {
		return usageError(errors.New("--from is missing: it is pi, claude, codex, or a file or folder"))
	}
	if cfg.Since, err = sinceTime(f.since, time.Now()); err != nil {
		return usageError(fmt.Errorf("--since: %w", err))
	}
	var problems []backtest.Problem
	var size int64
	if cfg.Files, problems, size, err = f.files(); err != nil {
		return usageError(err)
	}
	host, err := newHost(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, host.Close(ctx)) }()
	x, err := openSet(f.set, f.modules)
	if err != nil {
		return err
	}
	if cfg.Engine, err = f.engine(host, x); err != nil {
		return err
	}
	if f.compare != "" {
		file, modules := f.set, []string{f.compare}
		if filepath.Ext(f.compare) == ".toml" {
			file, modules = f.compare, nil
		}
		other, err := openSet(file, modules)
		if err != nil {
			return err
		}
		o, err := f.engine(host, other)
		if err != nil {
			return err
		}
		cfg.Other = &o
	}
	if terminal(s.err) {
		bar := progressbar.NewOptions64(2*size, progressbar.OptionSetWriter(s.err), progressbar.OptionShowBytes(true),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
		cfg.Progress = func(n int) { _ = bar.Add(n) } // what cannot be shown is no reason to stop
		defer func() { _ = bar.Finish() }()
	}
	report, err := backtest.Run(ctx, cfg)
	switch {
	case ctx.Err() != nil:
		return failed(errors.New("interrupted before all sessions were read"))
	case err != nil:
		return err
	}
	report.Problems = append(problems, report.Problems...)
	report.Unread += len(problems)
	return f.tell(s, report)
}

// tell prints the report, and fails where it does not pass the gate.
func (f *backtestFlags) tell(s streams, report *backtest.Report) error {
	var gate error
	if f.maxNewBlocks >= 0 {
		gate = report.Gate(f.maxNewBlocks)
	}
	if f.junit != "" {
		out, err := os.Create(f.junit)
		if err != nil {
			return usageError(err)
		}
		if err := errors.Join(report.WriteJUnit(out, gate, printable), out.Close()); err != nil {
			return failed(fmt.Errorf("%s: %w", f.junit, err))
		}
	}
	var err error
	if f.json {
		err = printJSON(s.out, report)
	} else {
		err = printBacktest(s.out, report)
	}
	if err != nil {
		return err
	}
	if gate != nil {
		return failed(gate)
	}
	return nil
}

// engine is the configuration that opens a set.
func (f *backtestFlags) engine(host *wasmhost.Host, x *set.Set) (engine.Config, error) {
	if len(x.Extensions) == 0 {
		return engine.Config{}, usageError(errors.New("no set applies here and none was named: give one with --set FILE, or a module with -e MODULE"))
	}
	return engine.Config{Host: host, Set: x, Bundled: extensions.Bundled, Mode: wire.ModeJSON, Facts: facts.Config{Home: f.home, Own: ownFiles()}}, nil
}

// files are the transcripts that --from names, with their size in all. What in a folder is no transcript, or cannot be read, is a
// problem; what is named itself must be one.
func (f *backtestFlags) files() (files []backtest.File, problems []backtest.Problem, size int64, err error) {
	if f.format != "" && !slices.Contains(transcript.Formats(), transcript.Format(f.format)) {
		return nil, nil, 0, fmt.Errorf("--format: there is no format %q; it is claude, codex or pi", f.format)
	}
	seen := map[string]bool{}
	for _, from := range f.from {
		format := transcript.Format(f.format)
		roots := []string{from}
		if slices.Contains(transcript.Formats(), transcript.Format(from)) {
			home, err := os.UserHomeDir()
			if err != nil {
				return nil, nil, 0, err
			}
			if roots, err = transcript.Folders(transcript.Format(from), os.Getenv, home); err != nil {
				return nil, nil, 0, fmt.Errorf("--from %s: %w", from, err)
			}
			if format == "" {
				format = transcript.Format(from)
			}
		}
		for _, root := range roots {
			paths, err := transcript.Find(root)
			switch {
			case err != nil && paths == nil:
				return nil, nil, 0, fmt.Errorf("--from: %w", err)
			case err != nil:
				problems = append(problems, backtest.Problem{File: root, Detail: err.Error()})
			}
			for _, path := range paths {
				if seen[path] {
					continue
				}
				seen[path] = true
				file, n, err := probeFile(path, format)
				switch {
				case errors.Is(err, transcript.ErrFormat) && path == root:
					return nil, nil, 0, fmt.Errorf("%s: %w; if it is one, say which with --format", path, err)
				case err != nil:
					problems = append(problems, backtest.Problem{File: path, Detail: err.Error()})
				default:
					files, size = append(files, file), size+n
				}
			}
		}
	}
	if len(files) == 0 {
		return nil, nil, 0, fmt.Errorf("--from: there are no transcripts in %s", strings.Join(f.from, ", "))
	}
	slices.SortFunc(files, func(a, b backtest.File) int { return strings.Compare(a.Path, b.Path) })
	return files, problems, size, nil
}

// probeFile tells a file's format and size.
func probeFile(path string, format transcript.Format) (_ backtest.File, size int64, err error) {
	in, err := os.Open(path)
	if err != nil {
		return backtest.File{}, 0, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	info, err := in.Stat()
	if err != nil {
		return backtest.File{}, 0, err
	}
	if format == "" {
		if format, err = transcript.Detect(in); err != nil {
			return backtest.File{}, 0, err
		}
	}
	return backtest.File{Path: path, Format: format}, info.Size(), nil
}

// sinceTime reads how far back, or from which day.
func sinceTime(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if day, err := time.ParseInLocation(time.DateOnly, text, time.Local); err == nil {
		return day, nil
	}
	if n, ok := strings.CutSuffix(text, "d"); ok {
		if days, err := strconv.Atoi(n); err == nil && days > 0 {
			return now.AddDate(0, 0, -days), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, fmt.Errorf("%q is neither a time such as 30d or 12h nor a day such as 2026-01-31", text)
}

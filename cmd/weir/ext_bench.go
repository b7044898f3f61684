package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"weir/engine/wire"
	"weir/engine/workbench"
	"weir/extensions"
	"weir/wasmhost"
)

// benchFlags are the flags of `ext bench`. Those that say how to load the extension are those of `ext call`.
type benchFlags struct {
	callFlags
	events  string
	compare string
	time    time.Duration
	count   int
	maxP99  time.Duration
	maxFuel uint64
}

func newBench(s streams) *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench MODULE",
		Short: "Measure a module: starts, time and fuel of each hook, memory",
		Long: "Calls each hook of a module over sample events and prints lines in the format of Go's benchmarks, for benchstat:\n\n" +
			"  ColdStart   compile without a cache, instantiate, describe; WarmStart the same with the module compiled (median of 9)\n" +
			"  Hook/NAME   ns/op (mean) and p50, p90, p99 of the time in the guest and its host calls; fuel a call, mean and largest;\n" +
			"              memory after the last call\n\n" +
			"Events are built in; --events takes others, a JSON object a line with its type. Hooks that only report are called without a\n" +
			"payload unless events are given.\n\n" +
			"Exit codes: 0 ok, 1 a call failed or a limit was exceeded, 2 usage or a module that does not load.",
		Example: "  weir ext bench policy.wasm --count 6 > new.txt; benchstat old.txt new.txt\n" +
			"  weir ext bench policy.wasm --compare bundled:guard-shell\n" +
			"  weir ext bench policy.wasm --max-p99 50us --max-fuel 200000",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.bench(cmd.Context(), s, args[0])
		},
	}
	cmd.Flags().StringVar(&f.events, "events", "", "file of events, a JSON object a line; only the hooks that it has events for are measured")
	cmd.Flags().StringVar(&f.compare, "compare", "", "another module, measured in turn with the first; the ratios are printed too")
	cmd.Flags().DurationVar(&f.time, "time", 300*time.Millisecond, "how long each hook is called")
	cmd.Flags().IntVar(&f.count, "count", 1, "how often everything is measured")
	cmd.Flags().DurationVar(&f.maxP99, "max-p99", 0, "fail when the p99 of a hook of MODULE is longer (with --count the median of them)")
	cmd.Flags().Uint64Var(&f.maxFuel, "max-fuel", 0, "fail when a call of MODULE takes more fuel")
	cmd.Flags().StringVar(&f.config, "config", "", "the extension's settings, a JSON object")
	cmd.Flags().StringArrayVar(&f.grants, "grant", nil, "a grant, as for ext call; repeatable")
	cmd.Flags().StringVar(&f.timeout, "timeout", "", "time limit of a call, such as 200ms")
	return cmd
}

func (f *benchFlags) validate() error {
	switch {
	case f.count < 1:
		return fmt.Errorf("--count %d: it is 1 or more", f.count)
	case f.time <= 0:
		return fmt.Errorf("--time %v: it is positive", f.time)
	case f.maxP99 < 0:
		return fmt.Errorf("--max-p99 %v: it is positive", f.maxP99)
	}
	return nil
}

func (f *benchFlags) bench(ctx context.Context, s streams, module string) (err error) {
	if err := f.validate(); err != nil {
		return usageError(err)
	}
	var events map[wire.Event][]json.RawMessage
	if f.events != "" {
		text, err := os.ReadFile(f.events)
		if err == nil {
			events, err = workbench.ParseEvents(text)
		}
		if err != nil {
			return usageError(fmt.Errorf("--events %s: %w", f.events, err))
		}
	}
	host, err := newHost(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, host.Close(ctx)) }()
	modules := []string{module}
	if f.compare != "" {
		modules = append(modules, f.compare)
	}
	var benches []*workbench.Bench
	for _, m := range modules {
		x, err := f.extension(m)
		if err != nil {
			return err
		}
		b := &workbench.Bench{Extension: x, Bundled: extensions.Bundled, Host: host, Events: events, Time: f.time}
		if err := b.Open(ctx); err != nil {
			return usageError(fmt.Errorf("%s: %w", m, err))
		}
		defer func() { err = errors.Join(err, b.Close(ctx)) }()
		benches = append(benches, b)
	}
	if len(benches[0].Hooks()) == 0 {
		return usageError(fmt.Errorf("%s: it hooks none of the events that would be measured", module))
	}
	run := benchRun{flags: f, out: s, benches: benches, keys: benchKeys(modules)}
	return run.all(ctx)
}

// benchKeys tell the modules apart in the names of benchmarks; a module alone needs none, so that its figures compare with those
// of an older build.
func benchKeys(modules []string) []string {
	if len(modules) == 1 {
		return []string{""}
	}
	a, b := filepath.Base(modules[0]), filepath.Base(modules[1])
	if a == b {
		a, b = modules[0], modules[1]
	}
	if a == b {
		a, b = a+"#1", b+"#2"
	}
	return []string{"module=" + a, "module=" + b}
}

// benchRun measures and keeps the figures, by module.
type benchRun struct {
	flags   *benchFlags
	out     streams
	benches []*workbench.Bench
	keys    []string
	figures [2]map[wire.Event][]*workbench.HookFigures
}

func (r *benchRun) all(ctx context.Context) error {
	fmt.Fprint(r.out.out, workbench.BenchHeader())
	for i := range r.benches {
		r.figures[i] = map[wire.Event][]*workbench.HookFigures{}
	}
	for range r.flags.count {
		for i, b := range r.benches {
			start, err := b.Start(ctx)
			if err != nil {
				return failed(err)
			}
			fmt.Fprint(r.out.out, printable(start.Lines(r.keys[i])))
		}
		for hook := wire.Event(1); int(hook) <= wire.EventCount; hook++ {
			for i, b := range r.benches {
				if !slices.Contains(b.Hooks(), hook) {
					continue
				}
				f, err := b.Hook(ctx, hook)
				if err != nil {
					return benchError(err)
				}
				r.figures[i][hook] = append(r.figures[i][hook], f)
				fmt.Fprint(r.out.out, printable(f.Line(r.keys[i])))
			}
		}
	}
	r.ratios()
	return r.gates()
}

// benchError gives a call that failed the exit code 1 and an event that is wrong 2.
func benchError(err error) error {
	var fault *wasmhost.Fault
	if errors.As(err, &fault) {
		return failed(fmt.Errorf("%w\nonly calls that succeed can be measured; give events that fit with --events", err))
	}
	return usageError(err)
}

// ratios sets the hooks that both modules have side by side. Lines that begin with # mean nothing to benchstat.
func (r *benchRun) ratios() {
	if len(r.benches) < 2 {
		return
	}
	for _, hook := range r.benches[0].Hooks() {
		if other := r.figures[1][hook]; other != nil {
			fmt.Fprintf(r.out.out, "# %s\n", workbench.Ratio(median(r.figures[0][hook]), median(other)))
		}
	}
}

// median is the run whose p99 is the middle one.
func median(runs []*workbench.HookFigures) *workbench.HookFigures {
	sorted := slices.Clone(runs)
	slices.SortFunc(sorted, func(a, b *workbench.HookFigures) int { return int(a.P99 - b.P99) })
	return sorted[len(sorted)/2]
}

func (r *benchRun) gates() error {
	var over []string
	for _, hook := range r.benches[0].Hooks() {
		f := median(r.figures[0][hook])
		if limit := r.flags.maxP99; limit > 0 && f.P99 > limit {
			over = append(over, fmt.Sprintf("%s: p99 is %v, more than --max-p99 %v", hook, f.P99, limit))
		}
		if limit := r.flags.maxFuel; limit > 0 && f.MaxFuel > limit {
			over = append(over, fmt.Sprintf("%s: a call took %d fuel, more than --max-fuel %d", hook, f.MaxFuel, limit))
		}
	}
	if over != nil {
		return failed(errors.New(strings.Join(over, "\n")))
	}
	return nil
}

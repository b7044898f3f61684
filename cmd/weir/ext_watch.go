package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"weir/engine"
	"weir/engine/script"
	"weir/engine/set"
	"weir/engine/workbench"
	"weir/extensions"
	"weir/internal/filewatch"
)

// extWatch is `ext watch`.
type extWatch struct {
	streams
	build string // "" builds nothing
	dir   string
	file  string // the module or test file that was named; "" is the folder's
	once  bool
}

func newWatch(s streams) *cobra.Command {
	w := extWatch{streams: s}
	cmd := &cobra.Command{
		Use:   "watch [DIR|FILE]",
		Short: "Build and test an extension each time that a file of it changes",
		Long: "Builds the extension in a folder (this one when none is named), runs its test files, says what came of it, and does so\n" +
			"again whenever a file below the folder changes, until Ctrl-C. Without test files the module is loaded and described.\n\n" +
			"It is built by make if there is a Makefile, by build.sh, or as a project of `weir ext new` is, which is known by its\n" +
			"files; --build names another command for the shell. A policy in TypeScript or JavaScript needs no build. With FILE only\n" +
			"that is tested: a policy, a module or a test file.",
		Example: "  weir ext watch\n  weir ext watch policy.ts\n  weir ext watch guard-rm --build 'make wasm'",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := "."
			if len(args) == 1 {
				path = args[0]
			}
			if err := w.locate(path, cmd.Flags().Changed("build")); err != nil {
				return usageError(err)
			}
			return w.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&w.build, "build", "", "the command that builds the module, for sh in the extension's folder")
	cmd.Flags().BoolVar(&w.once, "once", false, "build and test once, and end with 0 if all is well")
	return cmd
}

// locate finds what is watched and how it is built.
func (w *extWatch) locate(path string, named bool) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	w.dir = path
	if !info.IsDir() {
		w.dir, w.file = filepath.Dir(path), path
	}
	if named || w.file != "" && script.Is(w.file) {
		return nil
	}
	w.build, err = workbench.FindBuild(w.dir)
	return err
}

// run does rounds until ctx ends.
func (w *extWatch) run(ctx context.Context) error {
	if w.once {
		return w.round(ctx, nil)
	}
	watcher, err := filewatch.New()
	if err != nil {
		return failed(err)
	}
	defer watcher.Close() //nolint:errcheck // nothing is lost
	said := regular(w.out)
	watcher.Ignore = func(path string) bool {
		if w.build != "" && made(path) {
			return true
		}
		info, err := os.Stat(path)
		return said != nil && err == nil && os.SameFile(info, said) // what we print ourselves is no reason to go on
	}
	if err := watcher.Track([]string{w.dir}); err != nil {
		return failed(err)
	}
	var changed []string
	for {
		if err := w.round(ctx, changed); err != nil && ctx.Err() == nil {
			var silent *silentError
			if !errors.As(err, &silent) {
				fmt.Fprintln(w.out, printable(err.Error()))
			}
		}
		if changed, err = watcher.Next(ctx); err != nil {
			if ctx.Err() != nil {
				return nil // Ctrl-C is how it ends
			}
			return failed(err)
		}
	}
}

// regular is the file that a stream writes to; nil when it is none.
func regular(stream any) os.FileInfo {
	f, ok := stream.(*os.File)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return info
}

// made says whether a file is one that builds make, so that a build does not set off the next.
func made(path string) bool {
	switch filepath.Ext(path) {
	case ".wasm", ".wat", ".o", ".map":
		return true
	}
	return filepath.Base(path) == "Cargo.lock"
}

// round builds and tests. Its error says whether all was well.
func (w *extWatch) round(ctx context.Context, changed []string) error {
	what := "start"
	if len(changed) > 0 {
		what = strings.Join(changed, ", ")
	}
	const most = 200
	fmt.Fprintf(w.out, "== %s %s\n", time.Now().Format(time.TimeOnly), oneLine(what, most))
	begin := time.Now()
	err := w.make(ctx)
	if err == nil {
		err = w.test(ctx)
	}
	if ctx.Err() != nil {
		return err
	}
	outcome := "ok"
	if err != nil {
		outcome = "failed"
	}
	fmt.Fprintf(w.out, "== %s %s after %v\n", time.Now().Format(time.TimeOnly), outcome, time.Since(begin).Round(time.Millisecond))
	return err
}

// make runs the build. What compilers say has the author's file and line.
func (w *extWatch) make(ctx context.Context) error {
	if w.build == "" {
		return nil
	}
	fmt.Fprintf(w.out, "build: %s\n", printable(w.build))
	cmd := exec.CommandContext(ctx, "sh", "-c", w.build)
	cmd.Dir = w.dir
	cmd.WaitDelay = time.Second // a child of it may hold on to the output
	said, err := cmd.CombinedOutput()
	if text := strings.TrimRight(string(said), "\n"); text != "" {
		fmt.Fprintln(w.out, printable(text))
	}
	if err != nil {
		return failed(fmt.Errorf("the build failed: %w", err))
	}
	return nil
}

// test runs the test files or, without any, loads the module.
func (w *extWatch) test(ctx context.Context) error {
	if w.file != "" && !strings.HasSuffix(w.file, workbench.Suffix) {
		return w.testModule(ctx, w.file)
	}
	path := w.dir
	if w.file != "" {
		path = w.file
	} else if _, err := workbench.FindFiles([]string{w.dir}); errors.Is(err, workbench.ErrNoTestFile) {
		module := workbench.FindModule(w.dir)
		if module == "" {
			return usageError(fmt.Errorf("%s has no test file and no one module; name the module, or write policy_test.toml", w.dir))
		}
		fmt.Fprintln(w.out, "no test file; `weir ext test --help` shows one")
		return w.load(ctx, module)
	}
	// What is wrong with a file goes where the outcome goes: a round is one block.
	return (&testFlags{}).test(ctx, streams{in: w.in, out: w.out, err: w.out}, []string{path})
}

// testModule runs those test files of the module's folder that are for it, and loads it when there are none.
func (w *extWatch) testModule(ctx context.Context, module string) error {
	files, err := testFilesOf(module)
	if err != nil {
		return usageError(err)
	}
	if len(files) == 0 {
		fmt.Fprintln(w.out, "no test file; `weir ext test --help` shows one")
		return w.load(ctx, module)
	}
	return (&testFlags{}).test(ctx, streams{in: w.in, out: w.out, err: w.out}, files)
}

// load says what a module is, or why it does not load.
func (w *extWatch) load(ctx context.Context, module string) (err error) {
	x, err := moduleExtension(module, set.Limits{}, set.Grant{})
	if err != nil {
		return usageError(err)
	}
	host, err := newHost(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, host.Close(context.WithoutCancel(ctx))) }()
	info, err := engine.Inspect(ctx, engine.Config{Host: host, Bundled: extensions.Bundled}, x)
	if err != nil {
		return usageError(whyNot(err))
	}
	var hooks []string
	for _, h := range info.Hooks {
		hooks = append(hooks, hookText(h))
	}
	fmt.Fprintln(w.out, printable(fmt.Sprintf("%s: %s %s, hooks %s", module, info.Name, info.Version, strings.Join(hooks, ", "))))
	return nil
}

// testFilesOf are those in a module's folder that test it.
func testFilesOf(module string) ([]string, error) {
	found, err := filepath.Glob(filepath.Join(filepath.Dir(module), "*"+workbench.Suffix))
	if err != nil {
		return nil, err
	}
	var files []string
	for _, path := range found {
		file, err := workbench.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if sameFile(file.Module, module) {
			files = append(files, path)
		}
	}
	return files, nil
}

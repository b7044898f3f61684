// Command weir runs an agent whose tool calls, tool results and model context pass through sandboxed WebAssembly
// extensions, and is the workbench of those who write them.
//
// Exit codes: 0 ok, 1 the run or the guest failed, 2 usage, configuration or a module that does not load.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"weir/engine/set"
	"weir/wasmhost"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// streams are where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
	// lines are those of in, for who asks a person; interrupts is who gets Ctrl-C. Both are nil where nobody is asked.
	lines      *lineReader
	interrupts *interrupts
}

// run is the whole program, for main and for tests.
func run(args []string, in io.Reader, out, errOut io.Writer) int {
	s := streams{in: in, out: out, err: errOut, lines: newLineReader(in), interrupts: &interrupts{}}
	ctx, stop := watchSignals(context.Background(), s.interrupts)
	defer stop()
	root := newRoot(s)
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	var quiet *silentError
	if !errors.As(err, &quiet) {
		fmt.Fprintln(errOut, printable(err.Error()))
	}
	return exitCode(err)
}

func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "weir",
		Short: "An agent held by sandboxed WebAssembly extensions",
		Long: "weir runs an agent whose tool calls, tool results and model context pass through sandboxed\n" +
			"WebAssembly extensions. `weir demo` shows it, without a key and without a network.",
		SilenceUsage:      true,
		SilenceErrors:     true,
		Args:              cobra.NoArgs,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError(fmt.Errorf("%w\nsee %s --help", err, cmd.CommandPath()))
	})
	root.AddCommand(newDemo(s), newRun(s), newChat(s), newTrust(s), newModels(s), newSessions(s), newInit(s), newCheck(s), newExt(s), newDecide(s), newHook(s), newMCP(s), newDoctor(s), newBacktest(s), newInstall(s), newUninstall(s), newExplain(s), newAudit(s), newCompile(s))
	return root
}

// codeError is an error that decides the exit code.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string { return e.err.Error() }
func (e *codeError) Unwrap() error { return e.err }

func usageError(err error) error { return &codeError{exitUsage, err} }

// silentError decides the exit code and has nothing more to say.
type silentError struct{ code int }

func (e *silentError) Error() string { return fmt.Sprintf("exit status %d", e.code) }

// exitCode maps an error to the exit code. What cobra itself finds wrong (an unknown command, a missing argument) is
// usage.
func exitCode(err error) int {
	var code *codeError
	var silent *silentError
	var inSet *set.Error
	var fault *wasmhost.Fault
	switch {
	case errors.As(err, &silent):
		return silent.code
	case errors.As(err, &code):
		return code.code
	case errors.As(err, &inSet):
		return exitUsage
	case errors.As(err, &fault):
		if fault.Kind == wasmhost.KindLoad {
			return exitUsage
		}
		return exitFailed
	default:
		return exitUsage
	}
}

func failed(err error) error { return &codeError{exitFailed, err} }

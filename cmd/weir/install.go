package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"weir/engine"
	"weir/engine/agents/install"
	"weir/extensions"
)

const agentNames = "claude, codex, copilot, crush, cursor or gemini"

// installFlags are the flags of `install` and `uninstall`.
type installFlags struct {
	set           string
	modules       []string
	user, project bool
	yes, dryRun   bool
}

func (f *installFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.user, "user", false, "your own configuration (the default)")
	cmd.Flags().BoolVar(&f.project, "project", false, "the configuration of the working folder")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "do it without asking")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show the change and do nothing")
	cmd.MarkFlagsMutuallyExclusive("user", "project")
	cmd.MarkFlagsMutuallyExclusive("yes", "dry-run")
}

func newInstall(s streams) *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "install AGENT",
		Short: "Put weir hook into the configuration of another coding agent",
		Long: "Adds `weir hook` to the configuration file of an agent (" + agentNames + ") for every event that\n" +
			"weir answers, with the absolute paths of weir and of the set and, where the agent has one, with its option that a hook that\n" +
			"fails blocks. Everything else in the file stays byte for byte. The change is shown first, and done after a yes.\n\n" +
			"`weir uninstall AGENT` undoes it, `weir doctor AGENT` checks that it is in force.",
		Example: "  weir install claude --set ~/weir.toml\n  weir install codex -e bundled:guard-shell --dry-run",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.install(cmd.Context(), s, args[0])
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&f.set, "set", "", "extension set, instead of the user's (never of the managed one)")
	cmd.Flags().StringArrayVarP(&f.modules, "extension", "e", nil, "a module to load after the set: a .wasm file or bundled:NAME; repeatable")
	return cmd
}

func newUninstall(s streams) *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "uninstall AGENT",
		Short: "Take weir hook out of the configuration of another coding agent",
		Long: "Undoes `weir install AGENT`: a file that nobody has changed since becomes what it was, byte for byte, and one that was not\n" +
			"there goes. From a file that was changed only the entries of weir are taken out. The change is shown first.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.uninstall(cmd.Context(), s, args[0])
		},
	}
	f.add(cmd)
	return cmd
}

// place is the configuration file that the flags mean.
func (f *installFlags) place(agent string) (p *install.Place, records string, err error) {
	scope := install.User
	if f.project {
		scope = install.Project
	}
	env, err := installEnv()
	if err != nil {
		return nil, "", err
	}
	if p, err = install.Find(agent, scope, env); err != nil {
		return nil, "", usageError(err)
	}
	data, err := sessionsFolder()
	if err != nil {
		return nil, "", usageError(err)
	}
	return p, filepath.Join(filepath.Dir(data), "installed"), nil
}

func installEnv() (install.Env, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return install.Env{}, usageError(err)
	}
	cwd, err := os.Getwd()
	if err != nil {
		return install.Env{}, usageError(err)
	}
	return install.Env{Home: home, CWD: cwd, Getenv: os.Getenv}, nil
}

func (f *installFlags) install(ctx context.Context, s streams, agent string) error {
	p, records, err := f.place(agent)
	if err != nil {
		return err
	}
	cmd, err := f.command(ctx)
	if err != nil {
		return err
	}
	c, err := p.Install(cmd, records)
	if err != nil {
		return usageError(err)
	}
	if c.Empty() {
		fmt.Fprintf(s.out, "%s runs weir already: nothing to do\n", printable(c.Path))
		return nil
	}
	if ok, err := f.agreed(ctx, s, c); err != nil || !ok {
		return err
	}
	if err := c.Apply(records); err != nil {
		return failed(err)
	}
	fmt.Fprintf(s.out, "%s now runs weir; `weir doctor %s` checks it, `weir uninstall %s` undoes it\n", printable(c.Path), agent, agent)
	if agent == "codex" {
		fmt.Fprintln(s.out, "Codex skips a hook until you have trusted it: run /hooks in Codex")
	}
	return nil
}

func (f *installFlags) uninstall(ctx context.Context, s streams, agent string) error {
	p, records, err := f.place(agent)
	if err != nil {
		return err
	}
	c, err := p.Uninstall(records)
	if err != nil {
		return usageError(err)
	}
	if c.Empty() {
		if !f.dryRun {
			if err := c.Remove(records); err != nil { // a record without a file, if anything
				return failed(err)
			}
		}
		fmt.Fprintf(s.out, "%s does not run weir: nothing to do\n", printable(c.Path))
		return nil
	}
	if ok, err := f.agreed(ctx, s, c); err != nil || !ok {
		return err
	}
	if err := c.Remove(records); err != nil {
		return failed(err)
	}
	what := "does not run weir any more"
	if c.Delete {
		what = "is gone: nothing else was in it"
	}
	fmt.Fprintf(s.out, "%s %s\n", printable(c.Path), what)
	return nil
}

// agreed shows a change, and asks where there is somebody to ask. false: it must not be done.
func (f *installFlags) agreed(ctx context.Context, s streams, c *install.Change) (bool, error) {
	if _, err := io.WriteString(s.out, printable(c.Diff())); err != nil {
		return false, failed(err)
	}
	switch {
	case f.dryRun:
		return false, nil
	case f.yes:
		return true, nil
	case !terminal(s.in) || !terminal(s.out):
		return false, usageError(errors.New("nothing was changed: there is nobody to ask here; run it again with --yes"))
	}
	fmt.Fprintf(s.out, "change %s? [y/N] ", printable(c.Path))
	line, err := s.lines.read(ctx)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, failed(err)
	}
	if !yes(line) {
		return false, failed(errors.New("nothing was changed"))
	}
	return true, nil
}

// command is what the agent is to run. It loads the set first: one that does not load would deny everything.
func (f *installFlags) command(ctx context.Context) (cmd install.Command, err error) {
	if cmd.Weir, err = ownPath(); err != nil {
		return cmd, usageError(err)
	}
	if f.set != "" {
		if cmd.Set, err = filepath.Abs(f.set); err != nil {
			return cmd, usageError(err)
		}
	}
	for _, m := range f.modules {
		if !strings.HasPrefix(m, "bundled:") {
			if m, err = filepath.Abs(m); err != nil {
				return cmd, usageError(err)
			}
		}
		cmd.Modules = append(cmd.Modules, m)
	}
	x, err := openSet(cmd.Set, cmd.Modules)
	if err != nil {
		return cmd, err
	}
	if len(x.Extensions) == 0 {
		return cmd, usageError(errors.New("no set applies here and none was named: give one with --set FILE, or a module with -e MODULE (`weir init` writes a set)"))
	}
	host, err := newHost(ctx)
	if err != nil {
		return cmd, err
	}
	defer func() { err = errors.Join(err, host.Close(ctx)) }()
	e, err := engine.Open(ctx, engine.Config{Host: host, Set: x, Bundled: extensions.Bundled})
	if err != nil {
		return cmd, usageError(err)
	}
	return cmd, e.Close(ctx)
}

// ownPath is where this program is, as a path that stays: the name in PATH where that leads here, since a package manager may
// move what is behind it.
func ownPath() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if strings.Contains(self, string(filepath.Separator)+"go-build") {
		return "", fmt.Errorf("%s is a temporary build of `go run`, which will be gone; build weir first (make build)", self)
	}
	named, err := exec.LookPath("weir")
	if err != nil {
		return self, nil //nolint:nilerr // it is not in PATH, and need not be
	}
	if named, err = filepath.Abs(named); err != nil {
		return "", err
	}
	if sameFile(named, self) {
		return named, nil
	}
	return self, nil
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

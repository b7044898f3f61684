package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"weir/engine"
	"weir/engine/set"
	"weir/engine/trust"
	"weir/extensions"
	"weir/wasmhost"
)

func newTrust(s streams) *cobra.Command {
	var yes, list, revoke bool
	cmd := &cobra.Command{
		Use:   "trust [DIR]",
		Short: "Show what trusting a project's .weir folder means, and trust it",
		Long: "A project's .weir/weir.toml is not used before you trust it. This shows what it amounts to: each extension with its\n" +
			"digest, its hooks and its grants, and what the set says for all. On a terminal it asks; --yes trusts it at once.\n\n" +
			"What is trusted is the project as it is: another module, grant, setting, mode or order of the extensions has to be\n" +
			"trusted again, and until then `weir run` asks, or fails where there is nobody to ask. Nothing of the modules is run\n" +
			"but what they say of themselves, in the sandbox.",
		Example: "  weir trust\n  weir trust --yes ~/src/project\n  weir trust --list\n  weir trust --revoke",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			switch {
			case list:
				return listTrust(s)
			case revoke:
				return revokeTrust(s, dir)
			default:
				return trustProject(cmd.Context(), s, dir, yes)
			}
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "trust it without a question")
	cmd.Flags().BoolVar(&list, "list", false, "list what was decided about projects")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "forget what was decided about the project")
	cmd.MarkFlagsMutuallyExclusive("yes", "list", "revoke")
	return cmd
}

// byAgent refuses to take an agent's word: the shell of its tools says whose it is. It is no lock, since a command can take the
// variable out of its environment.
func byAgent() error {
	if os.Getenv(agentVariable) == "" {
		return nil
	}
	return usageError(errors.New("weir trust: an agent runs this command (" + agentVariable + " is set), and whether a project is trusted is for a person to say"))
}

func trustProject(ctx context.Context, s streams, dir string, yes bool) (err error) {
	if yes || terminal(s.in) {
		if err := byAgent(); err != nil {
			return err
		}
	}
	t := projectTrial{streams: s, cwd: dir}
	if err := t.look(); err != nil {
		return err
	}
	if t.file == "" {
		return usageError(fmt.Errorf("%s has no %s/%s: there is nothing to trust", dir, projectFolder, set.FileName))
	}
	if t.host, err = newHost(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.host.Close(context.WithoutCancel(ctx))) }()
	if err := t.describe(ctx); err != nil {
		return err
	}
	if err := printProject(ctx, s.out, t.host, t.set, t.project, t.status); err != nil {
		return err
	}
	if t.status.Trusted() {
		return nil
	}
	if !yes && (!terminal(s.in) || !terminal(s.out)) {
		fmt.Fprintln(s.out, "\n`weir trust --yes` trusts it")
		return nil
	}
	if !yes {
		p := &prompter{lines: s.lines, out: s.out, style: newStyle(s.out), interrupts: s.interrupts}
		agreed, err := p.Confirm(ctx, "weir", "Is this project trusted?", "")
		if err != nil {
			return failed(err)
		}
		if !agreed {
			fmt.Fprintln(s.out, "nothing was changed")
			return &silentError{exitFailed}
		}
	}
	if err := t.store.Put(t.project, trust.Trusted, ""); err != nil {
		return failed(err)
	}
	fmt.Fprintf(s.out, "\ntrusted: %s\n", printable(t.project.Dir))
	return nil
}

func listTrust(s streams) error {
	store, err := trustStore()
	if err != nil {
		return err
	}
	list, err := store.List()
	if err != nil {
		return usageError(err)
	}
	for _, e := range list {
		by := ""
		if e.By != "" {
			by = " by " + e.By
		}
		var names []string
		for i := range e.Project.Extensions {
			names = append(names, e.Project.Extensions[i].Name)
		}
		fmt.Fprintln(s.out, printable(fmt.Sprintf("%-8s %s  %s  (%s%s)", e.Decision, e.Time.Local().Format("2006-01-02 15:04"), e.Project.Dir, strings.Join(names, ", "), by)))
	}
	if len(list) == 0 {
		fmt.Fprintln(s.err, "nothing was decided about any project")
	}
	return nil
}

func revokeTrust(s streams, dir string) error {
	store, err := trustStore()
	if err != nil {
		return err
	}
	if err := byAgent(); err != nil {
		return err
	}
	name := dir
	if canonical, err := trust.Canonical(dir); err == nil { // one that is gone goes by the name that --list shows
		name = canonical
	}
	found, err := store.Delete(name)
	if err != nil {
		return failed(err)
	}
	if !found {
		return usageError(fmt.Errorf("nothing was decided about %s; see `weir trust --list`", name))
	}
	fmt.Fprintln(s.out, "forgotten:", printable(name))
	return nil
}

// printProject shows what trusting a project means, and where it stands.
func printProject(ctx context.Context, out io.Writer, host *wasmhost.Host, x *set.Set, p *trust.Project, status *trust.Status) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "%s\nif it is trusted, `weir` in %s uses %d extensions of its own:\n\n", printable(x.Path), printable(p.Dir), len(p.Extensions))
	row := func(key, format string, args ...any) {
		fmt.Fprintf(w, "  %s\t%s\n", key, printable(fmt.Sprintf(format, args...)))
	}
	for i := range p.Extensions {
		e := &p.Extensions[i]
		info, err := engine.Inspect(ctx, engine.Config{Host: host, Bundled: extensions.Bundled}, &x.Extensions[i])
		if err != nil {
			return usageError(err)
		}
		row(e.Name, "%s %s, from %s", info.Name, info.Version, e.Module)
		if e.SHA256 != "" {
			row("", "sha256 %s", e.SHA256)
		}
		if e.Mode == set.ModeMonitor.String() {
			row("", "monitor: it decides and changes nothing")
		}
		var hooks []string
		for _, h := range info.Hooks {
			hooks = append(hooks, hookText(h))
		}
		row("", "hooks %s", orNothing(hooks))
		if len(info.Tools) > 0 {
			row("", "tools %s", strings.Join(info.Tools, ", "))
		}
		row("", "grants %s", orNothing(e.Grants))
	}
	if err := w.Flush(); err != nil {
		return failed(err)
	}
	for _, k := range []struct {
		key string
		on  bool
	}{{"recheck", p.Recheck}, {"pairs", p.Pairs}, {"protect", p.Protect}} {
		if !k.on {
			fmt.Fprintf(out, "  the set switches off %s\n", k.key)
		}
	}
	switch {
	case status.Trusted():
		fmt.Fprintf(out, "\nit is trusted since %s\n", status.Entry.Time.Local().Format("2006-01-02 15:04"))
	case status.Changed():
		fmt.Fprintf(out, "\nit changed since it was trusted on %s:\n  %s\n", status.Entry.Time.Local().Format("2006-01-02 15:04"), printable(strings.Join(status.Changes, "\n  ")))
	case status.Refused():
		fmt.Fprintf(out, "\nit was refused on %s\n", status.Entry.Time.Local().Format("2006-01-02 15:04"))
	default:
		fmt.Fprintln(out, "\nit is not trusted")
	}
	return nil
}

func orNothing(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, ", ")
}

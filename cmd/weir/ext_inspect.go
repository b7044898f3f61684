package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"weir/engine"
	"weir/engine/set"
	"weir/extensions"
	"weir/wasmhost"
)

func newInspect(s streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "inspect MODULE",
		Short: "Show what a module is, hooks and asks for",
		Long:  "Shows a module's name, hooks, imports as capabilities, settings, limits, size and digest. Nothing of it is run but\nweir_describe, without any grant. Of a module that does not load it is said what is wrong and how to build it right.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			x, err := moduleExtension(args[0], set.Limits{}, set.Grant{})
			if err != nil {
				return usageError(err)
			}
			host, err := newHost(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, host.Close(cmd.Context())) }()
			info, err := engine.Inspect(cmd.Context(), engine.Config{Host: host, Bundled: extensions.Bundled}, x)
			if err != nil {
				return usageError(whyNot(err))
			}
			if asJSON {
				enc := json.NewEncoder(s.out)
				enc.SetEscapeHTML(false)
				enc.SetIndent("", "  ")
				return enc.Encode(info)
			}
			return printInfo(s, info)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return cmd
}

// whyNot tells of a module that does not load in two lines: what is wrong, and what to do about it.
func whyNot(err error) error {
	var load *engine.LoadError
	if !errors.As(err, &load) || load.Hint == "" {
		return err
	}
	return fmt.Errorf("%s: does not load: %w\nto build it right: %s", load.Module, load.Err, load.Hint)
}

func printInfo(s streams, info *engine.ModuleInfo) error {
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	row := func(key, format string, args ...any) {
		fmt.Fprintf(w, "%s\t%s\n", key, printable(fmt.Sprintf(format, args...)))
	}
	row("name", "%s %s", info.Name, info.Version)
	if info.Description != "" {
		row("", "%s", info.Description)
	}
	kind := "weir extension, ABI 1"
	if !info.Described {
		kind = "plain Extism module (no weir_describe)"
	}
	row("kind", "%s", kind)
	row("runtime", "%s", strings.Join(info.Runtimes, ", "))
	row("size", "%d bytes, %d functions", info.Size, info.Functions)
	row("sha256", "%s", info.Digest)
	row("memory", "%s", info.Memory)
	for i, h := range info.Hooks {
		row(label("hooks", i), "%s", hookText(h))
	}
	for i, t := range info.Tools {
		row(label("tools", i), "%s", t)
	}
	for i, c := range info.Commands {
		row(label("commands", i), "/%s", c)
	}
	if len(info.Capabilities) == 0 {
		row("capabilities", "none: it can decide and log, nothing else")
	}
	for i, c := range info.Capabilities {
		why := c.Reason
		if why == "" {
			why = "it gives no reason"
		}
		row(label("capabilities", i), "%s (%s); to grant it, add to its [extension.grant]: %s", c.Name, why, c.Grant)
	}
	for i, m := range info.Imports {
		row(label("imports", i), "%s", m)
	}
	if info.Config != nil {
		row("settings", "%s", info.Config)
	}
	row("limits", "%s", limitsText(info.Limits))
	return w.Flush()
}

func label(name string, i int) string {
	if i > 0 {
		return ""
	}
	return name
}

func hookText(h engine.HookInfo) string {
	s := h.Event
	var opts []string
	if len(h.Tools) > 0 {
		opts = append(opts, "tools "+strings.Join(h.Tools, " "))
	}
	if h.View != "" {
		opts = append(opts, h.View+" view")
	}
	if h.OnError != "" {
		opts = append(opts, "on error: "+h.OnError)
	}
	if len(opts) > 0 {
		s += " (" + strings.Join(opts, "; ") + ")"
	}
	return s
}

func limitsText(l wasmhost.Limits) string {
	return fmt.Sprintf("%v a call, %d fuel, %d MiB memory, %d MiB stack, %d MiB output, %d host calls, quarantine after %d faults in a row (the defaults; a set can change them)",
		l.Timeout, l.Fuel, l.Memory>>20, l.Depth>>20, l.Output>>20, l.HostCalls, l.Quarantine)
}

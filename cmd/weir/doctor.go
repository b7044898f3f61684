package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"weir/engine/agents/install"
)

func newDoctor(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor AGENT",
		Short: "Check that weir hook is in force in another coding agent",
		Long: "Looks at what `weir install` wrote for an agent (" + agentNames + "), in your own configuration and in\n" +
			"that of the working folder: the agent's version, the files, who else can change them or the set and its modules, whether every\n" +
			"event and every tool reaches weir, and settings that keep hooks from running. Then it proves that the hook bites: it runs the\n" +
			"installed command line with a harmless call, an event that cannot be read, and destructive calls, none of which is carried\n" +
			"out, and shows the answers with exit code and time.\n\n" +
			"The exit code is 1 when something is wrong; each finding says what to do.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			env, err := installEnv()
			if err != nil {
				return err
			}
			weir, err := ownPath()
			if err != nil {
				return usageError(err)
			}
			st := newStyle(s.out)
			findings := 0
			err = install.Check(cmd.Context(), args[0], install.CheckConfig{
				Env: env, Weir: weir, Files: setFiles,
				Report: func(l install.Line) {
					text := strings.ReplaceAll(printable(l.Text), "\n", "\n      ")
					switch l.Level {
					case install.OK:
						fmt.Fprintf(s.out, "%s %s\n", st.green("ok   "), text)
					case install.Note:
						fmt.Fprintf(s.out, "%s %s\n", st.yellow("note "), text)
					case install.Bad:
						findings++
						fmt.Fprintf(s.out, "%s %s\n      do: %s\n", st.red("wrong"), text, printable(l.Do))
					}
				},
			})
			switch {
			case err != nil:
				return usageError(err)
			case findings > 0:
				return failed(fmt.Errorf("%s: %d findings", args[0], findings))
			}
			return nil
		},
	}
}

// setFiles are the files that decide what a set does.
func setFiles(c install.Command) ([]string, error) {
	x, err := openSet(c.Set, c.Modules)
	if err != nil {
		return nil, err
	}
	var files []string
	seen := map[string]bool{}
	for i := range x.Extensions {
		e := &x.Extensions[i]
		list := []string{e.Pos.File}
		if strings.HasPrefix(list[0], "-e ") {
			list = nil // named on the command line
		}
		if _, bundled := e.Bundled(); !bundled {
			list = append(list, e.Module)
		}
		for _, f := range list {
			if !seen[f] {
				seen[f] = true
				files = append(files, f)
			}
		}
	}
	return files, nil
}

package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"weir/engine/workbench"
)

func newNew(s streams) *cobra.Command {
	var lang, dir string
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Start an extension: a policy, its tests, a README",
		Long: "Writes a project into a new folder: a policy that works, a test file for `weir ext test`, and a README with the command that\n" +
			"builds it. The SDK comes with it: building needs the language's own tools, and neither a network nor weir's sources.\n" +
			"TypeScript needs no tools at all. No file is overwritten.",
		Example: "  weir ext new guard-push --lang ts\n  weir ext new guard-push --lang c --dir extensions/guard-push",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := workbench.NewProject(args[0], lang)
			if err != nil {
				return usageError(err)
			}
			if dir == "" {
				dir = args[0]
			}
			if err := p.Write(dir); err != nil {
				return usageError(err)
			}
			build := ""
			if lang != "ts" {
				build = "  " + p.Build + "\n"
			}
			_, err = fmt.Fprint(s.out, printable(fmt.Sprintf("wrote %s; now\n  cd %s\n%s  weir ext test\n", filepath.Clean(dir), filepath.Clean(dir), build)))
			return err
		},
	}
	cmd.Flags().StringVar(&lang, "lang", "ts", "language: "+strings.Join(workbench.Languages(), ", "))
	cmd.Flags().StringVar(&dir, "dir", "", "folder to write to (default: NAME, in this folder)")
	return cmd
}

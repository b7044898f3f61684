package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"weir/engine/set"
)

func newInit(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a starter weir.toml",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			path := set.FileName
			if len(args) == 1 {
				path = args[0]
			}
			if err := writeNew(path, set.Starter()); err != nil {
				return err
			}
			fmt.Fprintf(s.out, "wrote %s; `weir check %s` loads it, `weir run --set %s …` uses it\n", path, path, path)
			return nil
		},
	}
}

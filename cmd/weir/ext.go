package main

import "github.com/spf13/cobra"

func newExt(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ext",
		Short: "Look at and try out extension modules",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newNew(s), newInspect(s), newCall(s), newTest(s), newBench(s), newPack(s), newWatch(s), newTCK(s))
	return cmd
}

package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"weir/engine/journal"
)

func newAudit(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Check the journals that extensions keep",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newAuditVerify(s))
	return cmd
}

func newAuditVerify(s streams) *cobra.Command {
	var head string
	cmd := &cobra.Command{
		Use:   "verify FILE",
		Short: "Check that a journal is what was written",
		Long: "Reads a journal to its end and checks that each line follows from the one before it. Prints the head,\n" +
			"the hash that covers all of it. A journal that was written anew from its beginning is whole, too: keep heads\n" +
			"elsewhere, and give the last one that you know with --head.\n\n" +
			"Exit codes: 0 whole, 1 not, or the head is not in it, 2 usage or a file that cannot be read.",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if b, err := hex.DecodeString(head); head != "" && (err != nil || len(b) != 32) {
				return usageError(fmt.Errorf("--head %s is not a SHA-256 in hex, as `weir audit verify` prints it", head))
			}
			return verifyJournal(s, args[0], head)
		},
	}
	cmd.Flags().StringVar(&head, "head", "", "a head known from elsewhere, which must be in the journal")
	return cmd
}

func verifyJournal(s streams, path, head string) error {
	f, err := os.Open(path)
	if err != nil {
		return usageError(err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	rep, err := journal.Verify(f, head)
	name := printable(path)
	for _, line := range rep.Torn {
		fmt.Fprintf(s.out, "%s: line %d was cut short by a crash; nothing that was acknowledged is missing\n", name, line)
	}
	var problem *journal.Problem
	switch {
	case errors.As(err, &problem):
		return failed(fmt.Errorf("%s: %w\n%d entries before it are whole", path, problem, rep.Entries))
	case err != nil:
		return usageError(fmt.Errorf("%s: %w", path, err))
	case rep.Entries == 0:
		fmt.Fprintf(s.out, "%s: no entries\n", name)
	default:
		fmt.Fprintf(s.out, "%s: %d entries from %s to %s, all in their place\nhead %s\n", name, rep.Entries,
			rep.First.Format(time.RFC3339), rep.Last.Format(time.RFC3339), rep.Head)
	}
	switch {
	case head == "":
	case rep.Anchor == 0:
		return failed(fmt.Errorf("%s: the head %s is not in it: the journal was written anew, or cut off before that entry", path, head))
	default:
		fmt.Fprintf(s.out, "the head that was given covers the first %d lines\n", rep.Anchor)
	}
	return nil
}

package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestRunDoc: docs/run.md names no flag that is not there, and its commands have the form that the program takes.
func TestRunDoc(t *testing.T) {
	raw, err := os.ReadFile("../../docs/run.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	flags := regexp.MustCompile(`--[a-z][a-z-]*`)
	known := map[string]bool{"--help": true}
	root := newRoot(streams{})
	for _, cmd := range root.Commands() {
		if cmd.Name() == "run" || cmd.Name() == "trust" {
			for _, flag := range flags.FindAllString(cmd.Flags().FlagUsages(), -1) {
				known[flag] = true
			}
		}
	}
	for _, flag := range flags.FindAllString(text, -1) {
		if !known[flag] {
			t.Errorf("docs/run.md names %s, which is no flag of run or trust", flag)
		}
	}
	for _, flag := range []string{
		"--set", "--approve", "--no-approve", "--system-prompt", "--append-system-prompt", "--no-context-files", "--thinking", "--hide-thinking", "--resume", "--continue",
	} {
		if !strings.Contains(text, "`"+flag) && !strings.Contains(text, " "+flag+" ") {
			t.Errorf("docs/run.md does not say what %s does", flag)
		}
	}
	commands := 0
	for _, block := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		for _, line := range strings.Split(strings.TrimSpace(block[1]), "\n") {
			line, _, _ = strings.Cut(line, " #")
			if _, after, ok := strings.Cut(line, " | "); ok {
				line = after
			}
			args := commandWords(line)
			cmd, rest, err := newRoot(streams{}).Find(args[1:])
			if err != nil || args[0] != "weir" {
				t.Errorf("%s: %v", line, err)
				continue
			}
			if err := parses(cmd, rest); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			commands++
		}
	}
	if commands != 8 {
		t.Errorf("%d commands were looked at, want 8", commands)
	}
}

// commandWords splits a command line with double quotes.
func commandWords(line string) []string {
	var list []string
	for _, w := range regexp.MustCompile(`"[^"]*"|\S+`).FindAllString(line, -1) {
		list = append(list, strings.Trim(w, `"`))
	}
	return list
}

// parses says whether a command takes these arguments.
func parses(cmd *cobra.Command, args []string) error {
	if err := cmd.ParseFlags(args); err != nil {
		return err
	}
	if err := cmd.ValidateFlagGroups(); err != nil {
		return err
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

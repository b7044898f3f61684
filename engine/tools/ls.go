package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"weir/agentcore"
)

// defaultListLimit is how many entries ls returns. Reference: dist/core/tools/ls.js, 0.85.0.
const defaultListLimit = 500

type lsDetails struct {
	Truncation        *truncation `json:"truncation,omitempty"`
	EntryLimitReached int         `json:"entryLimitReached,omitempty"`
}

// lsTool lists a folder. Parameters: dist/core/tools/ls.d.ts, 0.85.0.
func (s *toolset) lsTool() *agentcore.Tool {
	return &agentcore.Tool{
		Name: "ls",
		Description: fmt.Sprintf("List a folder, hidden entries included, sorted by name without regard to case; folders end in /. "+
			"At most %d entries or %s.", defaultListLimit, byteSize(MaxBytes)),
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","description":"Folder to list; the working folder without it"},` +
			`"limit":{"type":"number","description":"How many entries to return at most (default 500)"}}}`),
		Prepare: preparePath,
		Execute: s.ls,
	}
}

func (s *toolset) ls(ctx context.Context, _ string, raw json.RawMessage, _ func(*agentcore.ToolResult)) (*agentcore.ToolResult, error) {
	args, err := parseArguments(raw)
	if err != nil {
		return nil, err
	}
	limit, err := args.count("limit", defaultListLimit, 1)
	if err != nil {
		return nil, err
	}
	root, info, err := s.searchRoot(args)
	if err != nil {
		return nil, fmt.Errorf("ls: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("ls: %s is not a folder", root)
	}
	entries, err := readEntries(ctx, root)
	if err != nil {
		return nil, fmt.Errorf("ls: %w", err)
	}
	var listed list
	for _, entry := range entries[:min(limit, len(entries))] {
		name := printableName(entry.Name())
		if isFolder(root, entry) {
			name += "/"
		}
		if !listed.add(name) {
			break
		}
	}
	var notes []string
	details := lsDetails{Truncation: listed.truncation()}
	if listed.full {
		notes = append(notes, fmt.Sprintf("%d of %d entries are shown (%s at most)", listed.lines, len(entries), byteSize(MaxBytes)))
	} else if len(entries) > limit {
		details.EntryLimitReached = limit
		notes = append(notes, fmt.Sprintf("%d of %d entries are shown; raise limit to see more", limit, len(entries)))
	}
	text := listed.text.String()
	if len(entries) == 0 {
		text = "(the folder is empty)"
	}
	if details == (lsDetails{}) {
		return textResult(withNotes(text, notes), nil)
	}
	return textResult(withNotes(text, notes), details)
}

// readEntries reads a folder in pieces, so that a very large one can be aborted, and sorts it.
func readEntries(ctx context.Context, dir string) (entries []fs.DirEntry, err error) {
	folder, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	for {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("aborted: %w", err)
		}
		some, err := folder.ReadDir(1024)
		entries = append(entries, some...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a.Name()), strings.ToLower(b.Name())), cmp.Compare(a.Name(), b.Name()))
	})
	return entries, nil
}

// isFolder follows a symbolic link, as the reference does; one that leads nowhere is no folder.
func isFolder(dir string, entry fs.DirEntry) bool {
	if entry.Type()&fs.ModeSymlink == 0 {
		return entry.IsDir()
	}
	info, err := os.Stat(filepath.Join(dir, entry.Name()))
	return err == nil && info.IsDir()
}

package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"weir/agentcore"
)

// defaultFindLimit is how many paths find returns. Reference: dist/core/tools/find.js, 0.85.0.
const defaultFindLimit = 1000

type findDetails struct {
	Truncation         *truncation `json:"truncation,omitempty"`
	ResultLimitReached int         `json:"resultLimitReached,omitempty"`
}

// findTool finds files and folders by name. Parameters: dist/core/tools/find.d.ts, 0.85.0.
func (s *toolset) findTool() *agentcore.Tool {
	return &agentcore.Tool{
		Name: "find",
		Description: fmt.Sprintf("Find files and folders by a glob. A pattern without / is matched with names, one with / with the "+
			"end of paths. Paths are relative to the folder searched; folders end in /. What .gitignore names is left out. At most %d paths or %s.",
			defaultFindLimit, byteSize(MaxBytes)),
		Parameters: json.RawMessage(`{"type":"object","required":["pattern"],"properties":{` +
			`"pattern":{"type":"string","description":"Glob, such as *.go, **/*.json or src/**/*_test.go"},` +
			`"path":{"type":"string","description":"Folder to search; the working folder without it"},` +
			`"limit":{"type":"number","description":"How many paths to return at most (default 1000)"}}}`),
		Prepare: preparePath,
		Execute: s.find,
	}
}

func (s *toolset) find(ctx context.Context, _ string, raw json.RawMessage, _ func(*agentcore.ToolResult)) (*agentcore.ToolResult, error) {
	args, err := parseArguments(raw)
	if err != nil {
		return nil, err
	}
	pattern, err := args.required("pattern")
	if err != nil {
		return nil, err
	}
	limit, err := args.count("limit", defaultFindLimit, 1)
	if err != nil {
		return nil, err
	}
	root, info, err := s.searchRoot(args)
	if err != nil {
		return nil, fmt.Errorf("find: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("find: %s is not a folder", root)
	}
	match, err := newFindPattern(pattern, root)
	if err != nil {
		return nil, fmt.Errorf("find: %w", err)
	}

	var found list
	limited := false
	w := walker{ctx: ctx, visit: func(rel string, entry fs.DirEntry) error {
		if !match.matches(rel, entry.IsDir()) {
			return nil
		}
		if found.lines == limit {
			limited = true
			return fs.SkipAll
		}
		name := printableName(rel)
		if entry.IsDir() {
			name += "/"
		}
		if !found.add(name) {
			return fs.SkipAll
		}
		return nil
	}}
	if err := w.walk(root); err != nil {
		return nil, fmt.Errorf("find: %w", err)
	}
	notes := w.notes()
	details := findDetails{Truncation: found.truncation()}
	if limited {
		details.ResultLimitReached = limit
		notes = append(notes, fmt.Sprintf("there are more than %d; raise limit or narrow the pattern", limit))
	}
	if found.full {
		notes = append(notes, fmt.Sprintf("cut at %s; narrow the pattern", byteSize(MaxBytes)))
	}
	text := found.text.String()
	if text == "" && !found.full {
		text = "no file or folder matches"
	}
	if details == (findDetails{}) {
		return textResult(withNotes(text, notes), nil)
	}
	return textResult(withNotes(text, notes), details)
}

// findPattern is a pattern of find. The rules are those of fd as the reference calls it (dist/core/tools/find.js,
// 0.85.0): case counts only if the pattern has an upper-case letter.
type findPattern struct {
	re         *regexp.Regexp
	on         func(rel string) string // what of a path is matched
	onlyFolder bool
}

func newFindPattern(pattern, root string) (*findPattern, error) {
	p := &findPattern{}
	glob := strings.TrimPrefix(pattern, "./")
	if strings.HasSuffix(glob, "/") {
		p.onlyFolder = true
		glob = strings.TrimRight(glob, "/")
	}
	if glob == "" {
		return nil, fmt.Errorf("the pattern %q matches nothing", pattern)
	}
	switch {
	case strings.HasPrefix(glob, "/"):
		p.on = func(rel string) string { return path.Join(filepath.ToSlash(root), rel) }
	case strings.Contains(glob, "/") || glob == "**":
		p.on = func(rel string) string { return rel }
		if !strings.HasPrefix(glob, "**/") && glob != "**" {
			glob = "**/" + glob
		}
	default:
		p.on = path.Base
	}
	var err error
	p.re, err = compileGlob(glob, true, !hasUpper(glob))
	return p, err
}

func (p *findPattern) matches(rel string, folder bool) bool {
	return (folder || !p.onlyFolder) && p.re.MatchString(p.on(rel))
}

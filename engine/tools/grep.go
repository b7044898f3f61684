package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"weir/agentcore"
)

const (
	// defaultMatchLimit is how many matching lines grep returns. Reference: dist/core/tools/grep.js, 0.85.0.
	defaultMatchLimit = 100
	// maxGrepContext is the largest number of context lines; more could not be returned anyway.
	maxGrepContext = MaxLines
)

type grepDetails struct {
	Truncation        *truncation `json:"truncation,omitempty"`
	MatchLimitReached int         `json:"matchLimitReached,omitempty"`
	LinesTruncated    bool        `json:"linesTruncated,omitempty"`
}

// grepTool searches in files. Parameters and limits: dist/core/tools/grep.d.ts, 0.85.0. The search is our own: the tool
// works where no ripgrep is installed, stops with the context, and matches in linear time.
func (s *toolset) grepTool() *agentcore.Tool {
	return &agentcore.Tool{
		Name: "grep",
		Description: fmt.Sprintf("Search files for lines that match a regular expression (Go's RE2 syntax) or a plain text. "+
			"Returns path:line: text. What .gitignore names and binary files are left out. At most %d matches or %s; lines are cut at %d characters.",
			defaultMatchLimit, byteSize(MaxBytes), maxMatchChars),
		Parameters: json.RawMessage(`{"type":"object","required":["pattern"],"properties":{` +
			`"pattern":{"type":"string","description":"Regular expression, or plain text with literal"},` +
			`"path":{"type":"string","description":"Folder or file to search; the working folder without it"},` +
			`"glob":{"type":"string","description":"Only files that match, such as *.go or src/**/*.ts; with a leading ! only the others"},` +
			`"ignoreCase":{"type":"boolean","description":"Take upper and lower case as equal (default false)"},` +
			`"literal":{"type":"boolean","description":"The pattern is plain text (default false)"},` +
			`"context":{"type":"number","description":"Lines to show before and after each match (default 0)"},` +
			`"limit":{"type":"number","description":"How many matches to return at most (default 100)"}}}`),
		Prepare: preparePath,
		Execute: s.grep,
	}
}

func (s *toolset) grep(ctx context.Context, _ string, raw json.RawMessage, _ func(*agentcore.ToolResult)) (*agentcore.ToolResult, error) {
	args, err := parseArguments(raw)
	if err != nil {
		return nil, err
	}
	g, filter, err := newGrep(args)
	if err != nil {
		return nil, fmt.Errorf("grep: %w", err)
	}
	root, info, err := s.searchRoot(args)
	if err != nil {
		return nil, fmt.Errorf("grep: %w", err)
	}
	w := walker{ctx: ctx}
	if info.IsDir() {
		w.visit = func(rel string, entry fs.DirEntry) error {
			if filter != nil {
				hit := filter.matches(rel, entry.IsDir())
				if entry.IsDir() && hit && filter.negate {
					return fs.SkipDir
				}
				if !entry.IsDir() && hit == filter.negate {
					return nil
				}
			}
			if !entry.Type().IsRegular() {
				return nil
			}
			err := g.file(ctx, filepath.Join(root, filepath.FromSlash(rel)), printableName(rel), false)
			if err != nil && !errors.Is(err, fs.SkipAll) && ctx.Err() == nil {
				g.unreadable++ // one file must not end the search
				return nil
			}
			return err
		}
		err = w.walk(root)
	} else {
		// A file that was named is searched whatever the glob and the ignore files say.
		err = g.file(ctx, root, printableName(filepath.Base(root)), true)
	}
	if err != nil && !errors.Is(err, fs.SkipAll) {
		return nil, fmt.Errorf("grep: %w", err)
	}
	return g.result(w.notes())
}

// newGrep checks the arguments. filter is nil without a glob.
func newGrep(args arguments) (g *grepSearch, filter *ignoreRule, err error) {
	pattern, err := args.required("pattern")
	if err != nil {
		return nil, nil, err
	}
	literal, err := args.flag("literal")
	if err != nil {
		return nil, nil, err
	}
	ignoreCase, err := args.flag("ignoreCase")
	if err != nil {
		return nil, nil, err
	}
	g = &grepSearch{}
	if g.limit, err = args.count("limit", defaultMatchLimit, 1); err != nil {
		return nil, nil, err
	}
	if g.context, err = args.count("context", 0, 0); err != nil {
		return nil, nil, err
	}
	g.context = min(g.context, maxGrepContext)
	if literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	if ignoreCase {
		pattern = "(?i)" + pattern
	}
	if g.re, err = regexp.Compile(pattern); err != nil {
		return nil, nil, fmt.Errorf("the pattern is no regular expression: %w (literal=true searches for plain text)", err)
	}
	glob, err := args.text("glob")
	if err != nil || glob == "" {
		return g, nil, err
	}
	if _, err := compileGlob(strings.TrimPrefix(glob, "!"), true, false); err != nil {
		return nil, nil, err
	}
	rule, ok := parseIgnoreRule(strings.TrimPrefix(glob, "./"), true)
	if !ok {
		return nil, nil, fmt.Errorf("the glob %q matches nothing", glob)
	}
	return g, &rule, nil
}

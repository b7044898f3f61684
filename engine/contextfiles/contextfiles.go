// Package contextfiles finds the files that people write for agents, AGENTS.md and CLAUDE.md, and makes a part of the system
// prompt of them.
//
// One file a folder counts, the first of [Names]: that of the user's configuration first, then those of the working folder and
// of all folders above it, the outermost first, so that what is nearest comes last. They are text for the model and no more: they
// are read whether or not a project is trusted, as the reference does (docs/security.md, 0.85.0), since an agent would read them
// in its first call anyway.
//
// Functions are safe for concurrent use.
package contextfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// The limits of what is read, in bytes. Every request carries it: 256 KiB are about 64,000 tokens.
const (
	MaxFile  = 128 << 10
	MaxTotal = 256 << 10
)

// Names are the names of files that count, of which a folder's first does (reference: dist/core/resource-loader.js, 0.85.0).
func Names() []string {
	return []string{"AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"}
}

// File is a file that was read.
type File struct {
	Path string
	Text string // without a byte order mark
}

// Load reads the files for a working folder. userDir is weir's folder of the user's configuration, "" for none. The problems say
// of each file that was found and not read why; the others are read nevertheless.
func Load(userDir, cwd string) (files []File, problems []error) {
	var folders []string
	for at := filepath.Clean(cwd); ; at = filepath.Dir(at) {
		folders = append(folders, at)
		if at == filepath.Dir(at) {
			break
		}
	}
	if userDir != "" {
		folders = append(folders, filepath.Clean(userDir))
	}
	slices.Reverse(folders)
	total := 0
	for i, folder := range folders {
		if slices.Contains(folders[:i], folder) {
			continue // the working folder is the user's configuration
		}
		path := find(folder)
		if path == "" {
			continue
		}
		text, err := read(path)
		if err == nil && total+len(text) > MaxTotal {
			err = fmt.Errorf("%s is left out: with those before it, it is more than %d KiB", path, MaxTotal>>10)
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if strings.TrimSpace(text) != "" {
			total += len(text)
			files = append(files, File{path, text})
		}
	}
	return files, problems
}

// find is the folder's file; "" when it has none.
func find(folder string) string {
	for _, name := range Names() {
		path := filepath.Join(folder, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path
		}
	}
	return ""
}

func read(path string) (string, error) {
	leave := func(format string, args ...any) (string, error) {
		return "", fmt.Errorf("%s is left out: "+format, append([]any{path}, args...)...)
	}
	// A repository may hold a link to any file of the person's. Only one to another text of this kind is followed.
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return leave("%w", cause(err))
	}
	if !strings.EqualFold(filepath.Ext(real), ".md") {
		return leave("it is a link to %s, which is no .md file", real)
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return leave("%w", cause(err))
	case !info.Mode().IsRegular():
		return leave("it is not a regular file")
	case info.Size() > MaxFile:
		return leave("it has %d bytes, more than %d KiB; shorten it, since every request would carry it", info.Size(), MaxFile>>10)
	}
	raw, err := os.ReadFile(real)
	if err != nil {
		return leave("%w", cause(err))
	}
	text := strings.TrimPrefix(string(raw), "\uFEFF")
	if !utf8.ValidString(text) {
		return leave("it is not UTF-8")
	}
	return text, nil
}

// cause is the system's reason without the path, which is said already.
func cause(err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// Prompt is the part of the system prompt that holds the files; "" for none.
func Prompt(files []File) string {
	if len(files) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("What the person and the project want you to know. Where two of these disagree, the later one is nearer to your work and counts.\n")
	for _, f := range files {
		fmt.Fprintf(&b, "\n<file path=%q>\n%s\n</file>\n", f.Path, strings.TrimRight(f.Text, "\n"))
	}
	return b.String()
}

package tools

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// maxIgnoreFile is how much of an ignore file is read, in bytes.
const maxIgnoreFile = 1 << 20

// ignoreRule is one line of a .gitignore file, or a glob of grep's.
type ignoreRule struct {
	name       string         // plain name that a base name must equal; "" when re decides
	re         *regexp.Regexp // matches the path below the file's folder, or the base name
	onPath     bool           // re is for the path
	negate     bool
	onlyFolder bool
}

// parseIgnoreRule reads a line by the rules of gitignore(5). false: it says nothing (empty, a comment, not a pattern).
func parseIgnoreRule(line string, braces bool) (ignoreRule, bool) {
	line = strings.TrimSuffix(line, "\r")
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if line == "" || line[0] == '#' {
		return ignoreRule{}, false
	}
	var rule ignoreRule
	if line[0] == '!' {
		rule.negate = true
		line = line[1:]
	}
	if strings.HasSuffix(line, "/") {
		rule.onlyFolder = true
		line = strings.TrimSuffix(line, "/")
	}
	rule.onPath = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return ignoreRule{}, false
	}
	if !rule.onPath && !strings.ContainsAny(line, `*?[\{`) {
		rule.name = line
		return rule, true
	}
	re, err := compileGlob(line, braces, false)
	if err != nil {
		return ignoreRule{}, false // as git does with a pattern that cannot match
	}
	rule.re = re
	return rule, true
}

func (r *ignoreRule) matches(rel string, folder bool) bool {
	switch {
	case r.onlyFolder && !folder:
		return false
	case r.name != "":
		return path.Base(rel) == r.name
	case r.onPath:
		return r.re.MatchString(rel)
	default:
		return r.re.MatchString(path.Base(rel))
	}
}

// ignoreFrame holds the rules of one folder, the later ones winning.
type ignoreFrame struct {
	outer *ignoreFrame // of the folder above; nil at the top or where another repository begins
	dir   string
	rules []ignoreRule
}

// enter is the frame for dir, an absolute path, which lies below f's folder.
func (f *ignoreFrame) enter(dir string) *ignoreFrame {
	frame := &ignoreFrame{outer: f, dir: dir}
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		frame.outer = nil // a repository of its own: what is above does not count
		frame.load(filepath.Join(dir, ".git", "info", "exclude"))
	}
	frame.load(filepath.Join(dir, ".gitignore"))
	if len(frame.rules) == 0 && frame.outer != nil {
		return frame.outer
	}
	return frame
}

// load adds the rules of a file. One that is missing or cannot be read has none.
func (f *ignoreFrame) load(file string) {
	in, _, err := openRegular(file)
	if err != nil {
		return
	}
	data, err := io.ReadAll(io.LimitReader(in, maxIgnoreFile))
	if errors.Join(err, in.Close()) != nil {
		return
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxIgnoreFile+1)
	for lines.Scan() {
		if rule, ok := parseIgnoreRule(lines.Text(), false); ok {
			f.rules = append(f.rules, rule)
		}
	}
}

// ignored tells whether the entry at the absolute path is left out. Its folders are not asked: nobody enters an ignored
// folder.
func (f *ignoreFrame) ignored(abs string, folder bool) bool {
	for ; f != nil; f = f.outer {
		rel, err := filepath.Rel(f.dir, abs)
		if err != nil {
			continue
		}
		rel = filepath.ToSlash(rel)
		for i := len(f.rules) - 1; i >= 0; i-- {
			if f.rules[i].matches(rel, folder) {
				return !f.rules[i].negate
			}
		}
	}
	return false
}

// ignoreAbove collects the rules that hold at dir from the folders above it, up to the root of its repository; nil
// outside of one. Whether dir itself is ignored does not matter: it was named.
func ignoreAbove(dir string) *ignoreFrame {
	var above []string
	for at := dir; ; {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			break
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		up := filepath.Dir(at)
		if up == at {
			return nil
		}
		at = up
		above = append(above, at)
	}
	var frame *ignoreFrame
	for i := len(above) - 1; i >= 0; i-- {
		frame = frame.enter(above[i])
	}
	return frame
}

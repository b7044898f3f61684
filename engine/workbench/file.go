package workbench

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"weir/engine/set"
	"weir/engine/wire"
	"weir/wasmhost"
)

// Suffix is what the names of test files end in.
const Suffix = "_test.toml"

// The place that a test's extension believes to be in, unless the file says otherwise: the same on every machine.
const (
	DefaultCWD  = "/home/dev/project"
	DefaultHome = "/home/dev"
)

// File is a test file, read and checked. It is read only.
type File struct {
	// Path is the file as it was named.
	Path string
	// Module is the extension under test: bundled:NAME or a path that can be opened as it is.
	Module string
	// CWD and Home are what events and facts say of the place; see DefaultCWD.
	CWD, Home string
	Limits    set.Limits
	Grant     set.Grant
	// Config are the settings of cases that bring none; nil when the file has none.
	Config json.RawMessage
	Cases  []Case

	doc  *set.Document
	text []byte
}

// Case is one [[case]]: a fresh extension, and events in sequence.
type Case struct {
	Name   string
	Pos    set.Position
	Config json.RawMessage // the file's [config] with the keys of the case's own over it
	Steps  []Step          // at least one
}

// Step is one event and what is expected of the answer.
type Step struct {
	Hook   wire.Event
	Event  json.RawMessage // an object
	Pos    set.Position
	Expect Expect
}

// Expect is what an answer is compared with. Zero fields are not compared; a step that expects no fault fails on one.
type Expect struct {
	Decision string          // allow, block, ask, rewrite
	Reason   *Match          // of a block's reason, the question of an ask, or the text of a fault
	Output   json.RawMessage // compared as a JSON value
	Fault    string          // the kind of fault, such as "fuel"; "load" means that the extension does not load
	Dropped  []int           // for context: exactly these messages do not reach the model, by index
	Kept     []int           // for context: exactly these stay as they are, by index

	outputFile string        // where Output came from; "" for the file itself
	outputAt   *set.Position // of an output that is a string, which [Update] can replace
}

func (e *Expect) empty() bool {
	return e.Decision == "" && e.Reason == nil && e.Output == nil && e.Fault == "" && e.Dropped == nil && e.Kept == nil
}

// Match is a text, or a regular expression between slashes.
type Match struct {
	text string
	re   *regexp.Regexp
}

// NewMatch reads "text" or "/regexp/".
func NewMatch(s string) (*Match, error) {
	if len(s) < 2 || s[0] != '/' || s[len(s)-1] != '/' {
		return &Match{text: s}, nil
	}
	re, err := regexp.Compile(s[1 : len(s)-1])
	if err != nil {
		return nil, err
	}
	return &Match{re: re}, nil
}

// Matches compares.
func (m *Match) Matches(s string) bool {
	if m.re != nil {
		return m.re.MatchString(s)
	}
	return m.text == s
}

// String is as in the file.
func (m *Match) String() string {
	if m.re != nil {
		return "/" + m.re.String() + "/"
	}
	return fmt.Sprintf("%q", m.text)
}

// ReadFile reads a test file from disk; see [ParseFile].
func ReadFile(path string) (*File, error) {
	text, err := readRegular(path)
	if err != nil {
		return nil, err
	}
	return ParseFile(path, text)
}

// maxEvent is how large a file that a test names may be: eight times what an extension may answer.
const maxEvent = 64 << 20

// readRegular reads a file, but no device that has no end.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", path)
	case info.Size() > maxEvent:
		return nil, fmt.Errorf("%s has %d bytes, more than %d", path, info.Size(), maxEvent)
	}
	return os.ReadFile(path)
}

// ParseFile reads a test file. Paths in it start at its folder; the files that it names are read, the module is not. The error
// joins everything that is wrong, each an *set.Error with its position.
func ParseFile(path string, text []byte) (*File, error) {
	doc, err := set.ParseDocument(path, text)
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, CWD: DefaultCWD, Home: DefaultHome, doc: doc, text: text}
	r := reader{doc: doc, dir: filepath.Dir(path)}
	r.file(f)
	if len(r.errs) > 0 {
		return nil, errors.Join(r.errs...)
	}
	return f, nil
}

// ErrNoTestFile is that a folder holds none.
var ErrNoTestFile = errors.New("no file there is named *" + Suffix)

// FindFiles lists the test files that paths name: files as they are, folders with everything below them but hidden folders
// and node_modules. No paths means this folder. The order is that of paths, alphabetical within a folder, each file once.
func FindFiles(paths []string) ([]string, error) {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	var files []string
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, filepath.Clean(p))
			continue
		}
		before := len(files)
		err = filepath.WalkDir(p, func(path string, d os.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && path != p && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
				return filepath.SkipDir
			case !d.IsDir() && strings.HasSuffix(d.Name(), Suffix):
				files = append(files, path)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(files) == before {
			return nil, fmt.Errorf("%s: %w", p, ErrNoTestFile)
		}
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(files, func(f string) bool {
		again := seen[f]
		seen[f] = true
		return again
	}), nil
}

// decisions are the words that expect.decision may be.
func decisions() []string { return []string{"allow", "block", "ask", "rewrite"} }

// faults are the words that expect.fault may be.
func faults() []string {
	var list []string
	for k := wasmhost.KindTrap; k <= wasmhost.KindLoad; k++ {
		list = append(list, k.String())
	}
	return list
}

// mergeTables is base with the keys of over in place of its own.
func mergeTables(base, over map[string]any) map[string]any {
	m := maps.Clone(base)
	if m == nil {
		m = map[string]any{}
	}
	maps.Copy(m, over)
	return m
}

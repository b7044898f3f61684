package tools

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"weir/engine/facts"
)

// OwnError says that a tool was to change a file of weir's own. See Config.Own.
type OwnError struct {
	// Path is the file, or the folder in which such a file lies.
	Path string
}

// Error implements error.
func (e *OwnError) Error() string {
	return e.Path + " is weir's own, and weir's tools do not change what holds them; ask the person to do it"
}

// ownFiles are the files of weir's own as they are now. Safe for concurrent use.
type ownFiles struct {
	ask   func() []string // nil for none
	where facts.Config

	mu    sync.Mutex
	files []string
	facts *facts.Computer // of files
}

// now gives the files, and what knows them in a command; nil when there are none.
func (o *ownFiles) now() ([]string, *facts.Computer) {
	if o.ask == nil {
		return nil, nil
	}
	files := o.ask()
	if len(files) == 0 {
		return nil, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.facts == nil || !slices.Equal(files, o.files) {
		o.files = slices.Clone(files)
		where := o.where
		where.Own = o.files
		o.facts = facts.New(where)
	}
	return o.files, o.facts
}

// refuseFile refuses to change a file of weir's own. path is a result of target: no link is left in it.
func (s *toolset) refuseFile(path string) error {
	var infos []os.FileInfo
	files, _ := s.own.now()
	for _, own := range files {
		if inside(path, own) {
			return &OwnError{path}
		}
		if real, err := filepath.EvalSymlinks(own); err == nil { // one that does not exist has no other name
			if inside(path, real) {
				return &OwnError{path}
			}
			if info, err := os.Stat(real); err == nil {
				infos = append(infos, info)
			}
		}
	}
	// By identity too: letters of another case, and names that a mount gave, are other texts for one folder.
	for at := path; ; at = filepath.Dir(at) {
		if info, err := os.Lstat(at); err == nil && slices.ContainsFunc(infos, func(own os.FileInfo) bool { return os.SameFile(own, info) }) {
			return &OwnError{path}
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// inside says whether path is folder or lies in it. Both are absolute and clean.
func inside(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

// refuseCommand refuses a command whose text says that it changes a file of weir's own. What a program does with a file that
// its arguments do not name, and what happens behind a variable or in a script, the text does not say.
func (s *toolset) refuseCommand(raw json.RawMessage) error {
	_, own := s.own.now()
	if own == nil {
		return nil
	}
	call := own.ToolCall("bash", raw)
	commands := call.Shell().Commands
	for _, p := range call.Paths().List {
		if !p.Own && !p.HoldsOwn {
			continue
		}
		changes := p.Op == facts.OpDelete || p.Op == facts.OpWrite && p.Own
		if p.Own && p.Command >= 0 && p.Command < len(commands) {
			changes = changes || changesInPlace(commands[p.Command].Argv)
		}
		if changes {
			return fmt.Errorf("bash: the command was not run: %w", &OwnError{p.Abs})
		}
	}
	return nil
}

// changesInPlace knows the commands that change, or give another name to, a file that the facts take for read or used.
func changesInPlace(argv []facts.Word) bool {
	if len(argv) == 0 {
		return false
	}
	switch filepath.Base(argv[0].Text) {
	case "ln", "link":
		return true // what is written to the other name arrives here
	case "sed", "perl", "awk", "gawk":
		return slices.ContainsFunc(argv[1:], func(w facts.Word) bool {
			return strings.HasPrefix(w.Text, "--in-place") ||
				strings.HasPrefix(w.Text, "-") && !strings.HasPrefix(w.Text, "--") && strings.Contains(w.Text, "i")
		})
	}
	return false
}

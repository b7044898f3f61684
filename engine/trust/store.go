package trust

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// FileName is what the store is called in weir's folder of the user's configuration.
const FileName = "trust.json"

// Decision is what a person said about a project. The zero value means nothing was said.
type Decision string

// The decisions.
const (
	Trusted Decision = "trusted"
	// Refused is for good: the project's set is not used, whatever it becomes, and nobody is asked.
	Refused Decision = "refused"
)

// Entry is one remembered decision.
type Entry struct {
	Decision Decision  `json:"decision"`
	Time     time.Time `json:"time"`
	// By is the extension that decided; "" for a person.
	By string `json:"by,omitempty"`
	// Project is what was decided about.
	Project *Project `json:"project"`
}

// Store is the file of decisions. Its folder need not exist.
type Store struct {
	Path string
	// Now is the clock of entries; nil means time.Now.
	Now func() time.Time
}

// file is the content of the store.
type file struct {
	Version  int              `json:"version"`
	Projects map[string]Entry `json:"projects"` // by Project.Dir
}

const version = 1

// Status is what the store says about a project as it is now.
type Status struct {
	// Entry is nil when nothing was decided.
	Entry *Entry
	// Changes are the differences to what was trusted; a project with any is not trusted until a person has seen them.
	Changes []string
}

// Trusted says whether the project may be used as it is.
func (s *Status) Trusted() bool {
	return s.Entry != nil && s.Entry.Decision == Trusted && len(s.Changes) == 0
}

// Changed says that the project was trusted, as something else.
func (s *Status) Changed() bool {
	return s.Entry != nil && s.Entry.Decision == Trusted && len(s.Changes) > 0
}

// Refused says that the project's set is not to be used, and that nobody is to be asked.
func (s *Status) Refused() bool { return s.Entry != nil && s.Entry.Decision == Refused }

// Check compares a project with what is remembered of it.
func (s *Store) Check(p *Project) (*Status, error) {
	entry, err := s.Get(p.Dir)
	if err != nil || entry == nil {
		return &Status{}, err
	}
	status := &Status{Entry: entry}
	if entry.Decision == Trusted {
		status.Changes = entry.Project.Changes(p)
	}
	return status, nil
}

// Get is what was decided about the project in dir, which is as [Canonical] gives it; nil when nothing was.
func (s *Store) Get(dir string) (*Entry, error) {
	f, err := s.read()
	if err != nil {
		return nil, err
	}
	if e, ok := f.Projects[dir]; ok {
		return &e, nil
	}
	return nil, nil
}

// List is all that was decided, in the order of the folders' names.
func (s *Store) List() ([]Entry, error) {
	f, err := s.read()
	if err != nil {
		return nil, err
	}
	list := make([]Entry, 0, len(f.Projects))
	for _, dir := range slices.Sorted(maps.Keys(f.Projects)) {
		list = append(list, f.Projects[dir])
	}
	return list, nil
}

// Put remembers a decision about p, in the place of an earlier one. by is the extension that decided, "" for a person.
func (s *Store) Put(p *Project, d Decision, by string) error {
	if d != Trusted && d != Refused {
		return fmt.Errorf("trust: %q is no decision", d)
	}
	now := time.Now
	if s.Now != nil {
		now = s.Now
	}
	return s.change(func(f *file) bool {
		f.Projects[p.Dir] = Entry{Decision: d, Time: now().UTC().Truncate(time.Second), By: by, Project: p}
		return true
	})
}

// Delete forgets what was decided about the project in dir; found is false when nothing was.
func (s *Store) Delete(dir string) (found bool, err error) {
	err = s.change(func(f *file) bool {
		_, found = f.Projects[dir]
		delete(f.Projects, dir)
		return found
	})
	return found, err
}

// read reads the store. One that does not exist is empty; one that others than its owner may write to, or that cannot be
// understood, is an error: it must not come to mean that nothing was decided.
func (s *Store) read() (*file, error) {
	f := &file{Version: version, Projects: map[string]Entry{}}
	info, err := os.Stat(s.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the trust file: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("the trust file %s can be written by others (mode %v): see what is in it with `weir trust --list` after chmod 600", s.Path, info.Mode().Perm())
	}
	text, err := os.ReadFile(s.Path)
	if err != nil {
		return nil, fmt.Errorf("the trust file: %w", err)
	}
	read, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("the trust file %s cannot be understood: %w; remove it to be asked about each project again", s.Path, err)
	}
	return read, nil
}

func parse(text []byte) (*file, error) {
	var v struct{ Version int }
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, err
	}
	if v.Version != version {
		return nil, fmt.Errorf("its version is %d, this weir knows %d", v.Version, version)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	f := &file{}
	if err := dec.Decode(f); err != nil {
		return nil, err
	}
	if f.Projects == nil {
		f.Projects = map[string]Entry{}
	}
	for _, dir := range slices.Sorted(maps.Keys(f.Projects)) {
		if e := f.Projects[dir]; e.Decision != Trusted && e.Decision != Refused || e.Project == nil || e.Project.Dir != dir {
			return nil, fmt.Errorf("the entry of %s is not whole", dir)
		}
	}
	return f, nil
}

// change reads the store, changes it, and writes it whole, while no other process does.
func (s *Store) change(apply func(*file) bool) (err error) {
	folder := filepath.Dir(s.Path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("the trust file: %w", err)
	}
	unlock, err := lockedfile.MutexAt(s.Path + ".lock").Lock()
	if err != nil {
		return fmt.Errorf("the trust file: %w", err)
	}
	defer unlock()
	f, err := s.read()
	if err != nil || !apply(f) {
		return err
	}
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(folder, FileName+".*") // mode 0600
	if err != nil {
		return fmt.Errorf("the trust file: %w", err)
	}
	_, err = temp.Write(append(text, '\n'))
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), s.Path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("the trust file: %w", err), os.Remove(temp.Name()))
	}
	return nil
}

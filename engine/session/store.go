package session

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Errors of a [Store].
var (
	// ErrLocked: another process, or another store of this one, has the session file open for writing.
	ErrLocked = errors.New("the session is in use by another process; close it there, or fork the session")
	// ErrClosed: the store was closed.
	ErrClosed = errors.New("the session store is closed")
)

// StoreConfig says where a session is kept. The zero value keeps it in memory.
type StoreConfig struct {
	// Dir is the folder for new session files; it is made if it is missing. "" keeps new sessions in memory.
	Dir string
	// CWD is the working directory that a new session is about.
	CWD string
	// Parent is the file that a new session is forked from; "" for none.
	Parent string
	// Now is the clock of timestamps; nil is time.Now. NewID gives the ids of entries; nil gives eight random hexadecimal
	// digits. Calls of NewID are serialised.
	Now   func() time.Time
	NewID func() string
}

func (c *StoreConfig) fill() {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.NewID == nil {
		c.NewID = randomID
	}
}

// Store keeps a session: a tree of entries that only grows, and the leaf from which it grows. With a file, each append is
// one write and one fsync, and has happened when it returns: a process that dies later loses nothing of it. Safe for
// concurrent use.
type Store struct {
	mu     sync.Mutex
	log    *log
	path   string
	file   *os.File // nil: in memory, or not yet written
	size   int64
	report Report
	closed bool
	broken error // an append failed and could not be undone
}

// NewStore begins a session. A file is made only with the first entry that is more than a model or a thinking level, so
// that sessions in which nothing happened leave none. The path is known at once.
func NewStore(cfg StoreConfig) (*Store, error) {
	cfg.fill()
	at := cfg.Now()
	header := Header{Version: Version, ID: sessionUUID(at), Timestamp: isoTime(at), CWD: cfg.CWD, ParentSession: cfg.Parent}
	s := &Store{log: newLog(header, cfg.Now, cfg.NewID), report: Report{Version: Version}}
	if cfg.Dir != "" {
		stamp := strings.NewReplacer(":", "-", ".", "-").Replace(header.Timestamp)
		s.path = filepath.Join(cfg.Dir, stamp+"_"+header.ID+".jsonl")
	}
	return s, nil
}

// OpenStore opens a session file for writing, and migrates it if it is of an earlier version: the file as it was stays
// beside it, named PATH.v1 or PATH.v2. The errors are [ErrLocked], a *[FormatError], and those of the file system. cfg.Dir
// and cfg.CWD do not count.
func OpenStore(path string, cfg StoreConfig) (*Store, error) {
	cfg.fill()
	file, err := openLocked(path)
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, file: file}
	if err := s.load(cfg); err != nil {
		return nil, errors.Join(err, s.file.Close())
	}
	return s, nil
}

// ReadStore reads a session file without changing or locking it. The store is in memory: what is appended to it is kept
// nowhere. Errors as for [OpenStore].
func ReadStore(path string, cfg StoreConfig) (*Store, error) {
	cfg.fill()
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	l, err := parseFile(data, cfg.Now, cfg.NewID)
	if err != nil {
		return nil, withPath(err, path)
	}
	return &Store{log: l.log, report: l.report}, nil
}

func withPath(err error, path string) error {
	var format *FormatError
	if errors.As(err, &format) {
		format.Path = path
	}
	return err
}

// openLocked opens and locks a file. While another process replaces it, the file behind the name may change before it is
// locked; then it is opened again.
func openLocked(path string) (*os.File, error) {
	for {
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return nil, err
		}
		if err := lockFile(file); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
		}
		opened, err := file.Stat()
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		named, err := os.Stat(path)
		if err == nil && os.SameFile(opened, named) {
			return file, nil
		}
		if err := errors.Join(err, file.Close()); err != nil {
			return nil, err
		}
	}
}

func (s *Store) load(cfg StoreConfig) error {
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	var buffer bytes.Buffer
	buffer.Grow(int(min(info.Size(), 1<<30)) + bytes.MinRead)
	if _, err := buffer.ReadFrom(s.file); err != nil {
		return err
	}
	data := buffer.Bytes()
	l, err := parseFile(data, cfg.Now, cfg.NewID)
	if err != nil {
		return withPath(err, s.path)
	}
	s.log, s.report, s.size = l.log, l.report, l.end
	if l.report.Version < Version {
		return s.rewrite(l)
	}
	if s.size < int64(len(data)) {
		if err := s.file.Truncate(s.size); err != nil {
			return fmt.Errorf("cut off the torn last line: %w", err)
		}
	}
	if !l.newline {
		// A whole last line that was not ended.
		if err := s.write([]byte("\n")); err != nil {
			return err
		}
	}
	return nil
}

// rewrite replaces the file by its migrated form. The old one stays under another name.
func (s *Store) rewrite(l *loaded) error {
	header, err := headerLine(l.log.header)
	if err != nil {
		return err
	}
	content := append(header, '\n')
	for _, line := range l.lines {
		content = append(append(content, line...), '\n')
	}
	next := s.path + ".new"
	file, err := os.OpenFile(next, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("migrate the session: %w", err)
	}
	fail := func(err error) error {
		return fmt.Errorf("migrate the session: %w", errors.Join(err, file.Close(), os.Remove(next)))
	}
	if err := lockFile(file); err != nil {
		return fail(err)
	}
	if _, err := file.Write(content); err != nil {
		return fail(err)
	}
	if err := file.Sync(); err != nil {
		return fail(err)
	}
	backup := fmt.Sprintf("%s.v%d", s.path, l.report.Version)
	if err := os.Link(s.path, backup); err != nil && !errors.Is(err, os.ErrExist) {
		return fail(err)
	}
	if err := os.Rename(next, s.path); err != nil {
		return fail(err)
	}
	old := s.file
	s.file, s.size = file, int64(len(content))
	return errors.Join(syncFolder(filepath.Dir(s.path)), old.Close())
}

// create writes the file with all that there is so far. The caller holds s.mu.
func (s *Store) create() error {
	folder := filepath.Dir(s.path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	header, err := headerLine(s.log.header)
	if err != nil {
		return err
	}
	content := append(header, '\n')
	for _, e := range s.log.entries {
		content = append(append(content, e.raw...), '\n')
	}
	file, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	s.file, s.size = file, 0
	if err := lockFile(file); err != nil {
		return errors.Join(err, s.abandon())
	}
	if err := s.write(content); err != nil {
		return errors.Join(err, s.abandon())
	}
	return syncFolder(folder)
}

// abandon takes back a file that could not be written.
func (s *Store) abandon() error {
	file := s.file
	s.file, s.broken = nil, nil
	return errors.Join(file.Close(), os.Remove(s.path))
}

// write appends bytes in one write and makes them durable. What was written only in part is cut off again. The caller
// holds s.mu.
func (s *Store) write(b []byte) error {
	if s.broken != nil {
		return s.broken
	}
	_, err := s.file.WriteAt(b, s.size)
	if err == nil {
		err = s.file.Sync()
	}
	if err == nil {
		s.size += int64(len(b))
		return nil
	}
	if undo := s.file.Truncate(s.size); undo != nil {
		s.broken = fmt.Errorf("the session file is damaged at byte %d and cannot be written any more: %w", s.size, errors.Join(err, undo))
	}
	return fmt.Errorf("append to the session: %w", err)
}

// Append adds an entry after the leaf and makes it the leaf. When it returns without an error, the entry is durable;
// with one, the session is as it was.
func (s *Store) Append(kind EntryType, data *EntryData) (*Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	e, err := s.log.draft(kind, data)
	if err != nil {
		return nil, err
	}
	if s.file != nil {
		if err := s.write(append(slices.Clone(e.raw), '\n')); err != nil {
			return nil, err
		}
	}
	leaf := s.log.leaf
	s.log.add(e)
	if s.path != "" && s.file == nil && kind != EntryModel && kind != EntryThinkingLevel {
		if err := s.create(); err != nil {
			s.log.entries = s.log.entries[:e.index]
			delete(s.log.byID, e.ID)
			s.log.leaf = leaf
			return nil, fmt.Errorf("create the session file: %w", err)
		}
	}
	return e, nil
}

// Close releases the file. It is not needed for durability. Later appends fail with ErrClosed; reading goes on.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	file := s.file
	s.file = nil
	if file == nil {
		return nil
	}
	return file.Close()
}

// Path is the session's file; "" when it is in memory.
func (s *Store) Path() string { return s.path }

// Header is the first line of the file.
func (s *Store) Header() Header { return s.log.header }

// Report says what loading met.
func (s *Store) Report() Report { return s.report }

// Entries are all entries, in the order in which they were appended.
func (s *Store) Entries() []*Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clip(s.log.entries)
}

// Len is the number of entries.
func (s *Store) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.log.entries)
}

// Entry finds an entry by its id, or gives nil.
func (s *Store) Entry(id string) *Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.entry(id)
}

// Leaf is the entry after which the session goes on; nil before the first.
func (s *Store) Leaf() *Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.log.leaf < 0 {
		return nil
	}
	return s.log.entries[s.log.leaf]
}

// SetLeaf moves the leaf; "" moves it before the first entry. It is not kept in the file: what is appended next is, and
// that is where a later load finds the leaf. The error names an unknown id.
func (s *Store) SetLeaf(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id == "" {
		s.log.leaf = -1
		return nil
	}
	e := s.log.entry(id)
	if e == nil {
		return &EntryError{ID: id}
	}
	s.log.leaf = e.index
	return nil
}

// EntryError says that there is no such entry.
type EntryError struct{ ID string }

// Error implements error. The text is part of the contract (NOTES section 4).
func (e *EntryError) Error() string { return "Entry " + e.ID + " not found" }

// Branch is the way from a root to the entry with the id; "" means the leaf. It is empty for an unknown id.
func (s *Store) Branch(id string) []*Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	index := s.log.leaf
	if id != "" {
		e := s.log.entry(id)
		if e == nil {
			return nil
		}
		index = e.index
	}
	return s.log.path(index)
}

// Context is what the branch of the leaf makes of a model's context.
func (s *Store) Context() Context { return buildContext(s.Branch("")) }

// Label is the label of an entry; "" when it has none.
func (s *Store) Label(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.labels[id]
}

// Name is the session's display name; "" when it has none.
func (s *Store) Name() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.name()
}

// Fork begins a new session with the branch up to an entry ("" copies nothing), labels included. It lives in cfg.Dir, and
// names the present file as its parent unless cfg.Parent does otherwise. The error names an unknown id.
func (s *Store) Fork(upTo string, cfg StoreConfig) (*Store, error) {
	var branch []*Entry
	if upTo != "" {
		if branch = s.Branch(upTo); branch == nil {
			return nil, &EntryError{ID: upTo}
		}
	}
	if cfg.CWD == "" {
		cfg.CWD = s.Header().CWD
	}
	if cfg.Parent == "" {
		cfg.Parent = s.path
	}
	fork, err := NewStore(cfg)
	if err != nil {
		return nil, err
	}
	message := false
	for _, e := range branch {
		if e.Type == EntryLabel {
			continue // labels follow below, for what was copied
		}
		parent, parentID := len(fork.log.entries)-1, ""
		copied := &Entry{Type: e.Type, ID: e.ID, Timestamp: e.Timestamp, raw: e.raw, parent: parent}
		if parent >= 0 {
			parentID = fork.log.entries[parent].ID
		}
		copied.ParentID = parentID
		if parentID != e.ParentID || !strings.Contains(string(e.raw), e.ID) {
			copied.raw = relinked(e.raw, e.ID, parentID)
		}
		fork.log.add(copied)
		message = message || e.Type != EntryModel && e.Type != EntryThinkingLevel
	}
	for _, e := range branch {
		if label := s.Label(e.ID); label != "" && fork.log.entry(e.ID) != nil {
			if _, err := fork.Append(EntryLabel, &EntryData{TargetID: e.ID, Label: &label}); err != nil {
				return nil, err
			}
		}
	}
	if fork.path != "" && fork.file == nil && message {
		fork.mu.Lock()
		defer fork.mu.Unlock()
		if err := fork.create(); err != nil {
			return nil, fmt.Errorf("create the session file: %w", err)
		}
	}
	return fork, nil
}

// relinked is an entry's line with another id and parent.
func relinked(raw []byte, id, parentID string) []byte {
	out := append([]byte(`{"id":`), quoted(id)...)
	out = append(out, `,"parentId":`...)
	if parentID == "" {
		out = append(out, "null"...)
	} else {
		out = append(out, quoted(parentID)...)
	}
	scanObject(raw, func(key string, _ int, value []byte) {
		if key == "id" || key == "parentId" {
			return
		}
		out = append(append(append(out, ',', '"'), key...), '"', ':')
		out = append(out, value...)
	})
	return append(out, '}')
}

package session

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"weir/agentcore"
)

// Version is the session format that is written.
const Version = 3

// Header is the first line of a session file.
type Header struct {
	Version int    `json:"version"`
	ID      string `json:"id"`
	// Timestamp is when the session began (ISO 8601).
	Timestamp string `json:"timestamp"`
	CWD       string `json:"cwd"`
	// ParentSession is the file that the session was forked from; "" for none.
	ParentSession string `json:"parentSession,omitempty"`

	raw json.RawMessage
}

// log is a session's tree in memory: entries in the order in which they were appended, and a leaf. Its owner guards it.
type log struct {
	header  Header
	entries []*Entry
	byID    map[string]int
	leaf    int // -1: before any entry
	labels  map[string]string
	now     func() time.Time
	newID   func() string
}

func newLog(header Header, now func() time.Time, newID func() string) *log {
	return &log{header: header, byID: map[string]int{}, leaf: -1, labels: map[string]string{}, now: now, newID: newID}
}

// add puts an entry at the end of the log and makes it the leaf. Its id must be new.
func (l *log) add(e *Entry) {
	e.index = len(l.entries)
	l.entries = append(l.entries, e)
	l.byID[e.ID] = e.index
	l.leaf = e.index
	l.noteLabel(e)
}

func (l *log) noteLabel(e *Entry) {
	if e.Type != EntryLabel {
		return
	}
	d, err := e.Data()
	switch {
	case err != nil:
	case d.Label == nil || *d.Label == "":
		delete(l.labels, d.TargetID)
	default:
		l.labels[d.TargetID] = *d.Label
	}
}

// draft makes the entry that would follow the leaf.
func (l *log) draft(kind EntryType, data *EntryData) (*Entry, error) {
	parentID := ""
	if l.leaf >= 0 {
		parentID = l.entries[l.leaf].ID
	}
	e, err := newEntry(kind, l.freshID(), parentID, l.now(), data)
	if err != nil {
		return nil, err
	}
	e.parent = l.leaf
	return e, nil
}

func (l *log) freshID() string {
	for {
		id := l.newID()
		if _, taken := l.byID[id]; !taken && id != "" {
			return id
		}
	}
}

func (l *log) entry(id string) *Entry {
	i, ok := l.byID[id]
	if !ok {
		return nil
	}
	return l.entries[i]
}

// path is the branch from its root to the entry at index; -1 gives none.
func (l *log) path(index int) []*Entry {
	var path []*Entry
	for ; index >= 0; index = l.entries[index].parent {
		path = append(path, l.entries[index])
	}
	slices.Reverse(path)
	return path
}

// name is the session's name on the branch of the file, the last that was given.
func (l *log) name() string {
	for i := len(l.entries) - 1; i >= 0; i-- {
		if l.entries[i].Type != EntrySessionInfo {
			continue
		}
		d, err := l.entries[i].Data()
		if err != nil || d.Name == nil {
			return ""
		}
		return strings.TrimSpace(*d.Name)
	}
	return ""
}

// Context is what a branch makes of a model's context.
type Context struct {
	// Messages are those that the model works with, compacted.
	Messages []*agentcore.Message
	// Provider and ModelID name the model that was used last; "" when the branch names none.
	Provider, ModelID string
	// ThinkingLevel is the one that was set last; "" when none was.
	ThinkingLevel agentcore.ThinkingLevel
	// Skipped are entries whose content could not be read and is missing from Messages.
	Skipped []error
}

// buildContext turns a branch into a context: from its last compaction on, the summary stands for what came before the
// first entry that was kept.
func buildContext(path []*Entry) Context {
	var c Context
	compaction := -1
	decode(path)
	for i, e := range path {
		c.note(e)
		if e.Type == EntryCompaction {
			compaction = i
		}
	}
	rest := path
	if compaction >= 0 {
		rest = path[compaction+1:]
		c.add(path[compaction])
		d, err := path[compaction].Data()
		switch {
		case err != nil:
		case d.RetainedTail != nil:
			for _, raw := range d.RetainedTail {
				m, err := agentcore.DecodeMessage(raw)
				if err != nil {
					c.Skipped = append(c.Skipped, fmt.Errorf("entry %s: retained message: %w", path[compaction].ID, err))
					continue
				}
				c.Messages = append(c.Messages, m)
			}
		default:
			first := slices.IndexFunc(path[:compaction], func(e *Entry) bool { return e.ID == d.FirstKeptEntryID })
			if first >= 0 {
				for _, e := range path[first:compaction] {
					c.add(e)
				}
			}
		}
	}
	for _, e := range rest {
		c.add(e)
	}
	return c
}

// decodeShare is about how many bytes of entries are worth a goroutine.
const decodeShare = 256 << 10

// decode decodes the messages of entries, with as many goroutines as there is work for.
func decode(entries []*Entry) {
	size := 0
	for _, e := range entries {
		size += len(e.raw)
	}
	workers := min(runtime.GOMAXPROCS(0), size/decodeShare)
	if workers < 2 {
		return // they are decoded as they are needed
	}
	var next atomic.Int64
	var work sync.WaitGroup
	for range workers {
		work.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(entries)); i = next.Add(1) - 1 {
				_, _ = entries[i].Message() // kept in the entry, the error too
			}
		})
	}
	work.Wait()
}

// note takes up what an entry says of model and thinking level.
func (c *Context) note(e *Entry) {
	switch e.Type {
	case EntryModel, EntryThinkingLevel:
		d, err := e.Data()
		if err != nil {
			return
		}
		if e.Type == EntryModel {
			c.Provider, c.ModelID = d.Provider, d.ModelID
		} else {
			c.ThinkingLevel = agentcore.ThinkingLevel(d.ThinkingLevel)
		}
	case EntryMessage:
		m, err := e.Message()
		if err != nil || m == nil {
			return
		}
		if a := m.Assistant(); a != nil && a.Model != "" {
			c.Provider, c.ModelID = a.Provider, a.Model
		}
	}
}

func (c *Context) add(e *Entry) {
	m, err := e.Message()
	switch {
	case err != nil:
		c.Skipped = append(c.Skipped, err)
	case m != nil:
		c.Messages = append(c.Messages, m)
	}
}

// randomID is eight hexadecimal digits.
func randomID() string {
	var b [4]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// sessionUUID is a version 7 UUID (RFC 9562): ordered by time.
func sessionUUID(t time.Time) string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	ms := uint64(t.UnixMilli())
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	b[6] = 0x70 | b[6]&0x0f
	b[8] = 0x80 | b[8]&0x3f
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}

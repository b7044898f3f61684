package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"weir/internal/validjson"
)

// Problem is something that a session file should not hold. Loading goes on without it.
type Problem struct {
	// Line counts from 1.
	Line int
	// Entry is the id of the entry that is concerned; "" when the line holds none.
	Entry  string
	Detail string
}

// String is "line 7: …".
func (p Problem) String() string { return fmt.Sprintf("line %d: %s", p.Line, p.Detail) }

// Report says what loading a session file met.
type Report struct {
	// Version is the one that the file was written in.
	Version int
	// Problems are what was repaired, in the order of lines. Nothing of it is lost: the lines stay in the file.
	Problems []Problem
	// TornBytes is the length of a last line that was not written to its end, because a process died while it wrote. It was
	// never acknowledged, and is cut off when the file is opened for writing.
	TornBytes int
	// Lines is the number of lines that are entries.
	Lines int
}

// FormatError says that a file is not a session that can be opened.
type FormatError struct {
	Path string // "" when it was not a file
	Line int    // 0: the file as a whole
	Err  error
}

// Error implements error.
func (e *FormatError) Error() string {
	where := e.Path
	if e.Line > 0 {
		where = fmt.Sprintf("%s:%d", where, e.Line)
	}
	return strings.TrimPrefix(where+": ", ": ") + e.Err.Error()
}

// Unwrap gives the reason.
func (e *FormatError) Unwrap() error { return e.Err }

// What a [FormatError] may wrap.
var (
	// ErrNotSession: the first line is not a session's header.
	ErrNotSession = errors.New("not a session file: the first line is not a header (want {\"type\":\"session\",…})")
	// ErrNewerVersion: a later program wrote the file. It is not touched.
	ErrNewerVersion = errors.New("the session was written by a newer program")
)

// loaded is a file that was read.
type loaded struct {
	log    *log
	report Report
	// lines are those after the header that are kept in a rewritten file, entries and unreadable ones alike.
	lines []json.RawMessage
	// end is the length of the file without a torn last line; newline says that the last line ends with a line break.
	end     int64
	newline bool
}

// maxHeader bounds the first line, so that a file that is something else is not read as one.
const maxHeader = 1 << 20

// parseFile reads a session file. data is kept.
func parseFile(data []byte, now func() time.Time, newID func() string) (*loaded, error) {
	first, rest, complete := bytes.Cut(data, []byte("\n"))
	first = bytes.TrimSuffix(first, []byte("\r"))
	header, err := parseHeader(first)
	if err != nil {
		return nil, err
	}
	l := &loaded{log: newLog(header, now, newID), report: Report{Version: header.Version}, newline: complete}
	l.end = int64(len(data) - len(rest))
	p := parser{loaded: l, offset: l.end, seen: map[string]int{}}
	for line := 2; len(rest) > 0; line++ {
		var raw []byte
		raw, rest, complete = bytes.Cut(rest, []byte("\n"))
		p.line(line, raw, complete)
	}
	p.connect()
	if header.Version < Version {
		p.migrate(header.Version)
	}
	for _, e := range l.log.entries {
		l.log.noteLabel(e)
	}
	l.log.leaf = len(l.log.entries) - 1
	l.log.header.Version = Version
	return l, nil
}

func parseHeader(line []byte) (Header, error) {
	var h struct {
		Type string `json:"type"`
		Header
		// BranchedFrom is ParentSession in version 1.
		BranchedFrom string `json:"branchedFrom"`
	}
	if len(line) > maxHeader || json.Unmarshal(line, &h) != nil || h.Type != "session" {
		return Header{}, &FormatError{Line: 1, Err: ErrNotSession}
	}
	if h.ID == "" {
		return Header{}, &FormatError{Line: 1, Err: fmt.Errorf("%w: it has no id", ErrNotSession)}
	}
	if h.Version == 0 {
		h.Version = 1 // version 1 does not say so
	}
	if h.Version > Version {
		return Header{}, &FormatError{Line: 1, Err: fmt.Errorf("%w: it is of format version %d, and %d is the newest known", ErrNewerVersion, h.Version, Version)}
	}
	if h.Version < 0 {
		return Header{}, &FormatError{Line: 1, Err: fmt.Errorf("%w: version %d", ErrNotSession, h.Version)}
	}
	if h.ParentSession == "" {
		h.ParentSession = h.BranchedFrom
	}
	h.raw = line
	return h.Header, nil
}

// parser turns lines into entries.
type parser struct {
	*loaded
	offset int64
	seen   map[string]int // id in the file -> the last entry that has it so far
	lineOf []int          // of each entry
	// waiting are entries whose parent had not been seen when they were read.
	waiting []waiting
	// byLine finds the entry of a line, for version 1, which counts lines.
	byLine map[int]*Entry
}

type waiting struct {
	entry    *Entry
	parentID string
}

func (p *parser) problem(line int, entry, format string, args ...any) {
	p.report.Problems = append(p.report.Problems, Problem{Line: line, Entry: entry, Detail: fmt.Sprintf(format, args...)})
}

func (p *parser) line(n int, raw []byte, complete bool) {
	length := int64(len(raw))
	if complete {
		length++
	}
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		p.end, p.newline, p.offset = p.offset+length, complete, p.offset+length
		return
	}
	fields, err := scanEntry(raw)
	if err != nil && !complete {
		p.report.TornBytes = int(length)
		return
	}
	p.offset += length
	p.end, p.newline = p.offset, complete
	p.lines = append(p.lines, raw)
	if err != nil {
		p.problem(n, "", "not an entry: %v; the line is kept and left out", err)
		return
	}
	if !utf8.Valid(raw) {
		p.problem(n, fields.id, "invalid UTF-8; read with U+FFFD in its place")
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
		if fields, err = scanEntry(raw); err != nil {
			p.problem(n, "", "not an entry: %v; the line is kept and left out", err)
			return
		}
	}
	p.entry(n, raw, fields)
}

func (p *parser) entry(n int, raw []byte, f entryFields) {
	e := &Entry{Type: EntryType(f.kind), ID: f.id, Timestamp: f.timestamp, raw: raw, parent: -1}
	log := p.log
	switch {
	case log.header.Version == 1:
		// Linear: each line follows the one before it.
		e.ID = log.freshID()
		e.parent = len(log.entries) - 1
		if e.parent >= 0 {
			e.ParentID = log.entries[e.parent].ID
		}
	case e.ID == "":
		e.ID = p.unused(fmt.Sprintf("line-%d", n))
		p.problem(n, e.ID, "an entry without an id; it is called %s", e.ID)
	default:
		if _, twice := log.byID[e.ID]; twice {
			e.ID = p.unused(f.id)
			p.problem(n, e.ID, "the id %q is taken; this entry is called %s", f.id, e.ID)
		}
	}
	if log.header.Version != 1 && f.parentID != "" {
		// Of two entries that are named alike, the nearer one is meant.
		if i, ok := p.seen[f.parentID]; ok {
			e.parent, e.ParentID = i, log.entries[i].ID
		} else {
			p.waiting = append(p.waiting, waiting{e, f.parentID})
		}
	}
	log.add(e)
	p.lineOf = append(p.lineOf, n)
	p.report.Lines++
	p.seen[e.ID] = e.index
	if f.id != "" {
		p.seen[f.id] = e.index
	}
	if log.header.Version == 1 {
		if p.byLine == nil {
			p.byLine = map[int]*Entry{}
		}
		p.byLine[n] = e
	}
}

// unused makes a name for an entry whose own is missing or taken. It depends on the file alone: what is appended after such
// an entry names it as its parent, and must find it again.
func (p *parser) unused(base string) string {
	for n := 2; ; n++ {
		name := fmt.Sprintf("%s~%d", base, n)
		if _, taken := p.log.byID[name]; !taken {
			return name
		}
	}
}

// connect finds the parents that come later than their children, and cuts cycles.
func (p *parser) connect() {
	log := p.log
	for _, w := range p.waiting {
		i, ok := p.seen[w.parentID]
		if !ok {
			p.problem(p.lineOf[w.entry.index], w.entry.ID, "the parent %q is missing; the entry begins a branch of its own", w.parentID)
			continue
		}
		// Parents that were read in order precede their children; so a cycle closes here.
		for at := i; ; at = log.entries[at].parent {
			if at == w.entry.index {
				p.problem(p.lineOf[w.entry.index], w.entry.ID, "the parent %q descends from the entry itself; it begins a branch of its own", w.parentID)
				break
			}
			if at < 0 {
				w.entry.parent, w.entry.ParentID = i, log.entries[i].ID
				break
			}
		}
	}
}

// entryFields are the fields that all entries have.
type entryFields struct {
	kind, id, parentID, timestamp string
}

// scanEntry checks that raw is one JSON object, and reads the fields that all entries have.
func scanEntry(raw []byte) (entryFields, error) {
	var f entryFields
	if raw[0] != '{' {
		return f, errors.New("not a JSON object")
	}
	if err := validjson.Check(raw); err != nil {
		return f, err
	}
	var err error
	scanObject(raw, func(key string, _ int, value []byte) {
		var into *string
		switch key {
		case "type":
			into = &f.kind
		case "id":
			into = &f.id
		case "parentId":
			if string(value) == "null" {
				return
			}
			into = &f.parentID
		case "timestamp":
			into = &f.timestamp
		default:
			return
		}
		if plain := len(value) >= 2 && value[0] == '"' && bytes.IndexByte(value, '\\') < 0; plain {
			*into = string(value[1 : len(value)-1])
		} else if e := json.Unmarshal(value, into); e != nil && err == nil {
			err = fmt.Errorf("%s: %w", key, e)
		}
	})
	if err == nil && f.kind == "" {
		err = errors.New("no type")
	}
	return f, err
}

// scanObject visits the members of a JSON object that is known to be valid; value begins at raw[at]. Keys with escapes are
// visited as they stand.
func scanObject(raw []byte, visit func(key string, at int, value []byte)) {
	i := skipSpace(raw, 1)
	for raw[i] != '}' {
		start := i + 1
		i = skipString(raw, i)
		key := string(raw[start : i-1])
		i = skipSpace(raw, skipSpace(raw, i)+1) // the colon
		end := skipValue(raw, i)
		visit(key, i, raw[i:end])
		if i = skipSpace(raw, end); raw[i] == ',' {
			i = skipSpace(raw, i+1)
		}
	}
}

func skipSpace(raw []byte, i int) int {
	for raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\r' || raw[i] == '\n' {
		i++
	}
	return i
}

// skipString is the place after the string that begins at i.
func skipString(raw []byte, i int) int {
	for i++; ; {
		n := bytes.IndexByte(raw[i:], '"')
		i += n + 1
		back := 0
		for raw[i-2-back] == '\\' {
			back++
		}
		if back%2 == 0 {
			return i
		}
	}
}

func skipValue(raw []byte, i int) int {
	switch raw[i] {
	case '"':
		return skipString(raw, i)
	case '{', '[':
		for depth := 0; ; {
			switch raw[i] {
			case '"':
				i = skipString(raw, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
	default:
		for i < len(raw) && raw[i] != ',' && raw[i] != '}' && raw[i] != ']' && raw[i] > ' ' {
			i++
		}
		return i
	}
}

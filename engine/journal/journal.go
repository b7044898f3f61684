package journal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"weir/internal/filelock"
)

// MaxRecord is the most that a record may hold, in bytes of compact JSON.
const MaxRecord = 64 << 10

// maxLine bounds a whole line: the record and what stands around it.
const maxLine = MaxRecord + 8<<10

// tail is how much of the end of a file is read to find its last entry: a whole line, and another that was torn.
const tail = 2 * maxLine

// Journal appends to one file. Safe for concurrent use; the file is opened at each append, so there is nothing to close, and one
// that was moved away is begun anew.
type Journal struct {
	// Path is the file, made with mode 0600 when it is not there. Its folder must exist.
	Path string
	// Session is written into each entry; "" is left out.
	Session string
	// Clock gives the time of entries; nil is time.Now.
	Clock func() time.Time
}

// Entry is one line.
type Entry struct {
	Seq       uint64          `json:"seq"`
	Time      time.Time       `json:"time"`
	Prev      string          `json:"prev"`
	Extension string          `json:"extension"`
	Session   string          `json:"session,omitempty"`
	Record    json.RawMessage `json:"record"`
}

// Receipt names an entry that was written.
type Receipt struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"` // of the line, hex: the head of the journal at this moment
}

// Append writes one entry and returns when it is on the disk. record is a JSON object of at most [MaxRecord] bytes. It waits for
// other processes until ctx ends. On an error nothing was acknowledged: the line may be there, torn, or not.
func (j *Journal) Append(ctx context.Context, extension string, record json.RawMessage) (_ Receipt, err error) {
	compact, err := compactObject(record)
	if err != nil {
		return Receipt{}, err
	}
	f, err := os.OpenFile(j.Path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return Receipt{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if info, err := f.Stat(); err != nil {
		return Receipt{}, err
	} else if !info.Mode().IsRegular() {
		return Receipt{}, fmt.Errorf("%s is not a regular file", j.Path)
	}
	if err := filelock.Wait(ctx, f); err != nil {
		return Receipt{}, fmt.Errorf("%s: %w", j.Path, err)
	}
	last, err := readLast(f)
	if err != nil {
		return Receipt{}, fmt.Errorf("%s: %w", j.Path, err)
	}
	now := time.Now
	if j.Clock != nil {
		now = j.Clock
	}
	e := Entry{Seq: last.seq + 1, Time: now().UTC().Truncate(time.Millisecond), Prev: last.hash, Extension: extension, Session: j.Session, Record: compact}
	line, err := encode(&e)
	if err != nil {
		return Receipt{}, err
	}
	out := line
	if last.torn {
		out = append([]byte{'\n'}, line...)
	}
	if _, err := f.Write(append(out, '\n')); err != nil { // one write: a line is there, torn at its end, or not there
		return Receipt{}, err
	}
	if err := f.Sync(); err != nil {
		return Receipt{}, err
	}
	return Receipt{Seq: e.Seq, Hash: hashOf(line)}, nil
}

// encode keeps the record as it is: no escapes that nobody asked for.
func encode(e *Entry) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func compactObject(record json.RawMessage) (json.RawMessage, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, record); err != nil {
		return nil, fmt.Errorf("the record is not valid JSON: %w", err)
	}
	if b.Len() == 0 || b.Bytes()[0] != '{' {
		return nil, errors.New("the record is not a JSON object")
	}
	if b.Len() > MaxRecord {
		return nil, fmt.Errorf("the record has %d bytes, more than the limit of %d", b.Len(), MaxRecord)
	}
	return b.Bytes(), nil
}

// position is where a journal ends.
type position struct {
	seq  uint64 // of the last whole entry
	hash string // of the last line, torn or not
	torn bool   // the last line has no end
}

// zeros is prev of the first entry.
var zeros = strings.Repeat("0", 2*sha256.Size) //nolint:gochecknoglobals // a constant that Go cannot write as one

func hashOf(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:])
}

// errNoEntry says that a file does not end as a journal does.
var errNoEntry = errors.New("its end holds no entry of a journal; `weir audit verify` says more, and a new journal begins when the file is moved away")

// readLast reads the end of the file.
func readLast(f *os.File) (position, error) {
	info, err := f.Stat()
	if err != nil {
		return position{}, err
	}
	size := info.Size()
	if size == 0 {
		return position{hash: zeros}, nil
	}
	n := min(size, tail)
	end := make([]byte, n)
	if _, err := f.ReadAt(end, size-n); err != nil && !errors.Is(err, io.EOF) {
		return position{}, err
	}
	p := position{torn: end[n-1] != '\n'}
	if !p.torn {
		end = end[:n-1]
	}
	for first := true; ; first = false {
		start := bytes.LastIndexByte(end, '\n') + 1
		if start == 0 && n < size {
			return position{}, errNoEntry // the line begins before what was read
		}
		line := end[start:]
		if first {
			p.hash = hashOf(line)
		}
		if e, err := decode(line); err == nil { // whole, even when its newline is missing
			p.seq = e.Seq
			return p, nil
		}
		if start == 0 {
			if first && p.torn { // nothing but a torn first line
				return p, nil
			}
			return position{}, errNoEntry
		}
		end = end[:start-1]
	}
}

// decode reads a line strictly: one object with the keys of an entry.
func decode(line []byte) (Entry, error) {
	var e Entry
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return e, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return e, errors.New("something stands behind the entry")
	}
	switch {
	case e.Seq == 0:
		return e, errors.New("no seq")
	case len(e.Prev) != len(zeros):
		return e, errors.New("prev is no SHA-256 in hex")
	case len(e.Record) == 0 || e.Record[0] != '{':
		return e, errors.New("record is no object")
	}
	return e, nil
}

// Check says whether entries could be appended, without writing one: the folder is there, and what is at the path is a journal or
// nothing.
func (j *Journal) Check() error {
	if info, err := os.Stat(filepath.Dir(j.Path)); err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", filepath.Dir(j.Path))
	}
	f, err := os.OpenFile(j.Path, os.O_RDWR|os.O_APPEND, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	if info, err := f.Stat(); err != nil {
		return err
	} else if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", j.Path)
	}
	_, err = readLast(f)
	return err
}

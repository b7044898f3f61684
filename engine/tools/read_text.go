package tools

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"weir/agentcore"
)

// countAhead is how far past the last line returned the lines of a file are counted, in bytes.
const countAhead = 64 << 20

// textReader takes a window of lines out of a text of any length, in memory bounded by MaxBytes.
type textReader struct {
	in    *bufio.Reader
	name  string
	first int64 // number of the first line wanted, from 1
	limit int   // lines wanted; 0 without a wish

	newlines int64 // read so far
	open     bool  // there was something after the last newline

	out      []byte
	lines    int64 // in out
	replaced bool  // out holds U+FFFD for what was not UTF-8
}

func (t *textReader) seen() int64 {
	if t.open {
		return t.newlines + 1
	}
	return t.newlines
}

// piece reads on, at most to the end of the line. The bytes are valid until the next call.
func (t *textReader) piece(ctx context.Context) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("read: aborted: %w", err)
	}
	p, err := t.in.ReadSlice('\n')
	switch {
	case len(p) == 0 && errors.Is(err, io.EOF):
		return nil, io.EOF
	case err == nil:
		t.newlines++
		t.open = false
	case errors.Is(err, io.EOF), errors.Is(err, bufio.ErrBufferFull):
		t.open = true
	default:
		return nil, fmt.Errorf("read: %w", err)
	}
	return p, nil
}

// line reads a line with its newline, or the first part of one that is longer than MaxBytes.
func (t *textReader) line(ctx context.Context) ([]byte, error) {
	var line []byte
	for {
		p, err := t.piece(ctx)
		if errors.Is(err, io.EOF) && len(line) > 0 {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
		line = append(line, p...)
		if !t.open || len(line) > MaxBytes {
			return line, nil
		}
	}
}

func (t *textReader) read(ctx context.Context) (*agentcore.ToolResult, error) {
	if bom, err := t.in.Peek(3); err == nil && string(bom) == "\ufeff" {
		if _, err := t.in.Discard(3); err != nil {
			return nil, fmt.Errorf("read: %w", err)
		}
	}
	for t.newlines < t.first-1 {
		if _, err := t.piece(ctx); errors.Is(err, io.EOF) {
			return nil, t.pastEnd()
		} else if err != nil {
			return nil, err
		}
	}
	want := int64(MaxLines)
	if t.limit > 0 {
		want = min(want, int64(t.limit))
	}
	tooLong := false
	for t.lines < want && !tooLong {
		line, err := t.line(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		text := appendValid(nil, line)
		// The newline does not count: a result that was cut leaves its last one out.
		if tooLong = len(t.out)+len(bytes.TrimSuffix(text, []byte{'\n'})) > MaxBytes; !tooLong {
			t.out = append(t.out, text...)
			t.lines++
			t.replaced = t.replaced || !utf8.Valid(line)
		}
	}
	if t.lines == 0 && !tooLong {
		if t.first == 1 {
			return textResult("[the file is empty]", nil)
		}
		return nil, t.pastEnd()
	}
	counted, err := t.countRest(ctx)
	if err != nil {
		return nil, err
	}
	return t.result(tooLong, counted)
}

func (t *textReader) pastEnd() error {
	return fmt.Errorf("offset %d is past the end of %s: its lines are %d", t.first, t.name, t.seen())
}

// countRest reads on to learn how many lines there are; false when that would take too long.
func (t *textReader) countRest(ctx context.Context) (bool, error) {
	for budget := countAhead; budget > 0; {
		p, err := t.piece(ctx)
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		budget -= len(p)
	}
	return false, nil
}

// result tells what was cut: tooLong, the byte limit ended the window; counted, seen is the number of all lines.
func (t *textReader) result(tooLong, counted bool) (*agentcore.ToolResult, error) {
	last := t.first + t.lines - 1
	var notes []string
	var cut *truncation
	if tooLong || t.seen() > last {
		total := fmt.Sprint(t.seen())
		if !counted {
			total = "more than " + total
		}
		limit := ""
		switch {
		case tooLong:
			limit = fmt.Sprintf(" (%s at once)", byteSize(MaxBytes))
			cut = &truncation{TruncatedBy: "bytes"}
		case t.limit == 0 || t.limit > MaxLines:
			limit = fmt.Sprintf(" (%d lines at once)", MaxLines)
			cut = &truncation{TruncatedBy: "lines"}
		}
		if t.lines == 0 {
			notes = append(notes, fmt.Sprintf("line %d of %s is longer than the %s that read returns at once; use bash, for example: sed -n %dp %s | head -c %d",
				t.first, total, byteSize(MaxBytes), t.first, shellQuote(t.name), MaxBytes))
		} else {
			notes = append(notes, fmt.Sprintf("lines %d to %d of %s are shown%s; go on with offset=%d", t.first, last, total, limit, last+1))
		}
	}
	if t.replaced {
		notes = append(notes, "bytes that are not UTF-8 are shown as \ufffd")
	}
	if cut == nil {
		return textResult(withNotes(string(t.out), notes), nil)
	}
	cut.Truncated, cut.FirstLineExceedsLimit = true, t.lines == 0
	cut.OutputLines, cut.OutputBytes = int(t.lines), len(bytes.TrimSuffix(t.out, []byte{'\n'}))
	cut.MaxLines, cut.MaxBytes = MaxLines, MaxBytes
	if counted {
		cut.TotalLines = t.seen()
	}
	return textResult(withNotes(string(t.out), notes), map[string]*truncation{"truncation": cut})
}

package transcript

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// lines reads lines of a bounded length.
type lines struct {
	in  *bufio.Reader
	max int
	buf []byte
	// The line at hand: its number, whether it was longer than max (then it is not there), whether a line break ended it.
	number   int
	oversize bool
	ended    bool
}

func newLines(in io.Reader, limit int) *lines {
	return &lines{in: bufio.NewReaderSize(in, 256<<10), max: limit}
}

// next reads a line without its end. The bytes are good until the next call. The error is io.EOF at the end.
func (l *lines) next() ([]byte, error) {
	l.buf, l.oversize, l.ended = l.buf[:0], false, false
	if cap(l.buf) > 4<<20 {
		l.buf = nil // one long line is no reason to hold so much for the rest
	}
	for {
		part, err := l.in.ReadSlice('\n')
		if len(part) == 0 && err != nil && len(l.buf) == 0 && !l.oversize {
			return nil, err
		}
		if !l.oversize && len(l.buf)+len(part) > l.max+1 {
			l.oversize, l.buf = true, l.buf[:0]
		}
		if !l.oversize {
			l.buf = append(l.buf, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == nil:
			l.ended = true
		case !errors.Is(err, io.EOF):
			return nil, err
		}
		l.number++
		return bytes.TrimRight(l.buf, "\r\n"), nil
	}
}

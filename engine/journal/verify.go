package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"
)

// Report is what [Verify] found.
type Report struct {
	Entries     uint64 // whole ones
	Torn        []int  // numbers of the lines that a crash cut short, from 1
	First, Last time.Time
	Head        string // hash of the last line; zeros for an empty journal
	// Anchor is the number of the line whose hash was asked for; 0 when no line has it.
	Anchor int
}

// Problem is where a journal is not what was written.
type Problem struct {
	Line    int // from 1
	Message string
}

// Error implements error.
func (p *Problem) Error() string { return fmt.Sprintf("line %d: %s", p.Line, p.Message) }

// Verify reads a journal to its end and checks each line against the one before it. The error is a [*Problem] at the first line
// that does not follow from those before, or what reading gave; the report then covers the lines before it. anchor is
// a head that is known from elsewhere; "" when there is none. Memory is bounded by one line.
func Verify(r io.Reader, anchor string) (Report, error) {
	rep := Report{Head: zeros}
	in := bufio.NewReaderSize(r, maxLine)
	var seq uint64
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		last := errors.Is(err, io.EOF)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return rep, &Problem{n, fmt.Sprintf("longer than any entry: more than %d bytes", maxLine)}
		case err != nil && !last:
			return rep, err
		case len(line) == 0:
			return rep, nil
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		e, problem := decode(line)
		switch {
		case problem != nil && !isTorn(line):
			return rep, &Problem{n, "not an entry: " + problem.Error()}
		case problem != nil:
			rep.Torn = append(rep.Torn, n)
		case e.Prev != rep.Head:
			return rep, &Problem{n, fmt.Sprintf("entry %d does not follow from the line before it: a line was changed, removed or put in", e.Seq)}
		case e.Seq != seq+1:
			return rep, &Problem{n, fmt.Sprintf("entry %d follows entry %d", e.Seq, seq)}
		default:
			seq = e.Seq
			rep.Entries++
			if rep.First.IsZero() {
				rep.First = e.Time
			}
			rep.Last = e.Time
		}
		rep.Head = hashOf(line)
		if rep.Head == anchor {
			rep.Anchor = n
		}
		if last {
			return rep, nil
		}
	}
}

// isTorn says whether a line that is no entry can be the beginning of one that a crash cut short. Anything else was not written by
// a journal.
func isTorn(line []byte) bool {
	const begin = `{"seq":`
	n := min(len(line), len(begin))
	return string(line[:n]) == begin[:n]
}

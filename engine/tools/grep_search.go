package tools

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"unicode/utf8"

	"weir/agentcore"
)

// maxGrepLine is how much of a line is searched, in bytes. Ours: it bounds the memory of a search.
const maxGrepLine = 1 << 20

// grepSearch collects matching lines over files.
type grepSearch struct {
	re      *regexp.Regexp
	context int
	limit   int

	in  *bufio.Reader // used for one file after the other, like buf
	buf []byte

	out        list
	matches    int
	limited    bool // there is a match more than the limit
	cutLines   bool // a line was cut at maxMatchChars
	longLines  bool // a line was longer than maxGrepLine
	unreadable int
}

// file searches one file; name is what the result calls it. fs.SkipAll: the result is full. A binary file is an error if
// it was named, otherwise it is passed over.
func (g *grepSearch) file(ctx context.Context, path, name string, named bool) (err error) {
	file, _, err := openRegular(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if g.in == nil {
		g.in = bufio.NewReaderSize(nil, 64<<10)
	}
	g.in.Reset(file)
	head, err := g.in.Peek(sniffBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if bytes.IndexByte(head, 0) >= 0 {
		if named {
			return fmt.Errorf("%s is a binary file", path)
		}
		return nil
	}
	return g.lines(ctx, name)
}

type grepLine struct {
	number int
	text   string
	cut    bool
}

func (g *grepSearch) lines(ctx context.Context, name string) error {
	var before []grepLine // the last lines that were not printed, at most context of them
	after := 0            // lines still to print after the last match
	for number := 1; ; number++ {
		line, err := g.line(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		text := bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
		switch {
		case g.re.Match(text):
			if g.matches == g.limit {
				g.limited = true
				return fs.SkipAll
			}
			for _, b := range before {
				if !g.add(name, "-", b) {
					return fs.SkipAll
				}
			}
			before = before[:0]
			if !g.add(name, ":", cutLine(number, text)) {
				return fs.SkipAll
			}
			g.matches++
			after = g.context
		case after > 0:
			after--
			if !g.add(name, "-", cutLine(number, text)) {
				return fs.SkipAll
			}
		case g.context > 0:
			if len(before) == g.context {
				before = append(before[:0], before[1:]...)
			}
			before = append(before, cutLine(number, text))
		}
	}
}

// line reads a line with its newline; of one longer than maxGrepLine the rest is dropped. It is valid until the next call.
func (g *grepSearch) line(ctx context.Context) ([]byte, error) {
	g.buf = g.buf[:0]
	for {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("aborted: %w", err)
		}
		piece, err := g.in.ReadSlice('\n')
		if room := maxGrepLine - len(g.buf); len(piece) > room {
			piece = piece[:room]
			g.longLines = true
		}
		g.buf = append(g.buf, piece...)
		switch {
		case err == nil:
			return g.buf, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(g.buf) > 0:
			return g.buf, nil
		default:
			return nil, err
		}
	}
}

// add prints a line; false: the result is full.
func (g *grepSearch) add(name, mark string, line grepLine) bool {
	if !g.out.add(fmt.Sprintf("%s%s%d%s %s", name, mark, line.number, mark, line.text)) {
		return false
	}
	g.cutLines = g.cutLines || line.cut
	return true
}

// cutLine is a line as the result shows it.
func cutLine(number int, line []byte) grepLine {
	chars := 0
	for at := 0; at < len(line); chars++ {
		if chars == maxMatchChars {
			return grepLine{number, string(appendValid(nil, line[:at])) + " … [line cut]", true}
		}
		_, size := utf8.DecodeRune(line[at:])
		at += size
	}
	return grepLine{number, string(appendValid(nil, line)), false}
}

func (g *grepSearch) result(notes []string) (*agentcore.ToolResult, error) {
	details := grepDetails{Truncation: g.out.truncation(), LinesTruncated: g.cutLines}
	if g.unreadable == 1 {
		notes = append(notes, "1 file could not be read")
	} else if g.unreadable > 1 {
		notes = append(notes, fmt.Sprintf("%d files could not be read", g.unreadable))
	}
	if g.limited {
		details.MatchLimitReached = g.limit
		notes = append(notes, fmt.Sprintf("there are more than %d matches; raise limit or narrow the search", g.limit))
	}
	if g.out.full {
		notes = append(notes, fmt.Sprintf("cut at %s; narrow the search", byteSize(MaxBytes)))
	}
	if g.cutLines {
		notes = append(notes, fmt.Sprintf("long lines are cut at %d characters; read shows them whole", maxMatchChars))
	}
	if g.longLines {
		notes = append(notes, fmt.Sprintf("of lines longer than %s only that much was searched", byteSize(maxGrepLine)))
	}
	text := g.out.text.String()
	if g.out.lines == 0 && !g.out.full {
		text = "no matches"
	}
	if details == (grepDetails{}) {
		return textResult(withNotes(text, notes), nil)
	}
	return textResult(withNotes(text, notes), details)
}

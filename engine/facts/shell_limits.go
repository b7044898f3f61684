package facts

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
)

// Bounds of what is followed. They are far beyond what people and agents write, and keep the worst text to some
// milliseconds and megabytes (TestShellBounds).
const (
	maxText     = 256 << 10 // bytes of a command; Linux itself takes at most 128 KiB in one argument (MAX_ARG_STRLEN)
	maxParsed   = 1 << 20   // bytes of all text that is parsed for one command, nested text included
	maxNested   = 200       // statements, texts and functions within each other
	maxTexts    = 32        // texts, functions and wrapped commands within each other
	maxCommands = 2048
	maxSteps    = 20_000 // statements that are followed
	maxExpanded = 2 << 20
	maxValue    = 32 << 10 // of a variable or an output that is kept
	maxFields   = 1024     // words that one word becomes
	maxLoop     = 64       // words of a loop that are followed one by one
	maxPattern  = 4 << 10  // of a value that a pattern is matched with
	maxFrames   = 3000     // of the parser's own recursion
	chunk       = 512      // bytes that the parser is handed at a time
)

const fdAbsent = -2

// errBound ends the walk where a bound is hit.
var errBound = errors.New("it nests, repeats or expands too much")

func checkText(text string) error {
	if len(text) > maxText {
		return fmt.Errorf("it is longer than %d KiB", maxText>>10)
	}
	if strings.IndexByte(text, 0) >= 0 {
		return errors.New("it holds a NUL byte")
	}
	return nil
}

// source hands text to the parser and refuses to go on when the parser has recursed too deeply: a stack that outgrows
// Go's limit ends the process and cannot be caught. The parser reads while it recurses, so its own stack tells.
type source struct {
	text string
	off  int
}

// Read implements io.Reader.
func (s *source) Read(p []byte) (int, error) {
	if s.off == len(s.text) {
		return 0, io.EOF
	}
	if s.off > 0 {
		var pc [1]uintptr
		if runtime.Callers(maxFrames, pc[:]) > 0 {
			return 0, errBound
		}
	}
	n := copy(p[:min(len(p), chunk)], s.text[s.off:])
	s.off += n
	return n, nil
}

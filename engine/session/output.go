package session

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// How much of an output is kept, from its end: the limits of the reference's bash tool.
const (
	maxOutputBytes = 50 << 10
	maxOutputLines = 2000
)

// escapes are terminal control sequences: CSI, OSC, and the two-byte ones (ECMA-48).
var escapes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[@-Z\\\\^_])")
})

// output collects what a command writes: its end in memory and, when that is not all, the whole in a file.
type output struct {
	session *Session
	opts    BashOptions

	mu     sync.Mutex
	part   []byte // bytes of a character that is not complete
	text   strings.Builder
	file   *os.File // nil until something is left out
	failed error    // of a subscriber, or of the file
}

// write takes a piece as it comes, cleaned of control sequences and carriage returns, and passes it on.
func (o *output) write(data []byte) {
	o.mu.Lock()
	text := o.clean(data)
	o.keep(text)
	o.mu.Unlock()
	if o.opts.OnChunk != nil {
		o.opts.OnChunk(text)
	}
	if err := o.session.emit(&BashExecutionUpdate{ID: o.opts.ID, Delta: text}); err != nil {
		o.mu.Lock()
		o.failed = errors.Join(o.failed, err)
		o.mu.Unlock()
	}
}

func (o *output) clean(data []byte) string {
	data = append(o.part, data...)
	whole := len(data)
	for back := 1; back < utf8.UTFMax && back <= len(data); back++ {
		if !utf8.RuneStart(data[len(data)-back]) {
			continue
		}
		if !utf8.FullRune(data[len(data)-back:]) {
			whole = len(data) - back
		}
		break
	}
	o.part = append([]byte(nil), data[whole:]...)
	text := escapes().ReplaceAllString(strings.ToValidUTF8(string(data[:whole]), "\uFFFD"), "")
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r >= ' ' && r != 0x7f {
			return r
		}
		return -1
	}, text)
}

// keep bounds what is held of an output that does not end.
func (o *output) keep(text string) {
	if o.file == nil && o.text.Len()+len(text) > maxOutputBytes {
		o.spill()
	}
	if o.file != nil {
		if _, err := o.file.WriteString(text); err != nil {
			o.failed = errors.Join(o.failed, err)
		}
	}
	if o.text.Len()+len(text) > 4*maxOutputBytes {
		held := o.text.String()
		o.text.Reset()
		o.text.WriteString(held[max(0, len(held)-2*maxOutputBytes):])
	}
	o.text.WriteString(text)
}

// spill begins the file with what there is so far.
func (o *output) spill() {
	file, err := os.CreateTemp(o.session.cfg.OutputDir, "weir-bash-*.log") // mode 0600
	if err == nil {
		o.file = file
		_, err = file.WriteString(o.text.String())
	}
	if err != nil {
		o.failed = errors.Join(o.failed, fmt.Errorf("keep the output of the command: %w", err))
	}
}

// finish is the end of the output, in whole lines where it is cut, and where the whole is.
func (o *output) finish() (*BashResult, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	result := &BashResult{}
	result.Output, result.Truncated = tail(o.text.String())
	result.Truncated = result.Truncated || o.file != nil
	if result.Truncated && o.file == nil {
		o.spill()
	}
	if o.file != nil {
		result.FullOutputPath = o.file.Name()
		o.failed = errors.Join(o.failed, o.file.Close())
	}
	return result, o.failed
}

func tail(text string) (_ string, truncated bool) {
	if len(text) > maxOutputBytes {
		text, truncated = text[len(text)-maxOutputBytes:], true
		if _, rest, ok := strings.Cut(text, "\n"); ok && rest != "" {
			text = rest
		}
		text = strings.ToValidUTF8(text, "")
	}
	lines := strings.SplitAfter(text, "\n")
	n := len(lines)
	if lines[n-1] == "" {
		n--
	}
	if n > maxOutputLines {
		return strings.Join(lines[n-maxOutputLines:], ""), true
	}
	return text, truncated
}

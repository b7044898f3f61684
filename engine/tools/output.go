package tools

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"sync"
	"unicode/utf8"
)

// tailKeep is how much text is held for the end of an output, in bytes. It is more than a result may show, so that what
// is shown never starts at the edge of what is held.
const tailKeep = 2 * MaxBytes

// output takes what a command prints, in memory that does not grow with it: the end of the text, the counts, and, when
// that is wanted and the result will be cut, a file with all the bytes. Safe for concurrent use.
type output struct {
	mu       sync.Mutex
	carry    []byte // the beginning of a rune that the next piece completes
	text     []byte // the end of the text, valid UTF-8
	bytes    int64  // of the whole text
	newlines int64
	lastLine int64 // bytes since the last newline

	keepFull bool
	raw      []byte // all bytes, as long as there is no file and the result is not cut
	dir      string
	maxFile  int64
	file     *os.File
	filePath string
	fileSize int64
	fileCut  bool
	fileErr  error
}

// newOutput makes an output. With keepFull, an output that will be cut is written to a new file in dir, of at most
// maxFile bytes.
func newOutput(keepFull bool, dir string, maxFile int64) *output {
	return &output{keepFull: keepFull, dir: dir, maxFile: maxFile}
}

// write takes the next piece of the command's output. It does not keep p.
func (o *output) write(p []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.saveRaw(p)
	piece := p
	if len(o.carry) > 0 {
		piece = slices.Concat(o.carry, p)
		o.carry = nil
	}
	if whole := wholeRunes(piece); whole < len(piece) {
		o.carry = append([]byte(nil), piece[whole:]...)
		piece = piece[:whole]
	}
	o.addText(piece)
	o.openFile()
}

// finish says that nothing follows and closes the file.
func (o *output) finish() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.addText(o.carry)
	o.carry = nil
	o.openFile()
	if o.file != nil {
		if err := o.file.Close(); err != nil && o.fileErr == nil {
			o.fileErr = err
		}
		o.file = nil
	}
}

// wholeRunes is the length of p without a rune at its end that is not complete yet.
func wholeRunes(p []byte) int {
	for i := len(p) - 1; i >= 0 && i >= len(p)-utf8.UTFMax; i-- {
		if utf8.RuneStart(p[i]) {
			if utf8.FullRune(p[i:]) {
				return len(p)
			}
			return i
		}
	}
	return len(p)
}

func (o *output) addText(piece []byte) {
	from := len(o.text)
	o.text = appendValid(o.text, piece)
	added := o.text[from:]
	o.bytes += int64(len(added))
	o.newlines += int64(bytes.Count(added, []byte{'\n'}))
	if last := bytes.LastIndexByte(added, '\n'); last >= 0 {
		o.lastLine = int64(len(added) - last - 1)
	} else {
		o.lastLine += int64(len(added))
	}
	if len(o.text) > 2*tailKeep {
		kept := copy(o.text, o.text[len(o.text)-tailKeep:])
		o.text = o.text[:kept]
	}
}

func (o *output) lines() int64 {
	if o.lastLine > 0 {
		return o.newlines + 1
	}
	return o.newlines
}

func (o *output) cut() bool { return o.bytes > MaxBytes || o.lines() > MaxLines }

func (o *output) saveRaw(p []byte) {
	switch {
	case !o.keepFull:
	case o.file == nil:
		o.raw = append(o.raw, p...)
	default:
		o.writeFile(p)
	}
}

func (o *output) openFile() {
	if !o.keepFull || o.file != nil || o.fileErr != nil || !o.cut() {
		return
	}
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		o.stopFile(err)
		return
	}
	file, err := os.CreateTemp(o.dir, "weir-bash-*.log") // CreateTemp's mode is 0600
	if err != nil {
		o.stopFile(err)
		return
	}
	o.file, o.filePath = file, file.Name()
	o.writeFile(o.raw)
	o.raw = nil
}

func (o *output) writeFile(p []byte) {
	if o.fileErr != nil || o.fileCut {
		return
	}
	if room := o.maxFile - o.fileSize; int64(len(p)) > room {
		p = p[:room]
		o.fileCut = true
	}
	n, err := o.file.Write(p)
	o.fileSize += int64(n)
	if err != nil {
		o.fileErr = err
	}
}

func (o *output) stopFile(err error) {
	o.fileErr = err
	o.keepFull = false
	o.raw = nil
}

// shown is the part of an output that a result shows.
type shown struct {
	text       string
	total      int64       // bytes of the whole text
	truncation *truncation // nil when nothing was cut
	fullPath   string      // "" when there is no file
	note       string      // what a final result says about the cut; "" without one
}

// show gives the end of the output so far.
func (o *output) show() shown {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.cut() {
		return shown{text: string(o.text), total: o.bytes}
	}
	text := bytes.TrimSuffix(o.text, []byte{'\n'})
	total := o.lines()
	cut := &truncation{
		Truncated: true, TruncatedBy: "bytes", TotalLines: total, TotalBytes: o.bytes,
		MaxLines: MaxLines, MaxBytes: MaxBytes,
	}
	start := max(0, len(text)-MaxBytes)
	if start > 0 && text[start-1] != '\n' {
		if next := bytes.IndexByte(text[start:], '\n'); next >= 0 {
			start += next + 1
		} else {
			cut.LastLinePartial = true
			for !utf8.RuneStart(text[start]) {
				start++
			}
		}
	}
	if byLines := lastLines(text, MaxLines); byLines > start {
		start, cut.TruncatedBy = byLines, "lines"
	}
	text = text[start:]
	cut.OutputBytes = len(text)
	cut.OutputLines = bytes.Count(text, []byte{'\n'}) + 1

	result := shown{text: string(text), total: o.bytes, truncation: cut, fullPath: o.filePath}
	if cut.LastLinePartial {
		size := o.lastLine
		if size == 0 {
			size = int64(len(text)) // the line was ended by a newline; its own length is not known any more
			result.note = fmt.Sprintf("output cut: only the last %s of line %d are shown", byteSize(size), total)
		} else {
			result.note = fmt.Sprintf("output cut: only the last %s of line %d, which has %s, are shown",
				byteSize(int64(len(text))), total, byteSize(size))
		}
	} else {
		limit := fmt.Sprintf("%d lines", MaxLines)
		if cut.TruncatedBy == "bytes" {
			limit = byteSize(MaxBytes)
		}
		result.note = fmt.Sprintf("output cut at the last %s: lines %d to %d of %d are shown",
			limit, total-int64(cut.OutputLines)+1, total, total)
	}
	switch {
	case o.fileErr != nil:
		result.note += "; the full output could not be saved: " + o.fileErr.Error()
	case o.filePath == "":
		result.note += "; the full output was not kept, because an extension checks what this tool returns"
	case o.fileCut:
		result.note += fmt.Sprintf("; its first %s are in %s", byteSize(o.maxFile), o.filePath)
	default:
		result.note += "; the full output is in " + o.filePath
	}
	return result
}

// lastLines is where the last n lines of text begin. text has no newline at its end.
func lastLines(text []byte, n int) int {
	for end := len(text); n > 0; n-- {
		end = bytes.LastIndexByte(text[:end], '\n')
		if end < 0 {
			return 0
		}
		if n == 1 {
			return end + 1
		}
	}
	return 0
}

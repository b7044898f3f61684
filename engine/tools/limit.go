package tools

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"weir/agentcore"
)

// The limits of a text result, whichever is reached first. Reference: dist/core/tools/truncate.d.ts, 0.85.0.
const (
	MaxLines = 2000
	MaxBytes = 50 * 1024
)

// maxMatchChars is where grep cuts a line, in characters. Reference: GREP_MAX_LINE_LENGTH in truncate.d.ts, 0.85.0.
const maxMatchChars = 500

// truncation is the "truncation" object of a result's details. Field names: TruncationResult in the reference's
// truncate.d.ts, without its content.
type truncation struct {
	Truncated             bool   `json:"truncated"`
	TruncatedBy           string `json:"truncatedBy"`          // "lines" or "bytes"
	TotalLines            int64  `json:"totalLines,omitempty"` // absent when the rest was not counted
	TotalBytes            int64  `json:"totalBytes,omitempty"`
	OutputLines           int    `json:"outputLines"`
	OutputBytes           int    `json:"outputBytes"`
	LastLinePartial       bool   `json:"lastLinePartial"`
	FirstLineExceedsLimit bool   `json:"firstLineExceedsLimit"`
	MaxLines              int    `json:"maxLines,omitempty"` // absent when the tool has no limit of lines
	MaxBytes              int    `json:"maxBytes"`
}

// list collects the lines of a result that keeps its beginning and is limited by bytes alone.
type list struct {
	text  strings.Builder
	lines int
	full  bool
}

// add appends a line unless that would pass MaxBytes; then it returns false and the list stays as it is from then on.
func (l *list) add(line string) bool {
	if l.full {
		return false
	}
	size := len(line)
	if l.lines > 0 {
		size++
	}
	if l.text.Len()+size > MaxBytes {
		l.full = true
		return false
	}
	if l.lines > 0 {
		l.text.WriteByte('\n')
	}
	l.text.WriteString(line)
	l.lines++
	return true
}

func (l *list) truncation() *truncation {
	if !l.full {
		return nil
	}
	return &truncation{
		Truncated: true, TruncatedBy: "bytes", OutputLines: l.lines, OutputBytes: l.text.Len(),
		FirstLineExceedsLimit: l.lines == 0, MaxBytes: MaxBytes,
	}
}

// withNotes is text followed by one bracketed line that holds the notes.
func withNotes(text string, notes []string) string {
	if len(notes) == 0 {
		return text
	}
	note := "[" + strings.Join(notes, "; ") + "]"
	if text == "" {
		return note
	}
	return strings.TrimSuffix(text, "\n") + "\n\n" + note
}

// textResult makes a result of one text block. details is encoded as JSON; nil leaves it out.
func textResult(text string, details any) (*agentcore.ToolResult, error) {
	result := &agentcore.ToolResult{Content: []agentcore.Block{&agentcore.TextBlock{Text: text}}}
	if details == nil {
		return result, nil
	}
	raw, err := json.Marshal(details)
	if err != nil {
		return nil, fmt.Errorf("encode the details: %w", err)
	}
	result.Details = raw
	return result, nil
}

// byteSize prints a number of bytes for people.
func byteSize(n int64) string {
	switch {
	case n == 1:
		return "1 byte"
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/(1<<10)), ".0") + " KB"
	default:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/(1<<20)), ".0") + " MB"
	}
}

// appendValid appends text to dst, each byte that is not part of valid UTF-8 as U+FFFD. The outcome does not depend on
// how the text was cut into pieces, as long as no piece ends within a rune.
func appendValid(dst, text []byte) []byte {
	if utf8.Valid(text) {
		return append(dst, text...)
	}
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		dst = utf8.AppendRune(dst, r)
		text = text[size:]
	}
	return dst
}

// printableName is a file name fit for a list of one name a line.
func printableName(name string) string {
	for _, r := range name {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return fmt.Sprintf("%q", name)
		}
	}
	return name
}

// shellQuote makes s one word of a POSIX shell.
func shellQuote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./", r)
	}
	if s != "" && s[0] != '-' && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

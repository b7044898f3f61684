package set

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Position is a place in a set file. Line and Column start at 1; Column counts
// characters, not bytes. With Line 0 it names a source without lines, such as
// the -e flag of the command line.
type Position struct {
	File   string `json:"file,omitzero"`
	Line   int    `json:"line,omitzero"`
	Column int    `json:"column,omitzero"`
}

// String is file:line:column, or the file alone when there is no line.
func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Error makes an [Error] at this place. key is dotted, message says what is
// wrong, hint what to do about it; key and hint may be empty.
func (p Position) Error(key, message, hint string) *Error {
	return &Error{File: p.File, Line: p.Line, Column: p.Column, Key: key, Message: message, Hint: hint}
}

// Error is one thing that is wrong with a set, or with a flag that stands for
// a part of one.
type Error struct {
	// File, Line and Column are as in [Position]. All are zero when the error
	// is about a flag.
	File         string
	Line, Column int
	// Key is the dotted key it is about, as in extension.grant.http, without
	// the index of the extension; empty when it is about the whole file.
	Key string
	// Message says what is wrong, Hint what to do; Hint may be empty.
	Message, Hint string
	// Err is the cause where there is one (a file that cannot be read, text that is no TOML).
	Err error
}

// Error prints file:line:column: message (hint).
func (e *Error) Error() string {
	var b strings.Builder
	if at := (Position{e.File, e.Line, e.Column}).String(); at != "" {
		b.WriteString(at)
		b.WriteString(": ")
	}
	b.WriteString(e.Message)
	if e.Hint != "" {
		fmt.Fprintf(&b, " (%s)", e.Hint)
	}
	return b.String()
}

// Unwrap returns the cause, nil if there is none.
func (e *Error) Unwrap() error { return e.Err }

// Errors is every error of a set: of one file, sorted by position; of several,
// file after file. It is never empty where it is returned.
type Errors []*Error

// Error prints one error a line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the errors one by one, for errors.Is and errors.As.
func (e Errors) Unwrap() []error {
	list := make([]error, len(e))
	for i, err := range e {
		list[i] = err
	}
	return list
}

// Sort orders the errors of one file by position; errors at one place keep their order.
func (e Errors) Sort() {
	slices.SortStableFunc(e, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// quotedMax is how many characters of foreign text an error repeats: enough to
// recognise it, too few to flood a terminal.
const quotedMax = 60

// quote makes foreign text printable, and short.
func quote(s string) string {
	if utf8.RuneCountInString(s) > quotedMax {
		return strconv.Quote(string([]rune(s)[:quotedMax]) + "…")
	}
	return strconv.Quote(s)
}

// or joins words for a sentence: "a", "b" or "c".
func or(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = strconv.Quote(w)
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	last := len(quoted) - 1
	return strings.Join(quoted[:last], ", ") + " or " + quoted[last]
}

// suggest is the hint for a word that is not one of known: the nearest one, or
// all of them when none is near and they are few.
func suggest(word string, known []string) string {
	if best := nearest(word, known); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	if len(known) <= 8 {
		return "known here: " + or(known)
	}
	return ""
}

// nearest returns the known word that differs from word by the fewest edits,
// "" when none is near enough to be what was meant. Case, and - for _, do not
// count.
func nearest(word string, known []string) string {
	if len(word) > quotedMax {
		return ""
	}
	normal := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "-", "_") }
	word = normal(word)
	best, fewest := "", 3
	for _, k := range known {
		if max(len(k)-len(word), len(word)-len(k)) >= fewest {
			continue
		}
		// A word of n letters may be wrong in a third of them: "kv" has no
		// neighbours, "read" has those one edit away.
		if d := distance(word, normal(k)); d < fewest && 3*d <= max(len(k), len(word)) {
			best, fewest = k, d
		}
	}
	return best
}

// distance counts the insertions, deletions, substitutions and swaps of
// neighbours that turn a into b (optimal string alignment).
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(last[j]+1, row[j-1]+1, change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

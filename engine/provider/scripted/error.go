package scripted

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Error is one thing that is wrong with a script.
type Error struct {
	// File is the name that Parse was given. Line and Column start at 1; Column counts bytes. For what stands inside an
	// inline table or a list they are the place of its key.
	File         string
	Line, Column int
	// Key is the dotted key with indexes from 1, such as response[2].call[1].args; "" for the file.
	Key string
	// Message says what is wrong, Hint what to do; Hint may be empty.
	Message, Hint string
}

// Error prints file:line:column: key: message (hint).
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: ", e.File, e.Line, e.Column)
	if e.Key != "" {
		b.WriteString(e.Key + ": ")
	}
	b.WriteString(e.Message)
	if e.Hint != "" {
		fmt.Fprintf(&b, " (%s)", e.Hint)
	}
	return b.String()
}

// Errors is everything that is wrong with a script, by position. It is never empty where it is returned.
type Errors []*Error

// Error prints one error a line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the errors one by one, for errors.As.
func (e Errors) Unwrap() []error {
	list := make([]error, len(e))
	for i, err := range e {
		list[i] = err
	}
	return list
}

func (e Errors) sort() {
	slices.SortStableFunc(e, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// nearest is the known word that word was probably meant to be, "" if none is near.
func nearest(word string, known []string) string {
	best, fewest := "", 3
	for _, k := range known {
		if d := distance(strings.ToLower(word), k); d < fewest && 3*d <= max(len(k), len(word)) {
			best, fewest = k, d
		}
	}
	return best
}

// distance counts the insertions, deletions, substitutions and swaps of neighbours that make b of a.
func distance(a, b string) int {
	if len(a) > 2*len(b)+2 {
		return len(a)
	}
	row := func(n int) []int { return make([]int, n+1) }
	before, last := row(len(b)), row(len(b))
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next := row(len(b))
		next[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			next[j] = min(last[j]+1, next[j-1]+1, change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, last = last, next
	}
	return last[len(b)]
}

package tools

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// change is one edit found in a file: bytes from..to give way to text.
type change struct {
	from, to int
	text     string
	index    int // of the edit
}

// unixText is a text with every \r\n as \n, and the way back. Models write \n whatever the file has.
type unixText struct {
	text    string
	removed []int // where in text a \r was left out, ascending
}

func newUnixText(s string) unixText {
	u := unixText{text: s}
	if !strings.Contains(s, "\r\n") {
		return u
	}
	var b strings.Builder
	b.Grow(len(s))
	for {
		at := strings.Index(s, "\r\n")
		if at < 0 {
			b.WriteString(s)
			u.text = b.String()
			return u
		}
		b.WriteString(s[:at])
		u.removed = append(u.removed, b.Len())
		b.WriteByte('\n')
		s = s[at+2:]
	}
}

// original is the offset before the conversion. Just before a \n it is the one before its \r.
func (u unixText) original(at int) int { return at + sort.SearchInts(u.removed, at) }

// locate finds every edit in text and returns the changes in order of position. name is for errors. A byte order mark is
// no part of any match, unless an edit names it. New lines get the line ends that the file begins with.
func locate(text string, edits []edit, name string) ([]change, error) {
	unix := newUnixText(text)
	firstEnd := strings.IndexByte(text, '\n')
	crlf := firstEnd > 0 && text[firstEnd-1] == '\r'
	changes := make([]change, 0, len(edits))
	for i, e := range edits {
		label := "the text"
		if len(edits) > 1 {
			label = fmt.Sprintf("edits[%d].oldText", i)
		}
		want := strings.ReplaceAll(e.oldText, "\r\n", "\n")
		places := occurrences(unix.text, want)
		if len(places) == 0 {
			return nil, fmt.Errorf("%s is not in %s%s", label, name, nearMiss(unix.text, want))
		}
		if len(places) > 1 {
			return nil, fmt.Errorf("%s is in %s %s, at lines %s; add lines around it until it is unique",
				label, name, times(len(places)), lineNumbers(unix.text, places))
		}
		put := strings.ReplaceAll(e.newText, "\r\n", "\n")
		if crlf {
			put = strings.ReplaceAll(put, "\n", "\r\n")
		}
		changes = append(changes, change{
			from: unix.original(places[0]), to: unix.original(places[0] + len(want)), text: put, index: i,
		})
	}
	slices.SortFunc(changes, func(a, b change) int { return a.from - b.from })
	for i := 1; i < len(changes); i++ {
		if before := changes[i-1]; before.to > changes[i].from {
			return nil, fmt.Errorf("edits[%d] and edits[%d] overlap in %s; make one edit of them", before.index, changes[i].index, name)
		}
	}
	return changes, nil
}

// maxOccurrences ends the counting in a text that holds something very often.
const maxOccurrences = 1000

// occurrences are the offsets of want in text, those that overlap included: an edit of either would be a guess.
func occurrences(text, want string) []int {
	var places []int
	for from := 0; len(places) < maxOccurrences; {
		at := strings.Index(text[from:], want)
		if at < 0 {
			break
		}
		places = append(places, from+at)
		from += at + 1
	}
	return places
}

func times(n int) string {
	if n >= maxOccurrences {
		return fmt.Sprintf("at least %d times", n)
	}
	return fmt.Sprintf("%d times", n)
}

// lineNumbers names the lines that the first few offsets lie in.
func lineNumbers(text string, offsets []int) string {
	const most = 10
	var names []string
	line, from := 1, 0
	for i, at := range offsets {
		if i == most {
			names = append(names, "…")
			break
		}
		line += strings.Count(text[from:at], "\n")
		from = at
		names = append(names, fmt.Sprint(line))
	}
	return strings.Join(names, ", ")
}

// nearMiss says where the text is apart from white space, if it is anywhere.
func nearMiss(text, want string) string {
	wanted := compactLines(want)
	if len(wanted) == 0 {
		return "; it must match exactly, white space included"
	}
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = compact(lines[i])
	}
	for i := 0; i+len(wanted) <= len(lines); i++ {
		if slices.Equal(lines[i:i+len(wanted)], wanted) {
			return fmt.Sprintf("; line %d differs in white space only: read the file and copy the text exactly", i+1)
		}
	}
	return "; it must match exactly, white space included: read the file again"
}

func compact(line string) string { return strings.Join(strings.Fields(line), " ") }

// compactLines are the lines of s, compact, without empty ones at both ends.
func compactLines(s string) []string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = compact(lines[i])
	}
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// apply returns text with the changes made. They are in order and do not overlap.
func apply(text string, changes []change) string {
	var b strings.Builder
	from := 0
	for _, c := range changes {
		b.WriteString(text[from:c.from])
		b.WriteString(c.text)
		from = c.to
	}
	b.WriteString(text[from:])
	return b.String()
}

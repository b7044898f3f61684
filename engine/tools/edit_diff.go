package tools

import (
	"fmt"
	"slices"
	"strings"
)

// diffContext is how many lines around a change a diff shows. Reference: dist/core/tools/edit-diff.d.ts, 0.85.0.
const diffContext = 4

// diff is what edits changed, in lines. Where the changes are is known, so that nothing has to be compared but the two
// sides of each change.
type diff struct {
	old   []string // lines with their ends
	hunks []lineChange
}

// lineChange replaces old[from:to] by put; first is the number of the first line of put in the new text, from 0.
type lineChange struct {
	from, to int
	put      []string
	first    int
}

func splitLines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// newDiff describes changes of before, which are in order.
func newDiff(before string, changes []change) *diff {
	d := &diff{old: splitLines(before)}
	starts := make([]int, len(d.old)+1)
	for i, line := range d.old {
		starts[i+1] = starts[i] + len(line)
	}
	shift := 0
	for i := 0; i < len(changes); {
		from := lineOf(starts, changes[i].from)
		to, j := from, i
		var text string
		for {
			for ; j < len(changes) && (j == i || changes[j].from < starts[to]); j++ {
				to = max(to, lineEnd(starts, changes[j].to))
			}
			text = apply(before[starts[from]:starts[to]], moved(changes[i:j], -starts[from]))
			// A text that lost its last line end goes on in the next line, which therefore changes too.
			if text == "" || strings.HasSuffix(text, "\n") || to == len(d.old) {
				break
			}
			to++
		}
		c := lineChange{from: from, to: to, put: splitLines(text)}
		c.trim(d.old)
		c.first = c.from + shift
		shift += len(c.put) - (c.to - c.from)
		if c.from < c.to || len(c.put) > 0 {
			d.hunks = append(d.hunks, c)
		}
		i = j
	}
	return d
}

// lineOf is the index of the line that holds the byte at offset.
func lineOf(starts []int, offset int) int {
	i, exact := slices.BinarySearch(starts, offset)
	if !exact {
		i--
	}
	return i
}

// lineEnd is the index of the first line that starts at offset or after it.
func lineEnd(starts []int, offset int) int {
	i, _ := slices.BinarySearch(starts, offset)
	return i
}

func moved(changes []change, by int) []change {
	out := slices.Clone(changes)
	for i := range out {
		out[i].from += by
		out[i].to += by
	}
	return out
}

// trim leaves out lines at both ends that stay the same.
func (c *lineChange) trim(old []string) {
	for c.from < c.to && len(c.put) > 0 && old[c.from] == c.put[0] {
		c.from++
		c.put = c.put[1:]
	}
	for c.from < c.to && len(c.put) > 0 && old[c.to-1] == c.put[len(c.put)-1] {
		c.to--
		c.put = c.put[:len(c.put)-1]
	}
}

// firstChanged is the number of the first changed line in the new text, from 1.
func (d *diff) firstChanged() int {
	if len(d.hunks) == 0 {
		return 1
	}
	return d.hunks[0].first + 1
}

// groups are runs of changes so near to one another that their context lines meet.
func (d *diff) groups() [][]lineChange {
	var groups [][]lineChange
	for i, c := range d.hunks {
		if i > 0 && c.from-d.hunks[i-1].to <= 2*diffContext {
			groups[len(groups)-1] = append(groups[len(groups)-1], c)
		} else {
			groups = append(groups, []lineChange{c})
		}
	}
	return groups
}

// lines calls emit for every line of a group with its context: mark is ' ', '-' or '+'; the numbers are from 1, 0 for
// the side that the line is not on.
func (d *diff) lines(group []lineChange, emit func(mark byte, oldLine, newLine int, text string)) {
	at := max(0, group[0].from-diffContext)
	shift := group[0].first - group[0].from
	same := func(end int) {
		for ; at < end; at++ {
			emit(' ', at+1, at+1+shift, d.old[at])
		}
	}
	for _, c := range group {
		same(c.from)
		for ; at < c.to; at++ {
			emit('-', at+1, 0, d.old[at])
		}
		for i, line := range c.put {
			emit('+', 0, c.first+i+1, line)
		}
		shift += len(c.put) - (c.to - c.from)
	}
	same(min(len(d.old), at+diffContext))
}

// unified is the diff as patch(1) reads it.
func (d *diff) unified(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", name, name)
	for _, group := range d.groups() {
		var body strings.Builder
		oldCount, newCount := 0, 0
		d.lines(group, func(mark byte, oldLine, newLine int, text string) {
			if oldLine > 0 {
				oldCount++
			}
			if newLine > 0 {
				newCount++
			}
			body.WriteByte(mark)
			body.WriteString(text)
			if !strings.HasSuffix(text, "\n") {
				body.WriteString("\n\\ No newline at end of file\n")
			}
		})
		from := max(0, group[0].from-diffContext)
		oldStart, newStart := from+1, from+1+group[0].first-group[0].from
		if oldCount == 0 {
			oldStart--
		}
		if newCount == 0 {
			newStart--
		}
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n%s", oldStart, oldCount, newStart, newCount, body.String())
	}
	return b.String()
}

// display is the diff for people, with line numbers and without headers.
func (d *diff) display() string {
	added := 0
	for _, c := range d.hunks {
		added += len(c.put)
	}
	width := len(fmt.Sprint(len(d.old) + added))
	var b strings.Builder
	for i, group := range d.groups() {
		if i > 0 || group[0].from > diffContext {
			fmt.Fprintf(&b, " %*s …\n", width, "")
		}
		d.lines(group, func(mark byte, oldLine, newLine int, text string) {
			number := oldLine
			if mark == '+' {
				number = newLine
			}
			fmt.Fprintf(&b, "%c%*d %s\n", mark, width, number, strings.TrimRight(text, "\r\n"))
		})
	}
	return strings.TrimSuffix(b.String(), "\n")
}

package tools

import (
	"slices"
	"strings"
	"testing"
)

// The lines that a diff names, put into the old text, give the new one; the hunks are in order and count right.
func FuzzDiff(f *testing.F) {
	f.Add("a\nb\nc\n", uint(0), uint(2), "x", uint(0), uint(2), "")
	f.Add("a\r\nb", uint(3), uint(1), "y\nz\n", uint(0), uint(0), "\n")
	f.Fuzz(func(t *testing.T, before string, skip1, len1 uint, put1 string, skip2, len2 uint, put2 string) {
		var changes []change
		at := uint(0)
		for _, c := range []struct {
			skip, length uint
			put          string
		}{{skip1, len1, put1}, {skip2, len2, put2}} {
			left := uint(len(before)) - at
			if left == 0 {
				break
			}
			from := at + c.skip%left
			to := from + 1 + c.length%(uint(len(before))-from)
			changes = append(changes, change{from: int(from), to: int(to), text: c.put})
			at = to
		}
		after := apply(before, changes)
		d := newDiff(before, changes)
		lines := slices.Clone(d.old)
		shift := 0
		last := -1
		for _, h := range d.hunks {
			if h.from < last || h.first != h.from+shift {
				t.Fatalf("hunk %+v after line %d, shift %d", h, last, shift)
			}
			lines = slices.Replace(lines, h.from+shift, h.to+shift, h.put...)
			shift += len(h.put) - (h.to - h.from)
			last = h.to
		}
		if got := strings.Join(lines, ""); got != after {
			t.Fatalf("before %q\nafter  %q\ndiff   %q", before, after, got)
		}
		if !slices.Equal(lines, splitLines(after)) {
			t.Fatalf("lines %q of %q", lines, after)
		}
		_ = d.unified("f") // must not panic, as the next
		_ = d.display()
	})
}

// What locate finds and apply changes is what the edits say, with \r\n for \n where the file has it.
func FuzzEdit(f *testing.F) {
	f.Add("a\r\nb\r\n", "a\nb", "c\nd")
	f.Add("a\r\nb\nc", "\nb\n", "")
	f.Fuzz(func(t *testing.T, before, oldText, newText string) {
		if oldText == "" {
			t.Skip()
		}
		changes, err := locate(before, []edit{{oldText, newText}}, "f")
		if err != nil {
			return
		}
		c := changes[0]
		unix := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
		if got := unix(before[c.from:c.to]); got != unix(oldText) {
			t.Fatalf("found %q for %q", got, oldText)
		}
		if unix(c.text) != unix(newText) {
			t.Fatalf("puts %q for %q", c.text, newText)
		}
	})
}

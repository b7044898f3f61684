package workbench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// compare says how an answer differs from what is expected; nil when it does not.
func compare(want *Expect, got *Answer) []string {
	var list []string
	fail := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if want.Fault != got.Fault {
		switch {
		case want.Fault == "":
			fail("fault: %s", got.Reason)
		case got.Fault == "":
			fail("fault: want %s, got the answer %s", want.Fault, got.Output)
		default:
			fail("fault: want %s, got %s (%s)", want.Fault, got.Fault, got.Reason)
		}
		return list
	}
	if want.Decision != "" && want.Decision != got.Decision {
		note := ""
		if got.NotAsked {
			note = " (its hook does not want calls of this tool, so it was not asked)"
		}
		if got.Reason != "" {
			note += fmt.Sprintf(", reason %q", got.Reason)
		}
		fail("decision: want %s, got %s%s", want.Decision, got.Decision, note)
	}
	if want.Reason != nil && !want.Reason.Matches(got.Reason) {
		fail("reason: want %s, got %q", want.Reason, got.Reason)
	}
	if want.Output != nil && !sameJSON(want.Output, got.Output) {
		fail("output (- wanted, + got):\n%s", diff(pretty(want.Output), pretty(got.Output)))
	}
	if want.Dropped != nil && !slices.Equal(want.Dropped, got.Dropped) {
		fail("dropped: want %v, got %v", want.Dropped, got.Dropped)
	}
	if want.Kept != nil && !slices.Equal(want.Kept, got.Kept) {
		fail("kept: want %v, got %v", want.Kept, got.Kept)
	}
	return list
}

// sameJSON compares values: the order of keys does not count, nor how a string is escaped. Numbers must be written alike
// unless they are equal as float64.
func sameJSON(a, b json.RawMessage) bool {
	va, ok := decode(a)
	vb, ok2 := decode(b)
	return ok && ok2 && reflect.DeepEqual(plain(va), plain(vb))
}

func decode(raw json.RawMessage) (any, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err == nil
}

// exactInteger is the first integer beyond which float64 no longer tells neighbours apart.
const exactInteger = 1 << 53

// plain makes 1.0 and 1 the same, and leaves integers alone that float64 would blur.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = plain(v[k])
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case json.Number:
		if f, err := v.Float64(); err == nil && f > -exactInteger && f < exactInteger {
			return f
		}
	}
	return v
}

// pretty is JSON with sorted keys, a member a line.
func pretty(raw json.RawMessage) []string {
	v, ok := decode(raw)
	if !ok {
		return strings.Split(string(raw), "\n")
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return strings.Split(string(raw), "\n")
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// diffCells bounds the table of the diff; longer texts are shown one after the other.
const diffCells = 4 << 20

// diff marks the lines of a that b lacks by - and those that it adds by +. Long runs of equal lines are cut.
func diff(a, b []string) string {
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	lines := mark(" ", a[:start])
	lines = append(lines, middle(a[start:len(a)-end], b[start:len(b)-end])...)
	lines = append(lines, mark(" ", a[len(a)-end:])...)
	return strings.Join(elide(lines), "\n")
}

// middle diffs by the longest common subsequence.
func middle(a, b []string) []string {
	if (len(a)+1)*(len(b)+1) > diffCells {
		return append(mark("-", a), mark("+", b)...)
	}
	longest := make([][]int, len(a)+1)
	for i := range longest {
		longest[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	var lines []string
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			lines = append(lines, "  "+a[i])
			i, j = i+1, j+1
		case longest[i+1][j] >= longest[i][j+1]:
			lines = append(lines, "- "+a[i])
			i++
		default:
			lines = append(lines, "+ "+b[j])
			j++
		}
	}
	return append(append(lines, mark("-", a[i:])...), mark("+", b[j:])...)
}

func mark(sign string, lines []string) []string {
	marked := make([]string, len(lines))
	for i := range lines {
		marked[i] = sign + " " + lines[i]
	}
	return marked
}

// elide keeps three equal lines around each difference.
func elide(lines []string) []string {
	const around = 3
	near := make([]bool, len(lines))
	for i, l := range lines {
		if l[0] != ' ' {
			for j := max(0, i-around); j <= min(len(lines)-1, i+around); j++ {
				near[j] = true
			}
		}
	}
	var out []string
	for i := 0; i < len(lines); i++ {
		if near[i] {
			out = append(out, lines[i])
			continue
		}
		n := i
		for n < len(lines) && !near[n] {
			n++
		}
		if n-i == 1 {
			out = append(out, lines[i])
		} else {
			out = append(out, fmt.Sprintf("  … %d equal lines", n-i))
		}
		i = n - 1
	}
	return out
}

package agentcoretest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Compare says how got differs from what the scenario expects, readably; "" means that it does not. A scenario tagged
// js-order may order its records in another way.
func (s *Scenario) Compare(got Outcome) string { return s.compareWith(s.Expected, got) }

func (s *Scenario) compareWith(want, got Outcome) string {
	var b strings.Builder
	want, got = renumbered(want), renumbered(got)
	equal := same(want.Trace, got.Trace) || slices.Contains(s.Tags, "js-order") && sameRecords(want.Trace, got.Trace)
	if !equal {
		b.WriteString("trace (- expected, + got):\n")
		b.WriteString(diffLines(lines(want.Trace), lines(got.Trace)))
	}
	if !same(want.ToolRuns, got.ToolRuns) {
		b.WriteString("tool runs (- expected, + got):\n")
		b.WriteString(diffLines(lines(want.ToolRuns), lines(got.ToolRuns)))
	}
	if !same(want.Final, got.Final) {
		b.WriteString("final (- expected, + got):\n")
		b.WriteString(diffLines(fields(want.Final), fields(got.Final)))
	}
	return b.String()
}

// sameRecords compares traces as multisets.
func sameRecords(a, b []any) bool {
	x, y := lines(a), lines(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// numbered are the names that stand for ids: they count in the order of first sight.
var numbered = regexp.MustCompile(`<(e|session)\d+>`)

// renumbered counts the names anew, keys in alphabetical order: the recorder met them in the order in which JavaScript keeps
// the keys of its objects.
func renumbered(o Outcome) Outcome {
	names, count := map[string]string{}, map[string]int{}
	rename := func(s string) string {
		return numbered.ReplaceAllStringFunc(s, func(name string) string {
			if names[name] == "" {
				kind := numbered.FindStringSubmatch(name)[1]
				count[kind]++
				names[name] = fmt.Sprintf("<%s%d>", kind, count[kind])
			}
			return names[name]
		})
	}
	var walk func(v any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case string:
			return rename(v)
		case []any:
			out := make([]any, len(v))
			for i, item := range v {
				out[i] = walk(item)
			}
			return out
		case Object:
			out := make(Object, len(v))
			for _, key := range sortedKeys(v) {
				out[key] = walk(v[key])
			}
			return out
		default:
			return v
		}
	}
	list := func(v []any) []any {
		if v == nil {
			return nil
		}
		return walk(v).([]any)
	}
	return Outcome{Trace: list(o.Trace), ToolRuns: list(o.ToolRuns), Final: walk(o.Final)}
}

func lines(records []any) []string {
	out := make([]string, len(records))
	for i, record := range records {
		out[i] = string(encode(record))
	}
	return out
}

func fields(v any) []string {
	object, ok := v.(Object)
	if !ok {
		return []string{string(encode(v))}
	}
	var out []string
	for _, key := range sortedKeys(object) {
		if list, ok := object[key].([]any); ok {
			for i, item := range list {
				out = append(out, fmt.Sprintf("%s[%d] %s", key, i, encode(item)))
			}
			continue
		}
		out = append(out, key+" "+string(encode(object[key])))
	}
	return out
}

// diffLines is a line diff with a little context. Traces are short, so the simple table of common subsequences will do.
func diffLines(a, b []string) string {
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out []string
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, "  "+a[i])
			i++
			j++
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			out = append(out, "- "+a[i])
			i++
		default:
			out = append(out, "+ "+b[j])
			j++
		}
	}
	return shorten(out)
}

// shorten leaves out equal lines that are far from a difference.
func shorten(all []string) string {
	const around = 2
	var b strings.Builder
	skipped := 0
	for i, line := range all {
		near := slices.ContainsFunc(all[max(0, i-around):min(len(all), i+around+1)], func(l string) bool { return l[0] != ' ' })
		if !near {
			skipped++
			continue
		}
		if skipped > 0 {
			fmt.Fprintf(&b, "  … %d equal\n", skipped)
			skipped = 0
		}
		b.WriteString(line + "\n")
	}
	if skipped > 0 {
		fmt.Fprintf(&b, "  … %d equal\n", skipped)
	}
	return b.String()
}

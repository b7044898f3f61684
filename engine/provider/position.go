package provider

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"weir/engine/set"
)

// places knows where headers, and the keys at the start of a line, stand in a file, by their dotted keys with indexes. The
// TOML library tells the place of a syntax error only. Keys inside inline tables have the place of what is around them.
type places struct {
	file  string
	found map[string]set.Position
}

// locate reads text line by line. It need not be right for text that the library refuses.
func locate(file, text string) places {
	p := places{file: file, found: map[string]set.Position{}}
	table, models := "", 0
	for n, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimLeft(line, " \t")
		at := set.Position{File: file, Line: n + 1, Column: utf8.RuneCountInString(line[:len(line)-len(trimmed)]) + 1}
		switch {
		case strings.HasPrefix(trimmed, "[["):
			table = header(trimmed[2:])
			if table == "model" {
				table = fmt.Sprintf("model[%d]", models)
				models++
			}
			p.add(table, at)
		case strings.HasPrefix(trimmed, "["):
			table = header(trimmed[1:])
			if rest, ok := strings.CutPrefix(table, "model."); ok && models > 0 {
				table = fmt.Sprintf("model[%d].%s", models-1, rest)
			}
			p.add(table, at)
		default:
			if key, _, ok := strings.Cut(trimmed, "="); ok && !strings.HasPrefix(trimmed, "#") {
				p.add(strings.TrimPrefix(table+"."+dotted(key), "."), at)
			}
		}
	}
	return p
}

func header(s string) string {
	s, _, _ = strings.Cut(s, "]")
	return dotted(s)
}

// dotted is a key without its spaces and quotes.
func dotted(key string) string {
	parts := strings.Split(key, ".")
	for i := range parts {
		parts[i] = strings.Trim(strings.TrimSpace(parts[i]), `"'`)
	}
	return strings.Join(parts, ".")
}

func (p places) add(key string, at set.Position) {
	if _, ok := p.found[key]; !ok {
		p.found[key] = at
	}
}

// of is the place of a key, or of the nearest thing around it that has one, or the start of the file.
func (p places) of(key string) set.Position {
	for key != "" {
		if at, ok := p.found[key]; ok {
			return at
		}
		key = key[:max(strings.LastIndexAny(key, ".["), 0)]
	}
	return set.Position{File: p.file, Line: 1, Column: 1}
}

// order sorts names below a table by where they stand.
func (p places) order(table string, names []string) []string {
	slices.SortStableFunc(names, func(a, b string) int {
		return p.of(table+"."+a).Line - p.of(table+"."+b).Line
	})
	return names
}

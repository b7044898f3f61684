package resources

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// frontmatter cuts a text into the fields that stand before it between lines of three dashes, and the rest. Of YAML it knows what such
// files have: one field a line, bare or in quotes, going on in lines that are indented, or a block behind | or >. What is nested is left
// out. A text that does not begin so has no fields.
func frontmatter(text string) (fields map[string]string, body string, err error) {
	fields = map[string]string{}
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return fields, strings.TrimSpace(text), nil
	}
	head, body, ok := strings.Cut("\n"+rest, "\n---\n")
	if !ok {
		if head, ok = strings.CutSuffix("\n"+rest, "\n---"); !ok {
			return nil, "", errors.New("its first line is ---, and no other line ends what that begins")
		}
		body = ""
	}
	lines := strings.Split(strings.TrimPrefix(head, "\n"), "\n")
	for i := 0; i < len(lines); {
		line := lines[i]
		i++
		if trimmed := strings.TrimSpace(line); trimmed == "" || strings.HasPrefix(trimmed, "#") {
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		if !ok || strings.ContainsAny(key, " \t\"'{}[]") || value != "" && value[0] != ' ' {
			return nil, "", fmt.Errorf("line %d of what stands between the --- is not KEY: VALUE", i)
		}
		var more []string
		for ; i < len(lines) && (lines[i] == "" || lines[i][0] == ' ' || lines[i][0] == '\t'); i++ {
			more = append(more, strings.TrimSpace(lines[i]))
		}
		if fields[key], err = scalar(strings.TrimSpace(value), more); err != nil {
			return nil, "", fmt.Errorf("%s: %w", key, err)
		}
	}
	return fields, strings.TrimSpace(body), nil
}

// scalar is the text of a field.
func scalar(value string, more []string) (string, error) {
	if value != "" && (value[0] == '|' || value[0] == '>') {
		glue := " "
		if value[0] == '|' {
			glue = "\n"
		}
		return strings.TrimSpace(strings.Join(more, glue)), nil
	}
	if value == "" && len(more) > 0 && (strings.HasPrefix(more[0], "- ") || strings.Contains(more[0], ": ")) {
		return "", nil // nested
	}
	value = strings.TrimSpace(strings.Join(append([]string{value}, more...), " "))
	if value == "" {
		return "", nil
	}
	switch value[0] {
	case '"':
		text, err := strconv.Unquote(value)
		if err != nil {
			return "", errors.New(`what begins with " does not end with it`)
		}
		return text, nil
	case '\'':
		inner, ok := strings.CutSuffix(value[1:], "'")
		if !ok || strings.Contains(strings.ReplaceAll(inner, "''", ""), "'") {
			return "", errors.New("what begins with ' does not end with it")
		}
		return strings.ReplaceAll(inner, "''", "'"), nil
	}
	value, _, _ = strings.Cut(value, " #")
	return strings.TrimSpace(value), nil
}

package scripted

import (
	"fmt"
	"strings"
)

// maxNesting is how deep values may nest. The TOML library recurses without a limit of its own.
const maxNesting = 64

type position struct{ line, column int }

// positions knows where the headers and the keys at the start of a line stand in TOML text, by their dotted keys with
// indexes. The library tells the place of a syntax error only.
type positions map[string]position

// of is the place of a key, or of the nearest thing around it that has one.
func (p positions) of(key string) position {
	for key != "" {
		if at, ok := p[key]; ok {
			return at
		}
		key = key[:max(strings.LastIndexAny(key, ".["), 0)]
	}
	return position{1, 1}
}

// scanner follows TOML as far as statements go. It need not be right for text that the library refuses.
type scanner struct {
	text    string
	at      int
	line    int
	start   int // offset of the line
	counts  map[string]int
	found   positions
	tooDeep *position
}

// locate finds the positions in text. tooDeep is where it nests deeper than maxNesting, and then the rest was not read.
func locate(text string) (found positions, tooDeep *position) {
	s := &scanner{text: text, line: 1, counts: map[string]int{}, found: positions{}}
	table := ""
	for s.at < len(text) && s.tooDeep == nil {
		switch text[s.at] {
		case '\n':
			s.newline()
		case ' ', '\t', '\r':
			s.at++
		case '#':
			s.rest()
		case '[':
			table = s.header()
		default:
			s.statement(table)
		}
	}
	return s.found, s.tooDeep
}

func (s *scanner) here() position { return position{s.line, s.at - s.start + 1} }

func (s *scanner) newline() {
	s.at++
	s.line++
	s.start = s.at
}

// rest moves to the end of the line.
func (s *scanner) rest() string {
	from := s.at
	for s.at < len(s.text) && s.text[s.at] != '\n' {
		s.at++
	}
	return s.text[from:s.at]
}

func (s *scanner) header() string {
	at := s.here()
	line := s.rest()
	name, _, _ := strings.Cut(strings.TrimLeft(line, "["), "]")
	parts := strings.Split(name, ".")
	if len(parts) > maxNesting {
		s.tooDeep = &at
		return ""
	}
	key := ""
	for i, part := range parts {
		key = join(key, strings.Trim(part, " \t\"'"))
		if i == len(parts)-1 && strings.HasPrefix(line, "[[") {
			s.counts[key]++
		}
		if n := s.counts[key]; n > 0 {
			key = fmt.Sprintf("%s[%d]", key, n)
		}
	}
	s.found[key] = at
	return key
}

// statement passes key = value, which may take several lines.
func (s *scanner) statement(table string) {
	at := s.here()
	from := s.at
	for s.at < len(s.text) && s.text[s.at] != '=' && s.text[s.at] != '\n' {
		s.at++
	}
	parts := strings.Split(s.text[from:s.at], ".")
	if len(parts) > maxNesting {
		s.tooDeep = &at
		return
	}
	key := table
	for _, part := range parts {
		key = join(key, strings.Trim(part, " \t\"'"))
	}
	if _, known := s.found[key]; !known {
		s.found[key] = at
	}
	for depth := 0; s.at < len(s.text); {
		switch c := s.text[s.at]; c {
		case '\n':
			if depth == 0 {
				return
			}
			s.newline()
		case '#':
			s.rest()
		case '"', '\'':
			s.quoted(c)
		case '[', '{':
			if depth++; depth > maxNesting {
				s.tooDeep = &at
				return
			}
			s.at++
		case ']', '}':
			depth--
			s.at++
		default:
			s.at++
		}
	}
}

// quoted passes a string of any of the four kinds.
func (s *scanner) quoted(quote byte) {
	end := string(quote)
	if strings.HasPrefix(s.text[s.at:], strings.Repeat(end, 3)) {
		end = strings.Repeat(end, 3)
	}
	s.at += len(end)
	for s.at < len(s.text) {
		switch {
		case strings.HasPrefix(s.text[s.at:], end):
			s.at += len(end)
			for len(end) == 3 && s.at < len(s.text) && s.text[s.at] == quote {
				s.at++ // up to two quotes more belong to the string
			}
			return
		case s.text[s.at] == '\n':
			if len(end) == 1 {
				return
			}
			s.newline()
		case s.text[s.at] == '\\' && quote == '"' && s.at+1 < len(s.text) && s.text[s.at+1] != '\n':
			s.at += 2
		default:
			s.at++
		}
	}
}

func join(table, key string) string {
	if table == "" {
		return key
	}
	return table + "." + key
}

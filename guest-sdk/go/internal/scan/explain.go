package scan

import "unicode/utf8"

// explain says what is wrong with s, which the machine refused. It never returns
// nil: text that the two read differently is refused as well.
func explain(s string) *Error {
	r := reader{s: s}
	end := r.value(space(s, 0), 0)
	if end >= 0 {
		r.fail(space(s, end), "text after the value")
	}
	return &Error{r.at, r.problem}
}

// reader finds the first thing that is wrong with a text.
type reader struct {
	s       string
	problem string
	at      int
}

func (r *reader) fail(at int, problem string) int {
	r.at, r.problem = at, problem
	return -1
}

func space(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\r' || s[i] == '\t') {
		i++
	}
	return i
}

// value reads the value that starts at i, inside depth arrays and objects, and
// returns where it ends, or a negative number.
func (r *reader) value(i, depth int) int {
	if i >= len(r.s) {
		return r.fail(i, "a value is missing")
	}
	switch c := r.s[i]; c {
	case '"':
		return r.str(i)
	case '{':
		if depth >= MaxDepth {
			return r.fail(i, "nested too deeply")
		}
		return r.object(i, depth+1)
	case '[':
		if depth >= MaxDepth {
			return r.fail(i, "nested too deeply")
		}
		return r.array(i, depth+1)
	case 't':
		return r.word(i, "true")
	case 'f':
		return r.word(i, "false")
	case 'n':
		return r.word(i, "null")
	default:
		if c == '-' || '0' <= c && c <= '9' {
			return r.number(i)
		}
		return r.fail(i, "not the start of a value")
	}
}

func (r *reader) word(i int, w string) int {
	if len(r.s)-i < len(w) || r.s[i:i+len(w)] != w {
		return r.fail(i, "not the start of a value")
	}
	return i + len(w)
}

func (r *reader) object(i, depth int) int {
	if i = space(r.s, i+1); i < len(r.s) && r.s[i] == '}' {
		return i + 1
	}
	for {
		if i >= len(r.s) || r.s[i] != '"' {
			return r.fail(i, "a key in quotes is missing")
		}
		keyEnd := r.str(i)
		if keyEnd < 0 {
			return keyEnd
		}
		if i = space(r.s, keyEnd); i >= len(r.s) || r.s[i] != ':' {
			return r.fail(i, "no colon after a key")
		}
		i = space(r.s, i+1)
		end := r.value(i, depth)
		if end < 0 {
			return end
		}
		if i = space(r.s, end); i >= len(r.s) {
			return r.fail(i, "an object does not end")
		}
		switch r.s[i] {
		case '}':
			return i + 1
		case ',':
			i = space(r.s, i+1)
		default:
			return r.fail(i, "no comma or } after a member")
		}
	}
}

func (r *reader) array(i, depth int) int {
	if i = space(r.s, i+1); i < len(r.s) && r.s[i] == ']' {
		return i + 1
	}
	for {
		end := r.value(i, depth)
		if end < 0 {
			return end
		}
		if i = space(r.s, end); i >= len(r.s) {
			return r.fail(i, "an array does not end")
		}
		switch r.s[i] {
		case ']':
			return i + 1
		case ',':
			i = space(r.s, i+1)
		default:
			return r.fail(i, "no comma or ] after an element")
		}
	}
}

func (r *reader) number(i int) int {
	s := r.s
	if s[i] == '-' {
		i++
	}
	switch {
	case i < len(s) && s[i] == '0':
		i++
	case i < len(s) && '1' <= s[i] && s[i] <= '9':
		i = digits(s, i)
	default:
		return r.fail(i, "a number without digits")
	}
	if i < len(s) && s[i] == '.' {
		end := digits(s, i+1)
		if end == i+1 {
			return r.fail(end, "a number without digits after its point")
		}
		i = end
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		end := digits(s, i)
		if end == i {
			return r.fail(end, "a number without digits in its exponent")
		}
		i = end
	}
	return i
}

func digits(s string, i int) int {
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	return i
}

// str reads the string whose opening quote stands at i.
func (r *reader) str(i int) int {
	s := r.s
	i++
	for {
		for i < len(s) && s[i] >= 0x20 && s[i] != '"' && s[i] != '\\' && s[i] < utf8.RuneSelf {
			i++
		}
		if i >= len(s) {
			return r.fail(i, "a string does not end")
		}
		switch c := s[i]; {
		case c == '"':
			return i + 1
		case c == '\\':
			if i = r.escape(i); i < 0 {
				return i
			}
		case c < 0x20:
			return r.fail(i, "a control character in a string")
		default:
			_, n := utf8.DecodeRuneInString(s[i:])
			if n == 1 {
				return r.fail(i, "not valid UTF-8")
			}
			i += n
		}
	}
}

func (r *reader) escape(i int) int {
	s := r.s
	if i+1 >= len(s) {
		return r.fail(i, "a string does not end")
	}
	switch s[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		u := hex4(s, i+2)
		switch {
		case u < 0:
			return r.fail(i, "not four hex digits after \\u")
		case u>>10 == 0xdc00>>10:
			return r.fail(i, "half a surrogate pair")
		case u>>10 == 0xd800>>10:
			if i+8 > len(s) || s[i+6] != '\\' || s[i+7] != 'u' || hex4(s, i+8)>>10 != 0xdc00>>10 {
				return r.fail(i, "half a surrogate pair")
			}
			return i + 12
		}
		return i + 6
	}
	return r.fail(i, "an unknown escape")
}

// hex4 returns the number in the four hex digits from i on, or -1.
func hex4(s string, i int) rune {
	if i+4 > len(s) {
		return -1
	}
	var v rune
	for _, c := range []byte(s[i : i+4]) {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		v = v<<4 | rune(c)
	}
	return v
}

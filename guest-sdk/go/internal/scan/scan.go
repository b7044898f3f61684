package scan

import (
	"strconv"
	"unicode/utf8"
)

// MaxDepth is how many arrays and objects may stand inside each other. The host
// refuses deeper ones in what a guest returns (ABI section 4).
const MaxDepth = 64

// Error says why a text is not JSON that this package reads, and where.
type Error struct {
	Offset  int // in bytes
	Problem string
}

func (e *Error) Error() string {
	return "invalid JSON at byte " + strconv.Itoa(e.Offset) + ": " + e.Problem
}

// Member is one member of an object.
type Member struct {
	// Key stands between its quotes as in the text, still with its escapes.
	Key string
	// Value is the text of the value without space around it.
	Value string
}

// Is reports whether the key, its escapes resolved, is name.
func (m Member) Is(name string) bool {
	if m.Key == name {
		return !hasEscape(name)
	}
	// Every escape is longer than what it stands for.
	return len(m.Key) > len(name) && hasEscape(m.Key) && unescape(m.Key) == name
}

// Name returns the key with its escapes resolved. Without escapes it is a part
// of the text that was read.
func (m Member) Name() string { return resolve(m.Key) }

// Value checks that s is one JSON value, with white space around it or not, and
// returns it without the space.
func Value(s string) (string, error) {
	r := reader{s: s}
	start := space(s, 0)
	end := r.value(start, 0)
	if end >= 0 {
		if rest := space(s, end); rest < len(s) {
			end = r.fail(rest, "text after the value")
		}
	}
	if end < 0 {
		return "", &Error{r.at, r.problem}
	}
	return s[start:end], nil
}

// Members checks s like Value and appends the members of the object to dst, in
// their order and with duplicates. Anything but an object is an error.
func Members(s string, dst []Member) ([]Member, error) {
	r := reader{s: s, members: dst, keep: true}
	start := space(s, 0)
	if start >= len(s) || s[start] != '{' {
		if _, err := Value(s); err != nil {
			return dst, err
		}
		return dst, &Error{start, "not an object"}
	}
	end := r.object(start, 1)
	if end >= 0 {
		if rest := space(s, end); rest < len(s) {
			end = r.fail(rest, "text after the value")
		}
	}
	if end < 0 {
		return dst, &Error{r.at, r.problem}
	}
	return r.members, nil
}

// Find returns the value of the last member called name, "" if there is none.
func Find(members []Member, name string) string {
	for i := len(members) - 1; i >= 0; i-- {
		if members[i].Is(name) {
			return members[i].Value
		}
	}
	return ""
}

// Get is Find in an object's text, "" also if s is no valid object.
func Get(s, name string) string {
	var few [8]Member
	members, err := Members(s, few[:0])
	if err != nil {
		return ""
	}
	return Find(members, name)
}

// Elements checks s like Value and appends the elements of the array to dst.
// Anything but an array is an error.
func Elements(s string, dst []string) ([]string, error) {
	r := reader{s: s}
	i := space(s, 0)
	if i >= len(s) || s[i] != '[' {
		if _, err := Value(s); err != nil {
			return dst, err
		}
		return dst, &Error{i, "not an array"}
	}
	if i = space(s, i+1); i < len(s) && s[i] == ']' {
		i++
	} else {
		for {
			end := r.value(i, 1)
			if end < 0 {
				return dst, &Error{r.at, r.problem}
			}
			dst = append(dst, s[i:end])
			i = space(s, end)
			if i < len(s) && s[i] == ',' {
				i = space(s, i+1)
				continue
			}
			if i < len(s) && s[i] == ']' {
				i++
				break
			}
			return dst, &Error{i, "no comma or ] after an element"}
		}
	}
	if rest := space(s, i); rest < len(s) {
		return dst, &Error{rest, "text after the value"}
	}
	return dst, nil
}

// String returns the text of a valid JSON string with its escapes resolved; ok
// is false for a value of another kind. Without escapes the result is a part of
// s.
func String(s string) (text string, ok bool) {
	if len(s) < 2 || s[0] != '"' {
		return "", false
	}
	return resolve(s[1 : len(s)-1]), true
}

type reader struct {
	s       string
	problem string
	at      int
	keep    bool // append the members of the outermost object
	members []Member
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
	keep := r.keep
	r.keep = false
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
		key := r.s[i+1 : keyEnd-1]
		if i = space(r.s, keyEnd); i >= len(r.s) || r.s[i] != ':' {
			return r.fail(i, "no colon after a key")
		}
		i = space(r.s, i+1)
		end := r.value(i, depth)
		if end < 0 {
			return end
		}
		if keep {
			r.members = append(r.members, Member{key, r.s[i:end]})
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

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plain returns the first position from i on that is not ordinary ASCII inside
// a string: a quote, a backslash, a control character or a byte over 0x7f.
func plain(s string, i int) int {
	for i+8 <= len(s) {
		w := Load64(s, i)
		// A subtraction borrows out of a byte only where that byte is a hit
		// itself, so "any hit" is exact.
		if (w|(w-ones*0x20)|((w^ones*'"')-ones)|((w^ones*'\\')-ones))&highs != 0 {
			break
		}
		i += 8
	}
	for i < len(s) && s[i] >= 0x20 && s[i] != '"' && s[i] != '\\' && s[i] < utf8.RuneSelf {
		i++
	}
	return i
}

// str reads the string whose opening quote stands at i.
func (r *reader) str(i int) int {
	s := r.s
	i++
	for {
		if i = plain(s, i); i >= len(s) {
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

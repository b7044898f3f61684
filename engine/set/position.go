package set

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxNesting is how deep keys, tables and arrays may nest in a set file: the
// nesting that the ABI allows in JSON (abi.md section 4). It also keeps the
// TOML library, whose work grows with the square of the depth and whose parser
// recurses, from being a way to hang or crash the host.
const maxNesting = 64

// node is a key, table or array element of a document and where it stands.
type node struct {
	pos   Position         // of the key as written, or of the element's first character
	keys  map[string]*node // of a table
	items []*node          // of an array
}

// find follows keys from n and returns the deepest node there is on the way.
func (n *node) find(keys ...string) *node {
	for _, k := range keys {
		next := n.keys[k]
		if next == nil {
			break
		}
		n = next
	}
	return n
}

// child returns the node of a key, made at pos if it is new.
func (n *node) child(key string, pos Position) *node {
	if c := n.keys[key]; c != nil {
		return c
	}
	if n.keys == nil {
		n.keys = map[string]*node{}
	}
	c := &node{pos: pos}
	n.keys[key] = c
	return c
}

// last is where the keys below a header go: for an array of tables that is its
// latest element.
func (n *node) last() *node {
	if len(n.items) > 0 {
		return n.items[len(n.items)-1]
	}
	return n
}

// locate finds where every key and array element of a TOML document stands. It
// is meant for text that the TOML library accepts; other text it follows as
// far as it can and as long as the library would, without failing, so that it
// can run first and its only error, too deep a nesting, protects the library.
func locate(file, text string) (*node, *Error) {
	l := &locator{text: text, mark: Position{File: file, Line: 1, Column: 1}}
	root := &node{pos: l.mark}
	l.document(root)
	return root, l.deep
}

type locator struct {
	text string
	at   int // byte offset of the next character

	mark   Position // the position of offset marked: positions are asked for in
	marked int      // rising order, so the whole document is counted only once

	deep *Error // set when nesting exceeded maxNesting; nothing is read after
}

// here is the position of the next character.
func (l *locator) here() Position {
	passed := l.text[l.marked:l.at]
	if n := strings.Count(passed, "\n"); n > 0 {
		l.mark.Line += n
		l.mark.Column = 1
		passed = passed[strings.LastIndexByte(passed, '\n')+1:]
	}
	l.mark.Column += utf8.RuneCountInString(passed)
	l.marked = l.at
	return l.mark
}

// peek is the next byte, 0 at the end (the text holds no NUL).
func (l *locator) peek() byte {
	if l.at < len(l.text) {
		return l.text[l.at]
	}
	return 0
}

func (l *locator) accept(s string) bool {
	if strings.HasPrefix(l.text[l.at:], s) {
		l.at += len(s)
		return true
	}
	return false
}

// skip passes spaces, and with lines also line ends and comments.
func (l *locator) skip(lines bool) {
	for {
		switch c := l.peek(); {
		case c == ' ' || c == '\t', lines && (c == '\n' || c == '\r'):
			l.at++
		case lines && c == '#':
			l.line()
		default:
			return
		}
	}
}

// line moves to the end of the line.
func (l *locator) line() {
	if n := strings.IndexByte(l.text[l.at:], '\n'); n >= 0 {
		l.at += n
	} else {
		l.at = len(l.text)
	}
}

func (l *locator) document(root *node) {
	table, depth := root, 0
	for {
		l.skip(true)
		if l.at == len(l.text) {
			return
		}
		var ok bool
		if l.peek() == '[' {
			table, depth, ok = l.header(root)
		} else {
			ok = l.pair(table, depth)
		}
		if !ok {
			return
		}
	}
}

// header reads [a.b] or [[a.b]] and returns the table that it opens.
func (l *locator) header(root *node) (*node, int, bool) {
	start := l.here()
	l.accept("[")
	array := l.accept("[")
	parts, ok := l.key()
	if !ok || !l.shallow(len(parts), start) || !l.accept("]") || array && !l.accept("]") {
		return nil, 0, false
	}
	n := root
	for _, p := range parts {
		n = n.last().child(p.name, p.pos)
	}
	if array {
		n.items = append(n.items, &node{pos: start})
	}
	return n.last(), len(parts), true
}

// pair reads key = value into table, which lies depth levels deep.
func (l *locator) pair(table *node, depth int) bool {
	start := l.here()
	parts, ok := l.key()
	depth += len(parts)
	if !ok || !l.shallow(depth, start) || !l.accept("=") {
		return false
	}
	n := table
	for _, p := range parts {
		n = n.child(p.name, p.pos)
	}
	l.skip(false)
	return l.value(n, depth)
}

// shallow reports whether depth is allowed, and notes the error if it is not.
func (l *locator) shallow(depth int, pos Position) bool {
	if depth > maxNesting && l.deep == nil {
		l.deep = pos.Error("", "nested more than "+strconv.Itoa(maxNesting)+" levels deep", "a set is flat: no setting needs that")
	}
	return l.deep == nil
}

func (l *locator) value(n *node, depth int) bool {
	switch l.peek() {
	case '[':
		l.at++
		for {
			l.skip(true)
			if l.accept("]") {
				return true
			}
			item := &node{pos: l.here()}
			n.items = append(n.items, item)
			if !l.shallow(depth+1, item.pos) || !l.value(item, depth+1) {
				return false
			}
			l.skip(true)
			l.accept(",")
		}
	case '{':
		l.at++
		for {
			l.skip(true)
			if l.accept("}") {
				return true
			}
			if !l.pair(n, depth) {
				return false
			}
			l.skip(true)
			l.accept(",")
		}
	case '"':
		return l.quoted('"')
	case '\'':
		return l.quoted('\'')
	}
	length := strings.IndexAny(l.text[l.at:], ",]}#\n")
	if length < 0 {
		length = len(l.text) - l.at
	}
	l.at += length
	return length > 0
}

// quoted passes a string of any of the four kinds.
func (l *locator) quoted(q byte) bool {
	long := strings.Repeat(string(q), 3)
	multi := l.accept(long)
	if !multi {
		l.at++
	}
	for l.at < len(l.text) {
		switch c := l.text[l.at]; {
		case c == '\\' && q == '"':
			l.at = min(l.at+2, len(l.text))
		case c == '\n' && !multi:
			return false
		case c == q && !multi:
			l.at++
			return true
		case c == q && l.accept(long):
			// Up to two quotes more belong to the string itself.
			for range 2 {
				l.accept(string(q))
			}
			return true
		default:
			l.at++
		}
	}
	return false
}

// part is one part of a dotted key.
type part struct {
	name string
	pos  Position
}

// key reads a dotted key and the spaces around it.
func (l *locator) key() ([]part, bool) {
	var parts []part
	for {
		l.skip(false)
		p := part{pos: l.here()}
		start := l.at
		switch q := l.peek(); q {
		case '"', '\'':
			if !l.quoted(q) || l.at-start < 2 {
				return nil, false
			}
			p.name = l.text[start+1 : l.at-1]
			if q == '"' {
				p.name = unescape(p.name)
			}
		default:
			for bare(l.peek()) {
				l.at++
			}
			if l.at == start {
				return nil, false
			}
			p.name = l.text[start:l.at]
		}
		parts = append(parts, p)
		// A key of a megabyte of dots need not be kept to be refused.
		if len(parts) > maxNesting {
			return parts, true
		}
		l.skip(false)
		if !l.accept(".") {
			return parts, true
		}
	}
}

func bare(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// unescape resolves the escapes of a basic string that the library accepted.
func unescape(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 == len(s) {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		c := s[i+1]
		s = s[i+2:]
		digits := 0
		switch c {
		case 'x':
			digits = 2
		case 'u':
			digits = 4
		case 'U':
			digits = 8
		}
		if digits > 0 {
			digits = min(digits, len(s))
			code, err := strconv.ParseUint(s[:digits], 16, 32)
			if err != nil {
				return b.String() // not a key that the library accepts
			}
			b.WriteRune(rune(code))
			s = s[digits:]
			continue
		}
		if k := strings.IndexByte("btnfre", c); k >= 0 {
			c = "\b\t\n\f\r\x1b"[k]
		}
		b.WriteByte(c)
	}
}

package reply

import (
	"encoding/json"
	"strings"
)

// maxOpen is how deep the arguments of an unfinished call may nest to be completed; the ABI's own limit.
const maxOpen = 64

// Complete makes JSON that broke off whole, as far as it goes: it closes the open string, array and objects and drops a
// key without a value and a word or number that may go on. Text that cannot be completed so, and text that is not an
// object, gives {}. The result is for showing, never for running.
func Complete(text string) json.RawMessage {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") {
		return json.RawMessage("{}")
	}
	s := completer{text: text}
	if out, ok := s.run(); ok && json.Valid(out) {
		return out
	}
	return json.RawMessage("{}")
}

// completer remembers the last place at which the text could be closed.
type completer struct {
	text string
	open []byte // what closes the open objects and arrays, outermost first
	// safe is the length of the longest prefix that is whole but for the closers it needs, which are in tail.
	safe int
	tail []byte
}

func (c *completer) mark(at int) {
	c.safe = at
	c.tail = append(c.tail[:0], c.open...)
}

func (c *completer) run() ([]byte, bool) {
	value := true // whether a value is expected next (and not a key)
	for i := 0; i < len(c.text); {
		switch ch := c.text[i]; ch {
		case '{', '[':
			if len(c.open) == maxOpen {
				return nil, false
			}
			closer := byte('}')
			if ch == '[' {
				closer = ']'
			}
			c.open = append(c.open, closer)
			i++
			c.mark(i)
			value = ch == '['
		case '}', ']':
			if len(c.open) == 0 || c.open[len(c.open)-1] != ch {
				return nil, false
			}
			c.open = c.open[:len(c.open)-1]
			i++
			c.mark(i)
		case ',':
			i++
			value = len(c.open) > 0 && c.open[len(c.open)-1] == ']'
		case ':':
			i++
			value = true
		case ' ', '\t', '\n', '\r':
			i++
		case '"':
			end, whole := stringEnd(c.text, i)
			if !whole {
				if !value {
					return c.close(""), true
				}
				c.mark(end)
				return c.close(`"`), true
			}
			i = end
			if value {
				c.mark(i)
			}
		default:
			start := i
			for i < len(c.text) && !strings.ContainsRune(" \t\r\n,]}", rune(c.text[i])) {
				i++
			}
			// At the very end, a number or a word may go on.
			if i < len(c.text) || json.Valid([]byte(c.text[start:i])) && strings.ContainsAny(c.text[start:start+1], "tfn") {
				c.mark(i)
			}
		}
	}
	return c.close(""), true
}

// close is the safe prefix with extra and its closers.
func (c *completer) close(extra string) []byte {
	out := append([]byte(c.text[:c.safe]), extra...)
	for i := len(c.tail) - 1; i >= 0; i-- {
		out = append(out, c.tail[i])
	}
	return out
}

// stringEnd is the end of the string that starts at i and whether it is there; if not, the end of the last whole
// character of it.
func stringEnd(text string, i int) (int, bool) {
	i++
	for i < len(text) {
		switch text[i] {
		case '"':
			return i + 1, true
		case '\\':
			n := 2
			if i+1 < len(text) && text[i+1] == 'u' {
				n = 6
			}
			if i+n > len(text) {
				return i, false
			}
			i += n
		default:
			i++
		}
	}
	return i, false
}

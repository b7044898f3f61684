package scan

import "strconv"

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

// Member is one member of an object, or one element of an array.
type Member struct {
	// Key is the key with its escapes resolved. Without escapes it is a part of
	// the text that was read.
	Key string
	// Value is the text of the value without space around it.
	Value string
}

// Value checks that s is one JSON value, with white space around it or not, and
// returns it without the space.
func Value(s string) (string, error) {
	if _, _, ok := run(s, pass, "", nil); !ok {
		return "", explain(s)
	}
	return trim(s), nil
}

// Members checks s like Value and appends the members of the object to dst, in
// their order and with duplicates. Anything but an object is an error.
func Members(s string, dst []Member) ([]Member, error) { return parts(s, '{', "not an object", dst) }

// Elements checks s like Value and appends the elements of the array to dst, as
// members without a key. Anything but an array is an error.
func Elements(s string, dst []Member) ([]Member, error) { return parts(s, '[', "not an array", dst) }

func parts(s string, open byte, problem string, dst []Member) ([]Member, error) {
	all, _, ok := run(s, collect, "", dst)
	if !ok {
		return dst, explain(s)
	}
	if start := space(s, 0); s[start] != open {
		return dst, &Error{start, problem}
	}
	return all, nil
}

// Find returns the value of the last member called name, "" if there is none.
func Find(members []Member, name string) string {
	for i := len(members) - 1; i >= 0; i-- {
		if members[i].Key == name {
			return members[i].Value
		}
	}
	return ""
}

// Get is Find in an object's text, "" also if s is no valid object.
func Get(s, name string) string {
	_, found, _ := run(s, find, name, nil)
	return found
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

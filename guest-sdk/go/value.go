package weir

import (
	"iter"
	"strconv"
	"strings"

	"weir/guest-sdk/go/internal/scan"
)

// Kind is the kind of a JSON value.
type Kind uint8

// The kinds of a Value. Absent is what Get and At return for what is not there.
const (
	KindAbsent Kind = iota
	KindNull
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject
)

// Value is a JSON value inside an event: checked, not yet decoded. It is valid
// until the handler returns. Methods on a value of another kind than they ask
// for return zero or the default they were given, never an error. Keys are
// compared exactly; of a key that stands twice the last one counts.
type Value struct{ text string }

// ParseJSON checks text and returns it as a Value that is valid for as long as
// the program runs. Beyond what encoding/json refuses it refuses text that is
// not UTF-8, half surrogate pairs and nesting over 64.
func ParseJSON(text string) (Value, error) {
	s, err := scan.Value(text)
	return Value{s}, err
}

// Kind returns the kind of the value.
func (v Value) Kind() Kind {
	if v.text == "" {
		return KindAbsent
	}
	switch v.text[0] {
	case 'n':
		return KindNull
	case 't', 'f':
		return KindBool
	case '"':
		return KindString
	case '[':
		return KindArray
	case '{':
		return KindObject
	}
	return KindNumber
}

// Exists reports whether there is a value; null is one.
func (v Value) Exists() bool { return v.text != "" }

// JSON returns a copy of the encoded text, "" for an absent value.
func (v Value) JSON() JSON { return JSON(strings.Clone(v.text)) }

// Size returns the length of the encoded text in bytes.
func (v Value) Size() int { return len(v.text) }

// Get returns a member of an object.
func (v Value) Get(key string) Value {
	if v.Kind() != KindObject {
		return Value{}
	}
	return Value{scan.Get(v.text, key)}
}

// At returns an element of an array. Each call reads the array from its start:
// use Elements to go through all.
func (v Value) At(index int) Value {
	for e := range v.Elements() {
		if index == 0 {
			return e
		}
		index--
	}
	return Value{}
}

// Elements goes through an array.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if v.Kind() != KindArray {
			return
		}
		elements, err := scan.Elements(v.text, nil)
		if err != nil {
			return
		}
		for _, e := range elements {
			if !yield(Value{e.Value}) {
				return
			}
		}
	}
}

// Fields goes through the members of an object in their order; of a key that
// stands twice it yields the last one only.
func (v Value) Fields() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if v.Kind() != KindObject {
			return
		}
		members, err := scan.Members(v.text, nil)
		if err != nil {
			return
		}
		for _, m := range lastOnly(members) {
			if !yield(strings.Clone(m.Key), Value{m.Value}) {
				return
			}
		}
	}
}

// Str returns the text of a string, "" for anything else.
func (v Value) Str() string {
	s, _ := scan.String(v.text)
	return strings.Clone(s)
}

// Is reports whether the value is the string text, without copying it.
func (v Value) Is(text string) bool {
	s, ok := scan.String(v.text)
	return ok && s == text
}

// Bool returns true or false, otherwise for a value that is neither.
func (v Value) Bool(otherwise bool) bool {
	if v.Kind() != KindBool {
		return otherwise
	}
	return v.text == "true"
}

// Int returns a whole number written without point and exponent that fits, and
// otherwise for anything else.
func (v Value) Int(otherwise int64) int64 {
	if n, err := strconv.ParseInt(v.text, 10, 64); err == nil && v.Kind() == KindNumber {
		return n
	}
	return otherwise
}

// Float returns a number, and otherwise for anything else or a number out of
// range.
func (v Value) Float(otherwise float64) float64 {
	if v.Kind() != KindNumber {
		return otherwise
	}
	if f, err := strconv.ParseFloat(v.text, 64); err == nil {
		return f
	}
	return otherwise
}

// Strs returns the texts of an array's strings, in order; it passes over
// elements of another kind.
func (v Value) Strs() []string {
	var list []string
	for e := range v.Elements() {
		if e.Kind() == KindString {
			list = append(list, e.Str())
		}
	}
	return list
}

// With returns the object with one member set: the others keep their order and
// their text, the new one stands last. On anything but an object it starts from
// an empty one.
func (v Value) With(key string, value JSON) JSON { return JSON(v.text).With(key, value) }

// lastOnly removes, in place, all but the last member of each name.
func lastOnly(members []scan.Member) []scan.Member {
	last := make(map[string]int, len(members))
	for i, m := range members {
		last[m.Key] = i
	}
	kept := members[:0]
	for i, m := range members {
		if last[m.Key] == i {
			kept = append(kept, m)
		}
	}
	return kept
}

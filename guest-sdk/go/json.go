package weir

import (
	"strconv"

	"weir/guest-sdk/go/internal/scan"
)

// JSON is encoded JSON that a handler returns. String, Int, Bool, Float, List,
// Object and With build it; a conversion from text is fine as well. It is checked
// when the answer is written: text that is not JSON, or not UTF-8, is a fault.
type JSON string

// Field is a member of an object.
type Field struct {
	Key   string
	Value JSON
}

// String returns text as a JSON string. Text that is not valid UTF-8 makes a
// JSON that is refused when it is returned, so that a handler cannot hand back
// an altered command unawares.
func String(text string) JSON { return JSON(scan.AppendQuoted(nil, text)) }

// Int returns n as JSON.
func Int(n int64) JSON { return JSON(strconv.FormatInt(n, 10)) }

// Float returns f as JSON. Infinities and NaN have no JSON and are refused when
// they are returned.
func Float(f float64) JSON { return JSON(strconv.FormatFloat(f, 'g', -1, 64)) }

// Bool returns b as JSON.
func Bool(b bool) JSON { return JSON(strconv.FormatBool(b)) }

// Array returns an array.
func Array(elements ...JSON) JSON {
	b := []byte{'['}
	for i, e := range elements {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, e...)
	}
	return JSON(append(b, ']'))
}

// Strings returns an array of strings.
func Strings(texts ...string) JSON {
	b := []byte{'['}
	for i, s := range texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = scan.AppendQuoted(b, s)
	}
	return JSON(append(b, ']'))
}

// Object returns an object with the fields in their order. A field whose value is
// "" is left out.
func Object(fields ...Field) JSON { return JSON(appendObject(nil, fields)) }

func appendObject(b []byte, fields []Field) []byte {
	b = append(b, '{')
	first := true
	for _, f := range fields {
		if f.Value == "" {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = scan.AppendQuoted(b, f.Key)
		b = append(b, ':')
		b = append(b, f.Value...)
	}
	return append(b, '}')
}

// With returns the object with one member set, as Value.With does: of a key that
// stood twice only the last member is kept, since the host refuses duplicates.
func (j JSON) With(key string, value JSON) JSON {
	// An error means that j is no object: then there is nothing to keep. The
	// members read before it must not look like all there was.
	members, err := scan.Members(string(j), nil)
	if err != nil {
		members = nil
	}
	b := make([]byte, 0, len(j)+len(key)+len(value)+8)
	b = append(b, '{')
	for _, m := range lastOnly(members) {
		if m.Key == key {
			continue
		}
		b = scan.AppendQuoted(b, m.Key)
		b = append(b, ':')
		b = append(b, m.Value...)
		b = append(b, ',')
	}
	b = scan.AppendQuoted(b, key)
	b = append(b, ':')
	b = append(b, value...)
	return JSON(append(b, '}'))
}

// appendChecked appends j if it is JSON; what names it in the error.
func appendChecked(b []byte, what string, j JSON) ([]byte, error) {
	s, err := scan.Value(string(j))
	if err != nil {
		return b, &answerError{what, err}
	}
	return append(b, s...), nil
}

// appendCheckedObject also refuses what is not an object.
func appendCheckedObject(b []byte, what string, j JSON) ([]byte, error) {
	b, err := appendChecked(b, what, j)
	if err == nil && (Value{string(j)}).trimmed().Kind() != KindObject {
		err = &answerError{what, errNotObject}
	}
	return b, err
}

func (v Value) trimmed() Value {
	for v.text != "" && v.text[0] <= ' ' {
		v.text = v.text[1:]
	}
	return v
}

// appendWords appends text for people as a JSON string; see scan.Readable.
func appendWords(b []byte, text string) []byte {
	return scan.AppendQuoted(b, scan.Readable(text))
}

package transcript

import (
	"bytes"
	"encoding/json"
)

// What follows walks over JSON that was checked to be valid. encoding/json would go over long results five times on the way to
// the few fields that are needed. Keys count as they stand, letter by letter.

// members visits the members of an object; of another value there are none. Values are parts of raw.
func members(raw []byte, visit func(key string, value []byte)) {
	if len(raw) == 0 || raw[0] != '{' {
		return
	}
	i := space(raw, 1)
	for raw[i] != '}' {
		end := stringEnd(raw, i)
		key := string(raw[i+1 : end-1])
		i = space(raw, space(raw, end)+1) // the colon
		end = valueEnd(raw, i)
		visit(key, raw[i:end])
		if i = space(raw, end); raw[i] == ',' {
			i = space(raw, i+1)
		}
	}
}

// elements visits the elements of a list; of another value there are none.
func elements(raw []byte, visit func(value []byte)) {
	if len(raw) == 0 || raw[0] != '[' {
		return
	}
	i := space(raw, 1)
	for raw[i] != ']' {
		end := valueEnd(raw, i)
		visit(raw[i:end])
		if i = space(raw, end); raw[i] == ',' {
			i = space(raw, i+1)
		}
	}
}

// str is a text; "" for another value.
func str(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return "" // it was checked
	}
	return s
}

func isTrue(raw []byte) bool { return string(raw) == "true" }

func space(raw []byte, i int) int {
	for raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\r' || raw[i] == '\n' {
		i++
	}
	return i
}

// stringEnd is the place after the text that begins at i.
func stringEnd(raw []byte, i int) int {
	for i++; ; i += 2 { // over an escape
		quote := bytes.IndexByte(raw[i:], '"')
		escape := bytes.IndexByte(raw[i:i+quote], '\\')
		if escape < 0 {
			return i + quote + 1
		}
		i += escape
	}
}

// valueEnd is the place after the value that begins at i.
func valueEnd(raw []byte, i int) int {
	switch raw[i] {
	case '"':
		return stringEnd(raw, i)
	case '{', '[':
		for depth := 0; ; {
			switch raw[i] {
			case '"':
				i = stringEnd(raw, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
	}
	for i < len(raw) && raw[i] != ',' && raw[i] != '}' && raw[i] != ']' && raw[i] > ' ' {
		i++
	}
	return i
}

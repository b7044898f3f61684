package agentcore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// appendValue appends a value of encoding/json (numbers as json.Number).
func appendValue(dst []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return fmt.Append(dst, v)
	case string:
		return appendString(dst, v)
	case json.Number:
		return append(dst, v...)
	case []any:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendValue(dst, item)
		}
		return append(dst, ']')
	case map[string]any:
		o := openObject(dst)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if !o.first {
				o.dst = append(o.dst, ',')
			}
			o.first = false
			o.dst = appendValue(append(appendString(o.dst, name), ':'), v[name])
		}
		return o.close()
	default:
		return dst
	}
}

// indentJSON writes raw as JSON.stringify does with an indent of 2: the order of the source, strings and numbers in
// their usual form. What is not JSON stays as it is.
func indentJSON(raw json.RawMessage) []byte {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	out, err := appendIndented(nil, dec, "\n")
	if err != nil {
		return raw
	}
	return out
}

func appendIndented(dst []byte, dec *json.Decoder, newline string) ([]byte, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := token.(json.Delim)
	if !ok {
		if n, ok := token.(json.Number); ok {
			return append(dst, scriptText(n)...), nil
		}
		return appendValue(dst, token), nil
	}
	dst = append(dst, byte(delim))
	empty := true
	for dec.More() {
		if !empty {
			dst = append(dst, ',')
		}
		empty = false
		dst = append(dst, newline+"  "...)
		if delim == '{' {
			key, err := dec.Token()
			if err != nil {
				return nil, err
			}
			dst = append(appendValue(dst, key), ": "...)
		}
		if dst, err = appendIndented(dst, dec, newline+"  "); err != nil {
			return nil, err
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	if !empty {
		dst = append(dst, newline...)
	}
	if delim == '{' {
		return append(dst, '}'), nil
	}
	return append(dst, ']'), nil
}

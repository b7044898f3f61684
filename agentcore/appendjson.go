package agentcore

import (
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"
)

const lowerHex = "0123456789abcdef"

// appendString appends s as a JSON string the way JSON.stringify writes it: no HTML escaping, control characters
// escaped, everything else as it is. Invalid UTF-8 becomes U+FFFD.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(dst, s[start:i]...)
				dst = append(dst, "\uFFFD"...)
				start = i + size
			}
			i += size
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', lowerHex[c>>4], lowerHex[c&15])
		}
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// appendNumber appends f as JSON.stringify writes it: the shortest form that reads back the same, exponents only from
// 1e21 and below 1e-6, null for what JSON has no number for.
func appendNumber(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	if f == 0 {
		return append(dst, '0')
	}
	if abs := math.Abs(f); abs >= 1e21 || abs < 1e-6 {
		dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
		// Go writes e-07, JavaScript e-7.
		if n := len(dst); n >= 4 && dst[n-4] == 'e' && dst[n-2] == '0' {
			dst[n-2] = dst[n-1]
			dst = dst[:n-1]
		}
		return dst
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}

// object appends the fields of one JSON object, with the commas between them.
type object struct {
	dst   []byte
	first bool
}

func openObject(dst []byte) object { return object{dst: append(dst, '{'), first: true} }

func (o *object) key(name string) {
	if !o.first {
		o.dst = append(o.dst, ',')
	}
	o.first = false
	o.dst = append(o.dst, '"')
	o.dst = append(o.dst, name...) // field names are ours and need no escaping
	o.dst = append(o.dst, '"', ':')
}

func (o *object) str(name, value string) {
	o.key(name)
	o.dst = appendString(o.dst, value)
}

func (o *object) optional(name, value string) {
	if value != "" {
		o.str(name, value)
	}
}

func (o *object) integer(name string, value int64) {
	o.key(name)
	o.dst = strconv.AppendInt(o.dst, value, 10)
}

func (o *object) number(name string, value float64) {
	o.key(name)
	o.dst = appendNumber(o.dst, value)
}

func (o *object) boolean(name string, value bool) {
	o.key(name)
	o.dst = strconv.AppendBool(o.dst, value)
}

func (o *object) raw(name string, value json.RawMessage) {
	o.key(name)
	if len(value) == 0 {
		value = json.RawMessage("null")
	}
	o.dst = append(o.dst, value...)
}

func (o *object) close() []byte { return append(o.dst, '}') }

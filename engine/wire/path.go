package wire

import (
	"strconv"
	"strings"
)

// shownKey is how many bytes of a guest's key or value an error repeats.
const shownKey = 64

// pathAt names the place at which src[:end] stops: the keys and indexes of the containers that are open there. It is
// called for errors only and accepts any prefix of what the reader accepts.
func pathAt(src []byte, end int) string {
	type frame struct {
		key   string
		index int // -1 in an object
	}
	var stack []frame
	expectKey := false
	for i := 0; i < end; {
		switch c := src[i]; c {
		case '{':
			stack = append(stack, frame{index: -1})
			expectKey = true
		case '[':
			stack = append(stack, frame{})
			expectKey = false
		case '}', ']':
			if len(stack) > 0 {
				stack = stack[:len(stack)-1]
			}
			expectKey = false
		case ',':
			if len(stack) > 0 {
				top := &stack[len(stack)-1]
				if top.index >= 0 {
					top.index++
				} else {
					top.key = ""
					expectKey = true
				}
			}
		case '"':
			from := i + 1
			i = from
			for i < end && src[i] != '"' {
				if src[i] == '\\' {
					i++
				}
				i++
			}
			if expectKey && i < end && len(stack) > 0 {
				stack[len(stack)-1].key = shownInPath(src[from:i])
				expectKey = false
			}
		}
		i++
	}
	var b strings.Builder
	for _, f := range stack {
		switch {
		case f.index >= 0:
			b.WriteByte('[')
			b.WriteString(strconv.Itoa(f.index))
			b.WriteByte(']')
		case f.key != "":
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(f.key)
		}
	}
	return b.String()
}

// shownInPath writes a key as it appears in a path: plain when it is a plain name, quoted otherwise.
func shownInPath(raw []byte) string {
	key := string(appendUnescaped(nil, raw))
	for i := 0; i < len(key); i++ {
		if !isWord(key[i]) && key[i] != '-' || i >= shownKey {
			return quoteShort(key)
		}
	}
	if key == "" {
		return `""`
	}
	return key
}

// quoteShort quotes s and cuts what is long.
func quoteShort(s string) string {
	if len(s) > shownKey {
		return strconv.Quote(strings.ToValidUTF8(s[:shownKey], "")) + "…"
	}
	return strconv.Quote(s)
}

// orList is `"a", "b" or "c"`.
func orList(words []string) string {
	var b strings.Builder
	for i, w := range words {
		switch {
		case i == 0:
		case i == len(words)-1:
			b.WriteString(" or ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(strconv.Quote(w))
	}
	return b.String()
}

// didYouMean is the part of an unknown-key message that helps: the nearest known name, or all names when they are few.
func didYouMean(key string, names []string) string {
	if len(key) <= shownKey {
		best, at := 3, ""
		for _, n := range names {
			if strings.EqualFold(n, key) {
				return "; keys are case-sensitive, want " + strconv.Quote(n)
			}
			if d := distance(key, n); d < best && d < len(n) {
				best, at = d, n
			}
		}
		if at != "" {
			return " (did you mean " + strconv.Quote(at) + "?)"
		}
	}
	switch {
	case len(names) == 0:
		return "; no keys are known here"
	case len(names) <= 8:
		return "; known are " + strings.Join(names, ", ")
	}
	return ""
}

// distance is the number of single-byte edits between a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			d := diagonal
			if a[i-1] != b[j-1] {
				d++
			}
			diagonal = row[j]
			row[j] = min(d, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}

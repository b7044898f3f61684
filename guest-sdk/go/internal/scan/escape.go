package scan

import (
	"strings"
	"unicode/utf8"
)

func hasEscape(s string) bool { return strings.IndexByte(s, '\\') >= 0 }

func resolve(s string) string {
	if !hasEscape(s) {
		return s
	}
	return unescape(s)
}

// unescape resolves the escapes of a string that was checked.
func unescape(s string) string {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			b = append(b, s[i])
			i++
			continue
		}
		c := s[i+1]
		i += 2
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			u := hex4(s, i)
			i += 4
			if u>>10 == 0xd800>>10 {
				u = 0x10000 + (u&0x3ff)<<10 + hex4(s, i+2)&0x3ff
				i += 6
			}
			b = utf8.AppendRune(b, u)
			continue
		}
		b = append(b, c)
	}
	return string(b)
}

// AppendQuoted appends text as a JSON string. Bytes that are not valid UTF-8
// are copied as they are, so that a reader refuses the result instead of
// finding another text in it.
func AppendQuoted(dst []byte, text string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(text); {
		end := i
		for end < len(text) && text[end] >= 0x20 && text[end] != '"' && text[end] != '\\' {
			end++
		}
		dst = append(dst, text[i:end]...)
		if i = end; i == len(text) {
			break
		}
		switch c := text[i]; c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
	}
	return append(dst, '"')
}

// Readable returns text with every byte that is not valid UTF-8, and every NUL,
// replaced by U+FFFD: for words meant for people, which must not be refused for
// a stray byte.
func Readable(text string) string {
	i := 0
	for i < len(text) && text[i] != 0 && text[i] < utf8.RuneSelf {
		i++
	}
	if i == len(text) {
		return text
	}
	b := make([]byte, i, len(text)+8)
	copy(b, text)
	for _, c := range text[i:] {
		if c == 0 {
			c = utf8.RuneError
		}
		b = utf8.AppendRune(b, c)
	}
	return string(b)
}

package facts

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// braces expands {a,b} and {1..3}; what would be too many words stays one that is not known.
func (w *walker) braces(word *syntax.Word) []*syntax.Word {
	open := 0
	for _, p := range word.Parts {
		if lit, ok := p.(*syntax.Lit); ok {
			open += strings.Count(lit.Value, "{")
		}
		if _, ok := p.(*syntax.BraceExp); ok {
			open++ // a function's body is read once and followed more than once
		}
	}
	if open == 0 || open > 64 {
		return []*syntax.Word{word}
	}
	syntax.SplitBraces(word)
	return w.alternatives(word, 0)
}

func (w *walker) alternatives(word *syntax.Word, depth int) []*syntax.Word {
	for i, p := range word.Parts {
		b, ok := p.(*syntax.BraceExp)
		if !ok {
			continue
		}
		elems, ok := braceElems(b)
		if !ok || depth > maxNested {
			return []*syntax.Word{word}
		}
		var out []*syntax.Word
		for _, e := range elems {
			next := &syntax.Word{Parts: make([]syntax.WordPart, 0, len(word.Parts)+len(e.Parts))}
			next.Parts = append(next.Parts, word.Parts[:i]...)
			next.Parts = append(next.Parts, e.Parts...)
			next.Parts = append(next.Parts, word.Parts[i+1:]...)
			w.spend(len(next.Parts) * 16)
			out = append(out, w.alternatives(next, depth+1)...)
			if len(out) > maxFields {
				w.fail(errBound)
			}
			if w.err != nil {
				return nil
			}
		}
		return out
	}
	return []*syntax.Word{word}
}

// braceElems are the alternatives of one expression; false when they are too many.
func braceElems(b *syntax.BraceExp) ([]*syntax.Word, bool) {
	if !b.Sequence {
		return b.Elems, true
	}
	from, to := b.Elems[0].Lit(), b.Elems[1].Lit()
	step := int64(1)
	if len(b.Elems) > 2 {
		n, err := strconv.ParseInt(b.Elems[2].Lit(), 10, 32)
		if err != nil {
			return nil, false
		}
		step = max(1, max(n, -n))
	}
	a, errA := strconv.ParseInt(from, 10, 32)
	z, errZ := strconv.ParseInt(to, 10, 32)
	chars := errA != nil && errZ != nil && len(from) == 1 && len(to) == 1
	if chars {
		a, z = int64(from[0]), int64(to[0])
	} else if errA != nil || errZ != nil {
		return nil, false
	}
	if max(a-z, z-a)/step >= maxFields {
		return nil, false
	}
	if a > z {
		step = -step
	}
	width := 0
	if len(from) > 1 && from[0] == '0' || len(to) > 1 && to[0] == '0' {
		width = max(len(from), len(to))
	}
	var out []*syntax.Word
	for n := a; step > 0 && n <= z || step < 0 && n >= z; n += step {
		s := strconv.FormatInt(n, 10)
		if chars {
			s = string(rune(n))
		}
		for len(s) < width {
			s = "0" + s
		}
		out = append(out, &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: s}}})
	}
	return out, true
}

// ansiC resolves the escapes of $'…' (bash's manual, "ANSI-C Quoting").
func ansiC(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b = append(b, s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'a':
			b = append(b, 7)
		case 'b':
			b = append(b, 8)
		case 'e', 'E':
			b = append(b, 27)
		case 'f':
			b = append(b, 12)
		case 'n':
			b = append(b, 10)
		case 'r':
			b = append(b, 13)
		case 't':
			b = append(b, 9)
		case 'v':
			b = append(b, 11)
		case 'c':
			if i+1 < len(s) {
				i++
				b = append(b, s[i]&0x1f)
			}
		case 'x':
			n, v := digits(s[i+1:], 16, 2)
			i += n
			b = append(b, byte(v))
		case 'u':
			n, v := digits(s[i+1:], 16, 4)
			i += n
			b = utf8.AppendRune(b, rune(v))
		case 'U':
			n, v := digits(s[i+1:], 16, 8)
			i += n
			b = utf8.AppendRune(b, rune(min(v, utf8.MaxRune+1)))
		case '0', '1', '2', '3', '4', '5', '6', '7':
			n, v := digits(s[i:], 8, 3)
			i += n - 1
			b = append(b, byte(v))
		case '\\', '\'', '"', '?':
			b = append(b, c)
		default:
			b = append(b, '\\', c)
		}
	}
	// A NUL ends the string.
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// digits reads at most n digits and says how many there were.
func digits(s string, base, n int) (int, int64) {
	i, v := 0, int64(0)
	for i < len(s) && i < n {
		d := int64(99)
		switch c := s[i] | 0x20; {
		case s[i] >= '0' && s[i] <= '9':
			d = int64(s[i] - '0')
		case c >= 'a' && c <= 'f':
			d = int64(c-'a') + 10
		}
		if d >= int64(base) {
			break
		}
		v = v*int64(base) + d
		i++
	}
	return i, v
}

package tools

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// A glob matches paths with / between their parts:
//
//	*       any characters but /
//	?       one character but /
//	[a-z]   one of a set; [!…] and [^…] negate
//	{a,b}   one of several globs (only where braces are on)
//	**      as a whole part: any number of parts
//	\x      x itself
//
// It becomes a regular expression, so that matching takes linear time whatever the pattern.

var errGlobClass = errors.New("a [ is never closed")

// compileGlob translates a glob. With fold, case does not matter.
func compileGlob(glob string, braces, fold bool) (*regexp.Regexp, error) {
	g := globber{in: glob, braces: braces}
	if err := g.translate(); err != nil {
		return nil, fmt.Errorf("glob %q: %w", glob, err)
	}
	flags := "(?s)"
	if fold {
		flags = "(?si)"
	}
	re, err := regexp.Compile(flags + `\A(?:` + g.out.String() + `)\z`)
	if err != nil {
		return nil, fmt.Errorf("glob %q: %w", glob, err)
	}
	return re, nil
}

type globber struct {
	in     string
	at     int
	braces bool
	depth  int // open braces
	out    strings.Builder
}

func (g *globber) translate() error {
	for g.at < len(g.in) {
		c := g.in[g.at]
		switch {
		case c == '*':
			g.star()
			continue
		case c == '?':
			g.out.WriteString(`[^/]`)
		case c == '[':
			if err := g.class(); err != nil {
				return err
			}
			continue
		case c == '\\' && g.at+1 < len(g.in):
			g.at++
			g.literal()
			continue
		case c == '{' && g.braces:
			g.depth++
			g.out.WriteString(`(?:`)
		case c == '}' && g.depth > 0:
			g.depth--
			g.out.WriteString(`)`)
		case c == ',' && g.depth > 0:
			g.out.WriteString(`|`)
		default:
			g.literal()
			continue
		}
		g.at++
	}
	if g.depth > 0 {
		return errors.New("a { is never closed")
	}
	return nil
}

// literal takes one byte as it is. Bytes of a rune are not special, so that they can go one by one.
func (g *globber) literal() {
	end := g.at + 1
	for end < len(g.in) && g.in[end]&0xc0 == 0x80 {
		end++
	}
	g.out.WriteString(regexp.QuoteMeta(g.in[g.at:end]))
	g.at = end
}

func (g *globber) star() {
	end := g.at
	for end < len(g.in) && g.in[end] == '*' {
		end++
	}
	startsPart := g.at == 0 || g.in[g.at-1] == '/'
	endsPart := end == len(g.in) || g.in[end] == '/'
	if end-g.at == 1 || !startsPart || !endsPart {
		g.out.WriteString(`[^/]*`)
		g.at = end
		return
	}
	if end == len(g.in) {
		g.out.WriteString(`.*`)
		g.at = end
		return
	}
	g.out.WriteString(`(?:.*/)?`)
	g.at = end + 1
}

func (g *globber) class() error {
	at := g.at + 1
	negate := at < len(g.in) && (g.in[at] == '!' || g.in[at] == '^')
	if negate {
		at++
	}
	var set strings.Builder
	for first := true; ; first = false {
		if at >= len(g.in) {
			return errGlobClass
		}
		c := g.in[at]
		if c == ']' && !first {
			break
		}
		switch {
		case strings.HasPrefix(g.in[at:], "[:"):
			end := strings.Index(g.in[at:], ":]")
			if end < 0 {
				return errGlobClass
			}
			set.WriteString(g.in[at : at+end+2])
			at += end + 2
			continue
		case c == '\\' && at+1 < len(g.in):
			at++
			c = g.in[at]
			fallthrough
		case c == '[' || c == ']' || c == '^' || c == '&' || c == '~':
			if c < 0x80 && !isWord(c) {
				set.WriteByte('\\')
			}
			set.WriteByte(c)
		default:
			set.WriteByte(c)
		}
		at++
	}
	// A set never matches the separator.
	if negate {
		g.out.WriteString(`[^/` + set.String() + `]`)
	} else {
		g.out.WriteString(`[` + set.String() + `]`)
	}
	g.at = at + 1
	return nil
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// hasUpper tells whether s has an upper-case letter: fd, which the reference runs, minds case only then.
func hasUpper(s string) bool { return s != strings.ToLower(s) }

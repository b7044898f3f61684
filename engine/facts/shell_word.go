package facts

import (
	"path"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// expander puts one word together; an unquoted expansion can make several of it.
type expander struct {
	w      *walker
	f      *frame
	fields []Word
	buf    []byte
	some   bool // the field exists even if buf is empty
	dyn    bool
	glob   bool
	whole  bool // do not split: assignments, targets, here-documents
}

// words expands the words of a command.
func (w *walker) words(f *frame, list []*syntax.Word) []Word {
	out := make([]Word, 0, len(list))
	for _, word := range list {
		out = w.word(f, word, out)
		if w.err != nil {
			break
		}
	}
	return out
}

// word appends what one word becomes.
func (w *walker) word(f *frame, word *syntax.Word, out []Word) []Word {
	if len(word.Parts) == 1 {
		switch p := word.Parts[0].(type) {
		case *syntax.Lit:
			if !strings.ContainsAny(p.Value, `\{~*?[`) {
				return append(out, Word{Text: p.Value})
			}
		case *syntax.SglQuoted:
			if !p.Dollar {
				return append(out, Word{Text: p.Value})
			}
		}
	}
	for _, one := range w.braces(word) {
		x := expander{w: w, f: f}
		x.parts(one.Parts, false)
		x.flush()
		out = append(out, x.fields...)
		if len(out) > maxFields*4 {
			w.fail(errBound)
		}
		if w.err != nil {
			break
		}
	}
	return out
}

// oneWord expands a word that is not split.
func (w *walker) oneWord(f *frame, word *syntax.Word) Word {
	if word == nil {
		return Word{}
	}
	if len(word.Parts) == 1 {
		if lit, ok := word.Parts[0].(*syntax.Lit); ok && !strings.ContainsAny(lit.Value, `\~*?[`) {
			return Word{Text: lit.Value}
		}
	}
	x := expander{w: w, f: f, whole: true, some: true}
	x.parts(word.Parts, false)
	x.flush()
	if len(x.fields) == 0 {
		return Word{}
	}
	return x.fields[0]
}

// document expands the body of a here-document.
func (w *walker) document(f *frame, body *syntax.Word, quoted bool) text {
	if body == nil {
		return text{known: true}
	}
	x := expander{w: w, f: f, whole: true, some: true}
	if quoted {
		for _, p := range body.Parts {
			if lit, ok := p.(*syntax.Lit); ok {
				x.add(lit.Value)
			}
		}
	} else {
		x.parts(body.Parts, true)
	}
	x.flush()
	return text{x.fields[0].Text, !x.fields[0].Dynamic}
}

func (x *expander) add(s string) {
	x.w.spend(len(s))
	x.buf = append(x.buf, s...)
	x.some = true
}

// unknown adds a part that is not known, as it was written.
func (x *expander) unknown(n syntax.Node) {
	x.dyn, x.some = true, true
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from >= 0 && from < to && to <= len(x.f.src) {
		x.add(x.f.src[from:to])
	} else {
		x.add("$?")
	}
}

func (x *expander) flush() {
	if x.some {
		x.fields = append(x.fields, Word{Text: string(x.buf), Dynamic: x.dyn, Glob: x.glob})
	}
	x.buf, x.some, x.dyn, x.glob = x.buf[:0], false, false, false
	if len(x.fields) > maxFields {
		x.w.fail(errBound)
	}
}

func (x *expander) parts(parts []syntax.WordPart, quoted bool) {
	for i, p := range parts {
		if x.w.err != nil {
			return
		}
		switch p := p.(type) {
		case *syntax.Lit:
			x.literal(p.Value, quoted, i == 0 && !quoted)
		case *syntax.SglQuoted:
			x.some = true
			if p.Dollar {
				x.add(ansiC(p.Value))
			} else {
				x.add(p.Value)
			}
		case *syntax.DblQuoted:
			if !isList(p) {
				x.some = true
			}
			x.parts(p.Parts, true)
		case *syntax.ParamExp:
			x.param(p, quoted)
		case *syntax.CmdSubst:
			out := x.w.substitution(x.f, p)
			if !out.known {
				x.unknown(p)
			} else {
				x.value(strings.TrimRight(out.s, "\n"), quoted)
			}
		case *syntax.ArithmExp:
			if n, ok := x.w.arithm(x.f, p.X, 0); ok {
				x.add(strconv.FormatInt(n, 10))
			} else {
				x.w.nested(x.f, p)
				x.unknown(p)
			}
		case *syntax.ProcSubst:
			x.w.process(x.f, p)
			x.unknown(p)
		case *syntax.ExtGlob:
			x.glob = true
			x.add(p.Op.String() + p.Pattern.Value + ")")
		case *syntax.BraceExp:
			x.unknown(p) // too many to list
		default:
			x.unknown(p)
		}
	}
}

// isList says whether "$@" or "${a[@]}" stands alone in its quotes: it may become no word at all.
func isList(q *syntax.DblQuoted) bool {
	if len(q.Parts) != 1 {
		return false
	}
	p, ok := q.Parts[0].(*syntax.ParamExp)
	return ok && p.Param != nil && (p.Param.Value == "@" || isAt(p.Index))
}

func isAt(index syntax.ArithmExpr) bool {
	word, ok := index.(*syntax.Word)
	return ok && word.Lit() == "@"
}

func isStar(index syntax.ArithmExpr) bool {
	word, ok := index.(*syntax.Word)
	return ok && word.Lit() == "*"
}

// literal adds text of the source: backslashes mean something, wildcards may.
func (x *expander) literal(s string, quoted, first bool) {
	x.some = true
	if first && strings.HasPrefix(s, "~") {
		rest := s[1:]
		user, tail, slash := strings.Cut(rest, "/")
		switch {
		case user == "" && x.w.home != "":
			x.add(x.w.home)
			s = rest
		case user == "+":
			x.add(x.f.cwd)
			s = ""
			if slash {
				s = "/" + tail
			}
		case user != "" && !strings.ContainsAny(user, `\*?[$`):
			x.dyn = true // another user's home
		}
	}
	if strings.IndexByte(s, '\\') < 0 {
		if !quoted && hasWildcard(s) {
			x.glob = true
		}
		x.add(s)
		return
	}
	x.w.spend(len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' && i+1 < len(s) {
			next := s[i+1]
			if !quoted || strings.IndexByte("$`\"\\\n", next) >= 0 {
				i++
				if next != '\n' {
					x.buf = append(x.buf, next)
				}
				continue
			}
		}
		if !quoted && hasWildcard(s[i:]) && (c == '*' || c == '?' || c == '[') {
			x.glob = true
		}
		x.buf = append(x.buf, c)
	}
}

// hasWildcard says whether unquoted text may match file names; a bracket that is not closed does not.
func hasWildcard(s string) bool {
	if strings.ContainsAny(s, "*?") {
		return true
	}
	open := strings.IndexByte(s, '[')
	return open >= 0 && strings.IndexByte(s[open:], ']') > 0
}

// value adds what an expansion gave: outside quotes it is split and may hold wildcards.
func (x *expander) value(s string, quoted bool) {
	if quoted || x.whole {
		x.add(s)
		return
	}
	ifs := " \t\n"
	if v, ok := x.f.vars["IFS"]; ok {
		if v.unknown() {
			x.dyn = true
		} else {
			ifs = v.value.s
		}
	}
	x.w.spend(len(s))
	for i := 0; i < len(s); {
		if strings.IndexByte(ifs, s[i]) >= 0 {
			x.flush()
			i++
			continue
		}
		end := i
		for end < len(s) && strings.IndexByte(ifs, s[end]) < 0 {
			end++
		}
		x.some = true
		if hasWildcard(s[i:end]) {
			x.glob = true
		}
		x.buf = append(x.buf, s[i:end]...)
		i = end
	}
}

// list adds the words of "$@" or "${a[@]}".
func (x *expander) list(words []Word, quoted, joined bool) {
	for i := range words {
		if i > 0 {
			if (quoted && joined) || x.whole {
				x.add(" ")
			} else {
				x.flush()
			}
		}
		x.dyn = x.dyn || words[i].Dynamic
		if words[i].Glob {
			x.glob = true
		}
		if quoted {
			x.add(words[i].Text)
		} else {
			x.value(words[i].Text, false)
		}
	}
}

// abs is a path as seen from the frame's folder.
func (f *frame) abs(p string) string {
	if path.IsAbs(p) {
		return path.Clean(p)
	}
	return path.Join(f.cwd, p)
}

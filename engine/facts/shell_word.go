package facts

import (
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

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
	for _, one := range w.braces(f, word) {
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

// param expands $name and ${name…}.
func (x *expander) param(p *syntax.ParamExp, quoted bool) {
	if p.Param == nil || p.Flags != nil || p.NestedParam != nil || p.Width || p.IsSet || len(p.Modifiers) > 0 || p.Names != 0 {
		x.w.nested(x.f, p)
		x.unknown(p)
		return
	}
	name := p.Param.Value
	plain := !p.Excl && !p.Length && p.Slice == nil && p.Repl == nil && p.Exp == nil
	if name == "@" || name == "*" {
		if plain {
			x.list(x.f.args, quoted, name == "*")
		} else {
			x.w.nested(x.f, p)
			x.unknown(p)
		}
		return
	}
	if v, ok := x.f.vars[name]; ok && v.array {
		if plain && (isAt(p.Index) || isStar(p.Index)) {
			x.list(v.list, quoted, isStar(p.Index))
			return
		}
		if plain && p.Index == nil && len(v.list) == 1 { // one word of a pattern, see forClause
			x.list(v.list, quoted, false)
			return
		}
	}
	got, set := x.lookup(name, p.Index)
	if p.Excl && got.known {
		if !syntax.ValidName(got.s) {
			got.known = false
		} else {
			got, set = x.lookup(got.s, nil)
		}
	}
	switch {
	case p.Exp != nil:
		got = x.operate(got, set, p.Exp, name)
	case p.Length:
		got.s = strconv.Itoa(utf8.RuneCountInString(got.s))
	case p.Slice != nil:
		got = x.slice(got, p.Slice)
	case p.Repl != nil:
		got = x.replace(got, p.Repl)
	}
	if !got.known {
		if p.Exp == nil {
			x.w.nested(x.f, p)
		}
		x.unknown(p)
		return
	}
	x.value(got.s, quoted)
}

// lookup is a variable's value; set is false for one that is known to be unset.
func (x *expander) lookup(name string, index syntax.ArithmExpr) (got text, set bool) {
	if len(name) == 1 && name[0] >= '0' && name[0] <= '9' {
		n := int(name[0] - '0')
		switch {
		case n == 0:
			if x.f.zero != nil {
				return text{x.f.zero.Text, !x.f.zero.Dynamic}, true
			}
			return text{}, true
		case n > len(x.f.args):
			return text{"", true}, false
		case x.f.args[n-1].Dynamic:
			return text{}, true
		}
		return text{x.f.args[n-1].Text, true}, true
	}
	v, ok := x.f.vars[name]
	switch {
	case ok && v.array:
		at := 0
		if index != nil {
			n, known := x.w.arithm(x.f, index, 0)
			if !known || n < 0 || n >= int64(len(v.list)) {
				return text{}, true
			}
			at = int(n)
		}
		if at >= len(v.list) {
			return text{"", true}, false
		}
		return text{v.list[at].Text, !v.list[at].Dynamic && !v.list[at].Glob}, true
	case ok:
		return v.value, true
	}
	switch name {
	case "HOME":
		return text{x.w.home, x.w.home != ""}, true
	case "PWD":
		return text{x.f.cwd, !x.f.lost && x.f.cwd != ""}, true
	case "IFS":
		return text{" \t\n", true}, true
	case "#":
		return text{strconv.Itoa(len(x.f.args)), true}, true
	}
	return text{}, true
}

// operate applies ${x:-w} and its kin.
func (x *expander) operate(v text, set bool, e *syntax.Expansion, name string) text {
	word := func() text {
		got := x.w.oneWord(x.f, e.Word)
		return text{got.Text, !got.Dynamic}
	}
	empty := v.s == ""
	switch e.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		other := word() // its substitutions may run
		orNull := e.Op == syntax.DefaultUnsetOrNull || e.Op == syntax.AssignUnsetOrNull
		switch {
		case !v.known:
			return text{}
		case !set || orNull && empty:
			if e.Op == syntax.AssignUnset || e.Op == syntax.AssignUnsetOrNull {
				x.f.set(name, variable{value: other})
			}
			return other
		}
		return v
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		other := word()
		switch {
		case !v.known:
			return text{}
		case !set || e.Op == syntax.AlternateUnsetOrNull && empty:
			return text{"", true}
		}
		return other
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		word()
		return v
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		pattern := word()
		if !v.known || !pattern.known {
			return text{}
		}
		return trim(v.s, pattern.s, e.Op)
	case syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll:
		if e.Word != nil && len(e.Word.Parts) > 0 {
			word()
			return text{}
		}
		return text{changeCase(v.s, e.Op), v.known}
	default:
		if e.Word != nil {
			x.w.nested(x.f, e.Word)
		}
		return text{}
	}
}

func changeCase(s string, op syntax.ParExpOperator) string {
	_, n := utf8.DecodeRuneInString(s)
	switch op {
	case syntax.UpperFirst:
		return strings.ToUpper(s[:n]) + s[n:]
	case syntax.UpperAll:
		return strings.ToUpper(s)
	case syntax.LowerFirst:
		return strings.ToLower(s[:n]) + s[n:]
	default:
		return strings.ToLower(s)
	}
}

// trim removes a matching prefix or suffix. Patterns of *, ? and plain text only.
func trim(s, pattern string, op syntax.ParExpOperator) text {
	if strings.ContainsAny(pattern, `[\(`) || len(s)*len(pattern) > maxPattern {
		return text{}
	}
	large := op == syntax.RemLargePrefix || op == syntax.RemLargeSuffix
	prefix := op == syntax.RemSmallPrefix || op == syntax.RemLargePrefix
	best := -1
	for n := 0; n <= len(s); n++ {
		part := s[:n]
		if !prefix {
			part = s[len(s)-n:]
		}
		if wildcard(pattern, part) {
			best = n
			if !large {
				break
			}
		}
	}
	switch {
	case best < 0:
		return text{s, true}
	case prefix:
		return text{s[best:], true}
	}
	return text{s[:len(s)-best], true}
}

// wildcard matches * and ?.
func wildcard(pattern, s string) bool {
	p, n, star, mark := 0, 0, -1, 0
	for n < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == s[n]):
			p++
			n++
		case star >= 0:
			mark++
			p, n = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

func (x *expander) slice(v text, s *syntax.Slice) text {
	if !v.known {
		return text{}
	}
	n := int64(len(v.s))
	from, ok := x.w.arithm(x.f, s.Offset, 0)
	if !ok {
		return text{}
	}
	if from < 0 {
		from = max(0, n+from)
	}
	from = min(from, n)
	to := n
	if s.Length != nil {
		length, ok := x.w.arithm(x.f, s.Length, 0)
		if !ok || length > n {
			if !ok {
				return text{}
			}
			length = n
		}
		if length < 0 {
			to = max(from, n+length)
		} else {
			to = min(n, from+length)
		}
	}
	return text{v.s[from:to], true}
}

func (x *expander) replace(v text, r *syntax.Replace) text {
	old := x.w.oneWord(x.f, r.Orig)
	with := Word{}
	if r.With != nil {
		with = x.w.oneWord(x.f, r.With)
	}
	if !v.known || old.Dynamic || old.Glob || with.Dynamic || old.Text == "" || strings.ContainsAny(old.Text, `*?[\`) || strings.ContainsAny(old.Text[:1], "#%") {
		return text{}
	}
	times := 1
	if r.All {
		times = strings.Count(v.s, old.Text)
	}
	if size := len(v.s) + times*len(with.Text); size > maxValue {
		return text{}
	}
	if !r.All {
		return text{strings.Replace(v.s, old.Text, with.Text, 1), true}
	}
	return text{strings.ReplaceAll(v.s, old.Text, with.Text), true}
}

// arithm computes what holds no side effects: numbers, known variables and the four operations.
func (w *walker) arithm(f *frame, e syntax.ArithmExpr, depth int) (int64, bool) {
	if depth > 50 {
		return 0, false
	}
	switch e := e.(type) {
	case *syntax.Word:
		s := e.Lit()
		if s == "" {
			for _, p := range e.Parts {
				switch p.(type) {
				case *syntax.CmdSubst, *syntax.ProcSubst:
					return 0, false
				}
			}
			got := w.oneWord(f, e)
			if got.Dynamic {
				return 0, false
			}
			s = got.Text
		}
		if v, ok := f.vars[s]; ok && v.value.known {
			s = v.value.s
		}
		n, err := strconv.ParseInt(s, 0, 64)
		return n, err == nil
	case *syntax.ParenArithm:
		return w.arithm(f, e.X, depth+1)
	case *syntax.UnaryArithm:
		n, ok := w.arithm(f, e.X, depth+1)
		switch {
		case ok && e.Op == syntax.Minus && !e.Post:
			return -n, true
		case ok && e.Op == syntax.Plus && !e.Post:
			return n, true
		}
		return 0, false
	case *syntax.BinaryArithm:
		a, okA := w.arithm(f, e.X, depth+1)
		b, okB := w.arithm(f, e.Y, depth+1)
		if !okA || !okB {
			return 0, false
		}
		switch e.Op {
		case syntax.Add:
			return a + b, true
		case syntax.Sub:
			return a - b, true
		case syntax.Mul:
			return a * b, true
		case syntax.Quo, syntax.Rem:
			if b == 0 || b == -1 {
				return 0, false
			}
			if e.Op == syntax.Quo {
				return a / b, true
			}
			return a % b, true
		}
	}
	return 0, false
}

// braces expands {a,b} and {1..3}; what would be too many words stays one that is not known.
func (w *walker) braces(f *frame, word *syntax.Word) []*syntax.Word {
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

// abs is a path as seen from the frame's folder.
func (f *frame) abs(p string) string {
	if path.IsAbs(p) {
		return path.Clean(p)
	}
	return path.Join(f.cwd, p)
}

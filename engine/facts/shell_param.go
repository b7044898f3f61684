package facts

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

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

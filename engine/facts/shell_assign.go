package facts

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirects expands the redirections of a statement and gives the input that they leave it.
func (w *walker) redirects(f *frame, list []*syntax.Redirect, in stream) ([]Redirect, stream) {
	out := make([]Redirect, 0, len(list))
	for _, r := range list {
		red := Redirect{Op: r.Op.String(), Fd: fdAbsent}
		if r.N != nil {
			red.Fd = -1
			if n, err := strconv.Atoi(r.N.Value); err == nil {
				red.Fd = n
			}
		}
		quoted := false
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			red.Target, quoted = endWord(r.Word)
		default:
			red.Target = w.oneWord(f, r.Word)
		}
		if red.Fd == fdAbsent || red.Fd == 0 {
			switch r.Op {
			case syntax.Hdoc, syntax.DashHdoc:
				in = stream{w.document(f, r.Hdoc, quoted), StdinHeredoc}
				if r.Op == syntax.DashHdoc {
					in.s = withoutTabs(in.s)
				}
			case syntax.WordHdoc:
				in = stream{text{red.Target.Text + "\n", !red.Target.Dynamic}, StdinHerestring}
			case syntax.RdrIn, syntax.RdrInOut, syntax.DplIn:
				content := text{}
				if !red.Target.Dynamic {
					if content = f.files[f.abs(red.Target.Text)]; red.Target.Text == "/dev/null" {
						content = text{known: true}
					}
				}
				if sub, ok := processText(w, f, r.Word); ok {
					content = sub
				}
				in = stream{content, StdinFile}
			}
		} else if r.Hdoc != nil {
			w.document(f, r.Hdoc, quoted)
		}
		out = append(out, red)
	}
	return out, in
}

// processText gives what <(…) writes. Its commands were listed when the word was expanded, so they are not listed again.
func processText(w *walker, f *frame, word *syntax.Word) (text, bool) {
	if word == nil || len(word.Parts) != 1 {
		return text{}, false
	}
	p, ok := word.Parts[0].(*syntax.ProcSubst)
	if !ok || p.Op != syntax.CmdIn {
		return text{}, false
	}
	listed := len(w.out.Commands)
	got := w.process(f, p)
	w.out.Commands = w.out.Commands[:min(listed, len(w.out.Commands))]
	return got, true
}

func withoutTabs(s string) string {
	lines := strings.SplitAfter(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimLeft(lines[i], "\t")
	}
	return strings.Join(lines, "")
}

// endWord is a here-document's end word; quoted says that its body is taken as it is.
func endWord(word *syntax.Word) (end Word, quoted bool) {
	for _, p := range word.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			quoted = quoted || strings.IndexByte(p.Value, '\\') >= 0
			end.Text += strings.ReplaceAll(p.Value, `\`, "")
		case *syntax.SglQuoted:
			quoted = true
			end.Text += p.Value
		case *syntax.DblQuoted:
			quoted = true
			for _, q := range p.Parts {
				if lit, ok := q.(*syntax.Lit); ok {
					end.Text += lit.Value
				}
			}
		}
	}
	return end, quoted
}

// assigns evaluates assignments and, when they stand alone, makes them.
func (w *walker) assigns(f *frame, list []*syntax.Assign, keep bool) []Assign {
	var out []Assign
	for _, a := range list {
		if a.Name == nil {
			continue
		}
		name := a.Name.Value
		if a.Index != nil {
			w.nested(f, a.Index)
		}
		if a.Array != nil {
			v := variable{array: true}
			if old, ok := f.vars[name]; ok && a.Append && old.array {
				v.list = slices.Clone(old.list)
			}
			shown := Word{}
			for _, e := range a.Array.Elems {
				if e.Value == nil {
					continue
				}
				before := len(v.list)
				v.list = w.word(f, e.Value, v.list)
				for _, word := range v.list[before:] {
					if shown.Text != "" {
						shown.Text += " "
					}
					shown.Text += word.Text
					shown.Dynamic = shown.Dynamic || word.Dynamic
				}
				if e.Index != nil {
					w.nested(f, e.Index)
					shown.Dynamic = true
				}
			}
			w.spend(len(shown.Text))
			if len(v.list) > maxFields || shown.Dynamic && len(v.list) == 0 {
				v = variable{}
			}
			f.set(name, v)
			out = append(out, Assign{name, shown})
			continue
		}
		value := w.oneWord(f, a.Value)
		value.Glob = false
		now := text{value.Text, !value.Dynamic}
		if a.Append {
			old, _ := (&expander{w: w, f: f}).lookup(name, nil)
			now = w.join(old, now)
			value = Word{Text: now.s, Dynamic: !now.known}
		}
		out = append(out, Assign{name, value})
		switch {
		case !keep:
		case a.Index != nil:
			f.set(name, variable{}) // one element of an array
		default:
			f.set(name, variable{value: now})
		}
	}
	return out
}

// declare follows declare, export, local, readonly and typeset.
func (w *walker) declare(f *frame, c *syntax.DeclClause) text {
	cmd := Command{Argv: []Word{{Text: c.Variant.Value}}}
	var list []*syntax.Assign
	for _, a := range c.Args {
		switch {
		case a.Name == nil:
			cmd.Argv = w.word(f, a.Value, cmd.Argv)
		case a.Naked:
			cmd.Argv = append(cmd.Argv, Word{Text: a.Name.Value})
		default:
			list = append(list, a)
		}
	}
	cmd.Assigns = w.assigns(f, list, true)
	for i := range cmd.Argv { // an integer or a reference does not hold what it was given
		if a := cmd.Argv[i].Text; len(a) > 1 && a[0] == '-' && strings.ContainsAny(a, "inlu") {
			for _, v := range cmd.Assigns {
				f.set(v.Name, variable{})
			}
		}
	}
	w.emit(f, cmd)
	return text{known: true}
}

package facts

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

func (w *walker) compound(f *frame, cmd syntax.Command, in stream) text {
	switch c := cmd.(type) {
	case nil:
		return text{known: true}
	case *syntax.Subshell:
		sub := f.fork()
		sub.inside("subshell")
		return w.stmts(sub, c.Stmts, in)
	case *syntax.Block:
		return w.stmts(f, c.Stmts, in)
	case *syntax.BinaryCmd:
		return w.binary(f, c, in)
	case *syntax.IfClause:
		defer f.inside("if")()
		return w.ifClause(f, c, in)
	case *syntax.WhileClause:
		defer f.inside("loop")()
		forget(f, c)
		w.stmts(f, c.Cond, in)
		w.branches(f, func(g *frame) { w.stmts(g, c.Do, in) })
		return text{}
	case *syntax.ForClause:
		defer f.inside("loop")()
		return w.forClause(f, c, in)
	case *syntax.CaseClause:
		defer f.inside("case")()
		w.oneWord(f, c.Word)
		arms := make([]func(*frame), 0, len(c.Items))
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				w.nested(f, p)
			}
			arms = append(arms, func(g *frame) { w.stmts(g, item.Stmts, in) })
		}
		w.branches(f, arms...)
		return text{}
	case *syntax.FuncDecl:
		if c.Name != nil {
			if f.funcs == nil {
				f.funcs = map[string]function{}
			}
			f.funcs[c.Name.Value] = function{c.Body, f.src}
		}
		return text{known: true}
	case *syntax.DeclClause:
		return w.declare(f, c)
	case *syntax.TimeClause:
		if c.Stmt == nil {
			return text{known: true}
		}
		return w.stmt(f, c.Stmt, in)
	case *syntax.CoprocClause:
		defer f.inside("coproc")()
		w.stmt(f, c.Stmt, in)
		return text{known: true}
	default: // [[ … ]], (( … )), let
		w.nested(f, cmd)
		forget(f, cmd)
		return text{known: true}
	}
}

// binary follows lists and pipelines. Lists lean to the left and may be long: they are unrolled.
func (w *walker) binary(f *frame, c *syntax.BinaryCmd, in stream) text {
	if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
		return w.pipeline(f, c, in)
	}
	type right struct {
		op   syntax.BinCmdOperator
		stmt *syntax.Stmt
	}
	rest := []right{{c.Op, c.Y}}
	first := c.X
	for {
		b, ok := first.Cmd.(*syntax.BinaryCmd)
		if !ok || len(first.Redirs) > 0 || b.Op == syntax.Pipe || b.Op == syntax.PipeAll {
			break
		}
		rest = append(rest, right{b.Op, b.Y})
		first = b.X
	}
	out := w.stmt(f, first, in)
	for _, r := range slices.Backward(rest) {
		if r.op == syntax.AndStmt {
			out = w.join(out, w.stmt(f, r.stmt, in))
			continue
		}
		w.branches(f, func(*frame) {}, func(g *frame) { w.stmt(g, r.stmt, in) })
	}
	return out
}

// pipeline follows a | b | c, each stage in a shell of its own.
func (w *walker) pipeline(f *frame, c *syntax.BinaryCmd, in stream) text {
	var stages []*syntax.Stmt
	var flatten func(*syntax.Stmt, int)
	flatten = func(s *syntax.Stmt, depth int) {
		b, ok := s.Cmd.(*syntax.BinaryCmd)
		if !ok || len(s.Redirs) > 0 || (b.Op != syntax.Pipe && b.Op != syntax.PipeAll) || depth > maxNested {
			stages = append(stages, s)
			return
		}
		flatten(b.X, depth+1)
		flatten(b.Y, depth+1)
	}
	flatten(c.X, 0)
	flatten(c.Y, 0)
	w.pipelines++
	number := w.pipelines
	var out text
	for i, s := range stages {
		g := f.fork()
		g.pipe, g.stage = number, i
		out = w.stmt(g, s, in)
		for name, content := range g.files { // files outlive the shell that wrote them
			if f.files == nil {
				f.files = map[string]text{}
			}
			f.files[name] = content
		}
		in = stream{out, StdinPipe}
		if w.err != nil {
			return text{}
		}
	}
	return out
}

// branches follows ways of which one is taken, each in a copy of f; what they disagree about is unknown after.
func (w *walker) branches(f *frame, ways ...func(*frame)) {
	ends := make([]*frame, len(ways))
	for i, way := range ways {
		ends[i] = f.fork()
		way(ends[i])
	}
	if len(ways) == 1 { // it may not be taken at all
		ends = append(ends, f.fork())
	}
	for _, e := range ends {
		for name, v := range e.vars {
			for _, other := range ends {
				if o, ok := other.vars[name]; !ok || !sameVariable(o, v) {
					f.set(name, variable{})
					break
				}
			}
			if _, ok := f.vars[name]; !ok {
				f.set(name, v)
			} else if cur := f.vars[name]; !cur.unknown() {
				f.set(name, v)
			}
		}
		for name, fn := range e.funcs {
			if f.funcs == nil {
				f.funcs = map[string]function{}
			}
			f.funcs[name] = fn
		}
		for name, content := range e.files {
			if f.files == nil {
				f.files = map[string]text{}
			}
			f.files[name] = content
		}
		if e.lost || e.cwd != ends[0].cwd {
			f.lost = true
		}
	}
	if !f.lost && len(ends) > 0 {
		f.cwd = ends[0].cwd
	}
}

func (w *walker) ifClause(f *frame, c *syntax.IfClause, in stream) text {
	w.stmts(f, c.Cond, in)
	w.branches(f, func(g *frame) { w.stmts(g, c.Then, in) }, func(g *frame) {
		switch {
		case c.Else == nil || w.err != nil:
		case len(c.Else.Cond) == 0:
			w.stmts(g, c.Else.Then, in)
		default:
			if w.depth++; w.depth > maxNested {
				w.fail(errBound)
				return
			}
			w.ifClause(g, c.Else, in)
			w.depth--
		}
	})
	return text{}
}

// forClause follows a loop over known words once for each, any other once with the variable unknown.
func (w *walker) forClause(f *frame, c *syntax.ForClause, in stream) text {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		w.nested(f, c.Loop)
		forget(f, c)
		w.branches(f, func(g *frame) { w.stmts(g, c.Do, in) })
		return text{}
	}
	var items []Word
	if iter.InPos.IsValid() {
		items = w.words(f, iter.Items)
	} else {
		items = f.args
	}
	known := len(items) <= maxLoop && !c.Select
	for i := range items {
		known = known && !items[i].Dynamic && !items[i].Glob
	}
	if !known {
		forget(f, c)
		if len(items) == 1 && items[0].Glob && !items[0].Dynamic {
			// The pattern tells more than nothing, and what a command gets is one of its matches.
			f.set(iter.Name.Value, variable{array: true, list: []Word{items[0]}})
			w.branches(f, func(g *frame) { w.stmts(g, c.Do, in) })
			f.set(iter.Name.Value, variable{})
			return text{}
		}
		f.set(iter.Name.Value, variable{})
		w.branches(f, func(g *frame) { w.stmts(g, c.Do, in) })
		return text{}
	}
	out := text{known: true}
	for i := range items {
		f.set(iter.Name.Value, variable{value: text{items[i].Text, true}})
		out = w.join(out, w.stmts(f, c.Do, in))
		if w.err != nil {
			return text{}
		}
	}
	return out
}

// forget makes everything unknown that is assigned somewhere in node, since it may be so any number of times.
func forget(f *frame, node syntax.Node) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				f.set(n.Name.Value, variable{})
			}
		case *syntax.WordIter:
			f.set(n.Name.Value, variable{})
		case *syntax.BinaryArithm:
			if word, ok := n.X.(*syntax.Word); ok && n.Op >= syntax.Assgn {
				f.set(word.Lit(), variable{})
			}
		case *syntax.UnaryArithm:
			if word, ok := n.X.(*syntax.Word); ok && (n.Op == syntax.Inc || n.Op == syntax.Dec) {
				f.set(word.Lit(), variable{})
			}
		}
		return true
	})
}

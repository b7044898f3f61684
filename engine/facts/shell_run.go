package facts

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// text is what a command writes, or reads: known or not.
type text struct {
	s     string
	known bool
}

// stream is a command's standard input.
type stream struct {
	text
	from Stdin
}

// walker follows one command line. Nothing is run: it keeps what is known of variables, files and output, as a shell would
// have them.
type walker struct {
	home   string
	root   string // the workspace
	out    *Shell
	parser *syntax.Parser

	parsed, steps, expanded int
	pipelines               int
	depth                   int // of statements
	texts                   int // of texts, functions and wrapped commands
	err                     error
}

// variable is what is known of a shell variable.
type variable struct {
	value text
	list  []Word // of an array; nil for a plain variable
	array bool
}

// frame is the environment of a shell: a subshell gets a copy.
type frame struct {
	src   string // the text that is being read, for the words that stay as they were written
	vars  map[string]variable
	funcs map[string]function
	files map[string]text // that the text wrote itself
	args  []Word          // positional parameters
	zero  *Word           // $0, where a shell was given one
	in    []string
	cwd   string
	lost  bool // cwd is not known
	pipe  int
	stage int
}

type function struct {
	body *syntax.Stmt
	src  string
}

// fork is the frame of a subshell.
func (f *frame) fork() *frame {
	c := *f
	c.vars, c.funcs, c.files = maps.Clone(f.vars), maps.Clone(f.funcs), maps.Clone(f.files)
	return &c
}

// inside is the same environment, one level further in.
func (f *frame) inside(what string) func() {
	before := f.in
	f.in = append(slices.Clip(slices.Clone(f.in)), what)
	return func() { f.in = before }
}

// parsers are kept, since a new one is some kilobytes.
type parsers struct{ pool sync.Pool }

func (p *parsers) get() *syntax.Parser {
	if got, ok := p.pool.Get().(*syntax.Parser); ok {
		return got
	}
	return syntax.NewParser(syntax.Variant(syntax.LangBash))
}

// shellFacts follows a command line.
func (c *Computer) shellFacts(command string) *Shell {
	out := &Shell{}
	if err := checkText(command); err != nil {
		out.Reason = err.Error()
		return out
	}
	w := &walker{home: c.cfg.Home, root: c.cfg.Workspace, out: out, parser: c.parsers.get()}
	if w.guarded(func() { w.readText(&frame{cwd: w.root}, command, stream{}) }) {
		c.parsers.pool.Put(w.parser)
	}
	out.Understood = w.err == nil
	if w.err != nil {
		out.Reason = w.err.Error()
	}
	return out
}

// guarded turns a panic over foreign text, ours or the parser's, into text that is not understood. It says whether there was
// none: after one the parser is not used again.
func (w *walker) guarded(follow func()) (calm bool) {
	defer func() {
		if v := recover(); v != nil {
			w.fail(fmt.Errorf("reading it failed: %v", v))
			calm = false
		}
	}()
	follow()
	return true
}

// fail keeps the first reason.
func (w *walker) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// readText parses a text and follows it in f. What precedes a mistake runs in a shell as well, and is followed.
func (w *walker) readText(f *frame, s string, in stream) text {
	if w.parsed += len(s); w.parsed > maxParsed {
		w.fail(errBound)
	}
	w.texts++
	defer func() { w.texts-- }()
	if w.texts > maxTexts {
		w.fail(errBound)
	}
	if w.err != nil {
		return text{}
	}
	before := f.src
	f.src = s
	defer func() { f.src = before }()
	var stmts []*syntax.Stmt
	var file *syntax.File
	file, err := w.parser.Parse(&source{text: s}, "")
	if file != nil {
		stmts = file.Stmts
	}
	if err != nil && stmts == nil {
		// The parser gives no file on a mistake; statement by statement it gives those before it. They are followed only
		// after all are parsed, since following parses as well.
		for st, err := range w.parser.StmtsSeq(&source{text: s}) {
			if err != nil {
				break // the same mistake
			}
			stmts = append(stmts, st)
		}
	}
	got := w.stmts(f, stmts, in)
	if err != nil {
		w.fail(parseError(err))
		return text{}
	}
	return got
}

type notShell struct{ err error }

func (e *notShell) Error() string { return "it is not valid shell: " + e.err.Error() }
func (e *notShell) Unwrap() error { return e.err }

func parseError(err error) error {
	if strings.Contains(err.Error(), errBound.Error()) {
		return errBound
	}
	return &notShell{err}
}

func (w *walker) stmts(f *frame, list []*syntax.Stmt, in stream) text {
	out := text{known: true}
	for _, s := range list {
		out = w.join(out, w.stmt(f, s, in))
		if w.err != nil {
			return text{}
		}
	}
	return out
}

// join is what two commands write one after the other.
func (w *walker) join(a, b text) text {
	switch {
	case !a.known || !b.known || len(a.s)+len(b.s) > maxValue:
		return text{}
	case a.s == "":
		return b
	case b.s == "":
		return a
	}
	w.spend(len(a.s) + len(b.s))
	return text{a.s + b.s, true}
}

func (w *walker) spend(n int) {
	if w.expanded += n; w.expanded > maxExpanded {
		w.fail(errBound)
	}
}

func (w *walker) stmt(f *frame, s *syntax.Stmt, in stream) text {
	w.depth++
	defer func() { w.depth-- }()
	if w.steps++; w.steps > maxSteps || w.depth > maxNested {
		w.fail(errBound)
	}
	if w.err != nil {
		return text{}
	}
	var redirects []Redirect
	if len(s.Redirs) > 0 {
		redirects, in = w.redirects(f, s.Redirs, in)
	}
	var out text
	if call, ok := s.Cmd.(*syntax.CallExpr); ok {
		out = w.call(f, call, redirects, in)
	} else {
		if len(redirects) > 0 {
			w.emit(f, Command{Redirects: redirects, Stdin: in.from})
		}
		out = w.compound(f, s.Cmd, in)
	}
	if w.writes(f, redirects, out) {
		return text{known: true}
	}
	return out
}

// writes keeps what is written to files, and says whether the output goes to one.
func (w *walker) writes(f *frame, redirects []Redirect, out text) bool {
	away := false
	for i := range redirects {
		r := &redirects[i]
		if r.Fd != fdAbsent && r.Fd != 1 {
			continue
		}
		switch r.Op {
		case ">", ">|", "&>", ">>", "&>>":
			away = true
			if r.Target.Dynamic || !strings.HasPrefix(r.Op, ">") {
				continue
			}
			name := f.abs(r.Target.Text)
			if r.Op == ">>" {
				old, ok := f.files[name]
				out = w.join(text{old.s, ok && old.known}, out)
			}
			if f.files == nil {
				f.files = map[string]text{}
			}
			f.files[name] = out
		case ">&":
			away = away || r.Target.Text == "2"
		}
	}
	return away
}

func (v variable) unknown() bool { return !v.array && !v.value.known }

func sameVariable(a, b variable) bool {
	return a.value == b.value && a.array == b.array && slices.Equal(a.list, b.list)
}

// nested follows the substitutions in what is not evaluated itself.
func (w *walker) nested(f *frame, node syntax.Node) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			w.substitution(f, n)
			return false
		case *syntax.ProcSubst:
			w.process(f, n)
			return false
		}
		return w.err == nil
	})
}

func (w *walker) substitution(f *frame, n *syntax.CmdSubst) text {
	sub := f.fork()
	sub.inside("substitution")
	sub.pipe = 0
	return w.stmts(sub, n.Stmts, stream{})
}

func (w *walker) process(f *frame, n *syntax.ProcSubst) text {
	sub := f.fork()
	sub.inside("process")
	sub.pipe = 0
	return w.stmts(sub, n.Stmts, stream{})
}

// set assigns a variable.
func (f *frame) set(name string, v variable) {
	if name == "" {
		return
	}
	if f.vars == nil {
		f.vars = map[string]variable{}
	}
	if len(v.value.s) > maxValue {
		v.value = text{}
	}
	f.vars[name] = v
}

// emit lists a command and returns its number, -1 when the walk has ended.
func (w *walker) emit(f *frame, c Command) int {
	if w.err != nil {
		return -1
	}
	if len(w.out.Commands) == maxCommands {
		w.fail(errBound)
		return -1
	}
	c.In, c.Pipeline, c.Stage, c.CwdUnknown = f.in, f.pipe, f.stage, f.lost
	if f.cwd != w.root {
		c.Cwd = f.cwd
	}
	w.out.Commands = append(w.out.Commands, c)
	return len(w.out.Commands) - 1
}

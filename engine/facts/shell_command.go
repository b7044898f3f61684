package facts

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call follows a simple command.
func (w *walker) call(f *frame, c *syntax.CallExpr, redirects []Redirect, in stream) text {
	argv := w.words(f, c.Args)
	assigns := w.assigns(f, c.Assigns, len(argv) == 0)
	if w.err != nil {
		return text{}
	}
	return w.run(f, Command{Argv: argv, Assigns: assigns, Redirects: redirects, Stdin: in.from}, in)
}

// again follows a command that another one runs.
func (w *walker) again(f *frame, by string, argv []Word, in stream) text {
	if len(argv) == 0 || w.err != nil {
		return text{}
	}
	w.texts++
	defer func() { w.texts-- }()
	if w.texts > maxTexts {
		w.fail(errBound)
		return text{}
	}
	defer f.inside(by)()
	return w.run(f, Command{Argv: argv, Stdin: in.from}, in)
}

// code follows text that a command runs as a shell would.
func (w *walker) code(f *frame, at int, by string, words []Word, in stream) text {
	s, dynamic := joinWords(words)
	code := CodeKnown
	if dynamic {
		code = CodeUnknown
	}
	w.mark(at, code)
	defer f.inside(by)()
	out := w.readText(f, s, in)
	if dynamic {
		return text{}
	}
	return out
}

func joinWords(words []Word) (string, bool) {
	if len(words) == 1 {
		return words[0].Text, words[0].Dynamic
	}
	dynamic := false
	parts := make([]string, len(words))
	for i := range words {
		parts[i] = words[i].Text
		dynamic = dynamic || words[i].Dynamic
	}
	return strings.Join(parts, " "), dynamic
}

func (w *walker) mark(at int, code Code) {
	if at >= 0 && at < len(w.out.Commands) {
		w.out.Commands[at].Code = code
	}
}

// run lists a command and follows what it runs itself. It returns what it writes.
func (w *walker) run(f *frame, c Command, in stream) text {
	at := w.emit(f, c)
	if at < 0 || len(c.Argv) == 0 {
		return text{known: true}
	}
	if c.Argv[0].Dynamic {
		w.mark(at, CodeUnknown)
		return text{}
	}
	name, args := c.Argv[0].Text, c.Argv[1:]
	if fn, ok := f.funcs[name]; ok {
		return w.callFunction(f, at, name, fn, args, in)
	}
	base := path.Base(name)
	if spec, ok := wrapper(base); ok {
		return w.wrapped(f, at, base, spec, args, in)
	}
	switch base {
	case "bash", "sh", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish":
		return w.shell(f, at, base, args, in)
	case "eval":
		if len(args) == 0 {
			return text{known: true}
		}
		return w.code(f, at, "eval", args, in)
	case "source", ".":
		return w.script(f, at, base, args, in)
	case "trap":
		if a := operands(args); len(a) > 1 && a[0].Text != "" {
			w.code(f, at, "trap", a[:1], stream{})
		}
		return text{known: true}
	case "find", "fd", "fdfind":
		return w.find(f, at, base, args)
	case "python", "python2", "python3", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "osascript", "tclsh", "Rscript", "pwsh":
		w.otherCode(at, args, in)
		return text{}
	case "awk", "gawk", "mawk", "nawk":
		w.mark(at, CodeOther)
		return text{}
	case "make", "gmake", "just", "task", "rake", "ninja":
		w.mark(at, CodeFile)
		for i := range args {
			switch args[i].Text {
			case "-", "/dev/stdin", "-f-", "--file=-":
				w.mark(at, CodeOther)
			}
		}
		return text{}
	case "emacs", "vim", "vi", "nvim", "ex", "ed", "gdb", "expect", "sqlite3", "m4":
		for i := range args {
			if a := args[i].Text; len(a) > 1 && (a[0] == '-' || a[0] == '+') && a != "--version" {
				w.mark(at, CodeOther)
			}
		}
		return text{}
	case "git":
		w.git(f, at, args)
		return text{}
	case "at", "batch", "crontab":
		if in.known && in.from != StdinNone && base != "crontab" {
			return w.code(f, at, base, []Word{{Text: in.s}}, stream{})
		}
		return text{}
	}
	return w.builtin(f, base, args, in)
}

func (w *walker) callFunction(f *frame, at int, name string, fn function, args []Word, in stream) text {
	level := "function " + name
	again := 0
	for _, in := range f.in {
		if in == level {
			again++
		}
	}
	if again > 1 { // it calls itself: how often is not known
		w.mark(at, CodeUnknown)
		return text{}
	}
	w.texts++
	defer func() { w.texts-- }()
	if w.texts > maxTexts {
		w.fail(errBound)
		return text{}
	}
	oldArgs, oldSrc := f.args, f.src
	f.args, f.src = args, fn.src
	defer func() { f.args, f.src = oldArgs, oldSrc }()
	defer f.inside(level)()
	return w.stmt(f, fn.body, in)
}

// operands are the arguments without options.
func operands(args []Word) []Word {
	for len(args) > 0 && len(args[0].Text) > 1 && args[0].Text[0] == '-' {
		if args[0].Text == "--" {
			return args[1:]
		}
		args = args[1:]
	}
	return args
}

// shell is a shell that is run: -c TEXT, a script, or what comes on standard input.
func (w *walker) shell(f *frame, at int, base string, args []Word, in stream) text {
	sub := f.fork()
	sub.args, sub.funcs, sub.zero = nil, nil, nil
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.Dynamic:
			w.mark(at, CodeUnknown)
			return text{}
		case a.Text == "-o" || a.Text == "-O" || a.Text == "+O" || a.Text == "+o" || a.Text == "--rcfile" || a.Text == "--init-file":
			i++
			continue
		case a.Text == "--version" || a.Text == "--help":
			return text{}
		case a.Text == "-" || a.Text == "--":
			if i+1 < len(args) {
				return w.scriptFile(sub, at, base, args[i+1:], in)
			}
			continue
		case strings.HasPrefix(a.Text, "--") || strings.HasPrefix(a.Text, "+"):
			continue
		case len(a.Text) > 1 && a.Text[0] == '-':
			if strings.ContainsRune(a.Text, 'c') {
				rest := operands(args[i+1:])
				if len(rest) == 0 {
					return text{}
				}
				if len(rest) > 1 {
					sub.zero, sub.args = &rest[1], rest[2:]
				}
				return w.code(sub, at, base+" -c", rest[:1], in)
			}
			if strings.ContainsRune(a.Text, 's') {
				return w.stdinCode(sub, at, base, in)
			}
			continue
		}
		return w.scriptFile(sub, at, base, args[i:], in)
	}
	return w.stdinCode(sub, at, base, in)
}

func (w *walker) stdinCode(f *frame, at int, by string, in stream) text {
	if in.from == StdinNone {
		return text{} // interactive
	}
	if !in.known {
		w.mark(at, CodeUnknown)
		return text{}
	}
	return w.code(f, at, by, []Word{{Text: in.s}}, stream{})
}

// script is source FILE; it runs in the same shell.
func (w *walker) script(f *frame, at int, by string, args []Word, in stream) text {
	if len(args) == 0 {
		return text{}
	}
	return w.scriptFile(f, at, by, args, in)
}

func (w *walker) scriptFile(f *frame, at int, by string, args []Word, in stream) text {
	file := args[0]
	switch {
	case file.Dynamic:
		w.mark(at, CodeUnknown)
		return text{}
	case file.Text == "/dev/stdin" || file.Text == "/dev/fd/0" || file.Text == "/proc/self/fd/0":
		return w.stdinCode(f, at, by, in)
	}
	if content, ok := f.files[f.abs(file.Text)]; ok {
		if !content.known {
			w.mark(at, CodeUnknown)
			return text{}
		}
		old := f.args
		f.args = args[1:]
		defer func() { f.args = old }()
		return w.code(f, at, by+" "+file.Text, []Word{{Text: content.s}}, in)
	}
	w.mark(at, CodeFile)
	return text{}
}

// otherCode marks what an interpreter of another language runs.
func (w *walker) otherCode(at int, args []Word, in stream) {
	code := CodeNone
	for i := range args {
		a := args[i].Text
		switch {
		case args[i].Dynamic:
			code = CodeUnknown
		case a == "-":
			code = CodeOther
		case len(a) > 1 && a[0] == '-':
			if a == "-m" || a == "--version" || a == "-V" || a == "-v" || a == "--help" {
				return
			}
			if strings.ContainsAny(a[1:], "ceEprR") && !strings.HasPrefix(a, "--") || a == "--eval" || a == "--print" || a == "eval" {
				code = CodeOther
			} else {
				continue
			}
		case a == "eval":
			code = CodeOther
		default:
			code = CodeFile
		}
		break
	}
	if code == CodeNone && in.from != StdinNone {
		code = CodeUnknown
		if in.known {
			code = CodeOther
		}
	}
	w.mark(at, code)
}

// find follows -exec and its kin, and fd's -x.
func (w *walker) find(f *frame, at int, by string, args []Word) text {
	for i := 0; i < len(args); i++ {
		switch args[i].Text {
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch":
		default:
			continue
		}
		flag := args[i].Text
		if by == "find" == (flag == "-x" || flag == "-X" || strings.HasPrefix(flag, "--")) {
			continue
		}
		var argv []Word
		for i++; i < len(args); i++ {
			if t := args[i].Text; t == ";" || t == "+" && len(argv) > 0 && argv[len(argv)-1].Text == "{}" {
				break
			}
			word := args[i]
			if strings.Contains(word.Text, "{}") {
				word.Dynamic = true
			}
			argv = append(argv, word)
		}
		if by != "find" && !slices.ContainsFunc(argv, func(w Word) bool { return w.Dynamic }) {
			argv = append(argv, Word{Text: "{}", Dynamic: true}) // fd adds what it found at the end
		}
		w.mark(at, CodeKnown)
		w.again(f.fork(), by+" "+flag, argv, stream{})
	}
	return text{}
}

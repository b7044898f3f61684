package facts

import (
	"encoding/base64"
	"encoding/hex"
	"path"
	"strconv"
	"strings"
)

// builtin knows the commands that change the shell's state, and those whose output is known from their arguments and
// their input. Of all others the output is not known.
func (w *walker) builtin(f *frame, name string, args []Word, in stream) text {
	switch name {
	case "cd", "pushd":
		w.chdir(f, operands(args))
	case "popd":
		f.lost = true
	case "set":
		w.setArgs(f, args)
	case "shift":
		n := 1
		if len(args) > 0 {
			var err error
			if n, err = strconv.Atoi(args[0].Text); err != nil || n < 0 {
				n = len(f.args)
			}
		}
		f.args = f.args[min(n, len(f.args)):]
	case "unset":
		for _, a := range operands(args) {
			f.set(a.Text, variable{value: text{"", true}})
			delete(f.funcs, a.Text)
		}
	case "read", "mapfile", "readarray", "getopts", "select":
		for _, a := range args {
			if !strings.HasPrefix(a.Text, "-") {
				f.set(a.Text, variable{})
			}
		}
		f.set("REPLY", variable{})
	case "echo":
		return echo(args)
	case "printf":
		return w.printf(f, args)
	case "pwd":
		return text{f.cwd + "\n", !f.lost && f.cwd != ""}
	case "cat":
		return w.cat(f, args, in)
	case "tee":
		for _, a := range operands(args) {
			if !a.Dynamic {
				if f.files == nil {
					f.files = map[string]text{}
				}
				f.files[f.abs(a.Text)] = in.text
			}
		}
		return in.text
	case "base64":
		return decoded(args, in, "-d", "-D", "--decode", func(s string) ([]byte, error) {
			return base64.StdEncoding.DecodeString(strings.Join(strings.Fields(s), ""))
		})
	case "xxd":
		return decoded(args, in, "-r", "-rp", "-pr", func(s string) ([]byte, error) { return hex.DecodeString(strings.Join(strings.Fields(s), "")) })
	case "rev":
		return reversed(in.text)
	case "tr":
		return translated(args, in.text)
	case "true", ":", "false", "mkdir", "touch", "rm", "chmod", "sleep", "test", "[", "wait", "exit", "return", "break", "continue", "shopt", "umask", "alias":
	default:
		return text{}
	}
	return text{known: true}
}

func (w *walker) chdir(f *frame, args []Word) {
	switch {
	case len(args) == 0:
		f.cwd, f.lost = w.home, w.home == ""
	case args[0].Dynamic || args[0].Glob || args[0].Text == "-" || args[0].Text == "":
		f.lost = true
	case path.IsAbs(args[0].Text):
		f.cwd, f.lost = path.Clean(args[0].Text), false
	default:
		f.cwd = path.Join(f.cwd, args[0].Text)
	}
}

func (w *walker) setArgs(f *frame, args []Word) {
	for i, a := range args {
		if a.Text == "--" {
			f.args = args[i+1:]
			return
		}
		if !strings.HasPrefix(a.Text, "-") && !strings.HasPrefix(a.Text, "+") {
			if i > 0 && (args[i-1].Text == "-o" || args[i-1].Text == "+o" || strings.HasSuffix(args[i-1].Text, "o")) {
				continue
			}
			f.args = args[i:]
			return
		}
	}
}

func echo(args []Word) text {
	end, escapes := "\n", false
	for len(args) > 0 && len(args[0].Text) > 1 && args[0].Text[0] == '-' && strings.Trim(args[0].Text[1:], "neE") == "" {
		if strings.ContainsRune(args[0].Text, 'n') {
			end = ""
		}
		if strings.ContainsRune(args[0].Text, 'e') {
			escapes = true
		}
		args = args[1:]
	}
	s, dynamic := joinWords(args)
	for i := range args {
		dynamic = dynamic || args[i].Glob
	}
	if dynamic {
		return text{}
	}
	if escapes {
		s = ansiC(s)
	}
	return text{s + end, true}
}

// printf knows %s, %b, %c, %d and %% without widths. As in the shell, the format is used again while arguments are left.
func (w *walker) printf(f *frame, args []Word) text {
	if len(args) > 1 && args[0].Text == "-v" {
		if len(args) < 3 {
			return text{}
		}
		f.set(args[1].Text, variable{value: w.format(args[2:])})
		return text{known: true}
	}
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	return w.format(args)
}

func (w *walker) format(args []Word) text {
	if len(args) == 0 {
		return text{known: true}
	}
	for i := range args {
		if args[i].Dynamic || args[i].Glob {
			return text{}
		}
	}
	format, rest := args[0].Text, args[1:]
	var b strings.Builder
	for round := 0; round == 0 || len(rest) > 0; round++ {
		used := false
		for i := 0; i < len(format); i++ {
			c := format[i]
			switch {
			case c == '\\':
				n := 2
				if i+1 < len(format) && strings.IndexByte("x01234567uU", format[i+1]) >= 0 {
					for i+n < len(format) && n < 5 && strings.IndexByte("0123456789abcdefABCDEF", format[i+n]) >= 0 {
						n++
					}
				}
				n = min(n, len(format)-i)
				b.WriteString(ansiC(format[i : i+n]))
				i += n - 1
			case c == '%' && i+1 < len(format) && format[i+1] == '%':
				b.WriteByte('%')
				i++
			case c == '%' && i+1 < len(format) && strings.IndexByte("sbcdi", format[i+1]) >= 0:
				i++
				used = true
				value := ""
				if len(rest) > 0 {
					value, rest = rest[0].Text, rest[1:]
				}
				switch format[i] {
				case 'b':
					value = ansiC(value)
				case 'c':
					value = value[:min(1, len(value))]
				}
				b.WriteString(value)
			case c == '%':
				return text{}
			default:
				b.WriteByte(c)
			}
		}
		if !used || b.Len() > maxValue {
			break
		}
	}
	w.spend(b.Len())
	return text{b.String(), b.Len() <= maxValue}
}

func (w *walker) cat(f *frame, args []Word, in stream) text {
	files := operands(args)
	if len(files) == 0 {
		return in.text
	}
	out := text{known: true}
	for _, a := range files {
		content := f.files[f.abs(a.Text)]
		if a.Text == "-" {
			content = in.text
		}
		if a.Dynamic {
			content.known = false
		}
		out = w.join(out, content)
	}
	return out
}

// decoded is the output of a decoder that was given one of two or three options.
func decoded(args []Word, in stream, a, b, c string, decode func(string) ([]byte, error)) text {
	on := false
	for _, w := range args {
		switch w.Text {
		case a, b, c:
			on = true
		default:
			if !strings.HasPrefix(w.Text, "-") {
				return text{}
			}
		}
	}
	if !on || !in.known {
		return text{}
	}
	out, err := decode(in.s)
	if err != nil {
		return text{}
	}
	return text{string(out), true}
}

// reversed is what rev makes of its input: each line from its end.
func reversed(in text) text {
	if !in.known {
		return text{}
	}
	lines := strings.Split(in.s, "\n")
	for i, l := range lines {
		r := []rune(l)
		for a, z := 0, len(r)-1; a < z; a, z = a+1, z-1 {
			r[a], r[z] = r[z], r[a]
		}
		lines[i] = string(r)
	}
	return text{strings.Join(lines, "\n"), true}
}

// translated is what tr makes of its input, for plain sets and ranges.
func translated(args []Word, in text) text {
	drop := len(args) == 2 && args[0].Text == "-d"
	if !in.known || len(args) != 2 || !drop && strings.HasPrefix(args[0].Text, "-") || args[0].Dynamic || args[1].Dynamic {
		return text{}
	}
	from, to := args[0].Text, args[1].Text
	if drop {
		from, to = to, ""
	}
	a, okA := trSet(from)
	z, okZ := trSet(to)
	if !okA || !okZ {
		return text{}
	}
	out := make([]byte, 0, len(in.s))
	for i := 0; i < len(in.s); i++ {
		at := strings.LastIndexByte(a, in.s[i])
		switch {
		case at < 0:
			out = append(out, in.s[i])
		case len(z) > 0:
			out = append(out, z[min(at, len(z)-1)])
		}
	}
	return text{string(out), true}
}

func trSet(s string) (string, bool) {
	if strings.Contains(s, "[:") {
		return "", false
	}
	s = ansiC(s)
	var b []byte
	for i := 0; i < len(s); i++ {
		if i+2 < len(s) && s[i+1] == '-' && s[i] <= s[i+2] {
			for c := int(s[i]); c <= int(s[i+2]); c++ {
				b = append(b, byte(c))
			}
			i += 2
			continue
		}
		b = append(b, s[i])
	}
	return string(b), true
}

package facts

import "strings"

// wrap says how a command that runs another one is written.
type wrap struct {
	letters string // short options that take a value
	longs   string // long options that take a value, each between spaces
	skip    int    // operands before the command
	assigns bool   // NAME=value may stand before it
	shell   bool   // what remains is joined and given to a shell
	inline  string // options whose value is a command line, each between spaces
	stdin   bool   // words of standard input are added: xargs
	off     string // options with which no command runs, each between spaces
}

// wrapper knows the commands that run their operands. Their options are those of GNU coreutils, findutils, util-linux, sudo 1.9,
// OpenSSH and busybox, as their manuals list them.
func wrapper(name string) (wrap, bool) {
	switch name {
	case "sudo":
		return wrap{letters: "ughpCrtTRD", longs: " --user --group --host --prompt --close-from --role --type --command-timeout --chroot --chdir ", assigns: true, off: " -l -v -K -k -e --list --validate --edit "}, true
	case "doas":
		return wrap{letters: "uC"}, true
	case "env":
		return wrap{letters: "uC", longs: " --unset --chdir ", assigns: true, inline: " -S --split-string "}, true
	case "command":
		return wrap{off: " -v -V "}, true
	case "builtin", "nohup", "setsid", "busybox", "toybox", "fakeroot", "unbuffer", "torsocks", "proxychains", "proxychains4", "ccache", "dbus-run-session", "catchsegv", "noglob", "proot", "firejail", "prlimit", "dotenv":
		return wrap{}, true
	case "exec":
		return wrap{letters: "a"}, true
	case "timeout", "gtimeout":
		return wrap{letters: "ks", longs: " --kill-after --signal ", skip: 1}, true
	case "nice":
		return wrap{letters: "n", longs: " --adjustment "}, true
	case "ionice":
		return wrap{letters: "cnp"}, true
	case "stdbuf":
		return wrap{letters: "ioe", longs: " --input --output --error "}, true
	case "time":
		return wrap{letters: "fo", longs: " --format --output "}, true
	case "chroot":
		return wrap{skip: 1}, true
	case "chrt", "setarch", "taskset", "linux64", "i386":
		return wrap{skip: 1}, true
	case "flock":
		return wrap{letters: "wE", longs: " --timeout --conflict-exit-code ", skip: 1, inline: " -c --command "}, true
	case "unshare", "nsenter":
		return wrap{letters: "tSGRw", longs: " --target --setuid --setgid --root --wd "}, true
	case "strace", "ltrace":
		return wrap{letters: "eopsuaEbIPSX"}, true
	case "xvfb-run":
		return wrap{letters: "aefnpsw"}, true
	case "watch":
		return wrap{letters: "nd", longs: " --interval ", shell: true}, true
	case "xargs", "gxargs":
		return wrap{letters: "InPLsdaE", longs: " --replace --max-args --max-procs --max-lines --max-chars --delimiter --arg-file --eof ", stdin: true}, true
	case "parallel":
		return wrap{letters: "jNnLaIS", longs: " --jobs --max-args --arg-file ", stdin: true}, true
	case "su", "runuser":
		return wrap{letters: "gGsw", longs: " --group --supp-group --shell ", inline: " -c --command ", skip: 1 << 10}, true
	case "script":
		return wrap{letters: "EImoOTBt", inline: " -c --command ", skip: 1 << 10}, true
	case "nix-shell":
		return wrap{inline: " --run --command ", skip: 1 << 10}, true
	case "ssh":
		return wrap{letters: "BbcDEeFIiJLlmOopQRSWw", skip: 1, shell: true}, true
	case "systemd-run":
		return wrap{letters: "pugEHMd", longs: " --property --unit --uid --gid --setenv --working-directory --slice --description "}, true
	case "sshpass":
		return wrap{letters: "pfe"}, true
	}
	return wrap{}, false
}

// wrapped follows the command that a wrapper runs.
func (w *walker) wrapped(f *frame, at int, by string, spec wrap, args []Word, in stream) text {
	skip, i := spec.skip, 0
	replace := ""
	marked := false
	for ; i < len(args); i++ {
		a := args[i]
		t := a.Text
		if spec.off != "" && strings.Contains(spec.off, " "+t+" ") {
			return text{}
		}
		switch {
		case t == "--" && skip == spec.skip:
			continue
		case len(t) > 1 && t[0] == '-' && !a.Dynamic:
			key, value, joined := strings.Cut(t, "=")
			if spec.inline != "" {
				if rest, ok := inlineValue(spec.inline, t); ok {
					if rest == "" && joined {
						rest = value
					}
					words := []Word{{Text: rest}}
					if rest == "" {
						if i+1 >= len(args) {
							return text{}
						}
						words = args[i+1 : i+2]
						i++
					}
					marked = true
					w.code(f.fork(), at, by, words, in)
					continue
				}
			}
			if strings.HasPrefix(t, "--") {
				if !joined && strings.Contains(spec.longs, " "+key+" ") {
					i++
				}
				if key == "--replace" {
					replace = "{}"
					if joined {
						replace = value
					}
				}
				continue
			}
			if spec.stdin && t[1] == 'i' {
				replace = "{}"
			}
			for j := 1; j < len(t); j++ {
				if strings.IndexByte(spec.letters, t[j]) < 0 {
					continue
				}
				given := t[j+1:]
				if given == "" && i+1 < len(args) {
					i++
					given = args[i].Text
				}
				if spec.stdin && t[j] == 'I' {
					replace = given
				}
				break
			}
			continue
		case spec.assigns && isAssign(t):
			continue
		case skip > 0:
			skip--
			continue
		}
		break
	}
	rest := args[min(i, len(args)):]
	if len(rest) == 0 {
		if spec.stdin { // xargs alone echoes
			return text{}
		}
		return text{known: marked}
	}
	w.mark(at, CodeKnown)
	switch {
	case spec.shell:
		return w.code(f.fork(), at, by, rest, in)
	case spec.stdin:
		return w.again(f.fork(), by, fed(rest, in, replace), stream{text{"", true}, StdinNone})
	case by == "exec" || by == "command" || by == "builtin":
		return w.again(f, by, rest, in)
	}
	return w.again(f.fork(), by, rest, in)
}

// inlineValue says whether an option is one whose value is a command line, and what is written with it.
func inlineValue(inline, option string) (string, bool) {
	for _, name := range strings.Fields(inline) {
		switch {
		case option == name:
			return "", true
		case strings.HasPrefix(name, "--") && strings.HasPrefix(option, name+"="):
			return option[len(name)+1:], true
		case len(name) == 2 && len(option) > 2 && option[1] != '-':
			// -ic TEXT, or -cTEXT
			if strings.HasSuffix(option, name[1:]) && !strings.ContainsAny(option, " \t") {
				return "", true
			}
			if option[1] == name[1] {
				return option[2:], true
			}
		}
	}
	return "", false
}

func isAssign(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return false
	}
	for i := 0; i < len(name); i++ {
		c := name[i] | 0x20
		if (c < 'a' || c > 'z') && name[i] != '_' && (i == 0 || name[i] < '0' || name[i] > '9') {
			return false
		}
	}
	return true
}

// fed is the command that xargs makes of its operands and its input.
func fed(argv []Word, in stream, replace string) []Word {
	var words []Word
	for _, s := range strings.Fields(strings.ReplaceAll(in.s, "\x00", " ")) {
		words = append(words, Word{Text: strings.Trim(s, `"'`)})
	}
	if !in.known || len(words) > maxFields {
		words = []Word{{Text: "{}", Dynamic: true}}
	}
	if replace == "" {
		return append(append([]Word(nil), argv...), words...)
	}
	out := append([]Word(nil), argv...)
	with, dynamic := joinWords(words)
	for i := range out {
		if strings.Contains(out[i].Text, replace) {
			out[i].Dynamic = out[i].Dynamic || dynamic
			if !dynamic && len(with) < maxPattern && strings.Count(out[i].Text, replace) < 16 {
				out[i].Text = strings.ReplaceAll(out[i].Text, replace, with)
			}
		}
	}
	return out
}

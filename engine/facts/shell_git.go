package facts

import "strings"

// git follows the texts that git hands to a shell: settings of -c that are commands, and those of some subcommands (git-config(1),
// git-submodule(1), git-rebase(1), git-bisect(1), git-filter-branch(1)).
func (w *walker) git(f *frame, at int, args []Word) {
	i := 0
	for i < len(args) && strings.HasPrefix(args[i].Text, "-") {
		switch args[i].Text {
		case "-c":
			if i+1 < len(args) {
				w.gitSetting(f, at, args[i+1])
			}
			i++
		case "-C", "--git-dir", "--work-tree", "--namespace", "--exec-path":
			i++
		}
		i++
	}
	if i >= len(args) {
		return
	}
	rest := args[i+1:]
	switch args[i].Text {
	case "submodule":
		for j := range rest {
			if rest[j].Text == "foreach" {
				if text := operands(rest[j+1:]); len(text) > 0 {
					w.code(f.fork(), at, "git submodule foreach", text, stream{})
				}
				return
			}
		}
	case "bisect":
		if len(rest) > 1 && rest[0].Text == "run" {
			w.mark(at, CodeKnown)
			w.again(f.fork(), "git bisect run", rest[1:], stream{})
		}
	case "rebase", "filter-branch", "difftool", "mergetool":
		for j := 0; j < len(rest); j++ {
			name, value, joined := strings.Cut(rest[j].Text, "=")
			switch name {
			case "-x", "--exec", "--tree-filter", "--index-filter", "--msg-filter", "--env-filter", "--commit-filter", "--parent-filter", "--tag-name-filter", "--extcmd":
			default:
				continue
			}
			text := Word{Text: value, Dynamic: rest[j].Dynamic}
			if !joined {
				if j++; j == len(rest) {
					return
				}
				text = rest[j]
			}
			w.code(f.fork(), at, "git "+args[i].Text+" "+name, []Word{text}, stream{})
		}
	}
}

// gitSetting follows NAME=COMMAND where git runs the value.
func (w *walker) gitSetting(f *frame, at int, word Word) {
	name, value, ok := strings.Cut(word.Text, "=")
	name = strings.ToLower(name)
	if !ok {
		return
	}
	if strings.HasPrefix(name, "alias.") || name == "credential.helper" {
		if value, ok = strings.CutPrefix(value, "!"); !ok {
			return
		}
	} else {
		switch name {
		case "core.editor", "core.pager", "core.sshcommand", "core.fsmonitor", "core.askpass", "sequence.editor", "diff.external", "gpg.program", "interactive.difffilter":
		default:
			if !strings.HasSuffix(name, ".cmd") && !strings.HasSuffix(name, ".textconv") && !strings.HasSuffix(name, ".clean") && !strings.HasSuffix(name, ".smudge") && !strings.HasPrefix(name, "pager.") {
				return
			}
		}
	}
	w.code(f.fork(), at, "git -c "+name, []Word{{Text: value, Dynamic: word.Dynamic}}, stream{})
}

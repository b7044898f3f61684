package facts

import (
	"path"
	"strings"
)

// use says what a command does with its operands.
type use struct {
	op    Op
	last  Op  // with the last operand, where that differs
	skip  int // operands that are no paths: a pattern, a mode
	files bool
}

// operandUse knows the commands whose operands are files.
func operandUse(name string) use {
	switch name {
	case "cat", "tac", "head", "tail", "less", "more", "bat", "nl", "od", "xxd", "hexdump", "strings", "wc", "sort", "uniq", "cut", "diff", "cmp", "comm",
		"file", "stat", "md5sum", "sha1sum", "sha256sum", "cksum", "base64", "base32", "source", ".", "zcat", "gunzip", "readlink", "realpath", "jq", "yq":
		if name == "source" || name == "." {
			return use{op: OpExecute, files: true}
		}
		if name == "jq" || name == "yq" {
			return use{op: OpRead, skip: 1, files: true}
		}
		return use{op: OpRead, files: true}
	case "grep", "egrep", "fgrep", "rg", "ag", "ack":
		return use{op: OpRead, skip: 1, files: true}
	case "sed", "awk", "gawk", "perl":
		return use{op: OpUse, skip: 1, files: true}
	case "rm", "rmdir", "unlink", "shred", "srm", "trash":
		return use{op: OpDelete, files: true}
	case "touch", "mkdir", "tee", "truncate", "mkfifo", "install", "mktemp", "patch", "split":
		return use{op: OpWrite, files: true}
	case "chmod", "chown", "chgrp", "setfacl", "chattr":
		return use{op: OpWrite, skip: 1, files: true}
	case "cp", "ln", "link", "rsync", "scp":
		return use{op: OpRead, last: OpWrite, files: true}
	case "mv", "rename":
		return use{op: OpDelete, last: OpWrite, files: true}
	case "ls", "dir", "tree", "du", "cd", "pushd", "exa", "eza":
		return use{op: OpList, files: true}
	case "find", "fd":
		return use{op: OpSearch}
	case "bash", "sh", "dash", "zsh", "ksh", "python", "python3", "node", "ruby", "php", "lua":
		return use{op: OpExecute}
	case "echo", "printf", "test", "[", "git", "export", "set", "expr", "seq", "tr", "kill", "sleep", "date", "xargs", "eval":
		return use{op: OpUse}
	}
	return use{op: OpUse}
}

// shell adds the words of commands that are paths.
func (p *pathFinder) shell(s *Shell) {
	for i := range s.Commands {
		c := &s.Commands[i]
		base := p.c.cfg.Workspace
		if c.Cwd != "" {
			base = c.Cwd
		}
		add := func(w Word, op Op) {
			if w.Text == "" && !w.Dynamic {
				return
			}
			// A relative path in a folder that is not known is not known either.
			lost := c.CwdUnknown && !path.IsAbs(w.Text)
			p.add(Path{Raw: w.Text, Op: op, Arg: "command", Command: i, Glob: w.Glob, Dynamic: w.Dynamic || lost}, base)
		}
		for _, r := range c.Redirects {
			switch r.Op {
			case ">", ">>", ">|", "&>", "&>>", "<>":
				add(r.Target, OpWrite)
			case "<":
				add(r.Target, OpRead)
			case ">&":
				if !isDescriptor(r.Target.Text) {
					add(r.Target, OpWrite)
				}
			}
		}
		if len(c.Argv) == 0 {
			continue
		}
		if strings.Contains(c.Argv[0].Text, "/") {
			add(c.Argv[0], OpExecute)
		}
		p.operands(c, operandUse(path.Base(c.Argv[0].Text)), add)
	}
}

func isDescriptor(s string) bool { return s == "-" || s != "" && strings.Trim(s, "0123456789-") == "" }

// operands adds the operands of a command and the values of its options, as far as they are paths.
func (p *pathFinder) operands(c *Command, u use, add func(Word, Op)) {
	var operands []Word
	options := true
	for _, w := range c.Argv[1:] {
		switch {
		case options && w.Text == "--":
			options = false
		case options && len(w.Text) > 1 && w.Text[0] == '-':
			if _, value, ok := strings.Cut(w.Text, "="); ok && looksLikePath(value) {
				add(Word{Text: value, Dynamic: w.Dynamic, Glob: w.Glob}, OpUse)
			}
		default:
			operands = append(operands, w)
		}
	}
	for i, w := range operands {
		switch {
		case i < u.skip:
			continue
		case u.files && !remote(w.Text):
		case w.Dynamic && !strings.Contains(w.Text, "/"):
			continue
		case isAssign(w.Text): // dd's if=FILE, and NAME=FILE in general
			if _, value, _ := strings.Cut(w.Text, "="); looksLikePath(value) {
				op := OpUse
				if strings.HasPrefix(w.Text, "of=") {
					op = OpWrite
				}
				add(Word{Text: value, Dynamic: w.Dynamic, Glob: w.Glob}, op)
			}
			continue
		case !looksLikePath(w.Text):
			continue
		}
		op := u.op
		if u.last != "" && i == len(operands)-1 && i > 0 {
			op = u.last
		}
		add(w, op)
	}
}

// remote says whether a word is HOST:PATH or an address.
func remote(s string) bool {
	colon := strings.IndexByte(s, ':')
	slash := strings.IndexByte(s, '/')
	return colon > 0 && (slash < 0 || colon < slash) && !strings.HasPrefix(s, ".")
}

// looksLikePath says whether a word of which nothing is known is likely a path.
func looksLikePath(s string) bool {
	if s == "" || len(s) > maxPathBytes || strings.ContainsAny(s, "\n\t") || remote(s) {
		return false
	}
	return s == "." || s == ".." || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") || s[0] == '/' || s[0] == '~' ||
		s[0] == '.' && len(s) > 1 && s[1] != '.' || strings.IndexByte(s, '/') > 0 && !strings.ContainsAny(s, " $`'\"();|&<>")
}

package facts

import (
	"strconv"

	"weir/engine/wire"
)

// Shell is what a command line would run. See the package documentation for its JSON.
type Shell struct {
	Understood bool
	Reason     string // with Understood false
	Commands   []Command
}

// Command is one simple command.
type Command struct {
	Argv       []Word
	Assigns    []Assign
	Redirects  []Redirect
	In         []string
	Code       Code
	Cwd        string // "" where it is the workspace
	CwdUnknown bool
	Pipeline   int // 0 outside of one
	Stage      int
	Stdin      Stdin
}

// Word is a word after expansion.
type Word struct {
	Text    string
	Dynamic bool // not known before it runs; Text has the unknown parts as they were written
	Glob    bool // holds an unquoted wildcard
}

// Assign is an assignment to a variable.
type Assign struct {
	Name  string
	Value Word
}

// Redirect is a redirection. Target is the file, the descriptor, or a here-document's end word.
type Redirect struct {
	Op     string
	Fd     int // -2 when not given, -1 when it is a variable
	Target Word
}

// Code says what else runs with a command. The zero value is nothing.
type Code uint8

// The codes.
const (
	CodeNone Code = iota
	CodeKnown
	CodeUnknown
	CodeFile
	CodeOther
)

// String is the word in the JSON.
func (c Code) String() string {
	switch c {
	case CodeKnown:
		return "known"
	case CodeUnknown:
		return "unknown"
	case CodeFile:
		return "file"
	case CodeOther:
		return "other"
	default:
		return ""
	}
}

// Stdin says where standard input comes from. The zero value is from nowhere in the text.
type Stdin uint8

// The sources of standard input.
const (
	StdinNone Stdin = iota
	StdinPipe
	StdinFile
	StdinHeredoc
	StdinHerestring
)

// String is the word in the JSON.
func (s Stdin) String() string {
	switch s {
	case StdinPipe:
		return "pipe"
	case StdinFile:
		return "file"
	case StdinHeredoc:
		return "heredoc"
	case StdinHerestring:
		return "herestring"
	default:
		return ""
	}
}

// Dynamic says that something of the command is not known before it runs.
func (c *Command) Dynamic() bool {
	for i := range c.Argv {
		if c.Argv[i].Dynamic {
			return true
		}
	}
	for i := range c.Assigns {
		if c.Assigns[i].Value.Dynamic {
			return true
		}
	}
	for i := range c.Redirects {
		if c.Redirects[i].Target.Dynamic {
			return true
		}
	}
	return false
}

func (s *Shell) appendJSON(b []byte) []byte {
	b = append(b, `{"understood":`...)
	b = strconv.AppendBool(b, s.Understood)
	if !s.Understood {
		b = append(b, `,"reason":`...)
		b = wire.AppendString(b, s.Reason)
	}
	b = append(b, `,"commands":[`...)
	for i := range s.Commands {
		if i > 0 {
			b = append(b, ',')
		}
		b = s.Commands[i].appendJSON(b)
	}
	return append(b, `]}`...)
}

func (c *Command) appendJSON(b []byte) []byte {
	b = append(b, `{"argv":[`...)
	unknown, globs := false, false
	for i := range c.Argv {
		if i > 0 {
			b = append(b, ',')
		}
		w := &c.Argv[i]
		b = wire.AppendString(b, w.Text)
		unknown = unknown || w.Dynamic
		globs = globs || w.Glob
	}
	b = append(b, ']')
	if unknown || c.Dynamic() {
		b = append(b, `,"dynamic":true`...)
	}
	if unknown {
		b = appendIndexes(b, `,"unknown":[`, c.Argv, func(w *Word) bool { return w.Dynamic })
	}
	if globs {
		b = appendIndexes(b, `,"globs":[`, c.Argv, func(w *Word) bool { return w.Glob })
	}
	for i := range c.Assigns {
		if i == 0 {
			b = append(b, `,"assigns":[`...)
		} else {
			b = append(b, ',')
		}
		a := &c.Assigns[i]
		b = append(b, `{"name":`...)
		b = wire.AppendString(b, a.Name)
		b = append(b, `,"value":`...)
		b = wire.AppendString(b, a.Value.Text)
		b = closeDynamic(b, a.Value.Dynamic)
	}
	if len(c.Assigns) > 0 {
		b = append(b, ']')
	}
	for i := range c.Redirects {
		if i == 0 {
			b = append(b, `,"redirects":[`...)
		} else {
			b = append(b, ',')
		}
		r := &c.Redirects[i]
		b = append(b, `{"op":`...)
		b = wire.AppendString(b, r.Op)
		if r.Fd != fdAbsent {
			b = append(b, `,"fd":`...)
			b = strconv.AppendInt(b, int64(r.Fd), 10)
		}
		b = append(b, `,"target":`...)
		b = wire.AppendString(b, r.Target.Text)
		b = closeDynamic(b, r.Target.Dynamic)
	}
	if len(c.Redirects) > 0 {
		b = append(b, ']')
	}
	for i, in := range c.In {
		if i == 0 {
			b = append(b, `,"in":[`...)
		} else {
			b = append(b, ',')
		}
		b = wire.AppendString(b, in)
	}
	if len(c.In) > 0 {
		b = append(b, ']')
	}
	if c.Code != CodeNone {
		b = append(b, `,"code":"`...)
		b = append(b, c.Code.String()...)
		b = append(b, '"')
	}
	if c.CwdUnknown {
		b = append(b, `,"cwdUnknown":true`...)
	} else if c.Cwd != "" {
		b = append(b, `,"cwd":`...)
		b = wire.AppendString(b, c.Cwd)
	}
	if c.Pipeline > 0 {
		b = append(b, `,"pipeline":`...)
		b = strconv.AppendInt(b, int64(c.Pipeline), 10)
		b = append(b, `,"stage":`...)
		b = strconv.AppendInt(b, int64(c.Stage), 10)
	}
	if c.Stdin != StdinNone {
		b = append(b, `,"stdin":"`...)
		b = append(b, c.Stdin.String()...)
		b = append(b, '"')
	}
	return append(b, '}')
}

func closeDynamic(b []byte, dynamic bool) []byte {
	if dynamic {
		b = append(b, `,"dynamic":true`...)
	}
	return append(b, '}')
}

func appendIndexes(b []byte, open string, words []Word, has func(*Word) bool) []byte {
	b = append(b, open...)
	first := true
	for i := range words {
		if !has(&words[i]) {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = strconv.AppendInt(b, int64(i), 10)
	}
	return append(b, ']')
}

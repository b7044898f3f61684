package weir

// Facts are what the host worked out about a call before it asked. An event has
// the kinds that the hook named with [Hook.Facts]; of the others, and where the
// host sent none, ok is false: treat that as a call of which nothing is known.
// What the methods return is a copy that can be kept. Each call reads the facts
// anew.
type Facts struct{ v Value }

// Facts returns what the host worked out about the call.
func (c *ToolCall) Facts() Facts { return Facts{c.event.Get("facts")} }

// Facts returns what the host worked out about the call and its result.
func (r *ToolResult) Facts() Facts { return Facts{r.event.Get("facts")} }

// ShellFacts are the commands that the text of a call would run.
type ShellFacts struct {
	// Understood says that the text was followed to its end. Otherwise Reason
	// says why not, and Commands are those found until then.
	Understood bool
	Reason     string
	Commands   []ShellCommand
}

// ShellCommand is a simple command, at any depth of the text.
type ShellCommand struct {
	// Argv are its words as the shell would resolve them; none for a redirection
	// or an assignment that stands alone. Those that are not known before it
	// runs stand there as the text has them: see Word.
	Argv []string
	// Dynamic says that a word, an assignment or a target is not known.
	Dynamic bool
	Unknown []int // indexes of the words that are not known
	Globs   []int // indexes of the words that stand for names of files
	Assigns []ShellAssign
	// Redirects are its redirections.
	Redirects []ShellRedirect
	// In is the way in, outermost first: subshell, loop, sudo, "bash -c" …
	In []string
	// Code is what else runs with it: "known" (text that was read), "unknown",
	// "file", "other" (another language), or "".
	Code string
	// CWD is the folder it runs in where cd changed it, otherwise "".
	CWD        string
	CWDUnknown bool
	Pipeline   int    // its pipeline, from 1; 0 outside of one
	Stage      int    // its place there, from 0
	Stdin      string // pipe, file, heredoc, herestring or ""
}

// ShellAssign is NAME=VALUE before a command, or alone.
type ShellAssign struct {
	Name, Value string
	Dynamic     bool
}

// ShellRedirect is a redirection. FD is -1 when the text names none or a variable.
type ShellRedirect struct {
	Op, Target string
	FD         int
	Dynamic    bool
}

// Word returns a word of the command. ok is false when there is none, or when
// it is not known before the command runs.
func (c *ShellCommand) Word(i int) (word string, ok bool) {
	if i < 0 || i >= len(c.Argv) {
		return "", false
	}
	for _, u := range c.Unknown {
		if u == i {
			return "", false
		}
	}
	return c.Argv[i], true
}

// Shell returns facts.shell.
func (f Facts) Shell() (facts ShellFacts, ok bool) {
	v := f.v.Get("shell")
	facts = ShellFacts{Understood: v.Get("understood").Bool(false), Reason: v.Get("reason").Str()}
	for c := range v.Get("commands").Elements() {
		command := ShellCommand{
			Argv: c.Get("argv").Strs(), Dynamic: c.Get("dynamic").Bool(false), Unknown: c.Get("unknown").ints(), Globs: c.Get("globs").ints(),
			In: c.Get("in").Strs(), Code: c.Get("code").Str(), CWD: c.Get("cwd").Str(), CWDUnknown: c.Get("cwdUnknown").Bool(false),
			Pipeline: int(c.Get("pipeline").Int(0)), Stage: int(c.Get("stage").Int(0)), Stdin: c.Get("stdin").Str(),
		}
		for a := range c.Get("assigns").Elements() {
			command.Assigns = append(command.Assigns, ShellAssign{a.Get("name").Str(), a.Get("value").Str(), a.Get("dynamic").Bool(false)})
		}
		for r := range c.Get("redirects").Elements() {
			command.Redirects = append(command.Redirects, ShellRedirect{r.Get("op").Str(), r.Get("target").Str(), int(r.Get("fd").Int(-1)), r.Get("dynamic").Bool(false)})
		}
		facts.Commands = append(facts.Commands, command)
	}
	return facts, v.Kind() == KindObject
}

// PathFacts are the paths that a call names.
type PathFacts struct {
	Workspace string // with symbolic links resolved
	Paths     []PathFact
	Truncated bool // there are more
}

// PathFact is a path. When it is Dynamic, it is not known before the call runs,
// and only Raw, Arg, Command, Op and Glob say something.
type PathFact struct {
	Raw        string // as the argument has it
	Abs        string
	Real       string // with symbolic links resolved
	Unresolved bool   // as far as that went
	Inside     bool   // in the workspace
	Own        bool   // a file of weir itself
	HoldsOwn   bool   // a folder with one
	Exists     bool
	Kind       string // file, dir, symlink, fifo, socket, device, missing
	Links      int    // hard links, where a file has more than one
	Op         string // read, write, list, search, delete, execute, use
	Arg        string // the argument it comes from
	Command    int    // for the argument command, its index in ShellFacts.Commands; otherwise -1
	Glob       bool   // it holds a wildcard; Abs and Real are of the part before
	Dynamic    bool
}

// Paths returns facts.paths.
func (f Facts) Paths() (facts PathFacts, ok bool) {
	v := f.v.Get("paths")
	facts = PathFacts{Workspace: v.Get("workspace").Str(), Truncated: v.Get("truncated").Bool(false)}
	for p := range v.Get("paths").Elements() {
		is := func(key string) bool { return p.Get(key).Bool(false) }
		facts.Paths = append(facts.Paths, PathFact{
			Raw: p.Get("raw").Str(), Abs: p.Get("abs").Str(), Real: p.Get("real").Str(), Unresolved: is("unresolved"),
			Inside: is("inside"), Own: is("own"), HoldsOwn: is("holdsOwn"), Exists: is("exists"), Kind: p.Get("kind").Str(), Links: int(p.Get("links").Int(0)),
			Op: p.Get("op").Str(), Arg: p.Get("arg").Str(), Command: int(p.Get("command").Int(-1)), Glob: is("glob"), Dynamic: is("dynamic"),
		})
	}
	return facts, v.Kind() == KindObject
}

// NetFacts are the hosts that a call names.
type NetFacts struct {
	Hosts     []HostFact
	Truncated bool // there are more
}

// HostFact is a host.
type HostFact struct {
	Raw      string // the text that it was found in
	Scheme   string // "" when there was none
	Host     string // lower case, punycode; an address in its usual form
	Port     int    // 0 when it is not known
	Userinfo bool   // a user or a password stands before it
	IP       bool
	Odd      bool   // an address in an unusual form
	Scope    string // public, loopback, private, linklocal, unspecified, multicast; "" for most names
	Dynamic  bool   // a part is not known before the call runs
}

// Net returns facts.net.
func (f Facts) Net() (facts NetFacts, ok bool) {
	v := f.v.Get("net")
	facts.Truncated = v.Get("truncated").Bool(false)
	for h := range v.Get("hosts").Elements() {
		is := func(key string) bool { return h.Get(key).Bool(false) }
		facts.Hosts = append(facts.Hosts, HostFact{
			h.Get("raw").Str(), h.Get("scheme").Str(), h.Get("host").Str(), int(h.Get("port").Int(0)),
			is("userinfo"), is("ip"), is("odd"), h.Get("scope").Str(), is("dynamic"),
		})
	}
	return facts, v.Kind() == KindObject
}

// SecretFacts are places in a result that look like credentials.
type SecretFacts struct {
	Spans     []Span
	Base64    []Span // encoded blocks in which no secret was looked for
	Truncated bool   // there are more
}

// Span is the bytes [Start, End) of the text of a content block.
type Span struct {
	Block, Start, End int
	Kind              string // "" in Base64
}

// Secrets returns facts.secrets; a tool_call has none.
func (f Facts) Secrets() (facts SecretFacts, ok bool) {
	v := f.v.Get("secrets")
	return SecretFacts{v.Get("spans").spans(), v.Get("base64").spans(), v.Get("truncated").Bool(false)}, v.Kind() == KindObject
}

func (v Value) spans() (list []Span) {
	for s := range v.Elements() {
		list = append(list, Span{int(s.Get("block").Int(-1)), int(s.Get("start").Int(-1)), int(s.Get("end").Int(-1)), s.Get("kind").Str()})
	}
	return list
}

func (v Value) ints() (list []int) {
	for e := range v.Elements() {
		list = append(list, int(e.Int(-1)))
	}
	return list
}

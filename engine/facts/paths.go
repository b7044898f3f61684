package facts

import (
	"path/filepath"
	"strconv"
	"strings"

	"weir/engine/wire"
)

// maxPaths is how many paths of one event are looked up.
const maxPaths = 256

// Paths are the paths of an event. See the package documentation for the JSON.
type Paths struct {
	Workspace string // with symbolic links resolved
	List      []Path
	Truncated bool
}

// Path is one path, as the disk was when it was looked up.
type Path struct {
	Raw, Abs, Real string
	Inside         bool
	Own            bool // is weir's own, or lies in it
	HoldsOwn       bool // weir's own lies in it
	Unresolved     bool
	Exists         bool
	Kind           string
	Links          uint64 // more than 1 for a file with several names, else 0
	Op             Op
	Arg            string
	Command        int // of the shell facts; -1 for other arguments
	Glob           bool
	Dynamic        bool
}

// Op says what is done with a path.
type Op string

// The operations.
const (
	OpRead    Op = "read"
	OpWrite   Op = "write"
	OpList    Op = "list"
	OpSearch  Op = "search"
	OpDelete  Op = "delete"
	OpExecute Op = "execute"
	OpUse     Op = "use"
)

// Paths gives the paths in the arguments.
func (e *Event) Paths() *Paths {
	p := &pathFinder{c: e.c, out: &Paths{Workspace: e.c.root}}
	args := e.arguments()
	switch e.tool {
	case "read":
		p.argument(args, "path", OpRead)
	case "write", "edit":
		p.argument(args, "path", OpWrite)
	case "ls":
		p.folder(args, OpList)
	case "grep":
		p.folder(args, OpSearch)
		p.pattern(args, "glob")
	case "find":
		p.folder(args, OpSearch)
		p.pattern(args, "pattern")
	default:
		for _, name := range args.names {
			s, isText := args.text(name)
			switch {
			case isText && name == "command":
				p.shell(e.Shell())
			case isText && isPatch(s):
				p.patch(s, name)
			case isText && isPathName(name):
				p.add(Path{Raw: s, Arg: name, Op: OpUse, Command: -1}, e.c.cfg.Workspace)
			case isPathName(name):
				for _, s := range args.lists[name] {
					p.add(Path{Raw: s, Arg: name, Op: OpUse, Command: -1}, e.c.cfg.Workspace)
				}
			}
		}
	}
	return p.out
}

type pathFinder struct {
	c   *Computer
	out *Paths
}

func (p *pathFinder) argument(args arguments, name string, op Op) {
	if s, ok := args.text(name); ok {
		p.add(Path{Raw: s, Arg: name, Op: op, Command: -1}, p.c.cfg.Workspace)
	}
}

// folder is the argument path of tools for which the workspace is the default.
func (p *pathFinder) folder(args arguments, op Op) {
	s, _ := args.text("path")
	if s == "" {
		s = "."
	}
	p.add(Path{Raw: s, Arg: "path", Op: op, Command: -1}, p.c.cfg.Workspace)
}

// pattern is a wildcard that is looked for below the argument path.
func (p *pathFinder) pattern(args arguments, name string) {
	s, ok := args.text(name)
	if !ok || s == "" {
		return
	}
	base := p.c.cfg.Workspace
	if dir, _ := args.text("path"); dir != "" {
		base = p.c.toolPath(dir, base)
	}
	p.add(Path{Raw: s, Arg: name, Op: OpSearch, Command: -1, Glob: true}, base)
}

// add looks a path up. base is what a relative one starts at.
func (p *pathFinder) add(path Path, base string) {
	if len(p.out.List) == maxPaths {
		p.out.Truncated = true
		return
	}
	if !path.Dynamic {
		fixed := path.Raw
		if path.Glob {
			fixed = beforeWildcard(fixed)
		}
		if path.Command >= 0 {
			path.Abs = shellPath(fixed, base)
		} else {
			path.Abs = p.c.toolPath(fixed, base)
		}
		p.c.look(&path)
	}
	p.out.List = append(p.out.List, path)
}

// toolPath is a path as the tools open it: ~ is the home folder, . and .. go by the text.
func (c *Computer) toolPath(path, base string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		if c.cfg.Home != "" {
			return filepath.Join(c.cfg.Home, path[1:])
		}
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// shellPath is a path as a program opens it: the kernel follows .. after links, so that it stays in the text.
func shellPath(path, base string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return base + "/" + path
}

// beforeWildcard is the folder that a pattern starts in.
func beforeWildcard(pattern string) string {
	at := strings.IndexAny(pattern, "*?[{")
	if at < 0 {
		return pattern
	}
	slash := strings.LastIndexByte(pattern[:at], '/')
	switch {
	case slash < 0:
		return "."
	case slash == 0:
		return "/"
	}
	return pattern[:slash]
}

// look fills in what the disk says. Abs is set; it may still hold . and .. when it comes from a shell.
func (c *Computer) look(p *Path) {
	var found entry
	p.Real, found, p.Unresolved = realPath(p.Abs)
	p.Abs = filepath.Clean(p.Abs)
	p.Exists, p.Kind, p.Links = found.exists, found.kind, found.links
	p.Inside = c.root != "" && within(p.Real, c.root)
	for _, own := range c.own {
		if within(p.Real, own) || within(p.Abs, own) {
			p.Own = true
		} else if within(own, p.Real) {
			p.HoldsOwn = true
		}
	}
}

// within says whether path is folder or lies in it. Both are clean.
func within(path, folder string) bool {
	if !strings.HasPrefix(path, folder) {
		return false
	}
	return len(path) == len(folder) || path[len(folder)] == filepath.Separator || folder[len(folder)-1] == filepath.Separator
}

func (c *Computer) resolveConfig() {
	if c.cfg.Workspace != "" {
		c.root, _, _ = realPath(c.cfg.Workspace)
	}
	seen := map[string]bool{}
	for _, own := range c.cfg.Own {
		real, _, _ := realPath(own)
		for _, path := range [...]string{filepath.Clean(own), real} {
			if !seen[path] {
				seen[path] = true
				c.own = append(c.own, path)
			}
		}
	}
}

func (p *Paths) appendJSON(b []byte) []byte {
	b = append(b, `{"workspace":`...)
	b = wire.AppendString(b, p.Workspace)
	b = append(b, `,"paths":[`...)
	for i := range p.List {
		if i > 0 {
			b = append(b, ',')
		}
		b = p.List[i].appendJSON(b)
	}
	b = append(b, ']')
	if p.Truncated {
		b = append(b, `,"truncated":true`...)
	}
	return append(b, '}')
}

func (p *Path) appendJSON(b []byte) []byte {
	b = append(b, `{"raw":`...)
	b = wire.AppendString(b, p.Raw)
	b = append(b, `,"op":`...)
	b = wire.AppendString(b, string(p.Op))
	b = append(b, `,"arg":`...)
	b = wire.AppendString(b, p.Arg)
	if p.Command >= 0 {
		b = append(b, `,"command":`...)
		b = strconv.AppendInt(b, int64(p.Command), 10)
	}
	if p.Glob {
		b = append(b, `,"glob":true`...)
	}
	if p.Dynamic {
		return append(b, `,"dynamic":true}`...)
	}
	b = append(b, `,"abs":`...)
	b = wire.AppendString(b, p.Abs)
	b = append(b, `,"real":`...)
	b = wire.AppendString(b, p.Real)
	b = append(b, `,"inside":`...)
	b = strconv.AppendBool(b, p.Inside)
	b = append(b, `,"own":`...)
	b = strconv.AppendBool(b, p.Own)
	if p.HoldsOwn {
		b = append(b, `,"holdsOwn":true`...)
	}
	if p.Unresolved {
		b = append(b, `,"unresolved":true`...)
	}
	b = append(b, `,"exists":`...)
	b = strconv.AppendBool(b, p.Exists)
	b = append(b, `,"kind":`...)
	b = wire.AppendString(b, p.Kind)
	if p.Links > 1 {
		b = append(b, `,"links":`...)
		b = strconv.AppendUint(b, p.Links, 10)
	}
	return append(b, '}')
}

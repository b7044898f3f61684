package facts

import "strings"

// isPatch says whether an argument is a patch in one of the two forms that agents use.
func isPatch(s string) bool {
	return strings.HasPrefix(s, "*** Begin Patch") || strings.Contains(s, "\n*** Begin Patch") || strings.HasPrefix(s, "--- ") && strings.Contains(s, "\n+++ ") ||
		strings.HasPrefix(s, "diff --git ")
}

// patch adds each file that a patch names.
func (p *pathFinder) patch(s, arg string) {
	add := func(name string, op Op) {
		name = strings.TrimRight(name, "\r")
		if name != "" && name != "/dev/null" {
			p.add(Path{Raw: name, Op: op, Arg: arg, Command: -1}, p.c.cfg.Workspace)
		}
	}
	unified := !strings.Contains(s, "*** Begin Patch")
	for line := range strings.SplitSeq(s, "\n") {
		if unified {
			switch {
			case strings.HasPrefix(line, "--- "):
				add(diffName(line[4:]), OpRead)
			case strings.HasPrefix(line, "+++ "):
				add(diffName(line[4:]), OpWrite)
			case strings.HasPrefix(line, "rename to "):
				add(line[len("rename to "):], OpWrite)
			case strings.HasPrefix(line, "rename from "):
				add(line[len("rename from "):], OpDelete)
			}
			continue
		}
		for _, h := range [...]struct {
			prefix string
			op     Op
		}{{"*** Add File: ", OpWrite}, {"*** Update File: ", OpWrite}, {"*** Delete File: ", OpDelete}, {"*** Move to: ", OpWrite}} {
			if name, ok := strings.CutPrefix(line, h.prefix); ok {
				add(name, h.op)
			}
		}
	}
}

// diffName is the file of a header line: without its time, and without git's a/ and b/.
func diffName(s string) string {
	s, _, _ = strings.Cut(s, "\t")
	if len(s) > 2 && (s[0] == 'a' || s[0] == 'b') && s[1] == '/' {
		return s[2:]
	}
	return s
}

package facts

import (
	"encoding/json"
	"slices"
	"strings"
)

// arguments are a tool's arguments: the text ones, in the order of their keys.
type arguments struct {
	names []string
	texts map[string]string
	lists map[string][]string
}

// parseArguments reads the arguments. What is no object has none.
func parseArguments(raw json.RawMessage) arguments {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return arguments{}
	}
	a := arguments{texts: make(map[string]string, len(fields))}
	for name, v := range fields {
		var s string
		if len(v) > 0 && v[0] == '"' && json.Unmarshal(v, &s) == nil {
			a.texts[name] = s
			a.names = append(a.names, name)
			continue
		}
		var list []string
		if len(v) > 0 && v[0] == '[' && json.Unmarshal(v, &list) == nil && len(list) > 0 {
			if a.lists == nil {
				a.lists = map[string][]string{}
			}
			a.lists[name] = list
			a.names = append(a.names, name)
		}
	}
	slices.Sort(a.names)
	return a
}

func (a arguments) text(name string) (string, bool) {
	s, ok := a.texts[name]
	return s, ok
}

// pathNames are the arguments of other tools that hold paths, as tools of agents and of MCP servers name them.
func isPathName(name string) bool {
	switch n := strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(name, "_", ""), "-", "")); n {
	case "path", "paths", "file", "files", "filepath", "filepaths", "filename", "dir", "directory", "folder", "cwd", "workdir", "workingdirectory",
		"root", "source", "destination", "src", "dst", "dest", "target", "oldpath", "newpath", "absolutepath", "relativepath", "notebookpath":
		return true
	}
	return false
}

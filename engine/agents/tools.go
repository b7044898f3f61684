package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// tool says what a native tool is in weir's terms.
type tool struct {
	name  string // canonical
	shape shape
	args  []argument
}

// argument is an argument of another name. Exactly one of the native names may be given, and the canonical one beside it not.
type argument struct {
	canonical string
	native    []string
	needed    bool // and a text
	millis    bool // natively milliseconds, in weir's terms seconds
}

// shape is how arguments differ beyond their names.
type shape int

const (
	shapePlain    shape = iota
	shapeEdit           // one replacement beside the path
	shapeEdits          // a list of them
	shapeReadMany       // a list of paths
	shapeRemove         // removes a file: weir has no tool for it, it is judged as the command
	shapePatch          // a patch of many files
)

func path(needed bool, native ...string) argument {
	return argument{canonical: "path", native: append([]string{"path"}, native...), needed: needed}
}

func command() argument {
	return argument{canonical: "command", native: []string{"command"}, needed: true}
}

// asIs is a tool that weir does not know: it keeps its name and arguments.
func asIs(name string, raw json.RawMessage) Call {
	return Call{Tool: name, Input: raw, back: func(r json.RawMessage) (json.RawMessage, error) { return r, nil }}
}

// calls are what a native call amounts to.
func (t tool) calls(raw json.RawMessage) ([]Call, error) {
	in, err := parseObject(raw)
	if err != nil {
		return nil, err
	}
	switch t.shape {
	case shapePatch:
		text, err := in.text("command")
		if err != nil {
			return nil, err
		}
		return patchCalls(text)
	case shapeReadMany:
		return readMany(in)
	}
	out, used, err := t.rename(in)
	if err != nil {
		return nil, err
	}
	back := func(rewritten json.RawMessage) (json.RawMessage, error) {
		return t.back(rewritten, used)
	}
	var old, fresh string
	switch t.shape {
	case shapeRemove:
		p, err := out.text("path")
		if err != nil {
			return nil, err
		}
		return []Call{removal(p)}, nil
	case shapeEdit:
		if old, fresh, err = editKeys(out); err != nil {
			return nil, err
		}
		edit := encode(map[string]json.RawMessage{"oldText": out[old], "newText": out[fresh]})
		delete(out, old)
		delete(out, fresh)
		if _, both := out["edits"]; both {
			return nil, errors.New("the arguments hold one edit and a list of edits")
		}
		out["edits"] = slices.Concat([]byte("["), edit, []byte("]"))
		renamed := back
		back = func(rewritten json.RawMessage) (json.RawMessage, error) {
			return singleEdit(rewritten, old, fresh, renamed)
		}
	case shapeEdits:
		list, o, f, err := renameEdits(out["edits"], "", "")
		if err != nil {
			return nil, err
		}
		out["edits"] = list
		renamed := back
		back = func(rewritten json.RawMessage) (json.RawMessage, error) {
			now, err := parseObject(rewritten)
			if err != nil {
				return nil, err
			}
			if now["edits"], _, _, err = renameEdits(now["edits"], o, f); err != nil {
				return nil, err
			}
			return renamed(encode(now))
		}
	}
	input := json.RawMessage(encode(out))
	if t.shape == shapePlain && maps.EqualFunc(in, out, func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
		input = raw // nothing changed: byte for byte what the agent will run
	}
	return []Call{{Tool: t.name, Input: input, back: back}}, nil
}

// rename gives the arguments under canonical names, and which native name each had.
func (t tool) rename(in object) (out object, used map[string]argument, err error) {
	out, used = maps.Clone(in), map[string]argument{}
	for _, a := range t.args {
		found := ""
		for _, name := range a.native {
			if _, ok := in[name]; !ok {
				continue
			}
			if found != "" {
				return nil, nil, fmt.Errorf("the arguments hold both %q and %q", found, name)
			}
			found = name
		}
		if _, ok := in[a.canonical]; ok && found != "" && found != a.canonical {
			return nil, nil, fmt.Errorf("the arguments hold both %q and %q", found, a.canonical)
		}
		if found == "" {
			if a.needed {
				return nil, nil, fmt.Errorf("the arguments hold none of %s", strings.Join(a.native, ", "))
			}
			continue
		}
		value := in[found]
		if a.needed && value[0] != '"' {
			return nil, nil, fmt.Errorf("the argument %q is not a text", found)
		}
		if a.millis {
			if value, err = scale(value, 1.0/1000); err != nil {
				return nil, nil, fmt.Errorf("the argument %q: %w", found, err)
			}
		}
		delete(out, found)
		out[a.canonical] = value
		used[a.canonical] = argument{native: []string{found}, millis: a.millis}
	}
	return out, used, nil
}

// back gives rewritten arguments under the native names that the given ones had.
func (t tool) back(rewritten json.RawMessage, used map[string]argument) (json.RawMessage, error) {
	in, err := parseObject(rewritten)
	if err != nil {
		return nil, fmt.Errorf("the rewritten arguments: %w", err)
	}
	out := object{}
	for key, value := range in {
		for _, a := range t.args {
			if a.canonical != key {
				continue
			}
			u, ok := used[key]
			if !ok {
				u = argument{native: a.native[len(a.native)-1:], millis: a.millis}
			}
			if u.millis {
				if value, err = scale(value, 1000); err != nil {
					return nil, fmt.Errorf("the rewritten argument %q: %w", short(key), err)
				}
			}
			key = u.native[0]
			break
		}
		if _, twice := out[key]; twice {
			return nil, fmt.Errorf("the rewritten arguments hold %q twice", short(key))
		}
		out[key] = value
	}
	return encode(out), nil
}

func scale(raw json.RawMessage, by float64) (json.RawMessage, error) {
	if string(raw) == "null" {
		return raw, nil
	}
	var n float64
	if err := json.Unmarshal(raw, &n); err != nil {
		return nil, errors.New("it is not a number")
	}
	return json.Marshal(n * by)
}

// editKeys are the names that an edit has its two texts under.
func editKeys(in object) (old, fresh string, err error) {
	for _, pair := range [...][2]string{{"old_string", "new_string"}, {"old_str", "new_str"}} {
		_, o := in[pair[0]]
		_, f := in[pair[1]]
		switch {
		case o && f && old == "":
			old, fresh = pair[0], pair[1]
		case o || f:
			return "", "", fmt.Errorf("the edit holds %q and %q not as a pair", pair[0], pair[1])
		}
	}
	if old == "" {
		return "", "", errors.New("the edit does not hold its old and new text under names that are known")
	}
	return old, fresh, nil
}

// singleEdit puts a list of one edit back beside the path.
func singleEdit(rewritten json.RawMessage, old, fresh string, renamed func(json.RawMessage) (json.RawMessage, error)) (json.RawMessage, error) {
	in, err := parseObject(rewritten)
	if err != nil {
		return nil, err
	}
	var edits []json.RawMessage
	if err := json.Unmarshal(in["edits"], &edits); err != nil || len(edits) != 1 {
		return nil, errors.New("the agent's edit tool takes exactly one edit")
	}
	edit, err := parseObject(edits[0])
	if err != nil {
		return nil, err
	}
	if len(edit) != 2 || edit["oldText"] == nil || edit["newText"] == nil {
		return nil, errors.New("the rewritten edit is not oldText and newText")
	}
	delete(in, "edits")
	in[old], in[fresh] = edit["oldText"], edit["newText"]
	return renamed(encode(in))
}

// renameEdits gives a list of edits under canonical names, or with old and fresh under those.
func renameEdits(raw json.RawMessage, old, fresh string) (list json.RawMessage, usedOld, usedFresh string, err error) {
	var edits []json.RawMessage
	if err := json.Unmarshal(raw, &edits); err != nil || len(edits) == 0 {
		return nil, "", "", errors.New("the edits are not a list with something in it")
	}
	out := make([]object, len(edits))
	for i, e := range edits {
		in, err := parseObject(e)
		if err != nil {
			return nil, "", "", fmt.Errorf("edit %d: %w", i+1, err)
		}
		fromOld, fromFresh, toOld, toFresh := "oldText", "newText", old, fresh
		if old == "" {
			toOld, toFresh = "oldText", "newText"
			if fromOld, fromFresh, err = editKeys(in); err != nil {
				return nil, "", "", fmt.Errorf("edit %d: %w", i+1, err)
			}
			usedOld, usedFresh = fromOld, fromFresh
		}
		if in[fromOld] == nil || in[fromFresh] == nil || in[toOld] != nil || in[toFresh] != nil {
			return nil, "", "", fmt.Errorf("edit %d does not hold %s and %s alone", i+1, fromOld, fromFresh)
		}
		in[toOld], in[toFresh] = in[fromOld], in[fromFresh]
		delete(in, fromOld)
		delete(in, fromFresh)
		out[i] = in
	}
	return encode(out), usedOld, usedFresh, nil
}

// readMany is a read of each path.
func readMany(in object) ([]Call, error) {
	var paths []string
	for _, key := range [...]string{"include", "paths"} {
		var list []string
		if in.has(key) && json.Unmarshal(in[key], &list) != nil {
			return nil, fmt.Errorf("the argument %q is not a list of texts", key)
		}
		paths = append(paths, list...)
	}
	if len(paths) == 0 {
		return nil, errors.New("the arguments hold no paths under a name that is known")
	}
	calls := make([]Call, len(paths))
	for i, p := range paths {
		calls[i] = Call{Tool: "read", Input: encode(map[string]string{"path": p})}
	}
	return calls, nil
}

// removal is what removing a file is judged as.
func removal(file string) Call {
	return Call{Tool: "bash", Input: encode(map[string]string{"command": "rm -- '" + strings.ReplaceAll(file, "'", `'\''`) + "'"})}
}

// mcpCalls are the calls that an MCP tool may be whose name joins server and tool with one "_": one for each way to part
// them, since a server's name may hold one.
func mcpCalls(joined string, raw json.RawMessage) ([]Call, error) {
	const most = 16
	var calls []Call
	for i, c := range joined {
		if c == '_' && i > 0 && i < len(joined)-1 {
			calls = append(calls, asIs("mcp__"+joined[:i]+"__"+joined[i+1:], raw))
		}
	}
	if len(calls) == 0 || len(calls) > most {
		return nil, fmt.Errorf("which server the tool mcp_%s is of cannot be told", short(joined))
	}
	return calls, nil
}

// shell is a tool that runs a command.
func shell(more ...argument) tool {
	return tool{name: "bash", args: append([]argument{command()}, more...)}
}

// milliseconds is a timeout that is natively in milliseconds.
func milliseconds() argument {
	return argument{canonical: "timeout", native: []string{"timeout"}, millis: true}
}

// lookup gives the calls of a native tool by a table of those that weir has; others keep their names.
func lookup(table map[string]tool, name string, raw json.RawMessage) ([]Call, error) {
	if name == "" {
		return nil, errors.New("the tool has no name")
	}
	t, ok := table[name]
	if !ok {
		if _, err := parseObject(raw); err != nil {
			return nil, err
		}
		if canonical(name) {
			return nil, fmt.Errorf("the tool %s is not one that this agent is known to have", name)
		}
		return []Call{asIs(name, raw)}, nil
	}
	calls, err := t.calls(raw)
	if err != nil {
		return nil, fmt.Errorf("the tool %s: %w", name, err)
	}
	return calls, nil
}

// canonical says whether a name is one of weir's own: an extension would take the arguments for weir's.
func canonical(name string) bool {
	switch name {
	case "bash", "read", "write", "edit", "grep", "find", "ls":
		return true
	}
	return false
}

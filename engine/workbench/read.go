package workbench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"weir/engine/set"
	"weir/engine/wire"
)

// reader turns a document into a File and collects what is wrong with it.
type reader struct {
	doc  *set.Document
	dir  string
	errs []error
}

// path is where something stands in the document.
type path []any

func (p path) to(step any) path { return append(slices.Clip(p), step) }

func (r *reader) fail(at path, hint, format string, args ...any) {
	var keys []string
	for _, s := range at {
		if k, ok := s.(string); ok {
			keys = append(keys, k)
		}
	}
	r.errs = append(r.errs, r.doc.At(at...).Error(strings.Join(keys, "."), fmt.Sprintf(format, args...), hint))
}

// key is a key that a table may have.
type key struct {
	name string
	read func(at path, v any)
}

// table reads the keys of a table in the order in which they are given here, and refuses others.
func (r *reader) table(at path, v any, where string, keys ...key) {
	t, ok := v.(map[string]any)
	if !ok {
		r.fail(at, "", "%s must be a table, found %s", where, set.Found(v))
		return
	}
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
		if v, ok := t[k.name]; ok {
			k.read(at.to(k.name), v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if !slices.Contains(names, name) {
			hint := set.Suggest(name, names)
			if hint == "" {
				hint = "known here: " + strings.Join(names, ", ")
			}
			r.fail(at.to(name), hint, "unknown key %q in %s", name, where)
		}
	}
}

// text reads a string into to.
func (r *reader) text(to *string) func(path, any) {
	return func(at path, v any) {
		if s, ok := v.(string); ok {
			*to = s
			return
		}
		r.fail(at, "", "%v must be a string, found %s", at[len(at)-1], set.Found(v))
	}
}

// word reads a string that is one of known.
func (r *reader) word(to *string, known []string) func(path, any) {
	return func(at path, v any) {
		r.text(to)(at, v)
		if *to != "" && !slices.Contains(known, *to) {
			hint := set.Suggest(*to, known)
			if hint == "" {
				hint = "it is one of " + strings.Join(known, ", ")
			}
			r.fail(at, hint, "there is no %v %q", at[len(at)-1], *to)
		}
	}
}

// object reads a table as JSON.
func (r *reader) object(to *json.RawMessage) func(path, any) {
	return func(at path, v any) {
		t, ok := v.(map[string]any)
		if !ok {
			r.fail(at, "", "%v must be a table, found %s", at[len(at)-1], set.Found(v))
			return
		}
		raw, err := r.doc.JSON(t, at...)
		if err != nil {
			r.errs = append(r.errs, err)
			return
		}
		*to = raw
	}
}

// jsonFile reads a file of JSON that the document names.
func (r *reader) jsonFile(to *json.RawMessage, name *string) func(path, any) {
	return func(at path, v any) {
		var file string
		if r.text(&file)(at, v); file == "" {
			return
		}
		if !filepath.IsAbs(file) {
			file = filepath.Join(r.dir, file)
		}
		raw, err := readRegular(file)
		switch {
		case err != nil:
			r.fail(at, "the path starts at the folder of the test file", "%v", err)
		case !json.Valid(raw):
			var v any
			r.fail(at, "", "%s is not JSON: %v", file, json.Unmarshal(raw, &v))
		default:
			*to, *name = bytes.TrimSpace(raw), file
		}
	}
}

func (r *reader) file(f *File) {
	var config map[string]any
	root := path{}
	r.table(root, r.doc.Values, "a test file",
		key{"module", r.text(&f.Module)},
		key{"cwd", r.text(&f.CWD)},
		key{"home", r.text(&f.Home)},
		key{"limits", func(at path, v any) { r.limits(at, v, &f.Limits) }},
		key{"grant", func(at path, v any) { r.grants(at, v, &f.Grant) }},
		key{"config", func(at path, v any) {
			r.object(&f.Config)(at, v)
			config, _ = v.(map[string]any) // what is not a table was refused
		}},
		key{"case", func(at path, v any) {
			list, ok := set.Tables(v)
			if !ok {
				r.fail(at, "write [[case]] on a line of its own, in two brackets", "case must be an array of tables, found %s", set.Found(v))
				return
			}
			f.Cases = make([]Case, len(list))
			for i := range list {
				r.oneCase(at.to(i), list[i], config, f, &f.Cases[i])
			}
		}},
	)
	switch {
	case f.Module == "":
		r.fail(root, `write module = "policy.wasm"`, "the file does not name its module")
	case !strings.HasPrefix(f.Module, set.BundledPrefix) && !filepath.IsAbs(f.Module):
		f.Module = filepath.Join(r.dir, f.Module)
	}
	if len(f.Cases) == 0 && len(r.errs) == 0 {
		r.fail(root, "write a [[case]]", "the file has no case")
	}
	seen := map[string]set.Position{}
	for i := range f.Cases {
		c := &f.Cases[i]
		if first, ok := seen[c.Name]; ok && c.Name != "" {
			r.fail(path{"case", i, "name"}, "each case needs a name of its own", "the case %q stands at %s already", c.Name, first)
		}
		seen[c.Name] = c.Pos
	}
}

func (r *reader) limits(at path, v any, to *set.Limits) {
	t, ok := v.(map[string]any)
	if !ok {
		r.fail(at, "", "limits must be a table, found %s", set.Found(v))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(t)) {
		var value string
		switch v := t[name].(type) {
		case string:
			value = v
		case int64:
			value = fmt.Sprint(v)
		default:
			r.fail(at.to(name), "", "%s must be a limit, found %s", name, set.Found(v))
			continue
		}
		l, err := set.ParseLimit(name, value)
		if err != nil {
			r.fail(at.to(name), "", "%v", err)
			continue
		}
		*to = set.Merge(l, *to)
	}
}

// grants reads an array of grants as flags give them.
func (r *reader) grants(at path, v any, to *set.Grant) {
	list, ok := v.([]any)
	if !ok {
		r.fail(at, `write grant = ["kv"]`, "grant must be an array of strings, found %s", set.Found(v))
		return
	}
	var all []set.Grant
	for i := range list {
		var text string
		r.text(&text)(at.to(i), list[i])
		if text == "" {
			continue
		}
		g, err := set.ParseGrant(text)
		if err != nil {
			r.fail(at.to(i), "", "%v", err)
			continue
		}
		all = append(all, g)
	}
	*to = set.MergeGrants(all...)
}

func (r *reader) oneCase(at path, v any, config map[string]any, f *File, c *Case) {
	c.Pos, c.Config = r.doc.At(at...), f.Config
	own := &Step{Hook: wire.EventToolCall, Pos: c.Pos}
	var steps []Step
	t, _ := v.(map[string]any) // the caller took it from a list of tables
	r.table(at, t, "[[case]]", append(r.stepKeys(own),
		key{"name", r.text(&c.Name)},
		key{"config", func(at path, v any) {
			over, ok := v.(map[string]any)
			if !ok {
				r.fail(at, "", "config must be a table, found %s", set.Found(v))
				return
			}
			r.object(&c.Config)(at, mergeTables(config, over))
		}},
		key{"step", func(at path, v any) {
			list, ok := set.Tables(v)
			if !ok {
				r.fail(at, "write [[case.step]] on a line of its own, in two brackets", "step must be an array of tables, found %s", set.Found(v))
				return
			}
			steps = make([]Step, len(list))
			for i := range list {
				at := at.to(i)
				steps[i] = Step{Hook: own.Hook, Pos: r.doc.At(at...)}
				r.table(at, list[i], "[[case.step]]", r.stepKeys(&steps[i])...)
				r.checkStep(at, list[i], &steps[i])
			}
		}},
	)...)
	if c.Name == "" {
		r.fail(at, `write name = "blocks rm -rf"`, "the case has no name")
	}
	if steps == nil {
		r.checkStep(at, t, own)
		steps = []Step{*own}
	} else if own.Event != nil || !own.Expect.empty() {
		r.fail(at, "put the case's own event into a step", "the case has both steps and an event or expect of its own")
	}
	c.Steps = steps
	if !slices.ContainsFunc(c.Steps, func(s Step) bool { return !s.Expect.empty() }) {
		r.fail(at, `write expect = { decision = "block" }`, "the case expects nothing, so it could not fail")
	}
}

func (r *reader) stepKeys(s *Step) []key {
	var file string
	return []key{
		{"hook", func(at path, v any) {
			var names []string
			for e := wire.Event(1); int(e) <= wire.EventCount; e++ {
				names = append(names, e.String())
			}
			var name string
			r.word(&name, names)(at, v)
			if e, ok := wire.ParseEvent(name); ok {
				s.Hook = e
			}
		}},
		{"event", r.object(&s.Event)},
		{"event_file", r.jsonFile(&s.Event, &file)},
		{"expect", func(at path, v any) { r.expect(at, v, &s.Expect) }},
	}
}

func (r *reader) checkStep(at path, t map[string]any, s *Step) {
	_, inline := t["event"]
	_, file := t["event_file"]
	switch {
	case inline && file:
		r.fail(at.to("event_file"), "", "there is an event already")
	case !inline && !file:
		r.fail(at, `write event = { toolName = "bash", input = { command = "ls" } }`, "there is no event")
	case s.Event == nil: // refused already
	default:
		event, err := completeEvent(s.Hook, s.Event)
		if err != nil {
			name := "event"
			if file {
				name = "event_file"
			}
			r.fail(at.to(name), "", "%v", err)
		}
		s.Event = event
	}
	if (s.Expect.Dropped != nil || s.Expect.Kept != nil) && s.Hook != wire.EventContext {
		r.fail(at.to("expect"), `set hook = "context"`, "dropped and kept are for context, the hook is %s", s.Hook)
	}
}

func (r *reader) expect(at path, v any, e *Expect) {
	r.table(at, v, "expect",
		key{"decision", r.word(&e.Decision, decisions())},
		key{"fault", r.word(&e.Fault, faults())},
		key{"reason", func(at path, v any) {
			s, ok := v.(string)
			if !ok {
				r.fail(at, "", "reason must be a string, found %s", set.Found(v))
				return
			}
			m, err := NewMatch(s)
			if err != nil {
				r.fail(at, "", "%v", err)
			}
			e.Reason = m
		}},
		key{"output", func(at path, v any) {
			s, ok := v.(string)
			if !ok {
				r.object(&e.Output)(at, v)
				return
			}
			var any any
			if err := json.Unmarshal([]byte(s), &any); err != nil {
				r.fail(at, "", "output is not JSON: %v", err)
				return
			}
			pos := r.doc.At(at...)
			e.Output, e.outputAt = json.RawMessage(s), &pos
		}},
		key{"output_file", func(at path, v any) {
			if e.Output != nil {
				r.fail(at, "", "there is an output already")
			}
			r.jsonFile(&e.Output, &e.outputFile)(at, v)
		}},
		key{"dropped", r.indexes(&e.Dropped)},
		key{"kept", r.indexes(&e.Kept)},
	)
	switch {
	case e.Fault == "":
	case e.Decision != "" || e.Output != nil || e.Dropped != nil || e.Kept != nil:
		r.fail(at.to("fault"), "only reason goes with it", "a fault comes with no answer to compare")
	}
}

func (r *reader) indexes(to *[]int) func(path, any) {
	return func(at path, v any) {
		list, ok := v.([]any)
		if !ok {
			r.fail(at, "write [0, 2]", "%v must be an array of indexes, found %s", at[len(at)-1], set.Found(v))
			return
		}
		*to = []int{}
		for i := range list {
			n, ok := list[i].(int64)
			if !ok || n < 0 {
				r.fail(at.to(i), "", "an index must be an integer from 0, found %s", set.Found(list[i]))
				continue
			}
			*to = append(*to, int(n))
		}
		slices.Sort(*to)
	}
}

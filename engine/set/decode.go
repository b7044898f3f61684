package set

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Parse reads the text of a set file. path names it in errors, and its folder
// is where relative paths in it start; it is not opened. The text is not kept.
//
// The error is Errors: every semantic error, sorted by position, or one alone
// when the text is not TOML, is not UTF-8, is over 1 MiB, or is of a version
// that this program does not know.
func Parse(path string, text []byte) (*Set, error) {
	doc, root, problem := document(path, text)
	if problem != nil {
		return nil, Errors{problem}
	}
	d := &decoder{set: &Set{
		Path: path, Dir: filepath.Dir(path),
		Recheck: true, Pairs: true, Protect: true,
		root: root,
	}}
	top := place{node: root}
	if problem := checkVersion(top, doc); problem != nil {
		return nil, Errors{problem}
	}
	d.table(top, doc, "the file", d.setRules())
	d.finish()
	if d.errs != nil {
		d.errs.Sort()
		return nil, d.errs
	}
	return d.set, nil
}

// decoder turns loose values into a set and collects what is wrong.
type decoder struct {
	set  *Set
	errs Errors
}

// place is a key or element of the document.
type place struct {
	node *node
	key  string // dotted, without indexes; "" for the whole file
}

func (p place) child(key string) place {
	if p.key != "" {
		return place{p.node.find(key), p.key + "." + key}
	}
	return place{p.node.find(key), key}
}

// item is an element of an array; the key remains that of the array.
func (p place) item(i int) place {
	if i < len(p.node.items) {
		p.node = p.node.items[i]
	}
	return p
}

func (d *decoder) fail(p place, message, hint string) {
	d.errs = append(d.errs, p.node.pos.Error(p.key, message, hint))
}

// good reports whether there is no problem with a value; if there is one, it is
// collected with the place and key that only the decoder knows.
func (d *decoder) good(p place, problem *Error) bool {
	if problem == nil {
		return true
	}
	d.fail(p, problem.Message, problem.Hint)
	return false
}

// rule is what there is to know of one key of a table.
type rule struct {
	key     string
	want    want
	example string               // a valid line, for who wrote another type
	set     func(p place, v any) // v is of the wanted type
}

// table reads the keys of one kind of table. where names it in errors.
func (d *decoder) table(p place, table map[string]any, where string, rules []rule) {
	known := make([]string, len(rules))
	for i, r := range rules {
		known[i] = r.key
		v, ok := table[r.key]
		if !ok {
			continue
		}
		at := p.child(r.key)
		if !r.want.matches(v) {
			d.fail(at, fmt.Sprintf("%s must be %s, found %s", r.key, r.want, found(v)), "write "+r.example)
			continue
		}
		r.set(at, v)
	}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if !slices.Contains(known, key) {
			d.fail(p.child(key), "unknown key "+quote(key)+" in "+where, unknownHint(key, where, known))
		}
	}
}

// want is a type of value.
type want uint8

const (
	wantBool want = iota + 1
	wantInteger
	wantString
	wantStrings
	wantTable
	wantTables
	wantDuration
	wantSize
	wantCount
	wantLimit // any: limitRule.parse looks for itself
)

func (w want) String() string {
	switch w {
	case wantBool:
		return "true or false"
	case wantInteger:
		return "an integer"
	case wantString:
		return "a string"
	case wantStrings:
		return "an array of strings"
	case wantTable:
		return "a table"
	case wantTables:
		return "an array of tables"
	case wantDuration:
		return "a duration in a string"
	case wantSize:
		return "a size in a string or in bytes"
	case wantCount:
		return "a positive integer"
	}
	return "a limit"
}

func (w want) matches(v any) bool {
	ok := true
	switch w {
	case wantBool:
		_, ok = v.(bool)
	case wantInteger:
		_, ok = v.(int64)
	case wantString:
		_, ok = v.(string)
	case wantStrings:
		// Elements are looked at one by one, each having its own place.
		_, ok = v.([]any)
	case wantTable:
		_, ok = v.(map[string]any)
	case wantTables:
		_, ok = tables(v)
	}
	return ok
}

// tables makes an array of tables of either of the library's two forms.
func tables(v any) ([]map[string]any, bool) {
	switch v := v.(type) {
	case []map[string]any:
		return v, true
	case []any:
		list := make([]map[string]any, len(v))
		for i := range v {
			var ok bool
			if list[i], ok = v[i].(map[string]any); !ok {
				return nil, false
			}
		}
		return list, true
	}
	return nil, false
}

// found describes a value that is not what was wanted.
func found(v any) string {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return "the integer " + strconv.FormatInt(v, 10)
	case float64:
		return "the number " + strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		return "the string " + quote(v)
	case time.Time:
		return "a date or time"
	case map[string]any:
		return "a table"
	case []map[string]any:
		return "an array of tables"
	}
	return "an array"
}

// assign is the setter of a plain field.
func assign[T any](to *T) func(place, any) {
	return func(_ place, v any) { *to = v.(T) }
}

func (d *decoder) setRules() []rule {
	s := d.set
	return []rule{
		{"version", wantInteger, "version = 1", func(_ place, v any) { s.Version = int(v.(int64)) }},
		{"recheck", wantBool, "recheck = true", assign(&s.Recheck)},
		{"pairs", wantBool, "pairs = true", assign(&s.Pairs)},
		{"protect", wantBool, "protect = true", assign(&s.Protect)},
		{"defaults", wantTable, `[defaults] on a line of its own, then timeout = "500ms"`, func(p place, v any) {
			d.table(p, v.(map[string]any), "[defaults]", d.limitRules(&s.Defaults))
		}},
		{"extension", wantTables, "[[extension]] on a line of its own, in two brackets", func(p place, v any) {
			list, _ := tables(v) // the type was checked
			s.Extensions = make([]Extension, len(list))
			for i := range list {
				d.extension(p.item(i), list[i], &s.Extensions[i])
			}
		}},
	}
}

func (d *decoder) limitRules(l *Limits) []rule {
	var rules []rule
	for _, r := range limitRules() {
		rules = append(rules, rule{r.key, wantLimit, r.line(), func(p place, v any) {
			n, problem := r.parse(v)
			if d.good(p, problem) {
				r.put(l, n)
			}
		}})
	}
	return rules
}

func (d *decoder) extension(p place, table map[string]any, e *Extension) {
	limits := slices.DeleteFunc(d.limitRules(&e.Limits), func(r rule) bool { return r.key == "module" })
	*e = Extension{Mode: ModeEnforce, Runtime: RuntimeWeir, Pos: p.node.pos, where: p.node}
	d.table(p, table, "[[extension]]", append([]rule{
		{"name", wantString, `name = "guard-rm"`, func(p place, v any) { d.name(p, v.(string), e) }},
		{"module", wantString, `module = "guard-rm.wasm"`, func(p place, v any) { d.module(p, v.(string), e) }},
		{"sha256", wantString, `sha256 = "…" with 64 hex digits`, func(p place, v any) { d.digest(p, v.(string), e) }},
		{"mode", wantString, `mode = "monitor"`, func(p place, v any) {
			e.Mode = Mode(d.enum(p, "mode", v.(string), modes()))
		}},
		{"on_error", wantString, `on_error = "block"`, func(p place, v any) {
			e.OnError = OnError(d.enum(p, "on_error", v.(string), onErrors()))
		}},
		{"runtime", wantString, `runtime = "weir"`, func(p place, v any) {
			e.Runtime = Runtime(d.enum(p, "runtime", v.(string), runtimes()))
		}},
		{"config", wantTable, "[extension.config] on a line of its own", func(p place, v any) {
			e.Config = d.config(p, v.(map[string]any))
		}},
		{"grant", wantTable, "[extension.grant] on a line of its own", func(p place, v any) {
			d.table(p, v.(map[string]any), "[extension.grant]", d.grantRules(&e.Grant))
		}},
	}, limits...))
}

func (d *decoder) grantRules(g *Grant) []rule {
	var rules []rule
	for _, key := range grantKeys() {
		if on := g.flag(key); on != nil {
			rules = append(rules, rule{key, wantBool, key + " = true", assign(on)})
		}
	}
	return append(rules,
		rule{"http", wantStrings, strings.TrimPrefix(httpExample, "write "), func(p place, v any) {
			d.strings(p, v, func(p place, s string) {
				if h, problem := parseHTTP(s); d.good(p, problem) {
					g.HTTP = append(g.HTTP, h)
				}
			})
		}},
		rule{"read", wantStrings, `read = ["./docs"]`, func(p place, v any) {
			d.strings(p, v, func(p place, s string) {
				if folder, problem := resolve(d.set.Dir, s); d.good(p, problem) {
					g.Read = append(g.Read, folder)
				}
			})
		}},
		rule{"session", wantStrings, `session = ["read"]`, func(p place, v any) {
			d.strings(p, v, func(p place, s string) {
				if d.good(p, checkSession(s)) {
					g.Session = sessionRights(append(g.Session, s))
				}
			})
		}},
		rule{"journal", wantString, `journal = "audit.jsonl"`, func(p place, v any) {
			if file, problem := resolve(d.set.Dir, v.(string)); d.good(p, problem) {
				g.Journal = file
			}
		}},
	)
}

// strings calls each with the elements of an array, refusing other types.
func (d *decoder) strings(p place, v any, each func(place, string)) {
	for i, item := range v.([]any) {
		if s, ok := item.(string); ok {
			each(p.item(i), s)
		} else {
			d.fail(p.item(i), fmt.Sprintf("an element of %s must be a string, found %s", p.key, found(item)), "")
		}
	}
}

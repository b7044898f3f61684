package set

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// checkVersion comes before everything else: in a file of a later version any
// other error would be noise.
func checkVersion(top place, doc map[string]any) *Error {
	v, ok := doc["version"]
	if !ok {
		return top.node.pos.Error("version", "the set does not say its version", "add version = 1 as the first line")
	}
	n, ok := v.(int64)
	if !ok || n == Version {
		return nil // the table check reports the type
	}
	at := top.child("version").node.pos
	if n > Version {
		return at.Error("version", fmt.Sprintf("set version %d needs a newer weir", n), "this one reads version 1")
	}
	return at.Error("version", fmt.Sprintf("there is no set version %d", n), "write version = 1")
}

// finish does what needs the whole file: required keys, names that occur
// twice, defaults.
func (d *decoder) finish() {
	seen := map[string]Position{}
	for i := range d.set.Extensions {
		e := &d.set.Extensions[i]
		at := place{e.where, "extension"}
		for _, required := range []struct{ key, example string }{
			{"name", `name = "guard-rm"`},
			{"module", `module = "guard-rm.wasm"`},
		} {
			if e.where.keys[required.key] == nil {
				d.fail(place{at.node, at.key + "." + required.key}, "the extension has no "+required.key, "add "+required.example)
			}
		}
		if first, ok := seen[e.Name]; ok && e.Name != "" {
			d.fail(at.child("name"), fmt.Sprintf("extension %q is already defined at %s", e.Name, first), "names are unique in a set")
		} else {
			seen[e.Name] = e.Pos
		}
		e.Limits = Merge(d.set.Defaults, e.Limits)
	}
}

// maxName is the length of the longest name (abi.md section 3).
const maxName = 64

// goodName reports whether s matches [a-z][a-z0-9-]{0,63}.
func goodName(s string) bool {
	return s != "" && len(s) <= maxName && s[0] >= 'a' && s[0] <= 'z' &&
		strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

func (d *decoder) name(p place, s string, e *Extension) {
	if !goodName(s) {
		d.fail(p, fmt.Sprintf("the name %s is not a name", quote(s)), "up to 64 of a-z, 0-9 and -, the first a letter, such as guard-rm")
		return
	}
	e.Name = s
}

func (d *decoder) module(p place, s string, e *Extension) {
	module, problem := parseModule(d.set.Dir, s)
	if d.good(p, problem) {
		e.Module = module
	}
}

// parseModule makes a module's path clean, and keeps bundled:NAME.
func parseModule(dir, s string) (string, *Error) {
	name, bundled := strings.CutPrefix(s, BundledPrefix)
	if !bundled {
		return resolve(dir, s)
	}
	if !goodName(name) {
		return "", Position{}.Error("", fmt.Sprintf("%s does not name a bundled extension", quote(s)), "write bundled:guard-shell, say")
	}
	return s, nil
}

func (d *decoder) digest(p place, s string, e *Extension) {
	digest := strings.ToLower(s)
	if len(digest) != 64 || strings.Trim(digest, "0123456789abcdef") != "" {
		hint := "64 hex digits, as sha256sum prints them"
		if strings.HasPrefix(digest, "sha256:") {
			hint = "leave out sha256:"
		}
		d.fail(p, quote(s)+" is not a SHA-256 digest", hint)
		return
	}
	e.SHA256 = digest
}

// enum returns the index of s in names, whose first is "" for unset.
func (d *decoder) enum(p place, key, s string, names []string) int {
	i := slices.Index(names, s)
	if i < 1 {
		d.fail(p, "unknown "+key+" "+quote(s), suggest(s, names[1:]))
		return 0
	}
	return i
}

// config makes the settings JSON, nil when something in them cannot be.
func (d *decoder) config(p place, table map[string]any) json.RawMessage {
	before := len(d.errs)
	v := d.jsonValue(p, table)
	if len(d.errs) > before {
		return nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		d.fail(p, "the settings cannot be JSON: "+err.Error(), "")
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// jsonValue replaces what JSON does not have.
func (d *decoder) jsonValue(p place, v any) any {
	switch v := v.(type) {
	case map[string]any:
		table := make(map[string]any, len(v))
		for key, member := range v {
			table[key] = d.jsonValue(p.child(key), member)
		}
		return table
	case []map[string]any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = d.jsonValue(p.item(i), v[i])
		}
		return list
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = d.jsonValue(p.item(i), v[i])
		}
		return list
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			d.fail(p, "the setting is "+strconv.FormatFloat(v, 'g', -1, 64)+", which JSON does not have", "write a finite number")
		}
		return v
	case time.Time:
		return v.Format(timeLayout(v))
	}
	return v
}

// timeLayout tells the four kinds of TOML dates apart, which the library marks
// by the name of the zone.
func timeLayout(t time.Time) string {
	switch t.Location().String() {
	case "datetime-local":
		return "2006-01-02T15:04:05.999999999"
	case "date-local":
		return time.DateOnly
	case "time-local":
		return "15:04:05.999999999"
	}
	return time.RFC3339Nano
}

// unknownHint says what to do about a key that a table does not know: where it
// belongs, what it is called here, or which known key is near.
func unknownHint(key, where string, known []string) string {
	limits := make([]string, 0, len(limitRules()))
	for _, r := range limitRules() {
		limits = append(limits, r.key)
	}
	switch {
	case slices.Contains(limits, key) && where == "the file":
		return "limits go below [defaults], or below one [[extension]]"
	case slices.Contains(limits, key):
		return "limits go directly below [[extension]], or below [defaults]"
	case slices.Contains(grantKeys(), key):
		return "grants go below [extension.grant]"
	case slices.Contains([]string{"version", "recheck", "pairs", "protect"}, key):
		return "it is for the whole file: put it above the first [ line"
	case slices.Contains([]string{"name", "module", "sha256", "mode", "on_error", "runtime", "config", "grant"}, key):
		return "it goes directly below [[extension]], above its [extension.config] and [extension.grant]"
	}
	if hint := nearest(key, known); hint != "" {
		return suggest(key, known)
	}
	switch key {
	case "log":
		return "the limits of logging are log_lines and log_bytes"
	case "tools", "hooks", "view", "events":
		return "the module itself says so when it describes itself"
	case "path", "file", "wasm", "source", "src":
		return "the module's file is called module"
	case "enabled", "enable", "disabled", "disable":
		return `remove the [[extension]], or write mode = "monitor"`
	case "settings", "options", "args", "params":
		return "settings go below [extension.config]"
	case "permissions", "capabilities", "allow":
		return "what it may do goes below [extension.grant]"
	case "env", "write":
		return "there is no such grant"
	case "plugin", "plugins":
		return "write [[extension]]"
	}
	return suggest(key, known)
}

package trust

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"weir/engine/set"
)

// Project is what a project's set amounts to.
type Project struct {
	// Dir is the project's folder, absolute, with symbolic links resolved.
	Dir string `json:"dir"`
	// Recheck, Pairs and Protect are those of the set, off where it switches them off.
	Recheck bool `json:"recheck"`
	Pairs   bool `json:"pairs"`
	Protect bool `json:"protect"`
	// Extensions are in the set's order, which is the order in which they are asked.
	Extensions []Extension `json:"extensions"`
}

// Extension is what one extension of a project amounts to. Equal texts mean equal extensions.
type Extension struct {
	Name string `json:"name"`
	// Module is as the set has it, relative to the project.
	Module string `json:"module"`
	// SHA256 is the module's digest; "" for one that ships with weir, which is weir's to vouch for.
	SHA256  string `json:"sha256,omitempty"`
	Mode    string `json:"mode"`
	OnError string `json:"onError,omitempty"`
	Runtime string `json:"runtime"`
	// Grants are one text each, such as "ui" and "http GET https://api.example.com".
	Grants []string `json:"grants,omitempty"`
	// Config and Limits are JSON; "" where the set gives none.
	Config string `json:"config,omitempty"`
	Limits string `json:"limits,omitempty"`
}

// Describe says what the set of the project in dir amounts to. digest gives the digest of a module that does not ship with
// weir, as the host will compute it; its errors are returned as they are.
func Describe(dir string, x *set.Set, digest func(*set.Extension) (string, error)) (*Project, error) {
	dir, err := Canonical(dir)
	if err != nil {
		return nil, err
	}
	p := &Project{Dir: dir, Recheck: x.Recheck, Pairs: x.Pairs, Protect: x.Protect, Extensions: []Extension{}}
	for i := range x.Extensions {
		e := &x.Extensions[i]
		limits, err := json.Marshal(e.Limits)
		if err != nil {
			return nil, err
		}
		out := Extension{
			Name: e.Name, Module: p.local(e.Module), Mode: e.Mode.String(), OnError: e.OnError.String(), Runtime: e.Runtime.String(),
			Grants: p.grants(&e.Grant), Config: string(e.Config),
		}
		if e.Limits != (set.Limits{}) {
			out.Limits = string(limits)
		}
		if _, bundled := e.Bundled(); !bundled {
			if out.SHA256, err = digest(e); err != nil {
				return nil, err
			}
		}
		p.Extensions = append(p.Extensions, out)
	}
	return p, nil
}

// Canonical is the name under which a project's folder is remembered: absolute, without symbolic links.
func Canonical(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// local is a path below the project as it is seen from there, and any other path whole.
func (p *Project) local(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil || strings.HasPrefix(path, set.BundledPrefix) {
		return path
	}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		abs = filepath.Join(folder, filepath.Base(abs))
	}
	if rel, err := filepath.Rel(p.Dir, abs); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return abs
}

func (p *Project) grants(g *set.Grant) []string {
	var list []string
	for _, name := range g.Names() {
		switch name {
		case "http":
			for _, h := range g.HTTP {
				list = append(list, "http "+h.String())
			}
		case "read":
			for _, folder := range g.Read {
				list = append(list, "read "+p.local(folder))
			}
		case "session":
			for _, right := range g.Session {
				list = append(list, "session "+right)
			}
		case "journal":
			list = append(list, "journal "+p.local(g.Journal))
		default:
			list = append(list, name)
		}
	}
	return list
}

// Pin pins the modules of x, the set that p describes, to the digests that p has. An extension that p does not have is an
// error: the set is another one.
func (p *Project) Pin(x *set.Set) error {
	for i := range x.Extensions {
		e := &x.Extensions[i]
		at := slices.IndexFunc(p.Extensions, func(have Extension) bool { return have.Name == e.Name })
		if at < 0 {
			return fmt.Errorf("trust: extension %q is not one of those that were looked at", e.Name)
		}
		if digest := p.Extensions[at].SHA256; digest != "" && (e.SHA256 == "" || e.SHA256 == digest) { // the set's own pin is for the engine to refuse
			e.SHA256 = digest
		}
	}
	return nil
}

// Changes says what is other in now than it was in p, one sentence each, in the order of now's extensions; none when they
// amount to the same.
func (p *Project) Changes(now *Project) []string {
	var list []string
	note := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	for _, k := range []struct {
		key      string
		was, now bool
	}{{"recheck", p.Recheck, now.Recheck}, {"pairs", p.Pairs, now.Pairs}, {"protect", p.Protect, now.Protect}} {
		if k.was != k.now {
			note("the set has %s = %v now", k.key, k.now)
		}
	}
	find := func(all []Extension, name string) *Extension {
		if i := slices.IndexFunc(all, func(e Extension) bool { return e.Name == name }); i >= 0 {
			return &all[i]
		}
		return nil
	}
	for i := range now.Extensions {
		e := &now.Extensions[i]
		was := find(p.Extensions, e.Name)
		if was == nil {
			note("extension %s is new", e.Name)
			continue
		}
		list = append(list, was.changes(e)...)
	}
	for i := range p.Extensions {
		if name := p.Extensions[i].Name; find(now.Extensions, name) == nil {
			note("extension %s is gone", name)
		}
	}
	if len(list) == 0 && !slices.EqualFunc(p.Extensions, now.Extensions, func(a, b Extension) bool { return a.Name == b.Name }) {
		note("the extensions are in another order")
	}
	return list
}

func (e *Extension) changes(now *Extension) []string {
	var list []string
	note := func(format string, args ...any) {
		list = append(list, "extension "+e.Name+": "+fmt.Sprintf(format, args...))
	}
	for _, k := range []struct{ what, was, now string }{
		{"module", e.Module, now.Module}, {"mode", e.Mode, now.Mode}, {"on_error", e.OnError, now.OnError}, {"runtime", e.Runtime, now.Runtime},
	} {
		if k.was != k.now {
			note("its %s is %q, it was %q", k.what, k.now, k.was)
		}
	}
	if e.SHA256 != now.SHA256 {
		note("its module changed: sha256 %s, it was %s", orNone(now.SHA256), orNone(e.SHA256))
	}
	for _, g := range now.Grants {
		if !slices.Contains(e.Grants, g) {
			note("a new grant: %s", g)
		}
	}
	for _, g := range e.Grants {
		if !slices.Contains(now.Grants, g) {
			note("a grant is gone: %s", g)
		}
	}
	if e.Config != now.Config {
		note("its settings are %s, they were %s", orNone(now.Config), orNone(e.Config))
	}
	if e.Limits != now.Limits {
		note("its limits are %s, they were %s", orNone(now.Limits), orNone(e.Limits))
	}
	return list
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

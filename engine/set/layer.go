package set

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Layer is where a set comes from. A smaller number is a higher layer: it
// comes first, and what it demands the lower ones cannot undo.
type Layer uint8

const (
	// LayerUnset is the zero value: not composed yet.
	LayerUnset Layer = iota
	// LayerManaged is the machine's, set by whoever administers it.
	LayerManaged
	// LayerUser is the person's own.
	LayerUser
	// LayerProject lies in the project, and counts only where that is trusted.
	LayerProject
	// LayerFile is the file named instead of user and project (--set).
	LayerFile
	// LayerCLI is the modules named on the command line (-e).
	LayerCLI
)

func layers() []string { return []string{"", "managed", "user", "project", "file", "cli"} }

// String is the layer's name, "" for LayerUnset.
func (l Layer) String() string { return name(layers(), uint8(l)) }

// MarshalText is String.
func (l Layer) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// LayerSet is a set and the layer it is for.
type LayerSet struct {
	Layer Layer
	Set   *Set
}

// Compose puts layers together: their extensions in layer order, whatever the
// order of the argument, and within a layer in set order. A layer's [defaults]
// hold for its own extensions alone, and are in their Limits already.
//
// A name may occur once in all layers. The highest layer decides recheck,
// pairs and protect, on when it does not say; a lower one may switch them on,
// or leave them, and it is an error if it switches off what is on above it. A set made
// by hand and not by [Parse] has no say in them.
//
// The error is Errors. The sets are not changed; the result shares the slices
// in their extensions.
func Compose(list []LayerSet) (*Set, error) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b LayerSet) int { return int(a.Layer) - int(b.Layer) })

	all := &Set{Version: Version}
	var errs Errors
	seen := map[string]*Extension{}
	for _, l := range list {
		for i := range l.Set.Extensions {
			e := l.Set.Extensions[i]
			e.Source = l.Layer
			if first := seen[e.Name]; first != nil {
				errs = append(errs, e.At("name").Error("extension.name",
					fmt.Sprintf("extension %q is already defined at %s (%s layer)", e.Name, first.Pos, first.Source),
					"a name occurs once in all layers: rename it or remove it"))
				continue
			}
			seen[e.Name] = &e
			all.Extensions = append(all.Extensions, e)
		}
	}
	var problems Errors
	all.Recheck, problems = demand(list, "recheck", func(s *Set) bool { return s.Recheck })
	errs = append(errs, problems...)
	all.Pairs, problems = demand(list, "pairs", func(s *Set) bool { return s.Pairs })
	errs = append(errs, problems...)
	all.Protect, problems = demand(list, "protect", func(s *Set) bool { return s.Protect })
	errs = append(errs, problems...)
	if errs != nil {
		return nil, errs
	}
	if len(list) == 1 {
		all.Path, all.Dir, all.root = list[0].Set.Path, list[0].Set.Dir, list[0].Set.root
	}
	return all, nil
}

// demand decides a key of the whole set over the layers, highest first.
func demand(list []LayerSet, key string, value func(*Set) bool) (on bool, errs Errors) {
	on = true
	var by *LayerSet // the layer that last had a say
	for i, l := range list {
		if l.Set.root == nil {
			continue
		}
		switch says := l.Set.says(key); {
		case by == nil:
			on, by = value(l.Set), &list[i]
		case !says:
		case value(l.Set) && !on:
			on, by = true, &list[i]
		case !value(l.Set) && on:
			how := "by default"
			if by.Set.says(key) {
				how = "at " + by.Set.At(key).String()
			}
			errs = append(errs, l.Set.At(key).Error(key,
				fmt.Sprintf("the %s layer switches off %s, which the %s layer, %s, demands %s", l.Layer, key, by.Layer, by.Set.Path, how),
				"remove the line"))
		}
	}
	return on, errs
}

// Discovery says where to look for set files. The caller knows the machine:
// this package reads no environment. An empty field is a layer that is not
// looked for.
type Discovery struct {
	// ManagedDir and UserDir are the folders that would hold weir.toml:
	// /etc/weir, $XDG_CONFIG_HOME/weir.
	ManagedDir, UserDir string
	// Project is the set in PROJECT/.weir, loaded by whoever made sure that it
	// is trusted as it is: what was looked at is what runs, whatever becomes of
	// the file meanwhile. nil when there is none, or none that is trusted.
	Project *Set
	// SetFile stands in for the user's and the project's file, never for the
	// managed one.
	SetFile string
}

// LayerPath is a set file that applies.
type LayerPath struct {
	Layer Layer
	Path  string
}

// Discover returns the files that are to be loaded, highest layer first. Where a layer's
// folder has no file, the layer is absent; anything else that keeps it from
// being looked at is an *Error, and so is a SetFile that does not exist: a
// policy must not vanish because its folder cannot be read. That the files can
// be read is for [Load] to say.
func Discover(d Discovery) ([]LayerPath, error) {
	candidates := []LayerPath{{LayerManaged, d.ManagedDir}}
	if d.SetFile == "" {
		candidates = append(candidates, LayerPath{LayerUser, d.UserDir})
	}
	var files []LayerPath
	for _, c := range candidates {
		if c.Path == "" {
			continue
		}
		c.Path = filepath.Join(c.Path, FileName)
		// Lstat, so that a link to nowhere is a file that cannot be read and
		// not one that does not exist.
		switch _, err := os.Lstat(c.Path); {
		case err == nil:
			files = append(files, c)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, &Error{File: c.Path, Message: fmt.Sprintf("the %s set cannot be read: %s", c.Layer, cause(err)), Err: err}
		}
	}
	if d.SetFile != "" {
		if _, err := os.Stat(d.SetFile); err != nil {
			return nil, &Error{File: d.SetFile, Message: "the set file cannot be read: " + cause(err), Err: err, Hint: "weir init writes one"}
		}
		files = append(files, LayerPath{LayerFile, d.SetFile})
	}
	return files, nil
}

// cause is the system's reason without the path, which is said already.
func cause(err error) string {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		err = failed.Err
	}
	return err.Error()
}

// Open discovers, loads and composes; the project's set comes between. cli, which may be nil, is the set of the
// command line's modules (see [Modules]). The errors of all files come
// together; those of composing only when every file is good by itself.
func Open(d Discovery, cli *Set) (*Set, error) {
	files, err := Discover(d)
	if err != nil {
		return nil, err
	}
	var list []LayerSet
	var errs Errors
	for _, f := range files {
		s, err := Load(f.Path)
		var several Errors
		var one *Error
		switch {
		case err == nil:
			list = append(list, LayerSet{f.Layer, s})
		case errors.As(err, &several):
			errs = append(errs, several...)
		case errors.As(err, &one):
			errs = append(errs, one)
		default:
			return nil, err
		}
	}
	if errs != nil {
		return nil, errs
	}
	if d.Project != nil && d.SetFile == "" {
		list = append(list, LayerSet{LayerProject, d.Project})
	}
	if cli != nil {
		list = append(list, LayerSet{LayerCLI, cli})
	}
	return Compose(list)
}

// Modules makes the set of the modules named with -e on a command line, each
// with these limits and grants. An extension's name is that of its file, or of
// the bundled extension. The error is Errors, whose File is "-e MODULE".
func Modules(modules []string, limits Limits, grant Grant) (*Set, error) {
	s := &Set{Version: Version, Recheck: true, Pairs: true, Protect: true}
	var errs Errors
	seen := map[string]Position{}
	for _, m := range modules {
		pos := Position{File: "-e " + m}
		module, problem := parseModule("", m)
		if problem != nil {
			errs = append(errs, pos.Error("", problem.Message, problem.Hint))
			continue
		}
		name, bundled := strings.CutPrefix(module, BundledPrefix)
		if !bundled {
			name = moduleName(module)
		}
		if !goodName(name) {
			errs = append(errs, pos.Error("", "no extension name can be made of the file's name", "rename it to something like guard-rm.wasm"))
			continue
		}
		if first, ok := seen[name]; ok {
			errs = append(errs, pos.Error("", fmt.Sprintf("extension %q is already defined by %s", name, first), "name it once"))
			continue
		}
		seen[name] = pos
		s.Extensions = append(s.Extensions, Extension{
			Name: name, Module: module, Mode: ModeEnforce, Runtime: RuntimeWeir,
			Limits: limits, Grant: grant, Pos: pos,
		})
	}
	if errs != nil {
		return nil, errs
	}
	return s, nil
}

// moduleName makes Guard_RM.wasm guard-rm.
func moduleName(path string) string {
	name := filepath.Base(path)
	name = strings.TrimSuffix(name, filepath.Ext(name))
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '.' || r == ' ' {
			return '-'
		}
		return r
	}, strings.ToLower(name))
}

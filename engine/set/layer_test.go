package set

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func parsed(t *testing.T, layer Layer, text string) LayerSet {
	t.Helper()
	s, err := Parse(layer.String()+".toml", []byte("version = 1\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return LayerSet{layer, s}
}

// extensions is the text of plain extensions.
func extensions(names ...string) string {
	var b strings.Builder
	for _, n := range names {
		fmt.Fprintf(&b, "[[extension]]\nname = %q\nmodule = \"%s.wasm\"\n", n, n)
	}
	return b.String()
}

func TestComposeOrder(t *testing.T) {
	cli, err := Modules([]string{"x/E.wasm"}, Limits{}, Grant{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Compose([]LayerSet{
		{LayerCLI, cli},
		parsed(t, LayerProject, extensions("d")),
		parsed(t, LayerManaged, "[defaults]\ntimeout = '1s'\n"+extensions("b", "a")),
		parsed(t, LayerUser, "[defaults]\ntimeout = '2s'\nfuel = 7\n"+extensions("c")+"timeout = '3s'\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range s.Extensions {
		got = append(got, fmt.Sprint(e.Source, " ", e.Name, " ", e.Limits.Timeout, " ", e.Limits.Fuel))
	}
	want := []string{"managed b 1s 0", "managed a 1s 0", "user c 3s 7", "project d 0s 0", "cli e 0s 0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !s.Recheck || !s.Pairs || s.Version != 1 || s.Path != "" || s.Defaults != (Limits{}) {
		t.Errorf("composed %+v", s)
	}
}

func TestComposeOne(t *testing.T) {
	l := parsed(t, LayerFile, "recheck = false\n"+extensions("a"))
	s, err := Compose([]LayerSet{l})
	if err != nil {
		t.Fatal(err)
	}
	if s.Path != "file.toml" || s.Recheck || s.At("recheck").String() != "file.toml:2:1" {
		t.Errorf("composed %+v", s)
	}
	if l.Set.Extensions[0].Source != LayerUnset {
		t.Error("Compose changed its argument")
	}
}

func TestComposeNothing(t *testing.T) {
	s, err := Compose(nil)
	if err != nil || !s.Recheck || !s.Pairs || len(s.Extensions) != 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestComposeSameName(t *testing.T) {
	cli, err := Modules([]string{"a.wasm"}, Limits{}, Grant{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Compose([]LayerSet{
		parsed(t, LayerManaged, extensions("a")),
		parsed(t, LayerUser, extensions("b", "a")),
		{LayerCLI, cli},
	})
	const where = `extension "a" is already defined at managed.toml:2:1 (managed layer) (a name occurs once in all layers: rename it or remove it)`
	want := "user.toml:6:1: " + where + "\n-e a.wasm: " + where
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestComposeDemands(t *testing.T) {
	const on, off, silent = "recheck = true\n", "recheck = false\n", ""
	for _, c := range []struct {
		managed, user, project string
		want                   bool
		err                    string
	}{
		{silent, silent, silent, true, ""},
		{off, silent, silent, false, ""},
		{off, off, off, false, ""},
		{off, on, silent, true, ""},
		{silent, on, silent, true, ""},
		{silent, off, silent, false, `^user.toml:2:1: the user layer switches off recheck, which the managed layer, managed.toml, demands by default \(remove the line\)$`},
		{on, silent, off, false, `^project.toml:2:1: .* which the managed layer, managed.toml, demands at managed.toml:2:1 `},
		{off, on, off, false, `^project.toml:2:1: .* which the user layer, user.toml, demands at user.toml:2:1 `},
		{on, off, off, false, `^user.toml:2:1: .*\nproject.toml:2:1: .*`},
	} {
		s, err := Compose([]LayerSet{
			parsed(t, LayerManaged, c.managed), parsed(t, LayerUser, c.user), parsed(t, LayerProject, c.project),
		})
		name := fmt.Sprintf("%q %q %q", c.managed, c.user, c.project)
		checkMatch(t, name, err, c.err)
		if err == nil && s.Recheck != c.want {
			t.Errorf("%s: recheck is %v", name, s.Recheck)
		}
	}
	_, err := Compose([]LayerSet{parsed(t, LayerUser, ""), parsed(t, LayerProject, "pairs = false")})
	checkMatch(t, "pairs", err, `^project.toml:2:1: the project layer switches off pairs`)

	_, err = Compose([]LayerSet{parsed(t, LayerManaged, "protect = true"), parsed(t, LayerUser, "protect = false")})
	checkMatch(t, "protect", err, `^user.toml:2:1: the user layer switches off protect, which the managed layer, managed.toml, demands at managed.toml:2:1`)

	// Only files have a say: a set made by hand neither demands nor loosens.
	s, err := Compose([]LayerSet{parsed(t, LayerUser, "recheck = false"), {LayerCLI, &Set{Recheck: true}}, {LayerManaged, &Set{}}})
	if err != nil || s.Recheck || !s.Pairs {
		t.Errorf("%+v, %v", s, err)
	}
}

// tree writes files into a new folder.
func tree(t *testing.T, texts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestDiscover(t *testing.T) {
	dir := tree(t, map[string]string{
		"managed/weir.toml": "", "user/weir.toml": "", "mine.toml": "", "other/readme": "",
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	all := Discovery{ManagedDir: at("managed"), UserDir: at("user")}
	for _, c := range []struct {
		name   string
		change func(*Discovery)
		want   []string
	}{
		{"all", func(*Discovery) {}, []string{"managed managed/weir.toml", "user user/weir.toml"}},
		{"set file", func(d *Discovery) { d.SetFile = at("mine.toml") }, []string{"managed managed/weir.toml", "file mine.toml"}},
		{"no folder", func(d *Discovery) { d.UserDir = at("none") }, []string{"managed managed/weir.toml"}},
		{"no file", func(d *Discovery) { d.ManagedDir = at("other") }, []string{"user user/weir.toml"}},
		{"nothing", func(d *Discovery) { *d = Discovery{} }, nil},
	} {
		d := all
		c.change(&d)
		files, err := Discover(d)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		var got []string
		for _, f := range files {
			rel, err := filepath.Rel(dir, f.Path)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, f.Layer.String()+" "+filepath.ToSlash(rel))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	_, err := Discover(Discovery{SetFile: at("none.toml")})
	var one *Error
	if !errors.As(err, &one) || !errors.Is(err, fs.ErrNotExist) || one.File != at("none.toml") {
		t.Errorf("missing set file: %v", err)
	}
	if _, err := Open(Discovery{SetFile: at("none.toml")}, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open of a missing set file: %v", err)
	}
}

// TestManagedCannotVanish: what keeps a managed file from being read is an
// error, never an absent policy.
func TestManagedCannotVanish(t *testing.T) {
	dir := tree(t, map[string]string{"file": "", "locked/weir.toml": "version = 1", "noread/weir.toml": "version = 1", "folder/weir.toml/x": ""})
	at := func(name string) string { return filepath.Join(dir, name) }
	cases := []string{"folder"}
	if runtime.GOOS != "windows" {
		cases = append(cases, "file", "dangling")
		if err := os.Mkdir(at("dangling"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(at("nowhere"), at("dangling/weir.toml")); err != nil {
			t.Fatal(err)
		}
		if os.Geteuid() != 0 { // the superuser reads everything
			cases = append(cases, "locked", "noread")
			if err := os.Chmod(at("locked"), 0); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(at("noread/weir.toml"), 0); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := os.Chmod(at("locked"), 0o755); err != nil {
					t.Error(err)
				}
			})
		}
	}
	for _, name := range cases {
		_, err := Open(Discovery{ManagedDir: at(name)}, nil)
		if err == nil || !strings.Contains(err.Error(), at(name)) || !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOpen(t *testing.T) {
	dir := tree(t, map[string]string{
		"m/weir.toml":   "version = 1\n" + extensions("a"),
		"u/weir.toml":   "version = 1\n" + extensions("b"),
		"bad/weir.toml": "version = 1\nrechek = true\npars = true",
	})
	d := Discovery{ManagedDir: filepath.Join(dir, "m"), UserDir: filepath.Join(dir, "u")}
	cli, err := Modules([]string{"bundled:guard-shell"}, Limits{}, Grant{})
	if err != nil {
		t.Fatal(err)
	}
	d.Project = parsed(t, LayerProject, extensions("c")).Set
	s, err := Open(d, cli)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range s.Extensions {
		got = append(got, e.Name+" "+e.Source.String())
	}
	if diff := cmp.Diff([]string{"a managed", "b user", "c project", "guard-shell cli"}, got); diff != "" {
		t.Error(diff)
	}
	if want := filepath.Join(dir, "m", "a.wasm"); s.Extensions[0].Module != want {
		t.Errorf("module %s, want %s", s.Extensions[0].Module, want)
	}

	d = Discovery{ManagedDir: filepath.Join(dir, "bad"), UserDir: filepath.Join(dir, "bad")}
	_, err = Open(d, nil)
	var errs Errors
	if !errors.As(err, &errs) || len(errs) != 4 {
		t.Errorf("want the two errors of both files, got %v", err)
	}
}

func TestModules(t *testing.T) {
	limits, grant := Limits{Timeout: time.Second}, Grant{KV: true}
	s, err := Modules([]string{"bundled:guard-shell", "a/../b/My_Policy.v2.wasm", "./x.ts"}, limits, grant)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range s.Extensions {
		got = append(got, fmt.Sprint(e.Name, " ", e.Module, " ", e.Pos))
		if e.Limits != limits || !e.Grant.KV || e.Mode != ModeEnforce || e.Runtime != RuntimeWeir {
			t.Errorf("%+v", e)
		}
	}
	want := []string{
		"guard-shell bundled:guard-shell -e bundled:guard-shell",
		"my-policy-v2 " + filepath.FromSlash("b/My_Policy.v2.wasm") + " -e a/../b/My_Policy.v2.wasm",
		"x x.ts -e ./x.ts",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	_, err = Modules([]string{"", "a.wasm", "b/a.wasm", "7.wasm", "bundled:", "http://x/y.wasm"}, Limits{}, Grant{})
	checkMatch(t, "bad modules", err, strings.Join([]string{
		`^-e : the path is empty`,
		`-e b/a.wasm: extension "a" is already defined by -e a.wasm \(name it once\)`,
		`-e 7.wasm: no extension name can be made of the file's name .*`,
		`-e bundled:: "bundled:" does not name a bundled extension .*`,
		`-e http://x/y.wasm: .*nothing is downloaded.*$`,
	}, `\n`))
}

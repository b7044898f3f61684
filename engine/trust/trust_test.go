package trust

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir/engine/set"
)

const base = `
[[extension]]
name = "guard"
module = "guard.wasm"
[extension.config]
protect = ["/"]
[extension.grant]
http = ["GET https://api.example.com"]
read = ["./docs"]

[[extension]]
name = "bundled"
module = "bundled:guard-shell"
`

// describe gives what a set's text amounts to, with made-up digests.
func describe(t *testing.T, dir, text, digest string) (*Project, *set.Set) {
	t.Helper()
	x, err := set.Parse(filepath.Join(dir, ".weir", "weir.toml"), []byte("version = 1\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Describe(dir, x, func(*set.Extension) (string, error) { return digest, nil })
	if err != nil {
		t.Fatal(err)
	}
	return p, x
}

func TestDescribe(t *testing.T) {
	dir, err := Canonical(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p, x := describe(t, dir, base, "d1")
	want := &Project{Dir: dir, Recheck: true, Pairs: true, Protect: true, Extensions: []Extension{
		{
			Name: "guard", Module: ".weir/guard.wasm", SHA256: "d1", Mode: "enforce", Runtime: "weir",
			Grants: []string{"http GET https://api.example.com", "read .weir/docs"}, Config: `{"protect":["/"]}`,
		},
		{Name: "bundled", Module: "bundled:guard-shell", Mode: "enforce", Runtime: "weir"},
	}}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
	if err := p.Pin(x); err != nil {
		t.Fatal(err)
	}
	if x.Extensions[0].SHA256 != "d1" || x.Extensions[1].SHA256 != "" {
		t.Errorf("pinned to %q and %q", x.Extensions[0].SHA256, x.Extensions[1].SHA256)
	}
	_, other := describe(t, dir, "[[extension]]\nname = \"x\"\nmodule = \"x.wasm\"\n", "")
	if p.Pin(other) == nil {
		t.Error("another set was pinned")
	}
	gone := errors.New("gone")
	if _, err := Describe(dir, x, func(*set.Extension) (string, error) { return "", gone }); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
	if _, err := Describe(filepath.Join(dir, "none"), x, nil); err == nil {
		t.Error("a folder that does not exist was described")
	}
}

// TestChanges: what a person has to see again, and nothing else.
func TestChanges(t *testing.T) {
	dir := t.TempDir()
	was, _ := describe(t, dir, base, "d1")
	replace := func(a, b string) string {
		if !strings.Contains(base, a) {
			t.Fatalf("%q is not in the set", a)
		}
		return strings.Replace(base, a, b, 1)
	}
	first, second, _ := strings.Cut(strings.TrimSpace(base), "\n\n")
	for _, c := range []struct {
		name, text, digest string
		want               []string
	}{
		{"the same", base, "d1", nil},
		{"a comment", "# new\n" + base, "d1", nil},
		{"a digest", base, "d2", []string{"extension guard: its module changed: sha256 d2, it was d1"}},
		{"a grant", replace("read = ", "kv = true\nread = "), "d1", []string{"extension guard: a new grant: kv"}},
		{"a wider grant", replace("GET https", "GET,POST https"), "d1", []string{
			"extension guard: a new grant: http GET,POST https://api.example.com", "extension guard: a grant is gone: http GET https://api.example.com",
		}},
		{"a setting", replace(`["/"]`, `[]`), "d1", []string{`extension guard: its settings are {"protect":[]}, they were {"protect":["/"]}`}},
		{"monitor", replace(`module = "guard.wasm"`, "module = \"guard.wasm\"\nmode = \"monitor\"\ntimeout = \"1s\""), "d1", []string{
			`extension guard: its mode is "monitor", it was "enforce"`, `extension guard: its limits are {"timeout":1000000000}, they were none`,
		}},
		{"a module", replace("bundled:guard-shell", "shell.wasm"), "d1", []string{
			`extension bundled: its module is ".weir/shell.wasm", it was "bundled:guard-shell"`, "extension bundled: its module changed: sha256 d1, it was none",
		}},
		{"more and fewer", replace(`name = "bundled"`, `name = "other"`), "d1", []string{"extension other is new", "extension bundled is gone"}},
		{"the whole set", "recheck = false\nprotect = false\n" + base, "d1", []string{"the set has recheck = false now", "the set has protect = false now"}},
		{"the order", second + "\n" + first, "d1", []string{"the extensions are in another order"}},
	} {
		now, _ := describe(t, dir, c.text, c.digest)
		if diff := cmp.Diff(c.want, was.Changes(now)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestStore(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	s := &Store{Path: filepath.Join(t.TempDir(), "weir", FileName), Now: func() time.Time { return at }}
	dir := t.TempDir()
	p, _ := describe(t, dir, base, "d1")
	status := func(p *Project) *Status {
		t.Helper()
		st, err := s.Check(p)
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	if st := status(p); st.Trusted() || st.Changed() || st.Refused() {
		t.Errorf("unknown: %+v", st)
	}
	if err := s.Put(p, Trusted, ""); err != nil {
		t.Fatal(err)
	}
	if st := status(p); !st.Trusted() {
		t.Errorf("trusted: %+v", st)
	}
	if runtime.GOOS != "windows" {
		if info, err := os.Stat(s.Path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
	}
	changed, _ := describe(t, dir, base, "d2")
	if st := status(changed); st.Trusted() || !st.Changed() {
		t.Errorf("changed: %+v", st)
	}
	if err := s.Put(p, Refused, "policy"); err != nil {
		t.Fatal(err)
	}
	if st := status(changed); st.Trusted() || st.Changed() || !st.Refused() {
		t.Errorf("refused: %+v", st)
	}
	list, err := s.List()
	if diff := cmp.Diff([]Entry{{Decision: Refused, Time: at.Truncate(time.Second), By: "policy", Project: p}}, list); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, want := range []bool{true, false} {
		if found, err := s.Delete(p.Dir); found != want || err != nil {
			t.Errorf("%v, %v", found, err)
		}
	}
	if st := status(p); st.Entry != nil {
		t.Errorf("forgotten: %+v", st)
	}
	if err := s.Put(p, "maybe", ""); err == nil {
		t.Error("a decision that is none was kept")
	}
	files, err := filepath.Glob(s.Path + ".*")
	if diff := cmp.Diff([]string{s.Path + ".lock"}, files); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// TestStoreDamaged: a file that cannot be understood is an error, never "nothing was decided".
func TestStoreDamaged(t *testing.T) {
	s := &Store{Path: filepath.Join(t.TempDir(), FileName)}
	for _, c := range []struct{ text, want string }{
		{"", "unexpected end"},
		{"{", "unexpected end"},
		{`{"version":2,"projects":{},"new":1}`, "its version is 2, this weir knows 1"},
		{`{"version":1,"projects":{},"new":1}`, `unknown field "new"`},
		{`{"version":1,"projects":{"/x":{"decision":"trusted"}}}`, "the entry of /x is not whole"},
		{`{"version":1,"projects":{"/x":{"decision":"yes","project":{"dir":"/x"}}}}`, "the entry of /x is not whole"},
		{`{"version":1,"projects":{"/x":{"decision":"trusted","project":{"dir":"/y"}}}}`, "the entry of /x is not whole"},
	} {
		if err := os.WriteFile(s.Path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Get("/x"); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), s.Path) {
			t.Errorf("%s: %v", c.text, err)
		}
		if err := s.Put(&Project{Dir: "/x"}, Trusted, ""); err == nil {
			t.Errorf("%s: it was written over", c.text)
		}
	}
	if err := os.WriteFile(s.Path, []byte(`{"version":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.List(); err != nil {
		t.Error(err)
	}
	if runtime.GOOS != "windows" {
		if err := os.Chmod(s.Path, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Get("/x"); err == nil || !strings.Contains(err.Error(), "can be written by others") {
			t.Errorf("%v", err)
		}
	}
}

// TestStoreTogether: nobody's decision is lost when several decide at once.
func TestStoreTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	var all sync.WaitGroup
	const n = 16
	for i := range n {
		all.Go(func() {
			s := &Store{Path: path}
			if err := s.Put(&Project{Dir: string(rune('a' + i))}, Trusted, ""); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if list, err := (&Store{Path: path}).List(); err != nil || len(list) != n {
		t.Errorf("%d entries, %v", len(list), err)
	}
}

package set

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzParse: no text makes Parse panic; every error has a position within the
// file, and errors are sorted; a set that is accepted keeps the promises of
// its type; and whatever the library reads, the locator has placed.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/good/*.toml", "testdata/bad/*.toml"} {
		for _, file := range files(f, pattern) {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Add(Starter())
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse("x.toml", text)
		if err != nil {
			checkErrors(t, string(text), err)
		} else {
			checkSet(t, s)
		}
		if doc, root, problem := document("x.toml", text); problem == nil {
			checkLocated(t, doc, root)
		}
	})
}

func checkErrors(t *testing.T, text string, err error) {
	var errs Errors
	if !errors.As(err, &errs) || len(errs) == 0 {
		t.Fatalf("got %T", err)
	}
	lines := strings.Split(strings.TrimLeft(text, "\uFEFF"), "\n")
	for i, e := range errs {
		if e.File != "x.toml" || e.Line < 1 || e.Line > len(lines) || e.Column < 1 ||
			e.Column > utf8.RuneCountInString(lines[e.Line-1])+1 {
			t.Errorf("position outside of the file: %v", e)
		}
		if e.Message == "" {
			t.Error("error without a message")
		}
		if i > 0 && errs[i-1].Line > e.Line {
			t.Errorf("%v comes after %v", e, errs[i-1])
		}
	}
}

func checkSet(t *testing.T, s *Set) {
	if err := s.Defaults.Validate(); err != nil {
		t.Error(err)
	}
	names := map[string]bool{}
	for i := range s.Extensions {
		e := &s.Extensions[i]
		if !goodName(e.Name) || names[e.Name] || e.Module == "" || e.Mode == ModeUnset || e.Runtime == RuntimeUnset || e.Pos.Line == 0 {
			t.Errorf("accepted %+v", e)
		}
		names[e.Name] = true
		if e.Config != nil && !json.Valid(e.Config) {
			t.Errorf("settings are not JSON: %s", e.Config)
		}
		if err := e.Limits.Validate(); err != nil {
			t.Error(err)
		}
		for _, h := range e.Grant.HTTP {
			again, problem := parseHTTP(h.String())
			if problem != nil || again.String() != h.String() {
				t.Errorf("%s reads back as %s (%v)", h, again, problem)
			}
		}
	}
}

// checkLocated is checkPlaces without the texts, which is too slow to fuzz.
func checkLocated(t *testing.T, v any, n *node) {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			if n.keys[key] == nil {
				t.Fatalf("key %q was not located", key)
			}
			checkLocated(t, member, n.keys[key])
		}
	case []map[string]any:
		for i := range v {
			if i >= len(n.items) {
				t.Fatalf("%d elements located, %d decoded", len(n.items), len(v))
			}
			checkLocated(t, v[i], n.items[i])
		}
	case []any:
		if len(n.items) != len(v) {
			t.Fatalf("%d elements located, %d decoded", len(n.items), len(v))
		}
		for i := range v {
			checkLocated(t, v[i], n.items[i])
		}
	}
}

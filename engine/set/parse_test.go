package set

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Run with -update to rewrite the goldens; commit only a diff that you
// understand.
var update = flag.Bool("update", false, "rewrite testdata/good/*.json")

func files(t testing.TB, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(pattern)
	if err != nil || len(list) == 0 {
		t.Fatalf("no files match %s (%v)", pattern, err)
	}
	return list
}

func TestGood(t *testing.T) {
	for _, file := range files(t, "testdata/good/*.toml") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			s, err := Load(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.MarshalIndent(s, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			golden := strings.TrimSuffix(file, ".toml") + ".json"
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("set differs (-want +got):\n%s", diff)
			}
		})
	}
}

var marker = regexp.MustCompile(`### ("(?:[^"\\]|\\.)*")`)

// TestBad holds each file to its markers: an error on every line that has one,
// matching it, and on no other.
func TestBad(t *testing.T) {
	for _, file := range files(t, "testdata/bad/*.toml") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := map[int]*regexp.Regexp{}
			for i, line := range strings.Split(string(text), "\n") {
				if m := marker.FindStringSubmatch(line); m != nil {
					pattern := m[1][1 : len(m[1])-1]
					want[i+1] = regexp.MustCompile(pattern)
				}
			}
			if len(want) == 0 {
				t.Fatal("the file has no marker")
			}
			s, err := Load(file)
			if s != nil {
				t.Error("a set came with the error")
			}
			var errs Errors
			if !errors.As(err, &errs) {
				t.Fatalf("got %T, want Errors: %v", err, err)
			}
			for i, e := range errs {
				if e.File != file {
					t.Errorf("error of another file: %v", e)
				}
				re := want[e.Line]
				switch {
				case re == nil:
					t.Errorf("unexpected or second error of its line: %v", e)
				case !re.MatchString(e.Error()):
					t.Errorf("got  %v\nwant %v", e, re)
				}
				delete(want, e.Line)
				if i > 0 && errs[i-1].Line > e.Line {
					t.Errorf("errors are not sorted: %v after line %d", e, errs[i-1].Line)
				}
			}
			for line, re := range want {
				t.Errorf("%s:%d: no error, want %v", file, line, re)
			}
		})
	}
}

func TestErrorText(t *testing.T) {
	_, err := Parse("weir.toml", []byte("version = 1\n[defaults]\n        timeuot = \"1s\"\n"))
	const want = `weir.toml:3:9: unknown key "timeuot" in [defaults] (did you mean "timeout"?)`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	var one *Error
	if !errors.As(err, &one) || one.Key != "defaults.timeuot" {
		t.Errorf("errors.As found %+v", one)
	}
}

func TestErrorKeyOfExtension(t *testing.T) {
	_, err := Parse("weir.toml", []byte("version = 1\n[[extension]]\nname = 'a'\nmodule = 'a'\ngrant.http = ['x']\n"))
	var one *Error
	if !errors.As(err, &one) || one.Key != "extension.grant.http" || one.Column != 15 {
		t.Errorf("got %+v", one)
	}
}

func TestLongTextIsCut(t *testing.T) {
	long := strings.Repeat("é", 100_000)
	for _, text := range []string{
		"version = 1\n'" + long + "' = 1",
		"version = 1\nrecheck = '" + long + "'",
		"version = 1\na = " + strings.Repeat("9", 100_000),
	} {
		_, err := Parse("weir.toml", []byte(text))
		if err == nil || len(err.Error()) > 1000 {
			t.Errorf("the error has %d bytes", len(fmt.Sprint(err)))
		}
	}
}

func TestTooLarge(t *testing.T) {
	full := "version = 1\n" + strings.Repeat("#", maxFile-len("version = 1\n"))
	if _, err := Parse("weir.toml", []byte(full)); err != nil {
		t.Errorf("1 MiB: %v", err)
	}
	file := filepath.Join(t.TempDir(), FileName)
	if err := os.WriteFile(file, []byte(full+"#"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file); err == nil || !strings.Contains(err.Error(), "over 1 MiB") {
		t.Errorf("1 MiB and a byte: %v", err)
	}
}

// TestWideDocuments keeps work linear in the size of a file: a quadratic step
// would take minutes here, and the test's own time-out would end it.
func TestWideDocuments(t *testing.T) {
	for name, text := range map[string]string{
		"unknown keys on a line": "version = 1\na = {" + wide("k%d=1,") + "}",
		"unknown keys":           "version = 1\n" + wide("k%d=1\n"),
		"extensions":             "version = 1\n" + wide("[[extension]]\nname='n%d'\nmodule='m'\n"),
		"brackets":               "version = 1\na = " + strings.Repeat("[", 1e6),
		"dots":                   "version = 1\n" + strings.Repeat("a.", 5e5) + "a = 1",
		"header dots":            "version = 1\n[" + strings.Repeat("a.", 5e5) + "a]",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Parse("weir.toml", []byte(text)); (err == nil) != (name == "extensions") {
				t.Errorf("got %.200v", err)
			}
		})
	}
}

// wide repeats the format with rising numbers up to half of what a set may be.
func wide(format string) string {
	var b strings.Builder
	for i := 0; b.Len() < maxFile/2; i++ {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func TestLoadUnreadable(t *testing.T) {
	dir := t.TempDir()
	_, err := Load(filepath.Join(dir, "none.toml"))
	if !errors.Is(err, fs.ErrNotExist) || strings.Count(err.Error(), "none.toml") != 1 {
		t.Errorf("missing file: %v", err)
	}
	var one *Error
	if _, err := Load(dir); !errors.As(err, &one) || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("folder: %v", err)
	}
}

func TestAt(t *testing.T) {
	s, err := Parse("weir.toml", []byte("version = 1\n\n  [[extension]]\n  name = 'a'\n  module = 'a'\n  [extension.config]\n  a.b = 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	e := &s.Extensions[0]
	for _, c := range []struct {
		got  Position
		want string
	}{
		{e.Pos, "weir.toml:3:3"},
		{e.At("name"), "weir.toml:4:3"},
		{e.At("config"), "weir.toml:6:14"},
		{e.At("config", "a", "b"), "weir.toml:7:5"},
		{e.At("config", "absent"), "weir.toml:6:14"},
		{e.At("sha256"), "weir.toml:3:3"},
		{s.At("version"), "weir.toml:1:1"},
		{(&Extension{Pos: Position{File: "-e a.wasm"}}).At("name"), "-e a.wasm"},
	} {
		if c.got.String() != c.want {
			t.Errorf("got %v, want %s", c.got, c.want)
		}
	}
}

func TestCheckHooks(t *testing.T) {
	for _, c := range []struct {
		onError OnError
		hooks   []string
		refused bool
	}{
		{OnErrorIsolate, []string{"context", "tool_call"}, true},
		{OnErrorIsolate, []string{"context"}, false},
		{OnErrorUnset, []string{"tool_call"}, false},
		{OnErrorBlock, []string{"tool_call"}, false},
	} {
		e := Extension{Name: "a", OnError: c.onError}
		if err := e.CheckHooks(c.hooks); (err != nil) != c.refused {
			t.Errorf("%v %v: %v", c.onError, c.hooks, err)
		}
	}
}

func TestEnumNames(t *testing.T) {
	for got, want := range map[fmt.Stringer]string{
		ModeUnset: "", ModeEnforce: "enforce", ModeMonitor: "monitor", Mode(9): "9",
		OnErrorIsolate: "isolate", OnErrorBlock: "block",
		RuntimeWeir: "weir", RuntimeExtism: "extism",
		LayerManaged: "managed", LayerCLI: "cli",
	} {
		if got.String() != want {
			t.Errorf("%#v is %q, want %q", got, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	for _, c := range []struct{ word, want string }{
		{"timeuot", "timeout"},
		{"TIMEOUT", "timeout"},
		{"tool-timeout", "tool_timeout"},
		{"fule", "fuel"},
		{"memry", "memory"},
		{"xyzzy", ""},
		{"", ""},
		{strings.Repeat("m", 1e6), ""},
	} {
		if got := nearest(c.word, []string{"timeout", "tool_timeout", "fuel", "memory"}); got != c.want {
			t.Errorf("nearest(%.20q) = %q, want %q", c.word, got, c.want)
		}
	}
}

func TestStarter(t *testing.T) {
	text := string(Starter())
	s, err := Parse(FileName, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range s.Extensions {
		names = append(names, e.Name)
		if want := BundledPrefix + e.Name; e.Module != want {
			t.Errorf("module %q, want %q", e.Module, want)
		}
	}
	if diff := cmp.Diff([]string{"guard-shell", "guard-paths", "redact-secrets", "prune-context"}, names); diff != "" {
		t.Error(diff)
	}

	// Whatever is commented out must be right as well.
	var all []string
	commented := 0
	for _, line := range strings.Split(text, "\n") {
		if len(line) > 1 && line[0] == '#' && line[1] != ' ' {
			line = line[1:]
			commented++
		}
		all = append(all, line)
	}
	s, err = Parse(FileName, []byte(strings.Join(all, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	if commented == 0 || len(s.Extensions) != 6 {
		t.Errorf("%d settings commented out, %d extensions with them", commented, len(s.Extensions))
	}
}

// TestErrorExamples parses the lines that errors tell people to write.
func TestErrorExamples(t *testing.T) {
	for _, r := range limitRules() {
		text := "version = 1\n[defaults]\n" + r.line()
		s, err := Parse(FileName, []byte(text))
		if err != nil {
			t.Errorf("%s: %v", r.line(), err)
		} else if r.get(&s.Defaults) == 0 {
			t.Errorf("%s sets nothing", r.line())
		}
	}
	d := &decoder{set: &Set{}}
	for _, r := range d.grantRules(&Grant{}) {
		text := "version = 1\n[[extension]]\nname = 'a'\nmodule = 'a'\n[extension.grant]\n" + r.example
		if _, err := Parse(FileName, []byte(text)); err != nil {
			t.Errorf("%s: %v", strconv.Quote(r.example), err)
		}
	}
}

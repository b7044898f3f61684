package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func tree(t *testing.T) *kit {
	k := newKit(t, nil)
	for name, content := range map[string]string{
		".git/config": "needle", ".gitignore": "*.log\n/build/\n!keep.log\n", "a.go": "one\nneedle two\nthree\n",
		"b.log": "needle", "keep.log": "needle", "build/x.go": "needle", "sub/build/y.go": "needle",
		"sub/.gitignore": "secret.*\n", "sub/secret.go": "needle", "sub/Deep/z.TS": "Needle\r\nx\r\n",
		"bin": "needle\x00", ".hidden": "needle",
	} {
		k.file(name, content)
	}
	return k
}

func TestGrep(t *testing.T) {
	k := tree(t)
	for _, tt := range []struct {
		args m
		want string
	}{
		{m{"pattern": "needle"}, ".hidden:1: needle\na.go:2: needle two\nkeep.log:1: needle\nsub/build/y.go:1: needle"},
		{m{"pattern": "needle", "glob": "*.go"}, "a.go:2: needle two\nsub/build/y.go:1: needle"},
		{m{"pattern": "needle", "glob": "*.{ts,go}", "path": "sub"}, "build/y.go:1: needle"},
		{m{"pattern": "needle", "glob": "sub/**/*.go"}, "sub/build/y.go:1: needle"},
		{m{"pattern": "needle", "glob": "!sub"}, ".hidden:1: needle\na.go:2: needle two\nkeep.log:1: needle"},
		{m{"pattern": "NEEDLE$", "ignoreCase": true, "path": "sub/Deep"}, "z.TS:1: Needle"},
		{m{"pattern": "e.*w", "path": "a.go"}, "a.go:2: needle two"},
		{m{"pattern": "e.*w", "literal": true}, "no matches"},
		{m{"pattern": "needle", "path": "b.log", "glob": "*.go"}, "b.log:1: needle"},
		{m{"pattern": "two", "context": 1}, "a.go-1- one\na.go:2: needle two\na.go-3- three"},
		{m{"pattern": "one|three", "context": 5}, "a.go:1: one\na.go-2- needle two\na.go:3: three"},
	} {
		if got := k.ok("grep", tt.args); got != tt.want {
			t.Errorf("%v:\n%s\nwant:\n%s", tt.args, got, tt.want)
		}
	}
	k.fails("grep", m{"pattern": "("}, "no regular expression", "literal=true")
	k.fails("grep", m{"pattern": "x", "glob": "["}, "glob")
	k.fails("grep", m{"pattern": "x", "path": "missing"}, "no such file")
	k.fails("grep", m{"pattern": "x", "path": "bin"}, "binary")
	k.fails("grep", m{"pattern": "x", "context": -1}, "context")
}

func TestGrepIsCut(t *testing.T) {
	k := newKit(t, nil)
	k.file("f", strings.Repeat("hit\n", 150))
	result, err := k.call(t.Context(), "grep", m{"pattern": "hit"})
	if err != nil {
		t.Fatal(err)
	}
	contains(t, textOf(t, result), "f:100: hit\n\n[there are more than 100 matches; raise limit or narrow the search]")
	if d := detailsOf(t, result); d["matchLimitReached"] != 100.0 {
		t.Errorf("details %v", d)
	}
	if got := k.ok("grep", m{"pattern": "hit", "limit": 150}); strings.Contains(got, "[") {
		t.Errorf("a note though nothing was cut: %q", got[len(got)-100:])
	}

	k.file("f", strings.Repeat("é", 600)+"\n")
	result, err = k.call(t.Context(), "grep", m{"pattern": "é"})
	if err != nil {
		t.Fatal(err)
	}
	contains(t, textOf(t, result), "f:1: "+strings.Repeat("é", 500)+" … [line cut]\n\n[long lines are cut at 500 characters")
	if d := detailsOf(t, result); d["linesTruncated"] != true {
		t.Errorf("details %v", d)
	}

	k.file("f", strings.Repeat(strings.Repeat("z", 400)+"\n", 300))
	result, err = k.call(t.Context(), "grep", m{"pattern": "z", "limit": 1000})
	if err != nil {
		t.Fatal(err)
	}
	if text := textOf(t, result); len(text) > MaxBytes+200 {
		t.Errorf("%d bytes", len(text))
	}
	contains(t, textOf(t, result), "[cut at 50 KB; narrow the search]")

	k.file("f", strings.Repeat("q", maxGrepLine)+"late\n")
	contains(t, k.ok("grep", m{"pattern": "late"}), "no matches\n\n[of lines longer than 1 MB only that much was searched]")
}

func TestFind(t *testing.T) {
	k := tree(t)
	for _, tt := range []struct {
		args m
		want string
	}{
		{m{"pattern": "*.go"}, "a.go\nsub/build/y.go"},
		{m{"pattern": "*.ts"}, "sub/Deep/z.TS"},
		{m{"pattern": "*.Ts"}, "no file or folder matches"},
		{m{"pattern": "build"}, "sub/build/"},
		{m{"pattern": "sub/**/*.{go,TS}"}, "sub/Deep/z.TS\nsub/build/y.go"},
		{m{"pattern": "build/*"}, "sub/build/y.go"},
		{m{"pattern": "**/*.log"}, "keep.log"},
		{m{"pattern": "*/", "path": "sub"}, "Deep/\nbuild/"},
		{m{"pattern": k.dir + "/*.go"}, "a.go"},
		{m{"pattern": "**"}, ".gitignore\n.hidden\na.go\nbin\nkeep.log\nsub/\nsub/.gitignore\nsub/Deep/\nsub/Deep/z.TS\nsub/build/\nsub/build/y.go"},
		{m{"pattern": "*.go", "limit": 1}, "a.go\n\n[there are more than 1; raise limit or narrow the pattern]"},
		{m{"pattern": "*.go", "limit": 2}, "a.go\nsub/build/y.go"},
	} {
		if got := k.ok("find", tt.args); got != tt.want {
			t.Errorf("%v:\n%s\nwant:\n%s", tt.args, got, tt.want)
		}
	}
	k.fails("find", m{"pattern": "*", "path": "a.go"}, "is not a folder")
	k.fails("find", m{"pattern": "*", "path": "missing"}, "no such file")
	k.fails("find", m{"pattern": "{a"}, "never closed")
	k.fails("find", m{"pattern": "/"}, "matches nothing")
}

func TestFindIsCutAtBytes(t *testing.T) {
	k := newKit(t, nil)
	for i := range 600 {
		k.file(fmt.Sprintf("%s-%03d", strings.Repeat("n", 100), i), "")
	}
	result, err := k.call(t.Context(), "find", m{"pattern": "*"})
	if err != nil {
		t.Fatal(err)
	}
	contains(t, textOf(t, result), "[cut at 50 KB; narrow the pattern]")
	if d := detailsOf(t, result)["truncation"].(map[string]any); d["truncatedBy"] != "bytes" {
		t.Errorf("details %v", d)
	}
	contains(t, k.ok("ls", m{"limit": 5}), "-004\n\n[5 of 600 entries are shown; raise limit to see more]")
	contains(t, k.ok("ls", m{"limit": 600}), "of 600 entries are shown (50 KB at most)]")
}

func TestSearchDoesNotFollowLinkLoops(t *testing.T) {
	k := newKit(t, nil)
	k.file("d/f", "needle")
	for _, name := range []string{"d/up", "d/self"} {
		if err := os.Symlink("..", filepath.Join(k.dir, name)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	if got := k.ok("find", m{"pattern": "*"}); got != "d/\nd/f\nd/self\nd/up" {
		t.Errorf("find: %q", got)
	}
	if got := k.ok("grep", m{"pattern": "needle"}); got != "d/f:1: needle" {
		t.Errorf("grep: %q", got)
	}
	if got := k.ok("ls", m{"path": "d"}); got != "f\nself/\nup/" {
		t.Errorf("ls: %q", got)
	}
	if got := k.ok("find", m{"pattern": "f", "path": "d/up"}); got != "d/f" {
		t.Errorf("find in a link: %q", got)
	}
}

func TestLs(t *testing.T) {
	k := newKit(t, nil)
	for _, name := range []string{"b", "A", "c/x", ".dot", "B"} {
		k.file(name, "")
	}
	if got := k.ok("ls", m{}); got != ".dot\nA\nB\nb\nc/" {
		t.Errorf("got %q", got)
	}
	if err := os.Mkdir(filepath.Join(k.dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := k.ok("ls", m{"path": "empty"}); got != "(the folder is empty)" {
		t.Errorf("got %q", got)
	}
	k.fails("ls", m{"path": "A"}, "is not a folder")
	k.fails("ls", m{"limit": -1}, "limit", "at least 1")
}

func TestStrangeNamesStayOnOneLine(t *testing.T) {
	k := newKit(t, nil)
	if err := os.WriteFile(filepath.Join(k.dir, "a\nb"), []byte("needle"), 0o600); err != nil {
		t.Skipf("no such names here: %v", err)
	}
	if got := k.ok("find", m{"pattern": "*"}); got != `"a\nb"` {
		t.Errorf("find: %q", got)
	}
	if got := k.ok("grep", m{"pattern": "needle"}); got != `"a\nb":1: needle` {
		t.Errorf("grep: %q", got)
	}
	if got := k.ok("ls", m{}); got != `"a\nb"` {
		t.Errorf("ls: %q", got)
	}
}

// countdown is a context that is cancelled after it was asked a number of times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}
func (c *countdown) Deadline() (time.Time, bool) { return time.Time{}, false }

func TestSearchStopsInTheMiddle(t *testing.T) {
	k := newKit(t, nil)
	for i := range 100 {
		k.file(fmt.Sprintf("d%02d/f", i), "needle\n")
	}
	for tool, args := range map[string]m{"grep": {"pattern": "nothing"}, "find": {"pattern": "nothing"}} {
		if _, err := k.call(&countdown{t.Context(), 50}, tool, args); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", tool, err)
		}
	}
}

// Git itself says what its ignore files name.
func TestIgnoreAgreesWithGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("needs git")
	}
	k := newKit(t, func(c *Config) {})
	run := func(stdin string, args ...string) string {
		cmd := exec.Command(git, args...)
		cmd.Dir, cmd.Stdin = k.dir, strings.NewReader(stdin)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "XDG_CONFIG_HOME="+k.dir)
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := cmd.Run(); err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return out.String()
	}
	run("", "init", "-q")
	k.file(".git/info/exclude", "excluded\n")
	k.file(".gitignore", strings.Join([]string{
		"# comment", "", "*.o", "!main.o", "/root", "dir/", "a/*.txt", "**/deep", "x/**/y", "z/**", `\#hash`, `\!bang`,
		"trail   ", `space\ `, "br{a,b}", "[abc].c", "[!x].h", "q?", "mid**dle", "[", "foo[", "*.[ch]pp", "neg/*", "!neg/keep",
		"[[:digit:]].d", "esc\\*",
	}, "\n"))
	k.file("sub/.gitignore", "!root.o\nlocal\n/anch\n")
	for _, name := range []string{
		"a.o", "main.o", "sub/main.o", "sub/root.o", "root", "sub/root", "dir/f", "sub/dir/g", "file/dir", "a/b.txt", "a/b/c.txt",
		"sub/a/b.txt", "deep", "q/w/deep", "x/y", "x/1/y", "x/1/2/y", "x/1/n", "z/f", "z/g/h", "#hash", "!bang", "trail", "space ", "space",
		"bra", "br{a,b}", "a.c", "d.c", "x.h", "y.h", "qa", "qaa", "midXdle", "mid/dle", "foo[", "[", "n.cpp", "n.hpp", "n.xpp", "neg/keep",
		"neg/other", "1.d", "a.d", "esc*", "escx", "sub/local", "local", "sub/anch", "sub/more/anch", "excluded", "sub/excluded", "plain", "sub/plain",
	} {
		k.file(name, "")
	}
	want := run("", "ls-files", "-z", "--others", "--exclude-standard")
	listed := map[string]bool{}
	for _, name := range strings.Split(strings.TrimSuffix(want, "\x00"), "\x00") {
		listed[name] = true
	}
	got := map[string]bool{}
	for _, name := range strings.Split(k.ok("find", m{"pattern": "**"}), "\n") {
		if !strings.HasSuffix(name, "/") {
			got[name] = true
		}
	}
	for name := range listed {
		if !got[name] {
			t.Errorf("git lists %q, find does not", name)
		}
	}
	for name := range got {
		if !listed[name] {
			t.Errorf("find lists %q, git does not", name)
		}
	}
	if len(got) < 20 {
		t.Errorf("only %d files left: the test lost its point", len(got))
	}
}

func TestIgnoreStopsAtRepositories(t *testing.T) {
	k := newKit(t, nil)
	k.file(".gitignore", "*.x\n")
	k.file("repo/.git/HEAD", "")
	k.file("repo/sub/a.x", "")
	k.file("b.x", "")
	if got := k.ok("find", m{"pattern": "*.x"}); got != "repo/sub/a.x" {
		t.Errorf("got %q", got)
	}
	k.file("repo/.gitignore", "a.*\n")
	if got := k.ok("find", m{"pattern": "*.x", "path": "repo/sub"}); got != "no file or folder matches" {
		t.Errorf("rules above the folder: %q", got)
	}
}

func TestGlob(t *testing.T) {
	for _, tt := range []struct {
		glob, path string
		want       bool
	}{
		{"*.go", "a.go", true},
		{"*.go", "a/b.go", false},
		{"**/*.go", "b.go", true},
		{"**/*.go", "x/y/b.go", true},
		{"a/**", "a/b/c", true},
		{"a/**/b", "a/b", true},
		{"a/**/b", "a/x/y/b", true},
		{"a**b", "a/b", false},
		{"?", "é", true},
		{"?", "/", false},
		{"[a-c]x", "bx", true},
		{"[!a-c]x", "bx", false},
		{"[^/]", "/", false},
		{"[]]", "]", true},
		{"[\\]]", "]", true},
		{"[a\\-c]", "b", false},
		{"{a,b{c,d}}e", "bde", true},
		{"a.b", "axb", false},
		{`\*`, "*", true},
		{`\*`, "x", false},
		{"(a|b)+", "(a|b)+", true},
	} {
		re, err := compileGlob(tt.glob, true, false)
		if err != nil {
			t.Errorf("%s: %v", tt.glob, err)
			continue
		}
		if got := re.MatchString(tt.path); got != tt.want {
			t.Errorf("%s with %s: %v (%s)", tt.glob, tt.path, got, re)
		}
	}
}

func FuzzGlob(f *testing.F) {
	f.Add("**/[a-z]*.{go,ts}", "a/b.go")
	f.Add("[!]^\\", "\\")
	f.Fuzz(func(_ *testing.T, glob, path string) {
		// Nothing but a panic is wrong: foreign patterns come from models and ignore files.
		if rule, ok := parseIgnoreRule(glob, true); ok {
			rule.matches(path, true)
		}
	})
}

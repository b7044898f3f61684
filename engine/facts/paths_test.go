package facts

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree makes a folder with a workspace ws, links and files; cfg is told against it.
func tree(t testing.TB) (string, *Computer) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the cases are about paths of Unix")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(p string) string { return filepath.Join(root, p) }
	var errs []error
	for _, d := range []string{"ws/src", "ws/.weir", "home", "else/deep"} {
		errs = append(errs, os.MkdirAll(at(d), 0o755))
	}
	for _, f := range []string{"ws/a.txt", "ws/src/b.txt", "else/c.txt", "home/own.toml"} {
		errs = append(errs, os.WriteFile(at(f), []byte("x"), 0o600))
	}
	errs = append(errs, os.Link(at("ws/a.txt"), at("ws/again.txt")), os.Symlink("../else", at("ws/out")), os.Symlink(at("else/none/x"), at("ws/dangling")),
		os.Symlink("loop", at("ws/loop")), os.Symlink(at("ws"), at("else/back")), os.Symlink("../else/deep", at("ws/deep")), os.Symlink(at("home/own.toml"), at("ws/settings")))
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return root, New(Config{Workspace: at("ws"), Home: at("home"), Own: []string{at("ws/.weir"), at("home/own.toml")}})
}

// shortPath is what a test says of a path: with the root left out.
func shortPath(root string, p *Path) string {
	if p.Dynamic {
		return string(p.Op) + " " + p.Raw + " dynamic"
	}
	real := strings.TrimPrefix(p.Real, root)
	words := []string{string(p.Op), real, p.Kind}
	for _, f := range []struct {
		on   bool
		word string
	}{{p.Inside, "inside"}, {p.Own, "own"}, {p.HoldsOwn, "holdsOwn"}, {p.Unresolved, "unresolved"}, {p.Links > 1, "links"}, {p.Glob, "glob"}} {
		if f.on {
			words = append(words, f.word)
		}
	}
	return strings.Join(words, " ")
}

func TestPaths(t *testing.T) {
	root, c := tree(t)
	for _, test := range []struct {
		tool, input string
		want        []string
	}{
		{"read", `{"path":"src/b.txt"}`, []string{"read /ws/src/b.txt file inside"}},
		{"read", `{"path":"./src//../a.txt"}`, []string{"read /ws/a.txt file inside links"}},
		{"write", `{"path":"new/deep/file"}`, []string{"write /ws/new/deep/file missing inside"}},
		{"write", `{"path":"../x"}`, []string{"write /x missing"}},
		{"edit", `{"path":"out/c.txt"}`, []string{"write /else/c.txt file"}},
		{"write", `{"path":"out/new/x"}`, []string{"write /else/new/x missing"}},
		{"write", `{"path":"dangling"}`, []string{"write /else/none/x missing"}},
		{"read", `{"path":"loop"}`, []string{"read /ws/loop symlink inside unresolved"}},
		{"read", `{"path":"a.txt/b"}`, []string{"read /ws/a.txt/b missing inside"}},
		{"read", `{"path":"deep/../c.txt"}`, []string{"read /ws/c.txt missing inside"}}, // tools go by the text
		{"read", `{"path":"` + root + `/else/back/src/b.txt"}`, []string{"read /ws/src/b.txt file inside"}},
		{"read", `{"path":"~/own.toml"}`, []string{"read /home/own.toml file own"}},
		{"write", `{"path":"settings"}`, []string{"write /home/own.toml file own"}},
		{"write", `{"path":".weir/new"}`, []string{"write /ws/.weir/new missing inside own"}},
		{"ls", `{}`, []string{"list /ws dir inside holdsOwn"}},
		{"grep", `{"pattern":"x","glob":"../else/*.txt"}`, []string{"search /ws dir inside holdsOwn", "search /else dir glob"}},
		{"find", `{"pattern":"*.go","path":"src"}`, []string{"search /ws/src dir inside", "search /ws/src dir inside glob"}},
		{"read", `{"path":"a\u0000b"}`, []string{"read /ws/a\x00b missing inside unresolved"}},
		{"read", `{"path":3}`, nil},
		{"mcp__fs__copy", `{"source":"a.txt","destination":"../y","note":"z"}`, []string{"use /y missing", "use /ws/a.txt file inside links"}},
		{"mcp__fs__read", `{"paths":["a.txt","/etc"]}`, []string{"use /ws/a.txt file inside links", "use /etc dir"}},
		{
			"apply_patch", `{"input":"*** Begin Patch\n*** Add File: n\n+x\n*** Update File: a.txt\n*** Move to: ../m\n*** Delete File: src/b.txt\n*** End Patch"}`,
			[]string{"write /ws/n missing inside", "write /ws/a.txt file inside links", "write /m missing", "delete /ws/src/b.txt file inside"},
		},
		{"patch", `{"diff":"--- a/a.txt\t2020\n+++ b/../q\n@@"}`, []string{"read /ws/a.txt file inside links", "write /q missing"}},
		{
			"bash", `{"command":"cat a.txt > ../o && rm -rf \"$D\" src/*.txt ~/z"}`,
			[]string{"write /o missing", "read /ws/a.txt file inside links", "delete $D dynamic", "delete /ws/src dir inside glob", "delete /home/z missing"},
		},
		{
			"bash", `{"command":"cd deep && cp ../c.txt x; cd \"$Q\"; rm y /else"}`,
			[]string{"list /else/deep dir", "read /else/c.txt file", "write /else/deep/x missing", "list $Q dynamic", "delete y dynamic", "delete " + "/else missing"},
		},
		{
			"bash", `{"command":"dd if=/dev/zero of=../d; grep -r a/b src; tar -C /etc -xf ../t.tar --file=/etc/u; git show HEAD:a/b; curl http://x/y -o out/z"}`,
			[]string{"use /dev/zero device", "write /d missing", "read /ws/src dir inside", "use /etc/u missing", "use /etc dir", "use /t.tar missing", "use /else/z missing"},
		},
		{"bash", `{"command":"./run.sh && bash ../s.sh"}`, []string{"execute /ws/run.sh missing inside", "execute /s.sh missing"}},
	} {
		ev := c.ToolCall(test.tool, json.RawMessage(test.input))
		var got []string
		for i := range ev.Paths().List {
			got = append(got, shortPath(root, &ev.Paths().List[i]))
		}
		// The folder of the test lies outside of what the cases spell out.
		for i := range got {
			got[i] = strings.ReplaceAll(got[i], root, "")
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s %s: %s", test.tool, test.input, diff)
		}
		if raw := ev.JSON(KindPaths); !json.Valid(raw) {
			t.Errorf("%s: not JSON: %s", test.input, raw)
		}
	}
}

// TestPathsJSON holds the shape that the package documentation promises.
func TestPathsJSON(t *testing.T) {
	root, c := tree(t)
	got := strings.ReplaceAll(string(c.ToolCall("write", json.RawMessage(`{"path":"out/x"}`)).JSON(KindPaths)), root, "")
	const want = `{"paths":{"workspace":"/ws","paths":[{"raw":"out/x","op":"write","arg":"path","abs":"/ws/out/x","real":"/else/x","inside":false,"own":false,"exists":false,"kind":"missing"}]}}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got = string(c.ToolCall("bash", bash(t, `rm "$X"`)).JSON(KindPaths))
	if !strings.Contains(got, `{"raw":"$X","op":"delete","arg":"command","command":0,"dynamic":true}`) {
		t.Error(got)
	}
}

// TestPathsBounds: many paths, and long ones, are not all looked up.
func TestPathsBounds(t *testing.T) {
	_, c := tree(t)
	many := c.ToolCall("bash", bash(t, "rm "+strings.Repeat("a ", 5000))).Paths()
	if len(many.List) != maxPaths || !many.Truncated {
		t.Errorf("%d paths, truncated %v", len(many.List), many.Truncated)
	}
	raw, err := json.Marshal(map[string]string{"path": strings.Repeat("a/", 100_000)})
	if err != nil {
		t.Fatal(err)
	}
	if long := c.ToolCall("read", raw).Paths().List[0]; !long.Unresolved {
		t.Errorf("a path of 200 KB was resolved")
	}
}

// FuzzPaths compares realPath with what the system says of paths that exist.
func FuzzPaths(f *testing.F) {
	for _, s := range []string{"a.txt", "out/c.txt", "deep/../c.txt", "else/back/src", "./src/.././a.txt", "loop/x", "a.txt/..", "out/back/deep/../..", "//ws///src/"} {
		f.Add(s)
	}
	root, _ := tree(f)
	f.Fuzz(func(t *testing.T, s string) {
		path := root + "/ws/" + s
		real, _, unresolved := realPath(path)
		want, err := filepath.EvalSymlinks(path)
		if err != nil || unresolved {
			return
		}
		// EvalSymlinks cleans what lies between; the kernel does not.
		if strings.Contains(s, "..") {
			fd, err := os.Open(path)
			if err != nil {
				return
			}
			a, errA := fd.Stat()
			b, errB := os.Stat(real)
			if err := errors.Join(errA, errB, fd.Close()); err != nil || !os.SameFile(a, b) {
				t.Errorf("%q is not %q (%v)", path, real, err)
			}
			return
		}
		if real != want {
			t.Errorf("%q: %q, want %q", path, real, want)
		}
	})
}

func BenchmarkPaths(b *testing.B) {
	_, c := tree(b)
	for name, input := range map[string]string{"exists": `{"path":"src/b.txt"}`, "link": `{"path":"out/c.txt"}`, "missing": `{"path":"new/deep/folder/file.txt"}`} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.ToolCall("read", json.RawMessage(input)).JSON(KindPaths)
			}
		})
	}
}

package tools

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestWrite(t *testing.T) {
	k := newKit(t, nil)
	if got := k.ok("write", m{"path": "a/b/c.txt", "content": "héllo"}); got != "created a/b/c.txt with 6 bytes" {
		t.Errorf("got %q", got)
	}
	if got := k.ok("write", m{"path": "a/b/c.txt", "content": ""}); got != "replaced a/b/c.txt with 0 bytes" {
		t.Errorf("got %q", got)
	}
	if got := k.content("a/b/c.txt"); got != "" {
		t.Errorf("content %q", got)
	}
	entries, err := os.ReadDir(filepath.Join(k.dir, "a/b"))
	if err != nil || len(entries) != 1 {
		t.Errorf("left over: %v, %v", entries, err)
	}
	k.fails("write", m{"path": "a", "content": "x"}, "is a folder")
	k.fails("write", m{"path": "a/b/c.txt/d", "content": "x"})
	k.fails("write", m{"path": "x"}, "content", "missing")
}

func TestWriteKeepsModeAndLinks(t *testing.T) {
	k := newKit(t, nil)
	script := k.file("script", "old")
	if err := os.Chmod(script, 0o750); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"link": "script", "dangling": "sub/new", "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(k.dir, name)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	k.ok("write", m{"path": "link", "content": "new"})
	info, err := os.Lstat(script)
	if err != nil || info.Mode().Perm() != 0o750 || k.content("script") != "new" {
		t.Errorf("script: %v, %v, %q", info.Mode(), err, k.content("script"))
	}
	if info, err := os.Lstat(filepath.Join(k.dir, "link")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info, err)
	}
	k.ok("write", m{"path": "dangling", "content": "made"})
	if got := k.content("sub/new"); got != "made" {
		t.Errorf("content %q", got)
	}
	k.fails("write", m{"path": "loop", "content": "x"}, "symbolic links")
	if os.Getuid() != 0 { // root may write anything
		if err := os.Chmod(script, 0o440); err != nil {
			t.Fatal(err)
		}
		k.fails("write", m{"path": "script", "content": "x"}, "permission denied")
	}
}

func edits(pairs ...string) []m {
	var list []m
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, m{"oldText": pairs[i], "newText": pairs[i+1]})
	}
	return list
}

func TestEdit(t *testing.T) {
	for _, tt := range []struct {
		name, before string
		edits        []m
		want         string
	}{
		{"one", "a\nb\nc\n", edits("b", "B"), "a\nB\nc\n"},
		{"several, out of order", "a\nb\nc\n", edits("c\n", "", "a", "x\ny"), "x\ny\nb\n"},
		{"looked up in the old text", "a b", edits("a", "b", "b", "a"), "b a"},
		{"adjacent", "ab", edits("a", "1", "b", "2"), "12"},
		{"crlf", "a\r\nb\r\nc\r\n", edits("a\nb", "x\ny\nz"), "x\r\ny\r\nz\r\nc\r\n"},
		{"crlf at the edges", "a\r\nb\r\nc", edits("\nb\n", "\n"), "a\r\nc"},
		{"mixed line ends elsewhere stay", "a\r\nb\nc\rd\n", edits("d", "D"), "a\r\nb\nc\rD\n"},
		{"byte order mark", "\ufeffone\ntwo", edits("one\n", "1\n"), "\ufeff1\ntwo"},
		{"not UTF-8", "caf\xe9\nx\n", edits("x", "y"), "caf\xe9\ny\n"},
		{"no line end at the end", "a\nb", edits("b", "c"), "a\nc"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := newKit(t, nil)
			k.file("f", tt.before)
			k.ok("edit", m{"path": "f", "edits": tt.edits})
			if got := k.content("f"); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestEditRefuses(t *testing.T) {
	k := newKit(t, nil)
	const before = "func a() {\n\treturn 1\n}\nx\nx\naaa\n"
	k.file("f", before)
	k.file("bin", "a\x00b")
	for _, tt := range []struct {
		edits any
		want  string
	}{
		{edits("x", "y"), "the text is in f 2 times, at lines 4, 5"},
		{edits("aa", "b"), "2 times, at lines 6, 6"},
		{edits("nowhere", ""), "the text is not in f; it must match exactly"},
		{edits("func a() {\n  return 1\n}", ""), "line 1 differs in white space only"},
		{edits("func", "f", "nowhere", ""), "edits[1].oldText is not in f"},
		{edits("func a", "f", "a() {", ""), "edits[0] and edits[1] overlap"},
		{edits("func", "func"), "not changed"},
		{edits("", "x"), "oldText is empty"},
		{[]m{}, "at least one"},
		{"text", "must be a list"},
		{[]m{{"oldText": "x"}}, `edits[0]: argument "newText" is missing`},
	} {
		k.fails("edit", m{"path": "f", "edits": tt.edits}, tt.want)
	}
	k.fails("edit", m{"path": "bin", "edits": edits("a", "b")}, "binary")
	k.fails("edit", m{"path": "missing", "edits": edits("a", "b")}, "no such file")
	if got := k.content("f"); got != before {
		t.Errorf("the file changed: %q", got)
	}
}

func TestEditDetails(t *testing.T) {
	k := newKit(t, nil)
	k.file("f", numbered(30))
	result, err := k.call(t.Context(), "edit", m{"path": "f", "edits": edits("line 10\n", "ten\nten and a half\n", "line 25", "25")})
	if err != nil {
		t.Fatal(err)
	}
	details := detailsOf(t, result)
	const want = `--- f
+++ f
@@ -6,9 +6,10 @@
 line 6
 line 7
 line 8
 line 9
-line 10
+ten
+ten and a half
 line 11
 line 12
 line 13
 line 14
@@ -21,9 +22,9 @@
 line 21
 line 22
 line 23
 line 24
-line 25
+25
 line 26
 line 27
 line 28
 line 29
`
	if details["patch"] != want {
		t.Errorf("patch:\n%s\nwant:\n%s", details["patch"], want)
	}
	if details["firstChangedLine"] != 10.0 {
		t.Errorf("first changed line %v", details["firstChangedLine"])
	}
	contains(t, details["diff"].(string), "-10 line 10\n+10 ten\n+11 ten and a half\n 11 line 11")
}

// The patch of any edit, given to patch(1), makes the new file of the old one.
func TestEditPatchesApply(t *testing.T) {
	if _, err := exec.LookPath("patch"); err != nil {
		t.Skip("needs patch")
	}
	for i, tt := range []struct {
		before string
		edits  []m
	}{
		{numbered(20), edits("line 3\n", "", "line 7", "seven\n", "line 20\n", "")},
		{numbered(20), edits("line 1\nline 2\nline 3\n", "")},
		{numbered(20), edits("line 5\n", "five ", "line 6\n", "")},
		{numbered(20), edits("5\nline 6\nl", "x")},
		{numbered(3), edits("line 1\nline 2\nline 3\n", "")},
		{"a\nb", edits("b", "c\n")},
		{"a\nb\n", edits("\nb\n", "")},
		{"a\nb\nc\n", edits("a\n", "x", "b\n", "")},
		{"a\nb\nc\nd", edits("a\n", "", "c\n", "", "d", "")},
	} {
		k := newKit(t, nil)
		k.file("f", tt.before)
		k.file("old", tt.before)
		result, err := k.call(t.Context(), "edit", m{"path": "f", "edits": tt.edits})
		if err != nil {
			t.Fatal(err)
		}
		patch := detailsOf(t, result)["patch"].(string)
		cmd := exec.Command("patch", "--quiet", "old")
		cmd.Dir, cmd.Stdin = k.dir, strings.NewReader(patch)
		out, err := cmd.CombinedOutput()
		got := ""
		if _, statErr := os.Stat(filepath.Join(k.dir, "old")); statErr == nil { // patch removes a file that becomes empty
			got = k.content("old")
		}
		if err != nil || got != k.content("f") {
			t.Errorf("case %d: %v %s\npatch:\n%s\ngives %q, want %q", i, err, out, patch, got, k.content("f"))
		}
	}
}

func TestEditsOfOneFileWaitForOneAnother(t *testing.T) {
	k := newKit(t, nil)
	const n = 40
	var before strings.Builder
	for i := range n {
		fmt.Fprintf(&before, "<%d>\n", i)
	}
	k.file("f", before.String())
	if err := os.Symlink("f", filepath.Join(k.dir, "other")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			path := "f"
			if i%2 == 1 {
				path = "./other"
			}
			if _, err := k.call(t.Context(), "edit", m{"path": path, "edits": edits(fmt.Sprintf("<%d>", i), fmt.Sprintf("(%d)", i))}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got, want := k.content("f"), strings.NewReplacer("<", "(", ">", ")").Replace(before.String()); got != want {
		t.Errorf("an edit was lost: %q", got)
	}
}

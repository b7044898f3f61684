package wasmhost_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"weir/wasmhost"
)

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFile(t *testing.T) {
	top := t.TempDir()
	docs, more := filepath.Join(top, "docs"), filepath.Join(top, "more")
	writeFile(t, filepath.Join(docs, "guide.md"), "# Guide\n")
	writeFile(t, filepath.Join(docs, "sub", "a.txt"), "a")
	writeFile(t, filepath.Join(docs, "binary"), "\xff\x00")
	writeFile(t, filepath.Join(more, "other.md"), "other")
	writeFile(t, filepath.Join(more, "guide.md"), "hidden behind the first folder's")
	writeFile(t, filepath.Join(top, "secret"), "secret")
	c, err := wasmhost.File([]string{docs, more})
	if err != nil {
		t.Fatal(err)
	}
	abs := filepath.ToSlash
	talk(
		t, c,
		exchange{`{"op":"read","path":"guide.md"}`, `{"text":"# Guide\n"}`},
		exchange{`{"op":"read","path":"./sub/../sub/a.txt"}`, `{"text":"a"}`},
		exchange{`{"op":"read","path":"other.md"}`, `{"text":"other"}`},
		exchange{`{"op":"read","path":"` + abs(more) + `/guide.md"}`, `{"text":"hidden behind the first folder's"}`},
		exchange{`{"op":"read","path":"binary"}`, `error: read: binary: not UTF-8 text; ask for "encoding":"base64"`},
		exchange{`{"op":"read","path":"binary","encoding":"base64"}`, `{"base64":"/wA="}`},
		exchange{`{"op":"read","path":"binary","encoding":"hex"}`, `error: read: unknown encoding "hex"; there is base64`},
		exchange{`{"op":"read","path":"none"}`, `error: read: none: file does not exist`},
		exchange{`{"op":"read","path":"sub"}`, `error: read: sub: not a regular file`},
		exchange{`{"op":"stat","path":"guide.md"}`, `{"name":"guide.md","dir":false,"size":8}`},
		exchange{`{"op":"stat","path":"sub"}`, `{"name":"sub","dir":true,"size":0}`},
		exchange{`{"op":"stat","path":"none"}`, `error: stat: none: file does not exist`},
		exchange{`{"op":"list","path":"."}`, `{"entries":[{"name":"binary","dir":false,"size":2},{"name":"guide.md","dir":false,"size":8},{"name":"sub","dir":true,"size":0}]}`},
		exchange{`{"op":"list","path":"sub"}`, `{"entries":[{"name":"a.txt","dir":false,"size":1}]}`},
		exchange{`{"op":"list","path":"guide.md"}`, `error: list: guide.md: not a folder`},
		exchange{`{"op":"write","path":"guide.md"}`, `error: unknown op "write" (known: read, list, stat)`},
		exchange{`{"op":"read","path":"guide.md","offset":1}`, `error: read: unknown key "offset"; known are encoding, op, path`},
	)
	// Outside is outside, whether it is there or not.
	for _, path := range []string{"../secret", "sub/../../secret", abs(top) + "/secret", abs(top) + "/none", "/etc/passwd", "..", "", abs(top), abs(docs) + "2/x", "../docs/guide.md"} {
		for _, operation := range []string{"read", "stat", "list"} {
			if got, want := ask(t, c, fmt.Sprintf(`{"op":%q,"path":%q}`, operation, path)), "error: "+operation+": "+path+": not below a granted folder"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	}
	if got := ask(t, c, `{"op":"read","path":"guide.md\u0000x"}`); !strings.HasPrefix(got, "error: ") {
		t.Errorf("a path with a NUL: %s", got)
	}
	for _, bad := range []string{filepath.Join(top, "none"), filepath.Join(top, "secret")} {
		if _, err := wasmhost.File([]string{bad}); err == nil {
			t.Errorf("%s was taken for a folder", bad)
		}
	}
}

func TestFileLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	top := t.TempDir()
	docs := filepath.Join(top, "docs")
	writeFile(t, filepath.Join(docs, "guide.md"), "guide")
	writeFile(t, filepath.Join(top, "secret"), "secret")
	for name, target := range map[string]string{
		"inside": "guide.md", "outside": "../secret", "absolute": filepath.Join(top, "secret"), "folder": "..", "loop": "loop", "dangling": "none", "passwd": "/etc/passwd",
		"absolute_inside": filepath.Join(docs, "guide.md"),
	} {
		if err := os.Symlink(target, filepath.Join(docs, name)); err != nil {
			t.Fatal(err)
		}
	}
	c, err := wasmhost.File([]string{docs})
	if err != nil {
		t.Fatal(err)
	}
	talk(
		t, c,
		exchange{`{"op":"read","path":"inside"}`, `{"text":"guide"}`},
		exchange{`{"op":"read","path":"outside"}`, `error: read: outside: not below a granted folder`},
		exchange{`{"op":"stat","path":"outside"}`, `error: stat: outside: not below a granted folder`},
		exchange{`{"op":"read","path":"absolute"}`, `error: read: absolute: not below a granted folder`},
		exchange{`{"op":"read","path":"passwd"}`, `error: read: passwd: not below a granted folder`},
		exchange{`{"op":"read","path":"folder/secret"}`, `error: read: folder/secret: not below a granted folder`},
		exchange{`{"op":"list","path":"folder"}`, `error: list: folder: not below a granted folder`},
		exchange{`{"op":"read","path":"dangling"}`, `error: read: dangling: file does not exist`},
	)
	for _, path := range []string{"loop", "absolute_inside"} {
		if got := ask(t, c, `{"op":"read","path":"`+path+`"}`); strings.Contains(got, `"text"`) {
			t.Errorf("%s: %s", path, got)
		}
	}
	// A granted folder that is replaced by a link to elsewhere after it was granted leads there: it is the owner's to do so.
	if got := ask(t, c, `{"op":"list","path":"."}`); strings.Contains(got, "secret") && !strings.Contains(got, "guide.md") {
		t.Error(got)
	}
}

func TestFileLimits(t *testing.T) {
	dir := t.TempDir()
	c, err := wasmhost.File([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	// A sparse file costs nothing.
	big, err := os.Create(filepath.Join(dir, "big"))
	if err != nil {
		t.Fatal(err)
	}
	if err := big.Truncate(8<<20 + 1); err != nil {
		t.Fatal(err)
	}
	talk(
		t, c,
		exchange{`{"op":"read","path":"big"}`, `error: read: big: 8388609 bytes, more than the limit of 8388608`},
		exchange{`{"op":"stat","path":"big"}`, `{"name":"big","dir":false,"size":8388609}`},
	)
	if err := big.Truncate(8 << 20); err != nil {
		t.Fatal(err)
	}
	if err := big.Close(); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, c, `{"op":"read","path":"big"}`); len(got) != 6*8<<20+len(`{"text":""}`) { // each NUL is \u0000
		t.Errorf("8 MiB: %s", short(got))
	}
	if got := ask(t, c, `{"op":"read","path":"big","encoding":"base64"}`); len(got) != base64.StdEncoding.EncodedLen(8<<20)+len(`{"base64":""}`) {
		t.Errorf("8 MiB: %s", short(got))
	}
	if testing.Short() {
		t.Skip("makes 2,001 folders")
	}
	many := filepath.Join(dir, "many")
	if err := os.Mkdir(many, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 2_001 {
		if err := os.Mkdir(filepath.Join(many, fmt.Sprint(i)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	talk(t, c, exchange{`{"op":"list","path":"many"}`, `error: list: many: more than 2000 entries`})
}

// TestFilePipe: a pipe would hold a reader until somebody writes.
func TestFilePipe(t *testing.T) {
	dir := t.TempDir()
	if err := makePipe(filepath.Join(dir, "pipe")); err != nil {
		t.Skip(err)
	}
	c, err := wasmhost.File([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	talk(
		t, c,
		exchange{`{"op":"read","path":"pipe"}`, `error: read: pipe: not a regular file`},
		exchange{`{"op":"list","path":"pipe"}`, `error: list: pipe: not a folder`},
		exchange{`{"op":"stat","path":"pipe"}`, `{"name":"pipe","dir":false,"size":0}`},
	)
	if took := time.Since(start); took > time.Second {
		t.Errorf("it took %v", took)
	}
}

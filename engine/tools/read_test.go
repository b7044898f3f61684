package tools

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/agentcore"
)

// numbered is n lines "line 1" to "line n".
func numbered(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestReadText(t *testing.T) {
	k := newKit(t, nil)
	k.file("f", numbered(10))
	k.file("crlf", "a\r\nb")
	k.file("bom", "\ufefftext")
	k.file("empty", "")
	k.file("latin", "caf\xe9\nok\n")
	for _, tt := range []struct {
		args m
		want string
	}{
		{m{"path": "f"}, numbered(10)},
		{m{"path": filepath.Join(k.dir, "f")}, numbered(10)},
		{m{"path": "f", "offset": 9}, "line 9\nline 10\n"},
		{m{"path": "f", "offset": 0, "limit": 1}, "line 1\n\n[lines 1 to 1 of 10 are shown; go on with offset=2]"},
		{m{"path": "f", "offset": 4, "limit": 2}, "line 4\nline 5\n\n[lines 4 to 5 of 10 are shown; go on with offset=6]"},
		{m{"path": "f", "offset": 9, "limit": 2}, "line 9\nline 10\n"},
		{m{"path": "f", "offset": 2.9, "limit": 1.9}, "line 2\n\n[lines 2 to 2 of 10 are shown; go on with offset=3]"},
		{m{"path": "crlf"}, "a\r\nb"},
		{m{"path": "bom"}, "text"},
		{m{"path": "empty"}, "[the file is empty]"},
		{m{"path": "latin"}, "caf\ufffd\nok\n\n[bytes that are not UTF-8 are shown as \ufffd]"},
	} {
		if got := k.ok("read", tt.args); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.args, got, tt.want)
		}
	}
	k.fails("read", m{"path": "f", "offset": 11}, "offset 11 is past the end", "10")
	k.fails("read", m{"path": "f", "limit": 0}, "limit", "at least 1")
	k.fails("read", m{"path": "missing"}, "missing", "no such file")
}

func TestReadIsCut(t *testing.T) {
	k := newKit(t, nil)
	k.file("lines", numbered(2500))
	result, err := k.call(t.Context(), "read", m{"path": "lines"})
	if err != nil {
		t.Fatal(err)
	}
	text := textOf(t, result)
	contains(t, text, "line 2000\n\n[lines 1 to 2000 of 2500 are shown (2000 lines at once); go on with offset=2001]")
	cut := detailsOf(t, result)["truncation"].(map[string]any)
	if cut["truncatedBy"] != "lines" || cut["totalLines"] != 2500.0 || cut["outputLines"] != 2000.0 || cut["content"] != nil {
		t.Errorf("details %v", cut)
	}

	k.file("bytes", strings.Repeat(strings.Repeat("x", 99)+"\n", 1000))
	result, err = k.call(t.Context(), "read", m{"path": "bytes"})
	if err != nil {
		t.Fatal(err)
	}
	contains(t, textOf(t, result), "x\n\n[lines 1 to 512 of 1000 are shown (50 KB at once); go on with offset=513]")
	if cut := detailsOf(t, result)["truncation"].(map[string]any); cut["outputBytes"] != 51199.0 {
		t.Errorf("details %v", cut)
	}

	k.file("long line", "short\n"+strings.Repeat("y", 200_000)+"\nend\n")
	contains(t, k.ok("read", m{"path": "long line"}), "short\n\n[lines 1 to 1 of 3 are shown (50 KB at once); go on with offset=2]")
	if got := k.ok("read", m{"path": "long line", "offset": 2}); got !=
		"[line 2 of 3 is longer than the 50 KB that read returns at once; use bash, for example: sed -n 2p 'long line' | head -c 51200]" {
		t.Errorf("got %q", got)
	}
	if got := k.ok("read", m{"path": "long line", "offset": 3}); got != "end\n" {
		t.Errorf("got %q", got)
	}
}

// A sparse file of 8 GB would not fit into memory; reading its beginning must not even try.
func TestReadHugeFile(t *testing.T) {
	k := newKit(t, nil)
	path := k.file("huge", numbered(3000))
	if err := os.Truncate(path, 8<<30); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	contains(t, k.ok("read", m{"path": "huge", "limit": 2}), "line 1\nline 2\n\n[lines 1 to 2 of more than 3001 are shown; go on with offset=3]")
}

func TestReadImage(t *testing.T) {
	k := newKit(t, nil)
	for name, tt := range map[string]struct{ head, mime string }{
		"png.txt": {"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00", "image/png"},
		"a.gif":   {"GIF89a\x01\x00", "image/gif"},
		"a.jpg":   {"\xff\xd8\xff\xe0\x00\x10JFIF", "image/jpeg"},
		"a.webp":  {"RIFF\x10\x00\x00\x00WEBPVP8 ", "image/webp"},
	} {
		k.file(name, tt.head)
		result, err := k.call(t.Context(), "read", m{"path": name})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		image, ok := result.Content[len(result.Content)-1].(*agentcore.ImageBlock)
		if !ok || image.MimeType != tt.mime || image.Data != base64.StdEncoding.EncodeToString([]byte(tt.head)) {
			t.Errorf("%s: %+v", name, result.Content)
		}
	}
	path := k.file("large.png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00")
	if err := os.Truncate(path, 4<<20); err != nil {
		t.Fatal(err)
	}
	result, err := k.call(t.Context(), "read", m{"path": "large.png"})
	if err != nil || len(result.Content) != 1 {
		t.Fatalf("%v, %v", result, err)
	}
	contains(t, textOf(t, result), "left out", "4 MB", "3.4 MB")
	k.file("fake.png", "just text")
	if got := k.ok("read", m{"path": "fake.png"}); got != "just text" {
		t.Errorf("got %q", got)
	}
}

func TestReadRefuses(t *testing.T) {
	k := newKit(t, nil)
	k.file("bin file", "\x7fELF\x02\x00\x00")
	k.fails("read", m{"path": "bin file"}, "binary file (7 bytes)", "od -A x -t x1z 'bin file'")
	k.file("utf16", "\xff\xfeh\x00i\x00")
	k.fails("read", m{"path": "utf16"}, "UTF-16", "iconv")
	k.fails("read", m{"path": "."}, "is a folder", "ls")
}

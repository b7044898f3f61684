package tools

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkGrep searches 300 files of 40 KB, next to grep(1) where there is one. Nothing matches: every byte is read.
func BenchmarkGrep(b *testing.B) {
	root := b.TempDir()
	text := strings.Repeat("func lookup(name string) (value int, err error) { return 0, nil }\n", 600)
	for i := range 300 {
		dir := filepath.Join(root, fmt.Sprintf("d%02d", i%20))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.go", i)), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	set, err := newToolset(Config{Cwd: root})
	if err != nil {
		b.Fatal(err)
	}
	tool := set.grepTool()
	b.Run("tool", func(b *testing.B) {
		b.SetBytes(int64(300 * len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := tool.Execute(b.Context(), "c", []byte(`{"pattern":"no such thing [0-9]+"}`), nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("grep", func(b *testing.B) {
		if _, err := exec.LookPath("grep"); err != nil {
			b.Skip("needs grep")
		}
		b.SetBytes(int64(300 * len(text)))
		for b.Loop() {
			// Exit code 1 means no match, which is what is wanted here.
			_ = exec.Command("grep", "-rnIE", "no such thing [0-9]+", root).Run()
		}
	})
}

// BenchmarkBash is what a command costs beside its own work; the peer is the shell alone.
func BenchmarkBash(b *testing.B) {
	set, err := newToolset(Config{Cwd: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	tool := set.bashTool()
	b.Run("tool", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := tool.Execute(b.Context(), "c", []byte(`{"command":"echo x"}`), nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("exec", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command(set.shell, "-c", "echo x").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

//go:build unix

package resources

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestLoadPipe: what is no file is not waited for.
func TestLoadPipe(t *testing.T) {
	root := folder(t, nil)
	if err := syscall.Mkfifo(filepath.Join(root, "pipe.md"), 0o600); err != nil {
		t.Skip(err)
	}
	if _, list := load([]string{"pipe.md"}, []string{"pipe.md"}, []string{root}); len(list) != 1 || !strings.Contains(list[0], "it is not a regular file") {
		t.Errorf("%q", list)
	}
}

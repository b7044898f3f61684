// Package granted finds files below the folders that an extension may read: for the extension itself, and where the host reads for it.
package granted

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrOutside is a path that is below none of the folders, or that leaves its folder by a link.
var ErrOutside = errors.New("not below a granted folder")

// Find runs something on path in the first of the folders that has it; an absolute path is looked for in those that it is below. The
// errors are those of [In]; fs.ErrNotExist when no folder has it.
func Find(path string, folders []string, run func(root *os.Root, name string) error) error {
	path = filepath.FromSlash(path)
	result := ErrOutside
	for _, folder := range folders {
		name := path
		if filepath.IsAbs(path) {
			rel, err := filepath.Rel(folder, path)
			if err != nil {
				continue
			}
			name = rel
		}
		if !filepath.IsLocal(name) {
			continue
		}
		err := In(folder, name, run)
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		result = err
	}
	return result
}

// In opens a folder and runs something on name, which cannot leave it. The error does not say where the folder lies on this machine,
// which a guest need not know: fs.ErrNotExist, fs.ErrPermission, [ErrOutside], or what run returned.
func In(folder, name string, run func(root *os.Root, name string) error) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return withoutPath(err)
	}
	defer func() { _ = root.Close() }() // nothing was written
	return withoutPath(run(root, name))
}

// Open opens a file or folder to read it, without blocking: opening a pipe would wait for somebody to write to it.
func Open(root *os.Root, name string) (*os.File, error) { return root.OpenFile(name, openFlags, 0) }

func withoutPath(err error) error {
	var p *fs.PathError
	if !errors.As(err, &p) {
		return err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fs.ErrNotExist
	case errors.Is(err, fs.ErrPermission):
		return fs.ErrPermission
	case strings.Contains(p.Err.Error(), "escapes"):
		return ErrOutside
	}
	return p.Err
}

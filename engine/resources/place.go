package resources

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// place is a file or folder below a granted folder.
type place struct{ root, name string }

func (p place) String() string { return filepath.Join(p.root, p.name) }

func (p place) below(name string) place { return place{p.root, filepath.Join(p.name, name)} }

var (
	errNoGrant = errors.New("the extension has no grant to read; the host reads for an extension only what it may read itself. To allow it, add to its [extension.grant]: read = [\"FOLDER\"]")
	errOutside = errors.New("it is not below a folder that the extension is granted to read")
)

// find gives the place of a path: of a relative one in the first folder that has it, as for the capability file.
func find(path string, folders []string) (place, fs.FileInfo, error) {
	if len(folders) == 0 {
		return place{}, nil, errNoGrant
	}
	path = filepath.FromSlash(path)
	result := errOutside
	for _, folder := range folders {
		folder, err := filepath.Abs(folder)
		if err != nil {
			return place{}, nil, err
		}
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
		p := place{folder, filepath.Clean(name)}
		var info fs.FileInfo
		err = p.in(func(root *os.Root) (err error) {
			info, err = root.Stat(p.name)
			return err
		})
		if !errors.Is(err, fs.ErrNotExist) {
			return p, info, err
		}
		result = err
	}
	return place{}, nil, result
}

// in opens the granted folder. A path that leaves it by a link is like any other outside.
func (p place) in(run func(root *os.Root) error) error {
	root, err := os.OpenRoot(p.root)
	if err == nil {
		defer func() { _ = root.Close() }() // nothing was written
		err = run(root)
	}
	var failed *fs.PathError
	switch {
	case !errors.As(err, &failed):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return fs.ErrNotExist
	case strings.Contains(failed.Err.Error(), "escapes"):
		return errOutside
	}
	return failed.Err
}

// list gives the entries of a folder, sorted.
func (p place) list() (entries []fs.DirEntry, err error) {
	err = p.in(func(root *os.Root) error {
		dir, err := root.OpenFile(p.name, openFlags, 0)
		if err != nil {
			return err
		}
		defer func() { _ = dir.Close() }() // it was only read
		if entries, err = dir.ReadDir(maxLooked + 1); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		return nil
	})
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// read gives the text of a file: UTF-8 that can be printed, with "\n" at the ends of lines.
func (p place) read() (text string, err error) {
	if !strings.EqualFold(filepath.Ext(p.name), ".md") {
		return "", errors.New("it is no .md file")
	}
	err = p.in(func(root *os.Root) error {
		// Opened without blocking: opening a pipe would wait for somebody to write to it.
		file, err := root.OpenFile(p.name, openFlags, 0)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }() // it was only read
		if info, err := file.Stat(); err != nil {
			return err
		} else if !info.Mode().IsRegular() {
			return errors.New("it is not a regular file")
		}
		raw, err := io.ReadAll(io.LimitReader(file, MaxFile+1))
		switch {
		case err != nil:
			return err
		case len(raw) > MaxFile:
			return fmt.Errorf("it has more than %d KiB", MaxFile>>10)
		case !utf8.Valid(raw):
			return errors.New("it is not UTF-8")
		}
		text = strings.ReplaceAll(string(bytes.TrimPrefix(raw, []byte("\uFEFF"))), "\r\n", "\n")
		return nil
	})
	if err != nil {
		return "", err
	}
	if r, bad := unprintable(text); bad {
		return "", fmt.Errorf("it holds the character %U, which cannot be printed", r)
	}
	return text, nil
}

// unprintable finds a character that shows as something else than it is: controls, changes of direction, invisible tags.
func unprintable(text string) (rune, bool) {
	for _, r := range text {
		switch {
		case r == '\n' || r == '\t':
		case unicode.IsControl(r), r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r >= 0xE0000 && r <= 0xE007F:
			return r, true
		}
	}
	return 0, false
}

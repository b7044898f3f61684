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

	"weir/internal/granted"
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
	absolute := make([]string, len(folders))
	for i, folder := range folders {
		var err error
		if absolute[i], err = filepath.Abs(folder); err != nil {
			return place{}, nil, err
		}
	}
	var at place
	var info fs.FileInfo
	err := granted.Find(path, absolute, func(root *os.Root, name string) (err error) {
		at = place{root.Name(), filepath.Clean(name)}
		info, err = root.Stat(name)
		return err
	})
	return at, info, explained(err)
}

// in opens the granted folder. A path that leaves it by a link is like any other outside.
func (p place) in(run func(root *os.Root, name string) error) error {
	return explained(granted.In(p.root, p.name, run))
}

// explained says what outside means.
func explained(err error) error {
	if errors.Is(err, granted.ErrOutside) {
		return errOutside
	}
	return err
}

// list gives the entries of a folder, sorted.
func (p place) list() (entries []fs.DirEntry, err error) {
	err = p.in(func(root *os.Root, name string) error {
		dir, err := granted.Open(root, name)
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
	err = p.in(func(root *os.Root, name string) error {
		file, err := granted.Open(root, name)
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

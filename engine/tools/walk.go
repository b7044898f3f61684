package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// walker goes through a folder in the order of paths. It leaves out .git and what .gitignore files name, and does not
// follow symbolic links.
type walker struct {
	ctx context.Context
	// visit gets an entry and its path below the root, with / between the parts. fs.SkipDir leaves a folder out,
	// fs.SkipAll ends the walk.
	visit      func(rel string, entry fs.DirEntry) error
	unreadable int // folders that could not be read
}

func (w *walker) walk(root string) error {
	// The root may be a symbolic link: it was named. Ignore files are looked for where it really is.
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return err
	}
	err = w.folder(real, "", ignoreAbove(real))
	if errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

func (w *walker) folder(abs, rel string, rules *ignoreFrame) error {
	if err := w.ctx.Err(); err != nil {
		return fmt.Errorf("aborted: %w", err)
	}
	entries, err := os.ReadDir(abs)
	if err != nil {
		if rel == "" {
			return err
		}
		w.unreadable++
	}
	rules = rules.enter(abs)
	for _, entry := range entries {
		if entry.Name() == ".git" {
			continue
		}
		if err := w.ctx.Err(); err != nil {
			return fmt.Errorf("aborted: %w", err)
		}
		entryPath := filepath.Join(abs, entry.Name())
		if rules.ignored(entryPath, entry.IsDir()) {
			continue
		}
		entryRel := path.Join(rel, entry.Name())
		err := w.visit(entryRel, entry)
		switch {
		case errors.Is(err, fs.SkipDir):
			continue
		case err != nil:
			return err
		case entry.IsDir():
			if err := w.folder(entryPath, entryRel, rules); err != nil {
				return err
			}
		}
	}
	return nil
}

// notes is what a result has to say about the walk.
func (w *walker) notes() []string {
	switch w.unreadable {
	case 0:
		return nil
	case 1:
		return []string{"1 folder could not be read"}
	default:
		return []string{fmt.Sprintf("%d folders could not be read", w.unreadable)}
	}
}

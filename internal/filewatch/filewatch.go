// Package filewatch tells when files have changed, for what reloads or rebuilds.
//
//  1. [New] makes a Watcher, [Watcher.Track] remembers how files are now.
//  2. [Watcher.Next] returns when one is another, as often as it is called.
//  3. [Watcher.Close] ends it.
//
// The system's notices only wake it up; what counts is whether size, time or kind of a file differ. So a file that an editor puts in
// the place of the old one is noticed, and one that only was touched by reading is not. Where notices are lost or do not come, as on
// some file systems of networks, a look every second finds changes too.
//
// A Watcher is not safe for concurrent use.
package filewatch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// quiet is how long nothing may happen before a change counts as finished: editors and linkers write in several steps.
	quiet = 100 * time.Millisecond
	// patience is after how long a change counts though it goes on.
	patience = 2 * time.Second
	// look is how often files are looked at without a notice.
	look = time.Second
	// maxFiles bounds the files below one folder.
	maxFiles = 20_000
)

// Watcher tells when files change.
type Watcher struct {
	// Ignore leaves out files below a folder, by their path; nil leaves out none. Folders that begin with a dot, and those named
	// in [Skipped], are never looked into.
	Ignore func(path string) bool

	notices *fsnotify.Watcher
	folders map[string]bool
	known   map[string]snapshot // by root
}

var errClosed = errors.New("watching files: closed")

// snapshot is how the files of a root are, by path.
type snapshot map[string]stamp

type stamp struct {
	size     int64
	modified time.Time
	mode     fs.FileMode
}

// New makes a watcher. Close it.
func New() (*Watcher, error) {
	n, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watching files: %w", err)
	}
	return &Watcher{notices: n, folders: map[string]bool{}, known: map[string]snapshot{}}, nil
}

// Close frees the watcher.
func (w *Watcher) Close() error { return w.notices.Close() }

// Skipped are the folders that hold what tools make: they are not looked into.
func Skipped() []string { return []string{"node_modules", "target", "zig-cache", "zig-out"} }

// Track sets the paths that are watched: files, which need not exist, and folders with everything below. How those are now that were
// not tracked before is remembered; of the others, what was remembered stays.
func (w *Watcher) Track(paths []string) error {
	next := map[string]snapshot{}
	for _, p := range paths {
		s, ok := w.known[p]
		if !ok {
			var err error
			if s, err = w.snapshot(p); err != nil {
				return err
			}
		}
		next[p] = s
	}
	w.known = next
	return w.follow()
}

// Next waits until something of what is tracked is other than it was remembered, and has come to rest; then it remembers how it is,
// and returns what changed, sorted. The error is ctx's, or that of a folder that cannot be watched.
func (w *Watcher) Next(ctx context.Context) ([]string, error) {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		if err := w.settle(ctx); err != nil {
			return nil, err
		}
		changed, err := w.compare()
		if err != nil || len(changed) > 0 {
			return changed, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		case _, ok := <-w.notices.Errors: // lost notices: we look anyway
			if !ok {
				return nil, errClosed
			}
		case _, ok := <-w.notices.Events:
			if !ok {
				return nil, errClosed
			}
		}
	}
}

// settle waits for notices to cease.
func (w *Watcher) settle(ctx context.Context) error {
	rest := time.NewTimer(quiet)
	defer rest.Stop()
	end := time.NewTimer(patience)
	defer end.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-rest.C:
			return nil
		case <-end.C:
			return nil
		case _, ok := <-w.notices.Errors:
			if !ok {
				return errClosed
			}
		case _, ok := <-w.notices.Events:
			if !ok {
				return errClosed
			}
			rest.Reset(quiet)
		}
	}
}

// compare looks at everything anew.
func (w *Watcher) compare() ([]string, error) {
	differ := map[string]bool{}
	for root, before := range w.known {
		now, err := w.snapshot(root)
		if err != nil {
			return nil, err
		}
		for path, s := range now {
			if b, ok := before[path]; !ok || b != s {
				differ[path] = true
			}
		}
		for path := range before {
			if _, ok := now[path]; !ok {
				differ[path] = true
			}
		}
		w.known[root] = now
	}
	if len(differ) == 0 {
		return nil, nil
	}
	return slices.Sorted(maps.Keys(differ)), w.follow() // there may be new folders
}

// snapshot is how a root is now: of a folder, all files below that are not left out.
func (w *Watcher) snapshot(root string) (snapshot, error) {
	s := snapshot{}
	info, err := os.Stat(root)
	switch {
	case err != nil: // it may come
		return s, nil //nolint:nilerr // a file that is not there is a state
	case !info.IsDir():
		s[root] = stampOf(info)
		return s, nil
	}
	return s, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil: // removed in between, or not readable: as if it were not there
			return nil //nolint:nilerr // as above
		case d.IsDir() && path != root && skipped(d.Name()):
			return filepath.SkipDir
		case d.IsDir() || strings.HasPrefix(d.Name(), ".") || w.Ignore != nil && w.Ignore(path):
			return nil
		case len(s) == maxFiles:
			return fmt.Errorf("watching %s: more than %d files; name a smaller folder", root, maxFiles)
		}
		if info, err := os.Stat(path); err == nil {
			s[path] = stampOf(info)
		}
		return nil
	})
}

func stampOf(info fs.FileInfo) stamp { return stamp{info.Size(), info.ModTime(), info.Mode().Type()} }

func skipped(name string) bool {
	return strings.HasPrefix(name, ".") || slices.Contains(Skipped(), name)
}

// follow asks for notices of the folders that hold what is tracked.
func (w *Watcher) follow() error {
	wanted := map[string]bool{}
	for root := range w.known {
		info, err := os.Stat(root)
		if err != nil || !info.IsDir() {
			wanted[existing(filepath.Dir(root))] = true
			continue
		}
		err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil //nolint:nilerr // removed in between
			case d.IsDir() && path != root && skipped(d.Name()):
				return filepath.SkipDir
			case d.IsDir():
				wanted[path] = true
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for folder := range w.folders {
		if !wanted[folder] {
			_ = w.notices.Remove(folder) // it may be gone
			delete(w.folders, folder)
		}
	}
	for folder := range wanted {
		if w.folders[folder] && w.watches(folder) {
			continue
		}
		if err := w.notices.Add(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("watching %s: %w", folder, err)
		}
		w.folders[folder] = true
	}
	return nil
}

// watches says whether a folder is still watched: one that was removed and made again is not.
func (w *Watcher) watches(folder string) bool {
	return slices.Contains(w.notices.WatchList(), folder)
}

// existing is the folder, or the nearest above it that exists.
func existing(folder string) string {
	for {
		if info, err := os.Stat(folder); err == nil && info.IsDir() {
			return folder
		}
		up := filepath.Dir(folder)
		if up == folder {
			return folder
		}
		folder = up
	}
}

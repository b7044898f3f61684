package install

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/rogpeppe/go-internal/diff"
)

// Change is what is to become of a configuration file.
type Change struct {
	// Path is the file as it is named; where it is a symbolic link, the file that it leads to is changed.
	Path string
	// Before is what is in it, After what is to be in it. Neither may be changed by the caller.
	Before, After []byte
	// Create and Delete say that the file is not there yet, and that it is to go.
	Create, Delete bool

	place  *Place
	target string
	mode   fs.FileMode
	record *record // to be kept; nil: none, and one that is there goes
}

// Empty says that there is nothing to do.
func (c *Change) Empty() bool { return !c.Create && !c.Delete && bytes.Equal(c.Before, c.After) }

// Diff is the change as a unified diff.
func (c *Change) Diff() string {
	from, to := c.Path, c.Path
	if c.Create {
		from = os.DevNull
	}
	if c.Delete {
		to = os.DevNull
	}
	return string(diff.Diff(from, c.Before, to, c.After))
}

// record is what an installation leaves for its undoing.
type record struct {
	Agent string `json:"agent"`
	Path  string `json:"path"`
	// Existed, Mode and Before say what was there; Before has no entry of weir's.
	Existed bool   `json:"existed"`
	Before  []byte `json:"before"`
	// Folders were made for the file, the outermost first.
	Folders []string `json:"folders,omitempty"`
	// After is the SHA-256 of what was written.
	After string `json:"after"`
}

func digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// recordPath is where the record of a place is kept in a folder of them.
func (p *Place) recordPath(folder string) string {
	return filepath.Join(folder, p.Agent.Name+"-"+digest([]byte(p.Path))[:16]+".json")
}

// readRecord is the record of a place; nil when there is none, or none that can be read: then only entries are taken out.
func (p *Place) readRecord(folder string) *record {
	raw, err := os.ReadFile(p.recordPath(folder))
	if err != nil {
		return nil
	}
	var r record
	if json.Unmarshal(raw, &r) != nil || r.Agent != p.Agent.Name || r.Path != p.Path {
		return nil
	}
	return &r
}

// read begins a change with what is in the file.
func (p *Place) read() (*Change, error) {
	c := &Change{Path: p.Path, place: p, target: p.Path, mode: 0o666}
	info, err := os.Lstat(p.Path)
	if errors.Is(err, fs.ErrNotExist) {
		c.Create = true
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if c.target, err = filepath.EvalSymlinks(p.Path); err != nil {
			return nil, fmt.Errorf("%s is a symbolic link that leads to no file: %w", p.Path, err)
		}
		if info, err = os.Lstat(c.target); err != nil {
			return nil, err
		}
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", p.Path)
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s: the file is longer than %d MiB", p.Path, maxFile>>20)
	}
	c.mode = info.Mode().Perm()
	c.Before, err = os.ReadFile(c.target)
	return c, err
}

// Install works out how the file runs weir for every event that weir answers. Entries of an earlier installation, or by hand,
// are replaced. records is the folder of the records.
func (p *Place) Install(cmd Command, records string) (*Change, error) {
	if runtime.GOOS == "windows" {
		return nil, errors.New("installing is for Linux and macOS; docs/agents says how to do it by hand")
	}
	if err := cmd.Validate(); err != nil {
		return nil, err
	}
	c, err := p.read()
	if err != nil {
		return nil, err
	}
	if _, err := p.parse(c.Before); err != nil {
		return nil, err
	}
	line := cmd.line(p.Agent.Name, p.layout.fallback)
	if c.After, err = p.put(c.Before, line); err != nil {
		return nil, err
	}
	if err := p.prove(c.Before, c.After); err != nil {
		return nil, err
	}
	clean, err := p.takeOut(c.Before)
	if err != nil {
		return nil, err
	}
	c.record = &record{Agent: p.Agent.Name, Path: p.Path, Existed: !c.Create, Before: clean, After: digest(c.After)}
	if old := p.readRecord(records); old != nil && !c.Create && old.After == digest(c.Before) {
		c.record.Existed, c.record.Before, c.record.Folders = old.Existed, old.Before, old.Folders
	} else if old != nil && !c.Create && !old.Existed {
		c.record.Folders = old.Folders
	}
	return c, nil
}

// put gives a file's bytes with weir's entries.
func (p *Place) put(raw []byte, line string) ([]byte, error) {
	if p.layout.toml {
		return p.installTOML(raw, line)
	}
	f, err := p.openJSON(raw)
	if err != nil {
		return nil, err
	}
	if err := f.install(line); err != nil {
		return nil, err
	}
	return f.root.Pack(), nil
}

// takeOut gives a file's bytes without weir's entries.
func (p *Place) takeOut(raw []byte) ([]byte, error) {
	if p.layout.toml {
		return p.uninstallTOML(raw)
	}
	f, err := p.openJSON(raw)
	if err != nil || blank(raw) {
		return raw, err
	}
	f.uninstall()
	return f.root.Pack(), nil
}

// Uninstall works out how the file is without weir: as it was before, byte for byte, when it is still what Install wrote;
// otherwise what it is now without weir's entries. A file that Install made goes when nothing else is in it.
func (p *Place) Uninstall(records string) (*Change, error) {
	c, err := p.read()
	if err != nil {
		return nil, err
	}
	if c.Create { // it is gone already
		c.Create = false
		return c, nil
	}
	r := p.readRecord(records)
	if r != nil && r.After == digest(c.Before) {
		c.After, c.Delete = r.Before, !r.Existed
		c.record = r
		return c, nil
	}
	tree, err := p.parse(c.Before)
	if err != nil {
		return nil, err
	}
	if c.After, err = p.takeOut(c.Before); err != nil {
		return nil, err
	}
	if err := p.prove(c.Before, c.After); err != nil {
		return nil, err
	}
	if r != nil && !r.Existed {
		rest := p.without(tree)
		if _, only := rest["version"]; len(rest) == 0 || len(rest) == 1 && only && p.layout.version {
			c.Delete, c.After, c.record = true, nil, r
		}
	}
	return c, nil
}

// Apply does a change of Install: it keeps the record, makes the folders that are missing, and puts the file in its place at
// once. It does nothing and fails when the file is not what it was when the change was worked out.
func (c *Change) Apply(records string) error {
	if err := c.unchanged(); err != nil {
		return err
	}
	if c.record == nil {
		return errors.New("this change takes something out; see Remove")
	}
	if c.Create {
		c.record.Folders = missing(filepath.Dir(c.target))
	}
	raw, err := json.Marshal(c.record)
	if err != nil {
		return err
	}
	// The record first: a crash in between leaves one that fits no file, and then only entries are taken out.
	if err := os.MkdirAll(records, 0o700); err != nil {
		return err
	}
	if err := replace(c.place.recordPath(records), raw, 0o600); err != nil {
		return fmt.Errorf("keeping the record for `weir uninstall`: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(c.target), 0o777); err != nil {
		return err
	}
	return replace(c.target, c.After, c.mode)
}

// Remove does a change of Uninstall, and forgets the record.
func (c *Change) Remove(records string) error {
	if err := c.unchanged(); err != nil {
		return err
	}
	switch {
	case c.Delete:
		if err := os.Remove(c.target); err != nil {
			return err
		}
		for i := len(c.record.Folders) - 1; i >= 0; i-- {
			if os.Remove(c.record.Folders[i]) != nil {
				break // something else is in it by now
			}
		}
	case !c.Empty():
		if err := replace(c.target, c.After, c.mode); err != nil {
			return err
		}
	}
	if err := os.Remove(c.place.recordPath(records)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// unchanged says whether the file is still what was read.
func (c *Change) unchanged() error {
	now, err := c.place.read()
	if err != nil {
		return err
	}
	if now.target != c.target || now.Create != c.Create && c.record != nil || !bytes.Equal(now.Before, c.Before) {
		return fmt.Errorf("%s was changed by somebody else meanwhile; nothing was done, run it again", c.Path)
	}
	return nil
}

// missing are the folders on the way to dir that are not there, the outermost first.
func missing(dir string) []string {
	var list []string
	for {
		if _, err := os.Lstat(dir); err == nil || filepath.Dir(dir) == dir {
			return list
		}
		list = append([]string{dir}, list...)
		dir = filepath.Dir(dir)
	}
}

// replace puts data at path at once: whoever reads sees the old file or the new one. mode 0o666 is that of a new file, less
// the umask.
func replace(path string, data []byte, mode fs.FileMode) (err error) {
	_, there := os.Lstat(path)
	if there == nil {
		// Renaming would get around a write protection that every other program respects.
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		if err := file.Close(); err != nil {
			return err
		}
	}
	name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s-%d.tmp", filepath.Base(path), os.Getpid()))
	temp, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(name))
		}
	}()
	_, err = temp.Write(data)
	if err == nil && there == nil {
		err = temp.Chmod(mode)
	}
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	return os.Rename(name, path)
}

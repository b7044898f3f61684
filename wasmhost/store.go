package wasmhost

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// moduleStore keeps, beside wazero's native code, what it costs as much as compiling to find out about a module: that it
// is valid, its metered form, and what it says of itself. The zero store keeps nothing.
type moduleStore struct{ dir string }

// get returns what put stored, or nil. A file that is not exactly what put wrote (its checksum leads it) counts as
// absent.
func (s moduleStore) get(key, what string) ([]byte, error) {
	if s.dir == "" {
		return nil, nil
	}
	data, err := os.ReadFile(s.path(key, what))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("module cache: %w", err)
	}
	if len(data) < sha256.Size {
		return nil, nil
	}
	if sum := sha256.Sum256(data[sha256.Size:]); string(sum[:]) != string(data[:sha256.Size]) {
		return nil, nil
	}
	return data[sha256.Size:], nil
}

// put stores data under key. The file appears whole or not at all.
func (s moduleStore) put(key, what string, data []byte) error {
	if s.dir == "" {
		return nil
	}
	tmp, err := os.CreateTemp(s.dir, ".new-*")
	if err != nil {
		return fmt.Errorf("module cache: %w", err)
	}
	sum := sha256.Sum256(data)
	_, err1 := tmp.Write(sum[:])
	_, err2 := tmp.Write(data)
	if err := errors.Join(err1, err2, tmp.Close()); err != nil {
		return fmt.Errorf("module cache: %w", errors.Join(err, os.Remove(tmp.Name())))
	}
	if err := os.Rename(tmp.Name(), s.path(key, what)); err != nil {
		return fmt.Errorf("module cache: %w", errors.Join(err, os.Remove(tmp.Name())))
	}
	return nil
}

// removeFiles removes the files below dir and keeps the folders.
func removeFiles(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // another process may do the same
			return err
		}
		return nil
	})
}

func (s moduleStore) path(key, what string) string {
	return filepath.Join(s.dir, key+"."+what)
}

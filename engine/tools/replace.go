package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// maxLinks is how many symbolic links are followed to find the file that a write is for, as in Linux's path resolution.
const maxLinks = 40

// target follows the symbolic links at path to the file that a write has to change, which need not exist yet. Folders on
// the way are resolved too, so that two names of one file give one result.
func target(path string) (string, error) {
	for range maxLinks {
		if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			path = filepath.Join(dir, filepath.Base(path))
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return path, nil
		}
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		next, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(filepath.Dir(path), next)
		}
		path = next
	}
	return "", fmt.Errorf("%s: more than %d symbolic links", path, maxLinks)
}

// replaceFile puts data at path, a result of target, at once: whoever reads sees the old file or the new one. The mode of
// an existing file is kept, but for setuid and setgid; a new one gets 0666 less the umask. The file gets a new inode: hard links keep the old data.
func replaceFile(path string, data []byte) (err error) {
	info, err := os.Lstat(path)
	exists := err == nil
	switch {
	case exists:
		if err := requireRegular(path, info); err != nil {
			return err
		}
		// Renaming would get around a write protection that every other program respects.
		file, err := os.OpenFile(path, os.O_WRONLY|openNonblock, 0)
		if err != nil {
			return err
		}
		if err := file.Close(); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	temp, err := createBeside(path)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temp.Name()))
		}
	}()
	_, err = temp.Write(data)
	if err == nil && exists {
		err = temp.Chmod(info.Mode().Perm())
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}

// createBeside makes a new file in path's folder with the mode that the umask leaves, which os.CreateTemp does not.
func createBeside(path string) (*os.File, error) {
	for n := 0; ; n++ {
		name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".weir-%d-%d.tmp", os.Getpid(), n))
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) || n == 10_000 {
			return file, err
		}
	}
}

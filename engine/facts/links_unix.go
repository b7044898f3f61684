//go:build unix

package facts

import (
	"errors"
	"io/fs"
	"syscall"
)

// linkCount is the number of names of a regular file, 0 when it has one.
func linkCount(info fs.FileInfo) uint64 {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.Mode().IsRegular() || stat.Nlink < 2 {
		return 0
	}
	return uint64(stat.Nlink) //nolint:unconvert // it is narrower on other systems
}

// isNotDir says whether a file stands where a folder was meant: nothing can be below it.
func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

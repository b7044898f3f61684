//go:build unix

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Try takes the lock, or gives [ErrLocked] at once.
func Try(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

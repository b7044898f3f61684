//go:build windows

package filelock

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// What LockFileEx is called with and answers (Windows SDK, minwinbase.h and winerror.h).
const (
	lockFailImmediately = 1
	lockExclusive       = 2
	errorLockViolation  = syscall.Errno(33)
)

// Try takes the lock, or gives [ErrLocked] at once.
func Try(f *os.File) error {
	lock := syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")
	// One byte far behind any content, so that others may still read the file.
	at := syscall.Overlapped{OffsetHigh: 0x7fffffff}
	ok, _, err := lock.Call(f.Fd(), lockFailImmediately|lockExclusive, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	switch {
	case ok != 0:
		return nil
	case errors.Is(err, errorLockViolation):
		return ErrLocked
	default:
		return err
	}
}

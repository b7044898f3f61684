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

// region is one byte far behind any content, so that others may still read the file.
func region() *syscall.Overlapped { return &syscall.Overlapped{OffsetHigh: 0x7fffffff} }

// Try takes the lock, or gives [ErrLocked] at once.
func Try(f *os.File) error {
	lock := syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")
	ok, _, err := lock.Call(f.Fd(), lockFailImmediately|lockExclusive, 0, 1, 0, uintptr(unsafe.Pointer(region())))
	switch {
	case ok != 0:
		return nil
	case errors.Is(err, errorLockViolation):
		return ErrLocked
	default:
		return err
	}
}

// Release gives the lock back; closing the file does too.
func Release(f *os.File) error {
	unlock := syscall.NewLazyDLL("kernel32.dll").NewProc("UnlockFileEx")
	if ok, _, err := unlock.Call(f.Fd(), 0, 1, 0, uintptr(unsafe.Pointer(region()))); ok == 0 {
		return err
	}
	return nil
}

// Package filelock takes a file for one process. A lock belongs to the open file and ends with it, however the process ends.
package filelock

import (
	"context"
	"errors"
	"os"
	"time"
)

// ErrLocked says that another process, or another open file of this one, has the lock.
var ErrLocked = errors.New("another process has locked it")

// Wait takes the lock, looking again every few milliseconds while another has it, until ctx ends. The error is then the
// context's, joined with [ErrLocked].
func Wait(ctx context.Context, f *os.File) error {
	const pause = 2 * time.Millisecond
	for {
		err := Try(f)
		if !errors.Is(err, ErrLocked) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(ErrLocked, context.Cause(ctx))
		case <-time.After(pause):
		}
	}
}

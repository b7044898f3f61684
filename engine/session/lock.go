package session

import (
	"errors"
	"os"

	"weir/internal/filelock"
)

// lockFile takes the file for this process alone, until it is closed.
func lockFile(f *os.File) error {
	if err := filelock.Try(f); !errors.Is(err, filelock.ErrLocked) {
		return err
	}
	return ErrLocked
}

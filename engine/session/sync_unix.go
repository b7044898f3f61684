//go:build unix

package session

import "os"

// syncFolder makes a rename or a new file in the folder durable.
func syncFolder(folder string) error {
	d, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer d.Close() //nolint:errcheck // opened for reading
	return d.Sync()
}

//go:build !wasip1

package weir

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed *.go internal/scan/*.go internal/hostfn/*.go weirtest/*.go
var source embed.FS

// Source returns the Go files of this package and of those below it that it needs, by path, without tests: for tools that
// copy the SDK into a project. It does not exist in a guest.
func Source() (map[string]string, error) {
	files := map[string]string{}
	err := fs.WalkDir(source, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") || path == "embed.go" {
			return err
		}
		text, err := source.ReadFile(path)
		files[path] = string(text)
		return err
	})
	return files, err
}

// Package assemblyscript holds the AssemblyScript SDK, the folder weir, for tools that copy it into a project.
package assemblyscript

import (
	"embed"
	"io/fs"
)

//go:embed weir/*.ts
var source embed.FS

// Source returns the files of the SDK, by path (weir/index.ts and so on), for tools that copy it into a project.
func Source() (map[string]string, error) {
	files := map[string]string{}
	err := fs.WalkDir(source, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := source.ReadFile(path)
		files[path] = string(text)
		return err
	})
	return files, err
}

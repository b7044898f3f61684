// Package rust holds the SDK for Rust, the crate weir, for tools that copy it into a project.
package rust

import (
	"embed"
	"io/fs"
)

//go:embed Cargo.toml src
var source embed.FS

// Source returns the files of the crate, by path, without tests: for tools that copy the SDK into a project.
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

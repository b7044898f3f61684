// Package extensions holds the built wasm of the extensions that ship with weir, so that a set can name them as bundled:NAME
// without a file on disk.
//
// The modules under dist/ are built from the folders beside this file by the Makefile; a test rebuilds them and compares.
// Everything here is read-only and safe for concurrent use.
package extensions

import (
	"embed"
	"strings"
)

//go:embed dist/*.wasm
var dist embed.FS

// Bundled returns the module of a bundled extension and whether there is one of that name. The caller owns the bytes.
func Bundled(name string) ([]byte, bool) {
	wasm, err := dist.ReadFile("dist/" + name + ".wasm")
	return wasm, err == nil
}

// Names lists the bundled extensions in alphabetical order.
func Names() []string {
	entries, err := dist.ReadDir("dist")
	if err != nil {
		panic("extensions: the embedded folder is missing: " + err.Error()) // cannot happen in a program that compiled
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".wasm"))
	}
	return names
}

// Description lists the names for an error message: "bundled extensions: audit-log, guard-paths, …".
func Description() string { return "bundled extensions: " + strings.Join(Names(), ", ") }

// Package js holds what JavaScript and TypeScript policies run on: the engine module, the library behind `import … from
// "weir"` and its type declarations. weir/engine/script puts them to use.
//
// dist/weir-js.wasm is built by engine/build-engine.sh; a test rebuilds it and compares. Everything here is read-only and
// safe for concurrent use.
package js

import (
	"embed"
	"io/fs"
)

//go:embed dist/weir-js.wasm
var engine string

//go:embed weir.d.ts
var types string

//go:embed lib/*.js
var lib embed.FS

// Engine returns the engine module, QuickJS with weir's entry points and an empty slot for a source. The caller owns the
// bytes.
func Engine() []byte { return []byte(engine) }

// Types returns the type declarations of the module "weir".
func Types() string { return types }

// Library returns a file of the library, such as "weir.js".
func Library(name string) (string, error) {
	text, err := fs.ReadFile(lib, "lib/"+name)
	return string(text), err
}

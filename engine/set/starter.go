package set

import _ "embed"

//go:embed starter.toml
var starter string

// Starter returns the set file that weir init writes. It is a valid set of
// bundled extensions; its lines that start with # and no space are settings
// that are valid too once the # is removed. The caller owns the result.
func Starter() []byte { return []byte(starter) }

//go:build race

package weir_test

import "github.com/tetratelabs/wazero"

// Under the race detector wazero's compiler takes most of a minute for a guest.
func runtimeConfig() wazero.RuntimeConfig { return wazero.NewRuntimeConfigInterpreter() }

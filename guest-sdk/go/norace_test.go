//go:build !race

package weir_test

import "github.com/tetratelabs/wazero"

func runtimeConfig() wazero.RuntimeConfig { return wazero.NewRuntimeConfig() }

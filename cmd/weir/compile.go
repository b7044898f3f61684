package main

import (
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"weir/wasmhost"
)

const compileCommand = "compile-module"

// newCompile is the hidden command that compiles the module on stdin into the cache, for compileElsewhere.
func newCompile(s streams) *cobra.Command {
	return &cobra.Command{
		Use:    compileCommand + " TABLE DEPTH",
		Hidden: true,
		Args:   cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			limitMemory(compileMemory)
			table, err := strconv.ParseUint(args[0], 10, 32)
			if err != nil {
				return err
			}
			depth, err := strconv.ParseUint(args[1], 10, 32)
			if err != nil {
				return err
			}
			wasm, err := io.ReadAll(s.in)
			if err != nil {
				return err
			}
			host, err := wasmhost.New(cmd.Context(), wasmhost.Config{CacheDir: cacheDir()})
			if err != nil {
				return err
			}
			_, err = host.Compile(cmd.Context(), "module", wasm, wasmhost.Limits{Table: uint32(table), Depth: uint32(depth), Module: uint32(max(len(wasm), 1)), Memory: 4 << 30})
			return err
		},
	}
}

// compileMemory is what compiling one module may take: the 19 MB guests of the largest kind need about half of it.
const compileMemory = 3 << 30

//go:build !linux

package main

import "runtime/debug"

// limitMemory makes Go's garbage collector hold the heap below a bound as long as it can.
func limitMemory(bytes uint64) { debug.SetMemoryLimit(int64(bytes)) }

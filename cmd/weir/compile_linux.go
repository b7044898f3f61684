package main

import "syscall"

// limitMemory bounds the address space that the process may still take. Go ends with an out-of-memory error at the bound.
func limitMemory(bytes uint64) {
	// A system that refuses leaves the process as it was: the screen and the time limit still hold.
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: bytes, Max: bytes})
}

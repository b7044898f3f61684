//go:build unix

package wasmhost

import "syscall"

// reserveMemory maps n bytes of zeroed memory. Pages that are never touched cost address space only.
func reserveMemory(n uint64) ([]byte, error) {
	n = max(n, 1) // a mapping of nothing is an error
	return syscall.Mmap(-1, 0, int(n), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
}

func releaseMemory(buf []byte) {
	_ = syscall.Munmap(buf[:cap(buf)]) // it fails only for a range that we did not map
}

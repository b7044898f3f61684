package scan

import "unsafe"

// Load64 returns the eight bytes of s from i on as a little-endian word. The
// caller has checked that they are there. The compiler does not join byte
// loads for wasm, hence the pointer; wasm is little-endian and loads from any
// address.
func Load64(s string, i int) uint64 {
	return *(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.StringData(s)), i))
}

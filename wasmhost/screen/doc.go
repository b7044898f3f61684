// Package screen checks the structure of a WebAssembly module before a compiler sees it.
package screen

// Package wasmhost runs foreign WebAssembly modules: bytes in, bytes out, within limits. It knows nothing of agents.
//
// The life of a guest:
//
//  1. [Host.Compile] takes the module's bytes: the structural screen, validation, the fuel meter and compilation. The
//     result is a [Module], shared by all who compile the same bytes, and kept on disk for the next process.
//  2. [Module.Describe] runs weir_describe once, with no grants and the default limits.
//  3. [Module.NewGuest] binds a module to settings, limits and grants, and instantiates it: memory, kernel, start
//     function, _initialize.
//  4. [Guest.Call] calls an export. Calls run one at a time, in the order of their arrival.
//  5. After a fault the instance is closed and never used again; the next call gets a fresh one. After some faults in a
//     row the guest is quarantined.
//  6. [Guest.Close], [Host.Close].
//
// What bounds a guest: every module is rewritten so that it pays for what it executes and leaves native code about every
// 50 µs, at which point the deadline, the caller's context and the fuel are checked and the Go scheduler and garbage
// collector can run; memory comes from a per-guest allocator; native stack is counted by the meter; host calls are
// counted. All types are safe for concurrent use unless they say otherwise.
package wasmhost

// Package meter rewrites a WebAssembly module so that running it can be measured, interrupted and bounded in depth.
//
// A guest compiled to native code cannot be stopped from outside: while it runs, Go's garbage collector waits for it. So the module is changed before it is
// compiled. The rewritten module does what the original does, and besides counts fuel and stack down in two globals; when either is used up it leaves to the
// host.
//
//  1. The host validates the ORIGINAL module. Instrument does not type-check, and a rewrite could make an invalid module valid, since the original might name
//     a global or function that only the rewrite adds.
//  2. Instrument rewrites it.
//  3. The host provides the functions Module.Refill, Module.Overflow and Module.Refused, and compiles and instantiates the rewritten module.
//  4. Each time the fuel is used up, the guest calls Refill. It returns the next slice (more than zero), or panics, which ends the guest's call.
//  5. When the guest's calls nest too deeply it calls Overflow, which must panic.
//
// Used fuel is the sum of the slices granted minus what is left in the fuel global (which may be negative). It depends on the module and its inputs alone, not
// on the size of the slices, the machine or the engine. The host may read and set both globals between calls, never during one.
//
// Instrument is a pure function and safe for concurrent use. The package needs nothing but the standard library and this module's binary reader.
//
// # What is charged
//
// An instruction costs one unit; cost.go lists those that cost more (calls, division, instructions that leave to Go). Structure (block, loop, end, nop)
// is free. The function's entry and every turn of a loop cost a little extra.
//
// The charge for a run of instructions is taken in advance, at a site: the function's entry, the head of a loop, or inside a branch. Code that runs whenever
// its site runs is charged there exactly. Code that may be skipped (an arm of an if, what follows a br_if) is charged in advance too while it is small: a
// site takes on at most Slack units of such code, so the charge exceeds what is executed by at most that much each time a site is passed. Code beyond that gets a
// site of its own at its beginning. Every site dominates what it pays for and lies in the same innermost loop, so nothing runs that has not been paid for.
// Sites at entries and loop heads test whether the fuel is used up; others only subtract, unless a function is very long. A loop without calls becomes two
// nested ones: the inner turns and charges, the outer calls the host, so that the values of the loop stay in registers.
//
// # Instructions whose cost depends on an operand
//
// memory.fill, memory.copy and memory.init cost one unit per eight bytes. They become calls to functions added to the module, which work in pieces of at most
// BulkPiece bytes and may leave to the host between two pieces. Bounds are checked before the first piece, so a trap leaves the memory as the
// original would. memory.grow costs PageCost units a page; table.fill, table.copy, table.init and table.grow one unit an element.
//
// # Depth
//
// On entry a function subtracts an estimate of its native frame from the depth global, on exit it adds it again. The estimate is meant to be an upper bound
// for wazero's compiler on amd64 and arm64 (cost.go says how it was calibrated), so that this limit is reached before the native stack has grown by much more
// than Config.Depth. A function that calls nothing and whose frame is small is left out: nothing can be stacked on it, so at most
// one such frame exists at a time. Tail calls release the frame before they leave.
//
// # What is refused
//
// Threads, exception handling, typed function references, garbage collection, several memories and 64-bit memories; and a module that itself imports from the
// module name of the meter. Custom sections are dropped, apart from the names, because the code offsets in debug sections would be wrong.
package meter

// Package screen checks the structure of a WebAssembly module before a compiler sees it.
//
// Compiling is an attack surface. A decoder that sizes its tables by the counts it reads reserves gigabytes for a module of a few hundred bytes, which no
// Go program survives; and compiling takes more than linear time, cannot be cancelled, and so hangs on a module of 13 KB. Check refuses both in
// microseconds to milliseconds (19 MB: 50 ms): every count is compared with the bytes that are left, sizes are capped, and the time that
// compiling will take is estimated from the shape of each function.
//
//  1. Check the bytes that somebody handed in.
//  2. Validate them with the engine. Check does not type-check.
//  3. Instrument and compile.
//
// Summarize tells what a module imports and exports without compiling it. Screen does both in one walk.
//
// All functions are pure and safe for concurrent use. They allocate at most a small multiple of the module's size.
//
// # What is refused
//
// Threads, exception handling, typed function references, garbage collection, several memories, 64-bit memories, components. A declared maximum, of a memory or
// a table, is not looked at beyond the format's own bound: growing is limited where it happens.
//
// # The estimate
//
// In microseconds, for a function with I instructions, B blocks (loops and ifs included), V locals and parameters plus 4, T targets in all its br_tables:
//
//	20 + 0.6 I + I²/10,000                   code
//	+ 3 BV + (BV)²/100,000                   values that are merged where control flow meets
//	+ LV + (LV)²/2,000,000                   the same around loops; L is the sum over loops of their depth among loops
//	+ FV/100                                 the same around ifs; F is the sum over ifs of their depth among ifs
//	+ 3 T + T²/200                           br_table
//	+ sum over labels of (branches to it)²/40
//
// It was fitted to wazero 1.12.0's compiler on two cores of an amd64 virtual machine, with generated functions of each shape, each compiled in a process of its
// own. Time and peak memory of some, of the original module, not instrumented:
//
//	100 loops in each other, 30 locals written in the innermost        57–83 ms     10 MB     estimated   0.2 s
//	65 loops in each other, 300 locals                                    1.1 s     32 MB                 0.9 s
//	100 loops in each other, 300 locals                                   3.0 s     42 MB    refused
//	200 loops in each other, 300 locals                       more than 15 s                 refused
//	1,000 loops in each other, 10 locals, one written in each             1.4 s     24 MB    refused
//	500 loops in sequence, 300 locals                                     0.3 s     34 MB                 0.9 s
//	4,000 loops in sequence, 300 locals                                   4.0 s    572 MB    refused
//	300 blocks in each other, 600 locals                                  0.6 s     72 MB                 0.9 s
//	1,000 blocks in each other, 1,000 locals                              6.8 s    496 MB    refused
//	600 ifs in sequence, 300 locals                                       0.3 s     36 MB                 0.9 s
//	10,000 ifs in sequence, 1,000 locals                      more than 15 s                 refused
//	1,000 ifs in each other, 1,000 locals                                13.5 s    505 MB    refused
//	br_table over 400 blocks, 400 locals                                  0.6 s    111 MB                 0.8 s
//	br_table over 2,000 blocks, 300 locals                                9.1 s    624 MB    refused
//	1,000 br_tables of 1,000 targets                          more than 15 s                 refused
//	28,000 loads in sequence                                              0.4 s    125 MB                 0.8 s
//	10,000 br_ifs to one label                                        2.4–6.4 s     65 MB    refused
//	100,000 functions of five instructions                            0.5–0.9 s     39 MB                 2.3 s
//
// The real guests that were measured come to these figures; the limits for one function (1 s) and for a module (1 s + 3 µs a byte, at most
// Limits.CompileCost) leave a factor of 2.9 or more:
//
//	guest                             size   compiled in    estimated    largest function, real / estimated
//	Go with goja                   19.5 MB         6.2 s       16.1 s                 84 / 249 ms
//	Go with Starlark                5.6 MB         2.0 s        6.0 s                 76 / 178 ms
//	Go with encoding/json           3.3 MB         1.1 s        3.3 s                 37 /  63 ms
//	Haskell                         1.1 MB        0.75 s        1.0 s                274 / 209 ms
//	QuickJS                         0.5 MB        0.31 s       0.85 s                 54 / 184 ms
//
// Real code has few locals and shallow loops: the largest figures in any function of these guests are I = 30,041, B = 1,899, V = 57, BV = 43,035, L = 132
// and T = 3,126.
package screen

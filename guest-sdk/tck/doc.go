// Package tck checks SDKs: it runs the guest that SPEC.md describes, written with the SDK, over the cases in the folder cases.
//
// The life of a check:
//
//  1. [Check] compiles a module and compares what it says of itself with what the specification asks for.
//  2. Each chapter runs on a guest of its own, with capabilities, files and a web server made for it; its cases run in order.
//  3. A case hands the guest one input. What came of it (output or fault, log, partial results, bodies read) is compared with what
//     the case expects. Outputs go through the strict readers that the engine uses.
//  4. The [Report] has a [Result] for each case.
//
// A module is checked in one of the two views of context; an SDK passes when its modules together leave nothing [Missing].
//
// Safe for concurrent use.
package tck

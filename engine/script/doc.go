// Package script turns a policy in TypeScript or JavaScript into what a host runs, without any toolchain.
//
//  1. [Load] reads the policy and the files that it imports, strips types, and bundles it all into one script with a source
//     map. It runs nothing.
//  2. Either the host compiles [Script.Engine] once and binds it to each policy's [Script.Source] (wasmhost's
//     Module.WithSource), so that all policies with the same capabilities share one compiled engine,
//  3. or [Pack] puts the source into the engine's slot, which gives a module of its own that runs anywhere.
//
// Everything is safe for concurrent use.
package script

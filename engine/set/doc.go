// Package set reads extension sets: the weir.toml files that name, in order,
// the extensions an agent runs with, and their settings, limits and grants.
//
// The life of a set:
//
//  1. [Discover] says which files apply: managed, user, project, or the one
//     file that was named instead of user and project.
//  2. [Load] reads one file (or [Parse] its text) and reports every semantic
//     error of it at once, each with file, line and column.
//  3. [Compose] puts the layers together, highest first, and refuses a lower
//     layer that repeats a name or loosens what a higher one demands.
//     [Open] does steps 1 to 3.
//  4. The engine walks Set.Extensions in order. What only it can know (the
//     module's hooks, its settings schema) it checks with
//     [Extension.CheckHooks] and reports at [Extension.At].
//
// The package knows nothing of wasm: it does not open module files, nor does
// it supply the limits' defaults, which are the host's.
//
// Functions are safe for concurrent use. A Set is plain data that belongs to
// the caller; reading it concurrently is safe while nobody writes to it.
package set

// Package workbench is what the authors of extensions try them out with: test files (`weir ext test`), measurements (`weir
// ext bench`) and new projects (`weir ext new`).
//
// A test file's life: [ParseFile] reads it strictly, [Runner.Run] runs its cases, each on an extension of its own so that no
// case sees another's state, and a [Report] holds what came of it, to be written as text, JSON or JUnit XML.
//
// Nothing here is safe for concurrent use unless it says so.
package workbench

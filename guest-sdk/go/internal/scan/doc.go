// Package scan reads JSON for the Go guest SDK, without reflection, without
// encoding/json (which alone adds 1.4 MB to a module and triples the time of a
// call) and without allocating.
//
// It is stricter than encoding/json in three points: text that is not valid
// UTF-8, an escape that is half a surrogate pair, and nesting over MaxDepth are
// errors. What it accepts it reads as encoding/json does; of a key that stands
// twice in an object the last one counts. The fuzz tests hold it to that.
//
// All functions are pure and safe for concurrent use.
package scan

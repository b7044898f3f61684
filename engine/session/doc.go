// Package session holds the policy of a product above the agent loop: which failures are retried, how the messages of a
// session become those of a model, how large a context is and where a compaction cuts it. All of it is pure: no I/O, no
// clock, no state. What it must do is recorded in testdata/conformance/tables.
package session

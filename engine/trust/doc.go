// Package trust remembers which projects a person trusts, and as what.
//
// A project's .weir folder comes with the project: whoever wrote the project wrote it. Its set decides what the agent may do
// and what leaves the machine, so it counts only after a person has seen what it amounts to. What was seen is remembered, not
// the name of the folder alone:
//
//  1. [Describe] says what a set amounts to: its extensions with digest, grants, settings, mode and limits, and what it says
//     for the whole set. Comments and layout do not count.
//  2. [Store.Check] compares that with what was trusted. Any difference is a change that a person has to see.
//  3. The caller shows it, asks, and keeps the answer with [Store.Put].
//  4. [Project.Pin] pins the modules of the set to the digests that were compared, so that what is loaded is what was trusted,
//     whatever becomes of the files meanwhile.
//
// The store is one JSON file with mode 0600, written whole and at once, under a lock. A Store is safe for concurrent use, by
// several processes too.
package trust

// Package install puts `weir hook` into the configuration files of coding agents, takes it out again, and checks that it is
// in force. `weir install`, `weir uninstall` and `weir doctor` stand on it.
//
// The life of an installation:
//
//  1. [Find] says where an agent keeps its hooks, for a person or for a project.
//  2. [Place.Install] reads the file and works out a [Change]: the same bytes with weir's entries in them. Nothing is written.
//  3. [Change.Apply] writes it at once, if the file is still what was read, and keeps a record of the bytes that were there.
//  4. [Place.Uninstall] works out the way back: those bytes, when nobody has changed the file since, otherwise the file
//     without weir's entries.
//
// A change is proven before it is offered: both versions are parsed, and without weir's entries they must be equal. A file
// that cannot be parsed is an error with its position and is never written.
//
// [Check] looks at what is installed from outside: files, permissions, entries, and the answers of the installed command
// line to events that must be blocked.
//
// Nothing here is shared between calls. Two changes of one file at the same time are not prevented, but noticed: the second
// finds a file that is not what it read.
package install

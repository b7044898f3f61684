// Package wire holds the JSON and binary shapes that cross the boundary between the host and an extension: the ABI's
// names, the encoding of what a hook is given, and the one strict reader of what a hook gives back.
//
// The life of one call as this package sees it:
//
//  1. [ParseDescribe] reads once, per module, what an extension is and which hooks it has.
//  2. An [Encoder], one per session and extension, turns an event into the input of a hook; a [Table] does so for
//     the table view of context.
//  3. The guest runs; that is not this package's business.
//  4. ParseToolCall and its siblings turn the output into a typed result, or an [*OutputError].
//  5. [ContextResult.Apply] and [CheckPairs] turn a context result into the messages to send; the Merge functions
//     put the decisions of several extensions together.
//
// Everything here is a pure function or a value owned by one caller; nothing is safe for concurrent use unless it says
// so. The package does no I/O and imports only agentcore's types. Section numbers in comments are those of the ABI
// document.
package wire

// Package tools holds the seven tools that an agent works with: read, write, edit, bash, grep, find and ls. Names,
// parameters and output limits are those of the reference (pi 0.85.0, the declarations under dist/core/tools and
// docs/usage.md), so that prompts, extensions and session files made for it keep their meaning.
//
// The life of the tools:
//  1. [New] checks a [Config] and returns the tools, bound to one working folder.
//  2. The agent validates a call's arguments and hands them to a tool's Execute.
//  3. The tool works until it is done, a limit cuts its output, or ctx is cancelled. A failure is an error; its text is
//     written for the model and becomes the error result.
//
// Concurrency: the tools may be called at the same time. Calls of write and edit on the same file wait for one another
// within one [New]; two sets of tools know nothing of each other.
//
// # Limits
//
// A text result holds at most [MaxLines] lines and [MaxBytes] bytes. read, grep, find and ls keep the beginning, bash
// keeps the end. A result that was cut says so in its last line, with what to do to see more, and its details carry the
// numbers under "truncation", as the reference's do but for the text itself: a copy of the output in the details would
// survive an extension that rewrites the content.
//
// # Paths
//
// A relative path starts at the working folder, and a leading ~ is the home folder. Nothing else is expanded. The tools
// do not confine the agent to the working folder: that is what extensions are for.
//
// # Where this differs from the reference
//
//   - read refuses binary files and whatever is not a regular file, and never waits for a FIFO. It does not resize
//     images: one that is too large is left out with a note. BMP is not supported.
//   - edit matches exactly. The reference falls back to a match without regard to trailing white space and typographic
//     quotes; here the error points at the near miss instead. Bytes outside of an edit stay as they are, mixed line
//     ends included.
//   - grep and find are written in Go, with Go's regular expressions, where the reference runs ripgrep and fd. Both skip
//     .git, results are in path order, and context lines that two matches share are shown once.
//   - write and edit replace a file by renaming a finished copy over it.
//   - a bash command that is ended by a signal is an error.
package tools

// Package transcript reads the sessions that coding agents have written down: every tool call and every result in them, once,
// as the events that a policy would have been asked about.
//
// The life of a reading:
//
//  1. [Find] lists the files of an agent's folder, or of a path. [Detect] says from a file's first lines which agent wrote it.
//  2. [Read] goes through a file line by line and calls back for each tool call and each result, in the order of the file.
//     What is no call and no result is passed over; what cannot be read is counted in the [Report] and passed over too.
//  3. Each event has a [Key]. Copies of one call in several files (a fork, a resumed session, a subagent's log) have the same
//     key, so that who reads several files can count each once.
//
// Three formats are known. Pi's session files of versions 1 to 3, which are weir's own as well; all branches of the tree are
// read, in the order in which they were written. Claude Code's transcripts, those of subagents included. Codex's rollouts,
// today's and those before there was a payload in each line. Of the mirrors that Claude Code and Codex write of a call
// (progress, exec_command_end, …) none is read. Nor are commands that a person ran, and calls that the model's provider runs
// itself; the latter are counted.
//
// A file is foreign text: a line has a bounded length, a longer one is passed over without being held; invalid UTF-8 is read
// with U+FFFD in its place; nothing here follows a symbolic link or opens what is not a regular file. What is held of a file
// is one line, and the arguments of calls whose results have not come yet, within a bound.
//
// Functions may be called concurrently.
package transcript

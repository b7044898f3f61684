// Package scripted is a model that says what a file tells it to: a whole run, with real tools and real extensions, needs
// neither a network nor a key. Demos, tests and bug reports use it.
//
// A script is TOML, one [[response]] for each request that the model gets, in order:
//
//	[[response]]
//	expect   = "build"                    # optional: a regular expression that what the model was told last must match
//	thinking = "Look before deleting."
//	text     = "I will look first."
//
//	[[response.call]]
//	tool = "ls"
//	args = { path = "." }
//
//	[[response]]
//	expect = 'main\.go'                   # what the model was told last is now the result of ls
//	text   = "There is a main.go."
//
// The keys of a response:
//
//	text, thinking      what the model says; thinking comes first, then the text, then the calls
//	call                tool calls: tool, args (a table), id (default call_1, call_2, … through the script)
//	block               instead of these three, blocks in any order: each has one of text, thinking and tool (with args
//	                    and id), and may have a delay
//	expect              a regular expression (Go's syntax) for the text of all messages after the model's last one, or
//	                    of all messages when it has said nothing yet; no match makes the response an error that says so
//	delay, pause        time before the response starts, and between two deltas, such as "50ms"; default none
//	chunk               characters of a delta; default: word by word
//	stop                stop, length or toolUse; default toolUse if there are calls, else stop
//	usage               input, output, cache_read, cache_write: tokens; default 0
//	error               message, reason (error or aborted, default error): the response ends so after its blocks; without
//	                    blocks it fails before it starts
//
// A table [model] may describe the model: id, provider, api, context_window, max_tokens.
//
// The life of a script:
//  1. [Parse] checks everything and reports every mistake with its place; nothing has run yet.
//  2. [Script.Provider] makes a model that stands at the first response. Each request takes the next one.
//     Whoever retries a request that failed takes the next response too.
//  3. A request after the last one is answered with an error message that says so.
//
// A script is immutable and may be used by many providers; a provider is safe for concurrent use. Nothing is random: the
// same script gives the same events, ids included. Only timestamps come from a clock, which is a field.
package scripted

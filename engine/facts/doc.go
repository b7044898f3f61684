// Package facts works out, in the host, what a tool call or a tool result is about, so that an extension in any language
// decides on facts and not on spellings. An extension asks for them per hook in weir_describe ("facts":["shell","paths"]) and
// finds them in event.facts; a name that it did not ask for is absent there.
//
// The life of facts:
//
//  1. The engine makes one [Event] for each tool call and each tool result that somebody asks facts about.
//  2. [Event.JSON] computes each kind at its first use and keeps it; when arguments are rewritten, the engine makes a new Event.
//  3. The bytes go to guests and to extensions in Go as they are.
//
// Facts are hints with limits, and the limits are stated: what cannot be known before a command runs is marked, what is not
// understood says so. They are computed from text and, for paths, from the disk as it is at that moment; nothing is ever
// run. A Config is safe for concurrent use, an Event is not.
//
// # facts.shell
//
// For the tools bash (argument command) and any tool whose argument command is text. An object:
//
//	understood  bool: the text was parsed and followed to its end
//	reason      why not; only with understood false. What was found until then is still listed
//	commands    every simple command that would run, in the order of the text, at any depth
//
// A command:
//
//	argv        its words: quotes, escapes, braces, ~, constant variables and constant substitutions resolved. [] for a
//	            redirection or an assignment that stands alone
//	dynamic     true when a word, an assignment or a target below is not known before it runs; absent otherwise
//	unknown     indexes of the words of argv that are not known: they stand there as the text has them; {} stands for those
//	            that xargs and find will add
//	globs       indexes of the words that hold an unquoted *, ? or [, which the shell would expand
//	assigns     [{name, value, dynamic?}] before the command, or alone
//	redirects   [{op, fd?, target, dynamic?}]: op as in the text (> >> < <> >| &> &>> <& >& << <<< …), fd -1 when it is a variable
//	in          the way in from the outside, outermost first: subshell, substitution, process, function NAME, loop, if,
//	            case, and for commands that run others their names, as in ["sudo","bash -c"]; absent at the top
//	code        what else runs with it: "known" (text that was read: its commands follow), "unknown" (text or a program
//	            that is not known), "file" (the content of a file that was not looked at), "other" (code in another language)
//	cwd         the folder it runs in, where cd changed it; cwdUnknown true when that cannot be known
//	pipeline    number of its pipeline, from 1, and stage, its place there from 0; absent outside pipelines
//	stdin       "pipe", "file", "heredoc", "herestring" where standard input comes from there; absent otherwise
//
// Both branches of an if, and every arm of a case, are listed. Variables that the text does not set are unknown, but for
// HOME and PWD. Control flow that ends a script early (exit, return, break) is not followed, nor are aliases, the content of
// files that the text does not write itself, and programs that run commands from files of their own (make, npm run …).
// A loop over known words is listed once for each word, up to a bound; a command that is repeated beyond it has unknown words.
//
// # facts.paths
//
// An object {"workspace":…, "paths":[…], "truncated":true?}; workspace has its symbolic links resolved. A path:
//
//	raw         as the argument has it
//	abs         absolute, without . and .., as the tools open it
//	real        with every symbolic link resolved, also those of parents of what does not exist yet; where they cannot be
//	            (a loop, a folder without permission), unresolved is true and real is as far as it went
//	inside      real is the workspace or lies in it
//	own         abs or real is a file of weir's own, or lies in a folder of its own: settings, modules, cache
//	holdsOwn    true for a folder in which weir's own lies; absent otherwise
//	exists      something is there
//	kind        file, dir, symlink (dangling), fifo, socket, device, missing
//	links       the number of hard links, where a file has more than one
//	op          read, write, list, search, delete, execute or use (a word of a command that is not known to do any of these)
//	arg         the argument that it comes from, as in path, command, input
//	command     for arg command, the index of the command in facts.shell
//	glob        the word holds an unquoted wildcard; abs and real are of its part before it
//	dynamic     the word is not known before it runs; then only raw, arg and command are there
//
// # facts.net
//
// An object {"hosts":[…], "truncated":true?}. A host:
//
//	raw         the text that it was found in
//	scheme      in lower case; "" when there was none (scp, ssh, nc)
//	host        in lower case, punycode, without a last dot; an address in its usual form whatever its spelling was (2130706433,
//	            0x7f.1, 017700000001 and [::ffff:127.0.0.1] are 127.0.0.1)
//	port        0 when not given and not implied by the scheme
//	userinfo    true when there is a user or password before the host
//	ip          host is an address; odd: it was written in an unusual form
//	scope       public, loopback, private, linklocal (169.254.169.254 is among these), unspecified, multicast; "" for names but localhost
//	dynamic     a part is not known before it runs
//
// # facts.secrets
//
// For tool_result. An object {"spans":[…], "base64":[…], "truncated":true?}. A span {block, start, end, kind}: bytes [start, end) of
// the text of content block number block look like a credential. base64 lists, in the same way without kind, long encoded
// blocks in which no secret was looked for; images are not looked at.
package facts

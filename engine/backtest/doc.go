// Package backtest puts the tool calls and results of past sessions to an extension set, and says what the set would have decided.
// `weir backtest` stands on it.
//
// The life of a backtest:
//
//  1. All files are read once to see which calls there are, how each ended at the time, and which file it is counted in: a call
//     that several files hold (a fork, a resumed session) belongs to the first of them by path. See transcript.Key for what
//     makes two records the same call.
//  2. All files are read again. Each file is a session of its own: the set is opened afresh for it, so that extensions with a
//     memory see the events of one session, in order, and nothing of another. When the recorded working folder changes, it is
//     opened afresh too, for facts are told against it.
//  3. What the extensions answered is counted by extension, event, outcome and reason, with the calls that had been denied or had
//     failed at the time apart. The counts of files are added up in the order of paths.
//
// Files are worked on by several goroutines at a time; the report does not depend on how many. Each event is judged as if everything
// before it had happened as recorded, even where the set would have prevented it.
//
// Nothing has an effect: values that extensions keep (kv) start empty with each session and are forgotten, every HTTP request is refused, a
// question to the person is answered with no, there is no session to read or control, a journal is thrown away, clock and randomness are the fixed ones that guests
// without a grant get. What an extension may read below granted folders is read as it is today; so are the facts about paths, which tell
// of files that may have changed since. A call may take 20 times the time that its limits give, so that a busy machine
// causes no faults; fuel bounds it as ever. An "ask" is counted as such: nobody is asked.
//
// Events of Pi are what weir's own run would show the extensions. Those of Claude Code and Codex pass through the mapping of `weir
// hook`; what that cannot read it would deny, which is counted as blocked by "weir".
package backtest

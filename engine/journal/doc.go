// Package journal keeps a log that can only be added to, in which a change of what was written shows.
//
// A journal is a file of JSON lines:
//
//	{"seq":1,"time":"2026-11-30T09:14:03.120Z","prev":"0000…","extension":"audit-log","session":"s1","record":{…}}
//
// seq counts from 1; time is the host's, in UTC; prev is the SHA-256 of the line before, without its newline, in hex, and
// zeros for the first; record is what the extension gave. So the hash of a line covers everything before it: whoever knows the hash
// of one line (the head) can tell whether anything up to it was changed, removed, or put in between.
//
// What it does not do: there is no key in it. Somebody who may write the file can make a new journal from the beginning; only a
// head that was kept elsewhere shows that. And what follows the last head that you know can be cut off.
//
// Several processes may append to one journal: each append holds a lock on the file. An append returns when the line is on the
// disk. A line that a crash cut short stays, is ended by the next append, and is covered by the chain like any other;
// [Verify] reports it as torn.
package journal

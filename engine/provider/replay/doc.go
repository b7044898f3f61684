// Package replay records what a program and its providers said to each other, and plays it back through the real SDKs:
// the recording stands where the network was, so that everything above it is the real thing.
//
// The life of a recording:
//  1. A [Recorder] carries requests and writes each, and each piece of its response, to a file as it comes. What is cut
//     off, or never ends, is recorded as far as it went.
//  2. [Open] (or [Read]) checks the file and makes a [Player].
//  3. The player answers each request with the next recorded response, piece by piece, with the errors that the network had.
//     A request that differs from the recorded one is a [MismatchError] that says what differs.
//  4. [Player.Left] says how many exchanges were not played.
//
// A file is JSON lines: a head, then for each exchange a request, a response, chunks and an end, each with the exchange's
// number; exchanges at the same time may interleave.
//
// Keys are not recorded: headers that may hold one are left out, and what they held is taken out of the rest (of
// each piece of a response by itself). What a conversation says is recorded as it is: a recording is as private as its
// session.
package replay

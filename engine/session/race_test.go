//go:build race

package session_test

// raceEnabled says that the race detector is built in.
const raceEnabled = true

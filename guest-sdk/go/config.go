package weir

import (
	"unsafe"

	"weir/guest-sdk/go/internal/hostfn"
	"weir/guest-sdk/go/internal/scan"
)

// Config returns the settings of the set for this extension, an object, checked
// by the host against Extension.Config. It asks the host each time: a handler
// that runs often keeps what it made of them in a variable. Call it in a
// handler, not in init, where there are no settings yet.
func Config() Value {
	b := readAll(nil, hostfn.Config)
	s, err := scan.Value(unsafe.String(unsafe.SliceData(b), len(b)))
	if err != nil {
		panic(&answerError{"the settings", err})
	}
	return Value{s}
}

// The levels of Log.
const (
	LevelUnset Level = iota
	LevelDebug
	LevelInfo
	LevelWarn
	LevelError
)

// Level is the level of a line in the log. The zero Level counts as LevelInfo.
type Level uint8

// Log writes a line to the host's log, which keeps at most 256 lines of a call
// by default.
func Log(level Level, text string) {
	if level == LevelUnset || level > LevelError {
		level = LevelInfo
	}
	hostfn.Log(int32(level-LevelDebug), []byte(scan.Readable(text)))
}

package wasmhost

import (
	"bytes"
	"log/slog"
	"strings"
)

// logBuffer collects what a guest logs during one call, within its limits.
type logBuffer struct {
	lines    []logLine
	partial  [2]bytes.Buffer // stdout and stderr: text that no newline has ended yet
	skipping [2]bool         // the line under way is already dropped and counted
	maxLines int
	bytes    int // that may still come
	lost     int // lines dropped
}

type logLine struct {
	level slog.Level
	text  string
}

func (b *logBuffer) reset(l *Limits) {
	b.lines = b.lines[:0]
	b.maxLines, b.bytes, b.lost = int(l.LogLines), int(l.LogBytes), 0
	for i := range b.partial {
		b.partial[i].Reset()
		b.skipping[i] = false
	}
}

// add appends one line, or drops and counts it.
func (b *logBuffer) add(level slog.Level, text []byte) {
	if len(b.lines) >= b.maxLines || len(text) > b.bytes {
		b.lost++
		return
	}
	b.bytes -= len(text)
	b.lines = append(b.lines, logLine{level, strings.ToValidUTF8(string(text), "\uFFFD")})
}

// write takes what a guest wrote to stdout (0) or stderr (1).
func (b *logBuffer) write(stream int, data []byte) {
	for len(data) > 0 {
		line, rest, ended := bytes.Cut(data, []byte("\n"))
		if p := &b.partial[stream]; len(line) > 0 && !b.skipping[stream] {
			if len(b.lines) < b.maxLines && p.Len()+len(line) <= b.bytes {
				p.Write(line)
			} else {
				b.lost++
				p.Reset()
				b.skipping[stream] = true
			}
		}
		if ended {
			b.endLine(stream)
		}
		data = rest
	}
}

// end turns unfinished text into lines.
func (b *logBuffer) end() {
	b.endLine(0)
	b.endLine(1)
}

// endLine ends a line of stdout or stderr. Empty ones are left out.
func (b *logBuffer) endLine(stream int) {
	b.skipping[stream] = false
	p := &b.partial[stream]
	if p.Len() == 0 {
		return
	}
	level := slog.LevelInfo
	if stream == 1 {
		level = slog.LevelWarn
	}
	b.add(level, p.Bytes())
	p.Reset()
}

// logLevel maps the levels of weir_log and of the kernel.
func logLevel(level uint32) slog.Level {
	switch level {
	case 0:
		return slog.LevelDebug
	case 1:
		return slog.LevelInfo
	case 2:
		return slog.LevelWarn
	default:
		return slog.LevelError
	}
}

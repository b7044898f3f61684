package main

import (
	"context"
	"io"
	"log/slog"
	"os"

	"golang.org/x/term"

	"weir/engine"
	"weir/engine/contextfiles"
	"weir/engine/session"
)

// sink is where a run is told: a timeline for people or JSON lines for programs.
type sink interface {
	begin(h session.Header, about *opening)
	// event is a session.Subscriber.
	event(ev session.Event) error
	record(rec engine.Record)
	// prompt tells what a model call did to the prefix of the prompt.
	prompt(c engine.PromptChange)
	// end comes once, after all else.
	end(rep *report)
	// person is who can be asked; nil when there is nobody.
	person() person
	// logger gets what extensions log.
	logger() *slog.Logger
}

// opening is what a run begins with.
type opening struct {
	context []contextfiles.File
}

func newSink(s streams, output string, hideThinking bool) sink {
	if output == "json" {
		return &jsonSink{w: s.out, err: s.err}
	}
	return newTimeline(s, hideThinking)
}

// terminal says whether a stream is a terminal.
func terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// style colours text on a terminal, and leaves it elsewhere and where NO_COLOR is set.
type style struct{ on bool }

func newStyle(w io.Writer) style {
	return style{on: terminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

func (s style) paint(code, text string) string {
	if !s.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) dim(t string) string    { return s.paint("2", t) }
func (s style) bold(t string) string   { return s.paint("1", t) }
func (s style) red(t string) string    { return s.paint("31", t) }
func (s style) green(t string) string  { return s.paint("32", t) }
func (s style) yellow(t string) string { return s.paint("33", t) }
func (s style) cyan(t string) string   { return s.paint("36", t) }

// logHandler prints what extensions log, one line each.
type logHandler struct {
	slog.Handler
	print func(level slog.Level, extension, text string)
	name  string
}

func (h *logHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }
func (h *logHandler) WithGroup(string) slog.Handler                { return h }
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *h
	for _, a := range attrs {
		if a.Key == "extension" {
			c.name = a.Value.String()
		}
	}
	return &c
}

func (h *logHandler) Handle(_ context.Context, r slog.Record) error {
	h.print(r.Level, h.name, r.Message)
	return nil
}

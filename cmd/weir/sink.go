package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"

	"weir/engine"
	"weir/engine/session"
)

// sink is where a run is told: a timeline for people or JSON lines for programs.
type sink interface {
	begin(h session.Header)
	// event is a session.Subscriber.
	event(ev session.Event) error
	record(rec engine.Record)
	// prompt tells what a model call did to the prefix of the prompt.
	prompt(c engine.PromptChange)
	// end comes once, after all else.
	end(rep *report)
	// ask is how questions reach a person; nil when there is none.
	ask() func(context.Context, []engine.Question) (bool, error)
	// logger gets what extensions log.
	logger() *slog.Logger
}

func newSink(s streams, output string) sink {
	if output == "json" {
		return &jsonSink{w: s.out, err: s.err}
	}
	return &timeline{w: s.out, style: newStyle(s.out), streams: s, partial: map[int]*strings.Builder{}}
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

// prompter asks at the terminal. One question at a time.
type prompter struct {
	mu  sync.Mutex
	in  io.Reader
	out io.Writer
}

// ask puts each question and wants a yes to all. The end of ctx, or of the input, is a no.
func (p *prompter) ask(ctx context.Context, questions []engine.Question) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, q := range questions {
		fmt.Fprintf(p.out, "\n%s asks: %s\n", printable(q.Extension), printable(q.Title))
		if q.Message != "" {
			fmt.Fprintf(p.out, "  %s\n", printable(q.Message))
		}
		fmt.Fprintf(p.out, "  %s %s\n  allow it? [y/N] ", printable(q.Tool), oneLine(string(q.Input), 400))
		line, err := readLine(ctx, p.in)
		if err != nil {
			return false, err
		}
		if a := strings.ToLower(strings.TrimSpace(line)); a != "y" && a != "yes" {
			return false, nil
		}
	}
	return true, nil
}

// readLine reads a line and gives up when ctx ends; the reader then stays with the unread line.
func readLine(ctx context.Context, in io.Reader) (string, error) {
	type answer struct {
		line string
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		line, err := bufio.NewReader(in).ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = nil
		}
		got <- answer{line, err}
	}()
	select {
	case a := <-got:
		return a.line, a.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

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

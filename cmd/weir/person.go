package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"weir/engine"
	"weir/engine/session"
	"weir/wasmhost"
)

// person is whoever can be asked: at a terminal, or behind another program. What extensions want of a person with the grant
// ui is in wasmhost.UI. Safe for concurrent use.
type person interface {
	wasmhost.UI
	// ask puts the questions about one call and says whether all are agreed to.
	ask(ctx context.Context, questions []engine.Question) (bool, error)
}

// errNo is a person's Ctrl-C at a question.
var errNo = errors.New("the person declined")

// prompter asks at the terminal. One question at a time, in the order in which they come; Ctrl-C is a no, and so are the end
// of the input and of the context.
type prompter struct {
	lines lineSource
	out   io.Writer
	style style
	// interrupts lets a question take Ctrl-C; nil leaves that to the context.
	interrupts *interrupts
	// asking is told before a question and after the answer, so that nothing else is written in between. nil is not told.
	asking func(on bool)
	// show prints what is not a question, and notes a status; nil drops it.
	show   func(text string)
	status func(from, text string)

	turn sync.Mutex // held while a question is put
}

// question puts one and gives the line that was typed.
func (p *prompter) question(ctx context.Context, put func()) (string, error) {
	p.turn.Lock()
	defer p.turn.Unlock()
	return p.line(ctx, put)
}

// line is question for who holds the turn.
func (p *prompter) line(ctx context.Context, put func()) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer p.interrupts.take(func() { cancel(errNo) })()
	if p.asking != nil {
		p.asking(true)
		defer p.asking(false)
	}
	put()
	text, err := p.lines.read(ctx)
	if err != nil {
		fmt.Fprintln(p.out)
	}
	return strings.TrimSpace(text), err
}

func (p *prompter) head(from, title, message string) {
	fmt.Fprintf(p.out, "\n%s asks: %s\n", p.style.cyan(printable(from)), printable(title))
	if message != "" {
		fmt.Fprintf(p.out, "  %s\n", indent(printable(message), "  "))
	}
}

func yes(answer string) bool {
	a := strings.ToLower(strings.TrimSpace(answer))
	return a == "y" || a == "yes"
}

// no makes a no of an answer that was none: Ctrl-C, and the end of the input.
func no(err error) error {
	if errors.Is(err, errNo) || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// ask implements [person]. It wants a yes to all.
func (p *prompter) ask(ctx context.Context, questions []engine.Question) (bool, error) {
	p.turn.Lock() // the questions about a call stay together
	defer p.turn.Unlock()
	for _, q := range questions {
		answer, err := p.line(ctx, func() {
			p.head(q.Extension, q.Title, q.Message)
			fmt.Fprintf(p.out, "  %s %s\n  allow it? [y/N] ", printable(q.Tool), oneLine(string(q.Input), 400))
		})
		if err != nil || !yes(answer) {
			return false, no(err)
		}
	}
	return true, nil
}

// Confirm implements [wasmhost.UI].
func (p *prompter) Confirm(ctx context.Context, from, title, message string) (bool, error) {
	answer, err := p.question(ctx, func() {
		p.head(from, title, message)
		fmt.Fprint(p.out, "  yes? [y/N] ")
	})
	return err == nil && yes(answer), no(err)
}

// Select implements [wasmhost.UI]. An answer that is none of the numbers chooses nothing.
func (p *prompter) Select(ctx context.Context, from, title string, options []string) (string, bool, error) {
	answer, err := p.question(ctx, func() {
		p.head(from, title, "")
		for i, o := range options {
			fmt.Fprintf(p.out, "  %2d  %s\n", i+1, oneLine(o, 200))
		}
		fmt.Fprintf(p.out, "  which? [1-%d, none] ", len(options))
	})
	if n, parsed := strconv.Atoi(answer); err == nil && parsed == nil && n >= 1 && n <= len(options) {
		return options[n-1], true, nil
	}
	return "", false, no(err)
}

// Input implements [wasmhost.UI]. An empty line is none.
func (p *prompter) Input(ctx context.Context, from, title, placeholder string) (string, bool, error) {
	answer, err := p.question(ctx, func() {
		p.head(from, title, "")
		if placeholder != "" {
			fmt.Fprintf(p.out, "  (%s)\n", oneLine(placeholder, 200))
		}
		fmt.Fprint(p.out, "  > ")
	})
	return answer, err == nil && answer != "", no(err)
}

// Notify implements [wasmhost.UI].
func (p *prompter) Notify(_ context.Context, from, level, message string) error {
	text := oneLine(message, 400)
	switch level {
	case "warning":
		text = p.style.yellow("warning: ") + text
	case "error":
		text = p.style.red("error: ") + text
	}
	if p.show != nil {
		p.show(p.style.cyan(printable(from)) + " says: " + text)
	}
	return nil
}

// Status implements [wasmhost.UI].
func (p *prompter) Status(_ context.Context, from, text string) error {
	if p.status != nil {
		p.status(from, text)
	}
	return nil
}

// lineSource gives the lines that a person types, one by one.
type lineSource interface {
	read(ctx context.Context) (string, error)
}

// lineReader gives the lines of a stream one by one. A line that was waited for in vain goes to the next who asks. Only one
// goroutine at a time may ask; the one that reads lives as long as the stream gives nothing.
type lineReader struct {
	in  *bufio.Reader
	got chan lineRead
	on  bool // a line is being read
}

type lineRead struct {
	text string
	err  error
}

func newLineReader(in io.Reader) *lineReader {
	return &lineReader{in: bufio.NewReader(in), got: make(chan lineRead, 1)}
}

// read gives the next line. The errors are io.EOF and the cause of ctx.
func (r *lineReader) read(ctx context.Context) (string, error) {
	if !r.on {
		r.on = true
		go func() {
			text, err := r.in.ReadString('\n')
			if errors.Is(err, io.EOF) && text != "" {
				err = nil
			}
			r.got <- lineRead{text, err}
		}()
	}
	select {
	case l := <-r.got:
		r.on = false
		return l.text, l.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// announced tells extensions, through the session, that a person is waited for. Before there is a session nobody is told.
type announced struct {
	person
	session func() *session.Session
}

func announce[T any](ctx context.Context, a *announced, kind, title string, put func(context.Context) (T, error)) (T, error) {
	s := a.session()
	if s == nil {
		return put(ctx)
	}
	answer, err := s.Ask(ctx, kind, title, func(ctx context.Context) (any, error) { return put(ctx) })
	typed, _ := answer.(T)
	return typed, err
}

func (a *announced) ask(ctx context.Context, questions []engine.Question) (bool, error) {
	yes, err := announce(ctx, a, "confirm", questions[0].Title, func(ctx context.Context) (bool, error) { return a.person.ask(ctx, questions) })
	return yes && err == nil, err
}

func (a *announced) Confirm(ctx context.Context, from, title, message string) (bool, error) {
	return announce(ctx, a, "confirm", title, func(ctx context.Context) (bool, error) { return a.person.Confirm(ctx, from, title, message) })
}

// answer is a text or nothing.
type answer struct {
	text string
	ok   bool
}

func (a *announced) Select(ctx context.Context, from, title string, options []string) (string, bool, error) {
	got, err := announce(ctx, a, "select", title, func(ctx context.Context) (answer, error) {
		text, ok, err := a.person.Select(ctx, from, title, options)
		return answer{text, ok}, err
	})
	return got.text, got.ok, err
}

func (a *announced) Input(ctx context.Context, from, title, placeholder string) (string, bool, error) {
	got, err := announce(ctx, a, "input", title, func(ctx context.Context) (answer, error) {
		text, ok, err := a.person.Input(ctx, from, title, placeholder)
		return answer{text, ok}, err
	})
	return got.text, got.ok, err
}

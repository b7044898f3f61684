package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
)

// lineEditor is the terminal of a conversation: lines are typed and edited at its foot while what is told scrolls by above.
// The editing is x/term's. What that cannot do is done before it sees the keys: Ctrl-C, which it takes for the end; a paste of many
// lines, for which a placeholder stands in the line; and questions, whose answers are no lines of the conversation: what was
// typed so far is put aside for them and comes back.
type lineEditor struct {
	tty     *os.File // in raw mode between start and stop
	out     *os.File
	restore *term.State
	term    *term.Terminal
	keys    *keyboard
	history *lineHistory
	lines   chan string // closed when Ctrl-D ended the input
	done    chan struct{}

	mu     sync.Mutex
	prompt string
	asker  chan string // who gets the lines, instead of the conversation
	next   chan string // the asker to be
	asks   string      // what stands before the answer that next waits for
	aside  bool        // a line was put aside: draft
	draft  string
	tail   []byte // what was written of a line that has not ended
	on     bool
}

// Keys that nobody can type (the keyboard drops them): they have the editor put its line aside, and take it back.
const (
	keyAside = 0x1e
	keyBack  = 0x1f
)

// startEditor puts the terminal into raw mode. keys are those of tty; interrupt is called for each Ctrl-C.
func startEditor(tty, out *os.File, keys io.Reader, interrupt func()) (*lineEditor, error) {
	e := &lineEditor{tty: tty, out: out, keys: newKeyboard(keys, interrupt), lines: make(chan string), done: make(chan struct{}), on: true}
	var err error
	if e.restore, err = term.MakeRaw(int(tty.Fd())); err != nil {
		return nil, fmt.Errorf("the terminal cannot be set up: %w", err)
	}
	e.term = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{e.keys, out}, promptIdle) // an empty one would not be taken back by the next
	e.prompt = promptIdle
	e.history = &lineHistory{keep: e.talking}
	e.term.History = e.history
	e.term.AutoCompleteCallback = e.key
	e.term.SetBracketedPasteMode(true)
	e.fit()
	go e.dispatch()
	return e, nil
}

// dispatch gives the lines to whom they belong.
func (e *lineEditor) dispatch() {
	defer close(e.lines)
	for {
		e.fit()
		line, err := e.term.ReadLine()
		e.mu.Lock()
		asker := e.asker
		e.mu.Unlock()
		if err != nil && (asker == nil || e.keys.over()) {
			return
		}
		if asker != nil { // Ctrl-D answers nothing
			select {
			case asker <- line:
			default: // it has its answer
			}
			continue
		}
		select {
		case e.lines <- e.keys.expand(line):
		case <-e.done:
			return
		}
	}
}

// fit tells the editor how large the terminal is.
func (e *lineEditor) fit() {
	if w, h, err := term.GetSize(int(e.out.Fd())); err == nil && w > 0 && h > 0 {
		_ = e.term.SetSize(w, h) // a terminal that is gone shows in the next line
	}
}

// stop gives the terminal back as it was. What is written from then on goes there as it is.
func (e *lineEditor) stop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.on {
		return
	}
	e.on = false
	close(e.done)
	e.term.SetBracketedPasteMode(false)
	_, _ = io.WriteString(e.out, "\r\n") // as in fit
	_ = term.Restore(int(e.tty.Fd()), e.restore)
	if len(e.tail) > 0 {
		_, _ = e.out.Write(e.tail)
	}
	e.tail = nil
}

// setPrompt changes what stands before the line.
func (e *lineEditor) setPrompt(prompt string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.prompt = prompt
	if e.asker == nil && e.next == nil {
		e.show(prompt)
	}
}

func (e *lineEditor) show(prompt string) {
	if e.on {
		e.term.SetPrompt("\x1b[0m" + prompt)
		_, _ = e.term.Write(nil) // draws it; a terminal that is gone shows in the next line
	}
}

// Write shows whole lines above the line that is typed. A line that has not ended is kept until it has, or until it fills a row.
func (e *lineEditor) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.on {
		return e.out.Write(p)
	}
	e.fit()
	e.tail = append(e.tail, p...)
	if end := bytes.LastIndexByte(e.tail, '\n'); end >= 0 {
		if _, err := e.term.Write(e.tail[:end+1]); err != nil {
			return 0, err
		}
		e.tail = append([]byte(nil), e.tail[end+1:]...)
	}
	width, _, err := term.GetSize(int(e.out.Fd()))
	if err != nil || width < 20 {
		width = 80
	}
	for len([]rune(string(e.tail))) >= width {
		row := string([]rune(string(e.tail))[:width-1])
		cut := len(row)
		if space := strings.LastIndexByte(row, ' '); space > 10 {
			cut = space
		}
		if _, err := e.term.Write([]byte(row[:cut] + "\n")); err != nil {
			return 0, err
		}
		e.tail = append([]byte("        "), bytes.TrimLeft(e.tail[cut:], " ")...)
	}
	return len(p), nil
}

// read implements [lineSource]: the answer to a question, which stands in what was written last without a line break.
func (e *lineEditor) read(ctx context.Context) (string, error) {
	answer := make(chan string, 1)
	e.mu.Lock()
	e.next, e.asks, e.tail = answer, string(e.tail), nil
	e.mu.Unlock()
	e.keys.press(keyAside)
	defer func() {
		e.mu.Lock()
		e.next = nil
		e.show(e.prompt)
		e.mu.Unlock()
		e.keys.press(keyBack)
	}()
	select {
	case line := <-answer:
		return line, nil
	case <-e.keys.ended:
		return "", io.EOF
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// key is called for each key, by the goroutine that reads the lines. What was typed before keyAside has gone its way then: it
// is never taken for an answer to what was asked after it. The question is shown no sooner, so that what is typed under it is.
func (e *lineEditor) key(line string, _ int, key rune) (string, int, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch key {
	case keyAside:
		if !e.aside {
			e.aside, e.draft = true, line
		}
		if e.asker = e.next; e.asker != nil {
			e.show(e.asks)
		}
		return "", 0, true
	case keyBack:
		if e.next != nil { // the next question stands already
			return "", 0, true
		}
		line = e.draft
		e.asker, e.aside, e.draft = nil, false, ""
		return line, len(line), true
	}
	return "", 0, false
}

func (e *lineEditor) talking() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.asker == nil
}

// lineHistory keeps the lines of the conversation; answers are none. Safe for concurrent use.
type lineHistory struct {
	keep func() bool

	mu    sync.Mutex
	lines []string
	file  *historyFile // nil keeps them nowhere
	typed func(line string) bool
}

// maxHistory is how many lines are kept.
const maxHistory = 500

// Add implements [term.History].
func (h *lineHistory) Add(line string) {
	if h.keep() && h.remember(line) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.file != nil && h.typed(line) {
			h.file.add(line)
		}
	}
}

// remember adds a line, unless it is blank or the last one, and says whether it did. It goes into no file.
func (h *lineHistory) remember(line string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if strings.TrimSpace(line) == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return false
	}
	h.lines = append(h.lines, line)
	h.lines = h.lines[max(0, len(h.lines)-maxHistory):]
	return true
}

// Len implements [term.History].
func (h *lineHistory) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.lines)
}

// At implements [term.History].
func (h *lineHistory) At(i int) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lines[len(h.lines)-1-i]
}

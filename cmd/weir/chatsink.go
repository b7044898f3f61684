package main

import (
	"context"
	"os"
	"strings"
)

// chatSink tells a conversation above the line that is typed.
type chatSink struct {
	*timeline
	ctrlC *interrupts
	edit  *lineEditor // nil before there is one
}

// onTerminal has everything pass through the line editor.
func (s *chatSink) onTerminal(e *lineEditor, i *interrupts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.edit, s.ctrlC, s.out, s.w = e, i, e, e
}

func (s *chatSink) offTerminal(out *os.File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out, s.w = out, out
}

// person is who types. Before there is a line editor Ctrl-C at a question ends the program.
func (s *chatSink) person() person {
	p := &prompter{lines: s.lines, out: s.out, style: s.style, asking: s.asked, show: func(text string) { s.note("%s", text) }, status: s.status}
	if s.edit != nil {
		p.lines, p.interrupts = s.edit, s.ctrlC
	}
	return chatPerson{p}
}

// chatPerson is a prompter that shows what extensions say in full: the answer to a command may have many lines.
type chatPerson struct{ *prompter }

// Notify implements [wasmhost.UI].
func (p chatPerson) Notify(ctx context.Context, from, level, message string) error {
	if level == "info" && strings.Contains(message, "\n") {
		p.show(p.style.cyan(printable(from)) + " says:\n    " + indent(printable(message), "    "))
		return nil
	}
	return p.prompter.Notify(ctx, from, level, message)
}

// show shows lines as they are, but for what would harm the terminal; its own colours stay.
func (s *chatSink) show(text string) {
	if text == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.printf("%s\n", text)
}

// end says where the session is kept.
func (s *chatSink) end(rep *report) {
	if rep.file != "" {
		s.note("the session is kept in %s", printable(rep.file))
	}
}

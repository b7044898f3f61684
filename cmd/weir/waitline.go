package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// waitLine is the last line of a terminal while something is waited for: what, for how long, and how far it is. It is written
// over and erased. Its methods are called with the timeline's lock held, but for start and stop; on nil they do nothing.
type waitLine struct {
	t        *timeline
	what     string // but for tools
	since    time.Time
	tools    []toolWait
	statuses []toolWait // of extensions, by name
	drawn    bool
	frame    int
	over     chan struct{}
	done     chan struct{}
}

// toolWait is a tool that runs, and the last line that it printed.
type toolWait struct {
	id, name, line string
	since          time.Time
}

const waitInterval = 100 * time.Millisecond

func newWaitLine(t *timeline) *waitLine { return &waitLine{t: t} }

// start begins to draw.
func (l *waitLine) start() {
	if l == nil {
		return
	}
	l.over, l.done = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(l.done)
		tick := time.NewTicker(waitInterval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				l.t.mu.Lock()
				l.draw()
				l.t.mu.Unlock()
			case <-l.over:
				return
			}
		}
	}()
}

// stop ends the drawing and erases the line.
func (l *waitLine) stop() {
	if l == nil || l.over == nil {
		return
	}
	close(l.over)
	<-l.done
	l.over = nil
	l.t.mu.Lock()
	defer l.t.mu.Unlock()
	l.erase()
}

// on says what is waited for from now on, if no tool is.
func (l *waitLine) on(what string) {
	if l != nil {
		l.what, l.since = what, time.Now()
	}
}

func (l *waitLine) tool(id, name string) {
	if l != nil {
		l.what = ""
		l.tools = append(l.tools, toolWait{id: id, name: name, since: time.Now()})
	}
}

func (l *waitLine) progress(id, line string) {
	if l == nil {
		return
	}
	for i := range l.tools {
		if l.tools[i].id == id {
			l.tools[i].line = line
		}
	}
}

func (l *waitLine) toolDone(id string) {
	if l == nil {
		return
	}
	for i := range l.tools {
		if l.tools[i].id == id {
			l.tools = append(l.tools[:i], l.tools[i+1:]...)
			return
		}
	}
}

// status notes what an extension is doing; "" takes it away. It is false when there is no line to show it in.
func (l *waitLine) status(from, text string) bool {
	if l == nil {
		return false
	}
	for i := range l.statuses {
		if l.statuses[i].name == from {
			l.statuses = append(l.statuses[:i], l.statuses[i+1:]...)
			break
		}
	}
	if text != "" {
		l.statuses = append(l.statuses, toolWait{name: from, line: text})
	}
	return true
}

// erase takes the line away.
func (l *waitLine) erase() {
	if l != nil && l.drawn {
		l.drawn = false
		fmt.Fprint(l.t.out, "\r\x1b[K")
	}
}

// draw writes the line, where no other stands open.
func (l *waitLine) draw() {
	text := l.text()
	if text == "" || l.t.said.shown || l.t.w != l.t.out {
		l.erase()
		return
	}
	frames := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	l.frame = (l.frame + 1) % len(frames)
	width := 80
	if f, ok := l.t.out.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			width = w
		}
	}
	// Wide characters take two columns: a line that wrapped could not be erased.
	fmt.Fprintf(l.t.out, "\r\x1b[K%s", l.t.style.dim(oneLine(string(frames[l.frame])+" "+text, max(8, width/2))))
	l.drawn = true
}

func (l *waitLine) text() string {
	var parts []string
	for _, w := range l.tools {
		part := fmt.Sprintf("%s %ds", w.name, int(time.Since(w.since).Seconds()))
		if w.line != "" {
			part += " " + w.line
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 && l.what != "" {
		parts = append(parts, fmt.Sprintf("%s %ds", l.what, int(time.Since(l.since).Seconds())))
	}
	for _, s := range l.statuses {
		parts = append(parts, s.name+": "+s.line)
	}
	return strings.Join(parts, " · ")
}

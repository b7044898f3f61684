package main

import (
	"io"
	"slices"
	"strings"

	"weir/agentcore"
)

// speechKind is what a model says aloud or only thinks.
type speechKind uint8

const (
	speechText speechKind = iota + 1
	speechThinking
)

// speech is what was shown of a message while it came.
type speech struct {
	kind  speechKind // of the block that is open; 0 when none is
	shown bool       // something of it was shown: the line stands open
	space string     // that came last, and is shown when something follows
	block strings.Builder
	whole []string // the blocks that ended
}

// breakLine ends the open line. What follows of the block begins a new one.
func (s *speech) breakLine(w io.Writer) {
	if s.shown {
		_, _ = io.WriteString(w, "\n") // a writer that is gone shows in the next line
	}
	s.shown, s.space = false, ""
}

// end ends the block.
func (s *speech) end(w io.Writer) {
	s.breakLine(w)
	if s.kind != 0 {
		s.whole = append(s.whole, s.block.String())
	}
	s.kind = 0
	s.block.Reset()
}

// delta shows what the model says while it says it.
func (t *timeline) delta(a *agentcore.AssistantEvent) {
	kind := speechText
	switch a.Type {
	case agentcore.StreamThinkingStart, agentcore.StreamThinkingDelta, agentcore.StreamThinkingEnd:
		kind = speechThinking
	}
	switch a.Type {
	case agentcore.StreamTextStart, agentcore.StreamThinkingStart:
		t.open(kind)
	case agentcore.StreamTextDelta, agentcore.StreamThinkingDelta:
		if t.said.kind != kind {
			t.open(kind)
		}
		t.say(a.Delta)
	case agentcore.StreamTextEnd, agentcore.StreamThinkingEnd:
		t.wait.erase()
		t.said.end(t.w)
	}
}

func (t *timeline) open(kind speechKind) {
	t.wait.erase()
	t.said.end(t.w)
	t.said.kind = kind
}

// say shows a piece of the open block. Space at its ends is not shown.
func (t *timeline) say(text string) {
	s := &t.said
	s.block.WriteString(text)
	if s.kind == speechThinking && t.hideThinking {
		return
	}
	text = s.space + text
	if !s.shown {
		text = strings.TrimLeft(text, " \t\r\n")
	}
	said := strings.TrimRight(text, " \t\r\n")
	s.space = text[len(said):]
	if said == "" {
		return
	}
	t.wait.erase()
	paint := func(text string) string { return text }
	if s.kind == speechThinking {
		paint = t.style.dim
	}
	if !s.shown {
		s.shown = true
		label := "model"
		if s.kind == speechThinking {
			label = "thinks"
		}
		_, _ = io.WriteString(t.w, "  "+t.style.dim(label)+" ") // as in end
	}
	_, _ = io.WriteString(t.w, paint(indent(printable(said), "        "))) // as in end
}

// whole shows a block of a message that has come to its end, unless it was shown as it came: there are models that do not
// stream, and extensions that change what is kept.
func (t *timeline) whole(kind speechKind, text string) {
	t.wait.erase()
	t.said.end(t.w)
	if slices.Contains(t.said.whole, text) {
		return
	}
	streamed := t.said.whole
	t.open(kind)
	t.say(text)
	t.said.end(t.w)
	t.said.whole = streamed
}

// lastLine is the last line that holds something.
func lastLine(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}

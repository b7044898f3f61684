package agentcore

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// assembler builds one assistant message from the events of its stream. Text grows in append-only buffers whose
// snapshots share memory, and finished blocks sit in an append-only slice, so that a snapshot costs the same however
// long the message is.
type assembler struct {
	head  AssistantMessage // everything but the content
	slots []*slot
	// done are the blocks before the last one. Elements are never changed in place: earlier snapshots hold prefixes.
	done []Block
}

// slot is one block while it grows.
type slot struct {
	kind      AssistantEventType // StreamTextStart, StreamThinkingStart or StreamToolCallStart
	text      strings.Builder    // the arguments' JSON for a tool call
	content   string             // what a text_end or thinking_end said, if it differs from text
	replaced  bool
	signature string
	call      *ToolCall
	fixed     Block // a block that came whole, with the start event
}

// partial is an immutable view of an assembler at one moment.
type partial struct {
	head      *AssistantMessage
	done      []Block
	kind      AssistantEventType // of the last block; 0 when there is none
	text      string
	signature string
	call      *ToolCall
	fixed     Block
}

// ProtocolError says how a provider broke the rules of [Provider]. The response then ends as a message with stop
// reason "error".
type ProtocolError struct {
	Event  AssistantEventType // the event that broke them; 0 when Stream returned
	Detail string
}

// Error implements error.
func (e *ProtocolError) Error() string {
	if e.Event == 0 {
		return "provider broke the stream protocol: " + e.Detail
	}
	return fmt.Sprintf("provider broke the stream protocol: %s: %s", e.Event, e.Detail)
}

// apply takes up one of the nine middle events. It completes ev: the content of an end event, the finished call.
func (a *assembler) apply(ev *AssistantEvent) error {
	kind, step := split(ev.Type)
	if step == stepStart {
		if ev.ContentIndex != len(a.slots) {
			return &ProtocolError{ev.Type, fmt.Sprintf("content index %d, expected %d", ev.ContentIndex, len(a.slots))}
		}
		a.open(&slot{kind: kind, call: ev.ToolCall})
		return nil
	}
	if ev.ContentIndex < 0 || ev.ContentIndex >= len(a.slots) {
		return &ProtocolError{ev.Type, fmt.Sprintf("content index %d, but %d blocks were started", ev.ContentIndex, len(a.slots))}
	}
	s := a.slots[ev.ContentIndex]
	if s.kind != kind {
		return &ProtocolError{ev.Type, fmt.Sprintf("content index %d was opened by %s", ev.ContentIndex, s.kind)}
	}
	if step == stepDelta {
		s.text.WriteString(ev.Delta)
	} else if err := s.end(ev); err != nil {
		return err
	}
	if ev.ContentIndex < len(a.done) {
		// Blocks that grow out of turn are rare; earlier snapshots keep the old slice.
		a.done = slices.Clone(a.done)
		a.done[ev.ContentIndex] = s.block()
	}
	return nil
}

func (a *assembler) open(s *slot) {
	if n := len(a.slots); n > 0 {
		a.done = append(a.done, a.slots[n-1].block())
	}
	a.slots = append(a.slots, s)
}

// end completes s and ev from each other.
func (s *slot) end(ev *AssistantEvent) error {
	if s.kind != StreamToolCallStart {
		if ev.Signature != "" {
			s.signature = ev.Signature
		}
		if ev.Content == "" {
			ev.Content = s.value()
		} else if ev.Content != s.text.String() {
			s.content, s.replaced = ev.Content, true
		}
		return nil
	}
	if ev.ToolCall == nil {
		if s.call == nil {
			return &ProtocolError{ev.Type, "no tool call"}
		}
		args := json.RawMessage(s.text.String())
		if len(args) > 0 && !json.Valid(args) {
			return &ProtocolError{ev.Type, fmt.Sprintf("the deltas of call %q are not valid JSON", s.call.ID)}
		}
		call := *s.call
		call.Arguments = argumentsOrEmpty(args)
		ev.ToolCall = &call
	}
	s.call = ev.ToolCall
	return nil
}

func (s *slot) value() string {
	if s.replaced {
		return s.content
	}
	return s.text.String()
}

func (s *slot) block() Block { return block(s.kind, s.value(), s.signature, s.call, s.fixed) }

func block(kind AssistantEventType, text, signature string, call *ToolCall, fixed Block) Block {
	switch {
	case fixed != nil:
		return fixed
	case kind == StreamTextStart:
		return &TextBlock{Text: text, TextSignature: signature}
	case kind == StreamThinkingStart:
		return &ThinkingBlock{Thinking: text, ThinkingSignature: signature}
	case call == nil:
		return &ToolCall{}
	default:
		return call
	}
}

// begin takes up the start event's message.
func (a *assembler) begin(head *AssistantMessage) {
	for _, b := range head.Content {
		a.open(&slot{fixed: b})
	}
	a.head = *head
	a.head.Content = nil
}

// snapshot writes the message so far into p.
func (a *assembler) snapshot(p *partial) {
	p.head = &a.head
	p.done = a.done[:len(a.done):len(a.done)]
	if n := len(a.slots); n > 0 {
		s := a.slots[n-1]
		p.kind, p.text, p.signature, p.call, p.fixed = s.kind, s.value(), s.signature, s.call, s.fixed
		if s.fixed != nil {
			p.kind = StreamTextStart
		}
	}
}

func (p *partial) message() *AssistantMessage {
	m := *p.head
	n := len(p.done)
	m.Content = make([]Block, n, n+1)
	copy(m.Content, p.done)
	if p.kind != 0 {
		m.Content = append(m.Content, block(p.kind, p.text, p.signature, p.call, p.fixed))
	}
	return &m
}

type step uint8

const (
	stepStart step = iota
	stepDelta
	stepEnd
)

// split gives the start type of the block that t is about, and what t does to it.
func split(t AssistantEventType) (AssistantEventType, step) {
	i := t - StreamTextStart
	return StreamTextStart + i/3*3, step(i % 3)
}

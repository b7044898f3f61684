package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"weir/engine"
	"weir/engine/session"
)

// rpcSink tells a conversation to a program that can answer: the lines of jsonSink, and questions. Every agent_settled is told
// when it occurs.
type rpcSink struct {
	jsonSink
	asks rpcPerson
}

func (s *rpcSink) person() person { return &s.asks }

// event implements session.Subscriber.
func (s *rpcSink) event(ev session.Event) error {
	if settled, ok := ev.(*session.AgentSettled); ok {
		return s.line(settled)
	}
	return s.jsonSink.event(ev)
}

// broken says why the program cannot be told anything any more; nil when it can.
func (s *rpcSink) broken() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return fmt.Errorf("the client cannot be told: %w", s.failed)
	}
	return nil
}

// rpcPerson asks whoever is behind the program. When that has closed its end there is nobody: every question is declined.
type rpcPerson struct {
	line func(v any) error

	mu     sync.Mutex
	count  int
	open   map[string]rpcQuestion
	closed bool
}

type rpcQuestion struct {
	method  string
	options []string
	answer  chan *rpcCommand
}

// rpcRequest is a question to the client, or something to show.
type rpcRequest struct {
	Type        string          `json:"type"` // "extension_ui_request"
	ID          string          `json:"id"`
	Method      string          `json:"method"` // confirm, select, input; and without an answer: notify, setStatus, cancel
	Extension   string          `json:"extension,omitempty"`
	Title       string          `json:"title,omitempty"`
	Message     string          `json:"message,omitempty"`
	Options     []string        `json:"options,omitempty"`
	Placeholder string          `json:"placeholder,omitempty"`
	ToolName    string          `json:"toolName,omitempty"` // of the call that a decision is about
	Input       json.RawMessage `json:"input,omitempty"`
	NotifyType  string          `json:"notifyType,omitempty"`
	StatusKey   string          `json:"statusKey,omitempty"`
	StatusText  string          `json:"statusText,omitempty"`
}

func (p *rpcPerson) nextID() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	return fmt.Sprintf("ui-%d", p.count)
}

// question puts one and waits for its answer; nil is none: it was declined, or there is nobody.
func (p *rpcPerson) question(ctx context.Context, r rpcRequest) (*rpcCommand, error) {
	r.Type, r.ID = "extension_ui_request", p.nextID()
	answer := make(chan *rpcCommand, 1)
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, nil
	}
	if p.open == nil {
		p.open = map[string]rpcQuestion{}
	}
	p.open[r.ID] = rpcQuestion{r.Method, r.Options, answer}
	p.mu.Unlock()
	if err := p.line(r); err != nil {
		p.take(r.ID)
		return nil, err
	}
	select {
	case c := <-answer:
		if c == nil || c.Cancelled {
			return nil, nil
		}
		return c, nil
	case <-ctx.Done():
		if p.take(r.ID) {
			_ = p.line(rpcRequest{Type: r.Type, ID: r.ID, Method: "cancel", Extension: r.Extension}) // told at the end
		}
		return nil, context.Cause(ctx)
	}
}

// take removes a question and says whether it was open.
func (p *rpcPerson) take(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, open := p.open[id]
	delete(p.open, id)
	return open
}

// answer hands an answer to its question. A question whose answer was no answer stays open.
func (p *rpcPerson) answer(c *rpcCommand) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	q, open := p.open[c.ID]
	if !open {
		return fmt.Errorf("no question %q is open", c.ID)
	}
	has := 0
	for _, is := range []bool{c.Value != nil, c.Confirmed != nil, c.Cancelled} {
		if is {
			has++
		}
	}
	switch {
	case has != 1:
		return errors.New(`an answer has one of "value", "confirmed" and "cancelled":true`)
	case c.Cancelled:
	case q.method == "confirm" && c.Confirmed == nil:
		return errors.New(`the answer to confirm has "confirmed" or "cancelled"`)
	case q.method != "confirm" && c.Value == nil:
		return fmt.Errorf(`the answer to %s has "value" or "cancelled"`, q.method)
	case q.method == "select" && !slices.Contains(q.options, *c.Value):
		return fmt.Errorf("%q is none of the options of question %q", *c.Value, c.ID)
	}
	delete(p.open, c.ID)
	q.answer <- c
	return nil
}

// close declines what is open and what will be asked.
func (p *rpcPerson) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, q := range p.open {
		q.answer <- nil
	}
	clear(p.open)
}

// ask implements [person]. It wants a yes to all.
func (p *rpcPerson) ask(ctx context.Context, questions []engine.Question) (bool, error) {
	for _, q := range questions {
		c, err := p.question(ctx, rpcRequest{
			Method: "confirm", Extension: q.Extension, Title: q.Title, Message: q.Message, ToolName: q.Tool, Input: q.Input,
		})
		if err != nil || c == nil || !*c.Confirmed {
			return false, err
		}
	}
	return true, nil
}

// Confirm implements [wasmhost.UI].
func (p *rpcPerson) Confirm(ctx context.Context, from, title, message string) (bool, error) {
	c, err := p.question(ctx, rpcRequest{Method: "confirm", Extension: from, Title: title, Message: message})
	return c != nil && *c.Confirmed, err
}

// Select implements [wasmhost.UI].
func (p *rpcPerson) Select(ctx context.Context, from, title string, options []string) (string, bool, error) {
	return given(p.question(ctx, rpcRequest{Method: "select", Extension: from, Title: title, Options: options}))
}

// Input implements [wasmhost.UI].
func (p *rpcPerson) Input(ctx context.Context, from, title, placeholder string) (string, bool, error) {
	return given(p.question(ctx, rpcRequest{Method: "input", Extension: from, Title: title, Placeholder: placeholder}))
}

func given(c *rpcCommand, err error) (string, bool, error) {
	if c == nil {
		return "", false, err
	}
	return *c.Value, true, err
}

// Notify implements [wasmhost.UI].
func (p *rpcPerson) Notify(_ context.Context, from, level, message string) error {
	return p.line(rpcRequest{Type: "extension_ui_request", ID: p.nextID(), Method: "notify", Extension: from, Message: message, NotifyType: level})
}

// Status implements [wasmhost.UI].
func (p *rpcPerson) Status(_ context.Context, from, text string) error {
	return p.line(rpcRequest{Type: "extension_ui_request", ID: p.nextID(), Method: "setStatus", Extension: from, StatusKey: from, StatusText: text})
}

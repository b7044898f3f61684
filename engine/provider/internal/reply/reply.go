package reply

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"weir/agentcore"
)

// maxReply is how many bytes of text a response may hold. The largest answers of today's models are a few hundred
// kilobytes; a server that goes on for ever must not fill the memory.
const maxReply = 64 << 20

// AbortedText is the error message of a response that was cancelled.
const AbortedText = "the request was aborted"

// RedactedText stands for reasoning that the provider keeps to itself, as in the reference.
const RedactedText = "[Reasoning redacted]"

// Prices are what a model costs, in US dollars for a million tokens. The zero value costs nothing.
type Prices struct{ Input, Output, CacheRead, CacheWrite float64 }

// Reply grows one assistant message. After an error of emit it emits nothing more; see [Reply.Err].
type Reply struct {
	// Usage is filled in by the provider, but for the total and the cost.
	Usage agentcore.Usage
	// ResponseID and ResponseModel are what the server calls its answer and itself; "" when it does not say.
	ResponseID, ResponseModel string

	emit    func(agentcore.AssistantEvent) error
	prices  Prices
	head    agentcore.AssistantMessage
	blocks  []*Block
	size    int
	started bool
	err     error
}

// New makes a reply to req. now is in milliseconds since 1970.
func New(req *agentcore.Request, prices Prices, now int64, emit func(agentcore.AssistantEvent) error) *Reply {
	return &Reply{emit: emit, prices: prices, head: agentcore.AssistantMessage{
		API: req.Model.API, Provider: req.Model.Provider, Model: req.Model.ID, Timestamp: now,
	}}
}

// Err is the error that emit returned, if it did: the provider must return it at once. It may also be [ErrTooLarge].
func (r *Reply) Err() error { return r.err }

// ErrTooLarge says that the response is larger than weir takes.
var ErrTooLarge = fmt.Errorf("the response is over %d MiB and was cut", maxReply>>20)

// Start emits the start event. Only the first call does.
func (r *Reply) Start() {
	if r.started {
		return
	}
	r.started = true
	m := r.message()
	m.StopReason = agentcore.StopPending
	r.send(agentcore.AssistantEvent{Type: agentcore.StreamStart, Message: m})
}

func (r *Reply) send(ev agentcore.AssistantEvent) {
	if r.err == nil {
		r.err = r.emit(ev)
	}
}

// Block is one content block while it grows.
type Block struct {
	// Signature is that of text or thinking; it may be set until the block ends.
	Signature string
	// ID and Name are a tool call's; they may be set until the block ends.
	ID, Name string
	// Redacted marks thinking that only the provider can read.
	Redacted bool

	reply *Reply
	index int
	kind  agentcore.AssistantEventType // its start event
	text  strings.Builder
	whole *string // replaces text
	ended bool
	wrong error // why the arguments of an ended call cannot be used
}

// Text opens a text block.
func (r *Reply) Text() *Block { return r.open(&Block{kind: agentcore.StreamTextStart}) }

// Thinking opens a thinking block.
func (r *Reply) Thinking() *Block { return r.open(&Block{kind: agentcore.StreamThinkingStart}) }

// ToolCall opens a tool call.
func (r *Reply) ToolCall(id, name string) *Block {
	return r.open(&Block{kind: agentcore.StreamToolCallStart, ID: id, Name: name})
}

func (r *Reply) open(b *Block) *Block {
	r.Start()
	b.reply, b.index = r, len(r.blocks)
	r.blocks = append(r.blocks, b)
	ev := agentcore.AssistantEvent{Type: b.kind, ContentIndex: b.index}
	if b.kind == agentcore.StreamToolCallStart {
		ev.ToolCall = b.call()
	}
	r.send(ev)
	return b
}

// Add appends to the block: text, thinking, or a piece of the arguments' JSON. An empty piece, and one that comes after
// the block's end, is nothing.
func (b *Block) Add(piece string) {
	if piece == "" || b.ended {
		return
	}
	r := b.reply
	if r.size += len(piece); r.size > maxReply {
		if r.err == nil {
			r.err = ErrTooLarge
		}
		return
	}
	b.text.WriteString(piece)
	r.send(agentcore.AssistantEvent{Type: b.kind + 1, ContentIndex: b.index, Delta: piece})
}

// Settle sets what the block says in the end, where the server repeats it: for text and thinking it replaces what was
// streamed, for a tool call too if what was streamed cannot be read as JSON.
func (b *Block) Settle(whole string) {
	if b.ended || whole == b.text.String() {
		return
	}
	if b.kind == agentcore.StreamToolCallStart && json.Valid([]byte(b.text.String())) && b.text.Len() > 0 {
		return
	}
	if b.text.Len() == 0 {
		b.Add(whole)
		return
	}
	b.whole = &whole
}

// Len is how many bytes the block holds.
func (b *Block) Len() int { return len(b.value()) }

func (b *Block) value() string {
	if b.whole != nil {
		return *b.whole
	}
	return b.text.String()
}

// End emits the block's end. A tool call whose arguments cannot be read gets none: see [Reply.Done].
func (b *Block) End() {
	if b.ended {
		return
	}
	b.ended = true
	ev := agentcore.AssistantEvent{Type: b.kind + 2, ContentIndex: b.index, Signature: b.Signature}
	switch {
	case b.kind == agentcore.StreamToolCallStart:
		if b.wrong = checkArguments(b.value()); b.wrong != nil {
			return
		}
		ev.ToolCall = b.call()
	case b.whole != nil:
		ev.Content = *b.whole
	}
	b.reply.send(ev)
}

// checkArguments says what is wrong with the arguments of a tool call. None at all are those of a tool without any.
func checkArguments(text string) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	var any json.RawMessage
	return json.Unmarshal([]byte(text), &any)
}

// call is the tool call so far. Arguments that are not whole are what can be told from them; nothing runs them, since
// the message that holds them ends with length, error or aborted.
func (b *Block) call() *agentcore.ToolCall {
	args := json.RawMessage(strings.TrimSpace(b.value()))
	if len(args) == 0 || !json.Valid(args) {
		args = Complete(string(args))
	}
	return &agentcore.ToolCall{ID: b.ID, Name: b.Name, Arguments: args}
}

func (b *Block) block() agentcore.Block {
	switch b.kind {
	case agentcore.StreamTextStart:
		return &agentcore.TextBlock{Text: b.value(), TextSignature: b.Signature}
	case agentcore.StreamThinkingStart:
		return &agentcore.ThinkingBlock{Thinking: b.value(), ThinkingSignature: b.Signature, Redacted: b.Redacted}
	default:
		return b.call()
	}
}

// message is a copy of the message so far.
func (r *Reply) message() *agentcore.AssistantMessage {
	m := r.head
	m.Content = make([]agentcore.Block, len(r.blocks))
	for i, b := range r.blocks {
		m.Content[i] = b.block()
	}
	m.ResponseID = r.ResponseID
	if r.ResponseModel != m.Model {
		m.ResponseModel = r.ResponseModel
	}
	u := r.Usage
	u.TotalTokens = u.Input + u.Output + u.CacheRead + u.CacheWrite
	const million = 1e6
	u.Cost = agentcore.Cost{
		Input: float64(u.Input) * r.prices.Input / million, Output: float64(u.Output) * r.prices.Output / million,
		CacheRead: float64(u.CacheRead) * r.prices.CacheRead / million, CacheWrite: float64(u.CacheWrite) * r.prices.CacheWrite / million,
	}
	u.Cost.Total = u.Cost.Input + u.Cost.Output + u.Cost.CacheRead + u.Cost.CacheWrite
	m.Usage = u
	return &m
}

// HasCalls says whether a tool call was opened.
func (r *Reply) HasCalls() bool {
	for _, b := range r.blocks {
		if b.kind == agentcore.StreamToolCallStart {
			return true
		}
	}
	return false
}

// Done ends a response that the model finished with reason (stop, length or toolUse), which the server calls raw. Stop
// becomes toolUse when there are calls.
//
// If the arguments of a call cannot be read the response fails instead, since to run a call with arguments that the
// model did not give would be a guess. The text asks for another attempt. When the answer was cut (length) broken
// arguments are expected, and the loop refuses all its calls.
func (r *Reply) Done(reason agentcore.StopReason, raw string) (*agentcore.AssistantMessage, error) {
	r.Start()
	for _, b := range r.blocks {
		b.End()
	}
	for _, b := range r.blocks {
		if b.wrong != nil && reason != agentcore.StopLength {
			return r.FailRaw(fmt.Sprintf("the model gave tool %q arguments that are not valid JSON: %v; nothing was run, please retry your request",
				b.Name, b.wrong), raw)
		}
	}
	if reason == agentcore.StopStop && r.HasCalls() {
		reason = agentcore.StopToolUse
	}
	return r.finish(agentcore.StreamDone, reason, raw, "")
}

// Fail ends a response with an error message. What was streamed so far is kept in it.
func (r *Reply) Fail(text string) (*agentcore.AssistantMessage, error) { return r.FailRaw(text, "") }

// FailRaw is Fail with the stop reason that the server gave.
func (r *Reply) FailRaw(text, raw string) (*agentcore.AssistantMessage, error) {
	if errors.Is(r.err, ErrTooLarge) {
		r.err, text = nil, ErrTooLarge.Error()
	}
	return r.finish(agentcore.StreamError, agentcore.StopError, raw, text)
}

// Abort ends a response that was cancelled. What was streamed so far is kept.
func (r *Reply) Abort() (*agentcore.AssistantMessage, error) {
	return r.finish(agentcore.StreamError, agentcore.StopAborted, "", AbortedText)
}

func (r *Reply) finish(t agentcore.AssistantEventType, reason agentcore.StopReason, raw, text string) (*agentcore.AssistantMessage, error) {
	if r.err != nil {
		return nil, r.err
	}
	m := r.message()
	m.StopReason, m.RawStopReason, m.ErrorMessage = reason, raw, text
	r.send(agentcore.AssistantEvent{Type: t, Reason: reason, Message: m})
	return m, r.err
}

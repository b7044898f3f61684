package agentcoretest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"weir/agentcore"
)

// Response is one scripted response of the model.
type Response struct {
	Before       []Action        `json:"before"`
	Start        *bool           `json:"start"`
	Blocks       []ResponseBlock `json:"blocks"`
	End          ResponseEnd     `json:"end"`
	Usage        json.RawMessage `json:"usage"`
	FinalContent json.RawMessage `json:"finalContent"`
	Terminal     *bool           `json:"terminal"`
	IgnoreAbort  bool            `json:"ignoreAbort"`
	Throw        *string         `json:"throw"`
	ThrowName    string          `json:"throwName"`
}

// ResponseBlock is one content block of a response, or actions between blocks. Delta lists may hold actions.
type ResponseBlock struct {
	Text      []any         `json:"text"`
	Thinking  []any         `json:"thinking"`
	Signature string        `json:"signature"`
	ToolCall  *ScriptedCall `json:"toolCall"`
	Deltas    []any         `json:"deltas"`
	Act       []Action      `json:"act"`
}

// ScriptedCall is a tool call of a response.
type ScriptedCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// ResponseEnd says how a response ends.
type ResponseEnd struct {
	Reason       agentcore.StopReason `json:"reason"`
	ErrorMessage string               `json:"errorMessage"`
}

// Model is a scripted provider. It is in lock-step: it goes on only when everybody has seen the event before. Safe for
// concurrent use.
type Model struct {
	kit *Kit
	// Record records a request; the layer may replace it.
	Record func(n int, ctx context.Context, req *agentcore.Request)

	mu    sync.Mutex
	queue []*Response
	calls int
}

// NewModel makes a model that gives the responses in order.
func (k *Kit) NewModel(responses []*Response) *Model {
	m := &Model{kit: k, queue: responses}
	m.Record = func(n int, _ context.Context, req *agentcore.Request) { k.Trace("provider", k.RequestRecord(n, req)) }
	return m
}

// RequestRecord is what the trace says of a request.
func (k *Kit) RequestRecord(n int, req *agentcore.Request) Object {
	record := Object{"request": float64(n), "systemPrompt": k.Norm.Text(req.SystemPrompt)}
	if k.Norm.DefaultModel != nil && req.Model.ID != k.Norm.DefaultModel["id"] {
		record["model"] = req.Model.ID
	}
	if req.ThinkingLevel != "" {
		record["reasoning"] = string(req.ThinkingLevel)
	}
	if k.Input.RecordAPIKey && req.APIKey != "" {
		record["apiKey"] = req.APIKey
	}
	record["messages"] = k.Norm.Value(MessageValues(req.Messages))
	names := make([]any, len(req.Tools))
	for i, tool := range req.Tools {
		names[i] = tool.Name
	}
	record["tools"] = names
	return record
}

// MessageValues are messages as plain JSON values.
func MessageValues(messages []*agentcore.Message) []any {
	out := make([]any, len(messages))
	for i, m := range messages {
		raw, err := m.JSON()
		if err != nil {
			panic(err) // the thing under test holds a message that is not JSON
		}
		out[i] = decode(raw)
	}
	return out
}

// Stream implements [agentcore.Provider].
func (m *Model) Stream(
	ctx context.Context, req *agentcore.Request, emit func(agentcore.AssistantEvent) error,
) (*agentcore.AssistantMessage, error) {
	m.mu.Lock()
	m.calls++
	n := m.calls
	no := false
	script := &Response{Start: &no, End: ResponseEnd{Reason: agentcore.StopError, ErrorMessage: "no scripted response left"}}
	if len(m.queue) > 0 {
		script, m.queue = m.queue[0], m.queue[1:]
	}
	m.mu.Unlock()
	m.Record(n, ctx, req)
	if script.Throw != nil {
		return nil, &Thrown{IsError: true, Message: *script.Throw, Name: script.ThrowName}
	}
	s := &response{
		kit: m.kit, ctx: ctx, req: req, script: script, emit: emit,
		scope: &Scope{Kit: m.kit, Who: "provider", Event: Object{"context": Object{"messages": MessageValues(req.Messages)}}, Context: ctx},
	}
	return s.play()
}

// response is one response under way.
type response struct {
	kit     *Kit
	ctx     context.Context
	req     *agentcore.Request
	script  *Response
	emit    func(agentcore.AssistantEvent) error
	scope   *Scope
	usage   agentcore.Usage
	content []agentcore.Block
	calls   bool
}

func (s *response) play() (*agentcore.AssistantMessage, error) {
	usage, err := scriptedUsage(s.script.Usage)
	if err != nil {
		return nil, err
	}
	s.usage = usage
	if _, err := s.scope.Run(s.script.Before); err != nil {
		return nil, err
	}
	if s.script.Start == nil || *s.script.Start {
		if s.gone() {
			return s.abort()
		}
		if err := s.emit(agentcore.AssistantEvent{Type: agentcore.StreamStart, Message: s.message("")}); err != nil {
			return nil, err
		}
	}
	for i := range s.script.Blocks {
		if s.gone() {
			return s.abort()
		}
		b := &s.script.Blocks[i]
		if b.Act != nil {
			if _, err := s.scope.Run(b.Act); err != nil {
				return nil, err
			}
			continue
		}
		if aborted, err := s.block(b); err != nil {
			return nil, err
		} else if aborted {
			return s.abort()
		}
	}
	if s.gone() {
		return s.abort()
	}
	reason := s.script.End.Reason
	if reason == "" {
		reason = agentcore.StopStop
		if s.calls {
			reason = agentcore.StopToolUse
		}
	}
	return s.end(reason, s.script.End.ErrorMessage, s.script.Terminal == nil || *s.script.Terminal)
}

func (s *response) gone() bool { return !s.script.IgnoreAbort && Aborted(s.ctx) }

func (s *response) abort() (*agentcore.AssistantMessage, error) {
	return s.end(agentcore.StopAborted, "Request was aborted", true)
}

func (s *response) message(reason agentcore.StopReason) *agentcore.AssistantMessage {
	return &agentcore.AssistantMessage{
		API: s.req.Model.API, Provider: s.req.Model.Provider, Model: s.req.Model.ID, Usage: s.usage,
		StopReason: reason, Timestamp: s.kit.Now().UnixMilli(),
	}
}

func (s *response) end(reason agentcore.StopReason, text string, terminal bool) (*agentcore.AssistantMessage, error) {
	m := s.message(reason)
	m.Content, m.ErrorMessage = s.content, text
	if len(s.script.FinalContent) > 0 {
		content, err := agentcore.DecodeBlocks(s.script.FinalContent)
		if err != nil {
			return nil, err
		}
		m.Content = content
	}
	if !terminal {
		return m, nil
	}
	ev := agentcore.AssistantEvent{Type: agentcore.StreamDone, Reason: reason, Message: m}
	if reason == agentcore.StopError || reason == agentcore.StopAborted {
		ev.Type = agentcore.StreamError
	}
	return nil, s.emit(ev)
}

// block streams one block. aborted says that the signal came in between.
func (s *response) block(b *ResponseBlock) (aborted bool, err error) {
	index := len(s.content)
	ev := agentcore.AssistantEvent{ContentIndex: index}
	var start, delta agentcore.AssistantEventType
	deltas := b.Deltas
	switch {
	case b.Text != nil:
		start, delta, deltas = agentcore.StreamTextStart, agentcore.StreamTextDelta, b.Text
	case b.Thinking != nil:
		start, delta, deltas = agentcore.StreamThinkingStart, agentcore.StreamThinkingDelta, b.Thinking
	case b.ToolCall != nil:
		start, delta = agentcore.StreamToolCallStart, agentcore.StreamToolCallDelta
		ev.ToolCall = &agentcore.ToolCall{ID: b.ToolCall.ID, Name: b.ToolCall.Name}
		s.calls = true
		if deltas == nil {
			deltas = []any{compact(b.ToolCall.Arguments)}
		}
	default:
		err := fmt.Errorf("block %d of the response is empty", index)
		s.kit.Fail(err)
		return false, err
	}
	ev.Type = start
	s.content = append(s.content, s.finished(b, ""))
	if err := s.emit(ev); err != nil {
		return false, err
	}
	var text string
	for _, d := range deltas {
		if s.gone() {
			return true, nil
		}
		piece, ok := d.(string)
		if !ok {
			action, _ := d.(Object)
			if _, err := s.scope.Run([]Action{Action(action)}); err != nil {
				return false, err
			}
			continue
		}
		text += piece
		if b.ToolCall == nil {
			s.content[index] = s.finished(b, text)
		}
		if err := s.emit(agentcore.AssistantEvent{Type: delta, ContentIndex: index, Delta: piece}); err != nil {
			return false, err
		}
	}
	if s.gone() {
		return true, nil
	}
	end := agentcore.AssistantEvent{Type: delta + 1, ContentIndex: index, Content: text}
	switch {
	case b.ToolCall != nil:
		end.Content = ""
		end.ToolCall = &agentcore.ToolCall{ID: b.ToolCall.ID, Name: b.ToolCall.Name, Arguments: json.RawMessage(compact(b.ToolCall.Arguments))}
		s.content[index] = end.ToolCall
	case b.Thinking != nil:
		end.Signature = b.Signature
		s.content[index] = &agentcore.ThinkingBlock{Thinking: text, ThinkingSignature: b.Signature}
	}
	return false, s.emit(end)
}

func (s *response) finished(b *ResponseBlock, text string) agentcore.Block {
	switch {
	case b.Text != nil:
		return &agentcore.TextBlock{Text: text}
	case b.Thinking != nil:
		return &agentcore.ThinkingBlock{Thinking: text}
	default:
		return &agentcore.ToolCall{ID: b.ToolCall.ID, Name: b.ToolCall.Name}
	}
}

func compact(raw json.RawMessage) string {
	var buf bytes.Buffer
	if err := json.Compact(&buf, raw); err != nil {
		return string(raw)
	}
	return buf.String()
}

// scriptedUsage fills what a script leaves out; the total is the sum of the four counts.
func scriptedUsage(raw json.RawMessage) (agentcore.Usage, error) {
	var u agentcore.Usage
	if len(raw) == 0 || string(raw) == "null" {
		return u, nil
	}
	if err := json.Unmarshal(raw, &u); err != nil {
		return u, fmt.Errorf("usage: %w", err)
	}
	var given Object
	if err := json.Unmarshal(raw, &given); err != nil {
		return u, fmt.Errorf("usage: %w", err)
	}
	if _, ok := given["totalTokens"]; !ok {
		u.TotalTokens = u.Input + u.Output + u.CacheRead + u.CacheWrite
	}
	return u, nil
}

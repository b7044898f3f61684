package scripted

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"weir/agentcore"
)

// Provider answers requests with the responses of a script, in order. It is safe for concurrent use; requests that come
// at the same time take their responses in the order in which they come.
type Provider struct {
	// Now is the clock of the messages' timestamps; nil means time.Now. It must not be changed once a request was made.
	Now func() time.Time

	script *Script

	mu       sync.Mutex
	next     int // index of the response for the next request
	requests []*agentcore.Request
}

// Provider returns a new provider that stands at the first response.
func (s *Script) Provider() *Provider { return &Provider{script: s} }

// Requests are all requests so far, those included that were cancelled or found no response. The slice belongs to the
// caller; what it points to must not be changed.
func (p *Provider) Requests() []*agentcore.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// Left is how many responses no request has taken yet.
func (p *Provider) Left() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.script.responses) - p.next
}

// take records the request and finds its response; nil when there is none left. A request that was cancelled before it
// was made takes none: the loop makes one such request when a run is aborted during tools.
func (p *Provider) take(ctx context.Context, req *agentcore.Request) (r *response, number int) {
	kept := *req
	kept.Messages, kept.Tools = slices.Clone(req.Messages), slices.Clone(req.Tools)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, &kept)
	if ctx.Err() != nil {
		return nil, 0
	}
	if p.next == len(p.script.responses) {
		return nil, len(p.script.responses) + 1
	}
	p.next++
	return &p.script.responses[p.next-1], p.next
}

// Stream implements [agentcore.Provider].
func (p *Provider) Stream(ctx context.Context, req *agentcore.Request, emit func(agentcore.AssistantEvent) error) (*agentcore.AssistantMessage, error) {
	now := p.Now
	if now == nil {
		now = time.Now
	}
	r, number := p.take(ctx, req)
	s := &stream{emit: emit, message: agentcore.AssistantMessage{
		Content: []agentcore.Block{}, API: req.Model.API, Provider: req.Model.Provider, Model: req.Model.ID, Timestamp: now().UnixMilli(),
	}}
	if ctx.Err() != nil {
		return s.fail(agentcore.StopAborted, abortedText)
	}
	if r == nil {
		return s.fail(agentcore.StopError, fmt.Sprintf("script %s: no response is left: it has %d, and this is request %d",
			p.script.name, len(p.script.responses), number))
	}
	s.message.ResponseID = fmt.Sprintf("response_%d", number)
	if told := lastTold(req.Messages); r.expect != nil && !r.expect.MatchString(told) {
		return s.fail(agentcore.StopError, fmt.Sprintf("script %s:%d: response %d expects %q, but the model was told %s",
			p.script.name, r.line, number, r.expect, quote(told)))
	}
	return s.play(ctx, r)
}

const abortedText = "the request was aborted"

// quote repeats what does not match, but not all of a long text.
func quote(s string) string {
	const most = 300
	if len(s) > most {
		return fmt.Sprintf("%q and %d bytes more", strings.ToValidUTF8(s[:most], ""), len(s)-most)
	}
	return fmt.Sprintf("%q", s)
}

// lastTold is the text of the messages after the model's last one.
func lastTold(messages []*agentcore.Message) string {
	from := len(messages)
	for from > 0 && messages[from-1].Role() != agentcore.RoleAssistant {
		from--
	}
	var texts []string
	for _, m := range messages[from:] {
		switch {
		case m.User() != nil && m.User().Content.Blocks == nil:
			texts = append(texts, m.User().Content.Text)
		case m.User() != nil:
			texts = append(texts, blockTexts(m.User().Content.Blocks)...)
		case m.ToolResult() != nil:
			texts = append(texts, blockTexts(m.ToolResult().Content)...)
		}
	}
	return strings.Join(texts, "\n")
}

func blockTexts(blocks []agentcore.Block) []string {
	var texts []string
	for _, b := range blocks {
		if text, ok := b.(*agentcore.TextBlock); ok {
			texts = append(texts, text.Text)
		}
	}
	return texts
}

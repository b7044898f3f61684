package openai

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/openai/openai-go/v3/option"
	sdk "github.com/openai/openai-go/v3/responses"

	"weir/agentcore"
	"weir/engine/provider/internal/reply"
)

// Responses implements [agentcore.Provider] on the Responses API. Nothing is stored at the server: reasoning comes back
// encrypted and is sent again with the next request. It is safe for concurrent use.
type Responses struct{ client }

// NewResponses returns a provider. It makes no request.
func NewResponses(cfg Config) *Responses { return &Responses{newClient(cfg)} }

// Stream implements [agentcore.Provider].
func (p *Responses) Stream(ctx context.Context, req *agentcore.Request, emit func(agentcore.AssistantEvent) error) (*agentcore.AssistantMessage, error) {
	send := func(opts []option.RequestOption) error {
		params, err := p.params(req)
		if err != nil {
			return err
		}
		service := sdk.NewResponseService(opts...)
		return service.NewStreaming(ctx, params).Err()
	}
	return stream(ctx, &p.client, req, emit, send, func(r *reply.Reply) reader[responseEvent] {
		return &responsesReader{reply: r, items: map[int]*item{}}
	})
}

// responseEvent is what we read of an event.
type responseEvent struct {
	Type         string          `json:"type"`
	OutputIndex  int             `json:"output_index"`
	SummaryIndex int             `json:"summary_index"`
	Delta        loose           `json:"delta"`
	Arguments    loose           `json:"arguments"`
	Item         json.RawMessage `json:"item"`
	Response     *response       `json:"response"`
	// Code and Message are an error event's.
	Code    loose `json:"code"`
	Message loose `json:"message"`
}

type response struct {
	ID     string `json:"id"`
	Model  string `json:"model"`
	Status string `json:"status"`
	Error  *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Incomplete *struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage *struct {
		Input     int64 `json:"input_tokens"`
		Output    int64 `json:"output_tokens"`
		InputMore struct {
			Cached     int64 `json:"cached_tokens"`
			CacheWrite int64 `json:"cache_write_tokens"`
		} `json:"input_tokens_details"`
		OutputMore struct {
			Reasoning *int64 `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	} `json:"usage"`
}

func (r *response) usage(out *agentcore.Usage) {
	if u := r.Usage; u != nil {
		out.CacheRead, out.CacheWrite = u.InputMore.Cached, u.InputMore.CacheWrite
		out.Input = max(0, u.Input-out.CacheRead-out.CacheWrite)
		out.Output, out.Reasoning = u.Output, u.OutputMore.Reasoning
	}
}

// outputItem is one item of the output.
type outputItem struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments loose  `json:"arguments"`
	Phase     string `json:"phase"`
	Content   []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
	Summary []struct {
		Text string `json:"text"`
	} `json:"summary"`
}

// text is all that an item says, in one string.
func (i *outputItem) text() string {
	var parts []string
	if i.Type == "reasoning" {
		for _, s := range i.Summary {
			parts = append(parts, s.Text)
		}
		if len(parts) > 0 {
			return strings.Join(parts, summaryBreak)
		}
	}
	for _, c := range i.Content {
		parts = append(parts, c.Text+c.Refusal) // a part has one of them
	}
	return strings.Join(parts, "")
}

// summaryBreak stands between the parts of a summary.
const summaryBreak = "\n\n"

// item is an item while it grows. block is nil for kinds that are not shown.
type item struct{ block *reply.Block }

// maxItems is how many items a response may have. Real ones have tens.
const maxItems = 10_000

type responsesReader struct {
	reply   *reply.Reply
	items   map[int]*item // by output index
	refused strings.Builder
	failure string // of an error event
	last    *response
}

func (s *responsesReader) take(e *responseEvent) (over bool) {
	s.reply.Start()
	if e.Response != nil && s.reply.ResponseID == "" {
		s.reply.ResponseID, s.reply.ResponseModel = e.Response.ID, e.Response.Model
	}
	switch e.Type {
	case "response.output_item.added":
		s.add(e)
	case "response.output_item.done":
		s.done(e)
	case "response.reasoning_summary_part.added":
		if b := s.block(e, s.reply.Thinking); e.SummaryIndex > 0 && b != nil {
			b.Add(summaryBreak)
		}
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		if b := s.block(e, s.reply.Thinking); b != nil {
			b.Add(string(e.Delta))
		}
	case "response.refusal.delta":
		s.refused.WriteString(string(e.Delta))
		if b := s.block(e, s.reply.Text); b != nil {
			b.Add(string(e.Delta))
		}
	case "response.output_text.delta":
		if b := s.block(e, s.reply.Text); b != nil {
			b.Add(string(e.Delta))
		}
	case "response.function_call_arguments.delta":
		if b := s.block(e, nil); b != nil {
			b.Add(string(e.Delta))
		}
	case "response.function_call_arguments.done":
		if b := s.block(e, nil); b != nil {
			b.Settle(string(e.Arguments))
		}
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		if e.Response == nil {
			return false // then the stream ends without a terminal event, as it should be told
		}
		s.last = e.Response
		e.Response.usage(&s.reply.Usage)
		return true
	case "error":
		s.failure = reply.Plain(strings.TrimPrefix(string(e.Code)+": "+string(e.Message), ": "))
		return true
	}
	return false
}

// block is the block of the event's item. Servers that skip an item's start get one from open.
func (s *responsesReader) block(e *responseEvent, open func() *reply.Block) *reply.Block {
	i := s.items[e.OutputIndex]
	if i == nil {
		if open == nil || len(s.items) >= maxItems {
			return nil
		}
		i = &item{block: open()}
		s.items[e.OutputIndex] = i
	}
	return i.block
}

func (s *responsesReader) add(e *responseEvent) {
	var out outputItem
	if s.items[e.OutputIndex] != nil || len(s.items) >= maxItems || json.Unmarshal(e.Item, &out) != nil {
		return
	}
	i := &item{}
	switch out.Type {
	case "message":
		i.block = s.reply.Text()
	case "reasoning":
		i.block = s.reply.Thinking()
	case "function_call":
		i.block = s.reply.ToolCall(joinID(out.CallID, out.ID), out.Name)
		i.block.Add(string(out.Arguments))
	}
	s.items[e.OutputIndex] = i
}

// joinID is the id of a call in the transcript, as in the reference: the call's and the item's.
func joinID(call, item string) string {
	if item == "" {
		return call
	}
	return call + "|" + item
}

// textSignature is what a text keeps of its item, as in the reference.
type textSignature struct {
	V     int    `json:"v"`
	ID    string `json:"id"`
	Phase string `json:"phase,omitempty"`
}

func (s *responsesReader) done(e *responseEvent) {
	s.add(e) // if it was never added
	var out outputItem
	if i := s.items[e.OutputIndex]; i == nil || i.block == nil || json.Unmarshal(e.Item, &out) != nil {
		return
	}
	b := s.items[e.OutputIndex].block
	switch out.Type {
	case "message":
		if out.ID != "" {
			signature, err := json.Marshal(textSignature{V: 1, ID: out.ID, Phase: out.Phase})
			if err == nil {
				b.Signature = string(signature)
			}
		}
		if text := out.text(); text != "" {
			b.Settle(text)
		}
	case "reasoning":
		b.Signature = string(e.Item)
		if b.Len() == 0 {
			b.Settle(out.text())
		}
	case "function_call":
		b.Settle(string(out.Arguments))
	}
	b.End()
}

func (s *responsesReader) end(over bool) (*agentcore.AssistantMessage, error) {
	switch {
	case s.failure != "":
		return s.reply.Fail(s.failure)
	case !over || s.last == nil:
		return s.reply.Fail("the stream ended before a terminal response event")
	}
	switch r := s.last; r.Status {
	case "completed":
		if s.refused.Len() > 0 {
			return s.reply.FailRaw("the model refused to answer (refusal): "+reply.Plain(s.refused.String()), "refusal")
		}
		return s.reply.Done(agentcore.StopStop, r.Status)
	case "incomplete":
		reason := ""
		if r.Incomplete != nil {
			reason = r.Incomplete.Reason
		}
		if reason == "content_filter" {
			return s.reply.FailRaw("the provider's filter stopped the answer (content_filter)", reason)
		}
		return s.reply.Done(agentcore.StopLength, strings.TrimSuffix("incomplete: "+reason, ": "))
	case "failed", "cancelled":
		text := "provider returned error: the response " + r.Status
		if r.Error != nil {
			text = reply.Plain(r.Error.Code + ": " + r.Error.Message)
		}
		return s.reply.FailRaw(text, r.Status)
	default:
		return s.reply.FailRaw("the response ended with a status that weir does not know: "+reply.Plain(r.Status), r.Status)
	}
}

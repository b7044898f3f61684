package openai

import (
	"context"
	"fmt"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"weir/agentcore"
	"weir/engine/provider/internal/reply"
)

// Chat implements [agentcore.Provider] on Chat Completions. It is safe for concurrent use.
type Chat struct{ client }

// NewChat returns a provider. It makes no request.
func NewChat(cfg Config) *Chat { return &Chat{newClient(cfg)} }

// Stream implements [agentcore.Provider].
func (p *Chat) Stream(ctx context.Context, req *agentcore.Request, emit func(agentcore.AssistantEvent) error) (*agentcore.AssistantMessage, error) {
	send := func(opts []option.RequestOption) error {
		params, err := p.params(req)
		if err != nil {
			return err
		}
		service := sdk.NewChatCompletionService(opts...)
		return service.NewStreaming(ctx, params).Err()
	}
	return stream(ctx, &p.client, req, emit, send, func(r *reply.Reply) reader[chunk] {
		return &chatReader{reply: r, now: p.cfg.Now().UnixMilli()}
	})
}

// chunk is what we read of an event.
type chunk struct {
	ID      string     `json:"id"`
	Model   string     `json:"model"`
	Choices []choice   `json:"choices"`
	Usage   *chatUsage `json:"usage"`
}

type choice struct {
	Index        int        `json:"index"`
	Delta        chatDelta  `json:"delta"`
	FinishReason string     `json:"finish_reason"`
	Usage        *chatUsage `json:"usage"` // where some servers put it
}

type chatDelta struct {
	Content string `json:"content"`
	Refusal string `json:"refusal"`
	// Servers call the reasoning by these names: DeepSeek, vLLM and llama.cpp; OpenRouter and Ollama; others.
	ReasoningContent string `json:"reasoning_content"`
	Reasoning        string `json:"reasoning"`
	ReasoningText    string `json:"reasoning_text"`

	ToolCalls []chatCall `json:"tool_calls"`
}

type chatCall struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments loose  `json:"arguments"`
	} `json:"function"`
}

type chatUsage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	PromptMore struct {
		Cached     int64 `json:"cached_tokens"`
		CacheWrite int64 `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionMore struct {
		Reasoning *int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// into counts what was read from the cache and written to it apart from the input, which holds both.
func (u *chatUsage) into(out *agentcore.Usage) {
	out.CacheRead, out.CacheWrite = u.PromptMore.Cached, u.PromptMore.CacheWrite
	out.Input = max(0, u.Prompt-out.CacheRead-out.CacheWrite)
	out.Output, out.Reasoning = u.Completion, u.CompletionMore.Reasoning
}

// chatReader reads one response. Only the first choice is asked for.
type chatReader struct {
	reply   *reply.Reply
	now     int64
	open    *reply.Block // the text or thinking that grows
	field   string       // which reasoning field open's signature names; "" for text
	calls   []*call
	refused strings.Builder
	reason  string
}

// call is a tool call while it grows. Its block is opened when its name is known.
type call struct {
	index    int
	id, name string
	early    strings.Builder // arguments that came before the name
	block    *reply.Block
}

func (s *chatReader) take(e *chunk) (over bool) {
	s.reply.Start()
	if s.reply.ResponseID == "" {
		s.reply.ResponseID = e.ID
	}
	if s.reply.ResponseModel == "" {
		s.reply.ResponseModel = e.Model
	}
	if e.Usage != nil {
		e.Usage.into(&s.reply.Usage)
	}
	for i := range e.Choices {
		c := &e.Choices[i]
		if c.Index != 0 {
			continue
		}
		if c.Usage != nil && e.Usage == nil {
			c.Usage.into(&s.reply.Usage)
		}
		s.delta(&c.Delta)
		if c.FinishReason != "" {
			s.reason = c.FinishReason
		}
	}
	return false // the usage comes after the reason
}

func (s *chatReader) delta(d *chatDelta) {
	switch {
	case d.ReasoningContent != "":
		s.grow("reasoning_content", d.ReasoningContent)
	case d.Reasoning != "":
		s.grow("reasoning", d.Reasoning)
	case d.ReasoningText != "":
		s.grow("reasoning_text", d.ReasoningText)
	}
	if d.Content != "" {
		s.grow("", d.Content)
	}
	if d.Refusal != "" {
		s.refused.WriteString(d.Refusal)
		s.grow("", d.Refusal)
	}
	for i := range d.ToolCalls {
		s.call(&d.ToolCalls[i])
	}
}

// grow adds text, or reasoning that came in field. The signature is the field's name, as in the reference, so that the
// reasoning can go back in it.
func (s *chatReader) grow(field, text string) {
	if s.open == nil || s.field != field {
		s.shut()
		s.field = field
		if field == "" {
			s.open = s.reply.Text()
		} else {
			s.open = s.reply.Thinking()
			s.open.Signature = field
		}
	}
	s.open.Add(text)
}

func (s *chatReader) shut() {
	if s.open != nil {
		s.open.End()
		s.open = nil
	}
}

// maxCalls is how many calls a message may have. Real ones have tens.
const maxCalls = 1000

func (s *chatReader) call(d *chatCall) {
	c := s.find(d)
	if c == nil {
		return
	}
	if d.ID != "" && c.id == "" {
		c.id = d.ID
	}
	if c.block == nil {
		c.name += d.Function.Name
		c.early.WriteString(string(d.Function.Arguments))
		if c.name != "" {
			s.begin(c)
		}
		return
	}
	c.block.Add(string(d.Function.Arguments))
}

// find is the call that a delta belongs to. Servers that do not count their calls tell them apart by their ids.
func (s *chatReader) find(d *chatCall) *call {
	for i := len(s.calls) - 1; i >= 0; i-- {
		if c := s.calls[i]; c.index == d.Index && (d.ID == "" || c.id == "" || c.id == d.ID) {
			return c
		}
	}
	if len(s.calls) == maxCalls {
		return nil
	}
	c := &call{index: d.Index}
	s.calls = append(s.calls, c)
	return c
}

func (s *chatReader) begin(c *call) {
	s.shut()
	if c.id == "" {
		// Ids must differ in a whole session, and a local server may give none.
		c.id = fmt.Sprintf("call_%x_%d", s.now, len(s.calls))
	}
	c.block = s.reply.ToolCall(c.id, c.name)
	c.block.Add(c.early.String())
}

func (s *chatReader) end(bool) (*agentcore.AssistantMessage, error) {
	s.shut()
	for _, c := range s.calls {
		if c.block == nil {
			s.begin(c)
		}
	}
	switch s.reason {
	case "":
		return s.reply.Fail("the stream ended without a finish_reason")
	case "stop", "end", "eos":
		if s.refused.Len() > 0 {
			return s.reply.FailRaw("the model refused to answer (refusal): "+reply.Plain(s.refused.String()), "refusal")
		}
		return s.reply.Done(agentcore.StopStop, s.reason)
	case "tool_calls", "function_call":
		return s.reply.Done(agentcore.StopToolUse, s.reason)
	case "length":
		return s.reply.Done(agentcore.StopLength, s.reason)
	case "content_filter":
		return s.reply.FailRaw("the provider's filter stopped the answer (content_filter)", s.reason)
	case "error", "network_error":
		return s.reply.FailRaw("provider returned error: the response ended with finish_reason "+s.reason, s.reason)
	default:
		return s.reply.FailRaw("the response ended for a reason that weir does not know: "+reply.Plain(s.reason), s.reason)
	}
}

package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"weir/agentcore"
	"weir/engine/provider/internal/reply"
	"weir/engine/provider/internal/secret"
)

// event is what we read of the events of a stream.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		ID    string `json:"id"`
		Model string `json:"model"`
		Usage usage  `json:"usage"`
	} `json:"message"`
	Block struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		Data      string          `json:"data"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
	} `json:"content_block"`
	Delta struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		Thinking    string `json:"thinking"`
		Signature   string `json:"signature"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
		StopDetails struct {
			Category    string `json:"category"`
			Explanation string `json:"explanation"`
		} `json:"stop_details"`
	} `json:"delta"`
	Usage *usage `json:"usage"`
}

// usage counts tokens. message_delta repeats totals, and may leave out what did not change.
type usage struct {
	Input      *int64 `json:"input_tokens"`
	Output     *int64 `json:"output_tokens"`
	CacheRead  *int64 `json:"cache_read_input_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
	Creation   *struct {
		OneHour int64 `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	Details *struct {
		Thinking *int64 `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

func (u *usage) into(out *agentcore.Usage) {
	for _, f := range []struct {
		from *int64
		to   *int64
	}{{u.Input, &out.Input}, {u.Output, &out.Output}, {u.CacheRead, &out.CacheRead}, {u.CacheWrite, &out.CacheWrite}} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	if u.Creation != nil && u.Creation.OneHour > 0 {
		hour := u.Creation.OneHour
		out.CacheWrite1h = &hour
	}
	if u.Details != nil && u.Details.Thinking != nil {
		out.Reasoning = u.Details.Thinking
	}
}

// stream reads one response.
type stream struct {
	reply  *reply.Reply
	key    string
	hints  reply.Hints
	blocks []*reply.Block // by the wire's index; nil for a kind that is not shown
	reason string
	detail string
}

func (s *stream) run(ctx context.Context, events *ssestream.Stream[event]) (*agentcore.AssistantMessage, error) {
	for events.Next() {
		e := events.Current()
		if e.Type == "message_stop" {
			return s.stop()
		}
		s.take(&e)
		if err := s.reply.Err(); err != nil && !errors.Is(err, reply.ErrTooLarge) {
			return nil, err
		} else if err != nil {
			return s.reply.Fail(err.Error())
		}
		if ctx.Err() != nil {
			return s.reply.Abort()
		}
	}
	if ctx.Err() != nil {
		return s.reply.Abort()
	}
	return s.reply.Fail(secret.Strip(s.broken(events.Err()), s.key))
}

// broken says why the stream ended before the message did.
func (s *stream) broken(err error) string {
	var (
		api     *sdk.Error
		syntax  *json.SyntaxError
		typeErr *json.UnmarshalTypeError
	)
	switch {
	case err == nil:
		return "the stream ended before message_stop"
	case errors.As(err, &api):
		return reply.Event([]byte(api.RawJSON()))
	case errors.As(err, &syntax), errors.As(err, &typeErr):
		return reply.Malformed(err)
	case strings.HasPrefix(err.Error(), "received error while streaming"):
		return reply.Event([]byte(err.Error()))
	default:
		return s.hints.Network(err)
	}
}

func (s *stream) take(e *event) {
	switch e.Type {
	case "message_start":
		s.reply.ResponseID, s.reply.ResponseModel = e.Message.ID, e.Message.Model
		e.Message.Usage.into(&s.reply.Usage)
		s.reply.Start()
	case "content_block_start":
		s.open(e)
	case "content_block_delta":
		if b := s.block(e.Index); b != nil {
			b.Signature += e.Delta.Signature
			b.Add(e.Delta.Text + e.Delta.Thinking + e.Delta.PartialJSON) // a delta has one of them
		}
	case "content_block_stop":
		if b := s.block(e.Index); b != nil {
			b.End()
		}
	case "message_delta":
		if e.Delta.StopReason != "" {
			s.reason, s.detail = e.Delta.StopReason, e.Delta.StopDetails.Explanation
			if s.detail == "" {
				s.detail = e.Delta.StopDetails.Category
			}
		}
		if e.Usage != nil {
			e.Usage.into(&s.reply.Usage)
		}
	}
}

// maxBlocks is how many blocks a message may have. Real ones have tens.
const maxBlocks = 10_000

func (s *stream) open(e *event) {
	if e.Index < 0 || e.Index >= maxBlocks {
		return
	}
	for len(s.blocks) <= e.Index {
		s.blocks = append(s.blocks, nil)
	}
	if s.blocks[e.Index] != nil {
		return
	}
	var b *reply.Block
	switch e.Block.Type {
	case "text":
		b = s.reply.Text()
		b.Add(e.Block.Text)
	case "thinking":
		b = s.reply.Thinking()
		b.Signature = e.Block.Signature
		b.Add(e.Block.Thinking)
	case "redacted_thinking":
		b = s.reply.Thinking()
		b.Redacted, b.Signature = true, e.Block.Data
		b.Add(reply.RedactedText)
	case "tool_use":
		b = s.reply.ToolCall(e.Block.ID, e.Block.Name)
		if in := strings.TrimSpace(string(e.Block.Input)); in != "" && in != "{}" && in != "null" {
			b.Add(in) // servers that do not stream arguments give them here
		}
	}
	s.blocks[e.Index] = b
}

func (s *stream) block(index int) *reply.Block {
	if index < 0 || index >= len(s.blocks) {
		return nil
	}
	return s.blocks[index]
}

// stop ends the message by the reason that message_delta gave.
func (s *stream) stop() (*agentcore.AssistantMessage, error) {
	switch s.reason {
	case "end_turn", "stop_sequence", "pause_turn":
		return s.reply.Done(agentcore.StopStop, s.reason)
	case "tool_use":
		return s.reply.Done(agentcore.StopToolUse, s.reason)
	case "max_tokens":
		return s.reply.Done(agentcore.StopLength, s.reason)
	case "refusal":
		text := "the model refused to answer (refusal)"
		if s.detail != "" {
			text += ": " + reply.Plain(s.detail)
		}
		return s.reply.FailRaw(text, s.reason)
	case "model_context_window_exceeded":
		return s.reply.FailRaw("model_context_window_exceeded: the response did not fit the model's context window", s.reason)
	case "":
		return s.reply.Fail("the stream ended without a stop reason")
	default:
		return s.reply.FailRaw("the response ended for a reason that weir does not know: "+reply.Plain(s.reason), s.reason)
	}
}

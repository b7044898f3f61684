package agentcore

import "context"

// Model describes a model. It is data: who can talk to it is a [Provider].
type Model struct {
	ID            string   `json:"id"`
	Name          string   `json:"name,omitempty"`
	API           string   `json:"api"`
	Provider      string   `json:"provider"`
	BaseURL       string   `json:"baseUrl,omitempty"`
	Reasoning     bool     `json:"reasoning"`
	Input         []string `json:"input,omitempty"` // "text", "image"
	ContextWindow int64    `json:"contextWindow"`
	MaxTokens     int64    `json:"maxTokens"`
}

// ThinkingLevel is how much a model is asked to reason: off, minimal, low, medium, high, xhigh, max. The zero value
// means off.
type ThinkingLevel string

// Request is one call of a model. The provider must not change anything that it points to.
type Request struct {
	Model         Model
	SystemPrompt  string
	Messages      []*Message // after context transform and conversion
	Tools         []*Tool
	ThinkingLevel ThinkingLevel // "" when off
	APIKey        string        // from Hooks.APIKey; "" when there is none
	MaxTokens     int64         // most that the response may have; 0 is what the model allows
}

// Provider streams responses. It is one method, so a function type serves too: see [ProviderFunc].
type Provider interface {
	// Stream performs one request. It calls emit, from the goroutine it was called on, once for each of the stream's
	// events, in order, and returns the final message, or nil when the events told all (the loop has then assembled
	// it). emit returns after everybody has seen the event; an error from emit must be returned at once.
	//
	// A failure of the request or of the model is not an error: it is an error event, or a returned message with stop
	// reason "error" or "aborted". A non-nil error takes the run's failure path. When ctx is cancelled, Stream ends
	// soon with an "aborted" message.
	Stream(ctx context.Context, req *Request, emit func(AssistantEvent) error) (*AssistantMessage, error)
}

// ProviderFunc makes a function a [Provider].
type ProviderFunc func(ctx context.Context, req *Request, emit func(AssistantEvent) error) (*AssistantMessage, error)

// Stream calls f.
func (f ProviderFunc) Stream(ctx context.Context, req *Request, emit func(AssistantEvent) error) (*AssistantMessage, error) {
	return f(ctx, req, emit)
}

// AssistantEventType names one of the twelve events of a response stream. The zero value means unset; String gives the
// wire name.
type AssistantEventType uint8

// The twelve events of a response stream.
const (
	StreamStart AssistantEventType = iota + 1
	StreamTextStart
	StreamTextDelta
	StreamTextEnd
	StreamThinkingStart
	StreamThinkingDelta
	StreamThinkingEnd
	StreamToolCallStart
	StreamToolCallDelta
	StreamToolCallEnd
	StreamDone
	StreamError
)

// String is the wire name.
func (t AssistantEventType) String() string {
	switch t {
	case StreamStart:
		return "start"
	case StreamTextStart:
		return "text_start"
	case StreamTextDelta:
		return "text_delta"
	case StreamTextEnd:
		return "text_end"
	case StreamThinkingStart:
		return "thinking_start"
	case StreamThinkingDelta:
		return "thinking_delta"
	case StreamThinkingEnd:
		return "thinking_end"
	case StreamToolCallStart:
		return "toolcall_start"
	case StreamToolCallDelta:
		return "toolcall_delta"
	case StreamToolCallEnd:
		return "toolcall_end"
	case StreamDone:
		return "done"
	case StreamError:
		return "error"
	default:
		return "unset"
	}
}

// AssistantEvent is one event of a response stream. A provider sends what changed; the loop assembles the message, so
// that a message of n deltas costs O(n).
type AssistantEvent struct {
	Type AssistantEventType
	// ContentIndex is the position of the block in the message, for the nine middle kinds.
	ContentIndex int
	// Delta is the new text of a delta event. The deltas of a tool call are pieces of its arguments' JSON.
	Delta string
	// Content is the whole text of a text_end or thinking_end; "" lets the loop use what it assembled.
	Content string
	// Signature goes with text_end and thinking_end.
	Signature string
	// ToolCall is the finished call (toolcall_end), or id and name as far as known (toolcall_start).
	ToolCall *ToolCall
	// Message is the final message of done and error; with start, what is known of the message (API, model,
	// timestamp …), nil lets the loop fill it from the request.
	Message *AssistantMessage
	// Reason goes with done (stop, length, toolUse, deferred) and error (aborted, error).
	Reason StopReason
}

package agentcore

import (
	"context"
	"encoding/json"
)

// Hooks are the places where a program may change a run. Every field may be nil: no hook. ctx is the run's; it is
// cancelled by Abort. An error takes the run's failure path unless the field says otherwise. The loop calls hooks from
// the run's goroutine, one at a time, but for AfterToolCall and ToolUpdate: these are called from the goroutine of the
// tool, for parallel tools at the same time.
type Hooks struct {
	// TransformContext decides what the model sees of the history. It gets the transcript and returns the slice to send;
	// it must not change the slice it was given.
	TransformContext func(ctx context.Context, messages []*Message) ([]*Message, error)
	// ConvertToLLM runs after TransformContext and turns messages into user, assistant and tool result messages. nil
	// keeps these three roles and drops the others.
	ConvertToLLM func(ctx context.Context, messages []*Message) ([]*Message, error)
	// MessageEnd may replace a finished message (same role) after it was appended and before any listener hears of
	// it. The replacement takes its place in the state, the loop, this and all later events. nil result: keep.
	MessageEnd func(ctx context.Context, message *Message) (*Message, error)
	// ToolNotFound gives the error text of a call to a tool that the turn does not have, for a program that knows more about it;
	// "" keeps the loop's own text. It must return at once.
	ToolNotFound func(name string) string
	// BeforeToolCall runs after the arguments were validated and before the tool runs. An error becomes an error result
	// of the call: the tool does not run.
	BeforeToolCall func(ctx context.Context, call *ToolCallContext) (*BeforeToolCallResult, error)
	// AfterToolCall may change the result of a tool that ran, failed or not. An error replaces the result.
	AfterToolCall func(ctx context.Context, call *ToolResultContext) (*AfterToolCallResult, error)
	// ToolUpdate may replace or, by returning nil, withhold a partial result before anybody sees it.
	ToolUpdate func(ctx context.Context, call *ToolCallContext, partial *ToolResult) *ToolResult
	// ShouldStopAfterTurn ends the run after turn_end and before the queues are polled.
	ShouldStopAfterTurn func(ctx context.Context, turn *TurnContext) (bool, error)
	// PrepareNextTurn may replace context, model and thinking level before every turn but the first.
	PrepareNextTurn func(ctx context.Context, turn *TurnContext) (*TurnUpdate, error)
	// APIKey is asked before every request.
	APIKey func(ctx context.Context, provider string) (string, error)
}

// Context is what a run works on: the system prompt, the transcript so far and the tools.
type Context struct {
	SystemPrompt string
	Messages     []*Message
	Tools        []*Tool
}

// ToolCallContext is what BeforeToolCall sees.
type ToolCallContext struct {
	AssistantMessage *Message
	ToolCall         *ToolCall
	// Args are the validated (and coerced) arguments. ToolCall.Arguments are the raw ones.
	Args    json.RawMessage
	Context Context
	// Validate checks replacement arguments against the tool's schema and returns them coerced.
	Validate func(args json.RawMessage) (json.RawMessage, error)
}

// BeforeToolCallResult is the answer of BeforeToolCall; nil means no opinion.
type BeforeToolCallResult struct {
	Block  bool
	Reason string // "" gives a default text
	// Terminate counts only together with Block.
	Terminate bool
	// Args replace the arguments that the tool receives, byte for byte; nil keeps them. They are not validated again.
	Args json.RawMessage
}

// ToolResultContext is what AfterToolCall sees.
type ToolResultContext struct {
	ToolCallContext
	Result  *ToolResult
	IsError bool
}

// AfterToolCallResult replaces parts of a result; a nil field keeps what there was.
type AfterToolCallResult struct {
	Content   []Block // nil keeps; an empty slice empties
	Details   json.RawMessage
	IsError   *bool
	Usage     *Usage
	Terminate *bool
}

// TurnContext is what ShouldStopAfterTurn and PrepareNextTurn see.
type TurnContext struct {
	Message     *Message
	ToolResults []*Message
	Context     Context
	NewMessages []*Message
}

// TurnUpdate replaces parts of what the next turn works with; nil fields keep.
type TurnUpdate struct {
	Context       *Context
	Model         *Model
	ThinkingLevel *ThinkingLevel
}

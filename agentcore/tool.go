package agentcore

import (
	"context"
	"encoding/json"
)

// ExecutionMode says whether the tool calls of one assistant message run one after the other. The zero value means
// unset: parallel for an agent, no say for a tool.
type ExecutionMode string

// The execution modes.
const (
	ExecutionParallel   ExecutionMode = "parallel"
	ExecutionSequential ExecutionMode = "sequential"
)

// Tool is something that a model may call. A tool that was given to an agent must not be changed.
type Tool struct {
	Name        string
	Label       string // for people; "" means Name
	Description string
	// Parameters is a JSON Schema for the arguments (an object). An invalid schema is refused when the tool is added.
	Parameters json.RawMessage
	// ExecutionMode sequential makes every batch that calls this tool sequential.
	ExecutionMode ExecutionMode
	// Prepare adapts raw arguments before they are validated; nil leaves them.
	Prepare func(args json.RawMessage) (json.RawMessage, error)
	// Execute runs the call. args were validated against Parameters. It may call update, from any goroutine, with
	// partial results until it returns; later calls are dropped. It should return soon after ctx is cancelled. An error
	// becomes an error result whose text is the error's.
	Execute func(ctx context.Context, callID string, args json.RawMessage, update func(*ToolResult)) (*ToolResult, error)
}

// ToolResult is what a tool returns, whole or partial. A result that was handed over must not be changed.
type ToolResult struct {
	// Content is for the model: *TextBlock and *ImageBlock. nil and empty differ on the wire of tool_execution_end.
	Content []Block
	// Details is structured data for logs and displays; nil when absent.
	Details json.RawMessage
	Usage   *Usage
	// AddedToolNames are tools that are available from this result on.
	AddedToolNames []string
	// Terminate asks to stop after the batch; it counts only if every result of the batch sets it.
	Terminate bool
	// Extra are fields of the wire format that the loop does not interpret; they are seen in the events only.
	Extra map[string]json.RawMessage
}

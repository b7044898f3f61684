package agentcore

import (
	"errors"
	"fmt"
	"time"
)

// Error is an error that a caller of an [Agent] may meet. The texts are part of the contract: they are what the
// reference's callers see.
type Error string

// Error implements error.
func (e Error) Error() string { return string(e) }

// What the methods of [Agent] return when they cannot do what they were asked.
const (
	// ErrPromptRunning is returned by Prompt while a run is active.
	ErrPromptRunning Error = "Agent is already processing a prompt. Use steer() or followUp() to queue messages, or wait for completion."
	// ErrContinueRunning is returned by Continue while a run is active.
	ErrContinueRunning Error = "Agent is already processing. Wait for completion before continuing."
	// ErrResetRunning is returned by Reset while a run is active.
	ErrResetRunning Error = "Agent is already processing. Wait for completion before resetting."
	// ErrNothingToContinue is returned by Continue on an empty transcript.
	ErrNothingToContinue Error = "No messages to continue from"
	// ErrContinueAssistant is returned by Continue when the transcript ends with an assistant message and no message is
	// queued.
	ErrContinueAssistant Error = "Cannot continue from message role: assistant"
)

// Causes with which the context of a run or of a tool is cancelled; see [context.Cause].
const (
	// ErrAborted says that Abort was called. (When the context given to Prompt is cancelled, its own cause is seen.)
	ErrAborted Error = "run aborted"
	// ErrRunFailed cancels the tools of a batch whose run takes the failure path.
	ErrRunFailed Error = "run failed"
	// ErrRunOver cancels what is left of a run that has ended.
	ErrRunOver Error = "run is over"
)

// Texts that a model reads in error results.
const (
	textBlocked = "Tool execution was blocked"
	textAborted = "Operation aborted"
)

func textNotFound(name string) string { return "Tool " + name + " not found" }

func textTruncated(name string) string {
	return `Tool call "` + name + `" was not executed: the response hit the output token limit, so its arguments may be ` +
		`truncated. Re-issue the tool call with complete arguments.`
}

// PanicError is what became of a panic in a tool, a listener, a hook or a provider.
type PanicError struct {
	What  string // "tool", "listener", "hook", "provider"
	Value any
	Stack []byte
}

// Error implements error. The stack is not part of the text, since a model may read it.
func (e *PanicError) Error() string { return fmt.Sprintf("%s panicked: %v", e.What, e.Value) }

// Unwrap gives the panic's value if it was an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// errExited stands for a function that left its goroutine by runtime.Goexit.
var errExited = errors.New("goroutine exited")

// OrphanError tells of a tool that was still running when its run went on without it.
type OrphanError struct {
	ToolCallID string
	ToolName   string
	Waited     time.Duration
}

// Error implements error.
func (e *OrphanError) Error() string {
	return fmt.Sprintf("tool %s (call %s) did not stop within %s after it was cancelled", e.ToolName, e.ToolCallID, e.Waited)
}

package scripted

import (
	"encoding/json"
	"regexp"
	"time"

	"weir/agentcore"
)

// Script is what a model will say. It is immutable and safe for concurrent use.
type Script struct {
	name      string
	model     agentcore.Model
	responses []response
}

// response is the answer to one request.
type response struct {
	line   int // in the script
	expect *regexp.Regexp
	blocks []block
	delay  time.Duration // before the first event
	pause  time.Duration // between two deltas
	chunk  int           // characters a delta; 0: words
	stop   agentcore.StopReason
	usage  agentcore.Usage
	fail   *failure
}

// block is one content block; exactly one of the first three is set.
type block struct {
	text, thinking *string
	call           *agentcore.ToolCall
	delay          time.Duration
}

// failure is how a response ends that does not end well.
type failure struct {
	message string
	reason  agentcore.StopReason // error or aborted
}

// Name is what Parse was told the script is called.
func (s *Script) Name() string { return s.name }

// Len is the number of responses.
func (s *Script) Len() int { return len(s.responses) }

// Model is the model that the script describes. Where it says nothing the id is "scripted", of provider and API
// "scripted", with a context window of 200,000 tokens and 32,000 tokens a response.
func (s *Script) Model() agentcore.Model { return s.model }

// Calls are the tool calls of all responses, in order. The caller must not change what they point to.
func (s *Script) Calls() []*agentcore.ToolCall {
	var calls []*agentcore.ToolCall
	for _, r := range s.responses {
		for _, b := range r.blocks {
			if b.call != nil {
				calls = append(calls, b.call)
			}
		}
	}
	return calls
}

func defaultModel() agentcore.Model {
	return agentcore.Model{
		ID: "scripted", Name: "scripted", API: "scripted", Provider: "scripted", Input: []string{"text", "image"},
		ContextWindow: 200_000, MaxTokens: 32_000,
	}
}

// emptyArguments is what a call has before its arguments are complete, or without any.
func emptyArguments() json.RawMessage { return json.RawMessage(`{}`) }

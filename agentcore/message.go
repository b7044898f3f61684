package agentcore

import (
	"encoding/json"
	"sync/atomic"
)

// Role says who a message comes from. The three roles below are those a model understands; any other
// role belongs to the product above (custom, bashExecution, branchSummary, compactionSummary, …) and is
// carried as an [OpaqueMessage].
type Role string

// The roles that the default conversion sends to a model.
const (
	RoleUser       Role = "user"
	RoleAssistant  Role = "assistant"
	RoleToolResult Role = "toolResult"
)

// StopReason says why an assistant message ended. The zero value means unset.
type StopReason string

// The stop reasons of a message. StopPending marks a message that is still being streamed.
const (
	StopPending  StopReason = "pending"
	StopStop     StopReason = "stop"
	StopLength   StopReason = "length"
	StopToolUse  StopReason = "toolUse"
	StopError    StopReason = "error"
	StopAborted  StopReason = "aborted"
	StopDeferred StopReason = "deferred"
)

// Message is one immutable entry of a transcript: a typed body and, computed once, its JSON. The same
// *Message may be held by the state, the loop, events and a store at the same time; nobody may change what
// it points to. To change a message, make a new one. Safe for concurrent use.
type Message struct {
	id   uint64
	body Body
	// partial is set instead of body while a response is being streamed; see [Message.Body]. built is its body once
	// somebody has asked.
	partial *partial
	built   atomic.Pointer[AssistantMessage]
	// origin is the message that this one was numbered from; it owns the JSON.
	origin *Message
	json   atomic.Pointer[encoding]
}

// encoding is the JSON of a message, or why there is none.
type encoding struct {
	raw json.RawMessage
	err error
}

// Body is what a message says: *UserMessage, *AssistantMessage, *ToolResultMessage or *OpaqueMessage.
// A body that was handed to [NewMessage] must not be changed any more.
type Body interface {
	Role() Role
	isBody()
}

// NewMessage wraps body. It takes ownership of body and of everything that body points to.
func NewMessage(body Body) *Message { return &Message{body: body} }

// numbered is m under the number id. It shares m's body and JSON.
func (m *Message) numbered(id uint64) *Message {
	if m.id == id {
		return m
	}
	if m.origin != nil {
		m = m.origin
	}
	return &Message{id: id, body: m.body, origin: m}
}

// ID is the append number of the message in its agent, kept when the message is replaced; 0 for a message that no agent
// has taken up. The number is given when the message starts, so that all events of one message carry the same.
func (m *Message) ID() uint64 { return m.id }

// Role is the role of the body.
func (m *Message) Role() Role {
	if m.partial != nil {
		return RoleAssistant
	}
	return m.body.Role()
}

// Body is the typed content. It must not be changed. For a message that is still being streamed it is built on the
// first call, which costs as much as the message has blocks; its text is shared with the stream, not copied.
func (m *Message) Body() Body {
	if m.partial != nil {
		return m.assemble()
	}
	return m.body
}

// assemble builds the body of a message that is being streamed. Two callers at once may both build it, but all get the
// same one.
func (m *Message) assemble() *AssistantMessage {
	if built := m.built.Load(); built != nil {
		return built
	}
	m.built.CompareAndSwap(nil, m.partial.message())
	return m.built.Load()
}

// User returns the body of a user message, or nil.
func (m *Message) User() *UserMessage { b, _ := m.body.(*UserMessage); return b }

// Assistant returns the body of an assistant message, or nil.
func (m *Message) Assistant() *AssistantMessage { b, _ := m.Body().(*AssistantMessage); return b }

// ToolResult returns the body of a tool result message, or nil.
func (m *Message) ToolResult() *ToolResultMessage { b, _ := m.body.(*ToolResultMessage); return b }

// Content is what a user message or a custom message holds: either one plain string or a list of blocks.
// Which of the two it was is kept, since both are seen on the wire.
type Content struct {
	// Text is the plain string. It counts only while Blocks is nil.
	Text string
	// Blocks are the content blocks; not nil (it may be empty) when the content is a list.
	Blocks []Block
}

// UserMessage is what a person, or a program for them, says.
type UserMessage struct {
	Content Content
	// Timestamp is in milliseconds since 1970.
	Timestamp int64
}

// AssistantMessage is a model's response, whole or (stop reason "pending") so far.
type AssistantMessage struct {
	Content       []Block // *TextBlock, *ThinkingBlock, *ToolCall
	API           string
	Provider      string
	Model         string
	ResponseModel string // "" when absent, as for all optional strings here
	ResponseID    string
	Usage         Usage
	StopReason    StopReason
	RawStopReason string
	ErrorMessage  string
	Timestamp     int64
	Extra         map[string]json.RawMessage // fields of the wire format that the loop does not interpret (deferred, diagnostics, …)
}

// ToolResultMessage is the outcome of one tool call as the model sees it.
type ToolResultMessage struct {
	ToolCallID     string
	ToolName       string
	Content        []Block // *TextBlock, *ImageBlock
	Details        json.RawMessage
	Usage          *Usage
	AddedToolNames []string
	IsError        bool
	Timestamp      int64
}

// OpaqueMessage carries a message whose role the loop does not know, byte for byte. The default
// conversion does not send it to the model.
type OpaqueMessage struct {
	RoleName Role
	// JSON is the whole message object, its role included.
	JSON json.RawMessage
	// Timestamp is in milliseconds since 1970; 0 when the object has none.
	Timestamp int64
}

// Role implements [Body].
func (*UserMessage) Role() Role { return RoleUser }

// Role implements [Body].
func (*AssistantMessage) Role() Role { return RoleAssistant }

// Role implements [Body].
func (*ToolResultMessage) Role() Role { return RoleToolResult }

// Role implements [Body].
func (m *OpaqueMessage) Role() Role { return m.RoleName }

func (*UserMessage) isBody()       {}
func (*AssistantMessage) isBody()  {}
func (*ToolResultMessage) isBody() {}
func (*OpaqueMessage) isBody()     {}

// Block is one content block: *TextBlock, *ThinkingBlock, *ImageBlock, *ToolCall or *OpaqueBlock. Blocks
// are shared between messages, so a block must not be changed once it is part of one.
type Block interface{ isBlock() }

// TextBlock is text.
type TextBlock struct {
	Text          string
	TextSignature string
}

// ThinkingBlock is a model's reasoning.
type ThinkingBlock struct {
	Thinking          string
	ThinkingSignature string
	Redacted          bool
}

// ImageBlock is an image; Data is base64 as it came.
type ImageBlock struct {
	Data     string
	MimeType string
}

// ToolCall is a model's request to run a tool. Arguments is a JSON value, normally an object, kept byte
// for byte as the provider gave it.
type ToolCall struct {
	ID               string
	Name             string
	Arguments        json.RawMessage
	ThoughtSignature string
	Namespace        string
}

// OpaqueBlock is a block of a type that the loop does not know, byte for byte.
type OpaqueBlock struct {
	Type string
	JSON json.RawMessage
}

func (*TextBlock) isBlock()     {}
func (*ThinkingBlock) isBlock() {}
func (*ImageBlock) isBlock()    {}
func (*ToolCall) isBlock()      {}
func (*OpaqueBlock) isBlock()   {}

// Usage counts tokens and their cost in US dollars, as the provider reported them.
type Usage struct {
	Input        int64  `json:"input"`
	Output       int64  `json:"output"`
	CacheRead    int64  `json:"cacheRead"`
	CacheWrite   int64  `json:"cacheWrite"`
	CacheWrite1h *int64 `json:"cacheWrite1h,omitempty"`
	Reasoning    *int64 `json:"reasoning,omitempty"`
	TotalTokens  int64  `json:"totalTokens"`
	Cost         Cost   `json:"cost"`
}

// Cost is the price of a response in US dollars.
type Cost struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
	Total      float64 `json:"total"`
}

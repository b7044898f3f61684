package engine

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"

	"weir/agentcore"
	"weir/wasmhost"
)

// PromptPart is a part of a prompt. The zero value means none; String gives the word used in output.
type PromptPart uint8

// The parts, in the order in which providers keep them.
const (
	PromptTools PromptPart = iota + 1
	PromptSystem
	PromptMessages
)

// String is the word used in output.
func (p PromptPart) String() string {
	switch p {
	case PromptTools:
		return "tools"
	case PromptSystem:
		return "system"
	case PromptMessages:
		return "messages"
	default:
		return ""
	}
}

// PromptCause says what changed the prefix of a prompt. The zero value means nothing did; String gives the word used in output.
type PromptCause uint8

// The causes.
const (
	CauseExtension  PromptCause = iota + 1 // an answer of an extension to this call, or one to the last that it did not repeat
	CauseCompaction                        // a summary took the place of messages
	CauseHistory                           // the conversation is another one: a move in the tree, a replaced message
	CauseProgram                           // tools or system prompt, by no extension
)

// String is the word used in output.
func (c PromptCause) String() string {
	switch c {
	case CauseExtension:
		return "extension"
	case CauseCompaction:
		return "compaction"
	case CauseHistory:
		return "history"
	case CauseProgram:
		return "program"
	default:
		return ""
	}
}

// PromptChange is what one model call did to the prefix of the prompt. Providers keep the prefix of the last prompt, and what
// comes after its first changed byte is read and paid for anew.
type PromptChange struct {
	Call     int // the number of the model call, from 1
	Messages int // in the prompt
	// Kept is the number of leading messages that stand where they stood in the call before; all of its messages when the prefix
	// was kept.
	Kept int
	// Part is where the first change is; unset when the prefix was kept, and in the first call.
	Part  PromptPart
	Cause PromptCause
	// Extension is the one that CauseExtension means.
	Extension string
}

// Sent takes down a request that goes to the model, and gives Config.Prompt what it did to the prefix. Call it once for each
// request, after [Engine.Context]; a session does so. Messages count as changed when the model would read something
// else: times, usage and details do not count. What before_provider_request makes of a payload is not looked at. It
// costs a comparison of pointers for messages that are the same as before; only others are compared by their encoding. The engine's calls
// count as those of one conversation. Without Config.Prompt it does nothing.
func (e *Engine) Sent(req *agentcore.Request) {
	if e.cfg.Prompt != nil {
		e.cfg.Prompt(e.prompt.sent(req))
	}
}

// promptMeter compares each prompt with the one before. Safe for concurrent use.
type promptMeter struct {
	mu           sync.Mutex
	calls        int
	last         promptState
	next         promptState
	system       string // as an extension has set it last
	systemBy     string
	toolsBy      string // who has set the tools since the last call
	spareHistory []*agentcore.Message
}

// promptState is a prompt and how it came to be.
type promptState struct {
	tools    []*agentcore.Tool
	system   string
	systemBy string // the extension that wrote it; "" for the program
	// history are the messages as the extensions got them, edits what became of them; known says that they are there.
	history []*agentcore.Message
	edits   []promptEdit
	known   bool
}

// promptEdit is what one extension made of the messages.
type promptEdit struct {
	by    string
	after []*agentcore.Message
}

// messages are those that were sent.
func (p *promptState) messages() []*agentcore.Message {
	if n := len(p.edits); n > 0 {
		return p.edits[n-1].after
	}
	return p.history
}

// context takes down the messages on their way through the extensions.
func (m *promptMeter) context(history []*agentcore.Message, edits []promptEdit) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.take(history, edits)
}

// take is context for a caller that holds m.mu.
func (m *promptMeter) take(history []*agentcore.Message, edits []promptEdit) {
	m.spareHistory = append(m.spareHistory[:0], history...) // whoever gave the slice may go on to use it
	m.next.history, m.next.edits, m.next.known = m.spareHistory, edits, true
}

// setSystem takes down that an extension has written the system prompt of the next run.
func (m *promptMeter) setSystem(text, by string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.system, m.systemBy = text, by
}

func (m *promptMeter) setTools(by string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.toolsBy = by
}

func (m *promptMeter) sent(req *agentcore.Request) PromptChange {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.next.known { // the caller has no use for Context
		m.take(req.Messages, nil)
	}
	m.next.tools = append(m.next.tools[:0], req.Tools...)
	m.next.system, m.next.systemBy = req.SystemPrompt, ""
	if m.systemBy != "" && m.system == req.SystemPrompt {
		m.next.systemBy = m.systemBy
	}
	m.calls++
	c := PromptChange{Call: m.calls, Messages: len(m.next.messages())}
	if m.calls > 1 {
		m.compare(&c)
	}
	m.toolsBy = ""
	// The buffers of the call before are those of the next one.
	m.last, m.next, m.spareHistory = m.next, promptState{tools: m.last.tools}, m.last.history
	return c
}

func (m *promptMeter) compare(c *PromptChange) {
	extension := func(by string) {
		c.Cause, c.Extension = CauseProgram, by
		if by != "" {
			c.Cause = CauseExtension
		}
	}
	switch {
	case !slices.EqualFunc(m.last.tools, m.next.tools, sameTool):
		c.Part = PromptTools
		extension(m.toolsBy)
		return
	case m.last.system != m.next.system:
		c.Part = PromptSystem
		extension(m.next.systemBy)
		if c.Extension == "" {
			extension(m.last.systemBy)
		}
		return
	}
	before, after := m.last.messages(), m.next.messages()
	for c.Kept < min(len(before), len(after)) && sameToModel(before[c.Kept], after[c.Kept]) {
		c.Kept++
	}
	if c.Kept == len(before) {
		return
	}
	c.Part = PromptMessages
	if c.Extension = m.culprit(c.Kept); c.Extension != "" {
		c.Cause = CauseExtension
		return
	}
	c.Cause = CauseHistory
	if s := summaryOf(m.next.history); s != nil && (summaryOf(m.last.history) == nil || !sameToModel(s, summaryOf(m.last.history))) {
		c.Cause = CauseCompaction
	}
}

// culprit is the extension that is to blame for the first message that differs, which is at a place of the last prompt; "" when
// none is.
func (m *promptMeter) culprit(at int) string {
	was := m.last.messages()[at]
	var is *agentcore.Message // nil: the prompt has become shorter
	if after := m.next.messages(); at < len(after) {
		is = after[at]
		if by := m.next.author(is); by != "" {
			return by
		}
	}
	if by := m.last.author(was); by != "" {
		return by // it had put something there, and does so no more
	}
	// Both are of the conversation.
	if here := find(m.next.history, was); here != nil {
		if by := m.next.remover(here); by != "" {
			return by
		}
	}
	if is != nil {
		if there := find(m.last.history, is); there != nil {
			return m.last.remover(there)
		}
	}
	return ""
}

// author is the extension that put a message of the prompt there; "" when it is of the conversation.
func (p *promptState) author(message *agentcore.Message) string {
	if slices.Contains(p.history, message) {
		return ""
	}
	for _, e := range p.edits {
		if slices.Contains(e.after, message) {
			return e.by
		}
	}
	return ""
}

// remover is the extension that took a message of the conversation out of the prompt; "" when it is there.
func (p *promptState) remover(message *agentcore.Message) string {
	for _, e := range p.edits {
		if !slices.Contains(e.after, message) {
			return e.by
		}
	}
	return ""
}

// find looks for a message, or for one that says the same: after a compaction or a load messages are new ones.
func find(messages []*agentcore.Message, wanted *agentcore.Message) *agentcore.Message {
	if slices.Contains(messages, wanted) {
		return wanted
	}
	if i := slices.IndexFunc(messages, func(m *agentcore.Message) bool { return sameBytes(m, wanted) }); i >= 0 {
		return messages[i]
	}
	return nil
}

// summaryOf is the summary that a compaction has left in a conversation, or nil.
func summaryOf(history []*agentcore.Message) *agentcore.Message {
	i := slices.IndexFunc(history, func(m *agentcore.Message) bool { return m.Role() == "compactionSummary" })
	if i < 0 {
		return nil
	}
	return history[i]
}

func sameTool(a, b *agentcore.Tool) bool {
	return a == b || a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Parameters, b.Parameters)
}

func sameBytes(a, b *agentcore.Message) bool {
	if a == b {
		return true
	}
	x, errX := a.JSON()
	y, errY := b.JSON()
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// sameToModel says whether a model reads the same in two messages.
func sameToModel(a, b *agentcore.Message) bool {
	if sameBytes(a, b) {
		return true
	}
	x, okX := readByModel(a)
	y, okY := readByModel(b)
	return okX && okY && x == y
}

// read is what a model reads of a message.
type read struct {
	Role               string  `json:"role"`
	Content            rawText `json:"content"`
	ToolCallID         string  `json:"toolCallId"`
	ToolName           string  `json:"toolName"`
	IsError            bool    `json:"isError"`
	Summary            string  `json:"summary"`
	Command            string  `json:"command"`
	Output             string  `json:"output"`
	ExitCode           rawText `json:"exitCode"`
	Cancelled          bool    `json:"cancelled"`
	Truncated          bool    `json:"truncated"`
	FullOutputPath     string  `json:"fullOutputPath"`
	ExcludeFromContext bool    `json:"excludeFromContext"`
}

// rawText is a JSON value as it is written.
type rawText string

// UnmarshalJSON implements [json.Unmarshaler].
func (r *rawText) UnmarshalJSON(b []byte) error {
	*r = rawText(b)
	return nil
}

func readByModel(m *agentcore.Message) (r read, ok bool) {
	raw, err := m.JSON()
	if err != nil {
		return r, false
	}
	err = json.Unmarshal(raw, &r)
	return r, err == nil
}

// notingTools is a session that notes who sets its tools.
type notingTools struct {
	wasmhost.Session
	note func()
}

func (n notingTools) SetTools(names []string) error {
	n.note()
	return n.Session.SetTools(names)
}

// sessionFor is Config.Session for one extension.
func (e *Engine) sessionFor(extension string) func() wasmhost.Session {
	if e.cfg.Session == nil || e.cfg.Prompt == nil {
		return e.cfg.Session
	}
	return func() wasmhost.Session {
		s := e.cfg.Session()
		if s == nil {
			return nil
		}
		return notingTools{s, func() { e.prompt.setTools(extension) }}
	}
}

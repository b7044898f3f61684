package wire

import (
	"bytes"
	"encoding/json"
	"strconv"

	"weir/agentcore"
)

// Results own their memory; out may be reused as soon as a Parse function returned. Every error is an [*OutputError].

// ToolCallResult is the answer of a tool_call hook. The zero value is no opinion.
type ToolCallResult struct {
	Block bool
	// Reason goes with Block; "" is none. Without Block it is accepted and means nothing.
	Reason string
	// Terminate asks to stop after the batch. It is never set without Block.
	Terminate bool
	// Ask puts the call to a person; nil does not. Never together with Block.
	Ask *Ask
	// Input replaces the arguments: a JSON object, byte for byte as the guest wrote it; nil keeps them. Never together
	// with Block.
	Input json.RawMessage
}

// Ask is what a person is asked about a tool call.
type Ask struct {
	Title   string // never empty
	Message string // "" when absent
}

// Key tables; read only.
var (
	toolCallKeys = []string{"block", "reason", "terminate", "ask", "input"}
	askKeys      = []string{"title", "message"}
)

// ParseToolCall reads the answer of a tool_call hook. Beside the rules for all output it refuses an answer that says two
// things at once, so that nobody has to guess which half counts: terminate true without block true, and ask or input together
// with block true. {"block":false} and {} are no opinion.
func ParseToolCall(out []byte) (ToolCallResult, error) {
	var res ToolCallResult
	r := reader{src: out}
	if !r.root() {
		return ToolCallResult{}, r.err
	}
	f := r.object(toolCallKeys)
	terminateAt, askAt, inputAt := 0, 0, 0
	for i := r.next(&f); i >= 0; i = r.next(&f) {
		r.peek()
		at := r.pos
		switch i {
		case 0:
			res.Block = r.bool()
		case 1:
			res.Reason = r.string()
		case 2:
			terminateAt = at
			res.Terminate = r.bool()
		case 3:
			askAt = at
			res.Ask = r.ask()
		case 4:
			inputAt = at
			res.Input = clone(r.rawObject())
		}
	}
	r.end()
	switch {
	case r.err != nil:
	case res.Terminate && !res.Block:
		r.fail(terminateAt, "counts only together with block")
	case res.Block && res.Ask != nil:
		r.fail(askAt, "a call that is blocked cannot be asked about")
	case res.Block && res.Input != nil:
		r.fail(inputAt, "a call that is blocked cannot be rewritten")
	}
	if r.err != nil {
		return ToolCallResult{}, r.err
	}
	return res, nil
}

func (r *reader) ask() *Ask {
	a := &Ask{}
	f := r.object(askKeys)
	for i := r.next(&f); i >= 0; i = r.next(&f) {
		if i == 0 {
			a.Title = r.stringNotEmpty()
		} else {
			a.Message = r.string()
		}
	}
	r.require(&f, 0)
	return a
}

// ToolResultResult is the answer of a tool_result hook; a nil field keeps what there was.
type ToolResultResult struct {
	Content []agentcore.Block // text and images; empty, not nil, empties
	Details json.RawMessage   // any JSON value; null is kept as "null"
	IsError *bool
	Usage   *agentcore.Usage
}

var toolResultKeys = []string{"content", "details", "isError", "usage"}

// ParseToolResult reads the answer of a tool_result hook.
func ParseToolResult(out []byte) (ToolResultResult, error) {
	var res ToolResultResult
	err := parse(out, toolResultKeys, func(r *reader, i int) {
		switch i {
		case 0:
			res.Content = r.blocks(blockText | blockImage)
		case 1:
			res.Details = clone(r.raw())
		case 2:
			b := r.bool()
			res.IsError = &b
		case 3:
			res.Usage = r.usage()
		}
	}, nil)
	if err != nil {
		return ToolResultResult{}, err
	}
	return res, nil
}

// ParseMessageEnd reads the answer of a message_end hook: the replacement, or nil to keep the message. It must have role, the
// role of the message; its content may be empty. A replacement without a timestamp gets timestamp.
func ParseMessageEnd(out []byte, role agentcore.Role, timestamp int64) (*agentcore.Message, error) {
	var msg *agentcore.Message
	err := parse(out, []string{"message"}, func(r *reader, _ int) {
		r.peek()
		at := r.pos
		m := r.message(true)
		if r.err == nil && m.role != role {
			r.fail(at, "want a message of role "+quoteShort(string(role))+", got "+string(m.role)+"; a role cannot be changed")
			return
		}
		msg = r.finish(m, timestamp)
	}, nil)
	if err != nil {
		return nil, err
	}
	return msg, nil
}

// InputAction says what becomes of a person's input. The zero value is to go on with it.
type InputAction uint8

// The actions of an input hook.
const (
	InputContinue InputAction = iota
	InputTransform
	InputHandled
)

// String is the wire name.
func (a InputAction) String() string {
	if int(a) < len(inputActions) {
		return inputActions[a]
	}
	return "unset"
}

// MarshalText is String.
func (a InputAction) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

var inputActions = []string{"continue", "transform", "handled"}

// InputResult is the answer of an input hook. The zero value is no opinion.
type InputResult struct {
	Action InputAction
	// Text replaces the input; it counts with InputTransform.
	Text string
	// Images replace the images; nil keeps them. Only with InputTransform.
	Images []*agentcore.ImageBlock
}

// ParseInput reads the answer of an input hook. transform must say text; the other actions may say neither text nor images.
func ParseInput(out []byte) (InputResult, error) {
	var res InputResult
	err := parse(out, []string{"action", "text", "images"}, func(r *reader, i int) {
		switch i {
		case 0:
			res.Action = InputAction(max(0, r.oneOf(inputActions)))
		case 1:
			res.Text = r.string()
		case 2:
			res.Images = []*agentcore.ImageBlock{}
			for _, b := range r.blocks(blockImage) {
				if image, ok := b.(*agentcore.ImageBlock); ok {
					res.Images = append(res.Images, image)
				}
			}
		}
	}, func(r *reader, f *fields) {
		switch transform := res.Action == InputTransform; {
		case transform:
			r.require(f, 1)
		case f.has(1) || f.has(2):
			r.fail(f.start, `text and images go with "action":"transform" only`)
		}
	})
	if err != nil {
		return InputResult{}, err
	}
	return res, nil
}

// BeforeAgentStartResult is the answer of a before_agent_start hook.
type BeforeAgentStartResult struct {
	// Message is added after the prompt; nil adds none.
	Message *CustomMessage
	// SystemPrompt replaces the system prompt for this prompt's run; nil keeps it, "" is a valid one.
	SystemPrompt *string
}

// CustomMessage is a message of role custom without its time; see [CustomMessage.Message].
type CustomMessage struct {
	CustomType string
	Content    agentcore.Content
	// ContentJSON is the content as the guest wrote it, for the store.
	ContentJSON json.RawMessage
	Display     bool
	Details     json.RawMessage // nil when absent
}

// Message is the message of role custom at a time in milliseconds.
func (c *CustomMessage) Message(timestamp int64) *agentcore.Message {
	b := append([]byte(nil), `{"role":"custom","customType":`...)
	b = AppendString(b, c.CustomType)
	b = append(b, `,"content":`...)
	b = append(b, c.ContentJSON...)
	b = append(b, `,"display":`...)
	b = strconv.AppendBool(b, c.Display)
	if c.Details != nil {
		b = append(b, `,"details":`...)
		b = append(b, c.Details...)
	}
	b = append(b, `,"timestamp":`...)
	b = strconv.AppendInt(b, timestamp, 10)
	b = append(b, '}')
	return agentcore.NewMessage(&agentcore.OpaqueMessage{RoleName: RoleCustom, JSON: b, Timestamp: timestamp})
}

var customKeys = []string{"customType", "content", "display", "details"}

// ParseBeforeAgentStart reads the answer of a before_agent_start hook.
func ParseBeforeAgentStart(out []byte) (BeforeAgentStartResult, error) {
	var res BeforeAgentStartResult
	err := parse(out, []string{"message", "systemPrompt"}, func(r *reader, i int) {
		if i == 1 {
			s := r.string()
			res.SystemPrompt = &s
			return
		}
		m := &CustomMessage{}
		f := r.object(customKeys)
		for i := r.next(&f); i >= 0; i = r.next(&f) {
			switch i {
			case 0:
				m.CustomType = r.stringNotEmpty()
			case 1:
				r.peek()
				at := r.pos
				if m.Content = r.content(); r.err == nil {
					m.ContentJSON = bytes.Clone(r.src[at:r.pos])
				}
			case 2:
				m.Display = r.bool()
			case 3:
				m.Details = clone(r.raw())
			}
		}
		r.require(&f, 0, 1, 2)
		res.Message = m
	}, nil)
	if err != nil {
		return BeforeAgentStartResult{}, err
	}
	return res, nil
}

// ParseBeforeProviderRequest reads the answer of a before_provider_request hook: the replacing payload, any JSON value
// and null too, or nil to keep it.
func ParseBeforeProviderRequest(out []byte) (json.RawMessage, error) {
	var payload json.RawMessage
	err := parse(out, []string{"payload"}, func(r *reader, _ int) { payload = clone(r.raw()) }, nil)
	if err != nil {
		return nil, err
	}
	return payload, nil
}

// UserBashResult is the answer of a user_bash hook. The zero value is no opinion.
type UserBashResult struct {
	// Result stands in for running the command; nil lets it run.
	Result *BashResult
	// Command is run instead; "" keeps it. Never together with Result.
	Command string
	// Operations run the command; nil leaves it to the session. Only an extension in Go can give them.
	Operations BashOperations `json:"-"`
}

// BashResult is what a command gave.
type BashResult struct {
	Output    string
	ExitCode  *int // nil when absent: the command was cancelled
	Cancelled bool
	Truncated bool
}

var bashKeys = []string{"output", "exitCode", "cancelled", "truncated"}

// ParseUserBash reads the answer of a user_bash hook. exitCode may be absent when cancelled is true.
func ParseUserBash(out []byte) (UserBashResult, error) {
	var res UserBashResult
	err := parse(out, []string{"result", "command"}, func(r *reader, i int) {
		if i == 1 {
			res.Command = r.stringNotEmpty()
			return
		}
		b := &BashResult{}
		f := r.object(bashKeys)
		for i := r.next(&f); i >= 0; i = r.next(&f) {
			switch i {
			case 0:
				b.Output = r.string()
			case 1:
				code := int(r.int(-1<<31, 1<<31-1))
				b.ExitCode = &code
			case 2:
				b.Cancelled = r.bool()
			case 3:
				b.Truncated = r.bool()
			}
		}
		r.require(&f, 0, 2, 3)
		if !b.Cancelled {
			r.require(&f, 1)
		}
		res.Result = b
	}, func(r *reader, f *fields) {
		if f.has(0) && f.has(1) {
			r.fail(f.start, "result and command exclude each other: a command that is answered is not run")
		}
	})
	if err != nil {
		return UserBashResult{}, err
	}
	return res, nil
}

// TrustDecision is an answer to whether a project is trusted. The zero value is undecided.
type TrustDecision uint8

// The answers of a project_trust hook.
const (
	TrustUndecided TrustDecision = iota
	TrustYes
	TrustNo
)

// String is the wire name.
func (d TrustDecision) String() string {
	if int(d) < len(trustWords) {
		return trustWords[d]
	}
	return "unset"
}

// MarshalText is String.
func (d TrustDecision) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

var trustWords = []string{"undecided", "yes", "no"}

// ProjectTrustResult is the answer of a project_trust hook.
type ProjectTrustResult struct {
	Trusted TrustDecision
	// Remember asks to keep the decision; never set when undecided.
	Remember bool
}

// ParseProjectTrust reads the answer of a project_trust hook.
func ParseProjectTrust(out []byte) (ProjectTrustResult, error) {
	var res ProjectTrustResult
	err := parse(out, []string{"trusted", "remember"}, func(r *reader, i int) {
		if i == 0 {
			res.Trusted = TrustDecision(max(0, r.oneOf(trustWords)))
		} else {
			res.Remember = r.bool()
		}
	}, func(r *reader, f *fields) {
		if res.Remember && res.Trusted == TrustUndecided {
			r.fail(f.start, "remember needs a decision")
		}
	})
	if err != nil {
		return ProjectTrustResult{}, err
	}
	return res, nil
}

// ResourcesDiscoverResult is the answer of a resources_discover hook: paths to look in.
type ResourcesDiscoverResult struct {
	SkillPaths  []string
	PromptPaths []string
	ThemePaths  []string
}

// ParseResourcesDiscover reads the answer of a resources_discover hook. No path is empty.
func ParseResourcesDiscover(out []byte) (ResourcesDiscoverResult, error) {
	var res ResourcesDiscoverResult
	err := parse(out, []string{"skillPaths", "promptPaths", "themePaths"}, func(r *reader, i int) {
		*[]*[]string{&res.SkillPaths, &res.PromptPaths, &res.ThemePaths}[i] = r.list(r.stringNotEmpty)
	}, nil)
	if err != nil {
		return ResourcesDiscoverResult{}, err
	}
	return res, nil
}

// ParseObserver checks the answer of a hook whose event is only watched: {} or nothing.
func ParseObserver(out []byte) error {
	r := reader{src: out}
	if r.space(); r.pos == len(out) {
		return nil
	}
	return parse(out, nil, func(*reader, int) {}, nil)
}

// ToolExecuteResult is what tool_execute returns (ABI section 12).
type ToolExecuteResult struct {
	Content   []agentcore.Block // text and images, not nil
	Details   json.RawMessage   // nil when absent
	IsError   bool
	Terminate bool
}

var toolExecuteKeys = []string{"content", "details", "isError", "terminate"}

// ParseToolExecute reads the output of tool_execute, and a partial result given to weir_tool_update. content is required.
func ParseToolExecute(out []byte) (ToolExecuteResult, error) {
	var res ToolExecuteResult
	err := parse(out, toolExecuteKeys, func(r *reader, i int) {
		switch i {
		case 0:
			res.Content = r.blocks(blockText | blockImage)
		case 1:
			res.Details = clone(r.raw())
		case 2:
			res.IsError = r.bool()
		case 3:
			res.Terminate = r.bool()
		}
	}, func(r *reader, f *fields) { r.require(f, 0) })
	if err != nil {
		return ToolExecuteResult{}, err
	}
	return res, nil
}

// ParseCommandExecute reads the output of command_execute: the message for the person, "" for none.
func ParseCommandExecute(out []byte) (string, error) {
	message := ""
	err := parse(out, []string{"message"}, func(r *reader, _ int) { message = r.string() }, nil)
	if err != nil {
		return "", err
	}
	return message, nil
}

// parse reads an object out of keys; after, when not nil, checks what concerns several keys.
func parse(out []byte, keys []string, value func(r *reader, i int), after func(r *reader, f *fields)) error {
	r := reader{src: out}
	if !r.root() {
		return r.err
	}
	f := r.object(keys)
	for i := r.next(&f); i >= 0; i = r.next(&f) {
		value(&r, i)
	}
	r.end()
	if r.err == nil && after != nil {
		after(&r, &f)
	}
	if r.err != nil {
		return r.err
	}
	return nil
}

// clone copies b out of the guest's output; nil stays nil.
func clone(b []byte) json.RawMessage { return bytes.Clone(b) }

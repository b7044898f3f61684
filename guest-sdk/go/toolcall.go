package weir

// ToolCall is a tool call that is about to run.
type ToolCall struct {
	event Event
	call  *call
	input Value
}

// ToolName returns the tool's name: bash, read, write, edit, grep, find, ls, an
// extension's own, or mcp__server__tool.
func (c *ToolCall) ToolName() string { return c.call.name(c.event.Get("toolName")) }

// ID returns the model's id of the call.
func (c *ToolCall) ID() string { return c.event.Str("toolCallId") }

// Input returns the arguments, an object, as rewritten so far.
func (c *ToolCall) Input() Value {
	if !c.input.Exists() {
		c.input = c.event.Get("input")
	}
	return c.input
}

// Str returns an argument that is a string, otherwise "".
func (c *ToolCall) Str(key string) string { return c.Input().Get(key).Str() }

// Get returns an argument.
func (c *ToolCall) Get(key string) Value { return c.Input().Get(key) }

// Recheck reports that the arguments were rewritten after this extension saw
// them. It is the same call once more: do not count it.
func (c *ToolCall) Recheck() bool { return c.event.Get("recheck").Bool(false) }

// Context is Event.Context.
func (c *ToolCall) Context() Value { return c.event.Context() }

// name returns a tool's name, as a rule the one that came last, without
// allocating.
func (c *call) name(v Value) string {
	if !v.Is(c.lastName) {
		c.lastName = v.Str()
	}
	return c.lastName
}

// Decision is the answer to a tool_call. The zero Decision is a fault, and so
// the call is blocked: say Allow to let it pass.
type Decision struct {
	kind           decisionKind
	terminate      bool
	words, message string
	input          JSON
}

type decisionKind uint8

const (
	decisionUnset decisionKind = iota
	decisionAllow
	decisionBlock
	decisionAsk
	decisionFail
)

// Allow lets the call pass, as far as this extension is concerned.
func Allow() Decision { return Decision{kind: decisionAllow} }

// Block stops the call. The model is told the reason; "" leaves it to the host.
func Block(reason string) Decision { return Decision{kind: decisionBlock, words: reason} }

// Terminate is Block, and the run ends after this batch of calls.
func Terminate(reason string) Decision {
	return Decision{kind: decisionBlock, words: reason, terminate: true}
}

// Ask puts the call to a person; without one it is blocked. The message, more
// words than the title, may be ""; the title may not.
func Ask(title, message string) Decision {
	return Decision{kind: decisionAsk, words: title, message: message}
}

// Rewrite lets the call pass with other arguments, an object that replaces them
// all. Start from the present ones to change a part:
//
//	weir.Rewrite(c.Input().With("timeout", weir.Int(10)))
func Rewrite(input JSON) Decision { return Allow().Rewrite(input) }

// Fail answers with a fault of this text; the call is blocked.
func Fail(text string) Decision { return Decision{kind: decisionFail, words: text} }

// Rewrite returns the decision, which is Allow or Ask, with other arguments.
func (d Decision) Rewrite(input JSON) Decision {
	d.input = input
	if input == "" {
		return Fail("Rewrite without arguments")
	}
	if d.kind == decisionBlock {
		return Fail("a blocked call has no arguments to rewrite")
	}
	return d
}

// OnToolCall registers the gate of tool calls. The handler may be called again
// for the same call: see ToolCall.Recheck.
func OnToolCall(handle func(*ToolCall) Decision) *Hook {
	return ext.add(&Hook{event: toolCallEvent, run: func(c *call) error {
		t := &c.toolCall
		t.call, t.input = c, Value{}
		if err := t.event.parse(c.readInput()); err != nil {
			return err
		}
		return c.decide(handle(t))
	}})
}

func (c *call) decide(d Decision) (err error) {
	switch d.kind {
	case decisionAllow:
		if d.input == "" {
			c.out = append(c.out, `{"block":false}`...)
			return nil
		}
		c.out = append(c.out, '{')
	case decisionBlock:
		c.out = append(c.out, `{"block":true`...)
		if d.words != "" {
			c.out = append(c.out, `,"reason":`...)
			c.out = appendWords(c.out, d.words)
		}
		if d.terminate {
			c.out = append(c.out, `,"terminate":true`...)
		}
		c.out = append(c.out, '}')
		return nil
	case decisionAsk:
		if d.words == "" {
			return answerText("Ask without a title: say what the person is asked")
		}
		c.out = append(c.out, `{"ask":{"title":`...)
		c.out = appendWords(c.out, d.words)
		if d.message != "" {
			c.out = append(c.out, `,"message":`...)
			c.out = appendWords(c.out, d.message)
		}
		c.out = append(c.out, '}')
		if d.input == "" {
			c.out = append(c.out, '}')
			return nil
		}
		c.out = append(c.out, ',')
	case decisionFail:
		return answerText(d.words)
	default:
		return answerText("the handler returned the zero Decision; return weir.Allow() to let the call pass")
	}
	c.out = append(c.out, `"input":`...)
	if c.out, err = appendCheckedObject(c.out, "the rewritten arguments", d.input); err != nil {
		return err
	}
	c.out = append(c.out, '}')
	return nil
}

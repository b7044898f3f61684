package weir

import "weir/guest-sdk/go/internal/scan"

// Event is the input of a hook: an object with "type", the payload of the event
// and "context".
type Event struct {
	text    string
	members []scan.Member
}

func (e *Event) parse(text string) (err error) {
	e.text = text
	e.members, err = scan.Members(text, e.members[:0])
	if err != nil {
		return &answerError{"the event", err}
	}
	return nil
}

// Get returns a member of the event.
func (e *Event) Get(key string) Value { return Value{scan.Find(e.members, key)} }

// Str returns a member of the event that is a string, otherwise "".
func (e *Event) Str(key string) string { return e.Get(key).Str() }

// Type returns the event's name.
func (e *Event) Type() string { return e.Str("type") }

// Context returns the object that says where the event happened: sessionId,
// extension, cwd, mode, hasUI, model {provider, id}, thinkingLevel, turnIndex,
// callIndex.
func (e *Event) Context() Value { return e.Get("context") }

// Value returns the whole event.
func (e *Event) Value() Value {
	s, err := scan.Value(e.text)
	if err != nil {
		return Value{}
	}
	return Value{s}
}

// Result is what a handler registered with On answers. The zero Result is a
// fault.
type Result struct {
	set    bool
	fields []Field
	err    error
}

// None is the answer of a handler that has no opinion.
func None() Result { return Result{set: true} }

// Reply answers with the result keys of the event, which docs/events.md lists.
func Reply(fields ...Field) Result { return Result{set: true, fields: fields} }

// Cancel answers a session_before_… event: what was about to happen does not.
func Cancel() Result { return Reply(Field{"cancel", "true"}) }

// Transform answers an input event with another text.
func Transform(text string) Result {
	return Reply(Field{"action", `"transform"`}, Field{"text", String(text)})
}

// Handled answers an input event: the extension dealt with it, no model is asked.
func Handled() Result { return Reply(Field{"action", `"handled"`}) }

// FailEvent answers with a fault of this text.
func FailEvent(text string) Result { return Result{set: true, err: answerText(text)} }

// On registers the handler of any event but tool_call, tool_result and context,
// which have functions of their own.
func On(event string, handle func(*Event) Result) *Hook {
	if event == toolCallEvent || event == toolResultEvent || event == contextEvent {
		ext.mistake(event + " has a function of its own; On is for the other events")
	} else if !isEvent(event) {
		ext.mistake("there is no event " + event)
	}
	return ext.add(&Hook{event: event, run: func(c *call) error {
		if err := c.event.parse(c.readInput()); err != nil {
			return err
		}
		return c.answer(handle(&c.event))
	}})
}

// Observe registers a handler that only looks. It is On with the answer None.
func Observe(event string, handle func(*Event)) *Hook {
	return On(event, func(e *Event) Result {
		handle(e)
		return None()
	})
}

func (c *call) answer(r Result) error {
	if !r.set {
		return answerText("the handler returned the zero Result; return weir.None() to leave the event as it is")
	}
	if r.err != nil {
		return r.err
	}
	for _, f := range r.fields {
		if f.Value == "" {
			continue
		}
		if _, err := scan.Value(string(f.Value)); err != nil {
			return &answerError{"answer " + f.Key, err}
		}
	}
	c.out = appendObject(c.out, r.fields)
	return nil
}

// answerText is an error that is only a text.
type answerText string

func (t answerText) Error() string { return string(t) }

package weir

import "weir/guest-sdk/go/internal/scan"

// Context is what the model is about to see, every message in full. With a long
// history its messages are megabytes that are copied and read for each model
// call: prefer OnContextTable.
type Context struct {
	Edits
	event    Event
	elements []scan.Member
}

// Message returns a message; Absent when there is none at the index.
func (c *Context) Message(index int) Value {
	if index < 0 || index >= len(c.elements) {
		return Value{}
	}
	return Value{c.elements[index].Value}
}

// Context is Event.Context.
func (c *Context) Context() Value { return c.event.Context() }

// OnContext registers the handler that decides what the model sees, in the full
// view. It changes nothing but by the methods of Edits; the history stays as it
// is. An error is a fault.
func OnContext(handle func(*Context) error) *Hook {
	return ext.add(&Hook{event: contextEvent, run: func(c *call) (err error) {
		x := &c.context
		if err := x.event.parse(c.readInput()); err != nil {
			return err
		}
		x.elements, err = scan.Elements(x.event.Get("messages").text, x.elements[:0])
		if err != nil {
			return &answerError{"the messages of the event", err}
		}
		x.reset(len(x.elements))
		if err := handle(x); err != nil {
			return err
		}
		c.out, err = x.append(c.out)
		return err
	}})
}

package agents

import (
	"strings"

	"weir/agentcore"
	"weir/engine/wire"
)

// unknownEvent is an event that the agent is not known to have: it may be a gate.
type unknownEvent string

func (e unknownEvent) Error() string {
	if e == "" {
		return "the event does not say what it is"
	}
	return "this version of weir does not know the event " + short(string(e))
}

// ignored says whether an event is in a list of names, parted by spaces, of those that the set is not asked about.
func ignored(list, name string) bool {
	for n := range strings.FieldsSeq(list) {
		if n == name {
			return true
		}
	}
	return false
}

// startReason is the ABI's word for how a session started.
func startReason(source string) string {
	switch source {
	case "resume", "fork":
		return source
	case "clear", "new":
		return "new"
	case "compact":
		return "reload"
	default:
		return "startup"
	}
}

// compactReason is the ABI's word for why a session is compacted.
func compactReason(trigger string) string {
	if trigger == "manual" {
		return "manual"
	}
	return "threshold"
}

// setCall fills in a tool call, from a native name and arguments.
func (ev *Event) setCall(table map[string]tool, name string, raw []byte) error {
	ev.input = raw
	var err error
	ev.Calls, err = lookup(table, name, raw)
	return err
}

// setResult fills in what a tool returned, of any shape.
func (ev *Event) setResult(raw []byte) {
	if len(raw) == 0 {
		raw = []byte("null")
	}
	ev.result = raw
	ev.texts = textSpans(raw)
	ev.Content = textBlocks(raw, ev.texts)
}

// setText fills in a result that is a text.
func (ev *Event) setText(text string) {
	ev.Content = []agentcore.Block{&agentcore.TextBlock{Text: text}}
}

// allText is what blocks say; never empty.
func allText(blocks []agentcore.Block) string {
	list, err := texts(blocks)
	if err != nil {
		return "[the result was withheld by weir: " + err.Error() + "]"
	}
	all := strings.Join(list, "\n")
	if strings.TrimSpace(all) == "" {
		return "[the result is empty after the extension set rewrote it]"
	}
	return all
}

// snakeEvent reads what the events of Claude Code and those of agents that follow it have in common.
func snakeEvent(in object, name string) *Event {
	return &Event{Name: name, Gate: true, Session: in.label("session_id"), CWD: in.label("cwd"), CallID: in.label("tool_use_id"), mode: in.label("permission_mode")}
}

// startEvent makes ev a session_start.
func (ev *Event) startEvent(in object) *Event {
	ev.Kind, ev.Gate, ev.Reason = wire.EventSessionStart, false, startReason(in.label("source"))
	return ev
}

// compactEvent makes ev a session_before_compact.
func (ev *Event) compactEvent(in object, gate bool) *Event {
	ev.Kind, ev.Gate, ev.Reason, ev.Text = wire.EventSessionBeforeCompact, gate, compactReason(in.label("trigger")), in.label("custom_instructions")
	return ev
}

// inputEvent makes ev what a person wrote.
func (ev *Event) inputEvent(in object) (*Event, error) {
	var err error
	ev.Kind = wire.EventInput
	ev.Text, err = in.text("prompt")
	return ev, err
}

// otherEvent is for events that are not mapped: those of the list pass, and nobody knows the rest.
func (ev *Event) otherEvent(list string) (*Event, error) {
	if !ignored(list, ev.Name) {
		return ev, unknownEvent(ev.Name)
	}
	ev.Gate = false
	return ev, nil
}

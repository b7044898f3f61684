package weir

import "strconv"

// Extension says what an extension is. The host shows it to the person who
// loads it.
type Extension struct {
	// Name is a lower-case letter followed by at most 63 lower-case letters,
	// digits and hyphens.
	Name string
	// Version is a semantic version, such as "1.0.0".
	Version     string
	Description string
	// Config is the JSON Schema of the settings; "" means none are declared.
	Config JSON
	// Capabilities names the grants asked for, each with the reason shown to
	// the person who decides. Using a capability function without a grant of
	// its name is a load error.
	Capabilities []Capability
}

// Capability is a grant that an extension asks for: "kv", "http", "read", "ui",
// "session", "journal", "clock" or "random".
type Capability struct{ Name, Reason string }

// Hook is a registered handler. Its methods add to what the description says of
// it and return it, for chaining.
type Hook struct {
	event    string
	run      func(*call) error
	tools    []string
	facts    []string
	table    bool
	tightens bool
}

// Tools limits the hook to tools whose name is one of the patterns; a * stands
// for any text, as in "mcp__*". For tool_call and tool_result only. Without it
// the hook sees all tools.
func (h *Hook) Tools(patterns ...string) *Hook {
	if h.event != toolCallEvent && h.event != toolResultEvent {
		ext.mistake("Tools is for tool_call and tool_result, not for " + h.event)
	}
	h.tools = append(h.tools, patterns...)
	return h
}

// Facts asks the host to work out, before it asks this hook, what the call is
// about: shell, paths, net, and for tool_result secrets as well. The handler
// finds them in ToolCall.Facts and ToolResult.Facts. For tool_call and
// tool_result only.
func (h *Hook) Facts(kinds ...string) *Hook {
	if h.event != toolCallEvent && h.event != toolResultEvent {
		ext.mistake("Facts is for tool_call and tool_result, not for " + h.event)
	}
	h.facts = append(h.facts, kinds...)
	return h
}

// BlockOnError demands that a fault of this hook counts against the event (the
// result is withheld, the run ends, the input is refused) where a set would
// otherwise pass over it. A tool_call is blocked by a fault in any case.
func (h *Hook) BlockOnError() *Hook {
	h.tightens = true
	return h
}

// registry is what init registered. The exports of a module take no argument
// that could carry it, so it is the one variable of the package, together with
// the call in progress.
type registry struct {
	about     Extension
	described bool
	hooks     []*Hook // in the order of registration
	tools     []Tool
	commands  []Command
	decision  *Hook // nil: nothing wants to hear what was decided
	mistakes  []string
}

var (
	ext     registry
	current call
)

func (r *registry) mistake(text string) { r.mistakes = append(r.mistakes, text) }

func (r *registry) add(h *Hook) *Hook {
	for _, other := range r.hooks {
		if other.event == h.event {
			r.mistake("two handlers for " + h.event)
		}
	}
	r.hooks = append(r.hooks, h)
	return h
}

// Describe says what the extension is. Call it once, in init.
func Describe(e Extension) {
	if ext.described {
		ext.mistake("Describe was called twice")
	}
	ext.described = true
	ext.about = e
}

// description writes the answer of weir_describe.
func (r *registry) description(b []byte) ([]byte, error) {
	mistakes := r.mistakes
	switch {
	case !r.described:
		mistakes = append(mistakes, "weir.Describe was not called in init")
	case !validName(r.about.Name):
		mistakes = append(mistakes, "the name "+strconv.Quote(r.about.Name)+" is not a lower-case letter and up to 63 of a-z, 0-9 and -")
	case r.about.Version == "":
		mistakes = append(mistakes, "the version is missing; write one such as 0.1.0")
	}
	if len(mistakes) > 0 {
		return b, &registrationError{mistakes}
	}

	b = append(b, `{"abi":1,"name":`...)
	b = appendWords(b, r.about.Name)
	b = append(b, `,"version":`...)
	b = appendWords(b, r.about.Version)
	b = append(b, `,"description":`...)
	b = appendWords(b, r.about.Description)
	b = append(b, `,"hooks":{`...)
	for i, h := range r.hooks {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendWords(b, h.event)
		b = append(b, ':')
		b = h.appendOptions(b)
	}
	b = append(b, '}')
	var err error
	if b, err = r.appendTools(b); err != nil {
		return b, err
	}
	if r.decision != nil {
		b = append(b, `,"decisions":`...)
		b = r.decision.appendOptions(b)
	}
	if r.about.Config != "" {
		b = append(b, `,"config":`...)
		if b, err = appendCheckedObject(b, "the schema of the settings", r.about.Config); err != nil {
			return b, err
		}
	}
	if len(r.about.Capabilities) > 0 {
		b = append(b, `,"capabilities":{`...)
		for i, c := range r.about.Capabilities {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendWords(b, c.Name)
			b = append(b, ':')
			b = appendWords(b, c.Reason)
		}
		b = append(b, '}')
	}
	return append(b, '}'), nil
}

func (h *Hook) appendOptions(b []byte) []byte {
	var options []Field
	if len(h.tools) > 0 {
		options = append(options, Field{"tools", Strings(h.tools...)})
	}
	if len(h.facts) > 0 {
		options = append(options, Field{"facts", Strings(h.facts...)})
	}
	if h.table {
		options = append(options, Field{"view", `"table"`})
	}
	if h.tightens {
		options = append(options, Field{"onError", `"block"`})
	}
	return appendObject(b, options)
}

func validName(s string) bool {
	for i, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z':
		case i > 0 && ('0' <= c && c <= '9' || c == '-'):
		default:
			return false
		}
	}
	return 1 <= len(s) && len(s) <= 64
}

// registrationError lists what is wrong with the calls made in init.
type registrationError struct{ mistakes []string }

func (e *registrationError) Error() string {
	text := "wrong registration"
	for i, m := range e.mistakes {
		if i == 0 {
			text += ": " + m
		} else {
			text += "; " + m
		}
	}
	return text
}

package wasmhost

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Limits of the capability session. Of entries and messages a page holds up to maxSessionPage bytes, but at least one. What
// one guest does to the session, which mostly adds to its file, is bounded in all, for as long as its engine lives.
const (
	maxSessionName    = 512 // of names, labels, custom types
	maxSessionContent = 256 << 10
	maxSessionItems   = 1000
	maxSessionPage    = 8 << 20
	maxSessionChanges = 10_000
	maxSessionBytes   = 16 << 20
)

// UseSession is the capability session, as far as rights (read, append, send, control) reach. hold gives the session at each
// request; nil, or a nil answer, means that there is none. The operations, by right:
//
//	read     {"op":"state"}                                    a [SessionState]
//	         {"op":"entries","after":"1f","limit":100}         {"entries":[…],"more":false}   after "" or left out: from the first
//	         {"op":"entry","id":"1f"}                          {"entry":{…}}
//	         {"op":"messages","from":0,"limit":100}            {"messages":[…],"total":12}    what the model works with
//	         {"op":"tools"}                                    {"tools":[{"name":"bash","description":"…","active":true}]}
//	append   {"op":"append","customType":"todo","data":{}}     {"id":"2a"}                    data may be left out
//	         {"op":"label","entryId":"1f","label":"here"}      {}                             "" takes it away
//	         {"op":"name","name":"a walk"}                     {}                             "" takes it away
//	send     {"op":"send","customType":"note","content":"…"}   {}                             display, details, trigger, deliver may be added
//	         {"op":"prompt","content":"…","deliver":"steer"}   {}                             deliver: needed during a run
//	control  {"op":"set_tools","tools":["read"]}               {"tools":["read"]}             unknown names are left out
//	         {"op":"set_model","provider":"p","id":"m"}        {}
//	         {"op":"set_thinking_level","level":"low"}         {"level":"low"}                as far as the model allows
//	         {"op":"abort"}                                    {}
//	         {"op":"compact","instructions":"…"}               {}                             instructions may be left out
//	         {"op":"new"}                                      {}
//	         {"op":"fork","entryId":"1f","position":"before"}  {}                             or "at"
//	         {"op":"navigate","entryId":"1f"}                  {}                             summarize, instructions, replace, label may be added
//
// The last five begin when the guest's call is over, since they end or wait for the call; state says at once that the run is
// aborted. limit is 1 to 1000, 100 when it is left out; a page has 8 MiB at most, but one item at least. Names, labels and types
// have 512 bytes at most, content, data and details 256 KiB and 64 levels. What a guest does to the session is bounded in all: 10,000
// requests of other rights than read, of 16 MiB.
func UseSession(rights []string, hold func() Session) Capability {
	s := &sessionCapability{rights: slices.Clone(rights), hold: hold}
	return Capability{Handle: s.handle}
}

type sessionCapability struct {
	rights []string
	hold   func() Session
	// aborting counts the aborts that wait for the end of the guest's call.
	aborting atomic.Int32

	mu             sync.Mutex
	changes, bytes int // by the guest so far
}

// sessionOps are the operations and the right that each needs, in the order of the documentation.
func sessionOps() [][2]string {
	return [][2]string{
		{"state", "read"},
		{"entries", "read"},
		{"entry", "read"},
		{"messages", "read"},
		{"tools", "read"},
		{"append", "append"},
		{"label", "append"},
		{"name", "append"},
		{"send", "send"},
		{"prompt", "send"},
		{"set_tools", "control"},
		{"set_model", "control"},
		{"set_thinking_level", "control"},
		{"abort", "control"},
		{"compact", "control"},
		{"new", "control"},
		{"fork", "control"},
		{"navigate", "control"},
	}
}

func (c *sessionCapability) handle(ctx context.Context, raw []byte) ([]byte, error) {
	r, err := parseRequest(raw)
	if err != nil {
		return nil, err
	}
	right, err := rightOf(r)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(c.rights, right) {
		var line []string
		for _, known := range []string{"read", "append", "send", "control"} {
			if known == right || slices.Contains(c.rights, known) {
				line = append(line, `"`+known+`"`)
			}
		}
		return nil, fmt.Errorf("%s: it needs the right %q, which is not granted; to grant it, write in its [extension.grant]: session = [%s]", r.op, right, strings.Join(line, ", "))
	}
	var s Session
	if c.hold != nil {
		s = c.hold()
	}
	if s == nil {
		return nil, fmt.Errorf("%s: %w", r.op, errNoSession)
	}
	out, err := c.perform(ctx, s, r, right, len(raw))
	if err != nil {
		return nil, err
	}
	return respond(out)
}

var errNoSession = errors.New("there is no session here: the extension is called by a program that keeps none")

func rightOf(r *request) (string, error) {
	var names []string
	for _, op := range sessionOps() {
		if op[0] == r.op {
			return op[1], nil
		}
		names = append(names, op[0])
	}
	return "", r.unknown(names...)
}

// perform reads the rest of the request and does it. An error has the operation before it.
func (c *sessionCapability) perform(ctx context.Context, s Session, r *request, right string, size int) (any, error) {
	var do func() (any, error)
	switch right {
	case "read":
		do = c.read(s, r)
	case "append":
		do = addTo(s, r)
	case "send":
		do = sendTo(s, r)
	default:
		do = c.control(ctx, s, r)
	}
	if err := r.done(); err != nil {
		return nil, err
	}
	if right != "read" {
		if err := c.charge(size); err != nil {
			return nil, fmt.Errorf("%s: %w", r.op, err)
		}
	}
	out, err := do()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.op, err)
	}
	return out, nil
}

// charge counts what a guest does to the session.
func (c *sessionCapability) charge(size int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes >= maxSessionChanges || c.bytes+size > maxSessionBytes {
		return fmt.Errorf("the extension has changed the session %d times, with %d bytes; the limits are %d and %d", c.changes, c.bytes, maxSessionChanges, maxSessionBytes)
	}
	c.changes++
	c.bytes += size
	return nil
}

// empty is the answer of operations that say nothing.
type empty struct{}

func (c *sessionCapability) read(s Session, r *request) func() (any, error) {
	switch r.op {
	case "state":
		return func() (any, error) {
			state, err := s.State()
			if c.aborting.Load() > 0 && state.Aborted != nil {
				yes := true
				state.Aborted = &yes
			}
			if state.ContextUsage == nil {
				state.ContextUsage = json.RawMessage("null")
			}
			return state, err
		}
	case "entries":
		after, most := r.optional("after"), r.limit()
		return func() (any, error) {
			entries, more, err := s.Entries(after, most)
			page := onePage(entries)
			return struct {
				Entries []json.RawMessage `json:"entries"`
				More    bool              `json:"more"`
			}{page, more || len(page) < len(entries)}, err
		}
	case "entry":
		id := r.text("id")
		return func() (any, error) {
			entry, err := s.Entry(id)
			return struct {
				Entry json.RawMessage `json:"entry"`
			}{entry}, err
		}
	case "messages":
		from, most := r.number("from", 0, 0, 1<<31-1), r.limit()
		return func() (any, error) {
			messages, total, err := s.Messages(from, most)
			return struct {
				Messages []json.RawMessage `json:"messages"`
				Total    int               `json:"total"`
			}{onePage(messages), total}, err
		}
	default:
		return func() (any, error) {
			tools, err := s.Tools()
			if tools == nil {
				tools = []SessionTool{}
			}
			return struct {
				Tools []SessionTool `json:"tools"`
			}{tools}, err
		}
	}
}

// onePage is as much of a list as one answer holds.
func onePage(list []json.RawMessage) []json.RawMessage {
	size := 0
	for i, item := range list {
		if size += len(item); i > 0 && size > maxSessionPage {
			return list[:i]
		}
	}
	if list == nil {
		list = []json.RawMessage{}
	}
	return list
}

func addTo(s Session, r *request) func() (any, error) {
	switch r.op {
	case "append":
		customType, data := r.name("customType"), r.value("data")
		if r.err == nil && customType == "" {
			r.fail(`key "customType" is empty`)
		}
		return func() (any, error) {
			id, err := s.AppendEntry(customType, data)
			return struct {
				ID string `json:"id"`
			}{id}, err
		}
	case "label":
		entry, label := r.text("entryId"), r.name("label")
		return func() (any, error) { return empty{}, s.SetLabel(entry, label) }
	default:
		name := r.name("name")
		return func() (any, error) { return empty{}, s.SetName(name) }
	}
}

func sendTo(s Session, r *request) func() (any, error) {
	if r.op == "prompt" {
		content, deliver := r.content(), r.choice("deliver", "", "steer", "followUp")
		return func() (any, error) { return empty{}, s.SendUserMessage(content, deliver) }
	}
	m := SessionMessage{CustomType: r.name("customType"), Content: r.content(), Details: r.value("details"), Deliver: r.choice("deliver", "", "steer", "followUp", "nextTurn")}
	display := r.flag("display")
	m.Display, m.Trigger = display != nil && *display, r.flag("trigger")
	return func() (any, error) { return empty{}, s.SendMessage(m) }
}

func (c *sessionCapability) control(ctx context.Context, s Session, r *request) func() (any, error) {
	later := func(ask func() (func(), error)) func() (any, error) {
		return func() (any, error) {
			begin, err := ask()
			if err == nil {
				AfterCall(ctx, begin)
			}
			return empty{}, err
		}
	}
	switch r.op {
	case "set_tools":
		names := r.texts("tools")
		return func() (any, error) {
			if err := s.SetTools(names); err != nil {
				return nil, err
			}
			tools, err := s.Tools()
			active := []string{}
			for _, t := range tools {
				if t.Active {
					active = append(active, t.Name)
				}
			}
			return struct {
				Tools []string `json:"tools"`
			}{active}, err
		}
	case "set_model":
		provider, id := r.name("provider"), r.name("id")
		return func() (any, error) { return empty{}, s.SetModel(ctx, provider, id) }
	case "set_thinking_level":
		level := r.name("level")
		return func() (any, error) {
			set, err := s.SetThinkingLevel(level)
			return struct {
				Level string `json:"level"`
			}{set}, err
		}
	case "abort":
		return later(func() (func(), error) {
			begin, err := s.Abort()
			if err != nil {
				return nil, err
			}
			c.aborting.Add(1)
			return func() {
				begin()
				c.aborting.Add(-1)
			}, nil
		})
	case "compact":
		instructions := r.optional("instructions")
		return later(func() (func(), error) { return s.Compact(instructions) })
	case "new":
		return later(s.NewSession)
	case "fork":
		entry, position := r.text("entryId"), r.choice("position", "before", "at")
		return later(func() (func(), error) { return s.Fork(entry, position == "at") })
	default:
		entry := r.text("entryId")
		how := SessionNavigation{Instructions: r.optional("instructions")}
		summarize, replace := r.flag("summarize"), r.flag("replace")
		how.Summarize, how.Replace = summarize != nil && *summarize, replace != nil && *replace
		if _, ok := r.fields["label"]; ok {
			how.Label = r.name("label")
		}
		return later(func() (func(), error) { return s.Navigate(entry, how) })
	}
}

// name is a short text that must be there.
func (r *request) name(key string) string {
	s := r.text(key)
	if len(s) > maxSessionName {
		r.fail("key %q: %d bytes, more than the limit of %d", key, len(s), maxSessionName)
	}
	return s
}

func (r *request) limit() int { return r.number("limit", 100, 1, maxSessionItems) }

// value is any JSON, nil when it is left out.
func (r *request) value(key string) json.RawMessage {
	raw, ok := r.take(key)
	if !ok {
		return nil
	}
	if len(raw) > maxSessionContent {
		r.fail("key %q: %d bytes, more than the limit of %d", key, len(raw), maxSessionContent)
	} else if err := checkValue(raw); err != nil {
		r.fail("key %q: %w", key, err)
	}
	return bytes.Clone(raw) // the request's memory is used again
}

// content is the content of a message: a text, or a list of blocks.
func (r *request) content() json.RawMessage {
	if _, ok := r.fields["content"]; !ok {
		r.fail(`key "content" is missing`)
	}
	raw := r.value("content")
	if len(raw) > 0 && raw[0] != '"' && raw[0] != '[' {
		r.fail(`key "content": want a text or a list of blocks`)
	}
	return raw
}

package scripted

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"weir/agentcore"
	"weir/engine/set"
)

// Parse reads a script of at most 1 MiB. path is its name in errors and messages; no file is opened. The error is [set.Errors], with
// all mistakes of the text, or with the one that made it no TOML.
func Parse(path, text string) (*Script, error) {
	doc, err := set.ParseDocument(path, []byte(text))
	if err != nil {
		return nil, err
	}
	p := &parser{doc: doc, script: &Script{name: path, model: defaultModel()}, ids: map[string]string{}}
	p.root(table{parser: p, values: doc.Values})
	if len(p.errs) > 0 {
		p.errs.Sort()
		return nil, p.errs
	}
	return p.script, nil
}

type parser struct {
	doc    *set.Document
	script *Script
	errs   set.Errors
	ids    map[string]string     // call id -> key of the call
	unset  []*agentcore.ToolCall // calls that get their ids when all given ones are known
}

func (p *parser) fail(at set.Path, hint, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if len(at) > 0 {
		message = at.String() + ": " + message
	}
	p.errs = append(p.errs, p.doc.At(at...).Error(at.String(), message, hint))
}

func (p *parser) root(t table) {
	t.allow("model", "response")
	if m, ok := t.table("model"); ok {
		p.model(m)
	}
	responses := t.tables("response")
	for _, r := range responses {
		p.response(r)
	}
	if _, given := t.values["response"]; !given {
		p.fail(nil, "start one with a line [[response]]", "the script has no response")
	}
	number := 0
	for _, call := range p.unset {
		for call.ID == "" {
			number++
			if id := fmt.Sprintf("call_%d", number); p.ids[id] == "" {
				call.ID = id
			}
		}
	}
}

func (p *parser) model(t table) {
	t.allow("id", "provider", "api", "context_window", "max_tokens")
	m := &p.script.model
	if id := t.text("id"); id != "" {
		m.ID, m.Name = id, id
	}
	if provider := t.text("provider"); provider != "" {
		m.Provider = provider
	}
	if api := t.text("api"); api != "" {
		m.API = api
	}
	m.ContextWindow = t.integer("context_window", m.ContextWindow, 1)
	m.MaxTokens = t.integer("max_tokens", m.MaxTokens, 1)
}

func (p *parser) response(t table) {
	before := len(p.errs)
	t.allow("text", "thinking", "call", "block", "expect", "delay", "pause", "chunk", "stop", "usage", "error")
	r := response{
		line: p.doc.At(t.at...).Line, delay: t.duration("delay"), pause: t.duration("pause"), chunk: int(t.integer("chunk", 0, 1)),
	}
	if pattern := t.text("expect"); pattern != "" {
		var err error
		if r.expect, err = regexp.Compile(pattern); err != nil {
			p.fail(t.at.In("expect"), "", "not a regular expression: %v", err)
		}
	}
	if thinking := t.text("thinking"); thinking != "" {
		r.blocks = append(r.blocks, block{thinking: &thinking})
	}
	if text := t.text("text"); text != "" {
		r.blocks = append(r.blocks, block{text: &text})
	}
	for _, c := range t.tables("call") {
		c.allow("tool", "args", "id")
		r.blocks = append(r.blocks, block{call: p.call(c)})
	}
	if t.has("block") {
		if len(r.blocks) > 0 {
			p.fail(t.at.In("block"), "put them into blocks of their own", "blocks stand beside text, thinking or call")
		}
		for _, b := range t.tables("block") {
			r.blocks = append(r.blocks, p.block(b))
		}
	}
	if usage, ok := t.table("usage"); ok {
		r.usage = p.usage(usage)
	}
	if failed, ok := t.table("error"); ok {
		r.fail = p.failure(failed)
	}
	r.stop = p.stop(t, &r)
	if len(r.blocks) == 0 && r.fail == nil && len(p.errs) == before {
		p.fail(t.at, "give it text, thinking, a call or an error", "the response is empty")
	}
	p.script.responses = append(p.script.responses, r)
}

func (p *parser) block(t table) block {
	b := block{delay: t.duration("delay")}
	kinds := 0
	if text := t.text("text"); t.has("text") {
		b.text = &text
		kinds++
	}
	if thinking := t.text("thinking"); t.has("thinking") {
		b.thinking = &thinking
		kinds++
	}
	if t.has("tool") {
		t.allow("tool", "args", "id", "delay", "text", "thinking")
		b.call = p.call(t)
		kinds++
	} else {
		t.allow("text", "thinking", "tool", "delay")
	}
	if kinds != 1 {
		p.fail(t.at, "", "a block has exactly one of text, thinking and tool; this one has %d", kinds)
	}
	return b
}

func (p *parser) call(t table) *agentcore.ToolCall {
	call := &agentcore.ToolCall{ID: t.text("id"), Name: t.text("tool"), Arguments: emptyArguments()}
	if !t.has("tool") {
		p.fail(t.at, "", "the call names no tool")
	}
	if args, given := t.values["args"]; given {
		if object, ok := args.(map[string]any); !ok {
			p.fail(t.at.In("args"), "write them as a table: args = { … }", "the arguments are not an object but %s", kindOf(args))
		} else if raw, err := encodeArguments(object); err != nil {
			p.fail(t.at.In("args"), "", "%v", err)
		} else {
			call.Arguments = raw
		}
	}
	switch other, taken := p.ids[call.ID]; {
	case call.ID == "":
		p.unset = append(p.unset, call)
	case taken:
		p.fail(t.at.In("id"), "", "the id %q is %s's already", call.ID, other)
	default:
		p.ids[call.ID] = t.at.String()
	}
	return call
}

func (p *parser) usage(t table) agentcore.Usage {
	t.allow("input", "output", "cache_read", "cache_write")
	u := agentcore.Usage{
		Input: t.integer("input", 0, 0), Output: t.integer("output", 0, 0),
		CacheRead: t.integer("cache_read", 0, 0), CacheWrite: t.integer("cache_write", 0, 0),
	}
	u.TotalTokens = u.Input + u.Output + u.CacheRead + u.CacheWrite
	return u
}

func (p *parser) failure(t table) *failure {
	t.allow("message", "reason")
	f := &failure{message: t.text("message"), reason: agentcore.StopError}
	if f.message == "" && !t.wrong("message") {
		p.fail(t.at, "", "the error has no message")
	}
	switch reason := t.text("reason"); reason {
	case "", "error":
	case "aborted":
		f.reason = agentcore.StopAborted
	default:
		p.fail(t.at.In("reason"), "", "the reason is %q; it is error or aborted", reason)
	}
	return f
}

func (p *parser) stop(t table, r *response) agentcore.StopReason {
	switch stop := t.text("stop"); stop {
	case "stop", "length", "toolUse":
		if t.has("error") {
			p.fail(t.at.In("stop"), "leave one of the two out", "a response with an error has no other reason to stop")
		}
		return agentcore.StopReason(stop)
	case "":
	default:
		p.fail(t.at.In("stop"), "", "the stop reason is %q; it is stop, length or toolUse", stop)
	}
	for _, b := range r.blocks {
		if b.call != nil {
			return agentcore.StopToolUse
		}
	}
	return agentcore.StopStop
}

// table is a TOML table.
type table struct {
	at     set.Path
	parser *parser
	values map[string]any
}

func (t table) has(key string) bool { _, ok := t.values[key]; return ok }

// allow reports keys that are not known here.
func (t table) allow(known ...string) {
	for _, key := range slices.Sorted(maps.Keys(t.values)) {
		if !slices.Contains(known, key) {
			hint := cmp.Or(set.Suggest(key, known), "known here: "+strings.Join(known, ", "))
			t.parser.fail(t.at.In(key), hint, "unknown key %q", key)
		}
	}
}

// wrong tells whether the key is there with a value that is no string; text has reported it.
func (t table) wrong(key string) bool {
	value, given := t.values[key]
	_, ok := value.(string)
	return given && !ok
}

func (t table) text(key string) string {
	if t.wrong(key) {
		t.parser.fail(t.at.In(key), "", "must be a string, not %s", kindOf(t.values[key]))
	}
	s, _ := t.values[key].(string)
	return s
}

func (t table) integer(key string, missing, low int64) int64 {
	value, given := t.values[key]
	if !given {
		return missing
	}
	n, ok := value.(int64)
	if !ok {
		t.parser.fail(t.at.In(key), "", "must be a whole number, not %s", kindOf(value))
		return missing
	}
	const high = 1 << 40
	if n < low || n > high {
		t.parser.fail(t.at.In(key), "", "is %d; it must be from %d to %d", n, low, int64(high))
		return missing
	}
	return n
}

func (t table) duration(key string) time.Duration {
	text := t.text(key)
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > time.Hour {
		t.parser.fail(t.at.In(key), `such as "50ms"`, "%q is not a duration from 0 to 1h", text)
		return 0
	}
	return d
}

func (t table) table(key string) (table, bool) {
	value, given := t.values[key]
	values, ok := value.(map[string]any)
	if given && !ok {
		t.parser.fail(t.at.In(key), "", "must be a table, not %s", kindOf(value))
	}
	return table{t.at.In(key), t.parser, values}, ok
}

// tables are the elements of a list of tables, which TOML has two notations for.
func (t table) tables(name string) []table {
	at := t.at.In(name)
	var list []table
	add := func(values map[string]any) {
		list = append(list, table{at.Item(len(list)), t.parser, values})
	}
	switch value := t.values[name].(type) {
	case nil:
	case []map[string]any:
		for _, values := range value {
			add(values)
		}
	case []any:
		for _, element := range value {
			values, ok := element.(map[string]any)
			if !ok {
				t.parser.fail(at, "", "must hold tables only, not %s", kindOf(element))
				return nil
			}
			add(values)
		}
	default:
		t.parser.fail(at, fmt.Sprintf("start each with a line [[%s]]", plain(at.String())), "must be a list of tables, not %s", kindOf(value))
	}
	return list
}

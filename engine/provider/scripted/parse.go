package scripted

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"weir/agentcore"
)

// maxScript is the size of a script in bytes. Ours: far above any that a person writes.
const maxScript = 4 << 20

// Parse reads a script. path is its name in errors and messages; no file is opened. The error is [Errors], with all
// mistakes of the text, or with the one that made it no TOML.
func Parse(path, text string) (*Script, error) {
	p := &parser{file: path, script: &Script{name: path, model: defaultModel()}, ids: map[string]string{}}
	if len(text) > maxScript {
		return nil, Errors{{File: path, Line: 1, Column: 1, Message: fmt.Sprintf("the script has %d bytes; at most %d are read", len(text), maxScript)}}
	}
	found, tooDeep := locate(text)
	if tooDeep != nil {
		return nil, Errors{{
			File: path, Line: tooDeep.line, Column: tooDeep.column,
			Message: fmt.Sprintf("nested more than %d levels deep", maxNesting),
		}}
	}
	p.places = found
	var document map[string]any
	if _, err := toml.Decode(text, &document); err != nil {
		return nil, Errors{syntaxError(path, err)}
	}
	p.root(table{parser: p, values: document})
	if len(p.errs) > 0 {
		p.errs.sort()
		return nil, p.errs
	}
	return p.script, nil
}

func syntaxError(path string, err error) *Error {
	e := &Error{File: path, Line: 1, Column: 1, Message: err.Error()}
	var parse toml.ParseError
	if errors.As(err, &parse) {
		e.Line, e.Column = max(1, parse.Position.Line), max(1, parse.Position.Col) // 0 at an early end of the text
		e.Message = "not valid TOML: " + parse.Message
	}
	return e
}

type parser struct {
	file   string
	script *Script
	places positions
	errs   Errors
	ids    map[string]string     // call id -> key of the call
	unset  []*agentcore.ToolCall // calls that get their ids when all given ones are known
}

func (p *parser) fail(key, hint, format string, args ...any) {
	at := p.places.of(key)
	p.errs = append(p.errs, &Error{
		File: p.file, Line: at.line, Column: at.column, Key: key, Message: fmt.Sprintf(format, args...), Hint: hint,
	})
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
		p.fail("", "start one with a line [[response]]", "the script has no response")
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
		line: p.places.of(t.key).line, delay: t.duration("delay"), pause: t.duration("pause"), chunk: int(t.integer("chunk", 0, 1)),
	}
	if pattern := t.text("expect"); pattern != "" {
		var err error
		if r.expect, err = regexp.Compile(pattern); err != nil {
			p.fail(join(t.key, "expect"), "", "not a regular expression: %v", err)
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
			p.fail(join(t.key, "block"), "put them into blocks of their own", "blocks stand beside text, thinking or call")
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
		p.fail(t.key, "give it text, thinking, a call or an error", "the response is empty")
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
		p.fail(t.key, "", "a block has exactly one of text, thinking and tool; this one has %d", kinds)
	}
	return b
}

func (p *parser) call(t table) *agentcore.ToolCall {
	call := &agentcore.ToolCall{ID: t.text("id"), Name: t.text("tool"), Arguments: emptyArguments()}
	if !t.has("tool") {
		p.fail(t.key, "", "the call names no tool")
	}
	if args, given := t.values["args"]; given {
		if object, ok := args.(map[string]any); !ok {
			p.fail(join(t.key, "args"), "write them as a table: args = { … }", "the arguments are not an object but %s", kindOf(args))
		} else if raw, err := encodeArguments(object); err != nil {
			p.fail(join(t.key, "args"), "", "%v", err)
		} else {
			call.Arguments = raw
		}
	}
	switch other, taken := p.ids[call.ID]; {
	case call.ID == "":
		p.unset = append(p.unset, call)
	case taken:
		p.fail(join(t.key, "id"), "", "the id %q is %s's already", call.ID, other)
	default:
		p.ids[call.ID] = t.key
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
		p.fail(t.key, "", "the error has no message")
	}
	switch reason := t.text("reason"); reason {
	case "", "error":
	case "aborted":
		f.reason = agentcore.StopAborted
	default:
		p.fail(join(t.key, "reason"), "", "the reason is %q; it is error or aborted", reason)
	}
	return f
}

func (p *parser) stop(t table, r *response) agentcore.StopReason {
	switch stop := t.text("stop"); stop {
	case "stop", "length", "toolUse":
		if t.has("error") {
			p.fail(join(t.key, "stop"), "leave one of the two out", "a response with an error has no other reason to stop")
		}
		return agentcore.StopReason(stop)
	case "":
	default:
		p.fail(join(t.key, "stop"), "", "the stop reason is %q; it is stop, length or toolUse", stop)
	}
	for _, b := range r.blocks {
		if b.call != nil {
			return agentcore.StopToolUse
		}
	}
	return agentcore.StopStop
}

// table is a TOML table and its key.
type table struct {
	parser *parser
	key    string
	values map[string]any
}

func (t table) has(key string) bool { _, ok := t.values[key]; return ok }

// allow reports keys that are not known here.
func (t table) allow(known ...string) {
	for _, key := range slices.Sorted(maps.Keys(t.values)) {
		if !slices.Contains(known, key) {
			hint := "known here: " + strings.Join(known, ", ")
			if near := nearest(key, known); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			t.parser.fail(join(t.key, key), hint, "unknown key %q", key)
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
		t.parser.fail(join(t.key, key), "", "must be a string, not %s", kindOf(t.values[key]))
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
		t.parser.fail(join(t.key, key), "", "must be a whole number, not %s", kindOf(value))
		return missing
	}
	const high = 1 << 40
	if n < low || n > high {
		t.parser.fail(join(t.key, key), "", "is %d; it must be from %d to %d", n, low, int64(high))
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
		t.parser.fail(join(t.key, key), `such as "50ms"`, "%q is not a duration from 0 to 1h", text)
		return 0
	}
	return d
}

func (t table) table(key string) (table, bool) {
	value, given := t.values[key]
	values, ok := value.(map[string]any)
	if given && !ok {
		t.parser.fail(join(t.key, key), "", "must be a table, not %s", kindOf(value))
	}
	return table{t.parser, join(t.key, key), values}, ok
}

// tables are the elements of a list of tables, which TOML has two notations for.
func (t table) tables(name string) []table {
	key := join(t.key, name)
	var list []table
	add := func(values map[string]any) {
		list = append(list, table{t.parser, fmt.Sprintf("%s[%d]", key, len(list)+1), values})
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
				t.parser.fail(key, "", "must hold tables only, not %s", kindOf(element))
				return nil
			}
			add(values)
		}
	default:
		t.parser.fail(key, fmt.Sprintf("start each with a line [[%s]]", plain(key)), "must be a list of tables, not %s", kindOf(value))
	}
	return list
}

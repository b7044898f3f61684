package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// object is a JSON object under its exact keys. encoding/json would take "Path" for "path" and the last of two equal keys,
// so that what is judged could be something else than what the agent runs.
type object map[string]json.RawMessage

func parseObject(raw []byte) (object, error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("it is not valid UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return nil, errors.New("it is not a JSON object")
	}
	o := object{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("it is not valid JSON: %w", err)
		}
		key, _ := token.(string) // a key is always a string: the decoder saw to it
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, fmt.Errorf("%q is not valid JSON: %w", short(key), err)
		}
		if _, twice := o[key]; twice {
			return nil, fmt.Errorf("%q is given twice", short(key))
		}
		o[key] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("it is not valid JSON: %w", err)
	}
	if dec.More() {
		return nil, errors.New("there is more than one JSON object")
	}
	return o, nil
}

// has says whether there is a value, other than null.
func (o object) has(key string) bool {
	v, ok := o[key]
	return ok && string(v) != "null"
}

// text is a text; "" when it is absent. What is no text is an error.
func (o object) text(key string) (string, error) {
	if !o.has(key) {
		return "", nil
	}
	var s string
	if err := json.Unmarshal(o[key], &s); err != nil {
		return "", fmt.Errorf("%q is not a text", key)
	}
	return s, nil
}

// label is a text that nothing is decided by: what is no text counts as absent.
func (o object) label(key string) string {
	s, err := o.text(key)
	if err != nil {
		return ""
	}
	return s
}

// call is the tool and the arguments of an event that agents with names like tool_input send.
func (o object) call() (tool string, raw json.RawMessage, err error) {
	if tool, err = o.text("tool_name"); err != nil {
		return "", nil, err
	}
	raw, err = o.arguments("tool_input")
	return tool, raw, err
}

// arguments are a tool's: an object, or one in a text. Absent, null and an empty text are no arguments.
func (o object) arguments(key string) (json.RawMessage, error) {
	if !o.has(key) {
		return json.RawMessage("{}"), nil
	}
	raw := o[key]
	if raw[0] == '"' {
		s, err := o.text(key)
		if err != nil {
			return nil, err
		}
		if s == "" {
			return json.RawMessage("{}"), nil
		}
		raw = json.RawMessage(s)
	}
	if _, err := parseObject(raw); err != nil {
		return nil, fmt.Errorf("the tool's arguments (%q): %w", key, err)
	}
	return raw, nil
}

// encode writes JSON in which everything that is not printable is escaped.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // only maps, texts and raw values that were valid JSON are encoded here; Run answers for a panic
	}
	var out []byte
	for _, r := range strings.TrimSuffix(b.String(), "\n") {
		switch {
		case unicode.IsPrint(r):
			out = utf8.AppendRune(out, r)
		case r < 0x10000:
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		}
	}
	return out
}

// maxReason is the longest reason, in bytes: Claude Code moves texts over 10,000 characters to a file.
const maxReason = 4000

// clean makes a reason harmless for a terminal and short: what is not printable is shown as an escape.
func clean(s string) string { return printable(strings.TrimSpace(s), maxReason) }

// cleanResult makes a result harmless for a terminal, at its full length.
func cleanResult(s string) string { return printable(s, len(s)*len(`\u0000`)+1) }

func printable(s string, most int) string {
	var b strings.Builder
	for _, r := range s {
		if b.Len() >= most {
			b.WriteString(" …")
			break
		}
		switch {
		case r == '\n' || r != unicode.ReplacementChar && unicode.IsPrint(r):
			b.WriteRune(r)
		case r == '\t':
			b.WriteByte(' ')
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// short is a name from an event, for an error.
func short(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return s
}

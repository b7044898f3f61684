package wasmhost

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxValueDepth is how deep a value may be that is kept or handed on.
const maxValueDepth = 64

// request is what a guest asks a capability for: a JSON object {"op":…,…}. It is read strictly, as everything from a
// guest: keys are exact, none may be unknown or given twice, and texts are valid UTF-8. The readers take a key each;
// done then finds what was not asked for. The first problem is kept, so that callers look once.
type request struct {
	op     string
	fields map[string]json.RawMessage
	known  []string
	err    error
}

func parseRequest(raw []byte) (*request, error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("the request is not valid UTF-8")
	}
	fields, err := parseObject(raw)
	if err != nil {
		return nil, fmt.Errorf("the request: %w", err)
	}
	r := &request{fields: fields}
	r.op = r.text("op")
	if r.err != nil {
		return nil, r.err
	}
	return r, nil
}

// parseObject reads one JSON object whose keys are all different.
func parseObject(raw []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("want a JSON object")
	}
	fields := map[string]json.RawMessage{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("malformed JSON: %w", err)
		}
		key, ok := t.(string)
		if !ok {
			return nil, errors.New("malformed JSON")
		}
		if _, twice := fields[key]; twice {
			return nil, fmt.Errorf("key %q is given twice", key)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, fmt.Errorf("malformed JSON: %w", err)
		}
		fields[key] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("malformed JSON: %w", err)
	}
	if d.More() {
		return nil, errors.New("something stands behind the object")
	}
	return fields, nil
}

func (r *request) take(key string) (json.RawMessage, bool) {
	r.known = append(r.known, key)
	v, ok := r.fields[key]
	return v, ok
}

func (r *request) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// text is a text that must be there.
func (r *request) text(key string) string {
	if _, ok := r.fields[key]; !ok {
		r.fail("key %q is missing", key)
	}
	return r.optional(key)
}

// optional is a text that may be left out.
func (r *request) optional(key string) string {
	v, ok := r.take(key)
	if !ok {
		return ""
	}
	s, err := parseText(v)
	if err != nil {
		r.fail("key %q: %w", key, err)
	}
	return s
}

// texts is an array of texts that must be there.
func (r *request) texts(key string) []string {
	v, ok := r.take(key)
	if !ok {
		r.fail("key %q is missing", key)
		return nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(v, &list); err != nil || list == nil {
		r.fail("key %q: want an array of texts", key)
		return nil
	}
	out := make([]string, len(list))
	for i, item := range list {
		s, err := parseText(item)
		if err != nil {
			r.fail("key %q: %w", key, err)
		}
		out[i] = s
	}
	return out
}

// named is an object of texts that may be left out.
func (r *request) named(key string) map[string]string {
	v, ok := r.take(key)
	if !ok {
		return nil
	}
	fields, err := parseObject(v)
	if err != nil {
		r.fail("key %q: %w", key, err)
		return nil
	}
	out := make(map[string]string, len(fields))
	for name, value := range fields {
		s, err := parseText(value)
		if err != nil {
			r.fail("key %q: %q: %w", key, name, err)
		}
		out[name] = s
	}
	return out
}

// bytes is a text in base64 that may be left out.
func (r *request) bytes(key string) []byte {
	b, err := base64.StdEncoding.DecodeString(r.optional(key))
	if err != nil {
		r.fail("key %q: not base64", key)
	}
	return b
}

// choice is one of some texts; the first stands for a key that is left out.
func (r *request) choice(key string, choices ...string) string {
	if _, ok := r.fields[key]; !ok {
		r.known = append(r.known, key)
		return choices[0]
	}
	s := r.text(key)
	if !slices.Contains(choices, s) || s == "" {
		r.fail("key %q: unknown %q; there are %s", key, s, strings.Join(slices.DeleteFunc(slices.Clone(choices), func(c string) bool { return c == "" }), ", "))
	}
	return s
}

// flag is true or false, nil when it is left out.
func (r *request) flag(key string) *bool {
	raw, ok := r.take(key)
	if !ok {
		return nil
	}
	yes := string(raw) == "true"
	if !yes && string(raw) != "false" {
		r.fail("key %q: want true or false", key)
	}
	return &yes
}

// number is a whole number within bounds, without when it is left out.
func (r *request) number(key string, without, least, most int) int {
	raw, ok := r.take(key)
	if !ok {
		return without
	}
	var n int
	if err := json.Unmarshal(raw, &n); err != nil || string(raw) == "null" || n < least || n > most {
		r.fail("key %q: want a whole number from %d to %d", key, least, most)
	}
	return n
}

// done gives the first problem, with the operation.
func (r *request) done() error {
	for key := range r.fields {
		if !slices.Contains(r.known, key) {
			keys := slices.Clone(r.known)
			slices.Sort(keys)
			r.fail("unknown key %q; known are %s", key, strings.Join(keys, ", "))
		}
	}
	if r.err != nil {
		return fmt.Errorf("%s: %w", r.op, r.err)
	}
	return nil
}

// unknown is the error for an operation that there is not.
func (r *request) unknown(ops ...string) error {
	return fmt.Errorf("unknown op %q (known: %s)", r.op, strings.Join(ops, ", "))
}

// parseText reads a JSON string. Go replaces a surrogate without its other half; that is refused here.
func parseText(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", errors.New("want a text")
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", errors.New("want a text")
	}
	if written := strings.ToLower(string(raw)); strings.Count(s, "\uFFFD") > strings.Count(written, "\uFFFD")+strings.Count(written, `\ufffd`) {
		return "", errors.New("a surrogate without its other half")
	}
	return s, nil
}

// respond encodes a response. HTML is left as it is.
func respond(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// checkValue refuses values that not every reader would read alike.
func checkValue(raw json.RawMessage) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	depth, replaced := 0, 0
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				depth++
			} else {
				depth--
			}
			if depth > maxValueDepth {
				return fmt.Errorf("more than %d levels", maxValueDepth)
			}
		case string:
			replaced += strings.Count(t, "\uFFFD")
		}
	}
	if written := strings.ToLower(string(raw)); replaced > strings.Count(written, "\uFFFD")+strings.Count(written, `\ufffd`) {
		return errors.New("a surrogate without its other half")
	}
	return nil
}

package mcpproxy

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"weir/internal/validjson"
)

// MaxMessage is the most that a message may be long, in bytes.
const MaxMessage = 64 << 20

var errTooLong = fmt.Errorf("a message is longer than %d MiB", MaxMessage>>20)

// readLine reads a message without its line break. A last line without one counts.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > MaxMessage+len("\r\n") {
			return nil, errTooLong
		}
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)):
			return nil, err
		}
		return bytes.TrimRight(line, "\r\n"), nil
	}
}

// object is a JSON object by its exact keys.
type object map[string]json.RawMessage

// parseObject reads an object; its values are parts of raw. A key twice is an error, and so is one that is another case of a
// known one: readers differ in which of them they take.
func parseObject(raw []byte, known ...string) (object, error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("it is not valid UTF-8")
	}
	i := skipSpace(raw, 0)
	if i == len(raw) || raw[i] != '{' {
		return nil, errors.New("it is not a JSON object")
	}
	if err := validjson.Check(raw); err != nil {
		return nil, err
	}
	o := object{}
	for i = skipSpace(raw, i+1); raw[i] != '}'; i = skipSpace(raw, i) {
		if raw[i] == ',' {
			i = skipSpace(raw, i+1)
		}
		end := stringEnd(raw, i)
		var key string
		if err := json.Unmarshal(raw[i:end], &key); err != nil {
			return nil, err
		}
		i = skipSpace(raw, skipSpace(raw, end)+1) // over the colon
		end = valueEnd(raw, i)
		if _, twice := o[key]; twice {
			return nil, fmt.Errorf("the key %.80q is there twice", key)
		}
		for _, k := range known {
			if key != k && strings.EqualFold(key, k) {
				return nil, fmt.Errorf("the key %.80q is nearly %q", key, k)
			}
		}
		o[key] = json.RawMessage(raw[i:end:end])
		i = end
	}
	return o, nil
}

// The three below walk over JSON that is known to be valid.

func skipSpace(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\r' || raw[i] == '\n') {
		i++
	}
	return i
}

// stringEnd is the offset after the string that starts at i.
func stringEnd(raw []byte, i int) int {
	for i++; raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// valueEnd is the offset after the value that starts at i.
func valueEnd(raw []byte, i int) int {
	for depth := 0; ; {
		switch raw[i] {
		case '"':
			i = stringEnd(raw, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		default:
			if i++; depth > 0 {
				continue // what stands between strings and brackets
			}
			for i < len(raw) && strings.IndexByte(",}] \t\r\n", raw[i]) < 0 {
				i++ // a number or a word
			}
		}
		if depth == 0 {
			return i
		}
	}
}

// text is a text under a key; false when there is none.
func (o object) text(key string) (string, bool) {
	var s string
	raw, ok := o[key]
	if !ok || len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// encode writes an object with its keys sorted, and the values as they are.
func (o object) encode() []byte {
	b := []byte{'{'}
	for i, key := range slices.Sorted(maps.Keys(o)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, encode(key)...)
		b = append(b, ':')
		b = append(b, o[key]...)
	}
	return append(b, '}')
}

// encode writes a value in one line.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // a bug here: only texts, numbers and what was valid JSON is encoded; Run blocks the call
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// message is a JSON-RPC message.
type message struct {
	raw    []byte // as it came, in one line
	object object
	id     id     // the zero value for a notification
	method string // "" for a response
}

// id tells requests apart: the text or the number, whatever way it was written.
type id string

func (m *message) isRequest() bool  { return m.method != "" && m.id != "" }
func (m *message) isResponse() bool { return m.method == "" }

// parseMessage reads a message strictly. With an error the message, if there is one, has the id.
func parseMessage(raw []byte) (*message, error) {
	o, err := parseObject(raw, "jsonrpc", "id", "method", "params", "result", "error")
	if err != nil {
		return nil, err
	}
	m := &message{raw: raw, object: o}
	if rawID, ok := o["id"]; ok {
		if m.id, err = parseID(rawID); err != nil {
			return nil, err
		}
	}
	if v, ok := o.text("jsonrpc"); !ok || v != "2.0" {
		return m, errors.New(`"jsonrpc" is not "2.0"`)
	}
	_, result := o["result"]
	_, failure := o["error"]
	if _, ok := o["method"]; ok {
		if m.method, ok = o.text("method"); !ok || m.method == "" {
			return m, errors.New(`"method" is not a text with something in it`)
		}
		if result || failure {
			return m, errors.New("it is a request and a response at once")
		}
		return m, nil
	}
	if m.id == "" || result == failure {
		return m, errors.New("it is neither a request, a notification nor a response")
	}
	return m, nil
}

func parseID(raw json.RawMessage) (id, error) {
	if raw[0] == '"' {
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return "", err
		}
		return id("s" + s), nil
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return "", errors.New("the id is neither a text nor a whole number")
	}
	return id("n" + strconv.FormatInt(n, 10)), nil
}

// batch gives the messages of a line: one, or those of a list.
func batch(line []byte) ([][]byte, error) {
	if trimmed := bytes.TrimSpace(line); len(trimmed) == 0 || trimmed[0] != '[' {
		return [][]byte{line}, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(line, &list); err != nil {
		return nil, fmt.Errorf("it is not valid JSON: %w", err)
	}
	out := make([][]byte, len(list))
	for i := range list {
		out[i] = list[i]
	}
	return out, nil
}

// response is a response with a result.
func response(rawID, result json.RawMessage) []byte {
	return object{"jsonrpc": json.RawMessage(`"2.0"`), "id": rawID, "result": result}.encode()
}

// failure is a response with an error. A nil id is null.
func failure(rawID json.RawMessage, code int64, text string) []byte {
	if rawID == nil {
		rawID = json.RawMessage("null")
	}
	return object{"jsonrpc": json.RawMessage(`"2.0"`), "id": rawID, "error": encode(struct {
		Code    int64  `json:"code"`
		Message string `json:"message"`
	}{code, text})}.encode()
}

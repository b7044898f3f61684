package agentcore

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"weir/internal/validjson"
)

// A stored session is decoded from its first message to its last before the model is asked, and encoding/json goes over each
// byte of text about ten times for it. The functions of this file read messages of the usual form in three. Whatever is
// unusual (a wrong type, a key twice or in other letters, an escaped key) they leave to decode.go, whose answer they must give:
// FuzzDecodeFast compares the two.

// decodeFast reads one message. It is false when decode.go must. The message's parts are pieces of raw.
func decodeFast(raw json.RawMessage) (*Message, bool) {
	if validjson.Check(raw) != nil {
		return nil, false
	}
	var f messageFields
	if !f.read(raw) || f.role == "" {
		return nil, false
	}
	var body Body
	switch Role(f.role) {
	case RoleUser:
		content, ok := f.userContent()
		if !ok {
			return nil, false
		}
		body = &UserMessage{Content: content, Timestamp: f.timestamp}
	case RoleAssistant:
		blocks, ok := fastBlocks(f.content)
		if !ok {
			return nil, false
		}
		m := &f.assistant
		m.Content, m.Timestamp = blocks, f.timestamp
		body = m
	case RoleToolResult:
		blocks, ok := fastBlocks(f.content)
		if !ok {
			return nil, false
		}
		m := &f.result
		m.Content, m.Timestamp = blocks, f.timestamp
		body = m
	default:
		return nil, false
	}
	m := &Message{body: body}
	m.json.Store(&encoding{raw: raw})
	return m, true
}

// messageFields are the fields of a message of any role.
type messageFields struct {
	role      string
	timestamp int64
	content   []byte
	assistant AssistantMessage
	result    ToolResultMessage
}

// read is false for a message that is not of the usual form.
func (f *messageFields) read(raw []byte) bool {
	seen := 0
	once := func(bit int) bool {
		first := seen&(1<<bit) == 0
		seen |= 1 << bit
		return first
	}
	ok := eachField(raw, func(key string, value []byte) bool {
		// A key has a meaning in the messages of some roles; in others it is one that is not known.
		a, r := &f.assistant, &f.result
		switch key {
		case "role":
			return once(0) && readString(value, &f.role)
		case "timestamp":
			return once(1) && readMillis(value, &f.timestamp)
		case "content":
			f.content = value
			return once(2)
		case "api":
			return once(3) && readString(value, &a.API)
		case "provider":
			return once(4) && readString(value, &a.Provider)
		case "model":
			return once(5) && readString(value, &a.Model)
		case "responseModel":
			return once(6) && readString(value, &a.ResponseModel)
		case "responseId":
			return once(7) && readString(value, &a.ResponseID)
		case "stopReason":
			return once(8) && readString(value, (*string)(&a.StopReason))
		case "rawStopReason":
			return once(9) && readString(value, &a.RawStopReason)
		case "errorMessage":
			return once(10) && readString(value, &a.ErrorMessage)
		case "usage":
			if !once(11) || value[0] != '{' || json.Unmarshal(value, &a.Usage) != nil {
				return false
			}
			usage := a.Usage
			r.Usage = &usage
			return true
		case "toolCallId":
			return once(12) && readString(value, &r.ToolCallID)
		case "toolName":
			return once(13) && readString(value, &r.ToolName)
		case "details":
			r.Details = value
			return once(14)
		case "addedToolNames":
			return once(15) && json.Unmarshal(value, &r.AddedToolNames) == nil
		case "isError":
			return once(16) && readBool(value, &r.IsError)
		}
		if folds(key, messageKeys) {
			return false
		}
		if a.Extra == nil {
			a.Extra = map[string]json.RawMessage{}
		}
		a.Extra[key] = value
		return true
	})
	// An assistant's message keeps what only the others know as not known; that it has any of it is unusual.
	return ok && (Role(f.role) != RoleAssistant || seen>>12 == 0)
}

var messageKeys = []string{
	"role", "timestamp", "content", "api", "provider", "model", "responseModel", "responseId", "stopReason", "rawStopReason",
	"errorMessage", "usage", "toolCallId", "toolName", "details", "addedToolNames", "isError",
}

func (f *messageFields) userContent() (Content, bool) {
	var c Content
	if len(f.content) > 0 && f.content[0] == '"' {
		ok := readString(f.content, &c.Text)
		return c, ok
	}
	blocks, ok := fastBlocks(f.content)
	c.Blocks = blocks
	return c, ok
}

// fastBlocks reads a list of blocks.
func fastBlocks(raw []byte) ([]Block, bool) {
	if len(raw) == 0 || raw[0] != '[' {
		return nil, false
	}
	blocks := []Block{}
	ok := eachItem(raw, func(item []byte) bool {
		block := fastBlock(item)
		blocks = append(blocks, block)
		return block != nil
	})
	return blocks, ok
}

var blockKeys = []string{
	"type", "text", "textSignature", "thinking", "thinkingSignature", "redacted", "data", "mimeType", "id", "name", "arguments",
	"thoughtSignature", "namespace",
}

// fastBlock is nil for a block that is not of the usual form.
func fastBlock(raw []byte) Block {
	if raw[0] != '{' {
		return nil
	}
	var (
		kind, text, signature, thinking, thinkingSignature, data, mime, id, name, thought, namespace string
		redacted                                                                                     bool
		arguments                                                                                    json.RawMessage
	)
	seen := 0
	ok := eachField(raw, func(key string, value []byte) bool {
		at := -1
		for i, known := range blockKeys {
			if key == known {
				at = i
			}
		}
		if at < 0 {
			return !folds(key, blockKeys)
		}
		if seen&(1<<at) != 0 {
			return false
		}
		seen |= 1 << at
		switch key {
		case "redacted":
			return readBool(value, &redacted)
		case "arguments":
			arguments = value
			return true
		}
		return readString(value, [...]*string{
			&kind, &text, &signature, &thinking, &thinkingSignature, nil, &data, &mime, &id, &name, nil, &thought, &namespace,
		}[at])
	})
	if !ok {
		return nil
	}
	switch kind {
	case "text":
		return &TextBlock{Text: text, TextSignature: signature}
	case "thinking":
		return &ThinkingBlock{Thinking: thinking, ThinkingSignature: thinkingSignature, Redacted: redacted}
	case "image":
		return &ImageBlock{Data: data, MimeType: mime}
	case "toolCall":
		return &ToolCall{ID: id, Name: name, Arguments: arguments, ThoughtSignature: thought, Namespace: namespace}
	default:
		return nil
	}
}

// folds says whether encoding/json would take a key for one of the known ones in other letters.
func folds(key string, known []string) bool {
	for _, k := range known {
		if strings.EqualFold(k, key) {
			return true
		}
	}
	return false
}

// readString reads a string.
func readString(value []byte, to *string) bool {
	if value[0] != '"' {
		return false
	}
	inner := value[1 : len(value)-1]
	if !utf8.Valid(inner) {
		return json.Unmarshal(value, to) == nil
	}
	escape := bytes.IndexByte(inner, '\\')
	if escape < 0 {
		*to = string(inner)
		return true
	}
	var b strings.Builder
	b.Grow(len(inner))
	for escape >= 0 {
		b.Write(inner[:escape])
		c := unescape(inner[escape+1])
		if c == 0 {
			// \u may be half of a pair, or a lone half.
			return json.Unmarshal(value, to) == nil
		}
		b.WriteByte(c)
		inner = inner[escape+2:]
		escape = bytes.IndexByte(inner, '\\')
	}
	b.Write(inner)
	*to = b.String()
	return true
}

// unescape is the character that an escape of two characters stands for, or 0.
func unescape(c byte) byte {
	switch c {
	case '"', '\\', '/':
		return c
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	default:
		return 0
	}
}

func readBool(value []byte, to *bool) bool {
	*to = string(value) == "true"
	return *to || string(value) == "false"
}

// readMillis reads milliseconds without a fraction.
func readMillis(value []byte, to *int64) bool {
	// Up to 15 digits a float64 is exact.
	if len(value) > 15 {
		return false
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	*to = n
	return err == nil
}

// eachField goes over the fields of an object, which must be valid JSON. It is false when it is not an object, when a key
// has an escape in it or is not UTF-8, or when visit is. Values are pieces of raw that cannot grow into it.
func eachField(raw []byte, visit func(key string, value []byte) bool) bool {
	i := skipBlanks(raw, 0)
	if raw[i] != '{' {
		return false
	}
	for {
		i = skipBlanks(raw, i+1)
		if raw[i] == '}' {
			return true // only of an empty object: a comma is followed by a key
		}
		end := skipString(raw, i)
		key := raw[i+1 : end-1]
		if bytes.IndexByte(key, '\\') >= 0 || !utf8.Valid(key) {
			return false
		}
		i = skipBlanks(raw, skipBlanks(raw, end)+1) // past the colon
		_, end = scanValue(raw, i)
		if !visit(string(key), raw[i:end:end]) {
			return false
		}
		if i = skipBlanks(raw, end); raw[i] == '}' {
			return true
		}
	}
}

// eachItem is eachField for a list.
func eachItem(raw []byte, visit func(item []byte) bool) bool {
	i := 0
	for {
		i = skipBlanks(raw, i+1)
		if raw[i] == ']' {
			return true
		}
		_, end := scanValue(raw, i)
		if !visit(raw[i:end:end]) {
			return false
		}
		if i = skipBlanks(raw, end); raw[i] == ']' {
			return true
		}
	}
}

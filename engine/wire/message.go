package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"weir/agentcore"
)

// maxSafe is the largest whole number that a float64, and so every JavaScript guest, holds exactly.
const maxSafe = 1<<53 - 1

// blockKinds is a set of kinds of content blocks.
type blockKinds uint8

const (
	blockText blockKinds = 1 << iota
	blockImage
	blockThinking
	blockToolCall
)

// Key tables; read only.
var (
	blockKeys = []string{
		"type", "text", "textSignature", "data", "mimeType", "thinking", "thinkingSignature", "redacted",
		"id", "name", "arguments", "thoughtSignature", "namespace",
	}
	blockNames = []string{"text", "image", "thinking", "toolCall"}
	usageKeys  = []string{"input", "output", "cacheRead", "cacheWrite", "totalTokens", "cost", "cacheWrite1h", "reasoning"}
	costKeys   = []string{"input", "output", "cacheRead", "cacheWrite", "total"}
)

// blockShape are the keys that a kind of block, an index of blockNames, may and must have, as bits over blockKeys.
func blockShape(kind int) (has, needs uint64) {
	switch kind {
	case 0:
		return bits(0, 1, 2), bits(0, 1)
	case 1:
		return bits(0, 3, 4), bits(0, 3, 4)
	case 2:
		return bits(0, 5, 6, 7), bits(0, 5)
	default:
		return bits(0, 8, 9, 10, 11, 12), bits(0, 8, 9, 10)
	}
}

func bits(keys ...int) (b uint64) {
	for _, k := range keys {
		b |= 1 << k
	}
	return b
}

// blocks reads a list of content blocks of the allowed kinds. The list is not nil.
func (r *reader) blocks(allowed blockKinds) []agentcore.Block {
	list := []agentcore.Block{}
	if !r.array() {
		return list
	}
	for n := 0; r.more(&n); {
		if b := r.block(allowed); b != nil {
			list = append(list, b)
		}
	}
	return list
}

func (r *reader) block(allowed blockKinds) agentcore.Block {
	var where [13]int
	f := r.scan(blockKeys, where[:])
	if r.require(&f, 0); r.err != nil {
		return nil
	}
	kind := -1
	r.at(where[0], func() {
		if kind = r.oneOf(blockNames); kind >= 0 && allowed&(1<<kind) == 0 {
			r.fail(where[0], "a block of type "+blockNames[kind]+" does not belong here")
		}
	})
	if r.err != nil {
		return nil
	}
	has, needs := blockShape(kind)
	if !r.keysOf(&f, has, needs, "a block of type "+blockNames[kind], where[:]) {
		return nil
	}
	text := func(i int) (s string) {
		if f.has(i) {
			r.at(where[i], func() { s = r.string() })
		}
		return s
	}
	switch blockKinds(1) << kind {
	case blockText:
		return &agentcore.TextBlock{Text: text(1), TextSignature: text(2)}
	case blockImage:
		return &agentcore.ImageBlock{Data: text(3), MimeType: text(4)}
	case blockThinking:
		b := &agentcore.ThinkingBlock{Thinking: text(5), ThinkingSignature: text(6)}
		if f.has(7) {
			r.at(where[7], func() { b.Redacted = r.bool() })
		}
		return b
	default:
		b := &agentcore.ToolCall{ID: text(8), Name: text(9), ThoughtSignature: text(11), Namespace: text(12)}
		r.at(where[10], func() { b.Arguments = clone(r.rawObject()) })
		if r.err == nil && (b.ID == "" || b.Name == "") {
			r.fail(f.start, "a tool call needs an id and a name")
		}
		return b
	}
}

// keysOf checks which keys an object has, given as bits over its names.
func (r *reader) keysOf(f *fields, has, needs uint64, what string, where []int) bool {
	for i, name := range f.names {
		switch bit := uint64(1) << i; {
		case f.seen&bit != 0 && has&bit == 0:
			r.fail(where[i], "the key does not belong in "+what)
			return false
		case f.seen&bit == 0 && needs&bit != 0:
			r.failMissing(f, name)
			return false
		}
	}
	return true
}

// content reads what a user or custom message holds: a string or a list of texts and images.
func (r *reader) content() agentcore.Content {
	switch r.peek() {
	case '"':
		return agentcore.Content{Text: r.string()}
	case '[':
		return agentcore.Content{Blocks: r.blocks(blockText | blockImage)}
	}
	r.wrongType("a string or an array")
	return agentcore.Content{}
}

func (r *reader) usage() *agentcore.Usage {
	u := &agentcore.Usage{}
	f := r.object(usageKeys)
	for i := r.next(&f); i >= 0; i = r.next(&f) {
		if usageKeys[i] == "cost" {
			r.cost(&u.Cost)
			continue
		}
		n := r.int(0, maxSafe)
		switch usageKeys[i] {
		case "input":
			u.Input = n
		case "output":
			u.Output = n
		case "cacheRead":
			u.CacheRead = n
		case "cacheWrite":
			u.CacheWrite = n
		case "totalTokens":
			u.TotalTokens = n
		case "cacheWrite1h":
			u.CacheWrite1h = &n
		case "reasoning":
			u.Reasoning = &n
		}
	}
	r.require(&f, 0, 1, 2, 3, 4, 5)
	return u
}

func (r *reader) cost(c *agentcore.Cost) {
	f := r.object(costKeys)
	for i := r.next(&f); i >= 0; i = r.next(&f) {
		*[]*float64{&c.Input, &c.Output, &c.CacheRead, &c.CacheWrite, &c.Total}[i] = r.float()
	}
	r.require(&f, 0, 1, 2, 3, 4)
}

// Roles beyond those that agentcore interprets (ABI section 7).
const (
	RoleCustom            agentcore.Role = "custom"
	RoleBashExecution     agentcore.Role = "bashExecution"
	RoleBranchSummary     agentcore.Role = "branchSummary"
	RoleCompactionSummary agentcore.Role = "compactionSummary"
)

// Key tables; read only. messageKeys are all keys of all roles, roles what each role may and must have.
var (
	messageKeys = []string{
		"role", "content", "timestamp", "api", "provider", "model", "usage", "stopReason", // 0-7
		"errorMessage", "responseId", "responseModel", "deferred", "diagnostics", "providerThinkingLevel", "rawStopReason", "endTurn", // 8-15
		"toolCallId", "toolName", "details", "addedToolNames", "isError", "customType", "display", // 16-22
		"command", "output", "exitCode", "cancelled", "truncated", "fullOutputPath", "excludeFromContext", // 23-29
		"summary", "tokensBefore", "fromId", // 30-32
	}
	roleNames   = []string{"user", "assistant", "toolResult", "custom", "bashExecution", "branchSummary", "compactionSummary"}
	stopReasons = []string{"pending", "stop", "length", "toolUse", "error", "aborted", "deferred"}
)

const keyTimestamp = 2

// roleKeys are the keys that a message of a role, an index of roleNames, may and must have, as bits over messageKeys. The
// shapes are those of the reference's session files, but that a guest need not give a timestamp: the host fills it in.
func roleKeys(role int) (has, needs uint64) {
	switch role {
	case 0:
		needs = bits(0, 1)
		has = needs
	case 1:
		needs = bits(0, 1, 3, 4, 5, 6, 7)
		has = needs | bits(8, 9, 10, 11, 12, 13, 14, 15)
	case 2:
		needs = bits(0, 1, 16, 17, 20)
		has = needs | bits(6, 18, 19)
	case 3:
		needs = bits(0, 1, 21, 22)
		has = needs | bits(18)
	case 4:
		needs = bits(0, 23, 24, 26, 27)
		has = needs | bits(25, 28, 29)
	case 5:
		needs = bits(0, 30, 32)
		has = needs
	case 6:
		needs = bits(0, 30, 31)
		has = needs
	}
	return has | bits(keyTimestamp), needs
}

// read is a message that the strict reader accepted; finish makes the message of it.
type read struct {
	role         agentcore.Role
	start, end   int
	hasTimestamp bool
	timestamp    int64
	body         agentcore.Body // nil for a role that agentcore does not interpret
}

// messageReader reads the values of one message by key, an index of messageKeys.
type messageReader struct {
	*reader
	f            fields
	where        [33]int
	emptyAllowed bool
}

// message reads a whole message of a known role. Unless emptyAllowed, a message that says nothing is refused: providers
// refuse it too.
func (r *reader) message(emptyAllowed bool) read {
	m := read{}
	r.peek()
	m.start = r.pos
	v := messageReader{reader: r, emptyAllowed: emptyAllowed}
	v.f = r.scan(messageKeys, v.where[:])
	if r.require(&v.f, 0); r.err != nil {
		return m
	}
	m.end = r.pos
	role := -1
	r.at(v.where[0], func() { role = r.oneOf(roleNames) })
	if r.err != nil {
		return m
	}
	m.role = agentcore.Role(roleNames[role])
	has, needs := roleKeys(role)
	if !r.keysOf(&v.f, has, needs, "a "+roleNames[role]+" message", v.where[:]) {
		return m
	}
	m.hasTimestamp = v.f.has(keyTimestamp)
	m.timestamp = v.int("timestamp", -maxSafe, maxSafe)
	switch m.role {
	case agentcore.RoleUser:
		m.body = &agentcore.UserMessage{Content: v.content()}
	case agentcore.RoleAssistant:
		m.body = v.assistant()
	case agentcore.RoleToolResult:
		m.body = v.toolResult()
	case RoleCustom:
		v.text("customType", true)
		v.content()
		v.bool("display")
	case RoleBashExecution:
		v.text("command", false)
		v.text("output", false)
		v.text("fullOutputPath", false)
		v.int("exitCode", -1<<31, 1<<31-1)
		v.bool("cancelled")
		v.bool("truncated")
		v.bool("excludeFromContext")
	default:
		v.text("summary", false)
		v.text("fromId", false)
		v.int("tokensBefore", 0, maxSafe)
	}
	return m
}

// value runs read at the value of key, unless the message lacks it.
func (v *messageReader) value(key string, read func()) {
	if i := slices.Index(messageKeys, key); v.f.has(i) {
		v.at(v.where[i], read)
	}
}

func (v *messageReader) text(key string, notEmpty bool) (s string) {
	v.value(key, func() {
		if notEmpty {
			s = v.stringNotEmpty()
		} else {
			s = v.string()
		}
	})
	return s
}

func (v *messageReader) bool(key string) (b bool) {
	v.value(key, func() { b = v.reader.bool() })
	return b
}

func (v *messageReader) int(key string, lo, hi int64) (n int64) {
	v.value(key, func() { n = v.reader.int(lo, hi) })
	return n
}

// content reads what a user or custom message holds.
func (v *messageReader) content() (c agentcore.Content) {
	v.value("content", func() {
		at := v.pos
		c = v.reader.content()
		v.notEmpty(at, len(c.Text)+len(c.Blocks))
	})
	return c
}

func (v *messageReader) blocks(allowed blockKinds) (list []agentcore.Block) {
	v.value("content", func() {
		at := v.pos
		list = v.reader.blocks(allowed)
		v.notEmpty(at, len(list))
	})
	return list
}

func (v *messageReader) notEmpty(at, n int) {
	if n == 0 && !v.emptyAllowed {
		v.fail(at, "a message must not be empty")
	}
}

func (v *messageReader) assistant() *agentcore.AssistantMessage {
	m := &agentcore.AssistantMessage{
		Content:       v.blocks(blockText | blockThinking | blockToolCall),
		API:           v.text("api", false),
		Provider:      v.text("provider", false),
		Model:         v.text("model", false),
		ResponseModel: v.text("responseModel", false),
		ResponseID:    v.text("responseId", false),
		RawStopReason: v.text("rawStopReason", false),
		ErrorMessage:  v.text("errorMessage", false),
	}
	v.value("usage", func() { m.Usage = *v.usage() })
	v.value("stopReason", func() {
		if i := v.oneOf(stopReasons); i >= 0 {
			m.StopReason = agentcore.StopReason(stopReasons[i])
		}
	})
	// Nobody here gives these a meaning.
	for _, key := range []string{"deferred", "diagnostics", "providerThinkingLevel", "endTurn"} {
		v.value(key, func() {
			if m.Extra == nil {
				m.Extra = map[string]json.RawMessage{}
			}
			m.Extra[key] = clone(v.raw())
		})
	}
	return m
}

func (v *messageReader) toolResult() *agentcore.ToolResultMessage {
	m := &agentcore.ToolResultMessage{
		ToolCallID: v.text("toolCallId", true),
		ToolName:   v.text("toolName", true),
		Content:    v.blocks(blockText | blockImage),
		IsError:    v.bool("isError"),
	}
	v.value("details", func() { m.Details = clone(v.raw()) })
	v.value("usage", func() { m.Usage = v.usage() })
	v.value("addedToolNames", func() { m.AddedToolNames = v.list(v.stringNotEmpty) })
	return m
}

// finish makes the message that message read, with timestamp when the guest gave none. It owns its memory.
func (r *reader) finish(m read, timestamp int64) *agentcore.Message {
	if r.err != nil {
		return nil
	}
	if m.hasTimestamp {
		timestamp = m.timestamp
	}
	// A copy of the body, so that a result can be applied again.
	switch b := m.body.(type) {
	case *agentcore.UserMessage:
		own := *b
		own.Timestamp = timestamp
		return agentcore.NewMessage(&own)
	case *agentcore.AssistantMessage:
		own := *b
		own.Timestamp = timestamp
		return agentcore.NewMessage(&own)
	case *agentcore.ToolResultMessage:
		own := *b
		own.Timestamp = timestamp
		return agentcore.NewMessage(&own)
	}
	raw := bytes.Clone(r.src[m.start:m.end])
	if !m.hasTimestamp {
		raw = append(raw[:len(raw)-1], `,"timestamp":`...)
		raw = strconv.AppendInt(raw, timestamp, 10)
		raw = append(raw, '}')
	}
	return agentcore.NewMessage(&agentcore.OpaqueMessage{RoleName: m.role, JSON: raw, Timestamp: timestamp})
}

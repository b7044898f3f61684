package transcript

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"time"

	"weir/agentcore"
)

// piEntry is a line of a Pi session, of any version; the first line is the header.
type piEntry struct{ kind, cwd, timestamp, message []byte }

type piMessage struct{ role, content, callID, isError, details, timestamp []byte }

// piTypes are the entries without tool calls.
const piTypes = "model_change thinking_level_change compaction branch_summary custom custom_message label session_info"

func (r *reader) pi(raw []byte) error {
	var e piEntry
	members(raw, func(key string, v []byte) {
		switch key {
		case "type":
			e.kind = v
		case "cwd":
			e.cwd = v
		case "timestamp":
			e.timestamp = v
		case "message":
			e.message = v
		}
	})
	switch kind := str(e.kind); {
	case kind == "session":
		r.cwd = str(e.cwd)
		return nil
	case kind != "message":
		if !among(piTypes, kind) {
			r.report.Unknown++
		}
		return nil
	}
	var m piMessage
	members(e.message, func(key string, v []byte) {
		switch key {
		case "role":
			m.role = v
		case "content":
			m.content = v
		case "toolCallId":
			m.callID = v
		case "isError":
			m.isError = v
		case "details":
			m.details = v
		case "timestamp":
			m.timestamp = v // milliseconds
		}
	})
	r.time = stamp(str(e.timestamp))
	if ms, err := strconv.ParseInt(string(m.timestamp), 10, 64); err == nil && ms > 0 && r.time.IsZero() {
		r.time = time.UnixMilli(ms).UTC()
	}
	switch str(m.role) {
	case "assistant":
		return r.piCalls(&m)
	case "toolResult":
		ev := &Event{Outcome: OK, Details: bytes.Clone(m.details)}
		if ev.Content, r.bad = blocks(m.content); r.bad != nil {
			return nil //nolint:nilerr // Read counts the line
		}
		if isTrue(m.isError) {
			ev.Outcome = Failed
			if piDenied(allText(ev.Content)) {
				ev.Outcome = Denied
			}
		}
		return r.result(str(m.callID), ev)
	}
	return nil
}

func (r *reader) piCalls(m *piMessage) (err error) {
	elements(m.content, func(block []byte) {
		if block[0] != '{' {
			r.bad = errBlock
		}
		var kind, name string
		var id, arguments []byte
		members(block, func(key string, v []byte) {
			switch key {
			case "type":
				kind = str(v)
			case "id":
				id = v
			case "name":
				name = str(v)
			case "arguments":
				arguments = v
			}
		})
		if kind == "toolCall" && err == nil {
			err = r.call(&Event{CallID: str(id), Tool: name, Native: name, Input: bytes.Clone(arguments)}, arguments, string(m.timestamp), true)
		}
	})
	return err
}

// piDenied knows weir's own words for a call that was blocked, and the reference's. Other reasons are an extension's, and
// cannot be told from a tool's error.
func piDenied(text string) bool {
	return strings.HasSuffix(text, "; the call was blocked") || strings.HasSuffix(text, ", so the call was blocked") ||
		strings.HasSuffix(text, "; the person said no") || strings.HasPrefix(text, "blocked by the extension ") || text == "Tool execution was blocked"
}

// blocks reads content: one text, or blocks.
func blocks(raw []byte) ([]agentcore.Block, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return []agentcore.Block{}, nil
	}
	if raw[0] == '"' {
		return text(str(raw)), nil
	}
	return agentcore.DecodeBlocks(raw)
}

// errBlock is said of a line whose content holds something else than blocks.
var errBlock = errors.New("the content holds something else than blocks")

// among says whether a name is in a list parted by spaces.
func among(list, name string) bool {
	for n := range strings.FieldsSeq(list) {
		if n == name {
			return true
		}
	}
	return false
}

package weir

import (
	"strings"
	"unsafe"

	"weir/guest-sdk/go/internal/hostfn"
	"weir/guest-sdk/go/internal/scan"
)

// Role says whose message it is.
type Role uint8

// The roles of ABI section 7.
const (
	RoleUser              Role = 1
	RoleAssistant         Role = 2
	RoleToolResult        Role = 3
	RoleCustom            Role = 4
	RoleBashExecution     Role = 5
	RoleBranchSummary     Role = 6
	RoleCompactionSummary Role = 7
	RoleOther             Role = 255
)

// String returns the role as messages write it, "" for RoleOther and unset.
func (r Role) String() string {
	switch r {
	case RoleUser:
		return "user"
	case RoleAssistant:
		return "assistant"
	case RoleToolResult:
		return "toolResult"
	case RoleCustom:
		return "custom"
	case RoleBashExecution:
		return "bashExecution"
	case RoleBranchSummary:
		return "branchSummary"
	case RoleCompactionSummary:
		return "compactionSummary"
	}
	return ""
}

const (
	tableMagic  = "WMT1"
	tableHeader = 32
	tableRow    = 32
	noPair      = 0xffffffff
)

// Table is what the model is about to see as a table, 32 bytes a message. The
// text of a message is read on demand.
type Table struct {
	Edits
	text    string
	context Value
	// names is the string table. Its strings are kept from call to call where
	// they are the same.
	names []string
	call  *call
}

// OnContextTable registers the handler that decides what the model sees, in the
// table view. It changes nothing but by the methods of Edits; the history stays
// as it is. An error is a fault.
func OnContextTable(handle func(*Table) error) *Hook {
	return ext.add(&Hook{event: contextEvent, table: true, run: func(c *call) (err error) {
		t := &c.table
		t.call = c
		if err := t.parse(c.readInput()); err != nil {
			return err
		}
		if err := handle(t); err != nil {
			return err
		}
		c.out, err = t.append(c.out)
		return err
	}})
}

func (t *Table) parse(s string) error {
	if len(s) < tableHeader || s[:4] != tableMagic {
		return answerText("the event is not a message table of version 1")
	}
	word := scan.Load64(s, 0)
	count := int(word >> 32)
	if count > (len(s)-tableHeader)/tableRow {
		return answerText("the message table is shorter than it says")
	}
	context, ok := cut(s, 8)
	if !ok {
		return answerText("the context lies outside the message table")
	}
	strs, ok := cut(s, 16)
	if !ok {
		return answerText("the strings lie outside the message table")
	}
	context, err := scan.Value(context)
	if err != nil {
		return &answerError{"the context of the message table", err}
	}
	if !t.parseNames(strs) {
		return answerText("the strings of the message table are cut off")
	}
	t.text = s[tableHeader : tableHeader+count*tableRow]
	t.context = Value{context}
	t.reset(count)
	return nil
}

// cut returns the part of s that the offset and length at i name.
func cut(s string, i int) (string, bool) {
	word := scan.Load64(s, i)
	offset, n := word&0xffffffff, word>>32
	if offset+n > uint64(len(s)) {
		return "", false
	}
	return s[offset : offset+n], true
}

func (t *Table) parseNames(s string) bool {
	if len(s) < 2 {
		return false
	}
	count := int(s[0]) | int(s[1])<<8
	s = s[2:]
	for i := range count {
		if len(s) < 2 {
			return false
		}
		n := int(s[0]) | int(s[1])<<8
		if s = s[2:]; n > len(s) {
			return false
		}
		if i == len(t.names) {
			t.names = append(t.names, "")
		}
		if t.names[i] != s[:n] {
			t.names[i] = strings.Clone(s[:n])
		}
		s = s[n:]
	}
	t.names = t.names[:count]
	return true
}

// Context is Event.Context.
func (t *Table) Context() Value { return t.context }

// At returns the row of a message. It panics on an index out of range.
func (t *Table) At(index int) Row {
	return Row{t.text[index*tableRow : (index+1)*tableRow], t}
}

// Message reads a message in full from the host. The value is valid until the
// next call of Message.
func (t *Table) Message(index int) (Value, error) {
	if index < 0 || index >= t.Len() {
		return Value{}, answerText("Message: the index is out of range")
	}
	c := t.call
	c.body = readAll(c.body, func(buf []byte, offset int) int { return hostfn.Message(index, buf, offset) })
	s, err := scan.Value(unsafe.String(unsafe.SliceData(c.body), len(c.body)))
	if err != nil {
		return Value{}, &answerError{"the message", err}
	}
	return Value{s}, nil
}

// Row is a message of a Table.
type Row struct {
	text  string
	table *Table
}

// Role says whose message it is.
func (r Row) Role() Role { return Role(r.text[0]) }

// IsError reports a toolResult that is an error.
func (r Row) IsError() bool { return r.text[1]&1 != 0 }

// HasImage reports an image among the content.
func (r Row) HasImage() bool { return r.text[1]&2 != 0 }

// HasToolCall reports a tool call among the content.
func (r Row) HasToolCall() bool { return r.text[1]&4 != 0 }

// HasThinking reports thinking among the content.
func (r Row) HasThinking() bool { return r.text[1]&8 != 0 }

// Display reports a custom message that is shown to the person.
func (r Row) Display() bool { return r.text[1]&16 != 0 }

// Name returns the tool's name of a toolResult or the custom type of a custom
// message, otherwise "".
func (r Row) Name() string {
	i := int(r.text[2]) | int(r.text[3])<<8
	if i >= len(r.table.names) {
		return ""
	}
	return r.table.names[i]
}

// TextBytes returns the length of all text blocks.
func (r Row) TextBytes() int { return int(scan.Load64(r.text, 0) >> 32) }

// EncodedBytes returns the length of the message as JSON.
func (r Row) EncodedBytes() int { return int(scan.Load64(r.text, 8) & 0xffffffff) }

// Pair returns, for a toolResult, the index of the message with its tool call.
func (r Row) Pair() (index int, ok bool) {
	pair := scan.Load64(r.text, 8) >> 32
	if pair == noPair {
		return 0, false
	}
	return int(pair), true
}

// ID returns the message's number in the session, which a replacement keeps; 0
// if an extension inserted it.
func (r Row) ID() uint64 { return scan.Load64(r.text, 16) }

// UnixMilli returns the message's time in milliseconds.
func (r Row) UnixMilli() int64 { return int64(scan.Load64(r.text, 24)) }

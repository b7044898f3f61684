package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"weir/agentcore"
)

// The table view of ABI section 7. All integers are little-endian.
//
//	offset  0  "WMT1"
//	        4  u32 number of messages N
//	        8  u32, u32 offset and length of the context object (JSON)
//	       16  u32, u32 offset and length of the string table: u16 count, then u16 length and bytes of each
//	       24  u64 zero
//	       32  N records of 32 bytes
//
// A record:
//
//	offset  0  u8 role code     1  u8 flags     2  u16 name, an index into the string table
//	        4  u32 text bytes   8  u32 encoded bytes
//	       12  u32 pair        16  u64 id       24  i64 time in milliseconds
//
// So the record of a custom message named by string 2, displayed, 5 bytes of text, 90 encoded, id 7, at 1000 ms is
//
//	04 10 0200  05000000 5a000000  ffffffff 0700000000000000 e803000000000000
const (
	tableMagic   = "WMT1"
	tableHeader  = 32
	tableRecord  = 32
	recordFlags  = 1
	recordName   = 2
	recordText   = 4
	recordLength = 8
	recordPair   = 12
	recordID     = 16
	recordTime   = 24
)

// NoPair is the pair of a record that is no tool result, or whose call is not in the table.
const NoPair uint32 = 0xffffffff

// The flags of a record.
const (
	FlagError    uint8 = 1  // a tool result that is an error
	FlagImage    uint8 = 2  // has an image block
	FlagToolCall uint8 = 4  // has a tool call block
	FlagThinking uint8 = 8  // has a thinking block
	FlagDisplay  uint8 = 16 // a custom message that is shown to the person
)

// ErrTableOverflow is wrapped by the error for messages that do not fit the table's format: a name above 65,535 bytes,
// more than 65,534 different names, or a table of 4 GiB. Counts of bytes do not overflow: they stop at 0xffffffff.
var ErrTableOverflow = errors.New("does not fit the table view")

// Table encodes the table view of the messages that one extension sees and remembers the records, so that a call costs
// what changed since the last one. The zero value is ready. Not safe for concurrent use.
//
// A table is a function of messages and context alone: what the Table remembers saves work and shows nowhere. Strings
// stand in the order in which messages first name them, after the empty one.
type Table struct {
	messages []*agentcore.Message
	// buf is the last table; up to the end of the records it is valid for messages.
	buf     []byte
	names   []string // of the string table, without the empty string at 0
	byName  map[string]uint16
	strings int // bytes of the string table
}

// Encode returns the table of messages with context, a JSON object. The slice is the Table's and holds until the next
// call. text bytes are those of all text blocks, or of the string in their place; for bashExecution of the output, for
// the summaries of the summary. pair is the nearest message before that holds a call with the result's id.
func (t *Table) Encode(messages []*agentcore.Message, context []byte) ([]byte, error) {
	if err := t.update(messages); err != nil {
		*t = Table{} // half an update is no base for the next
		return nil, err
	}
	end := tableHeader + tableRecord*len(messages)
	size := uint64(end) + uint64(t.strings) + uint64(len(context))
	if size > math.MaxUint32 {
		return nil, fmt.Errorf("%d bytes of table: %w", size, ErrTableOverflow)
	}
	b := slices.Grow(t.buf[:end], t.strings+len(context))
	le := binary.LittleEndian
	clear(b[:tableHeader])
	copy(b, tableMagic)
	le.PutUint32(b[4:], uint32(len(messages)))
	le.PutUint32(b[16:], uint32(len(b)))
	b = le.AppendUint16(b, uint16(len(t.names)+1))
	b = le.AppendUint16(b, 0)
	for _, s := range t.names {
		b = le.AppendUint16(b, uint16(len(s)))
		b = append(b, s...)
	}
	le.PutUint32(b[20:], uint32(len(b)-end))
	le.PutUint32(b[8:], uint32(len(b)))
	le.PutUint32(b[12:], uint32(len(context)))
	t.buf = append(b, context...)
	return t.buf, nil
}

// update makes the records in buf those of messages.
func (t *Table) update(messages []*agentcore.Message) error {
	if t.byName == nil {
		t.byName = map[string]uint16{"": 0}
		t.strings = 4
		t.buf = make([]byte, tableHeader, tableHeader+tableRecord*len(messages)+512)
	}
	old := t.messages
	same := 0
	for same < len(old) && same < len(messages) && old[same] == messages[same] {
		same++
	}
	if same == len(old) && same == len(messages) {
		return nil
	}
	if uint64(len(messages)) > (math.MaxUint32-tableHeader)/tableRecord {
		return fmt.Errorf("%d messages: %w", len(messages), ErrTableOverflow)
	}
	u := tableUpdate{table: t, messages: messages, same: same, calls: -1}
	if same < len(old) {
		u.keep(old)
	}
	t.buf = slices.Grow(t.buf[:tableHeader+tableRecord*same], tableRecord*(len(messages)-same))
	for i := same; i < len(messages); i++ {
		if !u.copied(i) {
			if err := u.fresh(i); err != nil {
				return fmt.Errorf("message %d: %w", i, err)
			}
		}
	}
	if u.pairAll {
		t.pairAll(messages)
	}
	t.messages = append(t.messages[:same], messages[same:]...)
	return nil
}

// tableUpdate is the state of one update that is more than nothing.
type tableUpdate struct {
	table    *Table
	messages []*agentcore.Message
	same     int
	// old, records and names are what the table held, the former two from message same on; next is the first old message
	// that was not passed yet, and moved tells where an old one is now, -1 for nowhere.
	old     []*agentcore.Message
	records []byte
	names   []string
	renamed []uint16 // by old name, the new one; 0 when it is not known yet
	next    int
	moved   []int32
	effort  int
	// calls is the place of the last message with calls that was newly recorded, to which results behind it may belong; -1
	// for none. pairAll says that the pairs must be found from scratch.
	calls   int
	pairAll bool
}

// keep saves what follows the messages that stayed, and forgets the names that only those that follow used.
func (u *tableUpdate) keep(old []*agentcore.Message) {
	t := u.table
	u.old = slices.Clone(old[u.same:])
	u.records = slices.Clone(t.buf[tableHeader+tableRecord*u.same : tableHeader+tableRecord*len(old)])
	u.names = slices.Clone(t.names)
	u.renamed = make([]uint16, len(t.names)+1)
	u.moved = make([]int32, len(u.old))
	for i := range u.moved {
		u.moved[i] = -1
	}
	// Each old message may be looked at a few times on the average, so that an update stays linear.
	u.effort = 4 * (len(u.old) + len(u.messages) - u.same)
	used := 0
	for i := range u.same {
		used = max(used, int(binary.LittleEndian.Uint16(t.buf[tableHeader+tableRecord*i+recordName:])))
	}
	for _, name := range t.names[used:] {
		delete(t.byName, name)
		t.strings -= 2 + len(name)
	}
	t.names = t.names[:used]
}

// copied records message i from the old table when it is found there, in the old order.
func (u *tableUpdate) copied(i int) bool {
	at := -1
	for k := u.next; k < len(u.old) && u.effort > 0; k++ {
		u.effort--
		if u.old[k] == u.messages[i] {
			at = k
			break
		}
		// Far ahead is as likely as not at all, and making a record costs about as much as looking at a hundred.
		if k-u.next == 100 {
			break
		}
	}
	if at < 0 {
		return false
	}
	u.next = at + 1
	u.moved[at] = int32(i)
	rec := u.records[tableRecord*at : tableRecord*(at+1)]
	le := binary.LittleEndian
	if name := le.Uint16(rec[recordName:]); name != 0 {
		if u.renamed[name] == 0 {
			id, err := u.table.name(u.names[name-1])
			if err != nil {
				return false // fresh meets the same error and reports it
			}
			u.renamed[name] = id
		}
		le.PutUint16(rec[recordName:], u.renamed[name])
	}
	if rec[0] == codeToolResult {
		pair := int(int32(le.Uint32(rec[recordPair:]))) // NoPair becomes -1
		if pair >= u.same {
			pair = int(u.moved[pair-u.same])
			// Its call is gone, but an older one may have the same id.
			u.pairAll = u.pairAll || pair < 0
			le.PutUint32(rec[recordPair:], uint32(int32(pair)))
		}
		u.pairAll = u.pairAll || pair < u.calls
	}
	u.table.buf = append(u.table.buf, rec...)
	return true
}

// fresh makes the record of message i.
func (u *tableUpdate) fresh(i int) error {
	m := u.messages[i]
	raw, err := m.JSON()
	if err != nil {
		return err
	}
	s := summarise(m)
	name, err := u.table.name(s.name)
	if err != nil {
		return err
	}
	pair := NoPair
	if s.code == codeToolResult {
		pair = u.near(i)
	}
	if s.flags&FlagToolCall != 0 {
		u.calls = i
	}
	le := binary.LittleEndian
	b := append(u.table.buf, s.code, s.flags)
	b = le.AppendUint16(b, name)
	b = le.AppendUint32(b, saturate(s.text))
	b = le.AppendUint32(b, saturate(len(raw)))
	b = le.AppendUint32(b, pair)
	b = le.AppendUint64(b, m.ID())
	u.table.buf = le.AppendUint64(b, uint64(s.time))
	return nil
}

func saturate(n int) uint32 { return uint32(min(uint64(n), math.MaxUint32)) }

// near finds the call of result i where it nearly always is: in the assistant message before, with only results
// between. If it is not there, all pairs are found anew.
func (u *tableUpdate) near(i int) uint32 {
	const reach = 64
	result := u.messages[i].ToolResult()
	for k := i - 1; k >= 0 && i-k <= reach && result != nil; k-- {
		if isResult(u.messages[k]) {
			continue
		}
		if a := u.messages[k].Assistant(); a != nil && len(a.Content) <= reach && hasCall(a, result.ToolCallID) {
			return uint32(k)
		}
		break
	}
	u.pairAll = true
	return NoPair
}

func hasCall(a *agentcore.AssistantMessage, id string) bool {
	for _, b := range a.Content {
		if call, ok := b.(*agentcore.ToolCall); ok && call.ID == id {
			return true
		}
	}
	return false
}

// pairAll fills in the pairs of all results.
func (t *Table) pairAll(messages []*agentcore.Message) {
	last := map[string]uint32{}
	for i, m := range messages {
		if a := m.Assistant(); a != nil {
			for _, b := range a.Content {
				if call, ok := b.(*agentcore.ToolCall); ok {
					last[call.ID] = uint32(i)
				}
			}
		}
		if r := m.ToolResult(); r != nil {
			pair, ok := last[r.ToolCallID]
			if !ok {
				pair = NoPair
			}
			binary.LittleEndian.PutUint32(t.buf[tableHeader+tableRecord*i+recordPair:], pair)
		}
	}
}

// name returns the index of s in the string table and adds it when it is new.
func (t *Table) name(s string) (uint16, error) {
	if id, ok := t.byName[s]; ok {
		return id, nil
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	if id, ok := t.byName[s]; ok {
		return id, nil
	}
	if len(s) > math.MaxUint16 {
		return 0, fmt.Errorf("a name of %d bytes: %w", len(s), ErrTableOverflow)
	}
	if len(t.names)+1 == math.MaxUint16 {
		return 0, fmt.Errorf("%d different names: %w", len(t.names)+1, ErrTableOverflow)
	}
	t.names = append(t.names, s)
	t.strings += 2 + len(s)
	id := uint16(len(t.names))
	t.byName[s] = id
	return id, nil
}

// The role codes.
const (
	codeUser uint8 = iota + 1
	codeAssistant
	codeToolResult
	codeCustom
	codeBashExecution
	codeBranchSummary
	codeCompactionSummary
	codeOther uint8 = 255
)

// RoleCode is the number of a role in the table; 255 for one that has none.
func RoleCode(role agentcore.Role) uint8 {
	for i, name := range roleNames {
		if name == string(role) {
			return uint8(i + 1)
		}
	}
	return codeOther
}

// summary is what a record says of a message's body.
type summary struct {
	code, flags uint8
	name        string
	text        int
	time        int64
}

func summarise(m *agentcore.Message) summary {
	s := summary{code: RoleCode(m.Role()), time: timestamp(m)}
	switch b := m.Body().(type) {
	case *agentcore.UserMessage:
		s.content(b.Content)
	case *agentcore.AssistantMessage:
		s.blocks(b.Content)
	case *agentcore.ToolResultMessage:
		s.name = b.ToolName
		s.blocks(b.Content)
		if b.IsError {
			s.flags |= FlagError
		}
	case *agentcore.OpaqueMessage:
		s.opaque(b.JSON)
	}
	return s
}

func (s *summary) content(c agentcore.Content) {
	if c.Blocks == nil {
		s.text = len(c.Text)
		return
	}
	s.blocks(c.Blocks)
}

func (s *summary) blocks(blocks []agentcore.Block) {
	for _, b := range blocks {
		switch b := b.(type) {
		case *agentcore.TextBlock:
			s.text += len(b.Text)
		case *agentcore.ImageBlock:
			s.flags |= FlagImage
		case *agentcore.ToolCall:
			s.flags |= FlagToolCall
		case *agentcore.ThinkingBlock:
			s.flags |= FlagThinking
		}
	}
}

// opaque looks into a message that agentcore does not interpret. What cannot be read there counts as absent: the bytes
// come from session files and programs, and a table without one name is better than none.
func (s *summary) opaque(raw json.RawMessage) {
	var f struct {
		CustomType json.RawMessage `json:"customType"`
		Content    json.RawMessage `json:"content"`
		Display    json.RawMessage `json:"display"`
		Output     json.RawMessage `json:"output"`
		Summary    json.RawMessage `json:"summary"`
	}
	if json.Unmarshal(raw, &f) != nil {
		return
	}
	text := func(raw json.RawMessage) (text string) {
		if json.Unmarshal(raw, &text) != nil {
			return ""
		}
		return text
	}
	switch s.code {
	case codeCustom:
		s.name = text(f.CustomType)
		if c, err := agentcore.DecodeContent(f.Content); err == nil {
			s.content(c)
		}
		if string(f.Display) == "true" {
			s.flags |= FlagDisplay
		}
	case codeBashExecution:
		s.text = len(text(f.Output))
	case codeBranchSummary, codeCompactionSummary:
		s.text = len(text(f.Summary))
	}
}

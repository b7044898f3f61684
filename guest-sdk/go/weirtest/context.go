package weirtest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
)

// contextAnswer is the result of a context hook, ABI section 7.
type contextAnswer struct {
	Drop     []int             `json:"drop"`
	Replace  []editAt          `json:"replace"`
	Insert   []editAt          `json:"insert"`
	Messages []json.RawMessage `json:"messages"`
}

type editAt struct {
	At      int             `json:"at"`
	Message json.RawMessage `json:"message"`
}

func (a contextAnswer) apply(before []string) ([]string, error) {
	if a.Messages != nil {
		return a.whole(before)
	}
	gone := map[int]bool{}
	replacement := map[int]string{}
	take := func(at int) error {
		if at < 0 || at >= len(before) || gone[at] {
			return fmt.Errorf("index %d is out of range or used twice", at)
		}
		gone[at] = true
		return nil
	}
	for _, at := range a.Drop {
		if err := take(at); err != nil {
			return nil, err
		}
	}
	for _, r := range a.Replace {
		if err := take(r.At); err != nil {
			return nil, err
		}
		replacement[r.At] = string(r.Message)
	}
	inserted := map[int][]string{}
	for _, i := range a.Insert {
		if i.At < 0 || i.At > len(before) {
			return nil, fmt.Errorf("index %d is out of range", i.At)
		}
		inserted[i.At] = append(inserted[i.At], string(i.Message))
	}
	var after []string
	for i := range len(before) + 1 {
		after = append(after, inserted[i]...)
		if i == len(before) {
			break
		}
		if message, ok := replacement[i]; ok {
			after = append(after, message)
		} else if !gone[i] {
			after = append(after, before[i])
		}
	}
	return after, nil
}

func (a contextAnswer) whole(before []string) ([]string, error) {
	after := []string{}
	for _, m := range a.Messages {
		var item struct {
			Ref  *int
			Role string
		}
		if err := json.Unmarshal(m, &item); err != nil {
			return nil, err
		}
		switch {
		case item.Ref == nil:
			after = append(after, string(m))
		case *item.Ref < 0 || *item.Ref >= len(before):
			return nil, fmt.Errorf("ref %d is out of range", *item.Ref)
		default:
			after = append(after, before[*item.Ref])
		}
	}
	return after, nil
}

// encodeTable writes messages as the table view of ABI section 7. Ids count
// from 1.
func encodeTable(messages []string, context string) ([]byte, error) {
	names := []string{""}
	callAt := map[string]int{}
	var records []byte
	for i, text := range messages {
		m, err := readMessage(text)
		if err != nil {
			return nil, fmt.Errorf("weirtest: message %d: %w", i, err)
		}
		for _, id := range m.calls {
			callAt[id] = i
		}
		pair := uint32(0xffffffff)
		if at, ok := callAt[m.ToolCallID]; ok && m.role == 3 {
			pair = uint32(at)
		}
		name := slices.Index(names, m.ToolName+m.CustomType)
		if name < 0 {
			name = len(names)
			names = append(names, m.ToolName+m.CustomType)
		}
		records = append(records, m.role, m.flags)
		records = binary.LittleEndian.AppendUint16(records, uint16(name))
		records = binary.LittleEndian.AppendUint32(records, uint32(m.textBytes))
		records = binary.LittleEndian.AppendUint32(records, uint32(len(text)))
		records = binary.LittleEndian.AppendUint32(records, pair)
		records = binary.LittleEndian.AppendUint64(records, uint64(i+1))
		records = binary.LittleEndian.AppendUint64(records, uint64(m.Timestamp))
	}
	strs := binary.LittleEndian.AppendUint16(nil, uint16(len(names)))
	for _, name := range names {
		strs = binary.LittleEndian.AppendUint16(strs, uint16(len(name)))
		strs = append(strs, name...)
	}
	table := append([]byte("WMT1"), make([]byte, 28)...)
	at := uint32(len(table) + len(records))
	for i, n := range []uint32{uint32(len(messages)), at, uint32(len(context)), at + uint32(len(context)), uint32(len(strs))} {
		binary.LittleEndian.PutUint32(table[4+4*i:], n)
	}
	return slices.Concat(table, records, []byte(context), strs), nil
}

type message struct {
	Role, ToolName, CustomType, ToolCallID string
	IsError, Display                       bool
	Timestamp                              int64
	Output, Summary                        string
	Content                                json.RawMessage

	role, flags byte
	textBytes   int
	calls       []string
}

func readMessage(text string) (m message, err error) {
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return m, err
	}
	roles := []string{"user", "assistant", "toolResult", "custom", "bashExecution", "branchSummary", "compactionSummary"}
	m.role = 255
	if i := slices.Index(roles, m.Role); i >= 0 {
		m.role = byte(i + 1)
	}
	flag := func(set bool, bit byte) {
		if set {
			m.flags |= bit
		}
	}
	flag(m.IsError, 1)
	flag(m.Display, 16)
	var plain string
	if len(m.Content) == 0 || json.Unmarshal(m.Content, &plain) == nil {
		m.textBytes = len(plain) + len(m.Output) + len(m.Summary)
		return m, nil
	}
	var blocks []struct{ Type, Text, ID string }
	if err := json.Unmarshal(m.Content, &blocks); err != nil {
		return m, err
	}
	for _, b := range blocks {
		flag(b.Type == "image", 2)
		flag(b.Type == "toolCall", 4)
		flag(b.Type == "thinking", 8)
		if b.Type == "text" {
			m.textBytes += len(b.Text)
		}
		if b.Type == "toolCall" {
			m.calls = append(m.calls, b.ID)
		}
	}
	return m, nil
}

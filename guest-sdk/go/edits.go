package weir

import (
	"strconv"
)

// Edits collects what a context handler changes. Indexes are those of the
// messages as received, whatever was changed before. A call that makes no sense
// (an index out of range, one message dropped or replaced twice) makes the
// answer a fault. Without edits the messages stay as they are.
type Edits struct {
	count    int
	gone     []uint64 // a bit for each message that is dropped or replaced
	dropped  []byte   // the indexes, encoded
	replaced []edit
	inserted []edit
	messages []Item
	whole    bool
	err      error
}

type edit struct {
	at      int
	message JSON
}

// Item is a message of the list given to SetMessages: Message if that is not
// "", otherwise the message received at index Ref.
type Item struct {
	Ref     int
	Message JSON
}

func (e *Edits) reset(count int) {
	e.count = count
	e.gone = e.gone[:0]
	for range (count + 63) / 64 {
		e.gone = append(e.gone, 0)
	}
	e.dropped, e.replaced, e.inserted = e.dropped[:0], e.replaced[:0], e.inserted[:0]
	e.messages, e.whole, e.err = nil, false, nil
}

// Len returns the number of messages received.
func (e *Edits) Len() int { return e.count }

// Drop leaves a message out of what the model sees.
func (e *Edits) Drop(index int) {
	if !e.take("Drop", index) {
		return
	}
	if len(e.dropped) > 0 {
		e.dropped = append(e.dropped, ',')
	}
	e.dropped = strconv.AppendInt(e.dropped, int64(index), 10)
}

// Replace puts a message of the same role in the place of another.
func (e *Edits) Replace(index int, message JSON) {
	if e.take("Replace", index) {
		e.replaced = append(e.replaced, edit{index, message})
	}
}

// Insert puts a message before the one received at index; Len appends. Several
// at one index keep the order of the calls.
func (e *Edits) Insert(index int, message JSON) {
	if index < 0 || index > e.count {
		e.fail("Insert", index, "is out of range")
		return
	}
	e.inserted = append(e.inserted, edit{index, message})
}

// SetMessages gives the whole list instead of edits; with edits it is a fault.
func (e *Edits) SetMessages(list []Item) {
	e.messages = list
	e.whole = true
}

// take marks a message as dropped or replaced.
func (e *Edits) take(what string, index int) bool {
	if index < 0 || index >= e.count {
		e.fail(what, index, "is out of range")
		return false
	}
	bit := uint64(1) << (index % 64)
	if e.gone[index/64]&bit != 0 {
		e.fail(what, index, "was dropped or replaced before")
		return false
	}
	e.gone[index/64] |= bit
	return true
}

func (e *Edits) fail(what string, index int, problem string) {
	if e.err == nil {
		e.err = answerText(what + ": index " + strconv.Itoa(index) + " of " + strconv.Itoa(e.count) + " messages " + problem)
	}
}

func (e *Edits) append(b []byte) (_ []byte, err error) {
	edited := len(e.dropped)+len(e.replaced)+len(e.inserted) > 0
	switch {
	case e.err != nil:
		return b, e.err
	case e.whole && edited:
		return b, answerText("SetMessages and edits exclude each other")
	case e.whole:
		return e.appendMessages(b)
	}
	b = append(b, '{')
	if len(e.dropped) > 0 {
		b = append(b, `"drop":[`...)
		b = append(b, e.dropped...)
		b = append(b, ']', ',')
	}
	if b, err = appendEdits(b, "replace", e.replaced); err != nil {
		return b, err
	}
	if b, err = appendEdits(b, "insert", e.inserted); err != nil {
		return b, err
	}
	if edited {
		b = b[:len(b)-1]
	}
	return append(b, '}'), nil
}

func appendEdits(b []byte, key string, edits []edit) (_ []byte, err error) {
	if len(edits) == 0 {
		return b, nil
	}
	b = append(b, '"')
	b = append(b, key...)
	b = append(b, `":[`...)
	for i, e := range edits {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"at":`...)
		b = strconv.AppendInt(b, int64(e.at), 10)
		b = append(b, `,"message":`...)
		if b, err = appendCheckedObject(b, "the message to "+key+" at "+strconv.Itoa(e.at), e.message); err != nil {
			return b, err
		}
		b = append(b, '}')
	}
	return append(b, ']', ','), nil
}

func (e *Edits) appendMessages(b []byte) (_ []byte, err error) {
	b = append(b, `{"messages":[`...)
	for i, m := range e.messages {
		if i > 0 {
			b = append(b, ',')
		}
		if m.Message != "" {
			if b, err = appendCheckedObject(b, "message "+strconv.Itoa(i), m.Message); err != nil {
				return b, err
			}
			continue
		}
		if !e.take("SetMessages", m.Ref) {
			return b, e.err
		}
		b = append(b, `{"ref":`...)
		b = strconv.AppendInt(b, int64(m.Ref), 10)
		b = append(b, '}')
	}
	return append(b, ']', '}'), nil
}

package wire

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"weir/agentcore"
)

// ContextResult is the answer of a context hook: edits of the messages it was given, or a list of its own. Indexes are
// those of the messages as received. The zero value is no opinion.
type ContextResult struct {
	// Drop are the indexes of messages to leave out.
	Drop []int

	replace []placed
	insert  []placed
	list    []element
	hasList bool
	// src is a copy of the output, in which placed and element point.
	src []byte
}

// placed is a message of the guest's and where it goes.
type placed struct {
	index int
	msg   read
}

// element is one element of messages: an original by index, or the bytes of a message.
type element struct {
	ref        int // -1 for a message
	start, end int
}

// NoOpinion says that the hook wants the messages as they are.
func (c *ContextResult) NoOpinion() bool {
	return !c.hasList && len(c.Drop) == 0 && len(c.replace) == 0 && len(c.insert) == 0
}

// Key tables; read only.
var (
	contextKeys = []string{"drop", "replace", "insert", "messages"}
	placedKeys  = []string{"at", "message"}
	refKeys     = []string{"ref"}
)

const maxIndex = 1<<31 - 1

// ParseContext reads the answer of a context hook, in either view. What depends on the messages, such as the range of an
// index, is left to [ContextResult.Apply].
func ParseContext(out []byte) (*ContextResult, error) {
	c := &ContextResult{}
	err := parse(out, contextKeys, func(r *reader, i int) {
		switch i {
		case 0:
			if r.array() {
				for n := 0; r.more(&n); {
					c.Drop = append(c.Drop, int(r.int(0, maxIndex)))
				}
			}
		case 1:
			c.replace = r.placed()
		case 2:
			c.insert = r.placed()
		case 3:
			c.hasList = true
			if r.array() {
				for n := 0; r.more(&n); {
					c.list = append(c.list, r.element())
				}
			}
		}
	}, func(r *reader, f *fields) {
		if c.hasList && (f.has(0) || f.has(1) || f.has(2)) {
			r.fail(f.start, "messages and edits exclude each other")
		}
	})
	if err != nil {
		return nil, err
	}
	if c.hasList || len(c.replace) > 0 || len(c.insert) > 0 {
		c.src = bytes.Clone(out)
	}
	return c, nil
}

func (r *reader) placed() []placed {
	var list []placed
	if !r.array() {
		return nil
	}
	for n := 0; r.more(&n); {
		p := placed{}
		f := r.object(placedKeys)
		for i := r.next(&f); i >= 0; i = r.next(&f) {
			if i == 0 {
				p.index = int(r.int(0, maxIndex))
			} else {
				p.msg = r.message(false)
			}
		}
		r.require(&f, 0, 1)
		list = append(list, p)
	}
	return list
}

// element reads {"ref":i}, or skips over a message: whether its shape counts is known only when the originals are.
func (r *reader) element() element {
	if r.peek() != '{' {
		r.wrongType("an object")
		return element{}
	}
	start, depth, began := r.pos, r.depth, false
	isRef := false
	if r.enter() {
		from, to, key, ok := r.nextKey(&began)
		isRef = ok && (string(key) == "ref" || string(r.src[from:to]) == `"ref"`)
	}
	if r.err != nil {
		return element{}
	}
	r.pos, r.depth = start, depth
	if !isRef {
		r.skip()
		return element{ref: -1, start: start, end: r.pos}
	}
	e := element{start: start}
	f := r.object(refKeys)
	for r.next(&f) >= 0 {
		e.ref = int(r.int(0, maxIndex))
	}
	return e
}

// op is one edit, in the order of application.
type op struct {
	at, kind, order int32
}

const (
	opInsert int32 = iota
	opDrop
	opReplace
)

// Apply returns the messages that the hook wants instead of before. before is not changed, and what is not replaced
// keeps its *Message; no opinion returns before itself. Inserts keep their order and stand before the message at their
// index; at len(before) they append. An element of messages that is equal to an original that no element has named yet, as a
// JSON value, is that original; another copy of it is a message like any other. A message of the guest's that has no
// timestamp gets one: of the message it replaces, of the one it is inserted before (the last one at the end), of the
// element before it (0 for the first). A replacement keeps the ID of what it replaces; other new messages have none.
//
// An index out of range, an index dropped or replaced twice, a ref twice and a message of a wrong shape are an
// [*OutputError]. Pairs and roles are [ContextResult.Gate]'s business.
func (c *ContextResult) Apply(before []*agentcore.Message) ([]*agentcore.Message, error) {
	if c.NoOpinion() {
		return before, nil
	}
	r := reader{src: c.src}
	if c.hasList {
		return c.applyList(&r, before)
	}
	ops, err := c.ops(len(before))
	if err != nil {
		return nil, err
	}
	after := make([]*agentcore.Message, 0, len(before)+len(c.insert)-len(c.Drop))
	copied := 0
	for _, o := range ops {
		at := int(o.at)
		after = append(after, before[copied:at]...)
		copied = at
		switch o.kind {
		case opInsert:
			p := c.insert[o.order]
			after = append(after, r.finish(p.msg, neighbourTime(before, at)))
		case opDrop:
			copied++
		case opReplace:
			p := c.replace[o.order]
			if m := r.finish(p.msg, timestamp(before[at])); m != nil {
				after = append(after, m.WithID(before[at].ID()))
			}
			copied++
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	return append(after, before[copied:]...), nil
}

// ops checks the indexes against n messages and sorts the edits by place.
func (c *ContextResult) ops(n int) ([]op, error) {
	// More than n drops or replacements hold one that is out of range or there twice among the first n+1: a guest that
	// returns millions of them costs no sorting.
	drop, replace := c.Drop[:min(len(c.Drop), n+1)], c.replace[:min(len(c.replace), n+1)]
	ops := make([]op, 0, len(drop)+len(replace)+len(c.insert))
	for i, at := range drop {
		if at >= n {
			return nil, outOfRange("drop", "", i, at, n)
		}
		ops = append(ops, op{int32(at), opDrop, int32(i)})
	}
	for i, p := range replace {
		if p.index >= n {
			return nil, outOfRange("replace", ".at", i, p.index, n)
		}
		ops = append(ops, op{int32(p.index), opReplace, int32(i)})
	}
	for i, p := range c.insert {
		if p.index > n {
			return nil, outOfRange("insert", ".at", i, p.index, n)
		}
		ops = append(ops, op{int32(p.index), opInsert, int32(i)})
	}
	slices.SortFunc(ops, func(a, b op) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.kind, b.kind), cmp.Compare(a.order, b.order))
	})
	for i := 1; i < len(ops); i++ {
		a, b := ops[i-1], ops[i]
		if a.at != b.at || a.kind == opInsert {
			continue
		}
		path := fmt.Sprintf("drop[%d]", b.order)
		if b.kind == opReplace {
			path = fmt.Sprintf("replace[%d].at", b.order)
		}
		return nil, &OutputError{Path: path, Offset: -1, Message: fmt.Sprintf("message %d is dropped or replaced twice", b.at)}
	}
	return ops, nil
}

func outOfRange(list, key string, i, at, n int) error {
	return &OutputError{
		Path:    fmt.Sprintf("%s[%d]%s", list, i, key),
		Offset:  -1,
		Message: fmt.Sprintf("index %d is out of range; %d messages were given", at, n),
	}
}

func (c *ContextResult) applyList(r *reader, before []*agentcore.Message) ([]*agentcore.Message, error) {
	after := make([]*agentcore.Message, 0, len(c.list))
	known := originals{messages: before, used: make([]bool, len(before))}
	last := int64(0)
	for i, e := range c.list {
		at := e.ref
		switch {
		case at >= len(before):
			return nil, outOfRange("messages", ".ref", i, at, len(before))
		case at >= 0 && known.used[at]:
			return nil, &OutputError{
				Path:    fmt.Sprintf("messages[%d].ref", i),
				Offset:  -1,
				Message: fmt.Sprintf("message %d is named twice", at),
			}
		case at < 0:
			at = known.find(c.src[e.start:e.end])
		}
		if at >= 0 {
			known.take(at)
			after = append(after, before[at])
			last = timestamp(before[at])
			continue
		}
		// The element was read to its end before; here its keys are judged.
		r.pos, r.depth = e.start, 2
		m := r.finish(r.message(false), last)
		if r.err != nil {
			return nil, r.err
		}
		after = append(after, m)
		last = timestamp(m)
	}
	return after, nil
}

// timestamp is the time of a message in milliseconds.
func timestamp(m *agentcore.Message) int64 {
	switch b := m.Body().(type) {
	case *agentcore.UserMessage:
		return b.Timestamp
	case *agentcore.AssistantMessage:
		return b.Timestamp
	case *agentcore.ToolResultMessage:
		return b.Timestamp
	case *agentcore.OpaqueMessage:
		return b.Timestamp
	}
	return 0
}

func neighbourTime(before []*agentcore.Message, at int) int64 {
	if len(before) == 0 {
		return 0
	}
	return timestamp(before[min(at, len(before)-1)])
}

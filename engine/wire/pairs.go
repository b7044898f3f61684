package wire

import (
	"fmt"
	"strconv"

	"weir/agentcore"
)

// PairError says how a context result breaks the pairs of tool calls and their results (ABI section 7).
type PairError struct {
	// Index is the place, among the messages that the extension wants, of the message with the call or the result; -1 when
	// it is not about one of them.
	Index int
	// CallID is the id of the call; "" when it is not about one.
	CallID  string
	Message string
}

// Error is the message.
func (e *PairError) Error() string { return e.Message }

// Gate is the whole pair gate for this result: no replace may change a role, and [CheckPairs]. after is what
// [ContextResult.Apply] made of before. The error is a [*PairError].
func (c *ContextResult) Gate(before, after []*agentcore.Message) error {
	for i, p := range c.replace {
		if was := before[p.index].Role(); was != p.msg.role {
			return &PairError{
				Index: -1,
				Message: fmt.Sprintf("replace[%d] turns message %d from %s into %s; a role cannot be changed",
					i, p.index, shorten(string(was)), p.msg.role),
			}
		}
	}
	return CheckPairs(before, after)
}

// CheckPairs says whether an extension that turned before into after left the pairs of tool calls and results whole. A
// result belongs to the nearest assistant message before it with nothing but results between the two, and answers one call
// of it with its id that no earlier result answers; the order of the results does not matter.
//
// What before already lacked is not the extension's fault: a call or a result that was alone there may stay alone, in its own
// message or, with the same id, in a message that took its place. Any other call without a result, or result without a
// call, in after is a fault: whether its other half was dropped, moved, cut off by a message in between, answered twice,
// or never was there because the extension made it up. So is an after without messages, when before had some.
//
// Equal pointers are the same message; only stretches in which the two differ are looked into. The error is a
// [*PairError].
func CheckPairs(before, after []*agentcore.Message) error {
	if len(after) == 0 && len(before) > 0 {
		return &PairError{Index: -1, Message: "no message is left"}
	}
	was, now := changedSingles(before, after)
	if len(now) == 0 {
		return nil
	}
	alone := make(map[single]int, len(was))
	for _, s := range was {
		alone[s.single]++
	}
	fresh := now[:0]
	for _, s := range now {
		if alone[s.single] > 0 {
			alone[s.single]--
		} else {
			fresh = append(fresh, s)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	kept := make(map[*agentcore.Message]bool, len(after))
	for _, m := range after {
		kept[m] = true
	}
	had := make(map[*agentcore.Message]bool, len(before))
	for _, m := range before {
		had[m] = true
	}
	heirs := map[single]int{}
	for s, n := range alone {
		if !kept[s.msg] {
			heirs[single{result: s.result, id: s.id}] += n
		}
	}
	for _, s := range fresh {
		heir := single{result: s.result, id: s.id}
		if !had[s.msg] && heirs[heir] > 0 {
			heirs[heir]--
			continue
		}
		return s.fault()
	}
	return nil
}

// single is half a pair without its other half.
type single struct {
	msg    *agentcore.Message
	id     string
	result bool
}

type placedSingle struct {
	single
	index int
}

func (s placedSingle) fault() error {
	id := quoteShort(s.id)
	text := "the result of call " + id + " (message " + strconv.Itoa(s.index) + " of what the extension returned) does not follow its call"
	if !s.result {
		text = "the call " + id + " (message " + strconv.Itoa(s.index) + " of what the extension returned) is not followed by its result"
	}
	return &PairError{Index: s.index, CallID: s.id, Message: text}
}

// changedSingles returns the singles of both lists in the stretches in which they differ. A stretch begins and ends where a
// new group begins in both (a group is a message and the results behind it), so that what lies outside pairs up alike.
func changedSingles(before, after []*agentcore.Message) (was, now []placedSingle) {
	// effort bounds the search for the places where the lists meet again; without it, k replacements in n messages would
	// cost k·n.
	effort := 4 * (len(before) + len(after))
	var g group
	j, i := 0, 0
	for {
		from := i
		for i < len(after) && j < len(before) && before[j] == after[i] {
			i++
			j++
		}
		if i == len(after) && j == len(before) {
			return was, now
		}
		startJ, startI := j, i
		for startI > from {
			startI--
			startJ--
			if !isResult(after[startI]) {
				break
			}
		}
		j, i = meet(before, after, j, i, &effort)
		was = appendSingles(was, before, startJ, j, &g)
		now = appendSingles(now, after, startI, i, &g)
	}
}

// meet returns the first place at or after j and i, as far as it finds it, at which the lists agree and a group begins in both.
func meet(before, after []*agentcore.Message, j, i int, effort *int) (int, int) {
	for {
		for j < len(before) && i < len(after) && before[j] == after[i] {
			if !isResult(before[j]) {
				return j, i
			}
			j++
			i++
		}
		if j == len(before) || i == len(after) {
			return len(before), len(after)
		}
		dj, di := nearest(before[j:], after[i:], effort)
		if dj < 0 {
			return len(before), len(after)
		}
		j += dj
		i += di
	}
}

// nearest finds a message that both lists hold: close by in either, or else the first of after anywhere in before.
func nearest(before, after []*agentcore.Message, effort *int) (dj, di int) {
	const near = 8
	for d := 1; d <= near; d++ {
		for k := 0; k <= d; k++ {
			*effort--
			if d < len(before) && k < len(after) && before[d] == after[k] {
				return d, k
			}
			if k < len(before) && d < len(after) && before[k] == after[d] {
				return k, d
			}
		}
	}
	for d, m := range before {
		if m == after[0] {
			return d, 0
		}
		if *effort--; *effort < 0 {
			break
		}
	}
	return -1, -1
}

func isResult(m *agentcore.Message) bool { return m.Role() == agentcore.RoleToolResult }

// appendSingles appends the singles of messages[from:to]. g is room to work in.
func appendSingles(list []placedSingle, messages []*agentcore.Message, from, to int, g *group) []placedSingle {
	g.ids, g.waiting = g.ids[:0], nil
	for i := from; i < to; i++ {
		m := messages[i]
		if result := m.ToolResult(); result != nil {
			if !g.answer(result.ToolCallID) {
				list = append(list, placedSingle{single{m, result.ToolCallID, true}, i})
			}
			continue
		}
		list = g.appendOpen(list)
		g.open(m, i)
	}
	return g.appendOpen(list)
}

// group is a message and the calls in it that have no result yet.
type group struct {
	msg   *agentcore.Message
	index int
	ids   []string
	// waiting counts the open calls by id once there are many: a guest may make up a message of a hundred thousand calls.
	// nil until then; ids is then no longer kept up to date.
	waiting map[string]int
}

const manyCalls = 64

func (g *group) open(m *agentcore.Message, index int) {
	g.msg, g.index, g.ids, g.waiting = m, index, g.ids[:0], nil
	body := m.Assistant()
	if body == nil {
		return
	}
	for _, b := range body.Content {
		if call, ok := b.(*agentcore.ToolCall); ok {
			g.ids = append(g.ids, call.ID)
		}
	}
	if len(g.ids) > manyCalls {
		g.waiting = make(map[string]int, len(g.ids))
		for _, id := range g.ids {
			g.waiting[id]++
		}
	}
}

// answer closes an open call with the id; false when there is none.
func (g *group) answer(id string) bool {
	if g.waiting != nil {
		g.waiting[id]--
		return g.waiting[id] >= 0
	}
	for k, open := range g.ids {
		if open == id {
			g.ids = append(g.ids[:k], g.ids[k+1:]...)
			return true
		}
	}
	return false
}

func (g *group) appendOpen(list []placedSingle) []placedSingle {
	for _, id := range g.ids {
		if g.waiting != nil {
			if g.waiting[id] <= 0 {
				continue
			}
			g.waiting[id]--
		}
		list = append(list, placedSingle{single{g.msg, id, false}, g.index})
	}
	return list
}

package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"weir/agentcore"
	"weir/engine/wire"
)

// ContextEvent is the payload of context: the messages as the extensions before have left them. The slice and what is in
// it must not be changed.
type ContextEvent struct{ Messages []*agentcore.Message }

// Context has the set decide what the model sees. The slice that is returned is a new one where anything changed; the
// messages given, and the slice, never change. The pair gate (ABI section 7) is part of it. A fault leaves the messages
// as they were, unless it is to block: then it is returned.
func (e *Engine) Context(ctx context.Context, messages []*agentcore.Message) ([]*agentcore.Message, error) {
	l := e.enter()
	defer e.leave(ctx, l)
	account := l.newAccount()
	defer func() { e.settle(ctx, account, wire.DecisionEvent{Event: wire.EventContext}) }()
	history := messages
	var edits []promptEdit
	for i := range l.handlers[wire.EventContext] {
		h := &l.handlers[wire.EventContext][i]
		before := messages
		after := messages
		ev := &Event{Kind: wire.EventContext, Payload: &ContextEvent{Messages: before}, At: e.moment(), account: account, Check: func(result any) error {
			r := result.(*wire.ContextResult)
			edited, err := r.Apply(before)
			if err != nil {
				return err
			}
			if l.pairs {
				if err := r.Gate(before, edited); err != nil {
					return err
				}
			}
			after = edited
			return nil
		}}
		_, err := e.deliver(ctx, h, ev, Record{}, func(any) (Outcome, string) { return judgeContext(before, after) })
		switch {
		case err != nil && h.strict:
			return nil, fmt.Errorf("the request was not sent: %w", err)
		case err == nil && !h.monitor:
			if e.cfg.Prompt != nil && !slices.Equal(before, after) {
				edits = append(edits, promptEdit{h.ext.Name(), after})
			}
			messages = after
		}
	}
	if e.cfg.Prompt != nil {
		e.prompt.context(history, edits)
	}
	return messages, nil
}

// judgeContext says what an edit did: how many messages of before are gone, and how many of after are new.
func judgeContext(before, after []*agentcore.Message) (Outcome, string) {
	if slices.Equal(before, after) {
		return OutcomeNone, ""
	}
	known := make(map[*agentcore.Message]bool, len(before))
	for _, m := range before {
		known[m] = true
	}
	added := 0
	for _, m := range after {
		if known[m] {
			delete(known, m)
		} else {
			added++
		}
	}
	// A replaced message is one gone and one added at its place.
	gone := len(known)
	replaced := min(gone, added)
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{gone - replaced, "dropped"}, {replaced, "replaced"}, {added - replaced, "inserted"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if len(parts) == 0 {
		parts = []string{"reordered"}
	}
	return OutcomeRewrite, fmt.Sprintf("%s of %d messages", strings.Join(parts, ", "), len(before))
}

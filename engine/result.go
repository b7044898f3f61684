package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"weir/agentcore"
	"weir/engine/facts"
	"weir/engine/wire"
)

// ToolResult has the set rewrite what a tool returned: each extension sees what the one before it made of it, and
// replaces the fields that it names. A fault leaves the result as it was unless it is to block: then the result is
// withheld and an error result says so, and nobody else is asked. The returned event is a new one where anything
// changed; changed says whether.
func (e *Engine) ToolResult(ctx context.Context, ev wire.ToolResultEvent) (result wire.ToolResultEvent, changed bool) {
	l := e.enter()
	defer e.leave(ctx, l)
	account := l.newAccount()
	defer func() {
		e.settle(ctx, account, wire.DecisionEvent{Event: wire.EventToolResult, ToolName: ev.ToolName, ToolCallID: ev.ToolCallID})
	}()
	var known *facts.Event // of the result as it is now
	for i := range l.handlers[wire.EventToolResult] {
		h := &l.handlers[wire.EventToolResult][i]
		if !h.wants(ev.ToolName) {
			continue
		}
		now := ev
		if h.facts != 0 {
			if known == nil {
				known = l.facts.ToolResult(ev.ToolName, ev.Input, ev.Content)
			}
			now.Facts = known.JSON(h.facts)
		}
		in := &Event{Kind: wire.EventToolResult, Payload: &now, At: e.moment(), account: account}
		answer, err := e.deliver(ctx, h, in, Record{Tool: ev.ToolName, ToolCallID: ev.ToolCallID}, judgeToolResult)
		if err != nil {
			if h.strict {
				return withheld(ev, err), true
			}
			continue
		}
		if r, _ := answer.(*wire.ToolResultResult); r != nil && !emptyResult(r) {
			ev = mergeResult(ev, r)
			changed, known = true, nil
		}
	}
	return ev, changed
}

// mergeResult replaces the fields that r names. ev is a copy already.
func mergeResult(ev wire.ToolResultEvent, r *wire.ToolResultResult) wire.ToolResultEvent {
	if r.Content != nil {
		ev.Content = r.Content
	}
	if r.Details != nil {
		ev.Details = r.Details
	}
	if r.IsError != nil {
		ev.IsError = *r.IsError
	}
	if r.Usage != nil {
		ev.Usage = r.Usage
	}
	return ev
}

// withheld stands in for a result that an extension should have looked at and could not.
func withheld(ev wire.ToolResultEvent, why error) wire.ToolResultEvent {
	ev.Content = []agentcore.Block{&agentcore.TextBlock{Text: fmt.Sprintf("The result of this call was withheld: %v", why)}}
	ev.Details = json.RawMessage("{}")
	ev.IsError = true
	ev.Usage = nil
	return ev
}

func emptyResult(r *wire.ToolResultResult) bool {
	return r.Content == nil && r.Details == nil && r.IsError == nil && r.Usage == nil
}

func judgeToolResult(result any) (Outcome, string) {
	r, _ := result.(*wire.ToolResultResult)
	if r == nil || emptyResult(r) {
		return OutcomeNone, ""
	}
	var changed []string
	if r.Content != nil {
		changed = append(changed, "content")
	}
	if r.Details != nil {
		changed = append(changed, "details")
	}
	if r.IsError != nil {
		changed = append(changed, "isError")
	}
	if r.Usage != nil {
		changed = append(changed, "usage")
	}
	return OutcomeRewrite, strings.Join(changed, ", ")
}

// WithholdsUpdates names the extension for whose sake partial results of a tool are kept back, and the file with its full
// output is not written: the first enforcing one that hooks the tool's results. "" when there is none.
func (e *Engine) WithholdsUpdates(tool string) string {
	l := e.lineup.Load()
	for i := range l.handlers[wire.EventToolResult] {
		if h := &l.handlers[wire.EventToolResult][i]; !h.monitor && h.wants(tool) {
			return h.ext.Name()
		}
	}
	return ""
}

// partial replaces a partial result by a count of its bytes when somebody has yet to rewrite the whole.
func (e *Engine) partial(tool string, r *agentcore.ToolResult) *agentcore.ToolResult {
	name := e.WithholdsUpdates(tool)
	if name == "" || r == nil || e.cfg.Trusting {
		return r
	}
	n := 0
	for _, b := range r.Content {
		switch b := b.(type) {
		case *agentcore.TextBlock:
			n += len(b.Text)
		case *agentcore.ImageBlock:
			n += len(b.Data)
		}
	}
	text := fmt.Sprintf("[%d bytes so far, withheld until %s has seen the result]", n, name)
	return &agentcore.ToolResult{Content: []agentcore.Block{&agentcore.TextBlock{Text: text}}}
}

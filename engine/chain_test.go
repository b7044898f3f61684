package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/engine"
	"weir/engine/set"
	"weir/engine/wire"
)

func call(input string) wire.ToolCallEvent {
	return wire.ToolCallEvent{ToolName: "bash", ToolCallID: "c1", Input: json.RawMessage(input)}
}

func TestToolCallFirstBlockEndsTheChain(t *testing.T) {
	blocker := gate("blocker", func(string) (*wire.ToolCallResult, error) {
		return &wire.ToolCallResult{Block: true, Reason: "no", Terminate: true}, nil
	})
	after := allow("after")
	e := open(t, engine.Config{}, allow("before"), blocker, after)
	d := e.ToolCall(t.Context(), call(`{}`), nil)
	want := engine.Decision{Block: true, Reason: "no", By: "blocker", Terminate: true, Input: json.RawMessage(`{}`)}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
	if len(after.seen) != 0 {
		t.Error("the extension after the block was asked")
	}
}

func TestToolCallBlockWithoutReasonNamesTheExtension(t *testing.T) {
	e := open(t, engine.Config{}, gate("quiet", func(string) (*wire.ToolCallResult, error) { return &wire.ToolCallResult{Block: true}, nil }))
	if d := e.ToolCall(t.Context(), call(`{}`), nil); !strings.Contains(d.Reason, "quiet") {
		t.Errorf("reason %q does not name the extension", d.Reason)
	}
}

func TestToolCallFaultBlocksAndNamesExtensionAndFault(t *testing.T) {
	e := open(t, engine.Config{}, gate("broken", func(string) (*wire.ToolCallResult, error) {
		return nil, errors.New("broken: tool_call: trap: unreachable")
	}))
	d := e.ToolCall(t.Context(), call(`{}`), nil)
	if !d.Block || d.By != "broken" || d.Reason != "broken: tool_call: trap: unreachable; the call was blocked" {
		t.Errorf("%+v", d)
	}
}

// TestToolCallOfACancelledRun: what an extension was doing when the run ended is no reason; what it failed with itself is.
func TestToolCallOfACancelledRun(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	var failure error
	interrupted := gate("interrupted", func(string) (*wire.ToolCallResult, error) {
		cancel(enough)
		return nil, failure
	})
	for _, trusting := range []bool{false, true} {
		e := open(t, engine.Config{Trusting: trusting}, interrupted, allow("after"))
		for _, failure = range []error{fmt.Errorf("deadline: %w", context.Canceled), fmt.Errorf("deadline: %w", enough)} {
			want := engine.Decision{Block: true, Reason: "Operation aborted", Input: json.RawMessage(`{}`)}
			if diff := cmp.Diff(want, e.ToolCall(ctx, call(`{}`), nil)); diff != "" {
				t.Error(diff)
			}
		}
		failure = errors.New("broken")
		if d := e.ToolCall(ctx, call(`{}`), nil); !d.Block || d.By != "interrupted" || !strings.HasPrefix(d.Reason, "broken") {
			t.Errorf("a failure of its own: %+v", d)
		}
		failure = context.Canceled
		if d := e.ToolCall(t.Context(), call(`{}`), nil); d.By != "interrupted" {
			t.Errorf("in a run that goes on: %+v", d)
		}
	}
}

func TestToolCallRewriteIsSeenByAllAndRuns(t *testing.T) {
	before, after := allow("before"), allow("after")
	e := open(t, engine.Config{}, before, rewriter("rewriter", `{"a":1}`, `{"a":2}`), after)
	d := e.ToolCall(t.Context(), call(`{"a":1}`), nil)
	want := engine.Decision{Input: json.RawMessage(`{"a":2}`), Rewritten: []string{"rewriter"}}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{`{"a":1}`, `R{"a":2}`}, before.inputs()); diff != "" {
		t.Errorf("before: %s", diff)
	}
	if diff := cmp.Diff([]string{`{"a":2}`}, after.inputs()); diff != "" {
		t.Errorf("after: %s", diff)
	}
}

func TestToolCallRecheckMayBlockWhatALaterOneMadeOfIt(t *testing.T) {
	guard := gate("guard", func(input string) (*wire.ToolCallResult, error) {
		return &wire.ToolCallResult{Block: input == `{"a":"bad"}`, Reason: "bad"}, nil
	})
	e := open(t, engine.Config{}, guard, rewriter("rewriter", `{}`, `{"a":"bad"}`))
	if d := e.ToolCall(t.Context(), call(`{}`), nil); !d.Block || d.By != "guard" {
		t.Errorf("%+v", d)
	}
}

func TestToolCallRecheckOff(t *testing.T) {
	first := allow("first")
	e := open(t, engine.Config{Set: &set.Set{Pairs: true}}, first, rewriter("rewriter", `{}`, `{"a":1}`))
	if d := e.ToolCall(t.Context(), call(`{}`), nil); d.Block || len(first.seen) != 1 {
		t.Errorf("%+v, asked %d times", d, len(first.seen))
	}
}

func TestToolCallThatNeverSettlesIsBlocked(t *testing.T) {
	n := 0
	flip := func(name string) *fake {
		return gate(name, func(string) (*wire.ToolCallResult, error) {
			n++
			return &wire.ToolCallResult{Input: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))}, nil
		})
	}
	a, b := flip("a"), flip("b")
	e := open(t, engine.Config{}, a, b)
	d := e.ToolCall(t.Context(), call(`{}`), nil)
	if !d.Block || !strings.Contains(d.Reason, "after 3 rounds of rechecks") {
		t.Errorf("%+v", d)
	}
	if got := len(a.seen); got != 4 {
		t.Errorf("a was asked %d times, want once and three rechecks", got)
	}
}

func TestToolCallInvalidRewriteIsAFault(t *testing.T) {
	e := open(t, engine.Config{}, rewriter("rewriter", `{}`, `{"a":"x"}`))
	d := e.ToolCall(t.Context(), call(`{}`), func(json.RawMessage) (json.RawMessage, error) { return nil, errors.New("a must be a number") })
	if !d.Block || !strings.Contains(d.Reason, "rewritten arguments: a must be a number") {
		t.Errorf("%+v", d)
	}
}

func TestToolCallCoercedRewriteIsRecheckedByItsAuthor(t *testing.T) {
	author := rewriter("author", `{"a":1}`, `{"a":"2"}`)
	e := open(t, engine.Config{}, author)
	d := e.ToolCall(t.Context(), call(`{"a":1}`), func(raw json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(strings.ReplaceAll(string(raw), `"2"`, `2`)), nil
	})
	if string(d.Input) != `{"a":2}` || d.Block {
		t.Errorf("%+v", d)
	}
	if diff := cmp.Diff([]string{`{"a":1}`, `R{"a":2}`}, author.inputs()); diff != "" {
		t.Error(diff)
	}
}

func asker(name, title string) *fake {
	return gate(name, func(string) (*wire.ToolCallResult, error) {
		return &wire.ToolCallResult{Ask: &wire.Ask{Title: title}}, nil
	})
}

func TestToolCallQuestions(t *testing.T) {
	answer := func(ok bool, err error) func(context.Context, []engine.Question) (bool, error) {
		return func(context.Context, []engine.Question) (bool, error) { return ok, err }
	}
	for _, c := range []struct {
		name   string
		ask    func(context.Context, []engine.Question) (bool, error)
		reason string // "" is allowed
	}{
		{"yes", answer(true, nil), ""},
		{"no", answer(false, nil), "first asks: really?; the person said no"},
		{"nobody", nil, "first asks: really?; nobody is there to answer, so the call was blocked"},
		{"nobody after all", answer(true, engine.ErrNoPerson), "first asks: really?; nobody is there to answer, so the call was blocked"},
		{"failure", answer(true, errors.New("terminal closed")), "first asks: really?; the question could not be put (terminal closed), so the call was blocked"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := open(t, engine.Config{Ask: c.ask}, asker("first", "really?"), asker("second", "sure?"))
			d := e.ToolCall(t.Context(), call(`{}`), nil)
			if d.Reason != c.reason || d.Block != (c.reason != "") || len(d.Asked) != 2 {
				t.Errorf("%+v", d)
			}
		})
	}
}

func TestToolCallIsAskedOnceWithTheFinalArguments(t *testing.T) {
	var got []engine.Question
	e := open(t, engine.Config{Ask: func(_ context.Context, q []engine.Question) (bool, error) {
		got = append(got, q...)
		return true, nil
	}}, asker("asker", "ok?"), rewriter("rewriter", `{}`, `{"a":1}`))
	e.ToolCall(t.Context(), call(`{}`), nil)
	want := []engine.Question{{Extension: "asker", Title: "ok?", Tool: "bash", Input: json.RawMessage(`{"a":1}`)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestToolCallBlockBeatsAsk(t *testing.T) {
	asked := false
	e := open(t, engine.Config{Ask: func(context.Context, []engine.Question) (bool, error) { asked = true; return true, nil }},
		asker("asker", "ok?"), gate("blocker", func(string) (*wire.ToolCallResult, error) {
			return &wire.ToolCallResult{Block: true, Reason: "no"}, nil
		}))
	if d := e.ToolCall(t.Context(), call(`{}`), nil); !d.Block || d.By != "blocker" || asked {
		t.Errorf("%+v, asked %v", d, asked)
	}
}

func TestToolPatterns(t *testing.T) {
	f := gate("only-read", func(string) (*wire.ToolCallResult, error) { return &wire.ToolCallResult{Block: true}, nil })
	f.hooks[wire.EventToolCall].Tools = []string{"read", "mcp__*"}
	e := open(t, engine.Config{}, f)
	if d := e.ToolCall(t.Context(), call(`{}`), nil); d.Block {
		t.Error("asked about a tool that it does not want")
	}
	ev := call(`{}`)
	ev.ToolName = "mcp__git__push"
	if d := e.ToolCall(t.Context(), ev, nil); !d.Block {
		t.Error("not asked about a tool that its pattern names")
	}
}

func TestRecords(t *testing.T) {
	var got []engine.Record
	e := open(t, engine.Config{Record: func(r engine.Record) { r.Usage = engine.Usage{}; got = append(got, r) }}, allow("a"), rewriter("b", `{}`, `{"x":1}`))
	e.ToolCall(t.Context(), call(`{}`), nil)
	base := engine.Record{Event: wire.EventToolCall, Tool: "bash", ToolCallID: "c1"}
	one, two, three := base, base, base
	one.Extension, one.Outcome = "a", engine.OutcomeNone
	two.Extension, two.Outcome, two.Reason = "b", engine.OutcomeRewrite, "arguments"
	three.Extension, three.Outcome, three.Round = "a", engine.OutcomeNone, 1
	if diff := cmp.Diff([]engine.Record{one, two, three}, got); diff != "" {
		t.Error(diff)
	}
}

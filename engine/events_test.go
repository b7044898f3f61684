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
	"weir/engine/wire"
)

// decider is an extension in Go that answers one event.
type decider struct {
	name   string
	event  wire.Event
	strict bool
	answer func(payload string) (any, error)
}

func (d *decider) Name() string { return d.name }

func (d *decider) Hook(event wire.Event) *wire.Hook {
	if event != d.event {
		return nil
	}
	return &wire.Hook{Event: event, Block: d.strict}
}

func (d *decider) Handle(_ context.Context, ev *engine.Event) (any, engine.Usage, error) {
	result, err := d.answer(string(ev.Payload.(json.RawMessage)))
	return result, engine.Usage{}, err
}

func (d *decider) Close(context.Context) error { return nil }

func openDeciders(t *testing.T, records *[]string, list ...*decider) *engine.Engine {
	t.Helper()
	cfg := engine.Config{Record: func(r engine.Record) {
		if records != nil {
			*records = append(*records, fmt.Sprintf("%s %s %s", r.Extension, r.Outcome, r.Reason))
		}
	}}
	for _, d := range list {
		cfg.Native = append(cfg.Native, d)
	}
	e, err := engine.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestAskMerges(t *testing.T) {
	two, text := "two", "changed"
	for _, c := range []struct {
		name    string
		payload wire.Payload
		answers []any // of extensions in order; an error is a fault
		want    any
		seen    []string // a piece of the payload that each extension gets
	}{
		{
			"a transform is seen by the next, a fault is left out",
			wire.InputEvent{Text: "go", Source: "rpc"},
			[]any{&wire.InputResult{Action: wire.InputTransform, Text: text}, errors.New("down"), nil},
			&wire.InputOutcome{Text: text, TransformedBy: []string{"x0"}},
			[]string{`"text":"go","source":"rpc"`, `"text":"changed"`, `"text":"changed"`},
		},
		{
			"handled ends the round",
			wire.InputEvent{Text: "go"},
			[]any{&wire.InputResult{Action: wire.InputHandled}, nil},
			&wire.InputOutcome{Handled: true, By: "x0"},
			[]string{"go"},
		},
		{
			"prompts chain",
			wire.BeforeAgentStartEvent{SystemPrompt: "base"},
			[]any{&wire.BeforeAgentStartResult{SystemPrompt: &text}, &wire.BeforeAgentStartResult{}},
			&wire.BeforeAgentStartOutcome{SystemPrompt: &text},
			[]string{`"systemPrompt":"base"`, `"systemPrompt":"changed"`},
		},
		{
			"the first with an opinion on a command",
			wire.UserBashEvent{Command: "ls"},
			[]any{&wire.UserBashResult{}, &wire.UserBashResult{Command: two}, nil},
			&wire.UserBashOutcome{Result: wire.UserBashResult{Command: two}, By: "x1"},
			[]string{"ls", "ls"},
		},
		{
			"the first decision on trust",
			wire.ProjectTrustEvent{CWD: "/r"},
			[]any{&wire.ProjectTrustResult{}, errors.New("down"), &wire.ProjectTrustResult{Trusted: wire.TrustNo}, nil},
			&wire.ProjectTrustOutcome{Result: wire.ProjectTrustResult{Trusted: wire.TrustNo}, By: "x2"},
			[]string{"/r", "/r", "/r"},
		},
		{
			"the last opinion before a session changes",
			wire.SessionBeforeForkEvent{EntryID: "e"},
			[]any{&wire.SessionBeforeResult{SkipConversationRestore: true}, &wire.SessionBeforeResult{}, nil},
			&wire.SessionBeforeOutcome{Result: wire.SessionBeforeResult{SkipConversationRestore: true}, By: "x0"},
			[]string{`"entryId":"e"`, "e", "e"},
		},
		{
			"cancel ends the round",
			wire.SessionBeforeSwitchEvent{Reason: "new"},
			[]any{&wire.SessionBeforeResult{Cancel: true}, nil},
			&wire.SessionBeforeOutcome{Result: wire.SessionBeforeResult{Cancel: true}, By: "x0"},
			[]string{"new"},
		},
		{
			"paths are joined",
			wire.ResourcesDiscoverEvent{Reason: "startup"},
			[]any{&wire.ResourcesDiscoverResult{SkillPaths: []string{"a"}}, nil, &wire.ResourcesDiscoverResult{SkillPaths: []string{"b"}, ThemePaths: []string{"t"}}},
			&wire.ResourcesDiscoverOutcome{Skills: []wire.Resource{{Extension: "x0", Path: "a"}, {Extension: "x2", Path: "b"}}, Themes: []wire.Resource{{Extension: "x2", Path: "t"}}},
			[]string{"startup", "startup", "startup"},
		},
		{
			"headers are edited in turn",
			wire.BeforeProviderHeadersEvent{Headers: []wire.HeaderEdit{{Name: "A", Value: &two}}},
			[]any{&[]wire.HeaderEdit{{Name: "a"}, {Name: "B", Value: &text}}, nil},
			[]wire.HeaderEdit{{Name: "a"}, {Name: "B", Value: &text}},
			[]string{`{"headers":{"A":"two"}}`, `{"headers":{"a":null,"B":"changed"}}`},
		},
		{
			"payloads are replaced in turn",
			wire.BeforeProviderRequestEvent{Payload: json.RawMessage(`1`)},
			[]any{raw(`{"a":1}`), nil, raw(`null`)},
			json.RawMessage(`null`),
			[]string{`{"payload":1}`, `{"payload":{"a":1}}`, `{"payload":{"a":1}}`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var seen []string
			var list []*decider
			for i, answer := range c.answers {
				list = append(list, &decider{name: fmt.Sprintf("x%d", i), event: c.payload.Kind(), answer: func(payload string) (any, error) {
					seen = append(seen, payload)
					if err, ok := answer.(error); ok {
						return nil, err
					}
					return answer, nil
				}})
			}
			got, err := openDeciders(t, nil, list...).Ask(t.Context(), c.payload)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("decided (-want +got):\n%s", diff)
			}
			if len(seen) != len(c.seen) {
				t.Fatalf("%d extensions were asked: %q; want %d", len(seen), seen, len(c.seen))
			}
			for i, piece := range c.seen {
				if !strings.Contains(seen[i], piece) {
					t.Errorf("extension %d saw %s, want %s in it", i, seen[i], piece)
				}
			}
		})
	}
}

func raw(s string) *json.RawMessage {
	r := json.RawMessage(s)
	return &r
}

// TestAskStrict has a fault forbid what an event is about, if the extension asked for that, for every event that can be
// tightened; and not for those that cannot.
func TestAskStrict(t *testing.T) {
	for _, p := range []wire.Payload{
		wire.InputEvent{},
		wire.BeforeAgentStartEvent{},
		wire.BeforeProviderHeadersEvent{},
		wire.BeforeProviderRequestEvent{Payload: json.RawMessage(`{}`)},
		wire.UserBashEvent{},
		wire.SessionBeforeSwitchEvent{},
		wire.SessionBeforeForkEvent{},
		wire.SessionBeforeCompactEvent{},
		wire.SessionBeforeTreeEvent{},
		wire.ProjectTrustEvent{},
		wire.ResourcesDiscoverEvent{},
	} {
		down := errors.New("down")
		for _, strict := range []bool{false, true} {
			var records []string
			asked := false
			e := openDeciders(t, &records,
				&decider{name: "a", event: p.Kind(), strict: strict, answer: func(string) (any, error) { return nil, down }},
				&decider{name: "b", event: p.Kind(), answer: func(string) (any, error) { asked = true; return nil, nil }})
			_, err := e.Ask(t.Context(), p)
			tightens := p.Kind() != wire.EventProjectTrust && p.Kind() != wire.EventResourcesDiscover
			if want := strict && tightens; errors.Is(err, down) != want || asked == want {
				t.Errorf("%s, strict %v: error %v, the next was asked: %v", p.Kind(), strict, err, asked)
			}
			if len(records) == 0 || records[0] != "a fault down" {
				t.Errorf("%s: records %q", p.Kind(), records)
			}
		}
	}
	if _, err := openDeciders(t, nil).Ask(t.Context(), wire.AgentSettledEvent{}); err == nil {
		t.Error("an observer's event can be asked about")
	}
}

// TestPanicIsAFault has Go code in an extension panic.
func TestPanicIsAFault(t *testing.T) {
	var records []string
	e := openDeciders(t, &records, &decider{name: "a", event: wire.EventAgentSettled, answer: func(string) (any, error) { panic("oops") }},
		&decider{name: "b", event: wire.EventAgentSettled, answer: func(string) (any, error) { return nil, nil }})
	e.Observe(t.Context(), wire.AgentSettledEvent{})
	if diff := cmp.Diff([]string{"a fault oops", "b allow "}, records); diff != "" {
		t.Error(diff)
	}
}

// TestEveryPayloadHasItsKind holds payload types and the table of kinds together: each event that is no part of a run has a
// payload, and its JSON is an object.
func TestEveryPayloadHasItsKind(t *testing.T) {
	have := map[wire.Event]bool{}
	for _, p := range wire.Payloads() {
		have[p.Kind()] = true
		encoded, err := json.Marshal(p)
		if err != nil || encoded[0] != '{' {
			t.Errorf("%s: %s, %v", p.Kind(), encoded, err)
		}
	}
	ofRun := map[wire.Event]bool{
		wire.EventAgentStart: true, wire.EventAgentEnd: true, wire.EventTurnStart: true, wire.EventTurnEnd: true, wire.EventMessageStart: true, wire.EventMessageUpdate: true,
		wire.EventMessageEnd: true, wire.EventToolExecutionStart: true, wire.EventToolExecutionUpdate: true, wire.EventToolExecutionEnd: true,
		wire.EventToolCall: true, wire.EventToolResult: true, wire.EventContext: true,
	}
	for _, k := range engine.Kinds() {
		if have[k.Event] == ofRun[k.Event] {
			t.Errorf("%s: has a payload type: %v, is part of a run: %v", k.Event, have[k.Event], ofRun[k.Event])
		}
	}
}

func BenchmarkObserveNobody(b *testing.B) {
	e, err := engine.Open(b.Context(), engine.Config{})
	if err != nil {
		b.Fatal(err)
	}
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		e.Observe(ctx, wire.AgentSettledEvent{})
	}
}

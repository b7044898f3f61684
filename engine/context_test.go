package engine_test

import (
	"testing"

	"weir/agentcore"
	"weir/engine"
	"weir/engine/set"
	"weir/engine/wire"
)

func user(s string) *agentcore.Message {
	return agentcore.NewMessage(&agentcore.UserMessage{Content: agentcore.Content{Text: s}, Timestamp: 1})
}

// editor answers context with what ParseContext makes of a result.
func editor(name, result string) *fake {
	f := &fake{name: name, hooks: map[wire.Event]*wire.Hook{wire.EventContext: {Event: wire.EventContext, View: wire.ViewFull}}}
	f.do = func(*engine.Event) (any, error) { return wire.ParseContext([]byte(result)) }
	return f
}

func TestContextChainLeavesHistoryAlone(t *testing.T) {
	history := []*agentcore.Message{user("a"), user("b"), user("c")}
	given := append([]*agentcore.Message(nil), history...)
	e := open(t, engine.Config{}, editor("one", `{"drop":[0]}`), editor("two", `{"drop":[0]}`))
	got, err := e.Context(t.Context(), history)
	if err != nil || len(got) != 1 || got[0] != history[2] {
		t.Errorf("%v, %v", got, err)
	}
	for i := range given {
		if given[i] != history[i] {
			t.Fatal("the history changed")
		}
	}
}

func TestContextFaults(t *testing.T) {
	history := []*agentcore.Message{user("a"), user("b")}
	for _, c := range []struct{ name, result string }{
		{"nothing left", `{"drop":[0,1]}`}, {"out of range", `{"drop":[2]}`}, {"twice", `{"drop":[0,0]}`}, {"role", `{"replace":[{"at":0,"message":{"role":"assistant","content":[],"stopReason":"stop"}}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var faults int
			e := open(t, engine.Config{Record: func(r engine.Record) {
				if r.Outcome == engine.OutcomeFault {
					faults++
				}
			}}, editor("bad", c.result), editor("good", `{"drop":[0]}`))
			got, err := e.Context(t.Context(), history)
			if err != nil || len(got) != 1 || faults != 1 {
				t.Errorf("%d messages, %d faults, %v", len(got), faults, err)
			}
		})
	}
}

func TestContextFaultOfATightenedHookEndsTheRequest(t *testing.T) {
	e := open(t, engine.Config{}, failing("strict", wire.EventContext, true))
	if got, err := e.Context(t.Context(), []*agentcore.Message{user("a")}); err == nil || got != nil {
		t.Errorf("%v, %v", got, err)
	}
}

func TestPairGateCanBeSwitchedOff(t *testing.T) {
	call := agentcore.NewMessage(&agentcore.AssistantMessage{Content: []agentcore.Block{&agentcore.ToolCall{ID: "c1", Name: "ls", Arguments: []byte(`{}`)}}, StopReason: agentcore.StopToolUse})
	result := agentcore.NewMessage(&agentcore.ToolResultMessage{ToolCallID: "c1", ToolName: "ls", Content: text("x")})
	history := []*agentcore.Message{user("a"), call, result}
	for _, on := range []bool{true, false} {
		e := open(t, engine.Config{Set: &set.Set{Recheck: true, Pairs: on}}, editor("cutter", `{"drop":[2]}`))
		got, err := e.Context(t.Context(), history)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]int{true: 3, false: 2}[on]; len(got) != want {
			t.Errorf("pairs %v: %d messages, want %d", on, len(got), want)
		}
	}
}

func TestObserverFaultIsIsolated(t *testing.T) {
	var records []engine.Record
	second := failing("second", wire.EventTurnStart, false)
	second.do = func(*engine.Event) (any, error) { return nil, nil }
	e := open(t, engine.Config{Record: func(r engine.Record) { records = append(records, r) }}, failing("first", wire.EventTurnStart, false), second)
	if err := e.Listener()(t.Context(), &agentcore.TurnStart{}); err != nil {
		t.Fatal(err)
	}
	if len(second.seen) != 1 || records[0].Outcome != engine.OutcomeFault || records[0].Err == nil {
		t.Errorf("%d, %+v", len(second.seen), records)
	}
}

func TestTurnIndex(t *testing.T) {
	f := failing("f", wire.EventTurnStart, false)
	f.do = func(*engine.Event) (any, error) { return nil, nil }
	e := open(t, engine.Config{}, f)
	l := e.Listener()
	for _, ev := range []agentcore.Event{
		&agentcore.AgentStart{}, &agentcore.TurnStart{}, &agentcore.TurnEnd{Message: user("x")}, &agentcore.TurnStart{}, &agentcore.TurnEnd{Message: user("x")},
		&agentcore.AgentEnd{}, &agentcore.AgentStart{}, &agentcore.TurnStart{},
	} {
		if err := l(t.Context(), ev); err != nil {
			t.Fatal(err)
		}
	}
	var got []int
	for _, ev := range f.seen {
		got = append(got, ev.At.TurnIndex)
	}
	if len(got) != 3 || got[0] != 0 || got[1] != 1 || got[2] != 0 {
		t.Errorf("turn indexes %v, want [0 1 0]", got)
	}
}

func TestKindsTable(t *testing.T) {
	kinds := engine.Kinds()
	if len(kinds) != 36 {
		t.Fatalf("%d kinds, want 36", len(kinds))
	}
	for _, k := range kinds {
		if k.Merge == 0 || k.OnFault == 0 {
			t.Errorf("%s: the row is not complete: %+v", k.Event, k)
		}
		if k.Event.Observes() != (k.Merge == engine.MergeObserve) {
			t.Errorf("%s: observes %v, merge %s", k.Event, k.Event.Observes(), k.Merge)
		}
		if k.Event.FaultMayBlock() != (k.OnFault != engine.FaultIsolate) {
			t.Errorf("%s: a fault may block %v, rule %s", k.Event, k.Event.FaultMayBlock(), k.OnFault)
		}
	}
}

// Messages that an edit leaves alone keep their bytes, images included, and so does a message that names an original.
func TestContextKeepsBytes(t *testing.T) {
	raw := `{"role":"user","content":[{"type":"text","text":"é \u00e9"},{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}],"timestamp":1,"x":1e2}`
	image, err := agentcore.DecodeMessage([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	history := []*agentcore.Message{user("a"), image, user("b")}
	for _, result := range []string{`{"drop":[0]}`, `{"messages":[{"ref":1},{"ref":2}]}`, `{"insert":[{"at":0,"message":{"role":"user","content":"new","timestamp":1}}],"drop":[0]}`, `{"messages":[` + raw + `,{"ref":2}]}`} {
		e := open(t, engine.Config{}, editor("editor", result))
		got, err := e.Context(t.Context(), history)
		if err != nil || len(got) < 2 {
			t.Fatalf("%s: %d messages, %v", result, len(got), err)
		}
		kept, err := got[len(got)-2].JSON()
		if err != nil || string(kept) != raw {
			t.Errorf("%s: %s, %v", result, kept, err)
		}
	}
}

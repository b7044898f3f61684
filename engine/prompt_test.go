package engine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
	"weir/engine"
	"weir/engine/wire"
)

// turns is an editor with an answer for each call.
func turns(name string, answers ...string) *fake {
	f := editor(name, "")
	call := 0
	f.do = func(*engine.Event) (any, error) {
		call++
		return wire.ParseContext([]byte(answers[call-1]))
	}
	return f
}

// insert is an answer that puts a message of the user somewhere.
func insert(at int, text string) string {
	return fmt.Sprintf(`{"insert":[{"at":%d,"message":{"role":"user","content":%q,"timestamp":7}}]}`, at, text)
}

func replaceBy(at int, text string, timestamp int) string {
	return fmt.Sprintf(`{"replace":[{"at":%d,"message":{"role":"user","content":%q,"timestamp":%d}}]}`, at, text, timestamp)
}

// users are messages of the user, the same for the same text.
func users() func(texts string) []*agentcore.Message {
	known := map[string]*agentcore.Message{}
	return func(texts string) []*agentcore.Message {
		var list []*agentcore.Message
		for _, text := range strings.Fields(texts) {
			if known[text] == nil {
				known[text] = user(text)
			}
			list = append(list, known[text])
		}
		return list
	}
}

// told makes a change short: call, messages kept of how many, and what changed the prefix.
func told(c engine.PromptChange) string {
	s := fmt.Sprintf("%d: %d of %d", c.Call, c.Kept, c.Messages)
	if c.Part != 0 {
		s += fmt.Sprintf(", %v by %v", c.Part, c.Cause)
	}
	if c.Extension != "" {
		s += " " + c.Extension
	}
	return s
}

func TestPromptMessages(t *testing.T) {
	const none = `{}`
	for _, c := range []struct {
		name       string
		extensions []*fake
		histories  []string
		want       []string
	}{
		{"nobody", nil, []string{"a", "a b", "a b c"}, []string{"1: 0 of 1", "2: 1 of 2", "3: 2 of 3"}},
		{"history", nil, []string{"a b c", "a x c"}, []string{"1: 0 of 3", "2: 1 of 3, messages by history"}},
		{"a shorter history", nil, []string{"a b c", "a"}, []string{"1: 0 of 3", "2: 1 of 1, messages by history"}},
		{
			"dropped in the second call",
			[]*fake{turns("idle", none, none), turns("prune", none, `{"drop":[1]}`)},
			[]string{"a b c", "a b c d"},
			[]string{"1: 0 of 3", "2: 1 of 3, messages by extension prune"},
		},
		{
			"dropped in both",
			[]*fake{turns("prune", `{"drop":[1]}`, `{"drop":[1]}`)},
			[]string{"a b c", "a b c d"},
			[]string{"1: 0 of 2", "2: 2 of 3"},
		},
		{
			"no longer dropped",
			[]*fake{turns("prune", `{"drop":[1]}`, none), turns("idle", none, none)},
			[]string{"a b c", "a b c d"},
			[]string{"1: 0 of 2", "2: 1 of 4, messages by extension prune"},
		},
		{
			"a window that moves",
			[]*fake{turns("window", none, `{"drop":[0]}`, `{"drop":[0,1]}`)},
			[]string{"a b", "a b c", "a b c d"},
			[]string{"1: 0 of 2", "2: 0 of 2, messages by extension window", "3: 0 of 2, messages by extension window"},
		},
		{
			"a note that changes at the front",
			[]*fake{turns("clock", insert(0, "12:00"), insert(0, "12:01")), turns("idle", none, none)},
			[]string{"a", "a b"},
			[]string{"1: 0 of 2", "2: 0 of 3, messages by extension clock"},
		},
		{
			"a note that does not",
			[]*fake{turns("rules", insert(0, "be brief"), insert(0, "be brief"))},
			[]string{"a", "a b"},
			[]string{"1: 0 of 2", "2: 2 of 3"},
		},
		{
			"a note at the end",
			[]*fake{turns("remind", insert(1, "go on"), insert(2, "go on"))},
			[]string{"a", "a b"},
			[]string{"1: 0 of 2", "2: 1 of 3, messages by extension remind"},
		},
		{
			"a replacement that says the same, at another time",
			[]*fake{turns("redact", replaceBy(0, "x", 1), replaceBy(0, "x", 2))},
			[]string{"a", "a b"},
			[]string{"1: 0 of 1", "2: 1 of 2"},
		},
		{
			"a replacement that begins later",
			[]*fake{turns("redact", none, replaceBy(0, "x", 1))},
			[]string{"a", "a b"},
			[]string{"1: 0 of 1", "2: 0 of 2, messages by extension redact"},
		},
		{
			"of two that edit, the one whose edit comes first",
			[]*fake{turns("late", replaceBy(2, "x", 1), replaceBy(2, "y", 1)), turns("early", replaceBy(1, "p", 1), replaceBy(1, "q", 1))},
			[]string{"a b c", "a b c"},
			[]string{"1: 0 of 3", "2: 1 of 3, messages by extension early"},
		},
		{
			"one edits, but history changed before it",
			[]*fake{turns("redact", replaceBy(2, "x", 1), replaceBy(2, "y", 1))},
			[]string{"a b c", "z b c"},
			[]string{"1: 0 of 3", "2: 0 of 3, messages by history"},
		},
		{
			"messages that were taken out again by another one",
			[]*fake{turns("notes", insert(1, "n"), insert(1, "n")), turns("prune", none, `{"drop":[1]}`)},
			[]string{"a b", "a b"},
			[]string{"1: 0 of 3", "2: 1 of 2, messages by extension notes"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			e := open(t, engine.Config{Prompt: func(p engine.PromptChange) { got = append(got, told(p)) }}, c.extensions...)
			messages := users()
			for _, texts := range c.histories {
				prompt(t, e, messages(texts), "system")
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("changes (-want +got):\n%s", d)
			}
		})
	}
}

// prompt is a model call.
func prompt(t *testing.T, e *engine.Engine, history []*agentcore.Message, system string, tools ...*agentcore.Tool) {
	t.Helper()
	sent, err := e.Hooks().TransformContext(t.Context(), history)
	if err != nil {
		t.Fatal(err)
	}
	e.Sent(&agentcore.Request{SystemPrompt: system, Messages: sent, Tools: tools})
	for i := range history { // whose slice it is, may use it again
		history[i] = nil
	}
}

func TestPromptCompaction(t *testing.T) {
	var got []string
	e := open(t, engine.Config{Prompt: func(p engine.PromptChange) { got = append(got, told(p)) }})
	summary, err := agentcore.DecodeMessage([]byte(`{"role":"compactionSummary","summary":"s","tokensBefore":10,"timestamp":1}`))
	if err != nil {
		t.Fatal(err)
	}
	prompt(t, e, []*agentcore.Message{user("a"), user("b"), user("c")}, "")
	prompt(t, e, []*agentcore.Message{summary, user("c")}, "")
	prompt(t, e, []*agentcore.Message{summary, user("c"), user("d")}, "")
	prompt(t, e, []*agentcore.Message{summary, user("x")}, "")
	want := []string{"1: 0 of 3", "2: 0 of 2, messages by compaction", "3: 2 of 3", "4: 1 of 2, messages by history"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("changes (-want +got):\n%s", d)
	}
}

func TestPromptSystemAndTools(t *testing.T) {
	var got []string
	style := &fake{name: "style", hooks: map[wire.Event]*wire.Hook{wire.EventBeforeAgentStart: {Event: wire.EventBeforeAgentStart}}}
	style.do = func(ev *engine.Event) (any, error) {
		var p struct{ Prompt, SystemPrompt string }
		if err := json.Unmarshal(ev.Payload.(json.RawMessage), &p); err != nil || p.Prompt == "plain" {
			return nil, err
		}
		text := p.SystemPrompt + " in " + p.Prompt
		return &wire.BeforeAgentStartResult{SystemPrompt: &text}, nil
	}
	e := open(t, engine.Config{Prompt: func(p engine.PromptChange) { got = append(got, told(p)) }}, style)
	call := func(base, word string, tools ...*agentcore.Tool) {
		t.Helper()
		answer, err := e.Ask(t.Context(), wire.BeforeAgentStartEvent{Prompt: word, SystemPrompt: base})
		if err != nil {
			t.Fatal(err)
		}
		if set := answer.(*wire.BeforeAgentStartOutcome).SystemPrompt; set != nil {
			base = *set
		}
		prompt(t, e, []*agentcore.Message{user("a")}, base, tools...)
	}
	read, again, bash := &agentcore.Tool{Name: "read"}, &agentcore.Tool{Name: "read"}, &agentcore.Tool{Name: "bash"}
	call("base", "plain", read)
	call("base", "plain", again)
	call("other", "plain", read)
	call("other", "verse", read)
	call("other", "verse", read)
	call("other", "prose", read)
	call("other", "plain", read)
	call("other", "plain", read, bash)
	call("third", "plain", read)
	want := []string{
		"1: 0 of 1", "2: 1 of 1", "3: 0 of 1, system by program", "4: 0 of 1, system by extension style", "5: 1 of 1", "6: 0 of 1, system by extension style",
		"7: 0 of 1, system by extension style", "8: 0 of 1, tools by program", "9: 0 of 1, tools by program",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("changes (-want +got):\n%s", d)
	}
}

func TestPromptWithoutAMeter(t *testing.T) {
	e := open(t, engine.Config{})
	if e.Hooks().TransformContext != nil {
		t.Error("without extensions and a meter there is nothing to do in Context")
	}
	e.Sent(&agentcore.Request{})
}

// A caller that does not use Context has its requests compared as they are.
func TestPromptOfRequestsAlone(t *testing.T) {
	var got []string
	e := open(t, engine.Config{Prompt: func(p engine.PromptChange) { got = append(got, told(p)) }})
	e.Sent(&agentcore.Request{Messages: []*agentcore.Message{user("a")}})
	e.Sent(&agentcore.Request{Messages: []*agentcore.Message{user("a"), user("b")}})
	e.Sent(&agentcore.Request{Messages: []*agentcore.Message{user("c")}})
	if d := cmp.Diff([]string{"1: 0 of 1", "2: 1 of 2", "3: 0 of 1, messages by history"}, got); d != "" {
		t.Errorf("changes (-want +got):\n%s", d)
	}
}

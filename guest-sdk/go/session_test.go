package weir

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/guest-sdk/go/internal/hostfn"
)

// TestSession: the requests are those of docs/abi.md, section 10, and their answers are read.
func TestSession(t *testing.T) {
	host := &answering{}
	hostfn.Use(host)
	t.Cleanup(func() { hostfn.Use(nil) })
	none := func(err error) (any, error) { return nil, err }
	texts := func(list []Value) (out []string) {
		for _, v := range list {
			out = append(out, string(v.JSON()))
		}
		return out
	}
	for _, c := range []struct {
		call              func() (any, error)
		request, response string
		want              any
	}{
		{
			func() (any, error) {
				s, err := ReadSession()
				usage := string(s.ContextUsage.JSON())
				s.ContextUsage = Value{}
				return []any{usage, s.ID, s.Name, s.Leaf, s.Entries, s.Messages, s.Idle, s.Streaming, s.Aborted, s.Queued, s.Provider, s.Model, s.ThinkingLevel}, err
			},
			`{"op":"state"}`,
			`{"id":"s","name":"n","leaf":"e9","entries":9,"messages":4,"idle":false,"streaming":true,"compacting":false,"retrying":false,"aborted":true,"queued":2,"model":{"provider":"p","id":"m"},"thinkingLevel":"low","systemPrompt":"x","contextUsage":null}`,
			[]any{"null", "s", "n", "e9", 9, 4, false, true, true, 2, "p", "m", "low"},
		},
		{func() (any, error) {
			list, more, err := SessionEntries("", 0)
			return []any{texts(list), more}, err
		}, `{"op":"entries"}`, `{"entries":[{"id":"a"}],"more":true}`, []any{[]string{`{"id":"a"}`}, true}},
		{func() (any, error) {
			list, more, err := SessionEntries("a", 5)
			return []any{len(list), more}, err
		}, `{"op":"entries","after":"a","limit":5}`, `{"entries":[],"more":false}`, []any{0, false}},
		{func() (any, error) {
			v, err := SessionEntry("a")
			return v.Get("id").Str(), err
		}, `{"op":"entry","id":"a"}`, `{"entry":{"id":"a"}}`, "a"},
		{func() (any, error) {
			list, total, err := SessionMessages(2, 3)
			return []any{texts(list), total}, err
		}, `{"op":"messages","from":2,"limit":3}`, `{"messages":[{},1],"total":8}`, []any{[]string{"{}", "1"}, 8}},
		{func() (any, error) { return SessionTools() }, `{"op":"tools"}`, `{"tools":[{"name":"bash","description":"d","active":true}]}`, []SessionTool{{"bash", "d", true}}},
		{func() (any, error) { return SessionAppend("todo", "") }, `{"op":"append","customType":"todo"}`, `{"id":"b"}`, "b"},
		{func() (any, error) { return SessionAppend("todo", `{"a":1}`) }, `{"op":"append","customType":"todo","data":{"a":1}}`, `{"id":"b"}`, "b"},
		{func() (any, error) { return none(SessionLabel("a", "")) }, `{"op":"label","entryId":"a","label":""}`, `{}`, nil},
		{func() (any, error) { return none(SessionName("")) }, `{"op":"name","name":""}`, `{}`, nil},
		{
			func() (any, error) {
				return none(SessionSend(SessionMessage{CustomType: "note", Content: String("hi"), Display: true, Details: "[1]", Trigger: true, Deliver: "steer"}))
			},
			`{"op":"send","customType":"note","content":"hi","display":true,"details":[1],"trigger":true,"deliver":"steer"}`, `{}`, nil,
		},
		{func() (any, error) { return none(SessionSend(SessionMessage{CustomType: "note", Content: "[]"})) }, `{"op":"send","customType":"note","content":[]}`, `{}`, nil},
		{func() (any, error) { return none(SessionPrompt(String("go"), "followUp")) }, `{"op":"prompt","content":"go","deliver":"followUp"}`, `{}`, nil},
		{func() (any, error) { return SessionSetTools("read", "x") }, `{"op":"set_tools","tools":["read","x"]}`, `{"tools":["read"]}`, []string{"read"}},
		{func() (any, error) { return SessionSetTools() }, `{"op":"set_tools","tools":[]}`, `{"tools":[]}`, []string(nil)},
		{func() (any, error) { return none(SessionSetModel("p", "m")) }, `{"op":"set_model","provider":"p","id":"m"}`, `{}`, nil},
		{func() (any, error) { return SessionSetThinkingLevel("max") }, `{"op":"set_thinking_level","level":"max"}`, `{"level":"high"}`, "high"},
		{func() (any, error) { return none(SessionAbort()) }, `{"op":"abort"}`, `{}`, nil},
		{func() (any, error) { return none(SessionCompact("")) }, `{"op":"compact"}`, `{}`, nil},
		{func() (any, error) { return none(SessionCompact("short")) }, `{"op":"compact","instructions":"short"}`, `{}`, nil},
		{func() (any, error) { return none(SessionNew()) }, `{"op":"new"}`, `{}`, nil},
		{func() (any, error) { return none(SessionFork("a", false)) }, `{"op":"fork","entryId":"a","position":"before"}`, `{}`, nil},
		{func() (any, error) { return none(SessionFork("a", true)) }, `{"op":"fork","entryId":"a","position":"at"}`, `{}`, nil},
		{func() (any, error) { return none(SessionNavigate("a", SessionNavigation{})) }, `{"op":"navigate","entryId":"a"}`, `{}`, nil},
		{
			func() (any, error) {
				return none(SessionNavigate("a", SessionNavigation{Summarize: true, Instructions: "i", Replace: true, Label: "l"}))
			},
			`{"op":"navigate","entryId":"a","summarize":true,"instructions":"i","replace":true,"label":"l"}`, `{}`, nil,
		},
	} {
		*host = answering{response: c.response}
		got, err := c.call()
		if err != nil {
			t.Errorf("%s: %v", c.request, err)
		}
		if diff := cmp.Diff([]string{"session " + c.request}, host.requests); diff != "" {
			t.Errorf("request (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.request, diff)
		}
		*host = answering{response: "not granted", code: -1}
		var refused *HostError
		if _, err = c.call(); !errors.As(err, &refused) || refused.Text != "not granted" {
			t.Errorf("%s: refused with %v", c.request, err)
		}
	}
}

package wire

import (
	"encoding/json"
	"testing"

	"weir/agentcore"
)

// One golden file for each kind of result.
func TestResults(t *testing.T) {
	before := func(e Event) func([]byte) (any, error) {
		return func(out []byte) (any, error) { return ParseSessionBefore(e, out) }
	}
	kinds := []struct {
		name  string
		parse func([]byte) (any, error)
	}{
		{"tool_call", func(out []byte) (any, error) { return ParseToolCall(out) }},
		{"tool_result", func(out []byte) (any, error) { return ParseToolResult(out) }},
		{"message_end", func(out []byte) (any, error) {
			m, err := ParseMessageEnd(out, agentcore.RoleUser, 1000)
			if m == nil {
				return nil, err
			}
			raw, _ := m.JSON() // as the guest wrote it; it cannot fail
			return raw, err
		}},
		{"input", func(out []byte) (any, error) { return ParseInput(out) }},
		{"before_agent_start", func(out []byte) (any, error) { return ParseBeforeAgentStart(out) }},
		{"before_provider_request", func(out []byte) (any, error) { return ParseBeforeProviderRequest(out) }},
		{"before_provider_headers", func(out []byte) (any, error) { return ParseBeforeProviderHeaders(out) }},
		{"user_bash", func(out []byte) (any, error) { return ParseUserBash(out) }},
		{"session_before_switch", before(EventSessionBeforeSwitch)},
		{"session_before_fork", before(EventSessionBeforeFork)},
		{"session_before_compact", before(EventSessionBeforeCompact)},
		{"session_before_tree", before(EventSessionBeforeTree)},
		{"project_trust", func(out []byte) (any, error) { return ParseProjectTrust(out) }},
		{"resources_discover", func(out []byte) (any, error) { return ParseResourcesDiscover(out) }},
		{"turn_end", func(out []byte) (any, error) { return "accepted", ParseObserver(out) }},
		{"tool_execute", func(out []byte) (any, error) { return ParseToolExecute(out) }},
		{"command_execute", func(out []byte) (any, error) { return ParseCommandExecute(out) }},
	}
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			goldenOutputs(t, "result_"+kind.name+".json", kind.parse)
		})
	}
}

// Whatever an event is, no hook may answer with something that is not a JSON object.
func TestNoResultIsAnObject(t *testing.T) {
	parsers := map[string]func([]byte) error{
		"tool_call":          func(b []byte) error { _, err := ParseToolCall(b); return err },
		"tool_result":        func(b []byte) error { _, err := ParseToolResult(b); return err },
		"context":            func(b []byte) error { _, err := ParseContext(b); return err },
		"message_end":        func(b []byte) error { _, err := ParseMessageEnd(b, "user", 0); return err },
		"input":              func(b []byte) error { _, err := ParseInput(b); return err },
		"before_agent_start": func(b []byte) error { _, err := ParseBeforeAgentStart(b); return err },
		"request":            func(b []byte) error { _, err := ParseBeforeProviderRequest(b); return err },
		"headers":            func(b []byte) error { _, err := ParseBeforeProviderHeaders(b); return err },
		"user_bash":          func(b []byte) error { _, err := ParseUserBash(b); return err },
		"project_trust":      func(b []byte) error { _, err := ParseProjectTrust(b); return err },
		"resources":          func(b []byte) error { _, err := ParseResourcesDiscover(b); return err },
		"tool_execute":       func(b []byte) error { _, err := ParseToolExecute(b); return err },
		"command_execute":    func(b []byte) error { _, err := ParseCommandExecute(b); return err },
		"describe":           func(b []byte) error { _, err := ParseDescribe(b); return err },
		"switch":             func(b []byte) error { _, err := ParseSessionBefore(EventSessionBeforeSwitch, b); return err },
	}
	for name, parse := range parsers {
		for _, out := range []string{"", " ", "null", "true", "0", `""`, "[]", "[{}]", "{}{}", "{", "}", "\x00", "{}\x00"} {
			if parse([]byte(out)) == nil {
				t.Errorf("%s accepts %q", name, out)
			}
		}
	}
	if ParseObserver([]byte("null")) == nil || ParseObserver([]byte("[]")) == nil {
		t.Error("an observer may answer with what is no object")
	}
}

// null is a value where a value may be anything, and not the absence of one.
func TestNullIsAValue(t *testing.T) {
	payload, err := ParseBeforeProviderRequest([]byte(`{"payload":null}`))
	if err != nil || string(payload) != "null" {
		t.Errorf("payload %q, %v", payload, err)
	}
	if payload, err = ParseBeforeProviderRequest([]byte(`{}`)); err != nil || payload != nil {
		t.Errorf("payload %q, %v", payload, err)
	}
	res, err := ParseToolResult([]byte(`{"details":null}`))
	if err != nil || string(res.Details) != "null" {
		t.Errorf("details %q, %v", res.Details, err)
	}
}

func TestCustomMessage(t *testing.T) {
	res, err := ParseBeforeAgentStart([]byte(`{"message":{"display":true,"content":["x"],"customType":"a\"b"}}`))
	if err == nil {
		t.Fatalf("a string among the blocks was accepted: %+v", res)
	}
	res, err = ParseBeforeAgentStart([]byte(`{"message":{"display":true,"content":[{"type":"text","text":"x"}],"customType":"a\"b","details":null}}`))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := res.Message.Message(5).JSON()
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"role":"custom","customType":"a\"b","content":[{"type":"text","text":"x"}],"display":true,"details":null,"timestamp":5}`
	if string(raw) != want {
		t.Errorf("got  %s\nwant %s", raw, want)
	}
}

// FuzzToolCallResult, and the two below: what the strict reader accepts is JSON to encoding/json too, with the same values.
func FuzzToolCallResult(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"block":true,"reason":"a\u00e9\ud83d\ude00\n","terminate":true}`, `{"ask":{"title":"t","message":""}}`,
		`{"input":{"a":[1,-2.5e3,null,true,{"b":""}]}}`, `{"block":tru`, `{"block":true,"block":false}`, "{\"reason\":\"\xff\"}",
		`{"reason":"\ud800"}`, `{"Block":true}`, `{"input":{"n":1e400}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, out []byte) {
		got, err := ParseToolCall(out)
		if err != nil {
			return
		}
		var want struct {
			Block     bool            `json:"block"`
			Reason    string          `json:"reason"`
			Terminate bool            `json:"terminate"`
			Ask       *Ask            `json:"ask"`
			Input     json.RawMessage `json:"input"`
		}
		if err := json.Unmarshal(out, &want); err != nil {
			t.Fatalf("encoding/json refuses %q: %v", out, err)
		}
		if got.Block != want.Block || got.Reason != want.Reason || got.Terminate != want.Terminate || string(got.Input) != string(want.Input) {
			t.Errorf("%q: %+v, encoding/json %+v", out, got, want)
		}
		if (got.Ask == nil) != (want.Ask == nil) || got.Ask != nil && *got.Ask != *want.Ask {
			t.Errorf("%q: ask %+v, encoding/json %+v", out, got.Ask, want.Ask)
		}
		if got.Input != nil {
			var v map[string]any
			if err := json.Unmarshal(got.Input, &v); err != nil {
				t.Errorf("input %q: %v", got.Input, err)
			}
		}
	})
}

func FuzzDescribe(f *testing.F) {
	var cases []outputCase
	readJSON(f, "describe.json", &cases)
	for _, c := range cases {
		f.Add([]byte(c.Output))
	}
	f.Fuzz(func(t *testing.T, out []byte) {
		got, err := ParseDescribe(out)
		if err != nil {
			return
		}
		var want struct {
			ABI         int    `json:"abi"`
			Name        string `json:"name"`
			Version     string `json:"version"`
			Description string `json:"description"`
			Hooks       map[string]struct {
				Tools []string `json:"tools"`
				View  string   `json:"view"`
			} `json:"hooks"`
			Tools []struct {
				Name       string          `json:"name"`
				Parameters json.RawMessage `json:"parameters"`
			} `json:"tools"`
			Commands     []CommandSpec              `json:"commands"`
			Config       json.RawMessage            `json:"config"`
			Capabilities map[string]json.RawMessage `json:"capabilities"`
		}
		if err := json.Unmarshal(out, &want); err != nil {
			t.Fatalf("encoding/json refuses %q: %v", out, err)
		}
		if want.ABI != ABIVersion || got.Name != want.Name || got.Version != want.Version || got.Description != want.Description ||
			len(got.Hooks) != len(want.Hooks) || len(got.Tools) != len(want.Tools) || len(got.Commands) != len(want.Commands) ||
			string(got.Config) != string(want.Config) || len(got.Capabilities) != len(want.Capabilities) {
			t.Errorf("%q: %+v, encoding/json %+v", out, got, want)
		}
		for _, h := range got.Hooks {
			w, ok := want.Hooks[h.Event.String()]
			if !ok || len(w.Tools) != len(h.Tools) || (w.View == "table") != (h.View == ViewTable) {
				t.Errorf("%q: hook %+v, encoding/json %+v", out, h, w)
			}
		}
		for i, tool := range got.Tools {
			if w := want.Tools[i]; tool.Name != w.Name || string(tool.Parameters) != string(w.Parameters) {
				t.Errorf("%q: tool %+v, encoding/json %+v", out, tool, w)
			}
		}
	})
}

func FuzzContextResult(f *testing.F) {
	var cases []contextCase
	readJSON(f, "contexts.json", &cases)
	for _, c := range cases {
		f.Add([]byte(expand(c.Edit)))
	}
	before := history(f, "u ax rx a c1 u ay,z rz ry a")
	f.Fuzz(func(t *testing.T, out []byte) {
		c, err := ParseContext(out)
		if err != nil {
			return
		}
		type placed struct {
			At      int             `json:"at"`
			Message json.RawMessage `json:"message"`
		}
		var want struct {
			Drop     []int             `json:"drop"`
			Replace  []placed          `json:"replace"`
			Insert   []placed          `json:"insert"`
			Messages []json.RawMessage `json:"messages"`
		}
		if err := json.Unmarshal(out, &want); err != nil {
			t.Fatalf("encoding/json refuses %q: %v", out, err)
		}
		if len(c.Drop) != len(want.Drop) || len(c.replace) != len(want.Replace) || len(c.insert) != len(want.Insert) ||
			len(c.list) != len(want.Messages) {
			t.Fatalf("%q: %+v, encoding/json %+v", out, c, want)
		}
		for i, p := range c.replace {
			if p.index != want.Replace[i].At || string(out[p.msg.start:p.msg.end]) != string(want.Replace[i].Message) {
				t.Errorf("%q: replace %+v, encoding/json %+v", out, p, want.Replace[i])
			}
		}
		after, err := c.Apply(before)
		if err != nil {
			return
		}
		n := len(want.Messages)
		if want.Messages == nil {
			n = len(before) - len(want.Drop) + len(want.Insert)
		}
		if len(after) != n {
			t.Errorf("%q: %d messages, want %d", out, len(after), n)
		}
		for i, m := range after {
			raw, err := m.JSON()
			if err != nil {
				t.Errorf("message %d of %q: %v", i, out, err)
			}
			if _, err := agentcore.DecodeMessage(raw); err != nil {
				t.Errorf("message %d of %q: %v", i, out, err)
			}
		}
		if err := c.Gate(before, after); (err == nil) != checkPairsFully(before, after) && !changesRole(c, before) {
			t.Errorf("%q: the gate says %v", out, err)
		}
	})
}

func changesRole(c *ContextResult, before []*agentcore.Message) bool {
	for _, p := range c.replace {
		if p.msg.role != before[p.index].Role() {
			return true
		}
	}
	return false
}

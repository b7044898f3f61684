package wire

import (
	"errors"
	"testing"
)

func TestDescribe(t *testing.T) {
	goldenOutputs(t, "describe.json", func(out []byte) (any, error) { return ParseDescribe(out) })
}

func TestNewerABI(t *testing.T) {
	for out, newer := range map[string]bool{
		`{"abi":2}`: true,
		`{"abi":2,"hooks":["a later form"],"new":1}`: true,
		`{"name":"x","abi":18446744073709551616}`:    true,
		`{"abi":1}`:   false,
		`{"abi":0}`:   false,
		`{"abi":-2}`:  false,
		`{"abi":"2"}`: false,
		`{"abi":2.0}`: false,
		`{"abi":2e0}`: false,
		`{"abi":[2]}`: false,
		`{"abi":2`:    true, // what follows belongs to a later ABI as well
		`{"config":{"abi":2},"abi":1,"name":"x","version":"x.y"}`: false,
	} {
		_, err := ParseDescribe([]byte(out))
		if err == nil {
			t.Errorf("%s: accepted", out)
		}
		if errors.Is(err, ErrNewerABI) != newer {
			t.Errorf("%s: %v; newer ABI should be %v", out, err, newer)
		}
	}
}

func TestSemver(t *testing.T) {
	for s, want := range map[string]bool{
		"0.0.0": true, "1.2.3": true, "10.20.30": true, "1.0.0-alpha": true, "1.0.0-alpha.1": true, "1.0.0-0.3.7": true,
		"1.0.0-x-y-z.--": true, "1.0.0+20130313144700": true, "1.0.0-beta+exp.sha.5114f85": true, "1.0.0+01": true,
		"1.0.0-01a": true, "1.0.0+a-b": true,
		"": false, "1": false, "1.2": false, "1.2.3.4": false, "v1.2.3": false, "01.2.3": false, "1.02.3": false,
		"1.2.3-": false, "1.2.3+": false, "1.2.3-01": false, "1.2.3-a..b": false, "1.2.3-a_b": false, "1.2.3 ": false, //nolint:gocritic // the blank is the case
		"1.2.x": false, "-1.2.3": false, "1.2.3-é": false, "1..3": false, "1.2.3+a+b": false,
	} {
		if got := validSemver(s); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}

func TestWants(t *testing.T) {
	tests := []struct {
		pattern, tool string
		want          bool
	}{
		{"bash", "bash", true},
		{"bash", "Bash", false},
		{"bash", "bash2", false},
		{"*", "", true},
		{"*", "anything", true},
		{"mcp__*", "mcp__git__log", true},
		{"mcp__*", "mcp_", false},
		{"*__log", "mcp__git__log", true},
		{"*__log", "mcp__git__logs", false},
		{"mcp__*__log", "mcp__git__log", true},
		{"mcp__*__log", "mcp____log", true},
		{"mcp__*__log", "mcp__log", false},
		{"a*b*c", "aXbYbZc", true},
		{"a*b*c", "aXcYb", false},
		{"**", "x", true},
		{"a**", "a", true},
		{"?", "a", false},
	}
	for _, test := range tests {
		h := Hook{Tools: []string{"nothing", test.pattern}}
		if got := h.Wants(test.tool); got != test.want {
			t.Errorf("%q wants %q: %v", test.pattern, test.tool, got)
		}
	}
	if all := (&Hook{}); !all.Wants("bash") {
		t.Error("a hook without patterns wants all tools")
	}
	// Backtracking to every star would not end.
	stars := Hook{Tools: []string{"*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b"}}
	long := make([]byte, 10_000)
	for i := range long {
		long[i] = 'a'
	}
	if stars.Wants(string(long)) {
		t.Error("matched")
	}
}

// The names in the ABI are one to one.
func TestEventNames(t *testing.T) {
	if EventCount != 36 {
		t.Fatalf("%d events", EventCount)
	}
	observers := 0
	for i := 1; i <= EventCount; i++ {
		e := Event(i)
		got, ok := ParseEvent(e.String())
		if !ok || got != e {
			t.Errorf("%d is %q, which is %d", i, e, got)
		}
		if e.Observes() {
			observers++
		}
	}
	// 36 less tool_call, tool_result, context, message_end, input, before_agent_start, two before_provider, user_bash, four
	// session_before, project_trust and resources_discover.
	if observers != 21 {
		t.Errorf("%d observers", observers)
	}
	if _, ok := ParseEvent("unset"); ok || Event(0).String() != "unset" || Event(37).String() != "unset" {
		t.Error("the zero event has a name")
	}
	if _, ok := ParseEvent(""); ok {
		t.Error("no name is an event")
	}
}

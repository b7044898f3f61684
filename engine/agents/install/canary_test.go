package install

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/engine/agents"
)

// TestJudge: what weir answers for each agent, as the fixtures of the mappings have it, is read here as that agent reads it.
func TestJudge(t *testing.T) {
	gates := map[string]string{"claude": "PreToolUse", "codex": "PreToolUse", "gemini": "BeforeTool", "cursor": "preToolUse", "copilot": "preToolUse", "crush": "PreToolUse"}
	for _, agent := range agents.All() {
		for kind, want := range map[string]verdict{"block": blocked, "bad-set": blocked, "fault": blocked, "panic": blocked, "pass": passed} {
			file := filepath.Join("..", "testdata", agent.Name, gates[agent.Name]+"-"+kind+".json")
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Error(err)
				continue
			}
			var fixture struct {
				Stdout json.RawMessage
				Stderr string
				Exit   int
			}
			if err := json.Unmarshal(raw, &fixture); err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			p := &Place{Agent: agent, layout: layouts()[agent.Name]}
			got, why := p.judge(agents.Answer{Stdout: fixture.Stdout, Stderr: []byte(fixture.Stderr), Exit: fixture.Exit})
			if got != want || want == blocked && why == "" {
				t.Errorf("%s: verdict %d (%q), want %d", file, got, why, want)
			}
		}
		// A hook that says nothing, or that crashed, lets the call pass in most agents.
		p := &Place{Agent: agent, layout: layouts()[agent.Name]}
		for _, a := range []agents.Answer{{}, {Exit: 1, Stderr: []byte("oh")}, {Exit: 127, Stderr: []byte("not found")}, {Stdout: []byte("oh")}} {
			if got, _ := p.judge(a); got != passed {
				t.Errorf("%s: %+v is taken for %d", agent.Name, a, got)
			}
		}
	}
	codex := &Place{Agent: agents.All()[1], layout: layouts()["codex"]}
	if got, _ := codex.judge(agents.Answer{Exit: 2}); got != passed {
		t.Error("Codex takes exit 2 without a text for a failed hook")
	}
	copilot := &Place{Agent: agents.All()[2], layout: layouts()["copilot"]}
	if got, _ := copilot.judge(agents.Answer{Exit: 2, Stdout: []byte(`{"permissionDecision":"deny"}`)}); got != passed {
		t.Error("Copilot skips a hook with exit 2")
	}
}

// TestEvents: the events of doctor are such as the mappings take.
func TestEvents(t *testing.T) {
	for _, agent := range agents.All() {
		p := &Place{Agent: agent, layout: layouts()[agent.Name]}
		for _, command := range destructive() {
			ev, err := agent.Parse(strings.NewReader(string(p.event(command, "/w"))))
			if err != nil || !ev.Gate || len(ev.Calls) != 1 || ev.Calls[0].Tool != "bash" || ev.CWD != "/w" {
				t.Errorf("%s: %+v, %v", agent.Name, ev, err)
				continue
			}
			var input struct{ Command string }
			if err := json.Unmarshal(ev.Calls[0].Input, &input); err != nil || input.Command != command {
				t.Errorf("%s: the command became %q (%v)", agent.Name, input.Command, err)
			}
		}
	}
}

// TestParseLine: which command lines are weir's, and which of them do nothing else.
func TestParseLine(t *testing.T) {
	own := Command{Weir: "/opt/a b/weir", Set: "/it's/weir.toml", Modules: []string{"bundled:guard-shell", "/m.wasm"}}
	for line, want := range map[string]struct {
		is, whole bool
		weir      string
	}{
		own.line("claude", exitTwo):                                           {true, true, "/opt/a b/weir"},
		own.line("claude", denyJSON):                                          {true, true, "/opt/a b/weir"},
		"weir hook --agent claude":                                            {true, true, "weir"},
		"/usr/bin/weir hook --agent claude --set /a/weir.toml -e bundled:x":   {true, true, "/usr/bin/weir"},
		"/usr/bin/weir-1.2 hook --agent claude":                               {true, true, "/usr/bin/weir-1.2"},
		"weir hook --agent=claude":                                            {true, false, "weir"},
		"weir hook --agent claude || true":                                    {true, false, "weir"},
		"touch x; weir hook --agent claude":                                   {true, false, "weir"},
		"weir hook --agent claude > /dev/null":                                {true, false, "weir"},
		"weir hook --agent claude --explain":                                  {true, false, "weir"},
		strings.Replace(own.line("claude", exitTwo), "exit 2'", "exit 0'", 1): {true, false, "/opt/a b/weir"},
		"weir hook --agent codex":                                             {false, false, ""},
		"weir decide":                                                         {false, false, ""},
		"echo weir":                                                           {false, false, ""},
		"my-weir-thing hook --agent claude":                                   {false, false, ""},
		"weir hook --agent $AGENT":                                            {false, false, ""},
		"weir hook --agent 'claude":                                           {false, false, ""},
		"":                                                                    {false, false, ""},
	} {
		inv, is := parseLine(line, "claude")
		if is != want.is || inv.whole != want.whole || inv.Weir != want.weir {
			t.Errorf("%s\nis %v, whole %v, weir %q; want %+v", line, is, inv.whole, inv.Weir, want)
		}
	}
	for _, deep := range []string{strings.Repeat("(", 4<<20), strings.Repeat("$(", longestLine/2-4), strings.Repeat("`", longestLine-4), strings.Repeat("{ ", longestLine/2-4)} {
		if _, is := parseLine("hook"+deep, "claude"); is {
			t.Errorf("%.20s… was taken for weir's", deep)
		}
	}
	if inv, _ := parseLine(own.line("claude", exitTwo), "claude"); inv.Set != own.Set || len(inv.Modules) != 2 {
		t.Errorf("the set and the modules were read as %+v", inv)
	}
}

// TestOlder compares versions by their numbers.
func TestOlder(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{"2.1.9", "2.1.295", true}, {"2.1.295", "2.1.295", false}, {"3", "2.1", false}, {"2.1", "2.1.1", true}, {"10.0", "9.9", false}} {
		if got := older(c.a, c.b); got != c.want {
			t.Errorf("older(%s, %s) = %v", c.a, c.b, got)
		}
	}
}

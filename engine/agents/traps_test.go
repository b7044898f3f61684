package agents_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"weir/engine/agents"
)

// codexKeys are what Codex knows in an answer; anything else makes it invalid.
type codexKeys struct {
	Continue       *bool   `json:"continue"`
	StopReason     *string `json:"stopReason"`
	SuppressOutput *bool   `json:"suppressOutput"`
	SystemMessage  *string `json:"systemMessage"`
	Decision       *string `json:"decision"`
	Reason         *string `json:"reason"`
	Specific       *struct {
		HookEventName string          `json:"hookEventName"`
		Decision      *string         `json:"permissionDecision"`
		Reason        *string         `json:"permissionDecisionReason"`
		UpdatedInput  json.RawMessage `json:"updatedInput"`
	} `json:"hookSpecificOutput"`
}

// goesOn reads an answer as the agent does, by its contract: written apart from the mapping, so that a mistake would have to
// be made twice. It says whether the call runs, and with which arguments (nil: those given).
func goesOn(t *testing.T, agent, event string, a agents.Answer) (runs bool, input json.RawMessage) {
	t.Helper()
	object := map[string]json.RawMessage{}
	isJSON := json.Unmarshal(a.Stdout, &object) == nil
	if len(a.Stdout) > 0 && !isJSON {
		t.Errorf("standard output is no JSON object: %q", a.Stdout)
	}
	text := func(key string) (s string) {
		if object[key] != nil && json.Unmarshal(object[key], &s) != nil {
			t.Errorf("%s is no text", key)
		}
		return s
	}
	specific := map[string]json.RawMessage{}
	if object["hookSpecificOutput"] != nil {
		if err := json.Unmarshal(object["hookSpecificOutput"], &specific); err != nil {
			t.Error(err)
		}
	}
	told := strings.TrimSpace(string(a.Stderr)) != ""
	switch agent {
	case "claude":
		if string(object["continue"]) == "false" {
			return false, nil
		}
		switch event {
		case "PermissionRequest": // exit 2 is ignored
			return !strings.Contains(string(specific["decision"]), `"behavior":"deny"`), nil
		case "PreToolUse":
			d := string(specific["permissionDecision"])
			return a.Exit != 2 && d != `"deny"` && d != `"ask"`, specific["updatedInput"]
		}
		return a.Exit != 2 && text("decision") != "block", nil
	case "codex":
		if a.Exit == 2 && event != "PreCompact" {
			return !told, nil
		}
		if a.Exit != 0 || len(a.Stdout) == 0 {
			return true, nil
		}
		var k codexKeys
		dec := json.NewDecoder(bytes.NewReader(a.Stdout))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&k); err != nil {
			t.Errorf("Codex takes this for invalid and goes on: %v", err)
			return true, nil
		}
		if event == "PreCompact" {
			return k.Continue == nil || *k.Continue, nil
		}
		if k.Continue != nil || k.StopReason != nil || k.SuppressOutput != nil {
			t.Error("Codex does not support this in PreToolUse, and goes on")
			return true, nil
		}
		s := k.Specific
		if s == nil || s.Decision == nil || *s.Decision != "allow" || s.UpdatedInput == nil {
			t.Error("Codex supports allow with updatedInput only; for anything else it goes on")
			return true, nil
		}
		return true, s.UpdatedInput
	case "gemini": // standard output comes before the exit code
		if isJSON {
			d := text("decision")
			return (d != "deny" && d != "block" || text("reason") == "") && string(object["continue"]) != "false", specific["tool_input"]
		}
		return a.Exit != 2 || !told, nil
	case "cursor":
		if a.Exit == 2 {
			return false, nil
		}
		return a.Exit != 0 || text("permission") != "deny" && text("permission") != "ask" && string(object["continue"]) != "false", object["updated_input"]
	case "copilot":
		if event == "PermissionRequest" {
			return a.Exit != 2 && text("behavior") != "deny", nil
		}
		return a.Exit != 0 || text("permissionDecision") != "deny" || text("permissionDecisionReason") == "", nil
	case "crush":
		return a.Exit != 2 && a.Exit != 49 && text("decision") != "deny", object["updated_input"]
	}
	t.Fatalf("no reader for %s", agent)
	return true, nil
}

// gates are the events of the fixtures that wait for an answer.
const gates = " PreToolUse PermissionRequest UserPromptSubmit PreCompact BeforeTool BeforeAgent preToolUse beforeShellExecution beforeMCPExecution beforeReadFile " +
	"beforeTabFileRead beforeSubmitPrompt "

// TestNoDenialIsAnAllowance reads every answer as the agent would: what the set denies, asks about or cannot decide does not
// happen (or, where the agent can ask, is asked), and what it has no objection to does.
func TestNoDenialIsAnAllowance(t *testing.T) {
	counted := map[string]int{}
	eachFixture(t, func(t *testing.T, agent *agents.Agent, name string, f *fixture, _ func()) {
		event, what, _ := strings.Cut(strings.TrimPrefix(name, "vs-"), "-")
		if agent.Name == "copilot" && (event == "preCompact" || event == "UserPromptSubmit") || agent.Name == "cursor" && event == "preCompact" {
			return // only told
		}
		got := run(t, agent, &extension{answers: f.Set}, f.stdin())
		s := f.Set
		switch {
		case what == "pass" && strings.Contains(gates, " "+event+" "):
			if runs, input := goesOn(t, agent.Name, event, got); !runs || input != nil || bytes.Contains(got.Stdout, []byte("llow")) {
				t.Errorf("held back: %s", got.Stdout)
			}
		case !strings.Contains(gates, " "+event+" "):
			if slices.Contains([]string{"empty", "array", "not-json", "two-objects", "unknown-event", "no-event"}, name) {
				event := map[string]string{"gemini": "BeforeTool", "cursor": "preToolUse", "copilot": "preToolUse"}[agent.Name]
				if event == "" {
					event = "PreToolUse"
				}
				if runs, _ := goesOn(t, agent.Name, event, got); runs {
					t.Errorf("an event that cannot be read goes on: %s %s %d", got.Stdout, got.Stderr, got.Exit)
				}
				counted[agent.Name]++
			}
		case s.Ask != "" && event == "PermissionRequest" && s.Rewrite == nil:
			if len(got.Stdout) > 0 || got.Exit != 0 {
				t.Errorf("the person is asked already, but: %s", got.Stdout)
			}
		case s.Block != nil || s.Fail != "" || s.Panic || s.Fault != "" && strings.Contains(strings.ToLower(event), "tool") || s.Ask != "" || s.Handled || s.Transform != "" || s.Cancel:
			if s.Only != "" && len(f.Asked) == 0 {
				return
			}
			if runs, _ := goesOn(t, agent.Name, event, got); runs {
				t.Errorf("goes on: %s %s %d", got.Stdout, got.Stderr, got.Exit)
			}
			counted[agent.Name]++
		case s.Rewrite != nil:
			if runs, input := goesOn(t, agent.Name, event, got); runs && input == nil {
				t.Errorf("goes on with the arguments given: %s %s %d", got.Stdout, got.Stderr, got.Exit)
			}
			counted[agent.Name]++
		}
	})
	for _, a := range agents.All() {
		if counted[a.Name] < 10 {
			t.Errorf("%s: only %d answers were checked", a.Name, counted[a.Name])
		}
	}
}

// gate is an event of an agent that asks whether a command may run.
func gate(agent, command string) string {
	c, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err)
	}
	switch agent {
	case "gemini":
		return `{"hook_event_name":"BeforeTool","cwd":"/w","tool_name":"run_shell_command","tool_input":` + string(c) + `}`
	case "cursor":
		return `{"hook_event_name":"preToolUse","cwd":"/w","tool_name":"Shell","tool_input":` + string(c) + `}`
	case "copilot":
		return `{"cwd":"/w","toolName":"bash","toolArgs":` + string(c) + `}`
	case "crush":
		return `{"event":"PreToolUse","cwd":"/w","tool_name":"bash","tool_input":` + string(c) + `}`
	}
	return `{"hook_event_name":"PreToolUse","permission_mode":"default","cwd":"/w","tool_name":"Bash","tool_input":` + string(c) + `}`
}

func gateName(agent string) string {
	switch agent {
	case "gemini":
		return "BeforeTool"
	case "cursor", "copilot":
		return "preToolUse"
	}
	return "PreToolUse"
}

func denied(t *testing.T, agent *agents.Agent, got agents.Answer) {
	t.Helper()
	if runs, _ := goesOn(t, agent.Name, gateName(agent.Name), got); runs {
		t.Errorf("%s goes on: %.200s %.200s %d", agent.Name, got.Stdout, got.Stderr, got.Exit)
	}
	if !plain(got.Stdout) || !plain(got.Stderr) {
		t.Errorf("%s: not plain: %.200q %.200q", agent.Name, got.Stdout, got.Stderr)
	}
	if len(got.Stdout)+len(got.Stderr) > 100_000 {
		t.Errorf("%s: an answer of %d bytes", agent.Name, len(got.Stdout)+len(got.Stderr))
	}
}

// TestHostileEvents: events that are no events are denied, soon, and without a word that harms a terminal.
func TestHostileEvents(t *testing.T) {
	if testing.Short() {
		t.Skip("reads events of 64 MiB")
	}
	deep := strings.Repeat(`[`, 200_000) + strings.Repeat(`]`, 200_000)
	for _, agent := range agents.All() {
		for name, stdin := range map[string]string{
			"invalid UTF-8":    strings.Replace(gate(agent.Name, "ls"), "ls", "l\xff\xfes", 1),
			"raw NUL":          strings.Replace(gate(agent.Name, "ls"), "ls", "l\x00s", 1),
			"too long":         gate(agent.Name, strings.Repeat("a", agents.MaxEvent)),
			"deep":             strings.Replace(gate(agent.Name, "ls"), `"cwd":`, `"deep":`+deep+`,"cwd":`, 1),
			"deep and torn":    strings.Repeat(`{"a":`, 100_000),
			"torn":             strings.TrimSuffix(gate(agent.Name, "ls"), "}"),
			"escape in a name": `{"hook_event_name":"\u001b]0;x\u0007\u202e","event":"\u001b[2J","toolName":"bash\u001b[2J","toolArgs":[]}`,
			"long name":        `{"hook_event_name":"` + strings.Repeat("x", 1<<20) + `"}`,
			"lone surrogate":   `{"hook_event_name":"\ud800","event":"\ud800"}`,
			"numbers":          `{"hook_event_name":1,"event":2,"toolName":3}`,
		} {
			t.Run(agent.Name+"/"+name, func(t *testing.T) {
				denied(t, agent, run(t, agent, &extension{}, []byte(stdin)))
			})
		}
		t.Run(agent.Name+"/long reason", func(t *testing.T) {
			reason := strings.Repeat("\x1b", 10<<20)
			denied(t, agent, run(t, agent, &extension{answers: answers{Block: &reason}}, []byte(gate(agent.Name, "ls"))))
		})
		t.Run(agent.Name+"/close to the limit", func(t *testing.T) {
			got := run(t, agent, &extension{}, []byte(gate(agent.Name, strings.Repeat("a", 16<<20))))
			if runs, _ := goesOn(t, agent.Name, gateName(agent.Name), got); !runs {
				t.Errorf("a long command is denied: %.200s", got.Stdout)
			}
		})
	}
}

// stuck never answers.
type stuck struct{}

func (stuck) Read([]byte) (int, error) { select {} }

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("pipe \x1b[2J broke") }

// TestNoAnswerInTime: agents go on when a hook takes too long, so weir denies before.
func TestNoAnswerInTime(t *testing.T) {
	for _, agent := range agents.All() {
		cfg := agents.Config{Agent: agent, Timeout: 20 * time.Millisecond}
		denied(t, agent, agents.Run(t.Context(), cfg, stuck{}))
		denied(t, agent, agents.Run(t.Context(), cfg, broken{}))

		cfg.Open = func(context.Context, *agents.Event) (agents.Engine, func(context.Context) error, error) { select {} }
		denied(t, agent, agents.Run(t.Context(), cfg, strings.NewReader(gate(agent.Name, "ls"))))

		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		denied(t, agent, agents.Run(cancelled, agents.Config{Agent: agent}, stuck{}))
		denied(t, agent, agent.Fail(io.ErrUnexpectedEOF))
	}
}

// TestDecisionsWithoutAReason: an empty reason undoes a denial in some agents.
func TestDecisionsWithoutAReason(t *testing.T) {
	for _, agent := range agents.All() {
		ev, err := agent.Parse(strings.NewReader(gate(agent.Name, "ls")))
		if err != nil {
			t.Fatal(err)
		}
		denied(t, agent, agent.Answer(ev, agents.Decision{}))
		denied(t, agent, agent.Answer(ev, agents.Decision{Reason: "\n \t"}))
		denied(t, agent, agent.Answer(ev, agents.Decision{Verdict: agents.Verdict(99)}))
		denied(t, agent, agent.Answer(ev, agents.Decision{Verdict: agents.Ask}))
		denied(t, agent, agent.Answer(ev, agents.Decision{Verdict: agents.Rewrite}))
	}
}

func FuzzRun(f *testing.F) {
	for _, agent := range agents.All() {
		f.Add(agent.Name, []byte(gate(agent.Name, "ls")))
	}
	f.Add("codex", []byte(`{"hook_event_name":"PreToolUse","tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Update File: a\n@@\n-x\n"}}`))
	f.Add("claude", []byte(`{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"x"},"tool_response":{"stdout":"a","x":["b",{"c":"d"}]}}`))
	f.Fuzz(func(t *testing.T, name string, stdin []byte) {
		agent, err := agents.Find(name)
		if err != nil {
			return
		}
		changed := []string{"x"}
		for _, x := range []*extension{{}, {answers: answers{Rewrite: json.RawMessage(`{"command":"y"}`), Content: &changed}}} {
			got := run(t, agent, x, stdin)
			if !plain(got.Stdout) || !plain(got.Stderr) {
				t.Errorf("not plain: %q %q", got.Stdout, got.Stderr)
			}
			if len(got.Stdout) > 0 && !json.Valid(got.Stdout) {
				t.Errorf("no JSON: %q", got.Stdout)
			}
			if strings.Contains(string(got.Stderr), "internal error") {
				t.Errorf("panic: %s", got.Stderr)
			}
		}
	})
}

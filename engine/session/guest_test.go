package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
	"weir/engine"
	"weir/engine/session"
	"weir/engine/set"
	"weir/engine/wire"
	"weir/wasmhost"
)

// held is the capability session on the present session of a runtime.
type held struct {
	t       *testing.T
	cap     wasmhost.Capability
	runtime *session.Runtime
	failed  chan *session.BackgroundError
}

func hold(t *testing.T) *held {
	t.Helper()
	h := &held{t: t, failed: make(chan *session.BackgroundError, 10)}
	make := func(_ context.Context, store *session.Store, start wire.SessionStartEvent) (*session.Session, error) {
		small := agentcore.Model{ID: "small", Provider: "p", ContextWindow: 1000}
		return session.New(session.Config{
			Store: store, Start: start, OnError: func(err *session.BackgroundError) { h.failed <- err },
			Models: []session.ScopedModel{{Model: small}},
			Agent: agentcore.Config{
				Provider: say(echo), Model: agentcore.Model{ID: "m", Provider: "p", ContextWindow: 1000, Reasoning: true}, SystemPrompt: "BASE",
				Tools: []*agentcore.Tool{tool("one"), tool("two")},
			},
		})
	}
	runtime, err := session.NewRuntime(t.Context(), newStore(t), session.RuntimeConfig{Make: make})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := runtime.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	h.runtime = runtime
	h.cap = wasmhost.UseSession([]string{"read", "append", "send", "control"}, func() wasmhost.Session { return runtime.Session().ForGuests() })
	return h
}

func tool(name string) *agentcore.Tool {
	return &agentcore.Tool{Name: name, Description: "the tool " + name, Execute: func(context.Context, string, json.RawMessage, func(*agentcore.ToolResult)) (*agentcore.ToolResult, error) {
		return &agentcore.ToolResult{Content: []agentcore.Block{&agentcore.TextBlock{Text: "done"}}}, nil
	}}
}

// ask makes a request and decodes the answer; an error is the answer {"error": text}.
func (h *held) ask(request string, args ...any) map[string]any {
	h.t.Helper()
	out, err := h.cap.Handle(h.t.Context(), fmt.Appendf(nil, request, args...))
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	var answer map[string]any
	if err := json.Unmarshal(out, &answer); err != nil {
		h.t.Fatal(err)
	}
	return answer
}

func (h *held) want(want map[string]any, request string, args ...any) {
	h.t.Helper()
	if d := cmp.Diff(want, h.ask(request, args...)); d != "" {
		h.t.Errorf(request+" (-want +got):\n%s", append(args, d)...)
	}
}

// settled waits until what was begun in the background is over.
func (h *held) settled(what string, done func() bool) {
	h.t.Helper()
	for end := time.Now().Add(time.Minute); !done() || !h.runtime.Session().State().Idle; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			h.t.Fatalf("%s does not happen", what)
		}
	}
}

func (h *held) messages() float64 {
	total, _ := h.ask(`{"op":"messages","limit":1}`)["total"].(float64)
	return total
}

func refusal(text string) map[string]any { return map[string]any{"error": text} }

func TestForGuests(t *testing.T) {
	h := hold(t)
	state := h.ask(`{"op":"state"}`)
	leaf, _ := state["leaf"].(string)
	s := h.runtime.Session()
	if d := cmp.Diff(map[string]any{
		"id": s.Store().Header().ID, "cwd": "/project", "file": s.Store().Path(), "leaf": leaf, "entries": 2.0, "messages": 0.0, "idle": true, "streaming": false,
		"compacting": false, "retrying": false, "aborted": nil, "queued": 0.0, "model": map[string]any{"provider": "p", "id": "m"}, "thinkingLevel": "off",
		"systemPrompt": "BASE\nCurrent working directory: /project\n", "contextUsage": map[string]any{"tokens": 0.0, "contextWindow": 1000.0, "percent": 0.0},
	}, state); d != "" {
		t.Errorf("state (-want +got):\n%s", d)
	}

	none := map[string]any{}
	appended := h.ask(`{"op":"append","customType":"todo","data":{"n":1}}`)
	id, _ := appended["id"].(string)
	entry, _ := h.ask(`{"op":"entry","id":%q}`, id)["entry"].(map[string]any)
	if entry["parentId"] != leaf || !cmp.Equal(entry["data"], any(map[string]any{"n": 1.0})) {
		t.Errorf("what was appended is kept as %v", entry)
	}
	h.want(none, `{"op":"label","entryId":%q,"label":"here"}`, id)
	if got := s.Store().Label(id); got != "here" {
		t.Errorf("the label is %q", got)
	}
	h.want(refusal("label: Entry none not found"), `{"op":"label","entryId":"none","label":"here"}`)
	h.want(none, `{"op":"name","name":" a\nwalk "}`)
	if got := h.ask(`{"op":"state"}`)["name"]; got != "a walk" {
		t.Errorf("the name is %v", got)
	}
	var paged []any
	for after, more := "", true; more; {
		page := h.ask(`{"op":"entries","after":%q,"limit":2}`, after)
		list, _ := page["entries"].([]any)
		paged = append(paged, list...)
		more, _ = page["more"].(bool)
		after, _ = list[len(list)-1].(map[string]any)["id"].(string)
	}
	if len(paged) != 5 {
		t.Errorf("%d entries in pages, want 5", len(paged))
	}
	h.want(map[string]any{"entries": []any{}, "more": false}, `{"op":"entries","after":%q}`, s.Store().Leaf().ID)
	h.want(refusal("entries: Entry none not found"), `{"op":"entries","after":"none"}`)
	h.want(refusal("entry: Entry none not found"), `{"op":"entry","id":"none"}`)

	h.want(none, `{"op":"send","customType":"note","content":"aside","display":true}`)
	h.want(refusal("send: block 0: want a text or an image"), `{"op":"send","customType":"note","content":[{"type":"toolCall","id":"a","name":"one","arguments":{}}]}`)
	h.want(none, `{"op":"prompt","content":[{"type":"text","text":"hello"}]}`)
	h.settled("the answer", func() bool { return h.messages() == 3 })
	if d := cmp.Diff([]string{"custom: aside", "user: hello", "assistant: heard hello"}, transcript(s)); d != "" {
		t.Errorf("transcript (-want +got):\n%s", d)
	}
	if last, _ := h.ask(`{"op":"messages","from":2}`)["messages"].([]any); len(last) != 1 || last[0].(map[string]any)["role"] != "assistant" {
		t.Errorf("the last message is %v", last)
	}
	h.want(map[string]any{"messages": []any{}, "total": 3.0}, `{"op":"messages","from":99}`)
	h.want(none, `{"op":"send","customType":"note","content":"now","trigger":true}`)
	h.settled("the answer to a note", func() bool { return h.messages() == 5 })

	h.want(map[string]any{"tools": []any{"two"}}, `{"op":"set_tools","tools":["two","none"]}`)
	h.want(map[string]any{"tools": []any{
		map[string]any{"name": "one", "description": "the tool one", "active": false}, map[string]any{"name": "two", "description": "the tool two", "active": true},
	}}, `{"op":"tools"}`)
	h.want(map[string]any{"level": "high"}, `{"op":"set_thinking_level","level":"xhigh"}`)
	h.want(none, `{"op":"set_model","provider":"p","id":"small"}`)
	h.want(refusal(`set_model: the session knows no model "large" of the provider "p"`), `{"op":"set_model","provider":"p","id":"large"}`)
	if got := h.ask(`{"op":"state"}`); !cmp.Equal(got["model"], any(map[string]any{"provider": "p", "id": "small"})) || got["thinkingLevel"] != "off" {
		t.Errorf("the model is %v, thinking %v", got["model"], got["thinkingLevel"])
	}
}

func TestForGuestsReplaces(t *testing.T) {
	h := hold(t)
	none := map[string]any{}
	h.want(none, `{"op":"compact"}`)
	if err := <-h.failed; err.Hook != "compact" || !errors.Is(err, session.ErrNothingToCompact) {
		t.Errorf("a compaction of nothing: %v", err)
	}
	h.want(none, `{"op":"prompt","content":"one"}`)
	h.settled("the answer", func() bool { return h.messages() == 2 })
	first := h.runtime.Session()
	var user string
	for _, e := range first.Store().Entries() {
		if m, err := e.Message(); err == nil && m != nil && m.User() != nil {
			user = e.ID
		}
	}
	h.want(refusal("navigate: Entry none not found"), `{"op":"navigate","entryId":"none"}`)
	h.want(none, `{"op":"navigate","entryId":%q,"label":"again"}`, user)
	h.settled("the navigation", func() bool { return h.messages() == 0 })

	h.want(refusal("fork: Entry none not found"), `{"op":"fork","entryId":"none"}`)
	old := first.ForGuests()
	h.want(none, `{"op":"fork","entryId":%q,"position":"at"}`, user)
	h.settled("the fork", func() bool { return h.runtime.Session() != first && h.messages() == 1 })
	if _, err := old.State(); !errors.Is(err, session.ErrStale) {
		t.Errorf("what is held of a replaced session answers %v", err)
	}
	forked := h.runtime.Session()
	h.want(none, `{"op":"new"}`)
	h.settled("the new session", func() bool { return h.runtime.Session() != forked && h.messages() == 0 })

	alone := newSession(t, session.Config{Agent: agentcore.Config{Provider: say(echo)}})
	h.cap = wasmhost.UseSession([]string{"control"}, func() wasmhost.Session { return alone.ForGuests() })
	h.want(refusal("new: the session cannot be replaced: this program keeps one session"), `{"op":"new"}`)
	h.want(refusal("fork: the session cannot be replaced: this program keeps one session"), `{"op":"fork","entryId":"1"}`)
	select {
	case err := <-h.failed:
		t.Errorf("a failure in the background: %v", err)
	default:
	}
}

// guestRun is a session with one guest that interprets a handler, on every event.
type guestRun struct {
	*session.Session
	mu      sync.Mutex
	faults  []string
	records []engine.Record
}

// TestGuestsInASession: a guest may use the session from any hook. What that leads to is told to the guest itself too, when its call is
// over; nothing waits for ever, and an abort leaves no fault.
func TestGuestsInASession(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a guest")
	}
	host, err := wasmhost.New(t.Context(), wasmhost.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := host.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	module := buildHandlers(t)
	begin := func(t *testing.T, event, actions string) *guestRun {
		t.Helper()
		text := fmt.Sprintf("version = 1\n[[extension]]\nname = \"guest\"\nmodule = %q\ntimeout = \"60s\"\n[extension.grant]\nkv = true\nui = true\n"+
			"session = [\"read\", \"append\", \"send\", \"control\"]\n", module)
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "weir.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		declared, err := set.Parse(filepath.Join(dir, "weir.toml"), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		declared.Extensions[0].Config = json.RawMessage(`{"event":"` + event + `","rules":[{"match":{"nth":1},"do":` + actions + `},{}]}`)
		run := &guestRun{}
		e, err := engine.Open(t.Context(), engine.Config{
			Host: host, Set: declared, Session: func() wasmhost.Session {
				if run.Session == nil {
					return nil
				}
				return run.ForGuests()
			},
			Record: func(rec engine.Record) {
				run.mu.Lock()
				defer run.mu.Unlock()
				run.records = append(run.records, rec)
				if rec.Err != nil {
					run.faults = append(run.faults, rec.Err.Error())
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := e.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
		turn := 0
		run.Session = newSession(t, session.Config{
			Extensions: e, Models: []session.ScopedModel{{Model: agentcore.Model{ID: "other", Provider: "p"}}},
			Agent: agentcore.Config{
				Tools: []*agentcore.Tool{tool("one")},
				Provider: agentcore.ProviderFunc(func(ctx context.Context, req *agentcore.Request, _ func(agentcore.AssistantEvent) error) (*agentcore.AssistantMessage, error) {
					m := &agentcore.AssistantMessage{StopReason: agentcore.StopStop, Content: []agentcore.Block{&agentcore.TextBlock{Text: "r"}}}
					if turn++; turn == 1 {
						m.StopReason, m.Content = agentcore.StopToolUse, []agentcore.Block{&agentcore.ToolCall{ID: "a", Name: "one", Arguments: json.RawMessage(`{}`)}}
					}
					if ctx.Err() != nil {
						m.StopReason = agentcore.StopAborted
					}
					return m, nil
				}),
			},
		})
		return run
	}
	prompt := func(t *testing.T, run *guestRun) {
		t.Helper()
		start := time.Now()
		if err := run.Prompt(t.Context(), "go", session.PromptOptions{}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > 40*time.Second { // below the guest's timeout, which would end a deadlock
			t.Errorf("the prompt took %v", took)
		}
	}
	heard := func(run *guestRun, event wire.Event) bool {
		run.mu.Lock()
		defer run.mu.Unlock()
		for _, rec := range run.records {
			if rec.Event == event {
				return true
			}
		}
		return false
	}
	noFaults := func(t *testing.T, run *guestRun) {
		t.Helper()
		run.mu.Lock()
		defer run.mu.Unlock()
		if len(run.faults) > 0 {
			t.Errorf("faults: %q", run.faults)
		}
	}
	for _, event := range []string{"turn_start", "input", "tool_call", "message_end", "context", "agent_settled"} {
		t.Run("everything from "+event, func(t *testing.T) {
			run := begin(t, event, `[{"do":"pi.setSessionName","name":"named"},{"do":"pi.setModel","provider":"p","model":"other"},{"do":"pi.appendEntry","customType":"k"},
				{"do":"pi.setActiveTools","tools":["one"]},{"do":"pi.sendMessage","message":{"customType":"n","content":"note","display":true}},
				{"do":"ctx.get","keys":["isIdle","leafType"]}]`)
			prompt(t, run)
			if run.Name() != "named" || run.Model().ID != "other" {
				t.Errorf("name %q, model %q", run.Name(), run.Model().ID)
			}
			if !strings.Contains(strings.Join(transcript(run.Session), "\n"), "custom: note") {
				t.Errorf("no note in %q", transcript(run.Session))
			}
			for end := time.Now().Add(time.Minute); !heard(run, wire.EventSessionInfoChanged) || !heard(run, wire.EventModelSelect); time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("the guest does not hear of what it has done")
				}
			}
			noFaults(t, run)
		})
	}
	t.Run("abort in tool_call", func(t *testing.T) {
		run := begin(t, "tool_call", `[{"do":"ctx.abort"}]`)
		prompt(t, run)
		if got := transcript(run.Session); len(got) < 3 || got[2] != "toolResult: Operation aborted" {
			t.Errorf("transcript %q", got)
		}
		for _, event := range []wire.Event{wire.EventToolExecutionEnd, wire.EventMessageEnd, wire.EventTurnEnd, wire.EventContext, wire.EventAgentEnd, wire.EventAgentSettled} {
			if !heard(run, event) {
				t.Errorf("the guest did not hear %v of the aborted run", event)
			}
		}
		noFaults(t, run)
	})
	t.Run("what cannot be done", func(t *testing.T) {
		run := begin(t, "turn_start", `[{"do":"ctx.newSession"},{"do":"pi.setLabel","entry":"none","label":"l"}]`)
		prompt(t, run)
		noFaults(t, run)
	})
}

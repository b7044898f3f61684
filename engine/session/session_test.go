package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
	"weir/engine"
	"weir/engine/session"
	"weir/engine/wire"
)

// say is a provider whose every response is what text makes of the request's last message.
func say(text func(ctx context.Context, last string) string) agentcore.Provider {
	return agentcore.ProviderFunc(func(
		ctx context.Context, req *agentcore.Request, _ func(agentcore.AssistantEvent) error,
	) (*agentcore.AssistantMessage, error) {
		m := &agentcore.AssistantMessage{
			Model: req.Model.ID, Provider: req.Model.Provider, StopReason: agentcore.StopStop,
			Content: []agentcore.Block{&agentcore.TextBlock{Text: text(ctx, messageText(req.Messages[len(req.Messages)-1]))}},
		}
		if ctx.Err() != nil {
			m.StopReason = agentcore.StopAborted
		}
		return m, nil
	})
}

func echo(_ context.Context, last string) string { return "heard " + last }

func messageText(m *agentcore.Message) string {
	raw, err := m.JSON()
	if err != nil {
		return err.Error()
	}
	var body struct {
		Summary string
		Content json.RawMessage
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		return err.Error()
	}
	var blocks []struct{ Text string }
	if json.Unmarshal(body.Content, &blocks) == nil {
		for _, b := range blocks {
			body.Summary += b.Text
		}
		return body.Summary
	}
	var text string
	if json.Unmarshal(body.Content, &text) == nil {
		return text
	}
	return body.Summary
}

func transcript(s *session.Session) []string {
	var lines []string
	for _, m := range s.Messages() {
		lines = append(lines, fmt.Sprintf("%s: %s", m.Role(), messageText(m)))
	}
	return lines
}

func newSession(t *testing.T, cfg session.Config) *session.Session {
	t.Helper()
	cfg.Agent.Model = agentcore.Model{ID: "m", Provider: "p", ContextWindow: 1000}
	s, err := session.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil && !errors.Is(err, session.ErrClosed) {
			t.Error(err)
		}
	})
	return s
}

func newStore(t *testing.T) *session.Store {
	t.Helper()
	store, err := session.NewStore(session.StoreConfig{Dir: t.TempDir(), CWD: "/project"})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// What cannot be kept is told to the caller: a response that is only on the screen would be missing after a restart.
func TestStoreFails(t *testing.T) {
	store := newStore(t)
	s := newSession(t, session.Config{Store: store, Agent: agentcore.Config{Provider: say(func(_ context.Context, last string) string {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
		return last
	})}})
	var events []string
	s.Subscribe(func(ev session.Event) error {
		events = append(events, ev.Type().String())
		return nil
	})
	if err := s.Prompt(t.Context(), "hello", session.PromptOptions{}); !errors.Is(err, session.ErrClosed) {
		t.Errorf("Prompt = %v, want ErrClosed", err)
	}
	if last := events[len(events)-1]; last != "agent_settled" {
		t.Errorf("the last event is %s, want agent_settled", last)
	}
	if err := s.WaitForIdle(t.Context()); err != nil {
		t.Error(err)
	}
	kept, err := session.ReadStore(store.Path(), session.StoreConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(kept.Context().Messages); n != 1 {
		t.Errorf("%d messages are kept, want 1", n)
	}
}

func TestPromptWithoutStart(t *testing.T) {
	requests := 0
	cfg := session.Config{Agent: agentcore.Config{Provider: say(func(context.Context, string) string {
		requests++
		return ""
	})}}
	locked := errors.New("no key")
	cfg.Authorize = func(context.Context, agentcore.Model) error { return locked }
	s := newSession(t, cfg)
	var taken []bool
	opts := session.PromptOptions{Preflight: func(ok bool) { taken = append(taken, ok) }}
	if err := s.Prompt(t.Context(), "hello", opts); !errors.Is(err, locked) {
		t.Errorf("without a key: %v", err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Prompt(t.Context(), "hello", opts); !errors.Is(err, session.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	trigger := true
	if err := s.SendCustomMessage(t.Context(), session.CustomMessage{CustomType: "x"}, session.SendOptions{Trigger: &trigger}); !errors.Is(err, session.ErrClosed) {
		t.Errorf("closed, a message that starts a run: %v", err)
	}
	if diff := cmp.Diff([]bool{false, false}, taken); diff != "" {
		t.Errorf("Preflight (-want +got):\n%s", diff)
	}
	if requests > 0 {
		t.Errorf("%d requests were sent", requests)
	}
}

// gate is an extension that can be against every prompt.
type gate struct{ shut atomic.Bool }

func (*gate) Name() string { return "gate" }

func (*gate) Hook(event wire.Event) *wire.Hook {
	if event != wire.EventBeforeAgentStart {
		return nil
	}
	return &wire.Hook{Event: event, Block: true}
}

func (g *gate) Handle(context.Context, *engine.Event) (any, engine.Usage, error) {
	if g.shut.Load() {
		return nil, engine.Usage{}, errors.New("shut")
	}
	return nil, engine.Usage{}, nil
}

func (*gate) Close(context.Context) error { return nil }

// Messages that wait for a prompt wait on when an extension fails and thereby forbids it.
func TestRefusedPrompt(t *testing.T) {
	g := &gate{}
	x, err := engine.Open(t.Context(), engine.Config{Native: []engine.Extension{g}})
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t, session.Config{Extensions: x, Agent: agentcore.Config{Provider: say(echo)}})
	for _, text := range []string{`"first"`, `"second"`} {
		m := session.CustomMessage{CustomType: "note", Content: json.RawMessage(text)}
		if err := s.SendCustomMessage(t.Context(), m, session.SendOptions{Deliver: session.DeliverNextTurn}); err != nil {
			t.Fatal(err)
		}
		// The refusal between the two must not change their order.
		g.shut.Store(true)
		if err := s.Prompt(t.Context(), "refused", session.PromptOptions{}); err == nil || !strings.Contains(err.Error(), "the prompt was refused") {
			t.Fatalf("Prompt = %v, want a refusal", err)
		}
		if !s.State().Idle {
			t.Fatal("the session is not idle after a refused prompt")
		}
	}
	g.shut.Store(false)
	if err := s.Prompt(t.Context(), "go", session.PromptOptions{}); err != nil {
		t.Fatal(err)
	}
	want := []string{"user: go", "custom: first", "custom: second", "assistant: heard second"}
	if diff := cmp.Diff(want, transcript(s)); diff != "" {
		t.Errorf("transcript (-want +got):\n%s", diff)
	}
}

// Of prompts that come at the same time one starts the run, and the others are queued, each once.
func TestPromptsAtOnce(t *testing.T) {
	const prompts = 16
	s := newSession(t, session.Config{Agent: agentcore.Config{Provider: say(echo)}})
	var group sync.WaitGroup
	for i := range prompts {
		group.Go(func() {
			behavior := []session.Behavior{session.BehaviorSteer, session.BehaviorFollowUp}[i%2]
			if err := s.Prompt(t.Context(), fmt.Sprint(i), session.PromptOptions{Streaming: behavior}); err != nil {
				t.Errorf("prompt %d: %v", i, err)
			}
		})
	}
	group.Wait()
	// A message that was queued just when the run ended waits for the next one.
	if err := s.Prompt(t.Context(), "last", session.PromptOptions{}); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, line := range transcript(s) {
		if text, ok := strings.CutPrefix(line, "user: "); ok {
			count[text]++
		}
	}
	want := map[string]int{"last": 1}
	for i := range prompts {
		want[fmt.Sprint(i)] = 1
	}
	if diff := cmp.Diff(want, count); diff != "" {
		t.Errorf("what the user said (-want +got):\n%s", diff)
	}
}

// Custom messages from many goroutines, while nothing runs, are all in the transcript and in the store.
func TestMessagesAtOnce(t *testing.T) {
	const messages = 40
	s := newSession(t, session.Config{Agent: agentcore.Config{Provider: say(echo)}})
	var group sync.WaitGroup
	for i := range messages {
		group.Go(func() {
			m := session.CustomMessage{CustomType: "note", Content: json.RawMessage(fmt.Sprintf(`"%d"`, i))}
			if err := s.SendCustomMessage(t.Context(), m, session.SendOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	var stored []string
	for _, m := range s.Store().Context().Messages {
		stored = append(stored, fmt.Sprintf("%s: %s", m.Role(), messageText(m)))
	}
	if len(stored) != messages {
		t.Errorf("%d messages are stored, want %d", len(stored), messages)
	}
	if diff := cmp.Diff(stored, transcript(s)); diff != "" {
		t.Errorf("transcript (-store +transcript):\n%s", diff)
	}
}

// TestEverythingAtOnce calls everything from several goroutines. Nothing may deadlock, the session must end idle, and a file
// that is read again must say what the transcript says.
func TestEverythingAtOnce(t *testing.T) {
	duration := 700 * time.Millisecond
	if long := os.Getenv("WEIR_SESSION_HAMMER"); long != "" {
		var err error
		if duration, err = time.ParseDuration(long); err != nil {
			t.Fatal(err)
		}
	}
	store := newStore(t)
	compaction := session.DefaultCompaction()
	compaction.KeepRecentTokens, compaction.ReserveTokens = 50, 800
	s := newSession(t, session.Config{
		Store: store, Compaction: &compaction,
		Agent: agentcore.Config{Provider: say(func(ctx context.Context, last string) string {
			select {
			case <-ctx.Done():
			case <-time.After(time.Duration(rand.IntN(2000)) * time.Microsecond):
			}
			return strings.Repeat("word ", 1+len(last)%60)
		})},
		OnError: func(*session.BackgroundError) {}, // a run may already be there: that is what is tried here
	})
	ctx, cancel := context.WithTimeout(t.Context(), duration)
	defer cancel()
	calls := []func(n int) error{
		func(n int) error { return s.Prompt(ctx, fmt.Sprint("prompt ", n), session.PromptOptions{}) },
		func(n int) error {
			return s.Prompt(ctx, fmt.Sprint("queued ", n), session.PromptOptions{Streaming: session.BehaviorSteer})
		},
		func(n int) error { return s.Steer(fmt.Sprint("steer ", n)) },
		func(n int) error { return s.FollowUp(fmt.Sprint("follow ", n)) },
		func(n int) error {
			m := session.CustomMessage{CustomType: "note", Content: json.RawMessage(`"note"`)}
			trigger := n%3 == 0
			return s.SendCustomMessage(ctx, m, session.SendOptions{Trigger: &trigger})
		},
		func(int) error { return s.Abort(ctx) },
		func(int) error { _, err := s.Compact(ctx, ""); return err },
		func(n int) error { return s.SetName(fmt.Sprint("name ", n)) },
		func(n int) error { _, err := s.AppendEntry("data", json.RawMessage(`1`)); return err },
		func(int) error { return s.WaitForIdle(ctx) },
		func(int) error { _, _, err := s.ClearQueue(); return err },
		func(int) error {
			return s.Control().SendUserMessage(agentcore.Content{Text: "in the background"}, session.BehaviorFollowUp)
		},
		func(int) error { _ = s.ContextUsage(); _ = s.State(); _ = s.Messages(); return nil },
	}
	var group sync.WaitGroup
	var done, compactions atomic.Int64
	s.Subscribe(func(ev session.Event) error {
		if end, ok := ev.(*session.CompactionEnd); ok && end.Result != nil {
			compactions.Add(1)
		}
		return nil
	})
	for worker := range 6 {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(worker), 1))
			for n := 0; ctx.Err() == nil; n++ {
				call := random.IntN(len(calls))
				err := calls[call](n)
				done.Add(1)
				if err != nil && ctx.Err() == nil && !expected(err) {
					t.Errorf("call %d: %v", call, err)
				}
			}
		})
	}
	group.Wait()
	end, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	if err := s.Close(end); err != nil {
		t.Fatal(err)
	}
	if state := s.State(); !state.Idle {
		t.Errorf("not idle in the end: %+v", state)
	}
	again, err := session.OpenStore(store.Path(), session.StoreConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close() //nolint:errcheck // only read from
	var stored []string
	for _, m := range again.Context().Messages {
		stored = append(stored, fmt.Sprintf("%s: %s", m.Role(), messageText(m)))
	}
	// A note that is put down at the very moment in which a run says something may stand on either side of it.
	now := transcript(s)
	slices.Sort(stored)
	slices.Sort(now)
	if diff := cmp.Diff(stored, now); diff != "" {
		t.Errorf("transcript (-store +transcript):\n%s", diff)
	}
	if r := again.Report(); len(r.Problems) > 0 {
		t.Errorf("the store reports %v", r.Problems)
	}
	t.Logf("%d calls, %d compactions, %d entries", done.Load(), compactions.Load(), again.Len())
}

// expected says whether a call may fail so while others do something too.
func expected(err error) bool {
	for _, e := range []error{
		session.ErrStreaming, session.ErrCompacting, session.ErrCompactionCancelled, session.ErrNothingToCompact, session.ErrAlreadyCompacted,
		context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// finder names resources, others after a reload.
type finder struct{ asked []string }

func (*finder) Name() string { return "finder" }

func (*finder) Hook(event wire.Event) *wire.Hook {
	if event != wire.EventResourcesDiscover {
		return nil
	}
	return &wire.Hook{Event: event}
}

func (f *finder) Handle(_ context.Context, ev *engine.Event) (any, engine.Usage, error) {
	f.asked = append(f.asked, string(ev.Payload.(json.RawMessage)))
	return &wire.ResourcesDiscoverResult{SkillPaths: []string{fmt.Sprintf("skills/%d", len(f.asked))}, ThemePaths: []string{"dark"}}, engine.Usage{}, nil
}

func (*finder) Close(context.Context) error { return nil }

func TestResources(t *testing.T) {
	f := &finder{}
	x, err := engine.Open(t.Context(), engine.Config{Native: []engine.Extension{f}})
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t, session.Config{Extensions: x, CWD: "/project", Agent: agentcore.Config{Provider: say(echo)}})
	if diff := cmp.Diff(wire.ResourcesDiscoverOutcome{}, s.Resources()); diff != "" {
		t.Errorf("before the session began: %s", diff)
	}
	for i, ask := range []func(context.Context) (*wire.ResourcesDiscoverOutcome, error){s.Begin, s.Reload} {
		found, err := ask(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := wire.ResourcesDiscoverOutcome{Skills: []wire.Resource{{Extension: "finder", Path: fmt.Sprintf("skills/%d", i+1)}}, Themes: []wire.Resource{{Extension: "finder", Path: "dark"}}}
		if diff := cmp.Diff(want, *found); diff != "" {
			t.Errorf("found (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want, s.Resources()); diff != "" {
			t.Errorf("kept (-want +got):\n%s", diff)
		}
		s.Resources().Skills[0].Path = "somewhere else" // the caller's copy
		if got := s.Resources().Skills[0]; got != want.Skills[0] {
			t.Errorf("a caller has changed what is kept to %q", got)
		}
	}
	asked := []string{`{"cwd":"/project","reason":"startup"}`, `{"cwd":"/project","reason":"reload"}`}
	if diff := cmp.Diff(asked, f.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

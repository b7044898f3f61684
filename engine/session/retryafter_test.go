package session_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
	"weir/engine/session"
)

// TestRetryAfter: a session waits as long as the server said, seconds or a date, and at least as long as it would have; a server
// that wants it to wait for longer than anybody would is not asked again.
func TestRetryAfter(t *testing.T) {
	for _, c := range []struct {
		name  string
		after func(now time.Time) string
		want  []time.Duration // the pauses
		ended string          // the error that the run ends with
	}{
		{"seconds", func(time.Time) string { return "7s" }, []time.Duration{7 * time.Second, 7 * time.Second, 8 * time.Second}, "429 Too Many Requests: slow (retry after 7s)"},
		{"a fraction", func(time.Time) string { return "2.5s" }, []time.Duration{2500 * time.Millisecond, 4 * time.Second, 8 * time.Second}, "429 Too Many Requests: slow (retry after 2.5s)"},
		{
			"a date", func(now time.Time) string { return now.Add(30 * time.Second).UTC().Format(http.TimeFormat) },
			[]time.Duration{30 * time.Second, 30 * time.Second, 30 * time.Second},
			"",
		},
		{"a date gone by", func(time.Time) string { return "Thu, 21 Oct 1999 07:28:00 GMT" }, []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second}, ""},
		{"the bound", func(time.Time) string { return "120s" }, []time.Duration{2 * time.Minute, 2 * time.Minute, 2 * time.Minute}, ""},
		{"too long", func(time.Time) string { return "121s" }, nil, "429 Too Many Requests: slow (retry after 121s)"},
		{"endless", func(time.Time) string { return "99999999999999999999999s" }, nil, ""},
		{"no time", func(time.Time) string { return "a while" }, []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				provider := agentcore.ProviderFunc(func(context.Context, *agentcore.Request, func(agentcore.AssistantEvent) error) (*agentcore.AssistantMessage, error) {
					return &agentcore.AssistantMessage{
						StopReason: agentcore.StopError, ErrorMessage: fmt.Sprintf("429 Too Many Requests: slow (retry after %s)", c.after(time.Now())),
					}, nil
				})
				s, err := session.New(session.Config{Agent: agentcore.Config{Provider: provider, Model: agentcore.Model{ID: "m", Provider: "p"}}})
				if err != nil {
					t.Fatal(err)
				}
				var pauses []time.Duration
				s.Subscribe(func(ev session.Event) error {
					if start, ok := ev.(*session.AutoRetryStart); ok {
						pauses = append(pauses, time.Duration(start.DelayMs)*time.Millisecond)
					}
					return nil
				})
				begin := time.Now()
				if err := s.Prompt(t.Context(), "go", session.PromptOptions{}); err != nil {
					t.Fatal(err)
				}
				var waited time.Duration
				for _, p := range pauses {
					waited += p
				}
				if diff := cmp.Diff(c.want, pauses); diff != "" {
					t.Error(diff)
				}
				if got := time.Since(begin); got != waited {
					t.Errorf("it waited %v, and said %v", got, waited)
				}
				if got := s.Agent().State().ErrorMessage; c.ended != "" && got != c.ended {
					t.Errorf("it ended with %q", got)
				}
				if err := s.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

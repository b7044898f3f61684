package agents_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
	"weir/engine"
	"weir/engine/agents"
	"weir/engine/wire"
)

var update = flag.Bool("update", false, "write what comes out into the fixtures; look at the diff before it is committed")

// fixture is one event and its answer: testdata/AGENT/*.json.
type fixture struct {
	About     string          `json:"about"`
	Set       answers         `json:"set"`
	Stdin     json.RawMessage `json:"stdin,omitempty"`
	StdinText string          `json:"stdinText,omitempty"`

	// Asked is what the set was asked about, in weir's terms.
	Asked  []asked         `json:"asked,omitempty"`
	Stdout json.RawMessage `json:"stdout,omitempty"`
	Stderr string          `json:"stderr,omitempty"`
	Exit   int             `json:"exit"`
}

// answers are those of the one extension in the set.
type answers struct {
	Block     *string         `json:"block,omitempty"`
	Only      string          `json:"only,omitempty"` // the tool that it is about
	Terminate bool            `json:"terminate,omitempty"`
	Ask       string          `json:"ask,omitempty"`
	Rewrite   json.RawMessage `json:"rewrite,omitempty"`
	Content   *[]string       `json:"content,omitempty"`
	Handled   bool            `json:"handled,omitempty"`
	Transform string          `json:"transform,omitempty"`
	Cancel    bool            `json:"cancel,omitempty"`
	Fault     string          `json:"fault,omitempty"`
	Fail      string          `json:"fail,omitempty"`  // the set does not load
	Panic     bool            `json:"panic,omitempty"` // while it is loaded
}

type asked struct {
	Event string          `json:"event"`
	Tool  string          `json:"tool,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
	Texts []string        `json:"texts,omitempty"`
}

// extension is an extension in Go that answers as a fixture says, in a real engine.
type extension struct {
	answers
	asked []asked
}

func (x *extension) Name() string                { return "policy" }
func (x *extension) Close(context.Context) error { return nil }
func (x *extension) Hook(e wire.Event) *wire.Hook {
	switch e {
	case wire.EventToolCall, wire.EventToolResult, wire.EventInput, wire.EventSessionBeforeCompact, wire.EventSessionStart:
		return &wire.Hook{Event: e}
	}
	return nil
}

func (x *extension) Handle(_ context.Context, ev *engine.Event) (any, engine.Usage, error) {
	a := asked{Event: ev.Kind.String()}
	switch p := ev.Payload.(type) {
	case *wire.ToolCallEvent:
		a.Tool, a.Input = p.ToolName, p.Input
		if p.Recheck {
			return nil, engine.Usage{}, nil
		}
	case *wire.ToolResultEvent:
		a.Tool, a.Input = p.ToolName, p.Input
		for _, b := range p.Content {
			a.Texts = append(a.Texts, b.(*agentcore.TextBlock).Text)
		}
	case json.RawMessage:
		a.Input = p
	}
	x.asked = append(x.asked, a)
	if x.Fault != "" {
		return nil, engine.Usage{}, errors.New(x.Fault)
	}
	if x.Only != "" && x.Only != a.Tool {
		return nil, engine.Usage{}, nil
	}
	return x.result(ev), engine.Usage{}, nil
}

func (x *extension) result(ev *engine.Event) any {
	switch ev.Kind {
	case wire.EventToolCall:
		r := &wire.ToolCallResult{Input: x.Rewrite}
		if x.Block != nil {
			r.Block, r.Reason, r.Terminate = true, *x.Block, x.Terminate
		}
		if x.Ask != "" {
			r.Ask = &wire.Ask{Title: x.Ask}
		}
		return r
	case wire.EventToolResult:
		if x.Content == nil {
			return nil
		}
		r := &wire.ToolResultResult{Content: []agentcore.Block{}}
		for _, t := range *x.Content {
			r.Content = append(r.Content, &agentcore.TextBlock{Text: t})
		}
		return r
	case wire.EventInput:
		switch {
		case x.Handled:
			return &wire.InputResult{Action: wire.InputHandled}
		case x.Transform != "":
			return &wire.InputResult{Action: wire.InputTransform, Text: x.Transform}
		}
	case wire.EventSessionBeforeCompact:
		return &wire.SessionBeforeResult{Cancel: x.Cancel}
	}
	return nil
}

func run(t *testing.T, agent *agents.Agent, x *extension, stdin []byte) agents.Answer {
	t.Helper()
	return agents.Run(t.Context(), agents.Config{Agent: agent, Open: func(ctx context.Context, _ *agents.Event) (agents.Engine, func(context.Context) error, error) {
		switch {
		case x.Fail != "":
			return nil, nil, errors.New(x.Fail)
		case x.Panic:
			panic("on purpose")
		}
		e, err := engine.Open(ctx, engine.Config{
			Native: []engine.Extension{x},
			Ask:    func(context.Context, []engine.Question) (bool, error) { return true, nil },
		})
		if err != nil {
			t.Error(err)
		}
		return e, e.Close, err
	}}, bytes.NewReader(stdin))
}

func eachFixture(t *testing.T, do func(t *testing.T, agent *agents.Agent, name string, f *fixture, save func())) {
	t.Helper()
	for _, agent := range agents.All() {
		files, err := filepath.Glob(filepath.Join("testdata", agent.Name, "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no fixtures for %s: %v", agent.Name, err)
		}
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".json")
			t.Run(agent.Name+"/"+name, func(t *testing.T) {
				raw, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				var f fixture
				dec := json.NewDecoder(bytes.NewReader(raw))
				dec.DisallowUnknownFields()
				if err := dec.Decode(&f); err != nil {
					t.Fatal(err)
				}
				do(t, agent, name, &f, func() {
					var b bytes.Buffer
					enc := json.NewEncoder(&b)
					enc.SetEscapeHTML(false)
					enc.SetIndent("", "  ")
					if err := enc.Encode(&f); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
						t.Fatal(err)
					}
				})
			})
		}
	}
}

func (f *fixture) stdin() []byte {
	if f.Stdin != nil {
		return f.Stdin
	}
	return []byte(f.StdinText)
}

func compact(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	if len(raw) == 0 {
		return ""
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return b.String()
}

// TestFixtures runs every event of testdata against a real engine with one extension.
func TestFixtures(t *testing.T) {
	eachFixture(t, func(t *testing.T, agent *agents.Agent, _ string, f *fixture, save func()) {
		x := &extension{answers: f.Set}
		got := run(t, agent, x, f.stdin())
		if *update {
			f.Asked, f.Stdout, f.Stderr, f.Exit = x.asked, bytes.TrimSpace(got.Stdout), string(got.Stderr), got.Exit
			save()
			return
		}
		if got, want := string(got.Stdout), compact(t, f.Stdout); strings.TrimSuffix(got, "\n") != want {
			t.Errorf("stdout %s\nwant   %s", got, want)
		}
		if diff := cmp.Diff(f.Stderr, string(got.Stderr)); diff != "" {
			t.Errorf("stderr (-want +got):\n%s", diff)
		}
		if got.Exit != f.Exit {
			t.Errorf("exit %d, want %d", got.Exit, f.Exit)
		}
		same := cmp.Comparer(func(a, b json.RawMessage) bool { return compact(t, a) == compact(t, b) })
		if diff := cmp.Diff(f.Asked, x.asked, same); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
	})
}

// plain says whether nothing in an answer does anything to a terminal.
func plain(raw []byte) bool {
	return !slices.ContainsFunc([]rune(string(raw)), func(r rune) bool { return r != '\n' && (r == unicode.ReplacementChar || !unicode.IsPrint(r)) })
}

// TestAnswersArePlain: nothing of an event or an extension reaches a terminal raw.
func TestAnswersArePlain(t *testing.T) {
	eachFixture(t, func(t *testing.T, agent *agents.Agent, _ string, f *fixture, _ func()) {
		got := run(t, agent, &extension{answers: f.Set}, f.stdin())
		if !plain(got.Stdout) || !plain(got.Stderr) {
			t.Errorf("not plain: %q %q", got.Stdout, got.Stderr)
		}
	})
}

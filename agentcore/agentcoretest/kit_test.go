package agentcoretest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"weir/agentcore/agentcoretest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func scenario(t *testing.T, input string) *agentcoretest.Scenario {
	t.Helper()
	var s agentcoretest.Scenario
	if err := json.Unmarshal([]byte(`{"id":"t","layer":"core","input":`+input+`}`), &s); err != nil {
		t.Fatal(err)
	}
	return &s
}

// notes are the texts of the note records, in order.
func notes(o agentcoretest.Outcome) []string {
	var out []string
	for _, record := range o.Trace {
		if text, ok := record.(agentcoretest.Object)["note"].(string); ok {
			out = append(out, text)
		}
	}
	return out
}

func TestTickLetsEverythingElseProceed(t *testing.T) {
	s := scenario(t, `{
		"tools": [
			{"name": "A", "steps": [{"do":"wait","gate":"g"},{"do":"note","text":"A went on"},{"do":"open","gate":"h"}]},
			{"name": "B", "steps": [{"do":"wait","gate":"h"},{"do":"note","text":"B went on"},{"do":"tick"},{"do":"note","text":"B after its tick"}]}
		],
		"provider": [{"blocks":[{"toolCall":{"id":"a","name":"A","arguments":{}}},{"toolCall":{"id":"b","name":"B","arguments":{}}}]}],
		"driver": [
			{"do":"prompt","text":"go","as":"p"},{"do":"note","text":"started"},{"do":"open","gate":"g"},{"do":"note","text":"opened"},
			{"do":"tick"},{"do":"note","text":"driver after its tick"},{"do":"join","name":"p"}
		]}`)
	o, err := agentcoretest.Play(t, s, agentcoretest.Core)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"started", "opened", "A went on", "B went on", "driver after its tick", "B after its tick"}
	if diff := cmp.Diff(want, notes(o)); diff != "" {
		t.Error(diff)
	}
}

// TestStartedCallsWaitForTheirStarter holds the shape of JavaScript: a call with "as" runs up to its first wait and goes
// on when its starter waits.
func TestStartedCallsWaitForTheirStarter(t *testing.T) {
	s := scenario(t, `{
		"provider": [{"blocks":[{"text":["x"]}]}],
		"listeners": [{"name":"L","record":"none","on":[
			{"match":{"type":"agent_start"},"do":[{"do":"note","text":"run begins"}]},
			{"match":{"type":"turn_start"},"do":[{"do":"note","text":"run goes on"}]}
		]}],
		"driver": [{"do":"prompt","text":"go","as":"p"},{"do":"note","text":"driver goes on"},{"do":"join","name":"p"}]}`)
	o, err := agentcoretest.Play(t, s, agentcoretest.Core)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"run begins", "driver goes on", "run goes on"}, notes(o)); diff != "" {
		t.Error(diff)
	}
}

func TestBadScenarios(t *testing.T) {
	for _, c := range []struct{ name, input, want string }{
		{"deadlock", `{"driver":[{"do":"wait","gate":"never"}]}`, "deadlock"},
		{"unknown action", `{"driver":[{"do":"dance"}]}`, `unknown action "dance"`},
		{"unknown action in a listener", `{"provider":[{}],"listeners":[{"name":"L","on":[{"match":{"type":"turn_end"},"do":[{"do":"dance"}]}]}],
			"driver":[{"do":"prompt","text":"x"}]}`, `L: unknown action "dance"`},
		{"unknown expression", `{"driver":[{"do":"set","path":"x","value":{"$dance":1}}]}`, "unknown expression $dance"},
		{"unknown listener", `{"driver":[{"do":"subscribe","listener":"X"}]}`, `no listener is named "X"`},
		{"unknown call", `{"driver":[{"do":"join","name":"x"}]}`, `no call was started as "x"`},
		{"unknown hook", `{"hooks":{"dance":[]}}`, `unknown hook "dance"`},
		{"empty block", `{"provider":[{"blocks":[{}]}],"driver":[{"do":"prompt","text":"x"}]}`, "block 0 of the response is empty"},
		{"driver throws", `{"driver":[{"do":"throw","message":"up"}]}`, "driver: up"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, err := agentcoretest.Play(t, scenario(t, c.input), agentcoretest.Core)
			told := ""
			if err != nil {
				told = err.Error()
			}
			if raw, _ := json.Marshal(o.Trace); !strings.Contains(told, c.want) && !strings.Contains(string(raw), c.want) {
				t.Errorf("got error %v and trace %s, want %q", err, raw, c.want)
			}
		})
	}
}

func TestCompareShowsTheDifference(t *testing.T) {
	s := scenario(t, `{"driver":[{"do":"note","text":"a"},{"do":"note","text":"b"},{"do":"note","text":"c"}]}`)
	got, err := agentcoretest.Play(t, s, agentcoretest.Core)
	if err != nil {
		t.Fatal(err)
	}
	s.Expected = got
	if diff := s.Compare(got); diff != "" {
		t.Errorf("equal outcomes differ:\n%s", diff)
	}
	other := got
	other.Trace = append([]any{got.Trace[1], got.Trace[0]}, got.Trace[2])
	want := `- {"note":"a","obs":"driver"}`
	if diff := s.Compare(other); !strings.Contains(diff, want) || !strings.Contains(diff, "+ "+want[2:]) {
		t.Errorf("diff does not show the swapped records:\n%s", diff)
	}
	s.Tags = []string{"js-order"}
	if diff := s.Compare(other); diff != "" {
		t.Errorf("under js-order the order may differ:\n%s", diff)
	}
	for _, change := range []func(*agentcoretest.Outcome){
		func(o *agentcoretest.Outcome) { o.Trace = o.Trace[:2] },
		func(o *agentcoretest.Outcome) { o.ToolRuns = []any{"x"} },
		func(o *agentcoretest.Outcome) { o.Final = nil },
	} {
		changed := got
		change(&changed)
		if s.Compare(changed) == "" {
			t.Errorf("%+v passes for %+v", changed, got)
		}
	}
}

func TestNormalisation(t *testing.T) {
	n := &agentcoretest.Norm{
		DefaultModel: agentcoretest.DefaultModel(),
		Replace:      [][2]string{{"/scratch/7", "<root>"}},
		IsEntryID:    func(s string) bool { return strings.HasPrefix(s, "entry-") },
	}
	in := agentcoretest.Value(json.RawMessage(`{
		"timestamp": 12, "id": "entry-9", "parent": "entry-4", "again": "entry-9", "path": "/scratch/7/x",
		"message": {"role":"assistant","api":"fake-api","provider":"fake","model":"m2","usage":{"input":1},"timestamp":"t"},
		"assistantMessageEvent": {"type":"text_delta","partial":{"role":"assistant","api":"fake-api","provider":"fake","model":"m2","usage":{"input":1},"timestamp":"t"}}
	}`))
	want := agentcoretest.Value(json.RawMessage(`{
		"timestamp": "<ts>", "again": "<e1>", "id": "<e1>", "parent": "<e2>", "path": "<root>/x",
		"message": {"role":"assistant","model":"m2","timestamp":"<ts>"},
		"assistantMessageEvent": {"type":"text_delta","partial":"=message"}
	}`))
	if diff := cmp.Diff(want, n.Value(in)); diff != "" {
		t.Error(diff)
	}
}

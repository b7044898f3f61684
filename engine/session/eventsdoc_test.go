package session_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
	"weir/engine"
	"weir/engine/session"
	"weir/engine/wire"
)

var update = flag.Bool("update", false, "rewrite the tables of docs/events.md; commit only if you understand the diff")

const eventsDoc = "../../docs/events.md"

// The tables of docs/events.md are what the code says.
func TestEventsDoc(t *testing.T) {
	raw, err := os.ReadFile(eventsDoc)
	if err != nil {
		t.Fatal(err)
	}
	doc := string(raw)
	for _, table := range []struct {
		name string
		rows []string
	}{{"run", runTable(t)}, {"session", sessionTable(t)}, {"extensions", extensionTable(t)}} {
		start, end := "<!-- table: "+table.name+" -->\n", "<!-- end -->"
		before, rest, ok := strings.Cut(doc, start)
		old, after, ok2 := strings.Cut(rest, end)
		if !ok || !ok2 {
			t.Fatalf("docs/events.md has no table %q", table.name)
		}
		want := strings.Join(table.rows, "\n") + "\n"
		if *update {
			doc = before + start + want + end + after
			continue
		}
		if diff := cmp.Diff(want, old); diff != "" {
			t.Errorf("table %s (-code +docs/events.md; go test ./engine/session -run EventsDoc -update rewrites it):\n%s", table.name, diff)
		}
	}
	if *update {
		if err := os.WriteFile(eventsDoc, []byte(doc), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// fields are the keys of an encoded event in their order, but for its type.
func fields(t *testing.T, raw []byte) string {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	if _, err := decoder.Token(); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			t.Fatal(err)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			t.Fatal(err)
		}
		if key != "type" && key != "context" {
			keys = append(keys, "`"+key.(string)+"`")
		}
	}
	return strings.Join(keys, ", ")
}

func runEvents() []agentcore.Event {
	m := agentcore.NewMessage(&agentcore.AssistantMessage{Content: []agentcore.Block{}})
	result := &agentcore.ToolResult{}
	args := json.RawMessage(`{}`)
	return []agentcore.Event{
		&agentcore.AgentStart{}, &agentcore.TurnStart{}, &agentcore.MessageStart{Message: m},
		&agentcore.MessageUpdate{Message: m, AssistantEvent: agentcore.AssistantEvent{Type: agentcore.StreamTextDelta, Delta: "x"}},
		&agentcore.MessageEnd{Message: m}, &agentcore.ToolExecutionStart{Args: args},
		&agentcore.ToolExecutionUpdate{Args: args, PartialResult: result}, &agentcore.ToolExecutionEnd{Result: result},
		&agentcore.TurnEnd{Message: m}, &agentcore.AgentEnd{},
	}
}

func runTable(t *testing.T) []string {
	rows := []string{"| event | fields |", "|---|---|"}
	for _, ev := range runEvents() {
		raw, err := agentcore.AppendEvent(nil, ev)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s |", ev.Type(), fields(t, raw)))
	}
	return rows
}

func sessionTable(t *testing.T) []string {
	samples := []session.Event{
		&session.AgentEnd{}, &session.AgentSettled{}, &session.QueueUpdate{}, &session.CompactionStart{},
		&session.CompactionEnd{Result: &session.CompactionResult{}, ErrorMessage: "x"}, &session.EntryAppended{}, &session.InfoChanged{Name: "x"},
		&session.ThinkingLevelChanged{}, &session.AutoRetryStart{}, &session.AutoRetryEnd{FinalError: "x"}, &session.SummarizationRetryScheduled{},
		&session.SummarizationRetryAttemptStart{Reason: session.CompactManual}, &session.SummarizationRetryFinished{}, &session.BashExecutionUpdate{ID: "x"},
	}
	for _, ev := range runEvents() {
		if ev.Type() != agentcore.EventAgentEnd {
			samples = append(samples, &session.RunEvent{Event: ev})
		}
	}
	rows := []string{"| event | fields |", "|---|---|"}
	for n := 1; n <= session.EventCount; n++ {
		i := slices.IndexFunc(samples, func(ev session.Event) bool { return int(ev.Type()) == n })
		if i < 0 {
			t.Fatalf("%s has no sample", session.EventType(n))
		}
		raw, err := samples[i].MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s |", samples[i].Type(), fields(t, raw)))
	}
	return rows
}

// payloadFields are the keys of all events as guests get them, from the golden files of the wire format.
func payloadFields(t *testing.T) map[string]string {
	read := func(file string, v any) {
		raw, err := os.ReadFile("../wire/testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, v); err != nil {
			t.Fatal(err)
		}
	}
	found := map[string]string{}
	var encoded []struct{ Name, Input string }
	read("events.json", &encoded)
	for _, e := range encoded {
		name, variant, _ := strings.Cut(e.Name, ", ")
		// Later versions of an event tell more of its keys, but for updates, of which only pieces are sent.
		if _, ok := found[name]; !ok || variant == "text_delta" {
			found[name] = fields(t, []byte(e.Input))
		}
	}
	var payloads []struct {
		Event string
		Full  json.RawMessage
	}
	read("payloads.json", &payloads)
	for _, p := range payloads {
		found[p.Event] = fields(t, p.Full)
	}
	return found
}

func extensionTable(t *testing.T) []string {
	payloads := payloadFields(t)
	rows := []string{"| event | payload | may stop it | may change | several answers | a fault | with `on_error = \"block\"` |", "|---|---|---|---|---|---|---|"}
	for _, k := range engine.Kinds() {
		name := k.Event.String()
		payload, ok := payloads[name]
		if !ok {
			t.Fatalf("no golden file has a payload of %s", name)
		}
		stop := ""
		if k.Blocks {
			stop = "yes"
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s | %s | %s | %s |", name, payload, stop, k.Changes, k.Merge, k.OnFault, k.Strict))
	}
	if got := len(rows) - 2; got != wire.EventCount {
		t.Errorf("%d rows, want %d", got, wire.EventCount)
	}
	return rows
}

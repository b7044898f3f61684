package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/engine"
	"weir/engine/journal"
	"weir/engine/wire"
)

// openWitness opens a set of the guest in testdata/witness, with a journal, and gives the journal's path.
func openWitness(t *testing.T) (*engine.Engine, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	e, err := openSet(t, fmt.Sprintf("version = 1\n[[extension]]\nname = \"witness\"\nmodule = %q\n[extension.grant]\njournal = %q\n", buildGuest(t, "./testdata/witness"), file))
	if err != nil {
		t.Fatal(err)
	}
	return e, file
}

// records reads a journal, which must be whole, and gives what the guest put down.
func records(t *testing.T, file string) []string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Verify(bytes.NewReader(b), ""); err != nil {
		t.Fatal(err)
	}
	var list []string
	for line := range strings.Lines(string(b)) {
		var e journal.Entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		list = append(list, string(e.Record))
	}
	return list
}

func commandCall(tool, command string) wire.ToolCallEvent {
	return wire.ToolCallEvent{ToolName: tool, ToolCallID: "c1", Input: json.RawMessage(`{"command":` + fmt.Sprintf("%q", command) + `}`)}
}

// Each decision is written down as it was made: also those that nobody objected to, and those about tools that no extension hooks.
func TestDecisionsAreTold(t *testing.T) {
	e, file := openWitness(t)
	for _, c := range []wire.ToolCallEvent{commandCall("bash", "ls"), commandCall("bash", "block"), commandCall("bash", "ask"), commandCall("bash", "rewrite"), commandCall("read", "x")} {
		e.ToolCall(t.Context(), c, nil)
	}
	e.ToolResult(t.Context(), wire.ToolResultEvent{ToolName: "bash", ToolCallID: "c1", Content: text("secret")})
	e.ToolResult(t.Context(), wire.ToolResultEvent{ToolName: "bash", ToolCallID: "c1", Content: text("plain")}) // nobody had anything to say
	want := []string{
		`{"event":"tool_call","decision":"allow","answers":[{"extension":"witness","outcome":"allow"}]}`,
		`{"event":"tool_call","decision":"block","by":["witness"],"reason":"as told","answers":[{"extension":"witness","outcome":"block","reason":"as told"}]}`,
		`{"event":"tool_call","decision":"block","by":["witness"],"reason":"witness asks: really?; nobody is there to answer, so the call was blocked","answers":[{"extension":"witness","outcome":"ask","reason":"really?"}]}`,
		`{"event":"tool_call","decision":"rewrite","by":["witness"],"answers":[{"extension":"witness","outcome":"rewrite","reason":"arguments"}]}`,
		`{"event":"tool_call","decision":"allow","answers":[]}`,
		`{"event":"tool_result","decision":"rewrite","by":["witness"],"answers":[{"extension":"witness","outcome":"rewrite","reason":"content"}]}`,
	}
	if diff := cmp.Diff(want, records(t, file)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A call that could not be written down by an extension that insists is blocked, and the next one is served.
func TestUnwrittenDecisionBlocks(t *testing.T) {
	e, file := openWitness(t)
	d := e.ToolCall(t.Context(), commandCall("bash", "unwritable"), nil)
	if want := "witness: decision: error: the disk is full; the call was blocked"; !d.Block || d.By != "witness" || d.Reason != want {
		t.Errorf("%+v, want blocked with %q", d, want)
	}
	if d := e.ToolCall(t.Context(), commandCall("bash", "ls"), nil); d.Block {
		t.Errorf("the next call: %+v", d)
	}
	if err := os.WriteFile(file, []byte("not a journal\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if d := e.ToolCall(t.Context(), commandCall("bash", "ls"), nil); !d.Block || !strings.Contains(d.Reason, "no entry of a journal") {
		t.Errorf("with a file that is no journal: %+v", d)
	}
}

// What was decided is written down when the run was cancelled, too.
func TestDecisionOfCancelledRun(t *testing.T) {
	e, file := openWitness(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if d := e.ToolCall(ctx, commandCall("bash", "ls"), nil); !d.Block {
		t.Errorf("not blocked: %+v", d)
	}
	if got := records(t, file); len(got) != 1 || !strings.Contains(got[0], `"decision":"block"`) {
		t.Errorf("%v", got)
	}
}

func TestJournalGrant(t *testing.T) {
	_, err := openSet(t, fmt.Sprintf("version = 1\n[[extension]]\nname = \"witness\"\nmodule = %q\n", buildGuest(t, "./testdata/witness")))
	if err == nil || !strings.Contains(err.Error(), `journal = "audit.jsonl"`) {
		t.Errorf("without the grant: %v", err)
	}
	_, err = openSet(t, fmt.Sprintf("version = 1\n[[extension]]\nname = \"witness\"\nmodule = %q\n[extension.grant]\njournal = \"none/audit.jsonl\"\n", buildGuest(t, "./testdata/witness")))
	if err == nil || !strings.Contains(err.Error(), "weir.toml:6:") || !strings.Contains(err.Error(), "name a file in a folder that exists") {
		t.Errorf("in a folder that is not there: %v", err)
	}
}

// A policy in TypeScript hears decisions too.
func TestDecisionInScript(t *testing.T) {
	dir := t.TempDir()
	policy, file := filepath.Join(dir, "audit.ts"), filepath.Join(dir, "audit.jsonl")
	source := `import { journal } from "weir";
export const describe = { name: "audit", version: "1.0.0", decisions: { onError: "block" } };
export function decision(d) {
  if (d.input.command === "unwritable") throw new Error("the disk is full");
  journal.append({ decision: d.decision });
}
`
	if err := os.WriteFile(policy, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := openSet(t, fmt.Sprintf("version = 1\n[[extension]]\nname = \"audit\"\nmodule = %q\n[extension.grant]\njournal = %q\n", policy, file))
	if err != nil {
		t.Fatal(err)
	}
	if d := e.ToolCall(t.Context(), commandCall("bash", "ls"), nil); d.Block {
		t.Errorf("%+v", d)
	}
	if diff := cmp.Diff([]string{`{"decision":"allow"}`}, records(t, file)); diff != "" {
		t.Error(diff)
	}
	if d := e.ToolCall(t.Context(), commandCall("bash", "unwritable"), nil); !d.Block || !strings.Contains(d.Reason, "audit.ts:4") {
		t.Errorf("%+v", d)
	}
}

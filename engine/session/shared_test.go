package session_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
	"weir/engine/session"
)

// fileView is what a program makes of a session file.
type fileView struct {
	File          string            `json:"file"`
	ID            string            `json:"id"`
	CWD           string            `json:"cwd"`
	Name          string            `json:"name"`
	Leaf          string            `json:"leaf"`
	Entries       []entryView       `json:"entries"`
	Messages      []json.RawMessage `json:"messages"`
	ThinkingLevel string            `json:"thinkingLevel"`
	Model         struct {
		Provider string `json:"provider"`
		ModelID  string `json:"modelId"`
	} `json:"model"`
}

type entryView struct {
	ID       string `json:"id"`
	ParentID string `json:"parentId"`
	Type     string `json:"type"`
	Label    string `json:"label"`
}

// referenceNode is the Node that runs the reference. Without it, or the reference, the test skips, unless WEIR_REQUIRE_PEERS is set.
func referenceNode(t *testing.T) string {
	t.Helper()
	missing := t.Skipf
	if os.Getenv("WEIR_REQUIRE_PEERS") != "" {
		missing = t.Fatalf
	}
	if os.Getenv("PI_MODULES") == "" {
		missing("PI_MODULES is not set: install @earendil-works/pi-coding-agent@0.85.0 and name its folder @earendil-works")
	}
	node := os.Getenv("WEIR_NODE")
	if node == "" {
		node = "node"
	}
	command, err := exec.LookPath(node)
	if err != nil {
		missing("%v: set WEIR_NODE to Node 22 (npm package node@22)", err)
	}
	return command
}

// reference runs the reference's session manager on a file (testdata/conformance/bench/session.mjs).
func reference(t *testing.T, what, where string) fileView {
	t.Helper()
	command := referenceNode(t)
	cmd := exec.CommandContext(t.Context(), command, "../../testdata/conformance/bench/session.mjs", what, where)
	cmd.Env = append(os.Environ(), "PI_CODING_AGENT_DIR="+t.TempDir())
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the reference: %v", err)
	}
	var v fileView
	if err := json.Unmarshal(out, &v); err != nil {
		t.Fatalf("the reference printed %q: %v", out, err)
	}
	return v
}

// ours is what this package makes of a file, in the same shape.
func ours(t *testing.T, store *session.Store, path string) fileView {
	t.Helper()
	c := store.Context()
	if len(c.Skipped) > 0 {
		t.Fatalf("skipped: %v", c.Skipped)
	}
	v := fileView{File: path, ID: store.Header().ID, CWD: store.Header().CWD, Name: store.Name(), ThinkingLevel: string(c.ThinkingLevel)}
	v.Model.Provider, v.Model.ModelID = c.Provider, c.ModelID
	if leaf := store.Leaf(); leaf != nil {
		v.Leaf = leaf.ID
	}
	for _, e := range store.Entries() {
		v.Entries = append(v.Entries, entryView{e.ID, e.ParentID, string(e.Type), store.Label(e.ID)})
	}
	for _, m := range c.Messages {
		raw, err := m.JSON()
		if err != nil {
			t.Fatal(err)
		}
		v.Messages = append(v.Messages, raw)
	}
	return v
}

// same compares views; messages by value.
func same(t *testing.T, what string, ours, theirs fileView) {
	t.Helper()
	values := cmp.Transformer("value", func(raw json.RawMessage) any {
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			return fmt.Sprintf("%v: %s", err, raw)
		}
		return v
	})
	if diff := cmp.Diff(theirs, ours, values); diff != "" {
		t.Errorf("%s (-reference +weir):\n%s", what, diff)
	}
}

// A session that the reference made means the same here, goes on here, and means the same there afterwards.
func TestSessionOfReference(t *testing.T) {
	theirs := reference(t, "create", t.TempDir())
	store, err := session.OpenStore(theirs.File, session.StoreConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if r := store.Report(); len(r.Problems) > 0 || r.TornBytes > 0 {
		t.Errorf("report: %+v", r)
	}
	same(t, "as it was made", ours(t, store, theirs.File), theirs)
	appendText(t, store, "from weir")
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := session.ReadStore(theirs.File, session.StoreConfig{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "after weir went on", ours(t, again, theirs.File), reference(t, "read", theirs.File))
}

// A session that was made here means the same there, goes on there, and means the same here afterwards.
func TestSessionForReference(t *testing.T) {
	store, err := session.NewStore(session.StoreConfig{Dir: t.TempDir(), CWD: "/home/dev/project"})
	if err != nil {
		t.Fatal(err)
	}
	name, label, display, tokens := "A talk", "here", true, int64(99)
	add := func(kind session.EntryType, d session.EntryData) *session.Entry {
		e, err := store.Append(kind, &d)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	add(session.EntryModel, session.EntryData{Provider: "p", ModelID: "m"})
	add(session.EntryThinkingLevel, session.EntryData{ThinkingLevel: "low"})
	first := appendText(t, store, "first \u2028 <é> 😀")
	add(session.EntryCustom, session.EntryData{CustomType: "state", Data: json.RawMessage(`{"a":[1,null]}`)})
	add(session.EntryCustomMessage, session.EntryData{CustomType: "note", Content: json.RawMessage(`"for the model"`), Display: &display})
	add(session.EntryLabel, session.EntryData{TargetID: first.ID, Label: &label})
	add(session.EntrySessionInfo, session.EntryData{Name: &name})
	kept := appendText(t, store, "second")
	add(session.EntryCompaction, session.EntryData{Summary: "what was said", FirstKeptEntryID: kept.ID, TokensBefore: &tokens})
	appendText(t, store, "third")
	path := store.Path()
	want := ours(t, store, path)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	same(t, "as it was made", want, reference(t, "read", path))
	theirs := reference(t, "append", path)
	again, err := session.ReadStore(path, session.StoreConfig{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "after the reference went on", ours(t, again, path), theirs)
}

// appendText appends what a user says and an answer.
func appendText(t *testing.T, store *session.Store, text string) *session.Entry {
	t.Helper()
	var last *session.Entry
	for _, m := range []*agentcore.Message{
		agentcore.NewMessage(&agentcore.UserMessage{Content: agentcore.Content{Text: text}, Timestamp: 1700000000000}),
		agentcore.NewMessage(&agentcore.AssistantMessage{
			Content: []agentcore.Block{&agentcore.TextBlock{Text: "answer to " + text}}, API: "a", Provider: "p", Model: "m",
			StopReason: agentcore.StopStop, Timestamp: 1700000001000,
		}),
	} {
		raw, err := m.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if last, err = store.Append(session.EntryMessage, &session.EntryData{Message: raw}); err != nil {
			t.Fatal(err)
		}
	}
	return last
}

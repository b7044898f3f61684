package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
	"weir/engine"
	"weir/engine/set"
	"weir/engine/wire"
	"weir/wasmhost"
)

// TestReentrantMatchesSource rebuilds the guest of TestReentrantGuest.
func TestReentrantMatchesSource(t *testing.T) {
	tool, err := exec.LookPath("wat2wasm")
	if err != nil {
		if os.Getenv("WEIR_REQUIRE_GUESTS") == "1" {
			t.Fatal("wat2wasm (wabt 1.0.32) is needed")
		}
		t.Skip("needs wat2wasm (wabt 1.0.32)")
	}
	out := filepath.Join(t.TempDir(), "out.wasm")
	if said, err := exec.CommandContext(t.Context(), tool, "testdata/reentrant.wat", "-o", out).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	want, err1 := os.ReadFile(out)
	have, err2 := os.ReadFile("testdata/reentrant.wasm")
	if err := errors.Join(err1, err2); err != nil || !bytes.Equal(have, want) {
		t.Errorf("testdata/reentrant.wasm is not what its source builds (%v); run wat2wasm", err)
	}
}

// switching is a session in which switching the model leads to events: one that is observed, two that are waited for.
type switching struct {
	wasmhost.Session
	engine *engine.Engine
	gate   engine.Decision
}

func (s *switching) SetModel(ctx context.Context, provider, id string) error {
	s.engine.Observe(ctx, wire.ModelSelectEvent{Model: agentcore.Model{Provider: provider, ID: id}, Source: "set"})
	if _, err := s.engine.Ask(ctx, wire.InputEvent{Text: "hello", Source: "extension"}); err != nil {
		return err
	}
	s.gate = s.engine.ToolCall(ctx, wire.ToolCallEvent{ToolName: "bash", ToolCallID: "inner", Input: json.RawMessage(`{}`)}, nil)
	return nil
}

// TestReentrantGuest: an extension hears after its call of what it caused to be observed, and what waits for it fails at once
// (docs/abi.md, section 13).
func TestReentrantGuest(t *testing.T) {
	ctx := t.Context()
	host, err := wasmhost.New(ctx, wasmhost.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := set.Parse("weir.toml", []byte("version = 1\n[[extension]]\nname = \"reentrant\"\nmodule = \"testdata/reentrant.wasm\"\ngrant.session = [\"control\"]\n"))
	if err != nil {
		t.Fatal(err)
	}
	session := &switching{}
	var said []string
	e, err := engine.Open(ctx, engine.Config{
		Host: host, Set: s, Session: func() wasmhost.Session { return session },
		Record: func(r engine.Record) {
			said = append(said, r.Event.String()+" "+r.ToolCallID+" "+r.Outcome.String()+" "+r.Reason)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(e.Close(context.Background()), host.Close(context.Background())); err != nil {
			t.Error(err)
		}
	})
	session.engine = e
	call := func(command string) engine.Decision {
		said = nil
		return e.ToolCall(ctx, wire.ToolCallEvent{ToolName: "bash", ToolCallID: "outer", Input: json.RawMessage(`{"command":"` + command + `"}`)}, nil)
	}
	const reentrant = "host: called again from inside one of its own host calls"
	if d := call("ls"); d.Block {
		t.Errorf("the outer call was blocked: %s", d.Reason)
	}
	want := []string{
		"input  fault reentrant: input: " + reentrant,
		"tool_call inner fault reentrant: tool_call: " + reentrant,
		"model_select  allow ",
		"tool_call outer allow ",
	}
	if d := cmp.Diff(want, said); d != "" {
		t.Errorf("records (-want +got):\n%s", d)
	}
	if !session.gate.Block || !strings.Contains(session.gate.Reason, reentrant) {
		t.Errorf("the inner gate: %+v, want a block", session.gate)
	}
	// When the call fails there is nothing to come after, and that is recorded.
	if d := call("trap"); !d.Block {
		t.Error("a gate that trapped did not block")
	}
	if len(said) != 4 || !strings.HasPrefix(said[2], "model_select  fault reentrant: model_select: host: dropped: the call during which it was queued failed: ") {
		t.Errorf("records: %q", said)
	}
}

package wasmhost_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"weir/engine/wire"
	"weir/wasmhost"
)

// sharedGuest is an entry of hostile.json: a table of guests that others wrote, with what a host may do with each.
type sharedGuest struct {
	File, Cat, Hook, Expect, Kind, Src, Note string
	Accept, Never, Calls                     []string
	Valid                                    bool
}

// TestSharedHostileGuests runs the hostile guests of the folder that WEIR_SHARED names.
func TestSharedHostileGuests(t *testing.T) {
	shared := os.Getenv("WEIR_SHARED")
	if shared == "" {
		t.Skip("needs WEIR_SHARED: a folder with hostile/hostile.json and hostile/wat")
	}
	tool, err := exec.LookPath("wat2wasm")
	if err != nil {
		t.Skip("needs wat2wasm")
	}
	table, err := os.ReadFile(filepath.Join(shared, "hostile", "hostile.json"))
	if err != nil {
		t.Fatal(err)
	}
	var guests []sharedGuest
	if err := json.Unmarshal(table, &guests); err != nil {
		t.Fatal(err)
	}
	h := newHost(t, wasmhost.Config{})
	for _, g := range guests {
		t.Run(strings.TrimSuffix(g.File, ".wasm"), func(t *testing.T) {
			wasm := assemble(t, tool, filepath.Join(shared, "hostile", g.Src), g.Valid)
			wants := g.Calls
			if wants == nil {
				wants = []string{""}
			}
			for i, got := range sharedOutcomes(t, h, wasm, g.Hook, len(wants)) {
				if wants[i] == "" {
					if !g.accepts(got) {
						t.Errorf("%s: %s, want %s %s or one of %v", g.Note, got, g.Expect, g.Kind, g.Accept)
					}
				} else if class, _, _ := strings.Cut(got, ":"); !slices.Contains(strings.Split(wants[i], "|"), class) {
					t.Errorf("%s: call %d: %s, want %s", g.Note, i+1, got, wants[i])
				}
				if class, _, _ := strings.Cut(got, ":"); slices.Contains(g.Never, class) && g.Calls == nil {
					t.Errorf("%s: %s, which must never be", g.Note, got)
				}
			}
		})
	}
}

// assemble builds a guest. Some need features that wat2wasm knows beside the standard ones, others are only valid without.
func assemble(t *testing.T, tool, source string, valid bool) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.wasm")
	args := []string{source, "-o", out}
	if !valid {
		args = append(args, "--no-check")
	}
	if exec.CommandContext(t.Context(), tool, append(args, "--enable-all")...).Run() != nil {
		if said, err := exec.CommandContext(t.Context(), tool, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
	}
	wasm, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	// The guests are named after their files, with underscores, which names of extensions must not have. That is not what
	// they are about.
	named := []byte(`"name":"` + strings.TrimSuffix(filepath.Base(source), ".wat") + `"`)
	return bytes.ReplaceAll(wasm, named, bytes.ReplaceAll(named, []byte("_"), []byte("-")))
}

func (g *sharedGuest) accepts(got string) bool {
	class, kind, _ := strings.Cut(got, ":")
	switch {
	case class == g.Expect && (class != "fault" || kind == g.Kind):
		return true
	case g.Cat == "stack" && got == "fault:depth": // depth is a kind of its own here
		return true
	}
	return slices.Contains(g.Accept, class) || slices.Contains(g.Accept, got)
}

// sharedOutcomes loads a guest and calls its hook n times. The outcomes are load-error, allow, block or fault:KIND.
func sharedOutcomes(t *testing.T, h *wasmhost.Host, wasm []byte, hook string, n int) []string {
	t.Helper()
	loadError := []string{"load-error"}
	limits := wasmhost.Limits{Timeout: 200 * time.Millisecond, LoadTimeout: time.Second}
	start := time.Now()
	m, err := h.Compile(t.Context(), "shared", wasm, limits)
	if err != nil {
		t.Log(err)
		return loadError
	}
	described, err := m.Describe(t.Context(), "shared")
	if err != nil {
		t.Log(err)
		return loadError
	}
	d, err := wire.ParseDescribe(described)
	if err != nil {
		t.Log(err)
		return loadError
	}
	g, err := m.NewGuest(t.Context(), wasmhost.GuestConfig{Name: "shared", Entries: d.HookNames(), Limits: limits})
	if err != nil {
		t.Log(err)
		return loadError
	}
	if took := time.Since(start); took > 6*time.Second+slack {
		t.Errorf("loading took %v", took)
	}
	defer func() {
		if err := g.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	input := wasmhost.Input{Bytes: []byte(`{"type":"` + hook + `","toolCallId":"c1","toolName":"bash","input":{"command":"ls"},"context":{}}`)}
	var outcomes []string
	for range n {
		blocked := false
		start := time.Now()
		_, err := g.Call(t.Context(), hook, input, func(out []byte) error {
			switch hook {
			case "tool_call":
				r, err := wire.ParseToolCall(out)
				blocked = r.Block
				return err
			case "tool_result":
				_, err := wire.ParseToolResult(out)
				return err
			default:
				_, err := wire.ParseContext(out)
				return err
			}
		})
		if took := time.Since(start); took > limits.Timeout+slack {
			t.Errorf("it took %v", took)
		}
		var f *wasmhost.Fault
		switch {
		case errors.As(err, &f):
			t.Log(err)
			outcomes = append(outcomes, "fault:"+f.Kind.String())
		case err != nil:
			t.Fatal(err)
		case blocked:
			outcomes = append(outcomes, "block")
		default:
			outcomes = append(outcomes, "allow")
		}
	}
	return outcomes
}

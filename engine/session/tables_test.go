package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
	"weir/engine/session"
)

// loadTable reads a table of recorded results; it skips the test where a given conformance folder has none.
func loadTable[Case any](t *testing.T, name string) []Case {
	t.Helper()
	dir := os.Getenv("WEIR_CONFORMANCE_DIR")
	own := dir == ""
	if own {
		dir = filepath.Join("..", "..", "testdata", "conformance")
	}
	data, err := os.ReadFile(filepath.Join(dir, "tables", name+".json"))
	if errors.Is(err, fs.ErrNotExist) && !own {
		data, err = os.ReadFile(filepath.Join(dir, "scenarios", "tables", name+".json"))
		if errors.Is(err, fs.ErrNotExist) {
			t.Skipf("no table %s in %s", name, dir)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Cases []json.RawMessage
	}
	if err := json.Unmarshal(data, &table); err != nil {
		t.Fatal(err)
	}
	if len(table.Cases) == 0 {
		t.Fatalf("table %s has no cases", name)
	}
	cases := make([]Case, len(table.Cases))
	for i, raw := range table.Cases {
		if err := json.Unmarshal(raw, &cases[i]); err != nil {
			t.Fatalf("case %d: %v", i, err)
		}
	}
	t.Logf("conformance table %s: %d cases", name, len(cases))
	return cases
}

func decodeMessages(t *testing.T, raw []json.RawMessage) []*agentcore.Message {
	t.Helper()
	messages := make([]*agentcore.Message, len(raw))
	for i, r := range raw {
		m, err := agentcore.DecodeMessage(r)
		if err != nil {
			t.Fatal(err)
		}
		messages[i] = m
	}
	return messages
}

func TestTables(t *testing.T) {
	t.Run("error-classes", func(t *testing.T) {
		for i, c := range loadTable[struct {
			ErrorMessage        string
			Retryable, Overflow bool
		}](t, "error-classes") {
			m := &agentcore.AssistantMessage{StopReason: agentcore.StopError, ErrorMessage: c.ErrorMessage}
			if got := session.Retryable(m); got != c.Retryable {
				t.Errorf("case %d: %q: retryable %v, want %v", i, c.ErrorMessage, got, c.Retryable)
			}
			if got := session.Overflow(m, 100000); got != c.Overflow {
				t.Errorf("case %d: %q: overflow %v, want %v", i, c.ErrorMessage, got, c.Overflow)
			}
		}
	})
	t.Run("stop-classes", func(t *testing.T) {
		for i, c := range loadTable[struct {
			StopReason                  agentcore.StopReason
			Usage                       agentcore.Usage
			ContextWindow, MaxTokens    int64
			Overflow, RecoverableLength bool
		}](t, "stop-classes") {
			m := &agentcore.AssistantMessage{StopReason: c.StopReason, Usage: c.Usage}
			if got := session.Overflow(m, c.ContextWindow); got != c.Overflow {
				t.Errorf("case %d: overflow %v, want %v", i, got, c.Overflow)
			}
			if got := session.RecoverableLength(m, c.MaxTokens); got != c.RecoverableLength {
				t.Errorf("case %d: recoverable %v, want %v", i, got, c.RecoverableLength)
			}
		}
	})
	t.Run("messages", func(t *testing.T) {
		for i, c := range loadTable[struct {
			Message json.RawMessage
			LLM     []any
			Tokens  int64
		}](t, "messages") {
			messages := decodeMessages(t, []json.RawMessage{c.Message})
			if got := session.EstimateTokens(messages[0]); got != c.Tokens {
				t.Errorf("case %d: %d tokens, want %d", i, got, c.Tokens)
			}
			converted, err := session.ConvertToLLM(context.Background(), messages)
			if err != nil {
				t.Errorf("case %d: %v", i, err)
			}
			got := make([]any, len(converted))
			for j, m := range converted {
				raw, err := m.JSON()
				if err != nil {
					t.Fatal(err)
				}
				if err := json.Unmarshal(raw, &got[j]); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(c.LLM, got); diff != "" {
				t.Errorf("case %d: %s (-reference +ours):\n%s", i, c.Message, diff)
			}
		}
	})
	t.Run("context-estimates", func(t *testing.T) {
		for i, c := range loadTable[struct {
			Messages []json.RawMessage
			Estimate struct {
				Tokens, UsageTokens, TrailingTokens int64
				LastUsageIndex                      *int
			}
		}](t, "context-estimates") {
			want := session.Estimate{
				Tokens: c.Estimate.Tokens, UsageTokens: c.Estimate.UsageTokens, TrailingTokens: c.Estimate.TrailingTokens,
				LastUsageIndex: -1,
			}
			if c.Estimate.LastUsageIndex != nil {
				want.LastUsageIndex = *c.Estimate.LastUsageIndex
			}
			if diff := cmp.Diff(want, session.EstimateContext(decodeMessages(t, c.Messages))); diff != "" {
				t.Errorf("case %d (-reference +ours):\n%s", i, diff)
			}
		}
	})
	t.Run("should-compact", func(t *testing.T) {
		for i, c := range loadTable[struct {
			Tokens, ContextWindow int64
			Settings              session.CompactionSettings
			Compact               bool
		}](t, "should-compact") {
			if got := session.ShouldCompact(c.Tokens, c.ContextWindow, c.Settings); got != c.Compact {
				t.Errorf("case %d: %v, want %v", i, got, c.Compact)
			}
		}
	})
	t.Run("cut-points", func(t *testing.T) {
		for i, c := range loadTable[struct {
			Entries          []tableEntry
			KeepRecentTokens int64
			Cut              struct {
				FirstKeptEntryIndex, TurnStartIndex int
				IsSplitTurn                         bool
			}
		}](t, "cut-points") {
			entries := make([]session.CutEntry, len(c.Entries))
			for j, e := range c.Entries {
				entries[j] = e.cutEntry(t)
			}
			want := session.Cut{FirstKept: c.Cut.FirstKeptEntryIndex, TurnStart: c.Cut.TurnStartIndex, SplitTurn: c.Cut.IsSplitTurn}
			if diff := cmp.Diff(want, session.FindCut(entries, 0, len(entries), c.KeepRecentTokens)); diff != "" {
				t.Errorf("case %d (-reference +ours):\n%s", i, diff)
			}
		}
	})
}

// tableEntry is an entry of the cut-points table: its kind, role and length of text.
type tableEntry struct {
	Type, Role string
	Chars      int
}

func (e tableEntry) cutEntry(t *testing.T) session.CutEntry {
	t.Helper()
	text := strings.Repeat("x", e.Chars)
	content := fmt.Sprintf(`[{"type":"text","text":%q}]`, text)
	var raw string
	switch e.Type {
	case "message":
		raw = fmt.Sprintf(`{"role":%q,"content":%s}`, e.Role, content)
		if e.Role == "bashExecution" {
			raw = fmt.Sprintf(`{"role":%q,"command":"","output":%q}`, e.Role, text)
		}
	case "custom_message":
		raw = fmt.Sprintf(`{"role":"custom","customType":"c","content":%q}`, text)
	case "branch_summary":
		raw = fmt.Sprintf(`{"role":"branchSummary","summary":%q}`, text)
	case "compaction":
		raw = fmt.Sprintf(`{"role":"compactionSummary","summary":%q}`, text)
	default:
		return session.CutEntry{}
	}
	return session.CutEntry{Message: decodeMessages(t, []json.RawMessage{json.RawMessage(raw)})[0], Compaction: e.Type == "compaction"}
}

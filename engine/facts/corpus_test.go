package facts

import (
	"bufio"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type caseRow struct {
	ID, Tool, Label, Family, Result string
	Input                           json.RawMessage
	Secrets, Keep                   []string
}

// corpus reads labelled cases that are not part of the project.
func corpus(t *testing.T, name string) []caseRow {
	t.Helper()
	shared := os.Getenv("WEIR_SHARED")
	if shared == "" {
		t.Skip("WEIR_SHARED does not name a folder with corpora/open")
	}
	f, err := os.Open(filepath.Join(shared, "corpora", "open", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read from
	var rows []caseRow
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var r caseRow
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	if err := lines.Err(); err != nil || len(rows) == 0 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	return rows
}

// deletes says whether the facts show something that deletes, or that what runs is not known.
func deletes(s *Shell) (deletes, unknown bool) {
	for i := range s.Commands {
		c := &s.Commands[i]
		if c.Code == CodeUnknown || c.Code == CodeFile || c.Code == CodeOther {
			unknown = true
		}
		for j, w := range c.Argv {
			switch path.Base(w.Text) {
			case "rm", "unlink", "rmdir", "shred", "srm":
				deletes = deletes || j == 0
			case "-delete":
				deletes = true
			}
		}
	}
	return deletes, unknown
}

// TestShellCorpus: all is understood; a deletion that is wrapped is seen, one that is only mentioned is not.
func TestShellCorpus(t *testing.T) {
	c := New(Config{Workspace: "/home/dev/project", Home: "/home/dev"})
	rows := slices.Concat(corpus(t, "shell-danger.jsonl"), corpus(t, "shell-benign.jsonl"))
	wrapped, seen, unknown := 0, 0, 0
	for _, r := range rows {
		ev := c.ToolCall("bash", r.Input)
		s := ev.Shell()
		if !json.Valid(ev.JSON(KindShell | KindPaths | KindNet)) {
			t.Errorf("%s: not JSON", r.ID)
		}
		if !s.Understood {
			t.Errorf("%s: %s: %s", r.ID, r.Input, s.Reason)
		}
		del, unk := deletes(s)
		switch {
		case r.Family == "wrapped-rm":
			wrapped++
			switch {
			case del:
				seen++
			case unk:
				unknown++
			default:
				t.Logf("not seen: %s %s", r.ID, r.Input)
			}
		case strings.HasSuffix(r.Family, "-trap") && r.Label == "benign" && del:
			t.Errorf("%s: %s: what is only mentioned is listed as a command", r.ID, r.Input)
		}
	}
	t.Logf("%d wrapped deletions: %d seen, %d marked as running what is not known", wrapped, seen, unknown)
	if wrapped-seen-unknown > wrapped/20 {
		t.Errorf("%d of %d wrapped deletions are neither seen nor marked", wrapped-seen-unknown, wrapped)
	}
}

// TestSecretsCorpus: the spans cover what must go and touch nothing of what must stay.
func TestSecretsCorpus(t *testing.T) {
	c := New(Config{})
	missed, danger, touched, benign := 0, 0, 0, 0
	for _, r := range corpus(t, "secrets.jsonl") {
		s := c.ToolResult(r.Tool, r.Input, textBlocks(r.Result)).Secrets()
		left := r.Result
		for _, span := range slices.Backward(s.Spans) {
			left = left[:span.Start] + "[…]" + left[span.End:]
		}
		switch r.Label {
		case "danger":
			danger++
			if slices.ContainsFunc(r.Secrets, func(x string) bool { return strings.Contains(left, x) }) {
				missed++
				t.Logf("missed: %s (%s)", r.ID, r.Family)
			}
		case "benign":
			benign++
			if left != r.Result {
				touched++
				t.Logf("touched: %s (%s)", r.ID, r.Family)
			}
		}
	}
	t.Logf("missed %d of %d, touched %d of %d", missed, danger, touched, benign)
	if missed*5 > danger || touched*10 > benign {
		t.Errorf("missed %d of %d, touched %d of %d", missed, danger, touched, benign)
	}
}

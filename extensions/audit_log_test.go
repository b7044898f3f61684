package extensions

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/engine"
	"weir/engine/journal"
	"weir/engine/set"
	"weir/engine/wire"
	"weir/wasmhost"
)

// audited opens a set of guard-shell and audit-log and gives the journal's path.
func audited(t *testing.T, settings string) (*engine.Engine, string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "weir.toml")
	text := "version = 1\n[[extension]]\nname = \"guard-shell\"\nmodule = \"bundled:guard-shell\"\n" +
		"[[extension]]\nname = \"audit-log\"\nmodule = \"bundled:audit-log\"\n[extension.grant]\njournal = \"audit.jsonl\"\n[extension.config]\n" + settings
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := set.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	host, err := wasmhost.New(t.Context(), wasmhost.Config{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.Open(t.Context(), engine.Config{Host: host, Set: s, Bundled: Bundled, CWD: "/home/dev/project"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := host.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e, filepath.Join(dir, "audit.jsonl")
}

func bash(command string) wire.ToolCallEvent {
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err) // a string
	}
	return wire.ToolCallEvent{ToolName: "bash", ToolCallID: "c1", Input: input}
}

// written reads the records of a journal, which must be whole.
func written(t *testing.T, file string) []string {
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

// TestAuditLogReadme runs the table of the README.
func TestAuditLogReadme(t *testing.T) {
	readme, err := os.ReadFile("audit-log/README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| `([^`]+)` \\|$").FindAllStringSubmatch(string(readme), -1)
	if len(rows) != 3 {
		t.Fatalf("the README shows %d records", len(rows))
	}
	e, file := audited(t, "")
	var want []string
	for _, row := range rows {
		e.ToolCall(t.Context(), bash(row[1]), nil)
		want = append(want, row[2])
	}
	if diff := cmp.Diff(want, written(t, file)); diff != "" {
		t.Errorf("(-README +got):\n%s", diff)
	}
}

func TestAuditLogSettings(t *testing.T) {
	e, file := audited(t, "input = \"hash\"\nallowed = false\n")
	for _, command := range []string{"ls", "rm -rf ~"} {
		e.ToolCall(t.Context(), bash(command), nil)
	}
	want := fmt.Sprintf(`"inputBytes":22,"inputSha256":"%x"`, sha256.Sum256(bash("rm -rf ~").Input))
	got := written(t, file)
	if len(got) != 1 || strings.Contains(got[0], `"input"`) || !strings.Contains(got[0], want) {
		t.Errorf("%q", got)
	}
	e, file = audited(t, "input = \"none\"\n")
	e.ToolCall(t.Context(), bash("ls"), nil)
	if got := written(t, file); len(got) != 1 || strings.Contains(got[0], "input") {
		t.Errorf("%q", got)
	}
}

// Whatever the size of a call and of what is said about it, the record fits.
func TestAuditLogLargeCall(t *testing.T) {
	e, file := audited(t, "")
	big := "echo " + strings.Repeat("é ", 60_000)
	if d := e.ToolCall(t.Context(), bash(big), nil); d.Block {
		t.Fatal(d.Reason)
	}
	if got := written(t, file); len(got) != 1 || !strings.Contains(got[0], fmt.Sprintf(`"inputBytes":%d`, len(bash(big).Input))) || len(got[0]) > 1000 {
		t.Errorf("%.2000q", got)
	}
}

// What cannot be written down does not run, unless the set only monitors.
func TestAuditLogUnwritable(t *testing.T) {
	e, file := audited(t, "")
	if err := os.WriteFile(file, []byte("no journal\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if d := e.ToolCall(t.Context(), bash("ls"), nil); !d.Block || d.By != "audit-log" {
		t.Errorf("%+v", d)
	}
}

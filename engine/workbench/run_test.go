package workbench_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/engine/workbench"
)

// runText runs a test file that lies in dir.
func runText(t testing.TB, r *workbench.Runner, dir, text string) *workbench.FileReport {
	t.Helper()
	f, err := workbench.ParseFile(filepath.Join(dir, "x_test.toml"), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	rep, err := r.Run(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// failures are those of all cases, by name.
func failures(rep *workbench.FileReport) map[string][]string {
	all := map[string][]string{}
	for _, c := range rep.Cases {
		if !c.Passed {
			all[c.Name] = c.Failures
		}
	}
	return all
}

// TestEveryExpectation runs a file with each kind of expectation, which all hold.
func TestEveryExpectation(t *testing.T) {
	r := newRunner(t)
	f, err := workbench.ReadFile("testdata/every_test.toml")
	if err != nil {
		t.Fatal(err)
	}
	rep, err := r.Run(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	if got := failures(rep); len(got) > 0 || len(rep.Cases) != 9 {
		t.Errorf("%d cases, failed: %q", len(rep.Cases), got)
	}
	want := []workbench.Coverage{{
		Module: filepath.Join("testdata", "policy.ts"), Hooks: []string{"context", "tool_call", "tool_result"}, MissedHooks: []string{"input"},
		Config: []string{"limit"}, MissedConfig: []string{"word"},
	}}
	if d := cmp.Diff(want, r.Coverage()); d != "" {
		t.Error(d)
	}
}

// TestEveryExpectationFails: the same expectations, each wrong. Were one of them not looked at, its case would pass.
func TestEveryExpectationFails(t *testing.T) {
	rep := runText(t, newRunner(t), "testdata", `
module = "policy.ts"
[[case]]
name = "decision"
event = { toolName = "bash", input = { command = "ls" } }
expect = { decision = "block" }
[[case]]
name = "decision, not asked"
event = { toolName = "read" }
expect = { decision = "block" }
[[case]]
name = "reason"
config = { limit = 0 }
event = { toolName = "bash" }
expect = { reason = "call 1" }
[[case]]
name = "regexp"
config = { limit = 0 }
event = { toolName = "bash" }
expect = { reason = "/call 2/" }
[[case]]
name = "output"
event = { toolName = "bash", input = { command = "rewrite" } }
expect = { output = { input = { command = "echo <b>", n = 2 } } }
[[case]]
name = "no fault"
event = { toolName = "bash" }
expect = { fault = "error" }
[[case]]
name = "another fault"
event = { toolName = "bash", input = { command = "throw" } }
expect = { fault = "fuel" }
[[case]]
name = "a fault that nobody expects"
[[case.step]]
event = { toolName = "bash", input = { command = "throw" } }
[[case.step]]
event = { toolName = "bash" }
expect = { decision = "allow" }
[[case]]
name = "dropped"
hook = "context"
event_file = "history.json"
expect = { dropped = [] }
[[case]]
name = "kept"
hook = "context"
event_file = "history.json"
expect = { kept = [0, 2, 3] }
[[case]]
name = "a hook that is not there"
hook = "agent_end"
event = {}
expect = { decision = "allow" }
[[case]]
name = "settings that do not fit"
config = { limit = "x" }
event = { toolName = "bash" }
expect = { decision = "allow" }
[[case]]
name = "load"
event = { toolName = "bash" }
expect = { fault = "load" }
`)
	fault := "policy: tool_call: error: policy.ts:21:38: Error: thrown on purpose"
	at := filepath.Join("testdata", "x_test.toml")
	want := map[string][]string{
		"decision":                    {"decision: want block, got allow"},
		"decision, not asked":         {"decision: want block, got allow (its hook does not want calls of this tool, so it was not asked)"},
		"reason":                      {`reason: want "call 1", got "call 1 is one too many"`},
		"regexp":                      {`reason: want /call 2/, got "call 1 is one too many"`},
		"output":                      {"output (- wanted, + got):\n  {\n    \"input\": {\n      \"command\": \"echo <b>\",\n-     \"n\": 2\n+     \"n\": 1\n    }\n  }"},
		"no fault":                    {"fault: want error, got the answer {}"},
		"another fault":               {"fault: want fuel, got error (" + fault + ")"},
		"a fault that nobody expects": {"step 1 (" + at + ":35:1): fault: " + fault},
		"dropped":                     {"dropped: want [], got [1]"},
		"kept":                        {"kept: want [0 2 3], got [0 3]"},
		"a hook that is not there":    {at + ":50:1: the module does not hook agent_end; it hooks [context input tool_call tool_result]"},
		"settings that do not fit":    {at + `:55:1: extension "policy": got string, want integer`},
		"load":                        {"fault: want load, got the answer {}"},
	}
	if d := cmp.Diff(want, failures(rep)); d != "" {
		t.Error(d)
	}
}

// TestFaults runs guests that fail in their own ways, three of a kind in a row: a case has nothing to do with the one before, and
// none is quarantined.
func TestFaults(t *testing.T) {
	guests, err := filepath.Abs("../../cmd/weir/testdata/guests")
	if err != nil {
		t.Fatal(err)
	}
	r := newRunner(t)
	for guest, fault := range map[string]string{"endless": "deadline", "exits": "exit", "allocator": "memory", "silent": "output"} {
		text := fmt.Sprintf("module = %q\nlimits = { timeout = \"50ms\", memory = \"1MiB\" }\n", filepath.Join(guests, guest+".wasm"))
		for i := range 5 {
			text += fmt.Sprintf("[[case]]\nname = \"%d\"\nevent = { toolName = \"bash\" }\nexpect = { fault = %q, reason = \"/^%s: tool_call: %s/\" }\n", i, fault, guest, fault)
		}
		if got := failures(runText(t, r, t.TempDir(), text)); len(got) > 0 {
			t.Errorf("%s: %q", guest, got)
		}
	}
	text := fmt.Sprintf("module = %q\nlimits = { fuel = 100_000 }\n[[case]]\nname = \"a\"\nevent = { toolName = \"bash\" }\nexpect = { fault = \"fuel\" }\n", filepath.Join(guests, "endless.wasm"))
	if got := failures(runText(t, r, t.TempDir(), text)); len(got) > 0 {
		t.Errorf("fuel: %q", got)
	}
}

// TestModuleMissing: a file whose module cannot be had is wrong, not failed.
func TestModuleMissing(t *testing.T) {
	for _, module := range []string{"none.wasm", "bundled:none"} {
		f, err := workbench.ParseFile("x_test.toml", fmt.Appendf(nil, "module = %q\n[[case]]\nname = \"a\"\nevent = { toolName = \"bash\" }\nexpect = { decision = \"allow\" }\n", module))
		if err != nil {
			t.Fatal(err)
		}
		if rep, err := newRunner(t).Run(context.Background(), f); err == nil || !strings.Contains(err.Error(), "none") {
			t.Errorf("%s: %v, %v", module, rep, err)
		}
	}
}

// TestFacts: a hook that asks for facts gets them as in a run.
func TestFacts(t *testing.T) {
	rep := runText(t, newRunner(t), ".", `
module = "bundled:guard-paths"
[[case]]
name = "inside"
event = { toolName = "write", input = { path = "src/a.go", content = "" } }
expect = { decision = "allow" }
[[case]]
name = "the user's keys"
event = { toolName = "read", input = { path = "~/.ssh/id_ed25519" } }
expect = { decision = "ask", reason = "/outside the workspace: /home/dev/.ssh/" }
`)
	if got := failures(rep); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

// TestBundled runs the test files of the extensions that ship with weir.
func TestBundled(t *testing.T) {
	files, err := workbench.FindFiles([]string{"../../extensions"})
	if err != nil {
		t.Fatal(err)
	}
	r := newRunner(t)
	for _, path := range files {
		f, err := workbench.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rep, err := r.Run(context.Background(), f)
		if err != nil {
			t.Fatal(err)
		}
		if got := failures(rep); len(got) > 0 {
			t.Errorf("%s: %q", path, got)
		}
	}
}

func TestUpdate(t *testing.T) {
	dir := t.TempDir()
	policy, err := os.ReadFile("testdata/policy.ts")
	if err != nil {
		t.Fatal(err)
	}
	const text = `module = "policy.ts"
[[case]]
name = "one line"
event = { toolName = "bash", input = { command = "rewrite" } }
expect = { output = '{}', decision = "rewrite" } # stays
[[case]]
name = "three quotes"
event = { toolName = "bash", input = { command = "ask" } }
[case.expect]
output   =   '''
{"é":
1}'''
[[case]]
name = "a table"
event = { toolName = "bash", input = { command = "ask" } }
expect = { output = { } }
[[case]]
name = "escapes"
event = { toolName = "bash", input = { command = "ask" } }
expect = { output = "null" }
[[case]]
name = "another expectation fails"
event = { toolName = "bash", input = { command = "ask" } }
expect = { decision = "block", output = '{"block":true}' }
[[case]]
name = "file"
event = { toolName = "bash", input = { command = "ls" } }
expect = { output_file = "out.json" }
`
	want := strings.NewReplacer(`output = '{}'`, `output = '{"input":{"command":"echo <b>","n":1}}'`,
		"output   =   '''\n{\"é\":\n1}'''", `output   =   '{"ask":{"title":"Really?","message":"It is ask"}}'`).Replace(text)
	for name, content := range map[string]string{"policy.ts": string(policy), "x_test.toml": text, "out.json": "1"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := workbench.ReadFile(filepath.Join(dir, "x_test.toml"))
	if err != nil {
		t.Fatal(err)
	}
	r := newRunner(t)
	r.Update = true
	rep, err := r.Run(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	left := failures(rep)
	if len(left) != 3 || left["a table"] == nil || left["escapes"] == nil || left["another expectation fails"] == nil || rep.Updated != 3 {
		t.Errorf("%d updated, still failing: %q", rep.Updated, left)
	}
	for name, want := range map[string]string{"x_test.toml": want, "out.json": "{}\n"} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, string(got)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestSelection(t *testing.T) {
	r := newRunner(t)
	r.Only = regexp.MustCompile("^rewr")
	f, err := workbench.ReadFile("testdata/every_test.toml")
	if err != nil {
		t.Fatal(err)
	}
	rep, err := r.Run(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Cases) != 1 || rep.Cases[0].Name != "rewrite" || rep.Skipped != 8 {
		t.Errorf("ran %v, skipped %d", rep.Cases, rep.Skipped)
	}
}

// TestJUnit reads the XML back: a failure is told from an error, and no text breaks out of it.
func TestJUnit(t *testing.T) {
	rep := workbench.Report{
		Files: []workbench.FileReport{{Path: "a_test.toml", Cases: []workbench.CaseReport{
			{Name: "good", Passed: true},
			{Name: `bad "<&>` + "\x1b", Position: "a_test.toml:2:1", Failures: []string{"one\n<two>", "three"}},
		}}},
		Problems: []string{"b_test.toml:1:1: unknown key"},
	}
	var b bytes.Buffer
	if err := rep.WriteJUnit(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Suites   []struct {
			Cases []struct {
				Name    string `xml:"name,attr"`
				Failure string `xml:"failure"`
				Error   string `xml:"error"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	if got.Tests != 3 || got.Failures != 1 || got.Errors != 1 || len(got.Suites) != 2 {
		t.Fatalf("%+v", got)
	}
	bad := got.Suites[0].Cases[1]
	if bad.Name != `bad "<&>`+"\uFFFD" || bad.Failure != "a_test.toml:2:1\none\n<two>\nthree" || got.Suites[1].Cases[0].Error != rep.Problems[0] {
		t.Errorf("%+v", got)
	}
}

// BenchmarkThousandCases is the target of 2 s for 1,000 cases of a C policy.
func BenchmarkThousandCases(b *testing.B) {
	var text strings.Builder
	text.WriteString("module = \"bundled:guard-paths\"\n")
	for i := range 1000 {
		fmt.Fprintf(&text, "[[case]]\nname = \"%d\"\nevent = { toolName = \"read\", input = { path = \"src/%d.go\" } }\nexpect = { decision = \"allow\" }\n", i, i)
	}
	r := newRunner(b)
	b.ReportAllocs()
	for b.Loop() {
		if got := failures(runText(b, r, ".", text.String())); len(got) > 0 {
			b.Fatalf("%q", got)
		}
	}
}

package workbench_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/engine/set"
	"weir/engine/workbench"
)

// TestParseFileRefuses reads files that are wrong in one way each. want is the whole error.
func TestParseFileRefuses(t *testing.T) {
	const head = "module = \"policy.wasm\"\n[[case]]\nname = \"a\"\n"
	const event = "event = { toolName = \"bash\" }\n"
	for name, c := range map[string]struct{ text, want string }{
		"syntax":               {"module = \n", `x_test.toml:1:10: expected value but found '\n' instead`},
		"unknown top key":      {"modul = \"x\"\n" + head + event + "expect = { decision = \"block\" }\n", `x_test.toml:1:1: unknown key "modul" in a test file (did you mean "module"?)`},
		"unknown case key":     {head + event + "expects = 1\n", `x_test.toml:5:1: unknown key "expects" in [[case]] (did you mean "expect"?)`},
		"unknown expect key":   {head + event + "expect = { decision = \"block\", raeson = \"x\" }\n", `x_test.toml:5:32: unknown key "raeson" in expect (did you mean "reason"?)`},
		"unknown step key":     {head + "[[case.step]]\n" + event + "expect = { decision = \"block\" }\nname = \"x\"\n", `x_test.toml:7:1: unknown key "name" in [[case.step]] (known here: "hook", "event", "event_file" or "expect")`},
		"no module":            {"[[case]]\nname = \"a\"\n" + event + "expect = { decision = \"block\" }\n", `x_test.toml:1:1: the file does not name its module (write module = "policy.wasm")`},
		"no case":              {"module = \"policy.wasm\"\n", `x_test.toml:1:1: the file has no case (write a [[case]])`},
		"case is a table":      {"module = \"policy.wasm\"\n[case]\nname = \"a\"\n", `x_test.toml:2:2: case must be an array of tables, found a table (write [[case]] on a line of its own, in two brackets)`},
		"no name":              {"module = \"m.wasm\"\n[[case]]\n" + event + "expect = { decision = \"block\" }\n", `x_test.toml:2:1: the case has no name (write name = "blocks rm -rf")`},
		"same name":            {head + event + "expect = { decision = \"block\" }\n[[case]]\nname = \"a\"\n" + event + "expect = { decision = \"block\" }\n", `x_test.toml:7:1: the case "a" stands at x_test.toml:2:1 already (each case needs a name of its own)`},
		"expects nothing":      {head + event, `x_test.toml:2:1: the case expects nothing, so it could not fail (write expect = { decision = "block" })`},
		"expects nothing, too": {head + event + "expect = {}\n", `x_test.toml:2:1: the case expects nothing, so it could not fail (write expect = { decision = "block" })`},
		"no event":             {head + "expect = { decision = \"block\" }\n", `x_test.toml:2:1: there is no event (write event = { toolName = "bash", input = { command = "ls" } })`},
		"two events":           {head + event + "event_file = \"testdata/history.json\"\nexpect = { decision = \"block\" }\n", `x_test.toml:5:1: there is an event already`},
		"no tool":              {head + "event = { tool = \"bash\" }\nexpect = { decision = \"block\" }\n", `x_test.toml:4:1: the event has no toolName`},
		"bad hook":             {head + event + "hook = \"tool_cal\"\nexpect = { decision = \"block\" }\n", `x_test.toml:5:1: there is no hook "tool_cal" (did you mean "tool_call"?)`},
		"bad decision":         {head + event + "expect = { decision = \"deny\" }\n", `x_test.toml:5:12: there is no decision "deny" (known here: "allow", "block", "ask" or "rewrite")`},
		"bad fault":            {head + event + "expect = { fault = \"time\" }\n", `x_test.toml:5:12: there is no fault "time" (it is one of trap, deadline, fuel, memory, depth, exit, error, output, host, load)`},
		"fault and decision":   {head + event + "expect = { fault = \"fuel\", decision = \"block\" }\n", `x_test.toml:5:12: a fault comes with no answer to compare (only reason goes with it)`},
		"bad regexp":           {head + event + "expect = { reason = \"/(/\" }\n", "x_test.toml:5:12: error parsing regexp: missing closing ): `(`"},
		"bad output":           {head + event + "expect = { output = \"{\" }\n", `x_test.toml:5:12: output is not JSON: unexpected end of JSON input`},
		"dropped of tool_call": {head + event + "expect = { dropped = [1] }\n", `x_test.toml:5:1: dropped and kept are for context, the hook is tool_call (set hook = "context")`},
		"negative index":       {head + "hook = \"context\"\nevent = { messages = [] }\nexpect = { dropped = [-1] }\n", `x_test.toml:6:23: an index must be an integer from 0, found the integer -1`},
		"bad message":          {head + "hook = \"context\"\nevent = { messages = [1] }\nexpect = { dropped = [] }\n", `x_test.toml:5:1: messages[0]: `},
		"bad limit":            {"limits = { fuell = 3 }\n" + head + event + "expect = { decision = \"block\" }\n", `x_test.toml:1:12: unknown limit "fuell" (did you mean "fuel"?)`},
		"bad grant":            {"grant = [\"kv\", \"everything\"]\n" + head + event + "expect = { decision = \"block\" }\n", `x_test.toml:1:16: `},
		"both":                 {head + event + "[[case.step]]\n" + event + "expect = { decision = \"block\" }\n", `x_test.toml:2:1: the case has both steps and an event or expect of its own (put the case's own event into a step)`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := workbench.ParseFile("x_test.toml", []byte(c.text))
			var positioned *set.Error
			if !errors.As(err, &positioned) {
				t.Fatalf("%v is no *set.Error", err)
			}
			got, _, _ := strings.Cut(err.Error(), "\n")
			open := strings.HasSuffix(c.want, ": ") // the rest is the library's sentence
			if same := got == c.want; !same && (!open || !strings.HasPrefix(got, c.want) || len(got) == len(c.want)) {
				t.Errorf("got  %s\nwant %s", err, c.want)
			}
		})
	}
}

// TestParseFileReportsAll: one run of the command shows everything that is wrong.
func TestParseFileReportsAll(t *testing.T) {
	_, err := workbench.ParseFile("x_test.toml", []byte("a = 1\nmodule = 2\n[[case]]\nb = 3\n"))
	if err == nil || strings.Count(err.Error(), "\n") < 4 {
		t.Errorf("got %v", err)
	}
}

func TestMissingFiles(t *testing.T) {
	const text = "module = \"policy.wasm\"\n[[case]]\nname = \"a\"\nevent_file = \"%s\"\nexpect = { decision = \"block\" }\n"
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bad.json"), []byte("{]"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"none.json": ":4:1: stat ", "/dev/zero": "/dev/zero is not a file", "bad.json": ":4:1: " + filepath.Join(dir, "bad.json") + " is not JSON: invalid character ']'"} {
		_, err := workbench.ParseFile(filepath.Join(dir, "x_test.toml"), []byte(strings.Replace(text, "%s", file, 1)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want …%s…", file, err, want)
		}
	}
}

func TestFindFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b_test.toml", "a/x_test.toml", "a/weir.toml", ".hidden/y_test.toml", "node_modules/z_test.toml"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := workbench.FindFiles([]string{filepath.Join(dir, "b_test.toml"), dir})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(dir, "b_test.toml"), filepath.Join(dir, "a/x_test.toml")}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if _, err := workbench.FindFiles([]string{t.TempDir()}); err == nil {
		t.Error("a folder without test files is no error")
	}
}

// FuzzParseFile: no text makes the reader panic, and what it takes can be run: each case has steps with an event, and expects something.
func FuzzParseFile(f *testing.F) {
	text, err := os.ReadFile("testdata/every_test.toml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte("module = \"x\"\nlimits = { fuel = 1 }\ngrant = [\"kv\"]\n[[case]]\nname = \"a\"\nhook = \"context\"\nevent = { messages = [] }\nexpect = { dropped = [0], kept = [] }\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := workbench.ParseFile("testdata/x_test.toml", text)
		if err != nil {
			return
		}
		for _, c := range file.Cases {
			if c.Name == "" || len(c.Steps) == 0 || c.Pos.Line == 0 {
				t.Errorf("%+v", c)
			}
			for _, s := range c.Steps {
				if s.Hook.String() == "unset" || !json.Valid(s.Event) {
					t.Errorf("%+v", s)
				}
			}
		}
	})
}

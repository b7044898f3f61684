package facts

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew; commit them only if you understand the difference")

func place() *Computer { return New(Config{Workspace: "/home/dev/project", Home: "/home/dev"}) }

// TestShellGolden holds the facts of testdata/shell.golden: "$ " starts a command, "> " goes on with it, and the facts
// follow, one command a line.
func TestShellGolden(t *testing.T) {
	const file = "testdata/shell.golden"
	golden, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := place()
	var got bytes.Buffer
	cases := 0
	var command []string
	flush := func() {
		if command == nil {
			return
		}
		cases++
		for i, l := range command {
			got.WriteString([]string{"> ", "$ "}[b2i(i == 0)] + l + "\n")
		}
		got.WriteString(readable(t, c.ToolCall("bash", bash(t, strings.Join(command, "\n"))).JSON(KindShell)))
		command = nil
	}
	for line := range strings.Lines(string(golden)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "$ "):
			flush()
			command = []string{line[2:]}
		case strings.HasPrefix(line, "> ") && command != nil:
			command = append(command, line[2:])
		case strings.HasPrefix(line, "#"):
			flush()
			got.WriteString("\n" + line + "\n")
		}
	}
	flush()
	if cases < 100 {
		t.Errorf("only %d cases", cases)
	}
	out := strings.TrimPrefix(got.String(), "\n")
	if *update {
		if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(golden), out); diff != "" {
		t.Error(diff)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// readable puts each command on a line of its own.
func readable(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var f struct {
		Shell struct {
			Understood bool
			Reason     string
			Commands   []json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, c := range f.Shell.Commands {
		b.WriteString("    " + string(c) + "\n")
	}
	if !f.Shell.Understood {
		b.WriteString("    not understood: " + f.Shell.Reason + "\n")
	}
	return b.String()
}

// TestShellBounds: the worst texts end soon, in little memory, and say that they were not understood.
func TestShellBounds(t *testing.T) {
	fill := func(unit string, n int) string { return strings.Repeat(unit, n/len(unit)) }
	const big = maxText - 100
	for name, command := range map[string]string{
		"a megabyte":                  fill("a", 1<<20),
		"NUL":                         "rm -rf /\x00x",
		"unterminated single quote":   "echo 'abc",
		"unterminated double quote":   `echo "abc`,
		"unterminated substitution":   "echo $(ls",
		"unterminated here-document":  "cat <<EOF\nabc",
		"10,000 substitutions nested": strings.Repeat("$(", 10_000) + "ls" + strings.Repeat(")", 10_000),
		"nested quotes":               fill(`"$(`, big),
		"subshells":                   fill("(", big),
		"blocks":                      fill("{ ", big),
		"arithmetic":                  fill("$((", big),
		"arithmetic sums":             "((" + fill("1+", big),
		"conditions":                  fill("if ", big),
		"loops":                       fill("while ", big),
		"negations of tests":          fill("[[ ! (", big),
		"parameters":                  fill("${a:-", big),
		"process substitutions":       fill("<(", big),
		"functions":                   fill("f()", big),
		"cases":                       fill("case a in a) ", big),
		"arrays":                      fill("a[", big),
		"statements":                  fill("a;", big),
		"pipes":                       "a" + fill("|a", big),
		"pipe stages over lines":      "a" + fill("|\na", big),
		"a fork bomb of text":         "x='eval \"$x$x\"'; eval \"$x$x\"",
		"doubling":                    "a=xxxxxxxx" + strings.Repeat("; a=$a$a", 60) + "; echo $a",
		"doubling in a loop":          "a=xxxxxxxx; for i in {1..60}; do a=$a$a; done; echo $a $a $a",
		"braces":                      "echo " + fill("{a,b}", 200),
		"braces of numbers":           "echo {1..900}{1..900}{1..900}",
		"loops in loops":              fill("for i in {1..60}; do ", 400) + "a" + fill("; done", 120),
		"calls of calls":              "f(){ g;g;g;g; }; g(){ h;h;h;h; }; h(){ i;i;i;i; }; i(){ j;j;j;j; }; j(){ k;k;k;k; }; k(){ l;l;l;l; }; l(){ m;m;m;m;m;m;m;m;m;m;m;m; }; f",
		"replacement":                 "x=" + fill("a", 30_000) + `; y=${x//a/$x}; z=${y//a/$y$y}; echo "$z"`,
		"patterns":                    "x=" + fill("a", 30_000) + `; y=${x%%*a*a*a*a*a*b}; ` + fill("y=${x##*a*a*b};", 1000),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			s := place().ToolCall("bash", bash(t, command)).Shell()
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if took > 2*time.Second {
				t.Errorf("it took %v", took)
			}
			if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 256 {
				t.Errorf("it allocated %d MB", mb)
			}
			if s.Understood && !strings.HasPrefix(name, "doubling") && name != "braces of numbers" && !strings.HasPrefix(name, "replacement") && !strings.HasPrefix(name, "patterns") {
				t.Errorf("it was understood, with %d commands", len(s.Commands))
			}
			if s.Understood == (s.Reason != "") {
				t.Errorf("understood %v, reason %q", s.Understood, s.Reason)
			}
			t.Logf("%v, %d MB, %d commands, %.60s", took.Round(time.Millisecond), (after.TotalAlloc-before.TotalAlloc)>>20, len(s.Commands), s.Reason)
		})
	}
}

// TestShellPanics: a panic on the way is text that was not understood, never the end of the process.
func TestShellPanics(t *testing.T) {
	w := &walker{out: &Shell{}}
	if w.guarded(func() { panic("boom") }) || w.err == nil || w.err.Error() != "reading it failed: boom" {
		t.Errorf("%v", w.err)
	}
	w = &walker{out: &Shell{}}
	if !w.guarded(func() {}) || w.err != nil {
		t.Errorf("%v", w.err)
	}
}

// FuzzShell: any text gives valid JSON in bounded time, or says that it was not understood.
func FuzzShell(f *testing.F) {
	golden, err := os.ReadFile("testdata/shell.golden")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(golden)) {
		if strings.HasPrefix(line, "$ ") {
			f.Add(strings.TrimSpace(line[2:]))
		}
	}
	c := place()
	f.Fuzz(func(t *testing.T, command string) {
		start := time.Now()
		ev := c.ToolCall("bash", bash(t, command))
		raw := ev.JSON(KindShell | KindNet)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("it took %v", took)
		}
		if !json.Valid(raw) {
			t.Errorf("not JSON: %s", raw)
		}
		s := ev.Shell()
		if strings.HasPrefix(s.Reason, "reading it failed") {
			t.Errorf("%q: %s", command, s.Reason)
		}
		if s.Understood == (s.Reason != "") || len(s.Commands) > maxCommands {
			t.Errorf("understood %v, reason %q, %d commands", s.Understood, s.Reason, len(s.Commands))
		}
	})
}

func BenchmarkShell(b *testing.B) {
	for name, command := range map[string]string{
		"short":    `git status --short`,
		"list":     `cd packages/api && npm test 2>&1 | tail -20`,
		"pipeline": `find . -name '*.go' -not -path './vendor/*' | xargs grep -n "TODO" | head -50`,
		"script":   "set -e\nfor p in api web; do\n  cd packages/$p && rm -rf node_modules dist && npm ci\n  cd -\ndone",
	} {
		b.Run(name, func(b *testing.B) {
			c := place()
			input := bash(b, command)
			b.ReportAllocs()
			for b.Loop() {
				c.ToolCall("bash", input).JSON(KindShell)
			}
		})
	}
}

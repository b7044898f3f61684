package extensions

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"

	"weir/guest-sdk/c/guesttest"
)

// shellCase is one [[case]] of guard-shell/testdata/*.toml.
type shellCase struct {
	Command string         // the bash command
	Want    string         // "allow", "ask", "block", or "stop" for either of the last two
	Family  string         // for ask and block: the family named in the reason
	Config  map[string]any // settings; none: the defaults
	Cwd     string         // default /home/dev/project
}

func shellEvent(t testing.TB, cwd, command string) []byte {
	t.Helper()
	ev, err := json.Marshal(map[string]any{
		"type": "tool_call", "toolName": "bash", "toolCallId": "call-1",
		"input":   map[string]any{"command": command},
		"context": map[string]any{"cwd": cwd, "mode": "text"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

// decide runs guard-shell on a command and returns its decision and the reason.
func decide(t testing.TB, g *guesttest.Guest, cwd, command string) (decision, reason string) {
	t.Helper()
	out, err := g.Call(context.Background(), "tool_call", shellEvent(t, cwd, command))
	if err != nil {
		t.Fatalf("%.200q: %v", command, err)
	}
	var r struct {
		Block  bool
		Reason string
		Ask    *struct{ Title, Message string }
	}
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	switch {
	case r.Block:
		return "block", r.Reason
	case r.Ask != nil:
		return "ask", r.Ask.Message
	}
	return "allow", ""
}

func TestGuardShellCases(t *testing.T) {
	var cases []shellCase
	for _, name := range []string{"cases.toml", "kinds.toml", "second.toml", "third.toml", "fourth.toml", "fifth.toml"} {
		var file struct{ Case []shellCase }
		meta, err := toml.DecodeFile(filepath.Join("guard-shell/testdata", name), &file)
		if err != nil {
			t.Fatal(err)
		}
		if left := meta.Undecoded(); len(left) > 0 {
			t.Fatalf("%s: unknown keys: %v", name, left)
		}
		if len(file.Case) < 100 {
			t.Fatalf("%s: only %d cases", name, len(file.Case))
		}
		cases = append(cases, file.Case...)
	}
	s := schema(t, "guard-shell")
	plain := load(t, "guard-shell", nil)
	for _, c := range cases {
		g := plain
		if c.Config != nil {
			if err := s.Validate(c.Config); err != nil {
				t.Errorf("%q: %v", c.Command, err)
			}
			g = load(t, "guard-shell", c.Config)
		}
		if c.Cwd == "" {
			c.Cwd = "/home/dev/project"
		}
		got, reason := decide(t, g, c.Cwd, c.Command)
		stopped := c.Want == "stop" && got != "allow"
		if (got != c.Want && !stopped) || (c.Family != "" && !strings.Contains(reason, "("+c.Family+":")) {
			t.Errorf("%q: got %s %s, want %s %s", c.Command, got, reason, c.Want, c.Family)
		}
	}
}

// TestGuardShellHostileText: every text gets an answer in bounded time, and what is not understood is asked about.
func TestGuardShellHostileText(t *testing.T) {
	deep := func(open, inner, end string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
	}
	for name, c := range map[string]struct{ command, want string }{
		"a megabyte of words":       {"echo " + strings.Repeat("word ", 200_000), "ask"},
		"200 KB of harmless words":  {"echo " + strings.Repeat("word ", 40_000), "allow"},
		"200 KB of short words":     {"echo " + strings.Repeat("w ", 100_000), "allow"},
		"200 KB of commands":        {strings.Repeat("true;", 40_000), "ask"},
		"nested substitutions":      {deep("$(", "true", ")", 10_000), "ask"},
		"nested backticks":          {"`" + strings.Repeat("\\", 10_000) + "`", "ask"},
		"nested parentheses":        {deep("( ", "true", " )", 10_000), "ask"},
		"nested braces":             {"echo " + deep("{a,", "b", "}", 5_000), "ask"},
		"nested parameter defaults": {"echo " + deep("${x:-", "y", "}", 10_000), "ask"},
		"brace explosion":           {"echo " + strings.Repeat("{a,b}", 40), "ask"},
		"a NUL byte":                {"echo a\x00b", "ask"},
		"an open single quote":      {"echo 'abc", "ask"},
		"an open double quote":      {`echo "abc`, "ask"},
		"an open substitution":      {"echo $(ls", "ask"},
		"an open group":             {"{ ls", "ask"},
		"a stray keyword":           {"if true; fi", "ask"},
		"a function that recurses":  {"f() { f; f; f; }; f", "allow"},
		"mutual recursion":          {"f() { g; g; }; g() { f; f; }; f", "allow"},
		"doubling variables":        {"a=xxxxxxxxxx;" + strings.Repeat("a=$a$a;", 200) + " echo $a", "allow"},
		"loops in loops":            {strings.Repeat("for i in {1..200}; do ", 10) + "true" + strings.Repeat("; done", 10), "ask"},
		"eval of eval":              {strings.Repeat("eval ", 5_000) + "true", "ask"},
		"bash in bash":              {strings.Repeat("bash -c ", 200) + "true", "allow"},
		"many heredocs":             {strings.Repeat("cat <<A\nx\nA\n", 2_000), "ask"},
		"many assignments":          {strings.Repeat("a$(true)=1 ", 3_000) + "ls", "ask"},
	} {
		g := load(t, "guard-shell", nil)
		start := time.Now()
		got, reason := decide(t, g, "/home/dev/project", c.command)
		took := time.Since(start)
		if got != c.want {
			t.Errorf("%s: got %s (%s), want %s", name, got, reason, c.want)
		}
		if took > 20*time.Second { // under the race detector, on a machine that has other work
			t.Errorf("%s: took %v", name, took)
		}
		if g.MemoryBytes() > 48<<20 {
			t.Errorf("%s: used %d bytes", name, g.MemoryBytes())
		}
		t.Logf("%s: %s in %v, %d KB", name, got, took, g.MemoryBytes()>>10)
	}
}

// TestGuardShellOtherTools: only bash is its business, and a bash call without a command is a fault.
func TestGuardShellOtherTools(t *testing.T) {
	g := load(t, "guard-shell", nil)
	out, err := g.Call(context.Background(), "tool_call", []byte(`{"type":"tool_call","toolName":"read","input":{"path":"x"},"context":{"cwd":"/w"}}`))
	if err != nil || string(out) != "{}" {
		t.Errorf("%s %v", out, err)
	}
	for _, input := range []string{`{}`, `{"command":1}`, `{"command":null}`} {
		if out, err := g.Call(context.Background(), "tool_call", []byte(`{"type":"tool_call","toolName":"bash","input":`+input+`,"context":{"cwd":"/w"}}`)); err == nil {
			t.Errorf("%s: answered %s", input, out)
		}
	}
	// Of a duplicate key the last counts, as for the tool that will run it.
	out, err = g.Call(context.Background(), "tool_call", []byte(`{"type":"tool_call","toolName":"bash","input":{"command":"ls","command":"rm -rf /"},"context":{"cwd":"/w"}}`))
	if err != nil || !strings.Contains(string(out), `"block":true`) {
		t.Errorf("%s %v", out, err)
	}
}

func FuzzGuardShell(f *testing.F) {
	for _, s := range []string{"rm -rf /", "echo $(ls) `x` ${a:-b} {1..3}", "cat <<E\n$x\nE", "for i in a b; do echo $i; done", "case x in (a|b) ls;; esac", "f() { ls; }; f | sh", "[[ -n $x ]] && ((1+2))"} {
		f.Add(s)
	}
	wasm, _ := Bundled("guard-shell")
	g, err := guesttest.Load(context.Background(), wasm, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, command string) {
		if strings.ToValidUTF8(command, "") != command {
			t.Skip("an event is UTF-8")
		}
		decide(t, g, "/home/dev/project", command)
	})
}

func BenchmarkGuardShell(b *testing.B) {
	g := load(b, "guard-shell", nil)
	for _, c := range []struct{ name, command string }{
		{"short", "ls -la"},
		{"typical", `cd packages/app && npm run build 2>&1 | tail -20 && git add -A && git commit -m "Fix the build"`},
		{"nested", `sudo bash -c "cd / && for d in $(ls); do rm -rf $d; done"`},
	} {
		ev := shellEvent(b, "/home/dev/project", c.command)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := g.Call(context.Background(), "tool_call", ev); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestGuardShellReadme runs the table of the README.
func TestGuardShellReadme(t *testing.T) {
	readme, err := os.ReadFile("guard-shell/README.md")
	if err != nil {
		t.Fatal(err)
	}
	g := load(t, "guard-shell", nil)
	words := map[string]string{"blocked": "block", "asked": "ask", "allowed": "allow"}
	seen := map[string]int{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*`) \\| (blocked|asked|allowed) \\|$").FindAllStringSubmatch(string(readme), -1) {
		for _, span := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			seen[row[2]]++
			command := strings.ReplaceAll(span[1], `\|`, "|")
			if got, reason := decide(t, g, "/home/dev/project", command); got != words[row[2]] {
				t.Errorf("%s: %s %q, the README says %s", command, got, reason, row[2])
			}
		}
	}
	if seen["blocked"] < 5 || seen["asked"] < 5 || seen["allowed"] < 3 {
		t.Errorf("the README shows %v", seen)
	}
}

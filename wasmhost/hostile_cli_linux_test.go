package wasmhost_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What `weir ext call` may take for any guest, loading and the start of the program included.
const (
	cliTime   = 2 * time.Second // by the clock, and of processors
	cliMemory = 512 << 20
)

// cliOutcomes are the guests that meet other limits in the command than in hostileLimits: four times the memory, and output that
// is read as a result of the hook and not as a decision of the suite.
var cliOutcomes = map[string]string{
	"grow_and_touch":   "memory|deadline",
	"grow_by_calls":    strings.Repeat("ok ", 15) + "memory",
	"kernel_and_guest": "output",
	"output_object":    "ok",
}

// TestHostileGuestsInCommand calls every hostile guest with `weir ext call MODULE tool_call`: the exit code, the kind of the fault, the
// time and the memory. It runs in a process of its own, since what the system counts as a program's largest memory begins with that
// of the process that started it.
func TestHostileGuestsInCommand(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a minute")
	}
	if underRace {
		t.Skip("the program is built without the race detector")
	}
	const self = "WEIR_HOSTILE_COMMAND"
	if os.Getenv(self) == "" {
		program, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		if out, err := runSelf(t, program, self); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	c := &command{program: filepath.Join(t.TempDir(), "weir"), home: t.TempDir()}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", c.program, "weir/cmd/weir").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	turn := make(chan struct{}, 2)
	for _, g := range hostileGuests() {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			turn <- struct{}{}
			defer func() { <-turn }()
			want := g.want
			if other, ok := cliOutcomes[g.name]; ok {
				want = other
			}
			c.hostile(t, "testdata/hostile/"+g.name+".wasm", want)
		})
	}
}

// command is the program as it was built, and the folder in which it keeps its files.
type command struct{ program, home string }

// hostile calls a guest once, and once more as often as its outcomes say.
func (c *command) hostile(t *testing.T, module, want string) {
	t.Helper()
	phase, outcomes, early := strings.Cut(want, ":")
	switch {
	case !early:
		phase, outcomes = "tool_call", want
	case phase == "describe":
		phase = "weir_describe"
	default:
		phase = "load"
	}
	kinds := strings.Fields(outcomes)
	out := c.run(t, 1, module)
	if kinds[0] == "ok" {
		if out.code != 0 || !json.Valid(out.stdout) {
			t.Errorf("exit code %d, %q, want 0 and a result\n%s", out.code, out.stdout, out.stderr)
		}
	} else {
		code := 1
		if early {
			code = 2
		}
		name := strings.ReplaceAll(strings.TrimSuffix(filepath.Base(module), ".wasm"), "_", "-")
		if out.code != code || !faultIs(out.stderr, name+": "+phase+": ", kinds[0]) || len(out.stdout) > 0 {
			t.Errorf("exit code %d, %q, want %d and a fault of kind %s in %s\n%s", out.code, out.stdout, code, kinds[0], phase, out.stderr)
		}
	}
	if len(kinds) == 1 {
		return
	}
	lines := bytes.Split(bytes.TrimSpace(c.run(t, len(kinds), module, "--jsonl").stdout), []byte("\n"))
	if len(lines) != len(kinds) {
		t.Fatalf("%d results of %d calls", len(lines), len(kinds))
	}
	for i, line := range lines {
		var result struct{ Fault struct{ Kind string } }
		if err := json.Unmarshal(line, &result); err != nil {
			t.Fatal(err)
		}
		if result.Fault.Kind == "" {
			result.Fault.Kind = "ok"
		}
		if !accepts(kinds[i], result.Fault.Kind) {
			t.Errorf("call %d: %s, want %s", i+1, line, kinds[i])
		}
	}
}

// faultIs says whether a message tells of a fault of one of the kinds.
func faultIs(message []byte, prefix, kinds string) bool {
	rest, ok := bytes.CutPrefix(message, []byte(prefix))
	kind, _, found := bytes.Cut(rest, []byte(": "))
	return ok && found && accepts(kinds, string(kind))
}

// accepts says whether a kind is one of those in a table's word. What runs until its deadline may use up its fuel before.
func accepts(kinds, kind string) bool {
	list := strings.Split(kinds, "|")
	return slices.Contains(list, kind) || kind == "fuel" && slices.Contains(list, "deadline")
}

// ended is how the program ended.
type ended struct {
	stdout, stderr []byte
	code           int
}

// run calls a guest with a number of events and checks time and memory. The machine may have stood still: what takes too long by the
// clock does so three times, and on a machine that is not busy with something else.
func (c *command) run(t *testing.T, events int, module string, flags ...string) ended {
	t.Helper()
	var out ended
	var took time.Duration
	for range 3 {
		var stdout, stderr bytes.Buffer
		// Past a minute the program is ended, and the test fails for its exit code.
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := exec.CommandContext(ctx, c.program, append([]string{"ext", "call", "--grant", "kv", module, "tool_call"}, flags...)...)
		cmd.Env = append(os.Environ(), "HOME="+c.home, "XDG_CONFIG_HOME="+c.home, "WEIR_CACHE_DIR="+filepath.Join(c.home, "cache"))
		cmd.Stdin = strings.NewReader(strings.Repeat(`{"toolName":"bash","input":{"command":"ls"}}`+"\n", events))
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		start := time.Now()
		err := cmd.Run()
		took = time.Since(start)
		cancel()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		out = ended{stdout.Bytes(), stderr.Bytes(), cmd.ProcessState.ExitCode()}
		if used := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10; used > cliMemory {
			t.Errorf("it took %d MB of memory", used>>20)
		}
		// One deadline more for each event after the first.
		limit := cliTime + time.Duration(events-1)*time.Second/2
		if used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(); used > limit {
			t.Errorf("it took %v of processor time", used)
		}
		if took <= limit {
			return out
		}
	}
	if waiting := load(t); waiting <= float64(2*runtime.NumCPU()) {
		t.Errorf("it took %v", took)
	} else {
		t.Logf("it took %v on a machine with a load of %.1f, where the clock says nothing", took, waiting)
	}
	return out
}

// load is how many threads have run or waited for a processor, on average over the last minute.
func load(t *testing.T) float64 {
	t.Helper()
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), " ")
	load, err := strconv.ParseFloat(first, 64)
	if err != nil {
		t.Fatal(err)
	}
	return load
}

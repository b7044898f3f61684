package workbench_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"weir/engine/set"
	"weir/engine/wire"
	"weir/engine/workbench"
)

// openBench opens a bench of one module on the host of a runner.
func openBench(t *testing.T, module, events string) (*workbench.Bench, error) {
	t.Helper()
	s, err := set.Modules([]string{module}, set.Limits{}, set.Grant{})
	if err != nil {
		t.Fatal(err)
	}
	r := newRunner(t)
	b := &workbench.Bench{Extension: &s.Extensions[0], Bundled: r.Bundled, Host: r.Host, Time: time.Millisecond}
	if events != "" {
		if b.Events, err = workbench.ParseEvents([]byte(events)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Open(context.Background()); err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		if err := b.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return b, nil
}

// benchLine is what benchstat reads: a name, a count, pairs of value and unit.
var benchLine = regexp.MustCompile(`^Benchmark[^\s]+ [0-9]+( [0-9]+ [a-z0-9/-]+)+\n$`)

func TestBench(t *testing.T) {
	ctx := context.Background()
	for module, events := range map[string]string{
		"bundled:guard-paths": "", "bundled:prune-context": "", "bundled:redact-secrets": "",
		"testdata/policy.ts": `{"toolName":"bash","input":{"command":"ask"}}`,
	} {
		b, err := openBench(t, module, events)
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Hooks()) == 0 {
			t.Errorf("%s: no hook is measured", module)
		}
		for _, hook := range b.Hooks() {
			f, err := b.Hook(ctx, hook)
			if err != nil {
				t.Fatalf("%s: %v", module, err)
			}
			if f.Calls == 0 || f.P50 <= 0 || f.P50 > f.P90 || f.P90 > f.P99 || f.Fuel == 0 || f.Fuel > f.MaxFuel || f.Memory < 64<<10 || f.Memory%4096 != 0 {
				t.Errorf("%s: %+v", module, f)
			}
			if line := f.Line("module=a b/" + module); !benchLine.MatchString(line) {
				t.Errorf("benchstat would not read %q", line)
			}
		}
	}
}

// TestBenchStart: a start that has to compile takes longer than one that has not, for a module of 60 KB by far.
func TestBenchStart(t *testing.T) {
	b, err := openBench(t, "bundled:guard-shell", "")
	if err != nil {
		t.Fatal(err)
	}
	f, err := b.Start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if f.Warm <= 0 || f.Cold < 2*f.Warm {
		t.Errorf("cold %v, warm %v", f.Cold, f.Warm)
	}
}

// TestBenchFuel: fuel is the same every time, so that a limit on it can be a gate.
func TestBenchFuel(t *testing.T) {
	var fuel []uint64
	for range 2 {
		b, err := openBench(t, "bundled:guard-paths", `{"toolName":"read","input":{"path":"a.go"}}`)
		if err != nil {
			t.Fatal(err)
		}
		f, err := b.Hook(context.Background(), wire.EventToolCall)
		if err != nil {
			t.Fatal(err)
		}
		fuel = append(fuel, f.Fuel, f.MaxFuel)
	}
	for _, n := range fuel {
		if n != fuel[0] {
			t.Fatalf("fuel differs between runs: %v", fuel)
		}
	}
}

func TestBenchRefuses(t *testing.T) {
	for name, c := range map[string]struct{ events, want string }{
		"a tool that the hook does not want": {`{"toolName":"sing","input":{}}`, "the hook wants none of the events given"},
		"no tool":                            {`{"type":"tool_call","input":{}}`, "line 1: the event has no toolName"},
		"no type":                            {"\n{\"input\":{}}", "line 2: it has no type"},
		"not JSON":                           {"{", "line 1: unexpected end"},
		"no event":                           {"\n", "there is no event"},
		"unknown type":                       {`{"type":"x"}`, `line 1: there is no event "x"`},
	} {
		_, err := workbench.ParseEvents([]byte(c.events))
		if err == nil {
			_, err = openBench(t, "bundled:guard-paths", c.events)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want …%s…", name, err, c.want)
		}
	}
	// A call that fails is not measured.
	b, err := openBench(t, "testdata/policy.ts", `{"toolName":"bash","input":{"command":"throw"}}`)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := b.Hook(context.Background(), wire.EventToolCall); err == nil || !strings.Contains(err.Error(), "event 1 of tool_call: policy: tool_call: error: ") {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestSamples: each hook that decides has samples with a payload.
func TestSamples(t *testing.T) {
	for _, hook := range []wire.Event{
		wire.EventToolCall, wire.EventToolResult, wire.EventContext, wire.EventMessageEnd, wire.EventInput,
		wire.EventBeforeAgentStart, wire.EventBeforeProviderRequest, wire.EventBeforeProviderHeaders, wire.EventUserBash,
	} {
		for _, s := range workbench.Samples(hook) {
			if len(s) < 20 || !strings.Contains(string(s), fmt.Sprintf(`"type":"%s"`, hook)) {
				t.Errorf("%s: %s", hook, s)
			}
		}
	}
}

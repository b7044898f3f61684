package session_test

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"weir/agentcore/agentcoretest"
	"weir/engine/session/sessiontest"
	"weir/wasmhost"
)

// TestConformanceWasm replays the scenarios that have extensions with guests in their place, which interpret the declared
// handlers. It builds the guest, for which it needs nothing but Go. Scenarios that are listed as not expressible or
// unfinished run too: one that passes must be taken off the list.
func TestConformanceWasm(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a guest and runs it in more than 300 instances")
	}
	if raceEnabled {
		t.Skip("what a guest does between its host calls is out of the race detector's sight, and TestConformance runs the same scenarios")
	}
	host, err := wasmhost.New(t.Context(), wasmhost.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := host.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	guests := &sessiontest.Guests{Host: host, Module: buildHandlers(t)}
	if err := guests.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, layer := range []string{"extensions", "session"} {
		t.Run(layer, func(t *testing.T) { replayWasm(t, layer, sessiontest.With(guests.Open)) })
	}
}

func buildHandlers(t *testing.T) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "handlers.wasm")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-buildmode=c-shared", "-o", out, "./sessiontest/wasmlane")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build, err, text)
	}
	return out
}

// wasmCounts are the numbers of the count line.
type wasmCounts struct{ passed, deviating, failed, inexpressible, unfinished int }

func replayWasm(t *testing.T, layer string, guests agentcoretest.Layer) {
	dir := os.Getenv("WEIR_CONFORMANCE_DIR")
	if dir == "" {
		dir = ownConformance
	}
	scenarios, err := agentcoretest.LoadLayer(dir, layer)
	if err != nil {
		t.Fatal(err)
	}
	deviations, err := agentcoretest.LoadDeviations(ownConformance, layer)
	if err != nil {
		t.Fatal(err)
	}
	ofGuests, err := agentcoretest.LoadDeviations(ownConformance, layer+"-wasm")
	if err != nil {
		t.Fatal(err)
	}
	deviations = merged(deviations, ofGuests)
	inexpressible, unfinished := listed(t, "NOT-EXPRESSIBLE-wasm.txt"), listed(t, "UNFINISHED-wasm.txt")
	var n wasmCounts
	for _, s := range scenarios {
		if !hasExtension(t, s) {
			continue
		}
		name := strings.TrimPrefix(s.ID, layer+"/")
		exempt := inexpressible[s.ID] || unfinished[s.ID]
		ok := t.Run(name, func(t *testing.T) {
			diff := differenceWasm(t, s, deviations[s.ID], guests)
			switch {
			case exempt && diff == "":
				t.Errorf("%s passes: take it off the list", s.ID)
			case !exempt && diff != "":
				t.Errorf("%s: %s\n%s", s.ID, s.Title, diff)
			}
		})
		switch {
		case !ok:
			n.failed++
		case inexpressible[s.ID]:
			n.inexpressible++
		case unfinished[s.ID]:
			n.unfinished++
		case deviations[s.ID] != nil:
			n.deviating++
		default:
			n.passed++
		}
	}
	if os.Getenv("WEIR_CONFORMANCE_DIR") == "" {
		checkListed(t, layer, scenarios, inexpressible, unfinished)
		if n.passed == 0 {
			t.Errorf("no scenario of layer %s passes with a guest", layer)
		}
	}
	t.Logf("conformance %s(wasm): %d passed, %d deviating, %d failed, %d not expressible, %d unfinished",
		layer, n.passed, n.deviating, n.failed, n.inexpressible, n.unfinished)
}

// merged are the deviations of both.
func merged(a, b map[string]*agentcoretest.Deviation) map[string]*agentcoretest.Deviation {
	both := map[string]*agentcoretest.Deviation{}
	maps.Copy(both, a)
	maps.Copy(both, b)
	return both
}

// differenceWasm is how a scenario with guests differs from what is expected of it, "" if it does not.
func differenceWasm(t *testing.T, s *agentcoretest.Scenario, deviation *agentcoretest.Deviation, guests agentcoretest.Layer) string {
	t.Helper()
	got, err := agentcoretest.Play(t, s, guests)
	if err != nil {
		return err.Error()
	}
	if deviation != nil {
		if s.Compare(got) == "" {
			return "the scenario is listed as deviating, but does what the reference does"
		}
		return deviation.Compare(s, got)
	}
	return s.Compare(got)
}

func hasExtension(t *testing.T, s *agentcoretest.Scenario) bool {
	t.Helper()
	var in struct {
		Extensions []json.RawMessage `json:"extensions"`
	}
	if err := json.Unmarshal(s.Input.Source, &in); err != nil {
		t.Fatal(err)
	}
	return len(in.Extensions) > 0
}

// listed reads a list of scenarios: a line has an id, white space, and why it is there.
func listed(t *testing.T, file string) map[string]bool {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(ownConformance, file))
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, reason, _ := strings.Cut(line, " ")
		if strings.TrimSpace(reason) == "" || ids[id] {
			t.Fatalf("%s:%d: a line needs an id that is not there yet and a reason", file, i+1)
		}
		ids[id] = true
	}
	return ids
}

// checkListed refuses ids that name no scenario.
func checkListed(t *testing.T, layer string, scenarios []*agentcoretest.Scenario, lists ...map[string]bool) {
	t.Helper()
	known := map[string]bool{}
	for _, s := range scenarios {
		known[s.ID] = true
	}
	for _, list := range lists {
		for id := range list {
			if strings.HasPrefix(id, layer+"/") && !known[id] {
				t.Errorf("%s is listed, but there is no such scenario", id)
			}
		}
	}
}

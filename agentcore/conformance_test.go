package agentcore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/agentcore/agentcoretest"
)

// ownConformance is the project's own folder of recorded behaviour. Deviations are always read from there.
var ownConformance = filepath.Join("..", "testdata", "conformance")

// TestConformance replays what the reference did. WEIR_CONFORMANCE_DIR names another folder of scenarios.
func TestConformance(t *testing.T) {
	replay(t, "core", conformanceDir(), "core")
}

// TestConformanceExtra replays scenarios of our own making, recorded from the reference like the others.
func TestConformanceExtra(t *testing.T) {
	replay(t, "extra/core", filepath.Join(ownConformance, "extra"), "core")
}

func replay(t *testing.T, label, dir, layer string) {
	scenarios, err := agentcoretest.LoadLayer(dir, layer)
	if err != nil {
		t.Fatal(err)
	}
	if len(scenarios) == 0 && os.Getenv("WEIR_CONFORMANCE_DIR") == "" {
		t.Fatalf("no scenarios of layer %s in %s", layer, dir)
	}
	deviations, err := agentcoretest.LoadDeviations(ownConformance, layer)
	if err != nil {
		t.Fatal(err)
	}
	passed, deviating, failed := 0, 0, 0
	for _, s := range scenarios {
		ok := t.Run(s.ID, func(t *testing.T) {
			got, err := agentcoretest.Play(t, s, agentcoretest.Core)
			if err != nil {
				t.Error(err)
			}
			deviation := deviations[s.ID]
			diff := s.Compare(got)
			if deviation != nil {
				if diff == "" {
					t.Error("the scenario is listed as deviating, but does what the reference does")
				}
				diff = deviation.Compare(s, got)
			}
			if diff != "" {
				t.Errorf("%s: %s\n%s", s.ID, s.Title, diff)
			}
			if deviation != nil && !t.Failed() {
				deviating++
			}
		})
		switch {
		case !ok:
			failed++
		case deviations[s.ID] == nil:
			passed++
		}
	}
	t.Logf("conformance %s: %d passed, %d deviating, %d failed", label, passed, deviating, failed)
}

// TestDeviationsAreListed holds DEVIATIONS.md and the recorded expectations together.
func TestDeviationsAreListed(t *testing.T) {
	list, err := os.ReadFile(filepath.Join(ownConformance, "DEVIATIONS.md"))
	if err != nil {
		t.Fatal(err)
	}
	deviations, err := agentcoretest.LoadDeviations(ownConformance, "core")
	if err != nil {
		t.Fatal(err)
	}
	if len(deviations) > 6 {
		t.Errorf("%d core scenarios deviate; at most six may", len(deviations))
	}
	for id := range deviations {
		if !strings.Contains(string(list), "`"+id+"`") {
			t.Errorf("%s deviates, but DEVIATIONS.md does not list it", id)
		}
	}
	for line := range strings.Lines(string(list)) {
		_, rest, ok := strings.Cut(line, "## `core/")
		if id, _, _ := strings.Cut(rest, "`"); ok && deviations["core/"+id] == nil {
			t.Errorf("DEVIATIONS.md lists core/%s, but its expectation is not recorded", id)
		}
	}
}

package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/agentcore/agentcoretest"
	"weir/engine/session/sessiontest"
)

// ownConformance is the project's own folder of recorded behaviour. Deviations are always read from there.
var ownConformance = filepath.Join("..", "..", "testdata", "conformance")

// TestConformance replays what the reference did, with extensions in Go. WEIR_CONFORMANCE_DIR names another folder of
// scenarios.
func TestConformance(t *testing.T) {
	for _, layer := range []string{"session", "extensions"} {
		t.Run(layer, func(t *testing.T) { replay(t, layer) })
	}
}

func replay(t *testing.T, layer string) {
	dir := os.Getenv("WEIR_CONFORMANCE_DIR")
	if dir == "" {
		dir = ownConformance
	}
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
		ok := t.Run(strings.TrimPrefix(s.ID, layer+"/"), func(t *testing.T) {
			got, err := agentcoretest.Play(t, s, sessiontest.Native)
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
		})
		switch {
		case !ok:
			failed++
		case deviations[s.ID] != nil:
			deviating++
		default:
			passed++
		}
	}
	t.Logf("conformance %s(native): %d passed, %d deviating, %d failed", layer, passed, deviating, failed)
}

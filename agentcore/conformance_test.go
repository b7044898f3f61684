package agentcore_test

import (
	"testing"

	"weir/agentcore/agentcoretest"
)

func TestConformance(t *testing.T) {
	scenarios, err := agentcoretest.LoadLayer(conformanceDir(), "core")
	if err != nil {
		t.Fatal(err)
	}
	passed, failed := 0, 0
	for _, s := range scenarios {
		t.Run(s.ID, func(t *testing.T) {
			got, err := agentcoretest.Play(t, s, agentcoretest.Core)
			if err != nil {
				t.Error(err)
			}
			if diff := s.Compare(got); diff != "" {
				t.Errorf("%s: %s\n%s", s.ID, s.Title, diff)
			}
			if t.Failed() {
				failed++
			} else {
				passed++
			}
		})
	}
	t.Logf("conformance core: %d passed, %d failed", passed, failed)
}

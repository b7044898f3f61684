package js_test

import (
	"testing"

	"weir/engine/script"
	"weir/guest-sdk/tck/tcktest"
)

// TestTCK runs the kit that every SDK passes.
func TestTCK(t *testing.T) {
	modules := map[string][]byte{}
	for _, name := range []string{"tck", "tck-json"} {
		policy, err := script.Load("tck/" + name + ".ts")
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range policy.Warnings() {
			t.Error(w)
		}
		if modules[name], err = script.Pack(policy); err != nil {
			t.Fatal(err)
		}
	}
	tcktest.Run(t, modules)
}

package weir_test

import (
	"testing"

	"weir/guest-sdk/tck/tcktest"
)

// TestTCK runs the kit that every SDK passes.
func TestTCK(t *testing.T) {
	tcktest.Run(t, map[string][]byte{"tck": build(t, "./tck"), "tck-json": build(t, "./tck/json")})
}

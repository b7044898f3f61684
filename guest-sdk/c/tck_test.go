package c

import (
	"testing"

	"weir/guest-sdk/tck/tcktest"
)

// TestTCK runs the kit that every SDK passes, in both languages.
func TestTCK(t *testing.T) {
	for lang, flags := range map[string][]string{"c": {"-std=c11"}, "c++": {"-x", "c++", "-std=c++17"}} {
		t.Run(lang, func(t *testing.T) {
			tcktest.Run(t, map[string][]byte{"tck": build(t, "tck/tck.c", flags...), "tck-json": build(t, "tck/tck-json.c", flags...)})
		})
	}
}

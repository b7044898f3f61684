package zig

import (
	"strings"
	"testing"

	"weir/guest-sdk/internal/sdktest"
	"weir/guest-sdk/tck/tcktest"
)

var sdk = sdktest.SDK{
	Compiler: "zig",
	Install:  "version 0.11, see README.md",
	Line:     "zig build-lib policy.zig -target wasm32-freestanding -mcpu=generic+bulk_memory -dynamic -rdynamic -OReleaseSafe -fstrip -femit-bin=policy.wasm",
	Policy:   "policy.zig",
}

func TestReadmeShowsTheExample(t *testing.T) { sdk.NoPush(t, "zig", "example/policy.zig") }

func TestReadmeShowsTheExampleOfFacts(t *testing.T) { sdk.NoPushByFacts(t, "zig", "example/facts.zig") }

// TestTCK runs the kit that every SDK passes.
func TestTCK(t *testing.T) {
	tcktest.Run(t, map[string][]byte{"tck": sdk.Build(t, "tck/tck.zig"), "tck-json": sdk.Build(t, "tck/tck_json.zig")})
}

func TestReaderAgreesWithEncodingJSON(t *testing.T) {
	sdktest.ReaderAgrees(t, sdk.Build(t, "testdata/driver.zig"))
}

func FuzzReader(f *testing.F) { sdktest.FuzzReader(f, sdk.Build(f, "testdata/driver.zig")) }

func TestSession(t *testing.T) { sdktest.Session(t, sdk.Build(t, "testdata/session.zig")) }

func TestMemoryStays(t *testing.T) { sdktest.MemoryStays(t, sdk.Build(t, "example/policy.zig")) }

func BenchmarkToolCall(b *testing.B) {
	sdktest.BenchmarkToolCall(b, sdk.Build(b, "example/policy.zig"))
}

// TestPanicsSayWhy: a panic, and what the language itself panics with, end the call with the text; errors with their name.
func TestPanicsSayWhy(t *testing.T) {
	g := sdktest.Guest(t, sdk.Build(t, "testdata/driver.zig"), "tool_call")
	for event, want := range map[string]string{
		`{"input":{"do":"panic"}}`:                                "trap: it is broken: é",
		`{"input":{"do":"index","index":4}}`:                      "trap: index out of bounds",
		`{"input":{"do":"index","index":-1}}`:                     "trap: integer cast truncated bits",
		`{"input":{"do":"index"}}`:                                "trap: attempt to use null value",
		`{"input":{"do":"overflow","index":9223372036854775807}}`: "trap: integer overflow",
		`{"input":{"do":"error"}}`:                                "error: NoRules",
		`{"input":{"do":"fail"}}`:                                 "error: cannot decide",
		`{"input":{"do":"panic"}`:                                 "error: the event cannot be read: EndsEarly",
		`[]`:                                                      "error: the event is no JSON object",
	} {
		if got, err := sdktest.Call(g, event); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v, want a fault that says %q", event, got, err, want)
		}
	}
}

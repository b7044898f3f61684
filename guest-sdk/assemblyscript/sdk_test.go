package assemblyscript

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"weir/guest-sdk/internal/sdktest"
	"weir/guest-sdk/tck/tcktest"
)

var sdk = sdktest.SDK{
	Compiler: "asc",
	Install:  "npm install --global assemblyscript",
	Line:     "asc policy.ts -O3 --runtime minimal --use abort=weir/index/weirAbort -o policy.wasm",
	Policy:   "policy.ts",
}

func TestReadmeShowsTheExample(t *testing.T) { sdk.NoPush(t, "ts", "example/policy.ts") }

func TestReadmeShowsTheExampleOfFacts(t *testing.T) { sdk.NoPushByFacts(t, "ts", "example/facts.ts") }

// TestTCK runs the kit that every SDK passes.
func TestTCK(t *testing.T) {
	tcktest.Run(t, map[string][]byte{"tck": sdk.Build(t, "tck/tck.ts"), "tck-json": sdk.Build(t, "tck/tck-json.ts")})
}

func TestReaderAgreesWithEncodingJSON(t *testing.T) {
	sdktest.ReaderAgrees(t, sdk.Build(t, "testdata/driver.ts"))
}

func FuzzReader(f *testing.F) { sdktest.FuzzReader(f, sdk.Build(f, "testdata/driver.ts")) }

func TestSession(t *testing.T) { sdktest.Session(t, sdk.Build(t, "testdata/session.ts")) }

func TestMemoryStays(t *testing.T) { sdktest.MemoryStays(t, sdk.Build(t, "example/policy.ts")) }

func BenchmarkToolCall(b *testing.B) { sdktest.BenchmarkToolCall(b, sdk.Build(b, "example/policy.ts")) }

// TestThrowNamesThePlace: a throw, and what the language itself throws, end the call with the text and the place in the source.
func TestThrowNamesThePlace(t *testing.T) {
	source, err := os.ReadFile("testdata/driver.ts")
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(source), `throw new Error("it is broken`)
	line := 1 + strings.Count(before, "\n")
	g := sdktest.Guest(t, sdk.Build(t, "testdata/driver.ts"), "tool_call")
	for event, want := range map[string]string{
		`{"input":{"do":"throw"}}`:           fmt.Sprintf("trap: it is broken: é at policy.ts:%d:24", line),
		`{"input":{"do":"index","index":3}}`: "trap: Index out of range at ~lib/array.ts:",
		`{"input":{"do":"fail"}}`:            "error: cannot decide",
		`{"input":{"do":"throw"}`:            "error: the event cannot be read: the document ends early, behind 23 bytes",
		`[]`:                                 "error: the event is no JSON object",
	} {
		if got, err := sdktest.Call(g, event); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v, want a fault that says %q", event, got, err, want)
		}
	}
}

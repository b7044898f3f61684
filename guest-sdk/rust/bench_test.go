package rust

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"weir/engine/wire"
	"weir/wasmhost"
)

const benchEvent = `{"type":"tool_call","toolName":"bash","toolCallId":"toolu_01ABCDEFGHIJKLMNOP","input":{"command":"cd packages/app && npm run build 2>&1 | tail -20","timeout":120},"context":{"sessionId":"0193d0c8","extension":"no-push","cwd":"/home/dev/project","mode":"text","hasUI":true,"model":{"provider":"x","id":"y"},"thinkingLevel":"off","turnIndex":3,"callIndex":0}}`

// BenchmarkToolCall measures the examples of Rust and C on the host: metered, with a deadline, the answer read strictly.
func BenchmarkToolCall(b *testing.B) {
	b.Run("sdk=rust", func(b *testing.B) { benchmark(b, build(b, "example", "no_push.wasm")) })
	b.Run("sdk=c", func(b *testing.B) { benchmark(b, buildC(b)) })
}

func buildC(b *testing.B) []byte {
	b.Helper()
	if _, err := exec.LookPath("clang"); err != nil {
		b.Skip("the peer needs clang")
	}
	out := filepath.Join(b.TempDir(), "policy.wasm")
	if text, err := exec.Command("clang", "--target=wasm32", "-O2", "-nostdlib", "-Wl,--no-entry", "-Wl,--strip-all", "-I../c", "-o", out, "../c/example/policy.c").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, text)
	}
	wasm, err := os.ReadFile(out)
	if err != nil {
		b.Fatal(err)
	}
	return wasm
}

func benchmark(b *testing.B, wasm []byte) {
	ctx := context.Background()
	host, err := wasmhost.New(ctx, wasmhost.Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := host.Close(ctx); err != nil {
			b.Error(err)
		}
	}()
	module, err := host.Compile(ctx, "bench", wasm, wasmhost.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	guest, err := module.NewGuest(ctx, wasmhost.GuestConfig{Name: "bench", Entries: []string{"tool_call"}})
	if err != nil {
		b.Fatal(err)
	}
	input := wasmhost.Input{Bytes: []byte(benchEvent)}
	decode := func(out []byte) error {
		_, err := wire.ParseToolCall(out)
		return err
	}
	var stats wasmhost.Stats
	b.ReportAllocs()
	for b.Loop() {
		if stats, err = guest.Call(ctx, "tool_call", input, decode); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(stats.Fuel), "fuel/op")
	b.ReportMetric(float64(len(wasm)), "module-bytes")
}

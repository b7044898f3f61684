package workbench

import (
	"fmt"
	"runtime"
	"strings"
	"time"
)

// BenchHeader is what comes before benchmark lines, in the format of Go's benchmarks.
func BenchHeader() string {
	return fmt.Sprintf("goos: %s\ngoarch: %s\n", runtime.GOOS, runtime.GOARCH)
}

// Lines are the figures as benchmark lines. key goes into the names, as benchstat's sub-name configuration: "module=a.wasm" lets
// `benchstat -col /module` set two modules side by side; "" leaves it out.
func (f StartFigures) Lines(key string) string {
	return fmt.Sprintf("Benchmark%s 1 %d ns/op\nBenchmark%s 1 %d ns/op\n", benchName("ColdStart", key), f.Cold.Nanoseconds(), benchName("WarmStart", key), f.Warm.Nanoseconds())
}

// Line is one benchmark line; see [StartFigures.Lines].
func (f *HookFigures) Line(key string) string {
	return fmt.Sprintf("Benchmark%s %d %d ns/op %d p50-ns %d p90-ns %d p99-ns %d fuel/op %d max-fuel %d mem-bytes\n",
		benchName("Hook/"+f.Hook.String(), key), f.Calls, f.Mean.Nanoseconds(), f.P50.Nanoseconds(), f.P90.Nanoseconds(), f.P99.Nanoseconds(), f.Fuel, f.MaxFuel, f.Memory)
}

func benchName(name, key string) string {
	if key == "" {
		return name
	}
	// A blank would end the name, a slash the key.
	return name + "/" + strings.Map(func(r rune) rune {
		if r <= ' ' || r == '/' {
			return '_'
		}
		return r
	}, key)
}

// Ratio compares two hooks in one line of text: what the first takes of what the second takes.
func Ratio(a, b *HookFigures) string {
	return fmt.Sprintf("%s: p50 %v to %v = %s, p99 %v to %v = %s, fuel %d to %d = %s", a.Hook,
		a.P50, b.P50, times(a.P50, b.P50), a.P99, b.P99, times(a.P99, b.P99), a.Fuel, b.Fuel, times(a.Fuel, b.Fuel))
}

func times[T time.Duration | uint64](a, b T) string {
	if b == 0 {
		return "—"
	}
	return fmt.Sprintf("%.2f×", float64(a)/float64(b))
}

package main

import (
	"strings"
	"testing"
)

func TestRatios(t *testing.T) {
	got, err := ratios(strings.NewReader(`goos: linux
BenchmarkCall/weir-2      1000  100 ns/op  0 B/op
BenchmarkCall/weir-2      1000  300 ns/op  0 B/op
BenchmarkCall/weir-2      1000  200 ns/op  0 B/op
BenchmarkCall/peer-2      1000  5000 ns/op  12 max-ns
BenchmarkAlone            10    7 ns/op
PASS
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Call/weir", "200 ns/op", "25.00x of weir", "max-ns", "(n=3)", "Alone"} {
		if !strings.Contains(got, want) {
			t.Errorf("the report lacks %q:\n%s", want, got)
		}
	}
	if _, err := ratios(strings.NewReader("PASS\n")); err == nil {
		t.Error("an input without benchmarks is no error")
	}
}
